"""Reverse mode: from one primal graph, a forwards pass and a pullback."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adbc.lazy import lazily
from adbc.reverse.support import DerivedEntry, Support

if TYPE_CHECKING:
    from adbc.reverse.control import ReversePair, build_reverse

__all__ = ["DerivedEntry", "ReversePair", "Support", "build_reverse"]

__getattr__ = lazily(__name__, {"ReversePair": "control", "build_reverse": "control"})
