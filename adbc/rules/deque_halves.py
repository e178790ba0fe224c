"""The ends of a `collections.deque`, in two halves (`rules.table.Halves`): queues are worked at in loops.

A full deque loses an element at one end when another is added at the other, which comes back when that is
undone.  A deque without a shadow is a constant.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from adbc.rules.list_halves import POP_LAST, returned
from adbc.rules.sequences import check_constant, emptied
from adbc.rules.table import Halves
from adbc.tangents import NO_FDATA, slot_rdata, slot_shadow, slot_tangent

__all__ = ["APPEND", "APPENDLEFT", "POP", "POPLEFT"]


def _append_forwards(a: Any, v: Any, fa: Any, fv: Any) -> tuple[Any, Any, Any]:
    if fa is None:
        check_constant(a, fa, fv)
    if a.maxlen is not None and len(a) == a.maxlen:
        if not a:
            return None, None, None  # there is no room for anything
        lost = a[0], None if fa is None else fa[0]
    else:
        lost = None
    a.append(v)
    if fa is not None:
        fa.append(0.0 if type(v) is float else slot_tangent(v, fv))
    return None, None, (a, fa, fv, lost)


def _append_backwards(saved: Any, bout: Any) -> Sequence[Any]:
    if saved is None:
        return None, None
    a, fa, fv, lost = saved
    a.pop()
    t = None if fa is None else fa.pop()
    if lost is not None:
        x, before = lost
        a.appendleft(x)
        if fa is not None:
            fa.appendleft(emptied(x, before))
    return None, None if fv is None else t if t.__class__ is float else slot_rdata(t)


def _appendleft_forwards(a: Any, v: Any, fa: Any, fv: Any) -> tuple[Any, Any, Any]:
    if fa is None:
        check_constant(a, fa, fv)
    if a.maxlen is not None and len(a) == a.maxlen:
        if not a:
            return None, None, None
        lost = a[-1], None if fa is None else fa[-1]
    else:
        lost = None
    a.appendleft(v)
    if fa is not None:
        fa.appendleft(0.0 if type(v) is float else slot_tangent(v, fv))
    return None, None, (a, fa, fv, lost)


def _appendleft_backwards(saved: Any, bout: Any) -> Sequence[Any]:
    if saved is None:
        return None, None
    a, fa, fv, lost = saved
    a.popleft()
    t = None if fa is None else fa.popleft()
    if lost is not None:
        x, before = lost
        a.append(x)
        if fa is not None:
            fa.append(emptied(x, before))
    return None, None if fv is None else t if t.__class__ is float else slot_rdata(t)


def _popleft_forwards(a: Any, fa: Any) -> tuple[Any, Any, Any]:
    out = a.popleft()
    if fa is None:
        return out, None, (a, None, out, None)
    t = fa.popleft()
    return out, NO_FDATA if t.__class__ is float else slot_shadow(t), (a, fa, out, t)


def _popleft_backwards(saved: Any, bout: Any) -> Sequence[Any]:
    a, fa, out, t = saved
    a.appendleft(out)
    if fa is not None:
        fa.appendleft(returned(out, t, bout))
    return (None,)


APPEND = (Halves(2, _append_forwards, _append_backwards),)
APPENDLEFT = (Halves(2, _appendleft_forwards, _appendleft_backwards),)
POP = (POP_LAST,)
POPLEFT = (Halves(1, _popleft_forwards, _popleft_backwards),)
