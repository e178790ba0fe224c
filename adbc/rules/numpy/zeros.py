"""Functions of NumPy whose derivative is zero: tests, comparisons, positions, counts, steps.

Each gives new memory or a number.  Random numbers are here only where the arguments are sizes: the
parameters of a distribution do have a derivative, so those functions have no row.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adbc.rules.numpy.base import by_example, is_plain, plain
from adbc.rules.numpy.elementwise import elementwise
from adbc.rules.table import NO_KWARGS, Rule, TextRule, When, ZeroRule

__all__ = ["ROWS"]

TESTS = [
    "less", "less_equal", "greater", "greater_equal", "equal", "not_equal", "logical_and", "logical_or",
    "logical_xor", "logical_not", "isnan", "isinf", "isfinite", "signbit", "bitwise_and", "bitwise_or",
    "bitwise_xor", "invert", "left_shift", "right_shift", "gcd", "lcm", "spacing",
]  # fmt: skip
STEPS = ["floor", "ceil", "trunc", "rint"]
FUNCTIONS = [
    "argmax", "argmin", "nanargmax", "nanargmin", "argsort", "argwhere", "nonzero", "flatnonzero",
    "count_nonzero", "searchsorted", "digitize", "all", "any", "allclose", "isclose", "array_equal",
    "array_equiv", "iscomplexobj", "isrealobj", "iscomplex", "isreal", "isscalar", "isposinf", "isneginf",
    "shape", "ndim", "size", "may_share_memory", "shares_memory", "lexsort",
    "isin", "ix_",
    "round", "around", "fix", "iterable",
]  # fmt: skip
TEXTS = ["array2string", "array_repr", "array_str"]
METADATA = [
    "result_type", "can_cast", "finfo", "iinfo", "dtype", "issubdtype", "promote_types", "broadcast_shapes",
    "min_scalar_type", "tril_indices", "triu_indices", "diag_indices", "unravel_index", "ravel_multi_index",
]  # fmt: skip
"""The functions of types, shapes and positions that have rows for arguments of any class."""
METHODS = [
    "argmax", "argmin", "argsort", "nonzero", "all", "any", "searchsorted", "round", "__len__", "__bool__",
    "__contains__",
]  # fmt: skip
ATTRIBUTES = ["shape", "ndim", "size", "dtype", "strides", "itemsize", "nbytes", "flags"]
RANDOM = ["rand", "randn", "random", "random_sample", "standard_normal", "randint", "seed", "default_rng"]


class AttributeRule(ZeroRule):
    """The rule of an attribute of an array that is not made of its numbers."""

    def __init__(self, cls: type, name: str, when: When = None) -> None:
        super().__init__(getattr(cls, name), when=when)
        self.name = name

    def frule(self, args: Any, dargs: Any, kwargs: Any = NO_KWARGS) -> tuple[Any, Any]:
        return getattr(args[0], self.name), None

    def rrule(self, args: Any, fargs: Any, kwargs: Any = NO_KWARGS) -> tuple[Any, Any, Any]:
        return getattr(args[0], self.name), None, lambda bout: (None,)


def _described(cls: type) -> bool:
    """Whether it is NumPy itself that gives the shape, dtype and so on of instances of `cls`."""
    return cls is np.void or is_plain(cls)


def _rows() -> list[Rule]:
    rows: list[Rule] = []
    for name in TESTS + STEPS:
        ufunc = getattr(np, name)
        result = "elementwise" if name in STEPS else None
        rows.append(elementwise(ufunc, *([None] * ufunc.nin), result=result))
    tests = [ZeroRule(getattr(np, name), when=plain) for name in FUNCTIONS if hasattr(np, name)]
    methods = [ZeroRule(getattr(np.ndarray, name), when=plain) for name in METHODS]
    rows.extend(map(by_example, tests + methods))
    rows.extend(TextRule(getattr(np, name), when=plain) for name in TEXTS)
    rows.extend(TextRule(getattr(np.ndarray, name), when=plain) for name in ("__repr__", "__str__"))
    rows.extend(ZeroRule(getattr(np, name)) for name in METADATA)
    for cls in (np.ndarray, np.generic):
        rows.extend(AttributeRule(cls, name, _described) for name in ATTRIBUTES)
    rows += [
        AttributeRule(np.flatiter, "coords"),
        AttributeRule(np.void, "dtype"),
        AttributeRule(np.void, "flags"),
    ]
    rows.extend(ZeroRule(getattr(np.random, name)) for name in RANDOM)
    return rows


ROWS: list[Rule] = _rows()
