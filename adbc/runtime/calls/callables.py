"""Callables that pass a call on to another: bound methods, partial functions, wrappers, and what `operator`
makes."""

from __future__ import annotations

import collections
import functools
import gc
import operator
import types
import weakref
from typing import Any

from adbc.cpython.wrappers import CACHED
from adbc.ir import intrinsics
from adbc.rules.builtins.getters import getter_function
from adbc.rules.functools import key_by
from adbc.rules.lookup import RuleTable
from adbc.runtime.calls import partials
from adbc.runtime.calls.classes import (
    SLOW,
    constructor,
    is_heap_type,
    is_python_function,
    lookup,
    python_method,
)
from adbc.runtime.calls.construction import call_class, stored_fields
from adbc.runtime.calls.derived_classes import as_plain_number, as_plain_value
from adbc.runtime.calls.formats import ENCODER, encoded
from adbc.runtime.calls.special_methods import METHODS, operation
from adbc.runtime.calls.steps import (
    AskWeakly,
    Call,
    Delegate,
    Differentiate,
    Foreign,
    OfPartial,
    OfSelf,
    Protocols,
    Remember,
    Resolver,
    Spread,
    Step,
    Value,
    pass_to_row,
)
from adbc.runtime.calls.unfollowed import DIFFERENTIATION, is_differentiation
from adbc.runtime.calls.weak import is_finalised
from adbc.runtime.state.graph_functions import GraphFunction
from adbc.tangents import NO_FDATA, NO_TANGENT, MutableTangent

__all__ = [
    "PROTOCOLS",
    "has_defaults_beside",
    "own_part",
    "pass_on",
    "self_shadow",
    "way_to_call",
    "way_to_make",
]


def self_shadow(shadow: Any) -> Any:
    """The shadow of ``__self__``, from that of a bound method."""
    return None if shadow is None or shadow is NO_FDATA else shadow.__dict__.get("__self__")


def own_part(shadow: Any) -> Any:
    """What stands beside ``__self__``, from what stands beside a bound method in either mode."""
    has_parts = shadow is not None and shadow is not NO_FDATA and shadow is not NO_TANGENT
    return shadow.__dict__.get("__self__") if has_parts else None


def has_defaults_beside(shadow: Any) -> bool:
    """Whether a function with `shadow` has something beside the defaults of its parameters."""
    if type(shadow) is not MutableTangent:
        return False
    fields = shadow.__dict__
    return any(fields.get(name, NO_TANGENT) is not NO_TANGENT for name in ("__defaults__", "__kwdefaults__"))


def way_to_call(cls: type) -> Any:
    """The ``__call__``, written in Python, that a call of an instance of `cls` is passed on to if there is no
    rule for the instance; else `SLOW`."""
    method = lookup(cls, "__call__")
    is_own = (
        is_heap_type(cls)
        and is_python_function(method)
        and not issubclass(cls, (GraphFunction, weakref.ReferenceType))
        and cls not in _BY_CLASS
        and (cls.__module__, cls.__name__) not in _TRANSPARENT
        and cls.__module__ not in DIFFERENTIATION
    )
    return method if is_own else SLOW


def way_to_make(cls: type) -> Any:
    """The ``__init__``, written in Python, that a call of `cls` runs on a new instance; the names of the
    fields, if it only stores what it is given; `SLOW` if it does something else."""
    found = stored_fields(cls) or constructor(cls)
    return SLOW if found is None or is_finalised(cls) else found


def pass_on(call: Call, table: RuleTable) -> Step:
    """What a call of something that has no rule and is no Python function leads to, by its class."""
    function = call.function
    cls = type(function)
    if str(cls.__module__).startswith("adbc.") and is_differentiation(function):
        return Differentiate(call)
    resolver = _BY_CLASS.get(cls) or _BY_NAME.get((cls.__module__, cls.__name__))
    if resolver is not None:
        return resolver(call, table) or Foreign(call)
    if issubclass(cls, weakref.ReferenceType) and not is_python_function(lookup(cls, "__call__")):
        return AskWeakly(call)
    if issubclass(cls, types.BuiltinMethodType) and not issubclass(
        type(function.__self__), (types.ModuleType, type)
    ):
        return _builtin_method(call)
    if issubclass(type(function), type):
        return call_class(call, table)
    is_transparent = (cls.__module__, cls.__name__) in _TRANSPARENT  # others may answer in Python
    wrapped = getattr(function, "__wrapped__", None) if is_transparent else None
    if is_python_function(wrapped):
        return Remember(call) if cls is CACHED else Delegate(call.of(wrapped))
    method = python_method(cls, "__call__") or lookup(cls, "__call__")
    if is_python_function(method):
        return Delegate(call.prepend(method, None, function, call.shadow, call.origin))
    row = table.find(method, (cls, *map(type, call.args[: call.count])))
    if row is not None:  # of the instances of a class written in C: ``itemgetter(0)(x)``
        return pass_to_row(row, call.prepend(method, None, function, call.shadow, call.origin))
    return Foreign(call)


# -- methods in C ------------------------------------------------------------------------------------------


def _on_self(call: Call, descriptor: Any) -> Step:
    """The call of `descriptor`, which the bound C method that is called was made from."""
    obj, shadow = call.function.__self__, self_shadow(call.shadow)
    return Delegate(call.prepend(descriptor, None, obj, shadow, OfSelf(call.origin, False)))


def _builtin_method(call: Call) -> Step:
    """``[].append`` and the like: the method descriptor of the class, on the object."""
    descriptor = _descriptor_of(call.function)
    return Foreign(call) if descriptor is None else _on_self(call, descriptor)


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


def _special_method(call: Call, table: RuleTable) -> Step | None:
    """``float.__add__(x, y)`` and the like, in terms of the operator that has a rule."""
    function, args = call.function, call.args
    if function.__name__ == "__getattribute__" and function.__objclass__ in _PLAIN_ATTRIBUTES:
        return Delegate(call.of(object.__getattribute__))  # ``str.__getattribute__`` does the same
    if not args or call.keywords:
        return None
    if type(args[0]) is not function.__objclass__ and function.__name__ not in _OF_CLASS:
        plain = as_plain_value(args[0], function.__objclass__, call.shadows[0])
        if plain is not args[0]:
            given = plain, *map(as_plain_number, args[1:])
            return Delegate(Call(function, None, given, call.shadows, call.origins, (), None))
    if lookup(type(args[0]), function.__name__) is not function:
        return None
    found = operation(function, args)
    if found is None:
        return None
    if found[0] is NotImplemented:
        return Value(call, NotImplemented, None)
    if len(args) == 2 and type(args[0]) in (float, complex):
        given = args[0], as_plain_number(args[1])
        is_constant = issubclass(type(args[1]), int)
        shadows = (call.shadows[0], None) if is_constant else call.shadows
        origins = (call.origins[0], None) if is_constant else call.origins
        call = Call(function, None, given, shadows, origins, (), None)
    swapped = call.on(found[0], 1, 0) if found[1] else call.of(found[0])
    row = table.find(found[0], tuple(map(type, swapped.args)))
    return None if row is None else pass_to_row(row, swapped)


_OF_CLASS = frozenset({"__getattribute__", "__sizeof__"})
"""The methods of numbers and tuples that see the class of the instance."""

_PLAIN_ATTRIBUTES = (
    str, bytes, int, float, complex, list, tuple, dict, set, frozenset, collections.deque, BaseException,
    collections.OrderedDict, collections.defaultdict,
)  # fmt: skip
"""Classes of C whose instances are looked into for attributes as those of `object` are."""


def _method_wrapper(call: Call, table: RuleTable) -> Step:
    """``x.__add__`` in C, whose descriptor need not be the first of its name: ``super().__call__``."""
    function = call.function
    descriptor = function.__objclass__.__dict__[function.__name__]
    if function.__name__ == "__call__" and lookup(type(function.__self__), "__call__") is descriptor:
        return Delegate(call.of(function.__self__, self_shadow(call.shadow), OfSelf(call.origin, False)))
    return _on_self(call, descriptor)


# -- partial functions and getters -------------------------------------------------------------------------


def _partial(call: Call, table: RuleTable) -> Step:
    """``functools.partial(f, *args, **keywords)(...)``."""
    partial = call.function
    # absent, None and (in forward mode) NoTangent all mean that there is no derivative
    fields = getattr(call.shadow, "__dict__", {})
    partials.check_unchanged(partial)
    args = partial.args
    shadows = fields.get("args")
    if type(shadows) is not tuple:
        shadows = (None,) * len(args)
    named = getattr(fields.get("keywords"), "__dict__", {})
    overridden = {k: v for k, v in partial.keywords.items() if k not in call.keywords}
    keyword_shadows = [named.get(k) for k in overridden]
    n, count = call.count, len(args)
    origin = call.origin
    return Delegate(
        Call(
            partial.func,
            fields.get("func"),
            (*args, *call.args[:n], *overridden.values(), *call.args[n:]),
            (*shadows, *call.shadows[:n], *keyword_shadows, *call.shadows[n:]),
            (
                *(OfPartial(origin, "args", i, count) for i in range(count)),
                *call.origins[:n],
                *(OfPartial(origin, "keywords", name, count) for name in overridden),
                *call.origins[n:],
            ),
            (*overridden, *call.keywords),
            OfPartial(origin, "func", None, count),
        )
    )


def _call_of_partial(call: Call, table: RuleTable) -> Step | None:
    """``functools.partial.__call__(f, ...)``: what ``super().__call__(...)`` of a derived class leads to."""
    if not call.args or not issubclass(type(call.args[0]), functools.partial):
        return None
    rest = Call(
        call.args[0], call.shadows[0], call.args[1:], call.shadows[1:], call.origins[1:], call.keywords
    )
    rest.origin = call.origins[0]
    return _partial(rest, table)


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
    """Name, arguments and keywords of an `operator.methodcaller`."""
    parts: Any = caller.__reduce__()
    made, (*arguments,) = parts[0], parts[1]
    if type(made) is functools.partial:  # of the class and the name, with the keywords
        return made.args[0], tuple(arguments), dict(made.keywords)
    return arguments[0], tuple(arguments[1:]), {}


def _picked(call: Call, table: RuleTable) -> Step:
    """What a getter of `operator` picks, in Python that adbc can follow."""
    getter = call.function
    if len(call.args) != 1 or call.keywords:
        call.perform()  # which complains
    picked = _PICKERS[type(getter)]
    what = _method_to_call(getter) if picked is pick_method else getter.__reduce__()[1]
    args, named = ((what[0], *what[1]), what[2]) if picked is pick_method else (what, {})
    function = getter_function(type(getter), args, named)
    if function is not None:
        return Delegate(call.of(function))
    return Delegate(call.prepend(picked, None, what, None, None))


def _keyed(call: Call, table: RuleTable) -> Step | None:
    """A call of what ``functools.cmp_to_key(compare)`` has given outside of what is differentiated."""
    held = [x for x in gc.get_referents(call.function) if x is not type(call.function)]
    if len(held) != 1 or not callable(held[0]) or len(call.args) != 1 or call.keywords:
        return None
    return Delegate(call.prepend(key_by, None, held[0], None, None))


def _by_elements(call: Call, table: RuleTable) -> Step | None:
    """A call of a ufunc that ``np.frompyfunc`` has made: of all ufuncs these alone hold a function."""
    ufunc = call.function
    if any(set(loop) - {"O", "-", ">"} for loop in ufunc.types):
        return None
    held = [x for x in gc.get_referents(ufunc) if callable(x)]
    if len(held) != 1:
        return None
    from adbc.rules.numpy.walks import by_elements  # NumPy is loaded where there is a ufunc

    return Delegate(call.prepend(by_elements, None, (held[0], ufunc.nin, ufunc.nout), None, None))


_PICKERS: dict[type, Any] = {
    operator.itemgetter: pick_items,
    operator.attrgetter: pick_attributes,
    operator.methodcaller: pick_method,
}
"""Callables made in C that pick something from their argument."""
_BY_CLASS: dict[type, Resolver] = {
    **dict.fromkeys(METHODS, _special_method),
    types.MethodWrapperType: _method_wrapper,
    functools.partial: _partial,
    **dict.fromkeys(_PICKERS, _picked),
    type(functools.cmp_to_key(operator.sub)): _keyed,
    ENCODER: encoded,
}
"""Resolvers by the exact class of what is called."""

_BY_NAME: dict[tuple[str, str], Resolver] = {("numpy", "ufunc"): _by_elements}
"""Resolvers by module and name of the class of what is called, of modules that need not be loaded."""

_TRANSPARENT = frozenset(
    {
        ("functools", "_lru_cache_wrapper"),
        ("numba.core.registry", "CPUDispatcher"),
        ("numpy", "_ArrayFunctionDispatcher"),
    }
)
"""C callables around a Python function, by module and name of the class: the function is differentiated, and
compiled code by-passed."""


def _apply(call: Call, table: RuleTable) -> Step | None:
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
    return function(*tuple(arguments), **({} if keywords is None else dict(keywords)))


def _foreigncall(call: Call, table: RuleTable) -> Step | None:
    """``_foreigncall_(target, ...)``: the call of `target` itself."""
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


def _of_cache(name: str) -> Resolver:
    """What a call of the method `name` of functions with a cache leads to."""

    def resolve(call: Call, table: RuleTable) -> Step | None:
        return Remember(call, name) if type(call.args[0]) is CACHED else None

    return resolve


PROTOCOLS: Protocols = {
    functools.partial.__call__: _call_of_partial,
    CACHED.cache_clear: _of_cache("cache_clear"),
    CACHED.cache_info: _of_cache("cache_info"),
    intrinsics._foreigncall_: _foreigncall,
    intrinsics._apply_: _apply,
}
"""What the intrinsics that call a function lead to."""
