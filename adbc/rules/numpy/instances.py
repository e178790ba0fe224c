"""NumPy's functions written in C, for instances of subclasses of ndarray.

What they do is spelled out in Python, which is differentiated: the arrays that the instances are go through
the function, by its rule, and the result becomes an instance as NumPy would make it one (`stand_ins`).  So
``__array_finalize__`` and ``__array_wrap__`` of the user's are followed like any code.
"""

from __future__ import annotations

import builtins
import inspect
import operator
import types
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from adbc.errors import UnsupportedError
from adbc.functions import is_builtin_function, is_function
from adbc.ir import intrinsics
from adbc.rules.classes import overrides
from adbc.rules.numpy import dressing
from adbc.rules.numpy.base import plain
from adbc.rules.numpy.creation import AstypeView, same_elements
from adbc.rules.numpy.dressing import OPEN, TOLD, bare_all, dress
from adbc.rules.numpy.operators import BINARY, UNARY
from adbc.rules.numpy.overrides import OTHERS, defines, turns
from adbc.rules.numpy.stand_ins import (
    ARGUMENT,
    INSTANCE,
    PLAIN,
    WRAPPED,
    has_finalize,
    is_instance_class,
    planned,
)
from adbc.rules.numpy.views import ViewRule
from adbc.rules.table import Overlay, Rule, ZeroRule
from adbc.tangents.array_instances import bare, instance_of

__all__ = ["ROWS", "row_of"]


# -- from instances to arrays, and back --------------------------------------------------------------------


def made(cls: Any, array: Any, obj: Any) -> Any:
    """The instance of `cls` that C code makes of `array`, for the sake of `obj`."""
    new = instance_of(cls, np.asarray(array))
    if has_finalize(cls):
        new.__array_finalize__(obj)
    return new


def holds_instances(x: Any) -> bool:
    """Whether there is an instance of a subclass of ndarray in the tuple or list `x`."""
    return any(holds_instances(y) if type(y) in (tuple, list) else is_instance_class(type(y)) for y in x)


def bared(x: Any) -> Any:
    """`x`, or the array that it is; of a tuple or list those in it."""
    if is_instance_class(type(x)):
        return bare(x)
    if type(x) in (tuple, list) and holds_instances(x):
        parts = []
        for y in x:
            parts.append(bared(y))  # noqa: PERF401  # before 3.12 a comprehension is a function
        return parts if type(x) is list else tuple(parts)
    return x


def at(path: Any, args: Any, named: Any) -> Any:
    """The argument at `path` (`stand_ins.Path`)."""
    if path is None:
        return None
    if path[0] is None:
        return np.ndarray.reshape(at(path[1], args, named), path[2])
    found = named[path[0]] if type(path[0]) is str else args[path[0]]
    for step in path[1:]:
        found = found[step]
    return found


def dressed(result: Any, plan: Any, args: Any, named: Any) -> Any:
    """What is made of `result`, which a function gives for arrays, by `plan` (`stand_ins.planned`)."""
    kind = plan[0]
    if kind == PLAIN:
        return result
    if kind == ARGUMENT:
        return at(plan[1], args, named)
    if kind == INSTANCE:
        return made(plan[1], result, at(plan[2], args, named))
    if kind == WRAPPED:
        return wrapped(at(plan[1], args, named), result, plan[2], plan[3], args, named)
    parts = []
    for one, its_plan in zip(result, plan[2], strict=True):
        parts.append(dressed(one, its_plan, args, named))  # as above
    return parts if plan[1] is list else tuple(parts)


def wrap_arity(cls: type) -> int:
    """How many arguments NumPy gives ``__array_wrap__`` of `cls`: older classes take fewer."""
    parameters = list(inspect.signature(cls.__array_wrap__).parameters.values())[1:]  # type: ignore[attr-defined]
    if any(p.kind is p.VAR_POSITIONAL for p in parameters):
        return 3
    return min(3, sum(p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in parameters))


def wrapped(obj: Any, result: Any, context: Any, is_scalar: Any, args: Any, named: Any) -> Any:
    """``obj.__array_wrap__(result, context, is_scalar)``, with the arguments in the place of their paths."""
    if context is not None:
        given = []
        for is_path, x in context[1]:
            given.append(at(x, args, named) if is_path else x)  # as above
        context = context[0], tuple(given), context[2]
    array, arity = np.asarray(result), wrap_arity(type(obj))
    if arity == 3:
        return obj.__array_wrap__(array, context, is_scalar)
    return obj.__array_wrap__(array, context) if arity == 2 else obj.__array_wrap__(array)


def holds_nested(args: Any) -> bool:
    """Whether there are instances in tuples or lists among `args`."""
    return any(holds_instances(x) for x in args if type(x) in (tuple, list))


def nested(args: Any) -> Any:
    """The arguments of a call with arrays in the place of instances, in tuples and lists too."""
    given = []
    for x in args:
        given.append(bared(x))  # noqa: PERF401  # as above
    return tuple(given)


def by_name(named: Any) -> Any:
    """The arguments of a call by keyword, with arrays in the place of instances."""
    given = {}
    for name in named:
        if name != "out" or named[name] is not None:
            given[name] = bared(named[name])
    return given


def through(function: Any) -> Callable[..., Any]:
    """The body that stands for `function`, of C, where an argument is an instance of a subclass."""

    def on_instances(*args: Any, **named: Any) -> Any:
        plan = planned(function, args, named)
        given = nested(args) if holds_nested(args) else bare_all(args)
        result = function(*given, **by_name(named)) if named else function(*given)
        new, obj, rest = dress(plan, result, args)
        if rest == OPEN:
            return dressed(result, plan, args, named)
        if rest == TOLD:
            new.__array_finalize__(obj)
        return new

    return on_instances


rolled = through(np.roll)


def through_attribute(name: str) -> Callable[..., Any]:
    """The body that stands for reading attribute `name`, computed in C."""
    read = operator.attrgetter(name)

    def of_instance(x: Any, /) -> Any:
        plan = planned(read, (x,), {})
        return dressed(getattr(bare(x), name), plan, (x,), {})

    return of_instance


# -- making instances ----------------------------------------------------------------------------------------


def viewed(x: Any, dtype: Any) -> Any:
    """``x.view(dtype)``, of the class of `x`."""
    return np.ndarray.view(x) if dtype is None else np.ndarray.view(x, dtype)


def view(x: Any, dtype: Any = None, type: Any = None) -> Any:
    """``x.view(dtype, type)``, where a class of arrays may stand for `dtype`."""
    if type is None and is_class_of_arrays(dtype):
        dtype, type = None, dtype
    if type is None:
        type = x.__class__
    shown = viewed(bared(x), dtype)
    return shown if type is np.ndarray else made(type, shown, x)


def viewed_number(x: Any, dtype: Any) -> Any:
    """``x.view(dtype)`` of one of NumPy's numbers."""
    return np.generic.view(x) if dtype is None else np.generic.view(x, dtype)


def view_of_number(x: Any, dtype: Any = None, type: Any = None) -> Any:
    """``x.view(dtype, type)`` of one of NumPy's numbers: a number, whatever the class of arrays is."""
    return viewed_number(x, None if is_class_of_arrays(dtype) else dtype)


def is_class_of_arrays(x: Any) -> bool:
    """Whether `x` is ndarray or a subclass."""
    return isinstance(x, type) and issubclass(x, np.ndarray)


def in_buffer(
    buffer: Any, shape: Any, dtype: Any = float, offset: int = 0, strides: Any = None, order: Any = None
) -> Any:
    """The array of this shape and dtype in the memory of the array `buffer`."""
    return np.ndarray(shape, dtype, buffer, offset, strides, order)


def new(
    cls: Any, shape: Any, dtype: Any = float, buffer: Any = None, offset: Any = 0, strides: Any = None,
    order: Any = None,
) -> Any:  # fmt: skip
    """``ndarray.__new__(cls, ...)``."""
    if buffer is None:
        array = np.empty(shape, dtype, "C" if order is None else order)
    elif isinstance(buffer, np.ndarray):
        array = in_buffer(bared(buffer), shape, dtype, offset, strides, order)
    else:
        raise UnsupportedError(
            f"an array in the memory of a {type(buffer).__name__} is made by numpy.ndarray.__new__",
            "whose memory that is is not known",
            "use numpy.frombuffer(buffer, dtype).reshape(shape).view(cls)",
        )
    return array if cls is np.ndarray else made(cls, array, None)


def array_ufunc(self: Any, ufunc: Any, method: Any, *inputs: Any, **keywords: Any) -> Any:
    """``ndarray.__array_ufunc__``: the ufunc itself, unless somebody else has a say."""
    out = keywords.get("out", ())
    if turns("__array_ufunc__", (*inputs, *out)):
        return NotImplemented
    if method == "__call__":
        return ufunc(*inputs, **keywords)
    return getattr(ufunc, method)(*inputs, **keywords)


def array_function(self: Any, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
    """``ndarray.__array_function__``: what the function does by itself, for subclasses of ndarray."""
    for cls in types:
        if not issubclass(cls, np.ndarray):
            return NotImplemented
    return implementation(func)(*args, **kwargs)


def implementation(function: Any) -> Callable[..., Any]:
    """What `function` does once everybody has been asked."""
    inner = function.__wrapped__
    if is_function(inner):
        return inner
    return through(function)


class _Asked(Exception):
    """An array asks for a part of itself."""


class _Asking(np.ndarray[Any, Any]):
    """Arrays that tell when they are asked for a part of themselves."""

    def __getitem__(self, index: Any) -> Any:
        raise _Asked


def asks_for_view(x: Any, index: Any) -> bool:
    """Whether NumPy writes at `index` of the instance `x` into what the class says that ``x[index]`` is."""
    if not defines(type(x), "__getitem__"):
        return False
    part = bare(x)[index]
    try:
        bare(x).copy().view(_Asking)[index] = part
    except _Asked:
        return True
    return False


def set_item(x: Any, index: Any, value: Any) -> None:
    """``ndarray.__setitem__(x, index, value)``."""
    index, value = bared(index), bared(value)
    if is_instance_class(type(x)) and asks_for_view(x, index):
        bared(np.asanyarray(x[index]))[...] = value
    else:
        bared(x)[index] = value


def array(x: Any, dtype: Any = None, copy: Any = None) -> Any:
    """``x.__array__(dtype, copy=copy)``."""
    made = np.asarray(bared(x), dtype)
    return made.copy() if copy and made is bared(x) else made


def roll(a: Any, shift: Any, axis: Any = None) -> Any:
    """``numpy.roll``, which rolls the elements in a row if there is no axis."""
    a = np.asanyarray(a)
    if axis is None:
        return rolled(a.ravel(), shift, 0).reshape(a.shape)
    return rolled(a, shift, axis)


unique_along = through(np.unique)


def unique(
    ar: Any, return_index: Any = False, return_inverse: Any = False, return_counts: Any = False,
    axis: Any = None, **options: Any,
) -> Any:  # fmt: skip
    """``numpy.unique``, which looks at the bytes of the elements along an axis, if there is one."""
    if axis is None:
        return implementation(np.unique)(ar, return_index, return_inverse, return_counts, **options)
    return unique_along(ar, return_index, return_inverse, return_counts, axis, **options)


def clip(a: Any, low: Any, high: Any, out: Any = None) -> Any:
    """The ufunc behind ``numpy.clip``."""
    return np.clip(a, low, high, out)


def trace(a: Any, offset: Any = 0, axis1: Any = 0, axis2: Any = 1, dtype: Any = None, out: Any = None) -> Any:
    """``ndarray.trace``."""
    return np.add.reduce(np.ndarray.diagonal(a, offset, axis1, axis2), axis=-1, dtype=dtype, out=out)


def items(x: Any) -> Any:
    """The parts of an instance that an iteration over it gives."""
    found = []
    for i in range(len(x)):
        found.append(x[i])  # noqa: PERF401  # as above
    return iter(found)


def defers(x: Any, other: Any) -> bool:
    """Whether an instance leaves an operator to its other operand, as NumPy decides it."""
    cls = type(other)
    if (
        cls is type(x)
        or cls is np.ndarray
        or isinstance(other, (np.generic, int, float, complex, list, tuple))
    ):
        return False
    if hasattr(cls, "__array_ufunc__"):
        return cls.__array_ufunc__ is None
    return bool(getattr(other, "__array_priority__", 0.0) > x.__array_priority__)


def _special(name: str) -> list[Rule]:
    """The rows of a special method of arrays that is called by name, as in ``super().__mul__(other)``, or
    because the other operand has a method in Python that is asked behind it; those of NumPy's numbers do the
    same where the other operand is an instance, or is asked by the ufunc."""
    plain_name = name.strip("_")
    reflected = plain_name[0] == "r" and hasattr(np.ndarray, f"__{plain_name[1:]}__")
    in_place = plain_name[0] == "i" and hasattr(np.ndarray, f"__{plain_name[1:]}__") and name != "__invert__"
    ufunc = getattr(np, UFUNCS[plain_name[1:] if reflected or in_place else plain_name])

    def unary(self: Any) -> Any:
        return ufunc(self)

    def binary(self: Any, other: Any) -> Any:
        return NotImplemented if defers(self, other) else ufunc(self, other)

    def swapped(self: Any, other: Any) -> Any:
        return ufunc(other, self)

    def into(self: Any, other: Any) -> Any:
        return ufunc(self, other, out=(self,))

    body = unary if ufunc.nin == 1 else swapped if reflected else into if in_place else binary
    numeric = NUMERIC if ufunc.nin == 2 else ()
    methods = [vars(cls)[name] for cls in (np.ndarray, *numeric) if name in vars(cls)]
    return [Overlay(method, body, when=_of_instances_or_asked) for method in methods]


def array_wrap(self: Any, array: Any, context: Any = None, return_scalar: Any = False) -> Any:
    """``ndarray.__array_wrap__``."""
    if type(self) is type(array):
        return array
    if type(self) is np.ndarray:
        return array[()] if return_scalar and array.ndim == 0 else array
    return made(type(self), bared(array), self)


# -- rows ----------------------------------------------------------------------------------------------------


def _answers_by(cls: type, methods: Sequence[str]) -> bool:
    """Whether `cls` answers for itself by one of `methods`."""
    return any(overrides(cls, name) and not _is_array_method(cls, name) for name in methods)


def _when(*methods: str) -> Callable[..., bool]:
    """The `when` of rows for instances, where no class answers for itself by one of `methods`."""

    def accepts(*classes: type) -> bool:
        return any(map(is_instance_class, classes)) and not any(_answers_by(cls, methods) for cls in classes)

    return accepts


def _when_operator(*methods: str) -> Callable[..., bool]:
    """The `when` of operators for instances: reflected methods are asked of the second operand only."""
    of_first = [name for name in methods if f"__{name[3:]}" not in methods]  # `__mul__` of `__rmul__`
    of_second = [name for name in methods if name not in of_first or name in _ASKED_OF_BOTH]

    def accepts(first: type, *others: type) -> bool:
        if not any(map(is_instance_class, (first, *others))) or _answers_by(first, of_first):
            return False
        return not any(_answers_by(cls, of_second) for cls in others)

    return accepts


_of_instances = _when()


def _of_instances_or_asked(*classes: type) -> bool:
    """The `when` of special methods: for instances, and where a class that is no array's says what ufuncs do
    with its own."""
    return _of_instances(*classes) or any(defines(cls, "__array_ufunc__") for cls in classes)


def _is_array_method(cls: type, name: str) -> bool:
    """Whether `cls` has `name` from ndarray."""
    return getattr(cls, name, None) is getattr(np.ndarray, name, _ABSENT)


_ABSENT = object()
_COMPARISONS = ("__lt__", "__le__", "__eq__", "__ne__", "__gt__", "__ge__")
_ASKED_OF_BOTH = (*_COMPARISONS, "__array_ufunc__")


def _asked(function: Any) -> tuple[str, ...]:
    """The special methods by which a class may answer for itself where `function`, an operator or a builtin
    function, is called."""
    name = function.__name__.strip("_")
    if f"__{name}__" in _COMPARISONS:
        return (*_COMPARISONS, "__array_ufunc__")
    if name[0] == "i" and name[1:] in UFUNCS and name not in UFUNCS:
        return (
            f"__{name}__",
            *_asked(getattr(operator, name[1:], None) or getattr(operator, f"{name[1:]}_")),
        )
    if name not in UFUNCS:
        return (f"__{name}__",)
    return (f"__{name}__", f"__r{name}__", "__array_ufunc__")


def row_of(function: Any) -> Rule | None:
    """The row of `function` for instances; None if it is written in Python, or does something special."""
    kind = type(function)
    if function in _SPECIAL or function in _REFUSED:
        return None
    if isinstance(function, type):
        is_number = issubclass(function, (int, float, complex, np.generic))
        return Overlay(function, through(function), when=_when(*NUMBERS)) if is_number else None
    if kind is np.ufunc:
        return Overlay(function, through(function), when=_when("__array_ufunc__"))
    if kind is types.GetSetDescriptorType and function.__objclass__ is np.ndarray:
        return Overlay(function, through_attribute(function.__name__), when=_when())
    is_whole = getattr(function, "__module__", None) in ("numpy.linalg", "numpy.fft") or function in _WHOLE
    if (is_whole and function is not np.linalg.matrix_power) or is_builtin_function(
        getattr(function, "__wrapped__", None)
    ):
        return Overlay(function, through(function), when=_when("__array_function__"))
    if kind is types.BuiltinFunctionType and function.__self__.__class__ is np.ufunc:
        return Overlay(function, through(function), when=_when("__array_ufunc__"))
    if (
        kind in (types.MethodDescriptorType, types.WrapperDescriptorType)
        and function.__objclass__ is np.ndarray
    ):
        return Overlay(function, through(function), when=_when())
    if kind is types.BuiltinFunctionType:
        by = _asked(function) if function.__module__ in ("_operator", "builtins") else ()
        return Overlay(function, through(function), when=_when_operator(*by))
    return None


_WHOLE: frozenset[Any] = frozenset(
    {
        np.broadcast_to, np.einsum, np.interp, np.convolve, np.correlate,
        np.lib.stride_tricks.sliding_window_view, np.cross,
    }
)  # fmt: skip
"""Functions of NumPy's written in Python whose own code cannot be followed, and which leave the class of
their result to C code, or take it off."""
_SPECIAL: frozenset[Any] = frozenset({np.ndarray.view})
_REFUSED: frozenset[Any] = frozenset({np.ndarray.resize, np.ndarray.flat})


UFUNCS: dict[str, str] = {
    **{name.strip("_"): ufunc for name, ufunc in {**BINARY, **UNARY, **OTHERS}.items()},
    "divmod": "divmod",
}
"""The ufuncs behind the special methods of arrays, by the names of these."""
SPECIAL = [
    name
    for name in vars(np.ndarray)
    if name.strip("_") in UFUNCS or (name[2:3] in ("r", "i") and name.strip("_")[1:] in UFUNCS)
]
NUMBERS = ("__float__", "__int__", "__complex__", "__index__")
"""The special methods by which a number is made of an instance."""
NUMERIC: tuple[type, ...] = (
    np.generic, np.bool_, np.int32, np.int64, np.float32, np.float64, np.complex64, np.complex128,
)  # fmt: skip
"""The classes of NumPy's numbers that have special methods of their own, but for rare ones."""
SUBSCRIPTS: list[Any] = [
    np.ndarray.__getitem__, np.ndarray.__float__, np.ndarray.__int__,
    np.ndarray.__complex__, np.ndarray.__index__,
]  # fmt: skip
_CORE: Any = np._core if hasattr(np, "_core") else np.core  # NumPy 1 has the second
_METHODS: Any = _CORE._methods
_CLIP: Any = _CORE.umath.clip
WRITTEN: dict[str, Any] = {
    **{name: getattr(_METHODS, f"_{name}") for name in ("mean", "var", "std", "clip")},
    "trace": trace,
}
"""The methods of arrays that are written in Python with operators, which a subclass may override, or that
make an instance of another."""
OF_UFUNCS: dict[str, Any] = {
    **{name: getattr(_METHODS, f"_{name}") for name in ("sum", "prod", "any", "all")},
    "max": _METHODS._amax,
    "min": _METHODS._amin,
}
"""The methods of arrays that are written in Python with methods of ufuncs, which a subclass may override."""


def _answers(first: type, *others: type) -> bool:
    """The `when` of rows for instances that answer for themselves where a ufunc is called."""
    return is_instance_class(first) and any(defines(cls, "__array_ufunc__") for cls in (first, *others))


ROWS: list[Rule] = [
    *dressing.ROWS,
    ZeroRule(planned),
    ZeroRule(has_finalize),
    ZeroRule(holds_nested),
    ZeroRule(holds_instances),
    ZeroRule(is_instance_class),
    ZeroRule(wrap_arity),
    ZeroRule(np.ndarray.__array_finalize__),
    ZeroRule(is_class_of_arrays),
    AstypeView(viewed),
    AstypeView(viewed_number, back=same_elements),
    ViewRule(in_buffer),
    Overlay(np.ndarray.view, view),
    Overlay(np.generic.view, view_of_number),
    Overlay(np.ndarray.__new__, new),
    Overlay(np.ndarray.__array_wrap__, array_wrap),
    Overlay(np.ndarray.__array_ufunc__, array_ufunc),
    Overlay(np.ndarray.__array_function__, array_function),
    Overlay(operator.setitem, set_item, when=_when("__setitem__")),
    Overlay(np.ndarray.__setitem__, set_item, when=_when()),
    Overlay(np.ndarray.__array__, array),
    Overlay(_CLIP, clip, when=plain),
    Overlay(_CLIP, through(_CLIP), when=_when("__array_ufunc__")),
    Overlay(np.roll, roll, when=_when("__array_function__")),
    Overlay(np.unique, unique, when=_when("__array_function__")),
    ZeroRule(asks_for_view),
    ZeroRule(defers),
    ZeroRule(implementation),
    *(Overlay(f, items, when=_when("__iter__")) for f in (intrinsics._iter_, builtins.iter)),
    *(row for name in SPECIAL for row in _special(name)),
    *(Overlay(method, through(method), when=_when()) for method in SUBSCRIPTS),
    *(Overlay(getattr(np.ndarray, name), body, when=_when()) for name, body in WRITTEN.items()),
    *(Overlay(getattr(np.ndarray, name), body, when=_answers) for name, body in OF_UFUNCS.items()),
]
