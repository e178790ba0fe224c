"""Classes that have a say in what NumPy's functions do with their instances.

The order is NumPy's (NEP 13 and NEP 18): left to right, a subclass before its base.  Only methods written in
Python count here; classes of C code that override are reported as missing a rule.
"""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from adbc.errors import UnsupportedError
from adbc.functions import is_function
from adbc.rules.classes import has, overrides
from adbc.rules.numpy.base import is_sequence
from adbc.rules.numpy.linalg import ROWS as LINALG
from adbc.rules.numpy.operators import BINARY, UNARY
from adbc.rules.numpy.own_arrays import refuse_own_protocol
from adbc.rules.numpy.reductions import ROWS as REDUCTIONS
from adbc.rules.numpy.shapes import ROWS as SHAPES
from adbc.rules.table import Overlay, Rule, ZeroRule

__all__ = ["ROWS"]


IS_TOLD = int(np.__version__.partition(".")[0]) >= 2
"""Whether this NumPy tells the method ``__array__`` if a copy is wanted."""


def defines(cls: type, name: str) -> bool:
    """Whether the method `name` of `cls` is written in Python."""
    for base in cls.__mro__:
        if name in vars(base):
            return is_function(vars(base)[name])
    return False


def _when(name: str) -> Callable[..., bool]:
    return lambda *classes: any(defines(cls, name) for cls in classes)


def turns(name: str, values: Sequence[Any]) -> list[int]:
    """The indices of those of `values` that override by method `name`, in the order they are asked."""
    order: list[int] = []
    asked: list[type] = []
    for number, value in enumerate(values):
        cls = type(value)
        if cls in asked or not defines(cls, name):
            continue
        at = len(order)
        for place, other in enumerate(asked):
            if issubclass(cls, other):
                at = place
                break
        order.insert(at, number)
        asked.insert(at, cls)
    return order


def types_of(name: str, values: Sequence[Any]) -> tuple[type, ...]:
    """The classes of those of `values` that override by method `name`."""
    return tuple(type(values[number]) for number in turns(name, values))


def asked(ufunc: Any, method: Any, inputs: Any, keywords: Any) -> Any:
    """What the first of the operands that does not decline gives for a method of a ufunc."""
    out = keywords.get("out")
    if type(out) is not tuple:
        out = () if out is None else (out,)
        if out:
            keywords = {**keywords, "out": out}
        elif "out" in keywords:
            keywords = {name: keywords[name] for name in keywords if name != "out"}
    operands = (*inputs, *out)
    for number in turns("__array_ufunc__", operands):
        result = operands[number].__array_ufunc__(ufunc, method, *inputs, **keywords)
        if result is not NotImplemented:
            return result
    raise TypeError(f"operand type(s) all returned NotImplemented from __array_ufunc__({ufunc!r})")


def _ufunc(function: Any) -> Callable[..., Any]:
    count = function.nin

    def overridden(*inputs: Any, **keywords: Any) -> Any:
        if len(inputs) > count:
            keywords = {**keywords, "out": inputs[count:]}
            inputs = inputs[:count]
        return asked(function, "__call__", inputs, keywords)

    return overridden


REDUCED = (
    np.add, np.subtract, np.multiply, np.divide, np.maximum, np.minimum, np.logical_and, np.logical_or,
)  # fmt: skip
"""The ufuncs whose methods classes are asked for: those that reductions are made of, and a few more."""
REDUCING = ("axis", "dtype", "out", "keepdims", "initial", "where")
METHODS: dict[str, tuple[int, Sequence[str]]] = {
    "reduce": (1, REDUCING),
    "accumulate": (1, REDUCING[:3]),
    "reduceat": (2, REDUCING[:3]),
    "outer": (2, ()),
    "at": (3, ()),
}
"""The methods of ufuncs: how many operands they have, and the names of other arguments by position."""


def _method(bound: Any) -> Callable[..., Any]:
    ufunc, name = bound.__self__, bound.__name__
    count, names = METHODS[name]

    def overridden(*inputs: Any, **keywords: Any) -> Any:
        given = dict(zip(names, inputs[count:], strict=False))
        keywords = {**given, **keywords}
        if "initial" in keywords and keywords["initial"] is np._NoValue:
            keywords = {k: keywords[k] for k in keywords if k != "initial"}
        return asked(ufunc, name, inputs[:count], keywords)

    return overridden


def _function(function: Any) -> Callable[..., Any]:
    def overridden(*arguments: Any, **keywords: Any) -> Any:
        kinds = types_of("__array_function__", arguments)
        for number in turns("__array_function__", arguments):
            result = arguments[number].__array_function__(function, kinds, arguments, keywords)
            if result is not NotImplemented:
                return result
        raise TypeError(
            f"no implementation found for {function!r} on types that implement __array_function__"
        )

    return overridden


def _operator(ufunc: Any) -> Callable[..., Any]:
    def applied(*operands: Any) -> Any:
        return ufunc(*operands)

    return applied


def _in_place(ufunc: Any) -> Callable[..., Any]:
    def applied(target: Any, other: Any) -> Any:
        return ufunc(target, other, out=(target,) if isinstance(target, np.ndarray) else None)

    return applied


_IF_NEEDED: Any = getattr(getattr(np, "_CopyMode", None), "IF_NEEDED", np)
"""What SciPy says in place of None, of which NumPy does not tell whether it is true."""


def takes_copy(x: Any) -> bool:
    """Whether NumPy tells ``x.__array__`` if a copy is wanted, which it then takes for made."""
    parameters = inspect.signature(type(x).__array__).parameters.values()
    return IS_TOLD and any(p.name == "copy" or p.kind is p.VAR_KEYWORD for p in parameters)


def answers(x: Any) -> bool:
    """Whether `x` is asked, by a method of its class, for attributes that it has not got: NumPy asks objects
    and not their classes which arrays they stand for."""
    return overrides(type(x), "__getattr__") or overrides(type(x), "__getattribute__")


def shows_memory(x: Any) -> bool:
    """Whether `x` says by an attribute which memory is its array: NumPy asks for that first."""
    cls = type(x)
    if not (answers(x) or has(cls, "__array_struct__") or has(cls, "__array_interface__")):
        return False
    return hasattr(x, "__array_struct__") or hasattr(x, "__array_interface__")


def shows_array(x: Any) -> bool:
    """Whether `x` gives an array by an attribute that its class has not got."""
    return answers(x) and (shows_memory(x) or hasattr(x, "__array__"))


def check_shown(x: Any, made: Any) -> None:
    """Raise unless the array that `x` shows by its memory is `made`, what ``x.__array__()`` gives."""
    shown = np.asarray(x)
    is_same = isinstance(made, np.ndarray) and (shown.dtype, shown.shape) == (made.dtype, made.shape)
    if is_same and shown.ndim:
        is_same = shown.ctypes.data == made.ctypes.data and shown.strides == made.strides
    if not is_same or shown.tobytes() != made.tobytes():
        raise UnsupportedError(
            f"a {type(x).__name__} shows an array by __array_interface__ or __array_struct__",
            "that is not the one which its __array__ gives, and whose memory it is cannot be seen",
            "pass the array itself, or let the object say nothing of them",
        )


def converted(x: Any, dtype: Any, copy: Any) -> tuple[Any, Any]:
    """The array that ``x.__array__`` makes for ``np.array``, and whether that is still to be copied."""
    given = () if dtype is None else (dtype,)
    if copy is _IF_NEEDED:
        copy = None
    if shows_memory(x):
        made = x.__array__()
        check_shown(x, made)
        return made, copy
    if copy is None or not takes_copy(x):
        return x.__array__(*given), copy
    return x.__array__(*given, copy=copy), None if copy else copy


def asarray(a: Any, dtype: Any = None, order: Any = None, *, copy: Any = None) -> Any:
    made, copy = converted(a, dtype, copy)
    return np.array(made, dtype, copy=True, order=order) if copy else np.asarray(made, dtype, order)


def array(
    object: Any, dtype: Any = None, *, copy: Any = True, order: Any = "K", subok: bool = False, ndmin: int = 0
) -> Any:
    made, copy = converted(object, dtype, copy)
    copy = copy if IS_TOLD else bool(copy)
    return np.array(made, dtype, copy=copy, order=order, subok=subok, ndmin=ndmin)


def _of_sequence(function: Any) -> Callable[..., Any]:
    """The body that stands for `function` of a sequence in Python, whose elements NumPy lists first."""

    def listed(a: Any, *args: Any, **keywords: Any) -> Any:
        refuse_own_protocol(a)
        if shows_array(a):
            made = a.__array__()
            check_shown(a, made)
            return function(made, *args, **keywords)
        return function(list(a), *args, **keywords)

    return listed


_UFUNCS = [value for value in vars(np).values() if isinstance(value, np.ufunc)]
_DISPATCHED = [
    row.function
    for row in [*REDUCTIONS, *SHAPES, *LINALG]
    if type(row.function).__name__ == "_ArrayFunctionDispatcher"
]

OTHERS: dict[str, str] = {
    "matmul": "matmul", "lt": "less", "le": "less_equal", "eq": "equal", "ne": "not_equal", "gt": "greater",
    "ge": "greater_equal", "and_": "bitwise_and", "or_": "bitwise_or", "xor": "bitwise_xor",
    "invert": "invert", "lshift": "left_shift", "rshift": "right_shift",
}  # fmt: skip
"""Operators that have no partial derivatives, or not as functions of two numbers, and their ufuncs."""

ROWS: list[Rule] = [
    ZeroRule(turns),
    ZeroRule(types_of),
    ZeroRule(takes_copy),
    ZeroRule(shows_memory),
    ZeroRule(shows_array),
    ZeroRule(check_shown),
    *(Overlay(ufunc, _ufunc(ufunc), when=_when("__array_ufunc__")) for ufunc in dict.fromkeys(_UFUNCS)),
    *(
        Overlay(function, _function(function), when=_when("__array_function__"))
        for function in dict.fromkeys(_DISPATCHED)
    ),
    *(
        Overlay(getattr(operator, name), _operator(getattr(np, ufunc)), when=_when("__array_ufunc__"))
        for name, ufunc in {**BINARY, **UNARY, **OTHERS}.items()
    ),
    *(
        Overlay(
            getattr(operator, f"i{name.strip('_')}"),
            _in_place(getattr(np, ufunc)),
            when=_when("__array_ufunc__"),
        )
        for name, ufunc in {**BINARY, **OTHERS}.items()
        if hasattr(operator, f"i{name.strip('_')}")
    ),
    *(
        Overlay(getattr(ufunc, name), _method(getattr(ufunc, name)), when=_when("__array_ufunc__"))
        for ufunc in REDUCED
        for name in METHODS
    ),
    Overlay(np.asarray, asarray, when=lambda cls, *rest: defines(cls, "__array__")),
    Overlay(np.array, array, when=lambda cls, *rest: defines(cls, "__array__")),
    *(
        Overlay(function, _of_sequence(function), when=lambda cls, *rest: is_sequence(cls))
        for function in (np.asarray, np.array)
    ),
]
