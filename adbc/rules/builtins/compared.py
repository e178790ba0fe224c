"""What is compared by C code, and what is looked up for that: ``max(d, key=d.get)``.

Which value comes first has no derivative.  So the comparisons, and look-ups in dicts, are made as they are,
all of them at once, if these run no Python code.
"""

from __future__ import annotations

import builtins
import itertools
from collections import Counter, defaultdict
from collections.abc import Collection
from types import BuiltinFunctionType
from typing import Any

from adbc.rules.classes import overrides
from adbc.rules.sequences import symbolic
from adbc.rules.table import NO_KWARGS, Args, Kwargs, Primitive, Rule, ZeroRule
from adbc.tangents.keys import key_shadow, key_tangent

__all__ = [
    "ROWS", "any_python_order", "are_looked_up", "first_extreme", "is_dict_alone", "key_at",
    "place_of_extreme",
]  # fmt: skip

_DICTS = (dict, defaultdict, Counter)
_READING = {"get": _DICTS, "__getitem__": (dict,)}
"""By name of a method that looks a key up, the classes of dicts that do that in C."""
_PLAIN = frozenset({str, int, float, bool, bytes, type(None)})
"""Classes of keys that are hashed and compared in C, which most have."""


def first_extreme(keys: Any, largest: bool) -> int:
    """The index of the first of the largest or smallest `keys`, found as `max` and `min` find it."""
    choose = builtins.max if largest else builtins.min
    return choose(range(len(keys)), key=keys.__getitem__)


def any_python_order(keys: Any) -> bool:
    """Whether comparing some of `keys` runs Python code."""
    pending = [keys]
    while pending:
        values = pending.pop()
        classes = set(map(type, values))
        if classes <= _IN_C or (
            classes == _TUPLES and _IN_C.issuperset(map(type, itertools.chain.from_iterable(values)))
        ):
            continue
        if any(overrides(cls, name) for cls in classes for name in ("__lt__", "__gt__", "__eq__")):
            return True
        if list in classes or tuple in classes:
            pending.extend(x for x in values if type(x) is list or type(x) is tuple)
    return False


_IN_C = frozenset({float, int, bool, str})
"""Classes that most elements have, and that compare in C."""
_TUPLES = {tuple}


# -- look-ups -------------------------------------------------------------------------------------------


def is_dict_alone(*classes: type) -> bool:
    """Whether there is one argument, which is a dict."""
    return len(classes) == 1 and classes[0] in _DICTS


def _is_look_up(key: Any) -> bool:
    """Whether `key` is a method, bound to a dict, that looks up what it is given."""
    return type(key) is BuiltinFunctionType and type(key.__self__) in _READING.get(key.__name__, ())


def _are_hashed_in_c(keys: Collection[Any]) -> bool:
    """Whether to look `keys` up runs no Python code."""
    for cls in {*map(type, keys)} - _PLAIN:
        if cls is tuple:
            if not all(_PLAIN.issuperset(map(type, k)) for k in keys if type(k) is tuple):
                return False
        elif overrides(cls, "__hash__") or overrides(cls, "__eq__") or issubclass(cls, tuple | frozenset):
            return False
    return True


def are_looked_up(values: Any, key: Any) -> bool:
    """Whether `values`, in a list, are sorted by look-ups with `key`, and neither these nor the comparisons
    run Python code."""
    return (
        type(values) is list
        and _is_look_up(key)
        and _are_hashed_in_c((*values, *key.__self__))
        and not any_python_order([*map(key, values)])
    )


def place_of_extreme(d: Any, key: Any, largest: bool) -> int:
    """Which key of the dict `d` is the first of those that come last (or first) by `key`, None for the keys
    themselves; -1 if there is none, or if to find it runs Python code."""
    if not d or not (key is None or _is_look_up(key)):
        return -1
    if key is not None and not _are_hashed_in_c((*d, *key.__self__)):
        return -1
    found = [*d] if key is None else [*map(key, d)]
    return -1 if any_python_order(found) else first_extreme(found, largest)


def key_at(d: Any, place: int) -> Any:
    """The key of the dict `d` at this `place`."""
    return next(itertools.islice(d, place, None))


def _key_frule(args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
    out = key_at(*args)
    return out, symbolic(key_tangent(out))


def _key_rrule(args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> Any:
    out = key_at(*args)
    return out, key_shadow(out), lambda bout: (None, None)


ROWS: list[Rule] = [
    ZeroRule(any_python_order, result=bool),
    ZeroRule(first_extreme, result=int),
    ZeroRule(are_looked_up, result=bool),
    ZeroRule(place_of_extreme, result=int),
    Primitive(key_at, frule=_key_frule, rrule=_key_rrule, is_fitted=True),
]
