"""Changes of the length of a list, and lists made of lists, in two halves (`rules.table.Halves`).

Such calls stand in loops.  Where all elements are floats the shadow has floats at the same places, and C code
does to it what is done to the list; for all else the first half saves the pullback of the rule.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

from adbc.rules.sequences import check_constant, emptied, out_of_step
from adbc.rules.table import Halves
from adbc.tangents import NO_FDATA, NO_TANGENT, slot_increment, slot_rdata, slot_shadow, slot_tangent
from adbc.tangents.scalars import NUMBERS

__all__ = [
    "APPEND",
    "INSERT",
    "POP",
    "POP_LAST",
    "STORE",
    "are_floats",
    "concatenating",
    "copying",
    "extending",
    "permuting",
    "pulled_back",
    "returned",
    "unpacking",
]

_FLOATS = frozenset({float})


_BARE: frozenset[type] = frozenset({int, bool, str, bytes, type(None)})
"""Classes of values without a derivative, which most elements that have none are of."""


def are_floats(values: Any) -> bool:
    """Whether all elements of `values` are floats."""
    return _FLOATS.issuperset(map(type, values))


def _are_bare(values: Any) -> bool:
    """Whether all elements of `values` are of builtin classes without a derivative."""
    return _BARE.issuperset(map(type, values))


def _in_step(a: Any, fa: Any) -> bool:
    """Whether `fa`, the shadow of a list, is None or a list with as many elements."""
    return fa is None or (fa.__class__ is list and len(fa) == len(a))


def returned(x: Any, t: Any, bout: Any) -> Any:
    """The slot tangent of `x`, which comes back into a container with the cotangent `bout`; it was `t`."""
    if t.__class__ is float and bout.__class__ is float:
        return bout
    t = emptied(x, t)
    return t if bout is None else slot_increment(t, bout)


def pulled_back(saved: Any, bout: Any) -> Sequence[Any]:
    """The second half of a rule of which the first has saved its pullback."""
    found: Sequence[Any] = saved(bout)
    return found


# -- one element more or less ---------------------------------------------------------------------------


def _pop_forwards(a: Any, fa: Any) -> tuple[Any, Any, Any]:
    if fa is not None and len(fa) != len(a):
        raise out_of_step(a)
    out = a.pop()
    if fa is None:
        return out, None, (a, None, out, None)
    t = fa.pop()
    return out, NO_FDATA if t.__class__ is float else slot_shadow(t), (a, fa, out, t)


def _pop_backwards(saved: Any, bout: Any) -> Sequence[Any]:
    a, fa, out, t = saved
    a.append(out)
    if fa is not None:
        fa.append(returned(out, t, bout))
    return (None,)


def _pop_at_forwards(a: Any, where: Any, fa: Any, fwhere: Any) -> tuple[Any, Any, Any]:
    at = operator.index(where)
    if fa is not None and len(fa) != len(a):
        raise out_of_step(a)
    out = a.pop(at)
    if at < 0:
        at += len(a) + 1
    if fa is None:
        return out, None, (a, None, at, out, None)
    t = fa.pop(at)
    return out, NO_FDATA if t.__class__ is float else slot_shadow(t), (a, fa, at, out, t)


def _pop_at_backwards(saved: Any, bout: Any) -> Sequence[Any]:
    a, fa, at, out, t = saved
    a.insert(at, out)
    if fa is not None:
        fa.insert(at, returned(out, t, bout))
    return None, None


def _insert_forwards(a: Any, i: Any, v: Any, fa: Any, fi: Any, fv: Any) -> tuple[Any, Any, Any]:
    check_constant(a, fa, fv)
    at = max(0, len(a) + i) if i < 0 else min(i, len(a))
    a.insert(at, v)
    if fa is not None:
        fa.insert(at, 0.0 if type(v) is float else slot_tangent(v, fv))
    return None, None, (a, fa, at, fv)


def _insert_backwards(saved: Any, bout: Any) -> Sequence[Any]:
    a, fa, at, fv = saved
    del a[at]
    t = None if fa is None else fa.pop(at)
    return None, None, None if fv is None else t if t.__class__ is float else slot_rdata(t)


def _append_forwards(a: Any, v: Any, fa: Any, fv: Any) -> tuple[Any, Any, Any]:
    check_constant(a, fa, fv)
    a.append(v)
    if fa is not None:
        fa.append(slot_tangent(v, fv))
    return None, None, (a, fa, fv)


def _append_backwards(saved: Any, bout: Any) -> Sequence[Any]:
    a, fa, fv = saved
    del a[-1]
    t = None if fa is None else fa.pop()
    return None, None if fv is None else slot_rdata(t)


def _store_forwards(a: Any, i: Any, v: Any, fa: Any, fi: Any, fv: Any) -> tuple[Any, Any, Any]:
    check_constant(a, fa, fv)
    if not -len(a) <= i < len(a):
        a[i] = v  # for the error
    old = a[i]
    a[i] = v
    if fa is None:
        return None, None, (a, None, i, old, None, None)
    before = fa[i]
    if not (old.__class__ is type(v) and type(v) in NUMBERS):
        fa[i] = slot_tangent(v, fv)
    return None, None, (a, fa, i, old, before, fv)


def _store_backwards(saved: Any, bout: Any) -> Sequence[Any]:
    a, fa, i, old, before, fv = saved
    a[i] = old
    if fa is None:
        return None, None, None
    bv = None if fv is None else slot_rdata(fa[i])
    fa[i] = emptied(old, before)
    return None, None, bv


APPEND = (Halves(2, _append_forwards, _append_backwards),)
STORE = (Halves(3, _store_forwards, _store_backwards),)
POP_LAST = Halves(1, _pop_forwards, _pop_backwards)
POP = POP_LAST, Halves(2, _pop_at_forwards, _pop_at_backwards)
INSERT = (Halves(3, _insert_forwards, _insert_backwards),)


# -- many at once ---------------------------------------------------------------------------------------


def extending(rrule: Callable[..., Any], returns: bool) -> Sequence[Halves]:
    """The halves of ``a += values`` if it `returns` the list, else of ``a.extend(values)``, with this
    `rrule`."""

    def forwards(a: Any, values: Any, fa: Any, fvalues: Any) -> tuple[Any, Any, Any]:
        cls = type(values)
        is_list = cls is list and _in_step(values, fvalues)
        if fa.__class__ is list and (is_list or cls is tuple) and are_floats(values):
            size = len(a)
            more = [0.0] * len(values)
            a.extend(values)
            fa.extend(more)
            saved = a, fa, size, fvalues
            return (a, fa, saved) if returns else (None, None, saved)
        return rrule((a, values), (fa, fvalues))  # type: ignore[no-any-return]  # three parts

    return (Halves(2, forwards, _extend_backwards),)


def _extend_backwards(saved: Any, bout: Any) -> Sequence[Any]:
    if saved.__class__ is not tuple:
        return pulled_back(saved, bout)
    a, fa, size, fvalues = saved
    terms = fa[size:]
    del a[size:]
    del fa[size:]
    if fvalues is None:
        return None, None
    if fvalues.__class__ is tuple:
        return None, tuple([None if f is None else t for f, t in zip(fvalues, terms, strict=True)])
    _add_to_floats(fvalues, terms)
    return None, None


def _add_to_floats(shadow: Any, terms: Any) -> None:
    """Add `terms`, the cotangents of floats, to the first slots of the shadow of a list."""
    shadow[: len(terms)] = map(operator.add, shadow, terms)


def concatenating(rrule: Callable[..., Any]) -> Sequence[Halves]:
    """The halves of ``a + b`` of lists, with this `rrule`."""

    def forwards(a: Any, b: Any, fa: Any, fb: Any) -> tuple[Any, Any, Any]:
        out = a + b
        if are_floats(out) and _in_step(a, fa) and _in_step(b, fb):
            fout = [0.0] * len(out)
            return out, fout, (fa, fb, len(a), fout)
        return rrule((a, b), (fa, fb))  # type: ignore[no-any-return]  # three parts

    return (Halves(2, forwards, _concatenate_backwards),)


def _concatenate_backwards(saved: Any, bout: Any) -> Sequence[Any]:
    if saved.__class__ is not tuple:
        return pulled_back(saved, bout)
    fa, fb, size, fout = saved
    if fa is not None:
        _add_to_floats(fa, fout[:size])
    if fb is not None:
        _add_to_floats(fb, fout[size:])
    return None, None


def copying(rrule: Callable[..., Any]) -> Sequence[Halves]:
    """The halves of a list that is made of another or of a tuple, with this `rrule`."""

    def forwards(a: Any, fa: Any) -> tuple[Any, Any, Any]:
        if type(a) is list and are_floats(a) and _in_step(a, fa):
            out = list(a)
            fout = [0.0] * len(out)
            return out, fout, None if fa is None else (fa, fout)
        if (type(a) is list or type(a) is tuple) and _are_bare(a):
            return list(a), [NO_TANGENT] * len(a), None
        return rrule((a,), (fa,))  # type: ignore[no-any-return]  # three parts

    return (Halves(1, forwards, _copy_backwards),)


def _copy_backwards(saved: Any, bout: Any) -> Sequence[Any]:
    if saved is None:
        return (None,)
    if saved.__class__ is not tuple:
        return pulled_back(saved, bout)
    _add_to_floats(*saved)
    return (None,)


def permuting(rrule: Callable[..., Any]) -> Sequence[Halves]:
    """The halves of the elements of a list in another order, with this `rrule`."""

    def forwards(values: Any, order: Any, fvalues: Any, forder: Any) -> tuple[Any, Any, Any]:
        if are_floats(values) and _in_step(values, fvalues):
            out = [values[i] for i in order]
            fout = [0.0] * len(out)
            return out, fout, None if fvalues is None else (fvalues, order, fout)
        return rrule((values, order), (fvalues, forder))  # type: ignore[no-any-return]  # three parts

    return (Halves(2, forwards, _permute_backwards),)


def _permute_backwards(saved: Any, bout: Any) -> Sequence[Any]:
    if saved is None:
        return None, None
    if saved.__class__ is not tuple:
        return pulled_back(saved, bout)
    fvalues, order, fout = saved
    for i, t in zip(order, fout, strict=True):
        fvalues[i] += t
    return None, None


# -- taking apart ---------------------------------------------------------------------------------------


def unpacking(rrule: Callable[..., Any]) -> Sequence[Halves]:
    """The halves of ``a, b = values``, with this `rrule`."""

    def forwards(values: Any, count: int, fvalues: Any, fcount: Any) -> tuple[Any, Any, Any]:
        if type(values) is tuple and len(values) == count:
            return values, fvalues, True
        if type(values) is list and len(values) == count and _in_step(values, fvalues):
            if fvalues is None:
                return tuple(values), None, None
            shadows = tuple(map(slot_shadow, fvalues))
            return tuple(values), None if _NONE.issuperset(map(type, shadows)) else shadows, (fvalues,)
        return rrule((values, count), (fvalues, fcount))  # type: ignore[no-any-return]  # three parts

    return (Halves(2, forwards, _unpack_backwards),)


def _unpack_backwards(saved: Any, bout: Any) -> Sequence[Any]:
    if saved is True:
        return bout, None
    if saved is None:
        return None, None
    if saved.__class__ is not tuple:
        return pulled_back(saved, bout)
    (fvalues,) = saved
    if bout is not None:
        for i, r in enumerate(bout):
            if r is not None:
                fvalues[i] = slot_increment(fvalues[i], r)
    return None, None


_NONE = frozenset({type(None)})
