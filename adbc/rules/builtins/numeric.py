"""The builtin functions on numbers, and the methods of numbers."""

from __future__ import annotations

import builtins
import operator
from collections.abc import Sequence
from types import NoneType
from typing import Any

from adbc.rules.builtins.operators import modulus_class, sign
from adbc.rules.classes import arithmetic, arity, complex_only, integer, number, numbers, power, real
from adbc.rules.elements import in_parts
from adbc.rules.kinks import power_base, power_exponent
from adbc.rules.steps import StepRule
from adbc.rules.table import (
    NO_KWARGS,
    NUMBERS,
    UNKNOWN,
    Args,
    Kwargs,
    Overlay,
    Primitive,
    PureRule,
    Rule,
    ScalarRule,
    TextRule,
    ZeroRule,
)
from adbc.tangents import NO_FDATA, project
from adbc.tangents.protocol import kind_of

__all__ = ["ROWS"]


def _divmod_frule(args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
    out = divmod(args[0], args[1])
    dx, dy = dargs
    dr = None if dx is None else dx
    if dy is not None:
        dr = -out[0] * dy if dr is None else dr - out[0] * dy
    if dr is None or kind_of(type(out[1])).inactive:
        return out, None
    return out, (project(0.0, out[0]), project(dr, out[1]))


def _divmod_rrule(args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> Any:
    out = divmod(args[0], args[1])
    active = any(f is not None for f in fargs)

    def divmod_pullback(bout: Any) -> Sequence[Any]:
        if bout is None or bout[1] is None:
            return None, None
        factors = (1.0, -out[0])
        return [
            None if f is None else project(factor * bout[1], x)
            for f, factor, x in zip(fargs, factors, args, strict=True)
        ]

    return out, (NO_FDATA, NO_FDATA) if active else None, divmod_pullback


class _AttributeRule(ScalarRule):
    """The rule of an attribute of numbers, given by its descriptor: a real number, whose derivative is the
    real part of the partial derivative times that of the number."""

    def __init__(self, attribute: Any, partial: Any) -> None:
        super().__init__(attribute, (partial,), result=float)
        self._get = attribute.__get__
        self._name = attribute.__name__

    def take(self, x: Any) -> Any:
        """The part of `x`: of a number of NumPy's, for which this rule is used too, one of its own."""
        return getattr(x, self._name) if type(x) in NUMBERS else self._get(x)

    def frule(
        self, args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS, out: Any = UNKNOWN
    ) -> tuple[Any, Any]:
        out, (dz,) = self.take(args[0]), dargs
        if dz is None or isinstance(args[0], complex):
            return out, None if dz is None else self.take(complex(dz))
        return super().frule(args, dargs, kwargs, out)

    def rrule(self, args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS, out: Any = UNKNOWN) -> Any:
        return super().rrule(args, fargs, kwargs, self.take(args[0]))


def _text(cls: type) -> bool:
    return issubclass(cls, (str, bytes, bytearray))


def quotient_of(x: Any, y: Any) -> Any:
    return divmod(x, y)[0]


def _max_class(*classes: type) -> type | None:
    return classes[0] if len(set(classes)) == 1 else None


def _complex(real: Any = 0, imag: Any = 0) -> Any:
    # by keywords alone: they may be active, and no row is chosen by them
    return complex(real, imag)


class _Extreme(ScalarRule):
    """The rule of `max` or `min` of numbers, which chooses one of them, by a ``key`` if there is one."""

    takes_result = False

    def _chosen(self, args: Args, kwargs: Kwargs) -> int:
        if "default" in kwargs:
            self.function(*args, default=None)  # which is for one iterable alone, and raises
        key = kwargs.get("key")
        keys = args if key is None else [key(x) for x in args]
        return int(self.function(range(len(args)), key=keys.__getitem__))

    def frule(
        self, args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS, out: Any = UNKNOWN
    ) -> tuple[Any, Any]:
        if not kwargs:
            return super().frule(args, dargs)
        i = self._chosen(args, kwargs)
        return args[i], dargs[i]

    def rrule(self, args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS, out: Any = UNKNOWN) -> Any:
        if not kwargs:
            return super().rrule(args, fargs)
        i = self._chosen(args, kwargs)

        def extreme_pullback(bout: Any) -> Sequence[Any]:
            return [bout if j == i and fargs[j] is not None else None for j in range(len(args))]

        return args[i], fargs[i], extreme_pullback


def _conjugate_of_unit(out: Any, z: Any) -> Any:
    return z.conjugate() / out if out != 0 else 0.0


_conjugated = (lambda dx, out, x: dx.conjugate(),)


def _rounds(*classes: type) -> bool:
    """Whether the first argument is a real number, if it is given by position."""
    return not classes or real(classes[0])


def _rounded(cls: type, digits: type = NoneType, *more: type) -> type | None:
    """The class of what `round` gives for numbers of Python's."""
    if digits is NoneType:
        return None if more else int
    return cls if not more and cls in (int, float) and digits in (int, bool) else None


_TWO: list[Rule] = [
    _Extreme(
        builtins.max,
        (lambda out, x, y: 0.0 if y > x else 1.0, lambda out, x, y: 1.0 if y > x else 0.0),
        when=arity(2),
        result=_max_class,
    ),
    _Extreme(
        builtins.min,
        (lambda out, x, y: 0.0 if y < x else 1.0, lambda out, x, y: 1.0 if y < x else 0.0),
        when=arity(2),
        result=_max_class,
    ),
    _Extreme(
        builtins.max,
        (
            lambda out, x, y, z: 0.0 if y > x else 0.0 if z > x else 1.0,
            lambda out, x, y, z: 0.0 if not y > x else 0.0 if z > y else 1.0,
            lambda out, x, y, z: 1.0 if z > (y if y > x else x) else 0.0,
        ),
        when=arity(3),
        result=_max_class,
    ),
    _Extreme(
        builtins.min,
        (
            lambda out, x, y, z: 0.0 if y < x else 0.0 if z < x else 1.0,
            lambda out, x, y, z: 0.0 if not y < x else 0.0 if z < y else 1.0,
            lambda out, x, y, z: 1.0 if z < (y if y < x else x) else 0.0,
        ),
        when=arity(3),
        result=_max_class,
    ),
    ScalarRule(
        builtins.pow,
        (power_base, power_exponent),
        when=arity(2, number),
        result=power,
        parameters=("base", "exp"),
    ),
    ZeroRule(builtins.pow, when=arity(3, integer), result=int),
    *in_parts(
        (quotient_of, operator.mod),
        Primitive(divmod, frule=_divmod_frule, rrule=_divmod_rrule, when=arity(2), result=tuple),
    ),
    ZeroRule(quotient_of, when=arity(2), result=arithmetic),
]

_ONE: list[Rule] = [
    ScalarRule(builtins.abs, (sign,), when=arity(1), result=arithmetic),
    ScalarRule(
        builtins.abs,
        (lambda out, z: _conjugate_of_unit(out, z),),
        when=arity(1, complex_only),
        result=modulus_class,
    ),
    ScalarRule(float, (lambda out, x: 1.0,), when=arity(1), result=float),
    ZeroRule(float, when=arity(0), result=float),
    TextRule(float, when=arity(1, _text), result=float),
    ScalarRule(
        complex, (lambda out, x: 1.0,), when=arity(1, number), result=complex, parameters=("real", "imag")
    ),
    ScalarRule(complex, (lambda out, x, y: 1.0, lambda out, x, y: 1j), when=arity(2, number), result=complex),
    Overlay(complex, _complex, when=arity(0), result=complex),
    TextRule(complex, when=arity(1, _text), result=complex),
    StepRule(int, when=numbers, result=int),
    TextRule(int, when=lambda cls, *base: _text(cls), result=int),
    ZeroRule(
        bool,
        when=lambda *classes: numbers(*classes) or classes[0] in (str, list, tuple, dict, set),
        result=bool,
    ),
    StepRule(
        round,
        to_digits=True,
        when=_rounds,
        parameters=("number", "ndigits"),
        result=_rounded,
    ),
]

_METHODS: list[Rule] = [
    _AttributeRule(complex.real, lambda out, z: 1.0),
    _AttributeRule(complex.imag, lambda out, z: -1j),
    _AttributeRule(float.real, lambda out, x: 1.0),
    _AttributeRule(float.imag, None),
    ScalarRule(float.conjugate, (lambda out, x: 1.0,), result=float),
    PureRule(complex.conjugate, jvp=_conjugated, vjp=_conjugated, result=complex),
    ScalarRule(float.__float__, (lambda out, x: 1.0,), result=float),
    ZeroRule(float.is_integer, result=bool),
    *(
        ZeroRule(method)
        for method in (
            float.__bool__, float.__hash__,
            float.__lt__, float.__le__, float.__eq__, float.__ne__, float.__gt__, float.__ge__,
            complex.__hash__, complex.__eq__, complex.__ne__,
        )
    ),
    StepRule(float.__int__),
    StepRule(float.__floor__),
    StepRule(float.__ceil__),
    StepRule(float.__trunc__),
    StepRule(float.__round__),
    *(
        TextRule(method)
        for method in (
            float.fromhex, float.__format__, float.__repr__, complex.__format__, complex.__repr__,
        )
    ),
]  # fmt: skip

ROWS: list[Rule] = [*_TWO, *_ONE, *_METHODS]
