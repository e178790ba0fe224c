"""What a call really calls: CPython's own protocols, spelt out.

`step(call)` looks at a call of anything on anything and says what CPython would do next: use a rule
of the table, enter a Python function, pass the call on to something else (`Delegate`), or run a C
function.  It reads classes and never runs user code, so both modes share it; the drivers in
`reverse_calls` and `forward_calls` do what it says.

What it answers with are the `steps`.
"""

from __future__ import annotations

import functools
import inspect
import math
import operator
import types
import weakref
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from adbc.ir import intrinsics
from adbc.rules.builtins.displays import NEW
from adbc.rules.builtins.ordering import watched_order
from adbc.rules.classes import NESTING, builtin_data, plain_text, stands_for_position
from adbc.rules.table import ZeroRule
from adbc.rules.types import behind
from adbc.runtime.calls.generators import Generator
from adbc.runtime.calls.special_methods import METHODS, operation
from adbc.runtime.calls.steps import (
    Advance,
    Alternatives,
    AsItIs,
    Call,
    Delegate,
    Enter,
    Foreign,
    Known,
    Locate,
    Make,
    MakeRecord,
    OfSelf,
    Refer,
    Spread,
    Step,
    Suspend,
    UseRow,
    Value,
    Watch,
)
from adbc.runtime.state.activity import is_active
from adbc.runtime.state.graph_functions import GraphFunction
from adbc.tangents import NO_FDATA, FData
from adbc.tangents.containers import PROXY
from adbc.tangents.protocol import ValueKind, kind_of
from adbc.types import AbstractType, TupleType, class_of
from adbc.types.inference import BUILT_BY_SYNTAX

__all__ = [
    "LIBRARY",
    "is_asked",
    "is_differentiation",
    "is_python_function",
    "located",
    "lookup",
    "pass_to_row",
    "runs_as_it_is",
    "step",
    "text_in_c",
]


LIBRARY = frozenset(
    {"abc", "collections", "collections.abc", "dataclasses", "enum", "functools", "types", "typing"}
)
"""Modules whose classes and hooks keep what they are given, and have no numbers of their own."""


def located(step: Locate, context: Any, known: Callable[[Any], Any]) -> Call:
    """The call of `step`, with the shadow that `known` gives of its argument."""
    call, place = step.call, step.place
    found = call.args[place]
    shadow = context.shadows.lookup(found) if type(found).__module__ in LIBRARY else known(found)
    shadows = (*call.shadows[:place], shadow, *call.shadows[place + 1 :])
    return Call(call.function, call.shadow, call.args, shadows, call.origins, call.keywords, call.origin)


def lookup(cls: type, name: str) -> Any:
    """The attribute `name` of `cls` or its bases, not bound, as the type slots see it; None if absent."""
    for base in cls.__mro__:
        if name in base.__dict__:
            return base.__dict__[name]
    return None


_AS_THEY_ARE = frozenset(
    {
        ("dataclasses", "_process_class"), ("collections", "namedtuple"),
        ("enum", "EnumType.__new__"), ("enum", "EnumType.__prepare__"), ("typing", "NamedTupleMeta.__new__"),
        ("typing", "get_type_hints"), ("inspect", "get_annotations"), ("annotationlib", "get_annotations"),
        ("typing", "_TypedDictMeta.__new__"),
    }
)  # fmt: skip


_TYPING = ("typing", "typing_extensions")


def runs_as_it_is(function: types.FunctionType, shadows: Sequence[Any] = ()) -> bool:
    """Whether `function`, of the standard library, makes classes, functions or types by ways not followed.

    That of `typing` which is given values with derivatives only hands them on, and is followed.
    """
    name, module = function.__qualname__, function.__module__
    if (module, name) in _AS_THEY_ARE:
        return True
    return module in _TYPING and not name.endswith("__init_subclass__") and not any(map(is_active, shadows))


def is_python_function(f: object) -> bool:
    return type(f) is types.FunctionType


def step(call: Call, table: Any, protocols: dict[Any, Any]) -> Step:
    """What CPython does next to make `call`."""
    function = call.function
    cls = type(function)
    if cls is types.FunctionType and function not in _SYNTAX:
        if runs_as_it_is(function, call.shadows):
            return AsItIs(call)
        row = table.find(function, tuple(type(a) for a in call.args[: call.count]))
        if row is not None:
            return pass_to_row(row, call)
        if is_differentiation(function):
            return Foreign(call)
        return Suspend(call) if function.__code__.co_flags & inspect.CO_GENERATOR else Enter(call)
    if issubclass(cls, GraphFunction):
        return Enter(call)
    if cls is types.MethodType:
        fields = getattr(call.shadow, "__dict__", {})
        return Delegate(
            call.prepend(
                function.__func__,
                fields.get("__func__"),
                function.__self__,
                _self_shadow(call.shadow),
                OfSelf(call.origin),
            )
        )
    try:
        special = protocols.get(function)
    except TypeError:
        special = None
    if special is not None:
        found: Step | None = special(call, table)
        if found is not None:
            return found
    row = table.find(function, tuple(type(a) for a in call.args[: call.count]))
    if row is not None:
        return pass_to_row(row, call)
    if cls is types.FunctionType:
        return Foreign(call)
    if cls in METHODS:
        return _special_method(call, table) or Foreign(call)
    if issubclass(cls, types.BuiltinMethodType) and not isinstance(
        function.__self__, (types.ModuleType, type)
    ):
        return _builtin_method(call, table)
    if isinstance(function, type):
        return _class(call, table)
    if cls is types.MethodWrapperType:
        # Not the first of its name: ``super().__call__`` is that of the base class.
        descriptor = function.__objclass__.__dict__[function.__name__]
        if function.__name__ == "__call__" and lookup(type(function.__self__), "__call__") is descriptor:
            return Delegate(call.of(function.__self__, _self_shadow(call.shadow), OfSelf(call.origin)))
        return Delegate(
            call.prepend(descriptor, None, function.__self__, _self_shadow(call.shadow), OfSelf(call.origin))
        )
    if cls is functools.partial:
        return Delegate(_partial(call))
    picked = _PICKERS.get(cls)
    if picked is not None:
        arguments: Any = function.__reduce__()[1:]
        if cls is not operator.methodcaller:
            return Delegate(call.prepend(picked, None, arguments[0], None, None))
        name, args, keywords = _method_to_call(function)
        return Delegate(call.prepend(picked, None, (name, args, keywords), None, None))
    wrapped = getattr(function, "__wrapped__", None)
    if is_python_function(wrapped) and cls.__name__ in _TRANSPARENT:
        return Delegate(call.of(wrapped))
    method = lookup(cls, "__call__")
    if is_python_function(method) and not is_differentiation(function):
        return Delegate(call.prepend(method, None, function, call.shadow, call.origin))
    row = table.find(method, (cls, *map(type, call.args[: call.count])))
    if row is not None:  # of the instances of a class written in C: ``itemgetter(0)(x)``
        return pass_to_row(row, call.prepend(method, None, function, call.shadow, call.origin))
    return Foreign(call)


def pick_items(keys: tuple[Any, ...], obj: Any) -> Any:
    """``operator.itemgetter(*keys)(obj)``."""
    if len(keys) == 1:
        return obj[keys[0]]
    found = []
    for key in keys:
        found.append(obj[key])  # noqa: PERF401  # before 3.12 a comprehension is a function
    return tuple(found)


def pick_attributes(names: tuple[str, ...], obj: Any) -> Any:
    """``operator.attrgetter(*names)(obj)``."""
    found = []
    for name in names:
        value = obj
        for part in name.split("."):
            value = getattr(value, part)
        found.append(value)
    return found[0] if len(found) == 1 else tuple(found)


def pick_method(how: tuple[str, tuple[Any, ...], dict[str, Any]], obj: Any) -> Any:
    """``operator.methodcaller(name, *args, **keywords)(obj)``."""
    name, args, keywords = how
    return getattr(obj, name)(*args, **keywords)


def _method_to_call(caller: Any) -> tuple[str, tuple[Any, ...], dict[str, Any]]:
    parts: Any = caller.__reduce__()
    made, (*arguments,) = parts[0], parts[1]
    if type(made) is functools.partial:  # of the class and the name, with the keywords
        return made.args[0], tuple(arguments), dict(made.keywords)
    return arguments[0], tuple(arguments[1:]), {}


_PICKERS: dict[type, Any] = {
    operator.itemgetter: pick_items,
    operator.attrgetter: pick_attributes,
    operator.methodcaller: pick_method,
}
"""Callables made in C that pick something from their argument."""

_DIFFERENTIATION = frozenset({"adbc.api", "adbc.runtime.entry.boxed", "adbc.runtime"})


def is_differentiation(function: Any) -> bool:
    """Whether `function` is one of adbc's own that differentiate, or was made by one (``adbc.grad(f)``).

    They are never entered: their own bookkeeping has no derivative.
    """
    cls = type(function)
    if cls is types.MethodType:
        return is_differentiation(function.__func__)
    if cls is types.FunctionType:
        return function.__globals__.get("__name__") in _DIFFERENTIATION
    return cls.__module__ in _DIFFERENTIATION


_SYNTAX = frozenset(intrinsics.INTRINSICS.values())

_TRANSPARENT = frozenset({"_ArrayFunctionDispatcher", "_lru_cache_wrapper"})
"""C callables around a Python function: the function is differentiated and the cache by-passed."""


def pass_to_row(row: Any, call: Call) -> Step:
    """The step that makes `call`, which `row` is the rule of."""
    if row.kind == "overlay":
        return Delegate(call.of(row.body))
    return UseRow(row, call)


def _self_shadow(shadow: Any) -> Any:
    """The shadow of ``__self__``, from that of a bound method."""
    return None if shadow is None or shadow is NO_FDATA else shadow.__dict__.get("__self__")


def _builtin_method(call: Call, table: Any) -> Step:
    """``[].append`` and the like: the method descriptor of the class, on the object."""
    method = call.function
    descriptor = _descriptor_of(method)
    if descriptor is None:
        return Foreign(call)
    return Delegate(
        call.prepend(descriptor, None, method.__self__, _self_shadow(call.shadow), OfSelf(call.origin))
    )


def _descriptor_of(method: Any) -> Any:
    """The method descriptor that a bound C method was made from, which need not be the first of its
    name: ``super().append`` is that of the base class."""
    obj = method.__self__
    for base in type(obj).__mro__:
        found = base.__dict__.get(method.__name__)
        # With the class: methods that know theirs crash the interpreter without it.
        if type(found) is types.MethodDescriptorType and found.__get__(obj, type(obj)) == method:
            return found
    return None


def _special_method(call: Call, table: Any) -> Step | None:
    """``float.__add__(x, y)`` and the like, in terms of the operator that has a rule."""
    function, args = call.function, call.args
    if not args or call.keywords or lookup(type(args[0]), function.__name__) is not function:
        return None
    found = operation(function, args)
    if found is None:
        return None
    if found[0] is NotImplemented:
        return Value(call, NotImplemented, None)
    swapped = call.on(found[0], 1, 0) if found[1] else call.of(found[0])
    row = table.find(found[0], tuple(map(type, swapped.args)))
    return None if row is None else pass_to_row(row, swapped)


def _partial(call: Call) -> Call:
    partial = call.function
    # absent, None and (in forward mode) NoTangent all mean that there is no derivative
    fields = getattr(call.shadow, "__dict__", {})
    args = partial.args
    shadows = fields.get("args")
    if type(shadows) is not tuple:
        shadows = (None,) * len(args)
    named = getattr(fields.get("keywords"), "__dict__", {})
    overridden = {k: v for k, v in partial.keywords.items() if k not in call.keywords}
    keyword_shadows = [named.get(k) for k in overridden]
    n = call.count
    return Call(
        partial.func,
        fields.get("func"),
        (*args, *call.args[:n], *overridden.values(), *call.args[n:]),
        (*shadows, *call.shadows[:n], *keyword_shadows, *call.shadows[n:]),
        (*(None for _ in args), *call.origins[:n], *(None for _ in overridden), *call.origins[n:]),
        (*overridden, *call.keywords),
        None,
    )


def _class(call: Call, table: Any) -> Step:
    """``cls(...)``: the metaclass's ``__call__``, then ``__new__`` and ``__init__``."""
    cls = call.function
    if cls is type and call.count == 3:
        return Make(call, type.__new__, None)
    meta_call = lookup(type(cls), "__call__")
    if meta_call is dict:  # a TypedDict
        return Delegate(call.of(dict))
    if is_python_function(meta_call):
        return Delegate(call.prepend(meta_call, None, cls, None, None))
    return _make(call, table)


def _type_call(call: Call, table: Any) -> Step | None:
    """``type.__call__(cls, ...)``: what ``super().__call__(...)`` of a metaclass leads to."""
    if not call.args or not isinstance(call.args[0], type) or call.args[0] is type:
        return None
    cls = call.args[0]
    rest = Call(cls, None, call.args[1:], call.shadows[1:], call.origins[1:], call.keywords, None)
    row = table.find(cls, tuple(type(a) for a in rest.args[: rest.count]))
    return pass_to_row(row, rest) if row is not None else _make(rest, table)


def _make(call: Call, table: Any) -> Step:
    """``__new__`` and ``__init__`` of a class."""
    cls = call.function
    names = _record_fields(cls)
    if names is not None:
        return MakeRecord(call, names, lookup(cls, "__new__" if issubclass(cls, tuple) else "__init__"))
    new = lookup(cls, "__new__")
    if isinstance(new, staticmethod):
        new = new.__func__
    init = lookup(cls, "__init__")
    if issubclass(cls, (BaseException, type)):
        return Make(call, new, init)
    initialise = init if is_python_function(init) else None
    if is_python_function(new):
        return Make(call, new, initialise)
    if new is object.__new__ and (initialise is not None or (init is object.__init__ and not call.args)):
        return Make(call, None, initialise)
    if initialise is None and table.rows(init):
        initialise = init
    if initialise is not None and table.rows(new):
        return Make(call, new, initialise)
    return Foreign(call)


def _record_fields(cls: type) -> tuple[str, ...] | None:
    """The names that the generated constructor of a frozen dataclass or a named tuple stores."""
    kind = kind_of(cls)
    if not isinstance(kind, ValueKind) or cls is tuple:
        return None
    names = getattr(cls, "_fields", None) if issubclass(cls, tuple) else getattr(cls, "__match_args__", None)
    return names if isinstance(names, tuple) else None


# -- operators on user classes ------------------------------------------------------------------------

_BINARY = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "lshift", "rshift")


def _dunder(name: str) -> str:
    return f"__{name}__"


def _is_user(cls: type) -> bool:
    """Whether operators of `cls` may be written in Python."""
    return bool(cls.__flags__ & (1 << 9))  # Py_TPFLAGS_HEAPTYPE: made by a class statement (or a C heap type)


def _method(cls: type, name: str) -> Any:
    """The method `name` of `cls` if Python code implements it."""
    found = lookup(cls, name) if _is_user(cls) else None
    return found if is_python_function(found) else None


def _binary_row(name: str, symbol: str, inplace: bool) -> Callable[[Call, Any], Step | None]:
    forward, reflected, in_place = _dunder(name), _dunder(f"r{name}"), _dunder(f"i{name}")

    def binary(call: Call, table: Any) -> Step | None:
        if len(call.args) != 2 or call.keywords:
            return None
        if name == "mod" and isinstance(call.args[0], (str, bytes)):
            return text_in_c(call)
        a, b = type(call.args[0]), type(call.args[1])
        if not _is_user(a) and not _is_user(b):
            return None
        python = [_method(a, forward), _method(b, reflected), _method(a, in_place) if inplace else None]
        if not any(python):
            return None
        left = call.on(lookup(a, forward), 0, 1) if _may_answer(a, forward, b) else None
        right = call.on(lookup(b, reflected), 1, 0) if a is not b and _may_answer(b, reflected, a) else None
        order = [left, right]
        if a is not b and issubclass(b, a) and lookup(b, reflected) is not lookup(a, reflected):
            order.reverse()
        if inplace and _may_answer(a, in_place, b):
            order.insert(0, call.on(lookup(a, in_place), 0, 1))

        def failure() -> Any:
            raise TypeError(
                f"unsupported operand type(s) for {symbol}{'=' if inplace else ''}:"
                f" '{a.__name__}' and '{b.__name__}'"
            )

        return Alternatives([c for c in order if c is not None], failure)

    return binary


def _may_answer(cls: type, name: str, other: type) -> bool:
    """Whether method `name` of `cls` may do something with a user-made `other`.

    Those of the built-in classes return NotImplemented for classes that are not their own.
    """
    if lookup(cls, name) is None or (hasattr(cls, "__array_interface__") and _array_defers(name, other)):
        return False
    return cls not in _DECLINING or issubclass(other, cls)


def _array_defers(name: str, other: type) -> bool:
    """Whether an array leaves the operator `name` to an operand of class `other`, as NumPy decides it."""
    if name.startswith("__i"):
        return False
    if hasattr(other, "__array_ufunc__"):
        return other.__array_ufunc__ is None
    return bool(getattr(other, "__array_priority__", 0.0) > 0.0)


_DECLINING = frozenset({int, float, complex, bool, str, bytes, list, tuple, dict, set, frozenset, type(None)})

_COMPARE = {
    "lt": ("gt", "<"),
    "le": ("ge", "<="),
    "gt": ("lt", ">"),
    "ge": ("le", ">="),
    "eq": ("eq", "=="),
    "ne": ("ne", "!="),
}


def differs(x: Any, y: Any) -> Any:
    """``x != y`` of a class with ``__eq__`` alone."""
    cls: Any = type(x)
    answer = cls.__eq__(x, y)
    return answer if answer is NotImplemented else not answer


def _comparison(cls: type, name: str) -> Any:
    """What compares instances of `cls` if that is written in Python."""
    if name == "ne" and lookup(cls, "__ne__") is object.__ne__ and _method(cls, "__eq__") is not None:
        return differs
    return _method(cls, _dunder(name))


_COMPARED = (list, tuple, dict)


def _compare_row(name: str) -> Callable[[Call, Any], Step | None]:
    mirrored, symbol = _COMPARE[name]

    def compare(call: Call, table: Any) -> Step | None:
        a, b = (type(x) for x in call.args)
        forward, reflected = _comparison(a, name), _comparison(b, mirrored)
        if forward is None and reflected is None:
            if a in _COMPARED and b in _COMPARED and compares_in_python(call.args):
                return Watch(call, "compares")
            return None
        calls = []
        if forward is not None:
            calls.append(call.on(forward, 0, 1))
        if reflected is not None:
            calls.append(call.on(reflected, 1, 0))
            if a is not b and issubclass(b, a):
                calls.reverse()
        x, y = call.args

        def failure() -> Any:
            if name in ("eq", "ne"):
                return (x is y) == (name == "eq")
            raise TypeError(
                f"'{symbol}' not supported between instances of '{a.__name__}' and '{b.__name__}'"
            )

        return Alternatives(calls, failure)

    return compare


def _unary_row(*names: str) -> Callable[[Call, Any], Step | None]:
    """A protocol of one special method of the first argument, written in Python: the first that there is."""

    def unary(call: Call, table: Any) -> Step | None:
        if not call.args or call.keywords:
            return None
        cls = type(call.args[0])
        for name in names:
            if lookup(cls, name) is not None:
                method = _method(cls, name)
                return None if method is None else Delegate(call.of(method))
        return None

    return unary


def whole(x: Any) -> int:
    """``operator.index(x)`` of a class with ``__index__``."""
    cls: Any = type(x)
    answer = cls.__index__(x)
    if not isinstance(answer, int):
        raise TypeError(f"__index__ returned non-int (type {type(answer).__name__})")
    return answer


def _index(call: Call, table: Any) -> Step | None:
    is_own = len(call.args) == 1 and _method(type(call.args[0]), "__index__") is not None
    return Delegate(call.of(whole)) if is_own else None


def plain_index(index: Any) -> Any:
    """An index with whole numbers in place of objects with ``__index__``."""
    if type(index) is not slice:
        return operator.index(index)
    start, stop, step = index.start, index.stop, index.step
    start = None if start is None else operator.index(start)
    stop = None if stop is None else operator.index(stop)
    return slice(start, stop, None if step is None else operator.index(step))


def get_at(container: Any, index: Any) -> Any:
    return container[plain_index(index)]


def set_at(container: Any, index: Any, value: Any) -> None:
    container[plain_index(index)] = value


def delete_at(container: Any, index: Any) -> None:
    del container[plain_index(index)]


def on_whole_numbers(function: Any, *args: Any) -> Any:
    """``function(*args)``, all of which are whole numbers, or have an ``__index__``."""
    numbers = []
    for x in args:
        numbers.append(operator.index(x))  # noqa: PERF401  # before 3.12 a comprehension is a function
    return function(*numbers)


def method_at(method: Any, container: Any, index: Any, *rest: Any) -> Any:
    """``method(container, index, *rest)`` of a list."""
    return method(container, operator.index(index), *rest)


_AT = {operator.getitem: get_at, operator.setitem: set_at, operator.delitem: delete_at}
_INDEXED = (list, tuple, str, bytes, bytearray, range)


def _has_index(x: Any) -> bool:
    """Whether `x`, an index or a bound of one, has an ``__index__`` written in Python."""
    if type(x) is slice:
        return any(map(_has_index, (x.start, x.stop, x.step)))
    return _method(type(x), "__index__") is not None


def _or_at_index(special: Callable[[Call, Any], Step | None]) -> Callable[[Call, Any], Step | None]:
    """`special`, and sequences of C whose index has an ``__index__`` written in Python."""

    def protocol(call: Call, table: Any) -> Step | None:
        found = special(call, table)
        if found is not None or len(call.args) < 2:
            return found
        if isinstance(call.args[0], _INDEXED) and _has_index(call.args[1]):
            return Delegate(call.of(_AT[call.function]))
        return None

    return protocol


def _whole(call: Call, table: Any) -> Step | None:
    if call.keywords or not any(map(_has_index, call.args)):
        return None
    return Delegate(call.prepend(on_whole_numbers, None, call.function, None, None))


def _method_at(call: Call, table: Any) -> Step | None:
    if call.keywords or len(call.args) < 2 or not _has_index(call.args[1]):
        return None
    return Delegate(call.prepend(method_at, None, call.function, None, None))


ASKED: dict[Any, str] = {
    **dict.fromkeys((range, chr, bin, hex, oct), "__index__"),
    **dict.fromkeys((operator.contains, intrinsics._not_contains_, operator.eq, operator.ne), "__eq__"),
    dir: "__dir__",
}
"""Functions without a derivative, and the special method by which a class may answer for itself in Python."""
_SELDOM = frozenset({chr, bin, hex, oct, dir})
"""Those among them for which it does not matter what it costs to ask."""
COMPARISONS = frozenset({operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge})


def is_asked(function: Any, types_: Sequence[AbstractType]) -> bool:
    """Whether it takes the values to know if `function` runs Python code for arguments of these types."""
    if function not in ASKED and function not in COMPARISONS:
        return False
    classes, name = list(map(class_of, types_)), ASKED.get(function)
    if name is not None and any(function in _SELDOM if c is None else _method(c, name) for c in classes):
        return True
    return function in COMPARISONS and any(map(_holds_objects, types_))


def _holds_objects(type: AbstractType) -> bool:
    """Whether a container of this type may hold objects that compare in Python."""
    if isinstance(type, TupleType):
        return any(_holds_objects(t) or _is_user(class_of(t) or object) for t in type.elements)
    return class_of(type) in (list, dict)


def compares_in_python(values: Any) -> bool:
    """Whether what stands in containers among `values` is compared by Python code."""
    pending, seen = list(values), set()
    while pending:
        x = pending.pop()
        cls = type(x)
        if id(x) in seen or (builtin_data(cls) and cls not in NESTING):
            continue
        seen.add(id(x))
        if isinstance(x, dict):
            pending.extend(dict.values(x))
        elif isinstance(x, list):
            pending.extend(list.__iter__(x))
        elif isinstance(x, tuple):
            pending.extend(tuple.__iter__(x))
        elif any(_method(cls, name) is not None for name in ("__eq__", "__lt__", "__gt__")):
            return True
    return False


def _power(call: Call, table: Any) -> Step | None:
    """``pow(x, y[, m])``."""
    if len(call.args) == 2:
        return Delegate(call.of(operator.pow))
    method = _method(type(call.args[0]), "__pow__") if len(call.args) == 3 else None
    return None if method is None else Delegate(call.of(method))


def _apply(call: Call, table: Any) -> Step | None:
    """``f(*args, **kwargs)``: the elements become arguments.

    A list or dict is read through its shadow, so the cotangents of its elements go to the slots.
    """
    function, arguments = call.args[:2]
    keywords = call.args[2] if len(call.args) > 2 and call.args[2] is not None else {}
    if type(arguments) not in (tuple, list) or type(keywords) is not dict:
        return Delegate(call.of(_collect_arguments))
    return Spread(call, function, arguments, keywords)


def _collect_arguments(function: Any, arguments: Any, keywords: Any = None) -> Any:
    """``function(*arguments, **keywords)`` of any iterable and any mapping; this is differentiated."""
    return function(*list(arguments), **({} if keywords is None else dict(keywords)))


def _new(call: Call, table: Any) -> Step | None:
    """``_new_(cls, ...)`` of a class that has no rule of its own for it."""
    cls = call.args[0]
    if cls in BUILT_BY_SYNTAX and any(stands_for_position(type(x)) for x in call.args[1:]):
        return (
            UseRow(NEW, call) if cls is not slice else Delegate(call.on(slice_at, *range(1, len(call.args))))
        )
    if cls in BUILT_BY_SYNTAX:
        return None
    rest = Call(cls, None, call.args[1:], call.shadows[1:], call.origins[1:], call.keywords, None)
    return Delegate(rest)


def _slice(call: Call, table: Any) -> Step | None:
    """``slice(...)`` of values that have a derivative: what syntax makes of them."""
    if call.keywords or not 0 < len(call.args) < 4 or not any(map(is_active, call.shadows)):
        return None
    args, shadows, origins = call.args, call.shadows, call.origins
    if len(args) == 1:
        args, shadows, origins = (None, *args), (None, *shadows), (None, *origins)
    made = (slice, *args), (None, *shadows), (None, *origins)
    return Delegate(Call(intrinsics._new_, None, *made, (), None))


def _foreigncall(call: Call, table: Any) -> Step | None:
    target = call.args[0]
    return Delegate(
        Call(
            target,
            call.shadows[0],
            call.args[1:],
            call.shadows[1:],
            call.origins[1:],
            call.keywords,
            call.origins[0],
        )
    )


class _Record:
    """``record(cls, *values)``: a named tuple of class `cls`, past any ``__new__`` of its own."""

    def __call__(self, cls: type, *values: Any) -> Any:
        return tuple.__new__(cls, values)


record = _Record()


def new_tuple(cls: type, iterable: Any = ()) -> Any:
    """``tuple.__new__``, in Python that adbc can follow."""
    values = tuple(iterable)
    return values if cls is tuple else record(cls, *values)


def _new_tuple(call: Call, table: Any) -> Step | None:
    return Delegate(call.of(new_tuple))


def _bind_method(call: Call, table: Any) -> Step | None:
    """``types.MethodType(function, obj)``, and ``function.__get__(obj, cls)``."""
    if call.function is types.MethodType and len(call.args) != 2:
        return None
    if call.keywords or len(call.args) < 2 or call.args[1] is None:
        return None
    shadow = call.shadows[1]
    bound = None if shadow is None else FData(__self__=shadow, __func__=call.shadows[0])
    return Value(call.on(types.MethodType, 1), types.MethodType(*call.args[:2]), bound)


def _weak_reference(place: int) -> Callable[[Call, Any], Step | None]:
    """``weakref.ref(obj[, callback])``, the object being the argument at `place`."""

    def weak_reference(call: Call, table: Any) -> Step | None:
        if len(call.args) <= place or not kind_of(type(call.args[place])).address:
            return None
        if any(is_active(s) for i, s in enumerate(call.shadows) if i != place):
            return None
        return Refer(call, place)

    return weak_reference


def _behind(call: Call, table: Any) -> Step | None:
    """The dict behind a mapping proxy.  What stands in that of a class is found by its address."""
    proxy = call.args[0]
    viewed = PROXY.viewed(proxy)
    return Known(call, dict(viewed)) if viewed is not None and PROXY.shows_class(proxy) else None


def text_in_c(call: Call) -> Step:
    """Text made in C of values that may have a text of their own, however deep inside."""
    if has_python_text(call.args):
        return Watch(call, "makes text")
    # another call object: this depends on the values, and may not be kept as a decision about their classes
    return UseRow(ZeroRule(call.function), call.of(call.function))


def has_python_text(values: Any) -> bool:
    """Whether some value, or what stands in a container among them, is written by Python code."""
    pending, seen = list(values), set()
    while pending:
        x = pending.pop()
        cls = type(x)
        if id(x) in seen or (builtin_data(cls) and cls not in NESTING):
            continue
        seen.add(id(x))
        if isinstance(x, dict):
            pending.extend((*dict.keys(x), *dict.values(x)))
        elif isinstance(x, list):
            pending.extend(list.__iter__(x))
        elif isinstance(x, tuple):
            pending.extend(tuple.__iter__(x))
        elif isinstance(x, (set, frozenset)):
            pending.extend(x)
        if not plain_text(cls):
            return True
    return False


def _watched_order(call: Call, table: Any) -> Step | None:
    return Watch(call, "sorts by comparisons written in Python")


def _record(call: Call, table: Any) -> Step | None:
    cls = call.args[0]
    names = _record_fields(cls)
    rest = Call(cls, None, call.args[1:], call.shadows[1:], call.origins[1:], (), None)
    return None if names is None else MakeRecord(rest, names, None)


def _subscript(name: str, body: Any) -> Callable[[Call, Any], Step | None]:
    """A subscript by method `name`, where that is written in Python; `body` is the same with an int for a key
    that says by ``__index__``, written in Python, which one it stands for."""

    def subscript(call: Call, table: Any) -> Step | None:
        if len(call.args) < 2 or call.keywords:
            return None
        method = _method(type(call.args[0]), name)
        if method is not None:
            return Delegate(call.of(method))
        is_index = _method(type(call.args[1]), "__index__") is not None
        return Delegate(call.of(body)) if is_index and _goes_by_position(type(call.args[0])) else None

    return subscript


def _goes_by_position(cls: type) -> bool:
    """Whether a key of an instance of `cls`, which is implemented in C, is a position."""
    return issubclass(cls, (list, tuple, deque, str, bytes, bytearray, range, memoryview)) or hasattr(
        cls, "__array_interface__"
    )


def slice_at(*bounds: Any) -> Any:
    """``slice(*bounds)`` of the ints that the bounds stand for: a slice has no shadow, and whoever read an
    object from it would find one without a derivative."""
    places = []
    for x in bounds:
        places.append(x if x is None else operator.index(x))  # noqa: PERF401  # before 3.12 a function
    return slice(*places)


def item_at(obj: Any, key: Any) -> Any:
    """``obj[key]`` of a sequence."""
    return obj[operator.index(key)]


def set_item_at(obj: Any, key: Any, value: Any) -> None:
    """``obj[key] = value`` of a sequence."""
    obj[operator.index(key)] = value


def delete_item_at(obj: Any, key: Any) -> None:
    """``del obj[key]`` of a sequence."""
    del obj[operator.index(key)]


_item = _subscript("__getitem__", item_at)


def _getitem(call: Call, table: Any) -> Step | None:
    """``obj[key]``, of a class ``cls[key]`` too."""
    found = _item(call, table)
    if found is not None:
        return found
    obj = call.args[0]
    method = None
    if isinstance(obj, type) and lookup(type(obj), "__getitem__") is None:
        found = lookup(obj, "__class_getitem__")
        method = found.__func__ if isinstance(found, classmethod) else found
        method = method if is_python_function(method) else None
    return None if method is None else Delegate(call.of(method))


def _next_or_raise(call: Call, table: Any) -> Step | None:
    """``next(it)``, whose `StopIteration` is the iterator's own, with its value."""
    if len(call.args) != 1:
        return None
    method = _method(type(call.args[0]), "__next__")
    return None if method is None else Delegate(call.of(method))


def _next(call: Call, table: Any) -> Step | None:
    if type(call.args[0]) is Generator:
        return Delegate(call.of(Generator.take))
    method = _method(type(call.args[0]), "__next__")
    return None if method is None else Advance(call.of(method))


OPERATORS: dict[Any, Callable[[Call, Any], Step | None]] = {}
for _name in _BINARY:
    _symbol = {"add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%",
               "pow": "** or pow()", "matmul": "@", "lshift": "<<", "rshift": ">>"}[_name]  # fmt: skip
    OPERATORS[getattr(operator, _name)] = _binary_row(_name, _symbol, False)
    OPERATORS[getattr(operator, f"i{_name}")] = _binary_row(_name, _symbol, True)
for _name, _function, _ifunction in (
    ("and", operator.and_, operator.iand),
    ("or", operator.or_, operator.ior),
    ("xor", operator.xor, operator.ixor),
):
    OPERATORS[_function] = _binary_row(_name, {"and": "&", "or": "|", "xor": "^"}[_name], False)
    OPERATORS[_ifunction] = _binary_row(_name, {"and": "&", "or": "|", "xor": "^"}[_name], True)
for _name in _COMPARE:
    OPERATORS[getattr(operator, _name)] = _compare_row(_name)
OPERATORS.update(
    {
        operator.neg: _unary_row("__neg__"),
        operator.pos: _unary_row("__pos__"),
        operator.invert: _unary_row("__invert__"),
        operator.abs: _unary_row("__abs__"),
        abs: _unary_row("__abs__"),
        operator.getitem: _or_at_index(_getitem),
        operator.setitem: _or_at_index(_subscript("__setitem__", set_item_at)),
        operator.delitem: _or_at_index(_subscript("__delitem__", delete_item_at)),
        operator.index: _index,
        **dict.fromkeys((range, chr, bin, hex, oct), _whole),
        list.insert: _method_at,
        list.pop: _method_at,
        divmod: _binary_row("divmod", "divmod()", False),
        pow: _power,
        int: _unary_row("__int__", "__index__"),
        complex: _unary_row("__complex__", "__float__"),
        bytes: _unary_row("__bytes__"),
        hash: _unary_row("__hash__"),
        math.floor: _unary_row("__floor__", "__float__"),
        math.ceil: _unary_row("__ceil__", "__float__"),
        math.trunc: _unary_row("__trunc__"),
        intrinsics._iter_: _unary_row("__iter__"),
        intrinsics._next_: _next,
        type.__call__: _type_call,
        record: _record,
        tuple.__new__: _new_tuple,
        types.MethodType: _bind_method,
        types.FunctionType.__get__: _bind_method,
        watched_order: _watched_order,
        behind: _behind,
        weakref.ref: _weak_reference(0),
        weakref.ref.__new__: _weak_reference(1),
        intrinsics._new_: _new,
        slice: _slice,
        intrinsics._foreigncall_: _foreigncall,
        intrinsics._apply_: _apply,
        type.__call__: _type_call,
        iter: _unary_row("__iter__"),
        next: _next_or_raise,
        len: _unary_row("__len__"),
        float: _unary_row("__float__"),
        round: _unary_row("__round__"),
        reversed: _unary_row("__reversed__"),
    }
)
