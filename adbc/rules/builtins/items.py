"""Items of dicts that are read and written: the rules of reverse mode.

Such calls stand in loops, so the rules have two halves (`rules.table.Halves`) in which what is frequent is
done at once: numbers in dicts that have a shadow.  For all else the first half saves the rule's pullback.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from adbc.rules.namespaces import check_name
from adbc.rules.sequences import emptied, nothing, refuse_constant
from adbc.rules.table import NO_KWARGS, Args, Halves, Kwargs
from adbc.tangents import NO_FDATA, NO_TANGENT, slot_increment, slot_rdata, slot_shadow, slot_tangent
from adbc.tangents.iterators import out_of_step
from adbc.tangents.keys import ask_key, is_object, keep_key
from adbc.tangents.scalars import NUMBERS

__all__ = ["GET", "ITEM", "KEY", "STORE", "get_rrule", "read_item", "setitem_rrule", "store_item"]

KEY = "the key of a dict"


def read_item(d: Any, fd: Any, k: Any, fk: Any, width: int) -> Any:
    """What an rrule returns that reads ``d[k]``, which is present, in a call of `width` arguments."""
    out = d[k]
    lost = None if fk is None else ask_key(k, fk, out)
    zeros = (None, lost, None)[:width]
    if fd is None:
        return out, None, lambda bout: zeros

    def read_pullback(bout: Any) -> Sequence[Any]:
        if bout is not None:
            fd[k] = slot_increment(fd[k], bout)
        return zeros

    try:
        return out, slot_shadow(fd[k]), read_pullback
    except KeyError:
        raise out_of_step(d) from None


def get_rrule(args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> Any:
    d, k, *default = args
    if k in d:
        return read_item(d, fargs[0], k, fargs[1], len(args))
    if not default:
        return None, None, nothing(2)
    return default[0], fargs[2], lambda bout: (None, None, bout)


def store_item(d: Any, fd: Any, k: Any, v: Any, fv: Any) -> Callable[[], Any]:
    """Put `v` into dict `d` at key `k`; returns a function that undoes this and gives the rdata of `v`."""
    if fd is None:
        refuse_constant(d, fv)
    if type(k) is str and (type(d) is not dict or "__builtins__" in d or "__spec__" in d):
        check_name(d, k, v)
    if k not in d:
        d[k] = v
        if fd is not None:
            fd[k] = slot_tangent(v, fv)

        def forget() -> Any:
            d.pop(k)
            bv = None if fd is None else slot_rdata(fd.pop(k))
            return None if fv is None else bv

        return forget
    old = d[k]
    d[k] = v
    if fd is None:

        def put_back() -> Any:
            d[k] = old

        return put_back
    before = fd[k]
    if not (type(old) is type(v) and type(v) in NUMBERS):
        fd[k] = slot_tangent(v, fv)

    def restore() -> Any:
        bv = slot_rdata(fd[k])
        fd[k] = emptied(old, before)
        d[k] = old
        return None if fv is None else bv

    return restore


def setitem_rrule(args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> Any:
    d, k, v = args
    fd, fk, fv = fargs
    lost = None if fk is None else keep_key(k, fk, KEY)
    undo = store_item(d, fd, k, v, fv)
    return None, None, lambda bout: (None, lost, undo())


# -- in two halves ---------------------------------------------------------------------------------------


def _get_forwards(d: Any, k: Any, fd: Any, fk: Any) -> tuple[Any, Any, Any]:
    if k not in d:
        return None, None, None
    if fk is not None and not is_object(k, None):
        return read_item(d, fd, k, fk, 2)  # type: ignore[no-any-return]  # three parts
    if fd is None:
        return d[k], None, None
    t = fd[k]
    return d[k], NO_FDATA if t.__class__ is float else slot_shadow(t), (fd, k)


def _get_backwards(saved: Any, bout: Any) -> Sequence[Any]:
    if callable(saved):
        return saved(bout)  # type: ignore[no-any-return]  # a pullback
    if saved is not None and bout is not None:
        fd, k = saved
        fd[k] = slot_increment(fd[k], bout)
    return None, None


def _item_forwards(d: Any, k: Any, fd: Any, fk: Any) -> tuple[Any, Any, Any]:
    if fk is not None and not is_object(k, None):
        return read_item(d, fd, k, fk, 2)  # type: ignore[no-any-return]  # three parts
    out = d[k]
    if fd is None:
        return out, None, None
    t = fd[k]
    return out, NO_FDATA if t.__class__ is float else slot_shadow(t), (fd, k)


def _get_or_forwards(d: Any, k: Any, default: Any, fd: Any, fk: Any, fdefault: Any) -> tuple[Any, Any, Any]:
    if k not in d:
        return default, fdefault, True
    if fk is not None and not is_object(k, None):
        return read_item(d, fd, k, fk, 3)  # type: ignore[no-any-return]  # three parts
    if fd is None:
        return d[k], None, None
    t = fd[k]
    return d[k], NO_FDATA if t.__class__ is float else slot_shadow(t), (fd, k)


def _get_or_backwards(saved: Any, bout: Any) -> Sequence[Any]:
    if saved is True:
        return None, None, bout
    if callable(saved):
        return saved(bout)  # type: ignore[no-any-return]  # a pullback
    if saved is not None and bout is not None:
        fd, k = saved
        t = fd[k]
        fd[k] = t + bout if t.__class__ is float and bout.__class__ is float else slot_increment(t, bout)
    return None, None, None


GET = Halves(2, _get_forwards, _get_backwards), Halves(3, _get_or_forwards, _get_or_backwards)
"""``d.get(k)`` and ``d.get(k, default)``."""

ITEM = (Halves(2, _item_forwards, _get_backwards),)
"""``d[k]``, of a key that may be a number with a derivative."""


def _store_forwards(d: Any, k: Any, v: Any, fd: Any, fk: Any, fv: Any) -> tuple[Any, Any, Any]:
    cls = type(v)
    if fk is not None and is_object(k, fk):
        fk = None
    if fd is not None and fk is None and (cls in NUMBERS or cls is int):
        if k.__class__ is str and (type(d) is not dict or "__builtins__" in d or "__spec__" in d):
            check_name(d, k, v)
        old = dict.get(d, k)
        if old is None or old.__class__ in NUMBERS or old.__class__ is int:
            if old.__class__ is not cls:
                if old is None and k in d:
                    return None, None, setitem_rrule((d, k, v), (fd, fk, fv))[2]
                fd[k] = NUMBERS.get(cls, NO_TANGENT)
            d[k] = v
            return None, None, (d, fd, k, old, fv)
    return None, None, setitem_rrule((d, k, v), (fd, fk, fv))[2]


def _store_backwards(saved: Any, bout: Any) -> Sequence[Any]:
    if saved.__class__ is not tuple:
        return saved(bout)  # type: ignore[no-any-return]  # a pullback
    d, fd, k, old, fv = saved
    if old is None:
        d.pop(k)
        bv = fd.pop(k)
    else:
        bv = fd[k]
        fd[k] = NUMBERS.get(old.__class__, NO_TANGENT)
        d[k] = old
    return None, None, None if fv is None else bv if bv.__class__ is float else slot_rdata(bv)


STORE = (Halves(3, _store_forwards, _store_backwards),)
"""``d[k] = v``."""
