"""Passes over graphs, one per file; `pipeline` has the order of those that need no types."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adbc.lazy import lazily

if TYPE_CHECKING:
    from adbc.passes.normal.segments import must_be_closed
    from adbc.passes.pipeline import CLEAN, CLEAN_PULLBACK, NORMAL, clean, clean_pullback, normalise

__all__ = ["CLEAN", "CLEAN_PULLBACK", "NORMAL", "clean", "clean_pullback", "must_be_closed", "normalise"]

__getattr__ = lazily(
    __name__,
    {
        **dict.fromkeys(
            ["CLEAN", "CLEAN_PULLBACK", "NORMAL", "clean", "clean_pullback", "normalise"], "pipeline"
        ),
        "must_be_closed": "normal.segments",
    },
)
