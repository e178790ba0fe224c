"""The mappings of `collections`, subclasses of list and dict as they are made, and views that are like sets.

An `OrderedDict` has methods of its own for what a dict does, so its rows stand here; `Counter`,
`ChainMap` and `UserDict` are Python, and are followed.
"""

from __future__ import annotations

import operator
from collections import Counter, OrderedDict, _count_elements, defaultdict  # type: ignore[attr-defined]  # of Counter
from types import ModuleType
from typing import Any

from adbc.functions import is_builtin_function, is_function
from adbc.ir import intrinsics
from adbc.rules.builtins import dicts
from adbc.rules.builtins.iteration import making_iterator
from adbc.rules.classes import dict_like, overrides, refuse_keywords
from adbc.rules.table import Overlay, Rule, ZeroRule

__all__ = ["ROWS"]


def _ordered(cls: type, *rest: type) -> bool:
    return issubclass(cls, OrderedDict)


def _ordered_but(name: str) -> Any:
    """A `when` that holds for subclasses of `OrderedDict` without a method `name` written in Python."""

    def when(cls: type, *rest: type) -> bool:
        return issubclass(cls, OrderedDict) and cls is not OrderedDict and not overrides(cls, name)

    return when


# -- making subclasses of list and dict -----------------------------------------------------------------


def empty_list(cls: Any) -> Any:
    """A new instance of a subclass of list, made without its constructor."""
    return list.__new__(cls)


def empty_dict(cls: Any) -> Any:
    """A new instance of a subclass of dict, made without its constructor."""
    return dict.__new__(cls)


def _list_new(cls: Any, /, *args: Any, **named: Any) -> Any:
    return empty_list(cls)


def _dict_new(cls: Any, /, *args: Any, **named: Any) -> Any:
    return empty_dict(cls)


def _list_init(target: Any, values: Any = (), /, **named: Any) -> None:
    refuse_keywords(list, "__new__", type(target), named)
    list.clear(target)
    list.extend(target, values)


def _dict_init(d: Any, other: Any = (), /, **named: Any) -> None:
    dicts.fill_dict(d, other, named)


_FACTORY: Any = defaultdict.__dict__["default_factory"]
"""What reads and sets it in C, past methods for attributes that the class of a dict has in Python."""


def takes_nothing(factory: Any) -> bool:
    """Whether a factory of missing values has captured nothing that may have a derivative."""
    if factory is not None and not callable(factory):
        raise TypeError("first argument must be callable or None")
    if is_builtin_function(factory):
        return isinstance(factory.__self__, (type, ModuleType))
    if is_function(factory):
        return not (factory.__closure__ or factory.__defaults__ or factory.__kwdefaults__)
    return factory is None or isinstance(factory, type)


def set_factory(d: Any, factory: Any) -> None:
    """Have `d` make its missing values by `factory`, a constant."""
    _FACTORY.__set__(d, factory)


def _set_factory(d: Any, factory: Any) -> None:
    if takes_nothing(factory):
        set_factory(d, factory)
    else:  # its derivative is that of an attribute
        d.default_factory = factory


def has_constant(d: Any) -> bool:
    """Whether `d` makes its missing values by a factory that has captured nothing."""
    return takes_nothing(factory_of(d))


def factory_of(d: Any) -> Any:
    """The function that `d` makes its missing values by, a constant."""
    return _FACTORY.__get__(d)


def _default_init(d: Any, factory: Any = None, /, *other: Any, **named: Any) -> None:
    _set_factory(d, factory)
    _dict_init(d, *other, **named)


def _defaultdict(factory: Any = None, /, *other: Any, **named: Any) -> Any:
    if factory is None or isinstance(factory, type):
        d = intrinsics._empty_default_(factory)
    else:
        d = empty_dict(defaultdict)
        _set_factory(d, factory)
    if other or named:
        _dict_init(d, *other, **named)
    return d


def _counter(*counted: Any, **named: Any) -> Any:
    c = intrinsics._empty_counter_()
    if counted or named:
        Counter.__init__(c, *counted, **named)
    return c


def _missing(d: Any, k: Any, /) -> Any:
    factory = factory_of(d) if has_constant(d) else d.default_factory
    if factory is None:
        raise KeyError(k)
    value: Any
    if factory is list:  # the most frequent ones need not be asked what they are
        value = []
    elif factory is dict:
        value = {}
    elif factory is float:
        value = 0.0
    elif factory is int:
        value = 0
    else:
        value = factory()
    d[k] = value
    return value


# -- OrderedDict ----------------------------------------------------------------------------------------

# Its C code asks subclasses for some of their methods (``__setitem__``, ``__getitem__``, ``__contains__``),
# and does without the others: these are the methods that it asks for.


def put_all(d: Any, other: Any = (), /, **named: Any) -> None:
    """Store the items of `other` and `named` in `d` by the methods of its class, as an `OrderedDict` does."""
    if type(other) is dict:
        dicts.update_any(d, other, **named)
        return
    keys = getattr(other, "keys", None)
    if keys is not None:
        for k in keys():
            d[k] = other[k]
        other = ()
    else:
        items = getattr(other, "items", None)
        other = other if items is None else items()
    dicts.update_any(d, [*other], **named)


def _popitem(d: Any, /, last: bool = True) -> Any:
    if not OrderedDict.__len__(d):
        raise KeyError("dictionary is empty")
    k = next(OrderedDict.__reversed__(d)) if last else next(OrderedDict.__iter__(d))
    return k, OrderedDict.pop(d, k)


def keys_but(d: Any, key: Any) -> list[Any]:
    """The keys of dict `d` other than `key`."""
    return [k for k in OrderedDict.__iter__(d) if k is not key and k != key]


def _move_to_end(d: Any, /, key: Any, last: bool = True) -> None:
    if not last:
        others = keys_but(d, key)
        if len(others) == OrderedDict.__len__(d):
            raise KeyError(key)
        for k in others:
            OrderedDict.__setitem__(d, k, OrderedDict.pop(d, k))
    else:
        OrderedDict.__setitem__(d, key, OrderedDict.pop(d, key))


def _setdefault(d: Any, /, key: Any, default: Any = None) -> Any:
    if key in d:
        return d[key]
    d[key] = default
    return default


def _copy(d: Any, /) -> Any:
    out = type(d)()
    for k in list(OrderedDict.__iter__(d)):
        out[k] = d[k]
    return out


def _fromkeys(iterable: Any, value: Any = None) -> Any:
    out = OrderedDict()
    for k in iterable:
        out[k] = value
    return out


def _or(d: Any, other: Any, /) -> Any:
    out = d.copy()
    out.update(other)
    return out


def _or_ordered(d: Any, other: Any, /) -> Any:
    if not issubclass(type(other), dict):
        return NotImplemented
    out = type(d)(d)
    put_all(out, other)
    return out


def _ior_ordered(d: Any, other: Any, /) -> Any:
    put_all(d, other)
    return d


def _ior(d: Any, other: Any, /) -> Any:
    d.update(other)
    return d


def _joinable(cls: type, other: type, *rest: type) -> bool:
    return cls in (OrderedDict, defaultdict) and other in (dict, cls)


def _updatable(cls: type, *rest: type) -> bool:
    return dict_like(cls) and not overrides(cls, "__ior__")


def _plain_mappings(*classes: type) -> bool:
    return all(c in (dict, OrderedDict, defaultdict) for c in classes)


def _count(counts: Any, elements: Any, /) -> None:
    for x in elements:
        counts[x] = counts.get(x, 0) + 1


# -- views ----------------------------------------------------------------------------------------------

_KEYS: frozenset[Any] = frozenset({type({}.keys()), type(OrderedDict().keys())})
_SETS = _KEYS | {set, frozenset, str, range}


def _keys_first(cls: type, *rest: type) -> bool:
    return cls in _KEYS and all(c in _SETS for c in rest)


def _keys_and_sets(*classes: type) -> bool:
    return any(c in _KEYS for c in classes) and all(c in _SETS for c in classes)


def _both(name: str) -> list[Any]:
    return [getattr(operator, name), getattr(operator, f"i{name.strip('_')}")]


def _keys_and_sequence(cls: type, other: type) -> bool:
    return cls in _KEYS and other in (list, tuple)


def _by_sets(operation: Any) -> Any:
    """The body of ``keys - elements`` and the like."""

    def by_sets(keys: Any, elements: Any, /) -> Any:
        return operation(set(keys), set(elements))

    return by_sets


ROWS: list[Rule] = [
    ZeroRule(empty_list),
    ZeroRule(empty_dict),
    Overlay(list.__new__, _list_new),
    Overlay(dict.__new__, _dict_new),
    Overlay(list.__init__, _list_init),
    Overlay(dict.__init__, _dict_init),
    Overlay(OrderedDict.__init__, put_all),
    ZeroRule(intrinsics._empty_default_, result=defaultdict),
    ZeroRule(intrinsics._factory_is_, result=bool),
    ZeroRule(intrinsics._counts_from_zero_, result=bool),
    Overlay(defaultdict, _defaultdict, result=defaultdict),
    ZeroRule(intrinsics._empty_counter_, result=Counter),
    Overlay(Counter, _counter, result=Counter),
    Overlay(defaultdict.__init__, _default_init),
    Overlay(defaultdict.__missing__, _missing),
    *(ZeroRule(function, result=bool) for function in (takes_nothing, has_constant)),
    ZeroRule(set_factory),
    ZeroRule(factory_of),
    ZeroRule(keys_but, result=list),
    making_iterator(OrderedDict.__iter__, _ordered),
    making_iterator(OrderedDict.__reversed__, _ordered, backwards=True),
    Overlay(OrderedDict.popitem, _popitem, when=_ordered),
    Overlay(OrderedDict.move_to_end, _move_to_end, when=_ordered),
    Overlay(OrderedDict.update, put_all, when=_ordered),
    Overlay(OrderedDict.setdefault, _setdefault, when=_ordered),
    Overlay(OrderedDict.copy, _copy, when=_ordered),
    Overlay(OrderedDict.fromkeys, _fromkeys),
    *dicts.same_rows(
        OrderedDict,
        dict,
        ("__setitem__", "__delitem__", "pop", "clear", "keys", "values", "items"),
        {"pop": ("self", "key", "default")},
    ),
    *(Overlay(f, _or_ordered, when=_ordered_but("__or__")) for f in (operator.or_, OrderedDict.__or__)),
    *(Overlay(f, _ior_ordered, when=_ordered_but("__ior__")) for f in (operator.ior, OrderedDict.__ior__)),
    Overlay(operator.or_, _or, when=_joinable),
    Overlay(operator.ior, _ior, when=_updatable),
    *(ZeroRule(f, when=_plain_mappings, result=bool) for f in (operator.eq, operator.ne)),
    Overlay(_count_elements, _count),
    *(
        ZeroRule(f, when=_keys_and_sets, result=set)
        for name in ("and_", "or_", "xor", "sub")
        for f in _both(name)
    ),
    *(
        Overlay(operation, _by_sets(operation), when=_keys_and_sequence, result=set)
        for operation in (operator.and_, operator.or_, operator.xor, operator.sub)
    ),
    *(
        ZeroRule(getattr(operator, name), when=_keys_and_sets, result=bool)
        for name in ("eq", "ne", "lt", "le", "gt", "ge")
    ),
    *(ZeroRule(cls.isdisjoint, when=_keys_first, result=bool) for cls in sorted(_KEYS, key=repr)),
]
