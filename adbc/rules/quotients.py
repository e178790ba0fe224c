"""The rule of a division of numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from adbc.rules.table import NO_KWARGS, UNKNOWN, Args, Kwargs, Pullback, ScalarRule
from adbc.tangents.internal import divide, multiply, project

__all__ = ["QuotientRule"]


class QuotientRule(ScalarRule):
    """The rule of ``x / y``, whose tangent ``(dx - out * dy) / y`` costs less than its partial derivatives.

    So do the cotangents, ``bx = bout / y`` and ``by = -(out * bx)``.
    """

    is_quotient = True

    @staticmethod
    def divisor(y: Any, out: Any) -> Any:
        """What `out`, a quotient, was divided by: in the place of a zero of Python's, by which only NumPy
        divides without an error, NumPy's."""
        return type(out if type(y) is complex else out.real)(y) if type(y) in _OF_ZEROS and not y else y

    def frule(
        self, args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS, out: Any = UNKNOWN
    ) -> tuple[Any, Any]:
        if out is UNKNOWN:
            out = self.function(*args, **kwargs)
        (x, y), (dx, dy) = args, dargs
        if not isinstance(out, float) or not math.isfinite(out) or not all(map(_is_real, (x, y, dx, dy))):
            return super().frule((x, self.divisor(y, out)), dargs, kwargs, out)
        if dx is None and dy is None:
            return out, None
        term = None if dy is None else multiply(out, dy)
        above = dx if term is None else -term if dx is None else dx - term
        return out, project(divide(above, y), out)

    def rrule(
        self, args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS, out: Any = UNKNOWN
    ) -> tuple[Any, Any, Pullback]:
        if out is UNKNOWN:
            out = self.function(*args, **kwargs)
        (x, y), (fx, fy) = args, fargs
        out, fout, general = super().rrule((x, self.divisor(y, out)), fargs, kwargs, out)
        if not isinstance(out, float) or not math.isfinite(out) or not (_is_real(x) and _is_real(y)):
            return out, fout, general

        def quotient_pullback(bout: Any) -> Sequence[Any]:
            if not isinstance(bout, float) or not bout:
                return general(bout)
            below = divide(bout, y)
            return (
                None if fx is None else project(below, x),
                None if fy is None else project(-multiply(out, below), y),
            )

        return out, fout, quotient_pullback


_OF_ZEROS: frozenset[Any] = frozenset({bool, int, float, complex})


def _is_real(x: Any) -> bool:
    return x is None or isinstance(x, float) or type(x) is int
