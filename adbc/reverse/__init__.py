"""Reverse mode: from one primal graph, a forwards pass and a pullback."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adbc.lazy import lazily
from adbc.reverse.support import DerivedEntry, Support

if TYPE_CHECKING:
    from adbc.reverse.control import ReversePair
    from adbc.reverse.stages import REVERSE, build_reverse

__all__ = ["REVERSE", "DerivedEntry", "ReversePair", "Support", "build_reverse"]

__getattr__ = lazily(__name__, {"REVERSE": "stages", "ReversePair": "control", "build_reverse": "stages"})
