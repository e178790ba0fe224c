"""Ufuncs of numbers: scalar rules, whose partial derivatives builders write inline.

A call of a ufunc with numbers of 64 bits (``np.exp(x[i])``) is differentiated like one of a function of
`math`.  The partial derivatives are those of the ufunc's row (`ufuncs`), which say the same for arrays; where
they take many steps for a number, they are written down once more for numbers.  What a number is divided by
may be zero, which is no error for NumPy's.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from adbc.ir.intrinsics import _nonzero_
from adbc.rules.builtins.operators import sign
from adbc.rules.effects import Use
from adbc.rules.kinks import INF
from adbc.rules.numpy.elementwise import ElementwiseRule
from adbc.rules.numpy.ufuncs import FIRST
from adbc.rules.table import NO_KWARGS, NUMBERS, UNKNOWN, Args, Kwargs, Pullback, Rule, ScalarRule

__all__ = ["ROWS", "NumberRule"]

NUMBERS.update((np.float64, np.complex128))

_cos, _sin, _cosh, _sinh, _exp, _float = np.cos, np.sin, np.cosh, np.sinh, np.exp, float


class NumberRule(ScalarRule):
    """The rule of a ufunc called with real numbers of 64 bits, as many as it takes; calls with options have
    the rule `general` of arrays."""

    is_of_floats = False
    """False: an argument of unknown type is as likely an array."""

    def __init__(self, general: ElementwiseRule, partials: Sequence[Callable[..., Any] | None]) -> None:
        count = general.arrays

        def of_numbers(*classes: type) -> bool:
            return len(classes) == count and all(cls is float or cls is np.float64 for cls in classes)

        super().__init__(general.function, partials, when=of_numbers, result=np.float64)
        self.general = general

    def bind(self, args: Args, kwargs: Kwargs) -> tuple[tuple[Any, ...], dict[str, Any]]:
        return self.general.bind(args, kwargs)

    def is_pure(self, count: int, keywords: Sequence[str]) -> bool:
        return self.general.is_pure(count, keywords)

    def uses(self, count: int, keywords: Sequence[str]) -> Sequence[Use]:
        return self.general.uses(count, keywords) if keywords else super().uses(count, keywords)

    def frule(
        self, args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS, out: Any = UNKNOWN
    ) -> tuple[Any, Any]:
        if kwargs or len(args) != len(self.partials):
            return self.general.frule(args, dargs, kwargs, out)
        return super().frule(args, dargs, kwargs, out)

    def rrule(
        self, args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS, out: Any = UNKNOWN
    ) -> tuple[Any, Any, Pullback]:
        if kwargs or len(args) != len(self.partials):
            return self.general.rrule(args, fargs, kwargs, out)
        return super().rrule(args, fargs, kwargs, out)


def _over(x: Any) -> Any:
    """``1.0 / x`` in floating point, in which nothing is an error."""
    x = _float(x)
    return 1.0 / x if x != 0.0 else math.copysign(INF, x)


def _larger(x: Any, y: Any, decisive: Any) -> float:
    """1 if `x` is what `np.maximum` takes of `x` and `y`, which it is too where `decisive` is NaN; else 0."""
    return 1.0 if x >= y or decisive != decisive else 0.0


def _smaller(x: Any, y: Any, decisive: Any) -> float:
    """1 if `x` is what `np.minimum` takes of `x` and `y`, which it is too where `decisive` is NaN; else 0."""
    return 1.0 if x <= y or decisive != decisive else 0.0


def _share(x: Any, out: Any) -> float:
    """The share exp(x - out) of a term in a sum of exponentials: 1 where both are the same infinity."""
    return 1.0 if x == out else _exp(_float(x) - _float(out))


def _leg(x: Any, out: Any) -> float:
    """The quotient of a leg and the hypotenuse, 0 where both are."""
    return _float(x) / (_float(out) or 1.0)


def _turning(x: Any, y: Any, by: Any) -> float:
    """The quotient of `by` and x**2 + y**2, whose denominator is 1 at the origin."""
    x, y = _float(x), _float(y)
    return _float(by) / (x * x + y * y or 1.0)


def _without_warning(partial: Callable[..., Any]) -> Callable[..., Any]:
    """The partial derivative of a row for arrays, for numbers."""

    def of_one(out: Any, x: Any) -> float:
        with np.errstate(all="ignore"):
            return _float(partial(out, np.float64(x)))

    def of_two(out: Any, x: Any, y: Any) -> float:
        with np.errstate(all="ignore"):
            return _float(partial(out, np.float64(x), np.float64(y)))

    return of_one if partial.__code__.co_argcount == 2 else of_two


_ONE = lambda out, x, y: 1.0  # noqa: E731
_PARTIALS: Mapping[str, Sequence[Callable[..., Any] | None]] = {
    "add": (_ONE, _ONE),
    "subtract": (_ONE, lambda out, x, y: -1.0),
    "multiply": (lambda out, x, y: y, lambda out, x, y: x),
    "positive": (lambda out, x: 1.0,),
    "negative": (lambda out, x: -1.0,),
    "square": (lambda out, x: 2.0 * x,),
    "sqrt": (lambda out, x: 0.5 / _nonzero_(_float(out), 5e-324),),
    "exp": (lambda out, x: out,),
    "exp2": (lambda out, x: out * 0.6931471805599453,),
    "expm1": (lambda out, x: out + 1.0,),
    "log": (lambda out, x: _over(x),),
    "log2": (lambda out, x: _over(x) / 0.6931471805599453,),
    "log10": (lambda out, x: _over(x) / 2.302585092994046,),
    "log1p": (lambda out, x: _over(1.0 + _float(x)),),
    "sin": (lambda out, x: _cos(x),),
    "cos": (lambda out, x: -_sin(x),),
    "tan": (lambda out, x: 1.0 + out * out,),
    "arctan": (lambda out, x: 1.0 / (1.0 + _float(x) * _float(x)),),
    "logaddexp": (lambda out, x, y: _share(x, out), lambda out, x, y: _share(y, out)),
    "hypot": (lambda out, x, y: _leg(x, out), lambda out, x, y: _leg(y, out)),
    "arctan2": (lambda out, y, x: _turning(x, y, x), lambda out, y, x: -_turning(x, y, y)),
    "sinh": (lambda out, x: _cosh(x),),
    "cosh": (lambda out, x: _sinh(x),),
    "tanh": (lambda out, x: 1.0 - out * out,),
    "deg2rad": (lambda out, x: 0.017453292519943295,),
    "radians": (lambda out, x: 0.017453292519943295,),
    "rad2deg": (lambda out, x: 57.29577951308232,),
    "degrees": (lambda out, x: 57.29577951308232,),
    "absolute": (sign,),
    "fabs": (sign,),
    "maximum": (lambda out, x, y: _larger(x, y, x), lambda out, x, y: 1.0 - _larger(x, y, x)),
    "minimum": (lambda out, x, y: _smaller(x, y, x), lambda out, x, y: 1.0 - _smaller(x, y, x)),
    "fmax": (lambda out, x, y: _larger(x, y, y), lambda out, x, y: 1.0 - _larger(x, y, y)),
    "fmin": (lambda out, x, y: _smaller(x, y, y), lambda out, x, y: 1.0 - _smaller(x, y, y)),
}
_OTHERS = (
    "divide", "power", "reciprocal", "cbrt", "logaddexp2", "arcsin", "arccos", "arcsinh", "arccosh",
    "arctanh",
)  # fmt: skip
"""The ufuncs whose partial derivatives for numbers are those for arrays."""

ROWS: list[Rule] = [
    *(NumberRule(FIRST[name], partials) for name, partials in _PARTIALS.items()),
    *(
        NumberRule(FIRST[name], [_without_warning(p) for p in FIRST[name].partials if callable(p)])
        for name in _OTHERS
    ),
]
