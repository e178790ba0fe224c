"""Functions of NumPy whose derivative is zero: tests, comparisons, positions, counts, steps.

Each gives new memory or a number.  Random numbers are here only where the arguments are sizes: the
parameters of a distribution do have a derivative, so those functions have no row.
"""

from __future__ import annotations

import inspect
import operator
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from adbc.ir.intrinsics import _bool_
from adbc.rules.classes import overrides
from adbc.rules.numpy.base import ArrayRule, by_example, is_plain, plain
from adbc.rules.numpy.elementwise import ElementwiseRule, elementwise
from adbc.rules.table import NO_KWARGS, Args, Kwargs, Pullback, Rule, TextRule, When, ZeroRule

__all__ = ["ROWS", "UFUNC_ROWS"]

TESTS = [
    "less", "less_equal", "greater", "greater_equal", "equal", "not_equal", "logical_and", "logical_or",
    "logical_xor", "logical_not", "isnan", "isinf", "isfinite", "signbit", "bitwise_and", "bitwise_or",
    "bitwise_xor", "bitwise_count", "invert", "left_shift", "right_shift", "gcd", "lcm", "spacing",
]  # fmt: skip
STEPS = ["floor", "ceil", "trunc", "rint"]
FUNCTIONS = [
    "argmax", "argmin", "nanargmax", "nanargmin", "argsort", "argpartition", "argwhere", "nonzero",
    "flatnonzero", "count_nonzero", "searchsorted", "digitize", "all", "any", "allclose", "isclose",
    "array_equal", "array_equiv", "iscomplexobj", "isrealobj", "iscomplex", "isreal", "isscalar",
    "isposinf", "isneginf", "shape", "ndim", "size", "may_share_memory", "shares_memory", "lexsort",
    "isin",
    "round", "around", "fix", "iterable",
]  # fmt: skip
TEXTS = ["array2string", "array_repr", "array_str"]
METADATA = [
    "result_type", "can_cast", "finfo", "iinfo", "dtype", "issubdtype", "promote_types", "broadcast_shapes",
    "min_scalar_type", "tril_indices", "triu_indices", "diag_indices", "unravel_index", "ravel_multi_index",
]  # fmt: skip
"""The functions of types, shapes and positions that have rows for arguments of any class."""
METHODS = [
    "argsort", "argpartition", "nonzero", "searchsorted", "__len__", "__bool__", "__contains__",
]  # fmt: skip
INTO: list[tuple[str, str, dict[str, Any]]] = [
    ("argmax", "axis", {}), ("argmin", "axis", {}), ("all", "axis dtype", {}), ("any", "axis dtype", {}),
    ("round", "decimals", {"decimals": 0}),
]  # fmt: skip
"""The methods that take ``out``: name, the parameters in front of it, and those defaults that are not None.

By position, ``all`` and ``any`` take a dtype, too."""
ATTRIBUTES = ["shape", "ndim", "size", "dtype", "strides", "itemsize", "nbytes", "flags"]
ARRAY_ATTRIBUTES = ["__array_interface__", "__array_priority__"]


class AttributeRule(ZeroRule):
    """The rule of an attribute of an array that is not made of its numbers."""

    def __init__(self, cls: type, name: str, when: When = None) -> None:
        super().__init__(getattr(cls, name), when=when)
        self.name = name

    def frule(self, args: Any, dargs: Any, kwargs: Any = NO_KWARGS) -> tuple[Any, Any]:
        return getattr(args[0], self.name), None

    def rrule(self, args: Any, fargs: Any, kwargs: Any = NO_KWARGS) -> tuple[Any, Any, Any]:
        return getattr(args[0], self.name), None, lambda bout: (None,)


class IntoRule(ZeroRule):
    """The rule of a function without derivative that may write its result into ``out=``.

    What is written is constant: the derivative of what stood there ends.  names: the positional parameters.
    """

    def __init__(self, function: Any, names: str, defaults: Mapping[str, Any] | None = None) -> None:
        super().__init__(function, when=plain)
        self.into = ArrayRule(function, names, jvp=[None], vjp=[None], defaults=defaults)

    def is_zero(self, count: int, keywords: Sequence[str]) -> bool:
        return self.into.is_pure(count, keywords)

    def numeric(self, count: int) -> Sequence[int]:
        return range(min(count, 1))

    def bind(self, args: Args, kwargs: Kwargs) -> tuple[tuple[Any, ...], dict[str, Any]]:
        return self.into.bind(args, kwargs)

    def frule(self, args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
        if self.into.is_pure(len(args), ()):
            return super().frule(args, dargs, kwargs)
        return self.into.frule(args, dargs, kwargs)

    def rrule(self, args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any, Pullback]:
        if self.into.is_pure(len(args), ()):
            return super().rrule(args, fargs, kwargs)
        return self.into.rrule(args, fargs, kwargs)


def _of_function(function: Any) -> ZeroRule:
    """The row of a function whose signature says whether it takes ``out=``."""
    try:
        parameters = inspect.signature(function).parameters
    except ValueError:  # some of those in C have none, and write nothing
        return ZeroRule(function, when=plain)
    if "out" not in parameters:
        return ZeroRule(function, when=plain)
    names = [*parameters][: [*parameters].index("out") + 1]
    defaults = {
        name: parameters[name].default for name in names if parameters[name].default not in (None, _MISSING)
    }
    return IntoRule(function, " ".join(names), defaults)


_MISSING = inspect.Parameter.empty


def _described(cls: type) -> bool:
    """Whether it is NumPy itself that gives the shape, dtype and so on of instances of `cls`."""
    return cls is np.void or issubclass(cls, np.ndarray) or is_plain(cls)


def _is_array(cls: type, *rest: type) -> bool:
    """Whether there is one argument, an array whose truth NumPy decides."""
    return issubclass(cls, np.ndarray) and not rest and not overrides(cls, "__bool__")


def _with_none(*classes: type) -> bool:
    """Whether an array is compared with None."""
    return set(classes) == {np.ndarray, type(None)}


def _with_dtypes(cls: type, *rest: type) -> bool:
    """Whether two dtypes are compared, or a dtype and the name of one or a class."""
    return issubclass(cls, np.dtype) and all(issubclass(c, np.dtype) or c in (str, type) for c in rest)


def _of_ufunc(name: str) -> ElementwiseRule:
    ufunc = getattr(np, name)
    return elementwise(ufunc, *([None] * ufunc.nin), result="elementwise" if name in STEPS else None)


UFUNC_ROWS: list[ElementwiseRule] = [_of_ufunc(name) for name in TESTS + STEPS if hasattr(np, name)]


def _rows() -> list[Rule]:
    rows: list[Rule] = [*UFUNC_ROWS]
    tests = [_of_function(getattr(np, name)) for name in FUNCTIONS if hasattr(np, name)]
    methods = [ZeroRule(getattr(np.ndarray, name), when=plain) for name in METHODS]
    methods += [IntoRule(getattr(np.ndarray, name), f"a {other} out", more) for name, other, more in INTO]
    rows.extend(map(by_example, tests + methods))
    rows.extend(ZeroRule(f, when=_is_array) for f in (_bool_, operator.not_, operator.truth, bool))
    rows.extend(ZeroRule(f, when=w) for f in (operator.eq, operator.ne) for w in (_with_none, _with_dtypes))
    rows.extend(TextRule(getattr(np, name), when=plain) for name in TEXTS)
    rows.extend(TextRule(getattr(np.ndarray, name), when=plain) for name in ("__repr__", "__str__"))
    rows.extend(ZeroRule(getattr(np, name)) for name in METADATA)
    if hasattr(np.ndarray, "__array_namespace__"):  # from NumPy 2.0 on
        rows.append(ZeroRule(np.ndarray.__array_namespace__))
    for cls in (np.ndarray, np.generic):
        rows.extend(AttributeRule(cls, name, _described) for name in ATTRIBUTES)
    rows.extend(AttributeRule(np.ndarray, name, _described) for name in ARRAY_ATTRIBUTES)
    rows.append(AttributeRule(np.generic, "__array_priority__"))
    rows.extend(ZeroRule(cls.is_integer) for cls in (np.float16, np.float32, np.float64, np.longdouble))
    rows += [
        AttributeRule(np.flatiter, "coords"),
        AttributeRule(np.void, "dtype"),
        AttributeRule(np.void, "flags"),
    ]
    return rows


ROWS: list[Rule] = _rows()
