"""The operators of Python on numbers, and those whose value does not depend smoothly on anything.

Operators on containers are beside the containers; on arrays, in `rules.numpy`; on instances of the
user's classes there is no row, since the runtime follows their methods.
"""

from __future__ import annotations

import operator
import sys
from types import FunctionType, MethodType, MethodWrapperType
from typing import Any

from adbc.ir import intrinsics
from adbc.rules.classes import (
    NESTING,
    arithmetic,
    builtin_data,
    c_truth,
    complex_only,
    division,
    inherits,
    integer,
    number,
    numbers,
    overrides,
    power,
    real,
    reals,
)
from adbc.rules.kinks import power_base, power_exponent
from adbc.rules.quotients import QuotientRule
from adbc.rules.steps import StepRule
from adbc.rules.table import Overlay, PureRule, Rule, ScalarRule, TextRule, ZeroRule

__all__ = ["ROWS", "modulus", "modulus_class", "sign"]


def _both(name: str) -> list[Any]:
    """``operator.name`` and its in-place form, which on numbers is the same function."""
    return [getattr(operator, name), getattr(operator, f"i{name}")]


def _scalar(name: str, *partials: Any, when: Any = numbers, result: Any = arithmetic) -> list[Rule]:
    return [ScalarRule(f, partials, when=when, result=result) for f in _both(name)]


def sign(out: Any, x: Any) -> Any:
    # the product keeps a nan a nan, and is 0 at 0
    return 1.0 if x > 0.0 else -1.0 if x < 0.0 else x * 0.0


def _modulus_jvp(dx: Any, out: Any, x: Any) -> Any:
    return 0.0 if out == 0 else (x.conjugate() * dx).real / out


def _modulus_vjp(bout: Any, out: Any, x: Any) -> Any:
    return 0.0 if out == 0 else bout * (x / out)


modulus = (_modulus_jvp, _modulus_vjp)
"""The derivatives of the absolute value of a complex number, which is not holomorphic."""


def modulus_class(cls: type) -> type | None:
    return float if cls is complex else None


def _same(cls: type) -> type | None:
    return arithmetic(cls)


def _text_first(cls: type, other: type, *rest: type) -> bool:
    if not issubclass(cls, (str, bytes)) or overrides(cls, "__mod__") or overrides(cls, "__imod__"):
        return False
    return builtin_data(other) and other not in NESTING


_REAL = (int, bool, float)
_TEXTS = (str, bytes, bytearray)
_COMPARED_WHOLE = (*_TEXTS, complex, type(None), tuple, list, dict, set, frozenset, range)
"""Classes that answer ``==`` with a bool, whatever is compared; the order of two tuples or lists is what
the order of two elements is."""


def _bool_of_equals(*classes: type) -> type | None:
    """The class of what ``==`` and ``!=`` give."""
    found = _bool_of_numbers(*classes)
    return bool if found is None and all(c in _REAL or c in _COMPARED_WHOLE for c in classes) else found


def _bool_of_order(*classes: type) -> type | None:
    """The class of what ``<`` and its like give."""
    return bool if all(c in _TEXTS for c in classes) else _bool_of_numbers(*classes)


def _bool_of_numbers(*classes: type) -> type | None:
    """The class of a comparison of numbers: bool, or NumPy's if one of its is compared with real ones."""
    numbers = _REAL
    if all(c in numbers or c is complex for c in classes):
        return bool
    if all(c in numbers or (c.__module__, c.__name__) == ("numpy", "float64") for c in classes):
        found: type = sys.modules["numpy"].bool_  # loaded: there is a number of its
        return found
    return None


_QUOTIENT = (lambda out, x, y: 1.0 / y, lambda out, x, y: -out / y)

_ARITHMETIC: list[Rule] = [
    *_scalar("add", lambda out, x, y: 1.0, lambda out, x, y: 1.0),
    *_scalar("sub", lambda out, x, y: 1.0, lambda out, x, y: -1.0),
    *_scalar("mul", lambda out, x, y: y, lambda out, x, y: x),
    *(QuotientRule(f, _QUOTIENT, when=numbers, result=division) for f in _both("truediv")),
    *_scalar("pow", power_base, power_exponent, result=power),
    *_scalar("mod", lambda out, x, y: 1.0, lambda out, x, y: -(x // y), when=reals),
    ScalarRule(operator.neg, (lambda out, x: -1.0,), when=number, result=_same),
    ScalarRule(operator.pos, (lambda out, x: 1.0,), when=number, result=_same),
    ScalarRule(operator.abs, (sign,), when=real, result=_same),
    PureRule(operator.abs, jvp=(_modulus_jvp,), vjp=(_modulus_vjp,), when=complex_only, result=modulus_class),
    *(StepRule(f, when=reals, result=arithmetic) for f in _both("floordiv")),
    *(TextRule(f, when=_text_first) for f in _both("mod")),  # "%g" % x
]


def _integers(*classes: type) -> bool:
    return all(map(integer, classes))


def _int_result(*classes: type) -> type | None:
    return arithmetic(*classes) if int in classes else None


_BITS: list[Rule] = [
    *(
        ZeroRule(getattr(operator, name), when=_integers, result=_int_result)
        for name in ["lshift", "rshift", "ilshift", "irshift", "and_", "or_", "xor", "iand", "ior", "ixor"]
    ),
    ZeroRule(operator.invert, when=integer, result=_int_result),
    ZeroRule(operator.index, when=integer, result=int),
]


_ORDER = ("__lt__", "__le__", "__eq__", "__ne__", "__gt__", "__ge__")


def _compared_in_c(cls: type) -> bool:
    """Whether instances of `cls`, as far as they themselves go, are compared by C code."""
    return builtin_data(cls) or (
        issubclass(cls, NESTING) and not any(overrides(cls, name) for name in _ORDER)
    )


def _data(*classes: type) -> bool:
    return all(map(_compared_in_c, classes))


_BOUND = (MethodType, MethodWrapperType)
"""Classes of bound methods, which are equal if they are one method of one object."""


def _methods(*classes: type) -> bool:
    return classes == (MethodType, MethodType)


def of_equal_functions(a: Any, b: Any) -> bool | None:
    """Whether two methods are equal; None if what they bind is no function, and may answer in Python."""
    f, g = a.__func__, b.__func__
    if type(f) is not FunctionType or type(g) is not FunctionType:
        return None
    return f is g and a.__self__ is b.__self__


def _equal_methods(a: Any, b: Any, /) -> bool:
    known = of_equal_functions(a, b)
    if known is not None:
        return known
    f, g = a.__func__, b.__func__
    return (f is g or bool(f == g)) and a.__self__ is b.__self__


def _unequal_methods(a: Any, b: Any, /) -> bool:
    return not _equal_methods(a, b)


def _by_identity(*classes: type) -> bool:
    """Whether values are equal only if they are one object: no class has an ``__eq__`` in the way."""
    if all(cls is MethodType for cls in classes):
        return False
    plain = [cls in _BOUND or all(inherits(cls, n, object) for n in ("__eq__", "__ne__")) for cls in classes]
    return any(plain) and all(
        is_plain or builtin_data(cls) for cls, is_plain in zip(classes, plain, strict=True)
    )


def _contains(container: type, item: type) -> bool:
    """Whether C code looks for the item in the container, and compares it by C code."""
    return builtin_data(container) or not (
        getattr(container, "__contains__", None) is None
        or overrides(container, "__contains__")
        or overrides(item, "__eq__")
    )


_FROM_314 = "is_none", "is_not_none"

_COMPARISONS: list[Rule] = [
    *(
        ZeroRule(getattr(operator, name), when=_data, result=_bool_of_order)
        for name in ["lt", "le", "gt", "ge"]
    ),
    *(ZeroRule(getattr(operator, name), when=_data, result=_bool_of_equals) for name in ["eq", "ne"]),
    *(ZeroRule(getattr(operator, name), when=_by_identity, result=bool) for name in ["eq", "ne"]),
    ZeroRule(of_equal_functions),
    Overlay(operator.eq, _equal_methods, when=_methods, result=bool),
    Overlay(operator.ne, _unequal_methods, when=_methods, result=bool),
    ZeroRule(operator.is_, result=bool),
    ZeroRule(operator.is_not, result=bool),
    *(ZeroRule(getattr(operator, name), result=bool) for name in _FROM_314 if hasattr(operator, name)),
    ZeroRule(operator.not_, when=c_truth, result=bool),
    ZeroRule(operator.truth, when=c_truth, result=bool),
    ZeroRule(intrinsics._bool_, when=c_truth, result=bool),
    ZeroRule(intrinsics._exhausted_, result=bool),
    ZeroRule(intrinsics._takes_, result=type(None)),
    ZeroRule(intrinsics._takes_named_, result=type(None)),
    ZeroRule(operator.contains, when=_contains, result=bool),
    ZeroRule(intrinsics._not_contains_, when=_contains, result=bool),
    ZeroRule(object.__eq__),
    ZeroRule(object.__ne__),  # both may say `NotImplemented`
    ZeroRule(object.__hash__, result=int),
]

ROWS: list[Rule] = [*_ARITHMETIC, *_BITS, *_COMPARISONS]
