"""Special methods called by name: ``a.__add__(b)``, ``list.__setitem__(v, i, x)``, ``super().__len__()``.

Those implemented in C do what an operator does that has rules, so that is what is differentiated:
`operation` says which call it is, where it is the same.  It is not where the operator would ask the
other operand, or a method that a subclass has put in front.
"""

from __future__ import annotations

import builtins
import operator
import types
from collections import deque
from typing import Any

__all__ = ["METHODS", "OPERATIONS", "operation"]

METHODS = (types.WrapperDescriptorType, types.MethodDescriptorType)
"""The classes of special methods implemented in C, as classes hold them."""

_BINARY = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "lshift", "rshift")
_BITWISE = {"and": "and_", "or": "or_", "xor": "xor"}


def _operations() -> dict[str, tuple[Any, bool]]:
    """By the name of a method, the function that does the same, and whether its operands are swapped."""
    found: dict[str, tuple[Any, bool]] = {}
    for name, function in {**{n: n for n in _BINARY}, **_BITWISE}.items():
        found[f"__{name}__"] = getattr(operator, function), False
        found[f"__r{name}__"] = getattr(operator, function), True
        found[f"__i{name}__"] = getattr(operator, f"i{name}"), False
    for name in (
        "lt", "le", "eq", "ne", "gt", "ge", "neg", "pos", "invert", "getitem", "setitem", "delitem",
        "contains", "index",
    ):  # fmt: skip
        found[f"__{name}__"] = getattr(operator, name), False
    for name in (
        "abs", "len", "iter", "next", "reversed", "float", "int", "complex", "bool", "divmod", "round",
        "repr", "str", "hash", "format",
    ):  # fmt: skip
        found[f"__{name}__"] = getattr(builtins, name), False
    found["__rdivmod__"] = divmod, True
    return found


OPERATIONS = _operations()
_DECLINES = frozenset(
    [f"__{side}{name}__" for name in (*_BINARY, "divmod", *_BITWISE) for side in ("", "r")]
    + [f"__{name}__" for name in ("lt", "le", "eq", "ne", "gt", "ge")]
)
"""Methods that may return NotImplemented, where the operator would go on to the other operand."""


def operation(function: Any, args: tuple[Any, ...]) -> tuple[Any, bool] | None:
    """The function with rules that does what the special method `function`, in C, of the class of the first
    argument does with `args`, and whether the operands change places; NotImplemented in place of the function
    if that is the result; None if there is no such function."""
    found = OPERATIONS.get(function.__name__)
    if found is None:
        return None
    if function.__name__ in _DECLINES and len(args) > 1:
        cls, other = type(args[0]), type(args[1])
        times = function.__name__ in ("__mul__", "__rmul__")
        if cls in _NUMBERS or (cls in _CONTAINERS and not times and not issubclass(other, cls)):
            # Immutable, or a class that it knows nothing of: the answer may be asked for beforehand.
            return (NotImplemented, False) if function(*args) is NotImplemented else found
        if other is not cls and not (times and other is int) and not _both_numpy(cls, other):
            return None
    return found


_NUMBERS = frozenset({int, float, complex, bool})
_CONTAINERS = frozenset({list, tuple, dict, set, frozenset, deque})


def _both_numpy(cls: type, other: type) -> bool:
    """Whether `cls` is a class of NumPy, and `other` one that it computes with by itself."""
    return hasattr(cls, "dtype") and (other in _NUMBERS or hasattr(other, "dtype"))
