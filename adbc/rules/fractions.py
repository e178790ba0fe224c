"""`fractions`: a comparison of a fraction and a float has no derivative.

The library makes a fraction of the float first, which for one with a derivative is refused.
"""

from __future__ import annotations

from fractions import Fraction

from adbc.rules.classes import real
from adbc.rules.table import Rule, ZeroRule

__all__ = ["ROWS"]


def _are_fraction_and_float(cls: type, other: type, *operator: type) -> bool:
    # Classes derived from these may make fractions of floats in another way.
    return cls is Fraction and issubclass(other, float) and real(other)


ROWS: list[Rule] = [
    ZeroRule(Fraction.__eq__, when=_are_fraction_and_float),
    # It is what all four comparisons by order ask.
    ZeroRule(Fraction._richcmp, when=_are_fraction_and_float),  # type: ignore[attr-defined]
]
