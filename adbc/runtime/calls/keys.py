"""Keys of dicts and elements of sets whose class hashes or compares by Python code.

The rules of dicts and sets ask a key more often than the interpreter does, because the shadow has it too and
the pullback puts it back.  Nobody can tell if the answers have no effects (`quiet_keys`), or effects that are
there once (a hash that is kept).  So other keys are asked twice beforehand, each time: if the second time
changes something, the program counts how often it is asked, and is refused.
"""

from __future__ import annotations

import enum
import operator
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from typing import Any

from adbc.ir import intrinsics
from adbc.rules.classes import inherits, overrides
from adbc.rules.lookup import RuleTable
from adbc.runtime.calls.classes import is_heap_type
from adbc.runtime.calls.steps import Call, Foreign, Protocols, Resolver, Settle, Step, pass_to_row

__all__ = ["BY_KEY", "HASHING", "asks_keys", "is_asked_key", "is_enumeration", "with_keys"]


def is_asked_key(cls: type) -> bool:
    """Whether Python code that is to be followed may run where an instance of `cls` is looked up as a key."""
    return is_heap_type(cls) and overrides(cls, "__hash__") and not is_enumeration(cls)


def is_enumeration(cls: type) -> bool:
    """Whether `cls` is an enumeration the members of which are hashed by their names and compared by
    identity."""
    return (
        issubclass(cls, enum.Enum) and inherits(cls, "__hash__", enum.Enum) and not overrides(cls, "__eq__")
    )


def _asked(values: Iterable[Any]) -> Iterator[Any]:
    """The `values`, and what is in tuples among them, that answer by Python code."""
    for x in values:
        if type(x) is tuple:
            yield from _asked(x)
        elif is_asked_key(type(x)):
            yield x


_HASHED: tuple[type, ...] = (dict, set, frozenset, type({}.keys()), type({}.items()))

BY_KEY = (
    operator.getitem, operator.setitem, operator.delitem, operator.contains, intrinsics._not_contains_,
    intrinsics._map_add_, intrinsics._set_add_,
    dict.__getitem__, dict.__setitem__, dict.__delitem__, dict.__contains__,
    dict.get, dict.pop, dict.setdefault,
    OrderedDict.pop, OrderedDict.setdefault, OrderedDict.move_to_end, OrderedDict.__setitem__,
    OrderedDict.__delitem__,
    set.add, set.discard, set.remove, set.__contains__, frozenset.__contains__,
)  # fmt: skip
"""Functions that look for their second argument in the first."""
_OF_MANY = (
    dict.update, dict.copy, intrinsics._dict_update_, operator.ior, operator.or_, OrderedDict.update,
    OrderedDict.copy, dict.clear, dict.popitem, OrderedDict.popitem, OrderedDict.clear,
)  # fmt: skip
"""Functions of dicts whose rules look for all keys of the arguments."""

HASHING = frozenset({*BY_KEY, *_OF_MANY})
"""Functions whose rules ask keys."""


def _keys(call: Call) -> Any:
    """The keys that a call is about, and where they are looked for (None: nowhere yet)."""
    args = call.args
    if call.function is intrinsics._new_:
        return (args[1::2] if args[0] is dict else args[1:] if args[0] is set else ()), None
    if call.keywords or not args or not issubclass(type(args[0]), _HASHED):
        return (), None
    if call.function in _OF_MANY:
        return [k for x in args if issubclass(type(x), dict) for k in dict.keys(x)], None
    return args[1:2], args[0]


def asks_keys(function: Any, resolver: Resolver | None) -> Resolver:
    """The resolver of a function that looks for keys: `resolver`, unless they answer by Python code."""

    def asking(call: Call, table: RuleTable) -> Step | None:
        found = None if resolver is None else resolver(call, table)
        if found is not None:
            return found
        keys, container = _keys(call)
        asked = list(_asked(keys))
        if not asked:
            return None
        row = table.find(function, tuple(map(type, call.args[: call.count])))
        return Settle(Foreign(call) if row is None else pass_to_row(row, call), asked, container)

    return asking


def with_keys(protocols: Protocols) -> Protocols:
    """`protocols`, with what becomes of functions that look for keys."""
    functions = (*BY_KEY, *_OF_MANY, intrinsics._new_)
    return {**protocols, **{f: asks_keys(f, protocols.get(f)) for f in functions}}
