"""`types`: namespaces and read-only windows on dicts.

A `SimpleNamespace` is an instance with a dictionary; what is made in C is the filling of it.  A mapping
proxy has the shadow of the dict behind it, and each of its methods is that of the dict.
"""

from __future__ import annotations

import builtins
import gc
import operator
from types import MappingProxyType, SimpleNamespace
from typing import Any

from adbc.ir import intrinsics
from adbc.rules.classes import dict_like
from adbc.rules.sequences import nothing
from adbc.rules.table import NO_KWARGS, Args, Kwargs, Overlay, Primitive, Rule, ZeroRule
from adbc.tangents.containers import PROXY

__all__ = ["ROWS"]


# -- namespaces -----------------------------------------------------------------------------------------


def empty_namespace(cls: Any) -> Any:
    """A new namespace without attributes, of class `cls`."""
    return SimpleNamespace.__new__(cls)


def _new(cls: Any, /, *args: Any, **attributes: Any) -> Any:
    return empty_namespace(cls)


def _initialise(space: Any, mapping: Any = (), /, **attributes: Any) -> None:
    for name, value in dict(mapping).items():  # from 3.13
        setattr(space, name, value)
    for name, value in attributes.items():
        setattr(space, name, value)


def _namespace(*mapping: Any, **attributes: Any) -> Any:
    if mapping:
        check_positional(*mapping)
    space = empty_namespace(SimpleNamespace)
    _initialise(space, *mapping, **attributes)
    return space


def check_positional(*mapping: Any) -> None:
    """Raise what the interpreter raises for positional arguments that it does not take."""
    SimpleNamespace(*[{} for _ in mapping])


def _reduce(space: Any, /) -> Any:
    return type(space), (), vars(space)


def _replace(space: Any, /, **changes: Any) -> Any:
    made = empty_namespace(type(space))
    _initialise(made, **{**vars(space), **changes})
    return made


def _namespaces(*classes: type) -> bool:
    return all(cls is SimpleNamespace for cls in classes)


def _equal(a: Any, b: Any, /) -> Any:
    return vars(a) == vars(b)


def _differ(a: Any, b: Any, /) -> Any:
    return vars(a) != vars(b)


# -- mapping proxies ------------------------------------------------------------------------------------


class _Behind:
    """The class of `behind`: ``behind(proxy)`` is the mapping that a mapping proxy shows.  It is not a
    function, for the runtime looks at each proxy to see whether a class is behind it."""

    def __call__(self, proxy: Any) -> Any:
        viewed = PROXY.viewed(proxy)
        return gc.get_referents(proxy)[0] if viewed is None else viewed


behind = _Behind()


def _proxy(cls: type, *rest: type) -> bool:
    return cls is MappingProxyType


def _of_dict(cls: type, *rest: type) -> bool:
    return dict_like(cls) and not rest


def _same_shadow(function: Any, when: Any) -> Rule:
    """The row of a function whose result has the shadow of its argument."""

    def frule(args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
        return function(*args), dargs[0]

    def rrule(args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> Any:
        return function(*args), fargs[0], nothing(1)

    return Primitive(function, frule=frule, rrule=rrule, when=when)


def _getitem(proxy: Any, key: Any, /) -> Any:
    return behind(proxy)[key]


def _contains(proxy: Any, key: Any, /) -> Any:
    return key in behind(proxy)


def _get(proxy: Any, key: Any, default: Any = None, /) -> Any:
    return behind(proxy).get(key, default)


def _keys(proxy: Any, /) -> Any:
    return behind(proxy).keys()


def _values(proxy: Any, /) -> Any:
    return behind(proxy).values()


def _items(proxy: Any, /) -> Any:
    return behind(proxy).items()


def _copy(proxy: Any, /) -> Any:
    return behind(proxy).copy()


def _iter(proxy: Any, /) -> Any:
    return iter(behind(proxy))


def _reversed(proxy: Any, /) -> Any:
    return reversed(behind(proxy))


def _unproxied(a: Any) -> Any:
    return behind(a) if isinstance(a, MappingProxyType) else a


def _or(a: Any, b: Any, /) -> Any:
    return _unproxied(a) | _unproxied(b)


def _same(a: Any, b: Any, /) -> Any:
    return _unproxied(a) == _unproxied(b)


def _other(a: Any, b: Any, /) -> Any:
    return _unproxied(a) != _unproxied(b)


def _joined(*classes: type) -> bool:
    return MappingProxyType in classes and all(c is MappingProxyType or dict_like(c) for c in classes)


ROWS: list[Rule] = [
    ZeroRule(empty_namespace),
    ZeroRule(check_positional),
    Overlay(SimpleNamespace, _namespace),
    Overlay(SimpleNamespace.__new__, _new),
    Overlay(SimpleNamespace.__init__, _initialise),
    Overlay(SimpleNamespace.__reduce__, _reduce),
    Overlay(operator.eq, _equal, when=_namespaces),
    Overlay(operator.ne, _differ, when=_namespaces),
    _same_shadow(behind, _proxy),
    _same_shadow(MappingProxyType, _of_dict),
    Overlay(operator.getitem, _getitem, when=_proxy),
    Overlay(MappingProxyType.get, _get),
    Overlay(MappingProxyType.keys, _keys),
    Overlay(MappingProxyType.values, _values),
    Overlay(MappingProxyType.items, _items),
    Overlay(MappingProxyType.copy, _copy),
    Overlay(operator.contains, _contains, when=_proxy),
    *(Overlay(f, _iter, when=_proxy) for f in (intrinsics._iter_, builtins.iter)),
    Overlay(builtins.reversed, _reversed, when=_proxy),
    ZeroRule(builtins.len, when=_proxy, result=int),
    ZeroRule(builtins.bool, when=_proxy, result=bool),
    Overlay(operator.or_, _or, when=_joined),
    Overlay(operator.eq, _same, when=_joined),
    Overlay(operator.ne, _other, when=_joined),
]
if hasattr(SimpleNamespace, "__replace__"):
    ROWS.append(Overlay(SimpleNamespace.__replace__, _replace))
