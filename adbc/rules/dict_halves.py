"""Changes of many items of a dict, and lists made of its views, in two halves (`rules.table.Halves`).

Where all values are floats the shadow has floats under the same keys, and C code does to it what is done to
the dict; for all else the first half saves the pullback of the rule.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

from adbc.rules.list_halves import are_floats, pulled_back, returned
from adbc.rules.namespaces import check_all_names, check_name
from adbc.rules.sequences import symbolic
from adbc.rules.table import NO_KWARGS, Args, Halves, Kwargs
from adbc.tangents import (
    NO_FDATA,
    NO_TANGENT,
    fill_tangent,
    shadow_iterator,
    slot_rdata,
    slot_shadow,
    slot_tangent,
)
from adbc.tangents.containers import VIEW_CLASSES
from adbc.tangents.keys import ask_key

__all__ = [
    "DELETE",
    "POP",
    "VIEWED",
    "copying",
    "is_view",
    "put_back_item",
    "take_item",
    "updating",
    "viewed_frule",
    "viewed_rrule",
]


# -- d.pop(k), del d[k] ---------------------------------------------------------------------------------

_NONE_THERE = object()


def take_item(d: Any, fd: Any, k: Any) -> Any:
    """Delete key `k` of a dict; returns what `put_back_item` needs: first the value and its slot tangent."""
    check_name(d, k)
    key = next(reversed(d), _NONE_THERE)
    if key is _NONE_THERE or k not in d:
        raise KeyError(k)
    if type(d) is dict and (key is k or key == k):
        at = len(d) - 1
    else:
        keys = [*iter(d)]
        at = keys.index(k)
        key = keys[at]
    return d.pop(key), None if fd is None else fd.pop(key), d, fd, key, at


def put_back_item(taken: Any, r: Any) -> None:
    """Undo `take_item` where `r` has come back to the value: what followed the item follows it again."""
    out, t, d, fd, key, at = taken
    following = [*itertools.islice(iter(d), at, None)]
    d[key] = out
    _put_behind(d, following)
    if fd is not None:
        fd[key] = returned(out, t, r)
        _put_behind(fd, following)


def _put_behind(d: Any, keys: list[Any]) -> None:
    """Put the items of a dict at `keys` behind all others."""
    if type(d) is dict:
        d.update(zip(keys, [*map(d.pop, keys)], strict=True))
    else:
        for key in keys:
            d[key] = d.pop(key)


def _pop_forwards(d: Any, k: Any, fd: Any, fk: Any) -> tuple[Any, Any, Any]:
    lost = ask_key(k, fk, d[k]) if fk is not None and k in d else None
    taken = take_item(d, fd, k)
    t = taken[1]
    return taken[0], NO_FDATA if t.__class__ is float else slot_shadow(t), (taken, lost)


def _pop_backwards(saved: Any, bout: Any) -> Sequence[Any]:
    taken, lost = saved
    put_back_item(taken, bout)
    return None, lost


def _pop_or_forwards(d: Any, k: Any, default: Any, fd: Any, fk: Any, fdefault: Any) -> tuple[Any, Any, Any]:
    if k not in d:
        return default, fdefault, None
    return _pop_forwards(d, k, fd, fk)


def _pop_or_backwards(saved: Any, bout: Any) -> Sequence[Any]:
    if saved is None:
        return None, None, bout
    taken, lost = saved
    put_back_item(taken, bout)
    return None, lost, None


def _delete_forwards(d: Any, k: Any, fd: Any, fk: Any) -> tuple[Any, Any, Any]:
    return None, None, take_item(d, fd, k)


def _delete_backwards(saved: Any, bout: Any) -> Sequence[Any]:
    put_back_item(saved, None)
    return None, None


POP = Halves(2, _pop_forwards, _pop_backwards), Halves(3, _pop_or_forwards, _pop_or_backwards)
DELETE = (Halves(2, _delete_forwards, _delete_backwards),)


# -- copies, and many items at once ---------------------------------------------------------------------


def _has_floats(d: Any, fd: Any) -> bool:
    """Whether `d` is a plain dict of floats, and its shadow None or such a dict too."""
    if type(d) is not dict or not are_floats(d.values()):
        return False
    return fd is None or (fd.__class__ is dict and len(fd) == len(d))


def copying(rrule: Callable[..., Any]) -> Sequence[Halves]:
    """The halves of ``d.copy()``, with this `rrule`."""

    def forwards(d: Any, fd: Any) -> tuple[Any, Any, Any]:
        if _has_floats(d, fd):
            fout = dict.fromkeys(d, 0.0)
            return d.copy(), fout, None if fd is None else (fd, fout)
        return rrule((d,), (fd,))  # type: ignore[no-any-return]  # three parts

    return (Halves(1, forwards, _copy_backwards),)


def _copy_backwards(saved: Any, bout: Any) -> Sequence[Any]:
    if saved is None:
        return (None,)
    if saved.__class__ is not tuple:
        return pulled_back(saved, bout)
    fd, fout = saved
    for k, t in fout.items():  # one that is zero may have a derivative
        fd[k] += t
    return (None,)


def updating(rrule: Callable[..., Any], returns: bool) -> Sequence[Halves]:
    """The halves of ``d |= other`` if it `returns` the dict, else of ``d.update(other)``."""

    def forwards(d: Any, other: Any, fd: Any, fother: Any) -> tuple[Any, Any, Any]:
        if fd.__class__ is dict and type(d) is dict and _has_floats(other, fother):
            keys = [*other]
            before = {k: d[k] for k in keys if k in d}
            if are_floats(before.values()):
                check_all_names(d, keys)
                d.update(other)
                fd.update(dict.fromkeys(keys, 0.0))
                saved = d, fd, fother, keys, before
                return (d, fd, saved) if returns else (None, None, saved)
        return rrule((d, other), (fd, fother))  # type: ignore[no-any-return]  # three parts

    return (Halves(2, forwards, _update_backwards),)


def _update_backwards(saved: Any, bout: Any) -> Sequence[Any]:
    if saved.__class__ is not tuple:
        return pulled_back(saved, bout)
    d, fd, fother, keys, before = saved
    terms = [*map(fd.__getitem__, keys)]
    for k in keys:
        if k not in before:
            del d[k], fd[k]
    d.update(before)
    fd.update(dict.fromkeys(before, 0.0))
    if fother is not None:
        for k, t in zip(keys, terms, strict=True):
            fother[k] += t
    return None, None


# -- lists of views -------------------------------------------------------------------------------------


def is_view(*classes: type) -> bool:
    """Whether there is one argument, a view of a dict."""
    return len(classes) == 1 and classes[0] in VIEW_CLASSES


def viewed_frule(args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
    view, beside = args[0], shadow_iterator(args[0], dargs[0])
    out = list(view)
    return out, [fill_tangent(x, symbolic(beside.step(x)[2])) for x in out]


def viewed_rrule(args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> Any:
    view, beside = args[0], shadow_iterator(args[0], fargs[0])
    out = list(view)
    steps = [beside.step(x) for x in out]
    fout = [slot_tangent(x, f) for x, (f, _, _) in zip(out, steps, strict=True)]

    def viewed_pullback(bout: Any) -> Sequence[Any]:
        for t, (_, sink, _) in zip(fout, steps, strict=True):
            if sink is not None:
                sink(slot_rdata(t))
        return (None,)

    return out, fout, viewed_pullback


_KEYS, _VALUES, _ITEMS = VIEW_CLASSES
_PLAIN = frozenset({str, int, bool})
"""Classes of keys that have no derivative."""


def _viewed_forwards(view: Any, fview: Any) -> tuple[Any, Any, Any]:
    out = list(view)
    if type(view) is _KEYS and _PLAIN.issuperset(map(type, out)):
        return out, [NO_TANGENT] * len(out), None
    if fview.__class__ is dict and are_floats(fview.values()):
        if type(view) is _VALUES and are_floats(out):
            fout: list[Any] = [0.0] * len(out)
            return out, fout, (fview, [*fview], fout)
        if type(view) is _ITEMS and are_floats([v for _, v in out]):
            keys = [*fview]
            if _PLAIN.issuperset(map(type, keys)):
                fout = [_PAIR] * len(out)
                return out, fout, (fview, keys, fout)
    return viewed_rrule((view,), (fview,))  # type: ignore[no-any-return]  # three parts


def _viewed_backwards(saved: Any, bout: Any) -> Sequence[Any]:
    if saved is None:
        return (None,)
    if saved.__class__ is not tuple:
        return pulled_back(saved, bout)
    fview, keys, fout = saved
    for k, t in zip(keys, fout, strict=True):
        b = t if t.__class__ is float else t[1]
        fview[k] += b
    return (None,)


_PAIR = (NO_TANGENT, 0.0)
VIEWED = (Halves(1, _viewed_forwards, _viewed_backwards),)
"""A list of a view: ``list(d.values())``."""
