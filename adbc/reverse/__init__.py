"""Reverse mode: from one primal graph, a forwards pass and a pullback."""

from __future__ import annotations

from adbc.reverse.control import ReversePair, build_reverse
from adbc.reverse.support import DerivedEntry, Support

__all__ = ["DerivedEntry", "ReversePair", "Support", "build_reverse"]
