"""`array.array`: four rules for single elements, and Python bodies in terms of them for the rest.

What hands out the bytes (``tobytes``, ``tofile``) has no rule: it is refused where they have a derivative.
"""

from __future__ import annotations

import builtins
import operator
from array import array
from collections.abc import Callable, Sequence
from typing import Any

from adbc.errors import UnsupportedError
from adbc.ir import intrinsics
from adbc.rules.builtins.iteration import making_iterator, next_frule, next_rrule
from adbc.rules.builtins.lists import getitem_frule, getitem_rrule
from adbc.rules.classes import integer
from adbc.rules.sequences import Source, collected, nothing, refuse_constant, tangents_of
from adbc.rules.table import NO_KWARGS, Args, Kwargs, Overlay, Primitive, Rule, ZeroRule
from adbc.tangents import NO_FDATA, NO_TANGENT, slot_rdata
from adbc.tangents.protocol import kind_of

__all__ = ["ROWS"]

kind_of(array)  # A function may make one before anybody has asked what its derivative is.

_FLOATS = ("f", "d")


def _check_constant(a: Any, fa: Any, derivative: Any) -> None:
    if fa is None and a.typecode in _FLOATS:
        refuse_constant(a, derivative)


# -- making --------------------------------------------------------------------------------------------


def of_list(typecode: str, values: list[Any]) -> Any:
    """The array ``array(typecode, values)`` of the numbers in a list."""
    return array(typecode, values)


def of_bytes(typecode: str, data: Any) -> Any:
    """The array ``array(typecode, data)`` of bytes or text, which have no derivative."""
    return array(typecode, data)


def _of_list_frule(args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
    out = array(*args)
    if out.typecode not in _FLOATS:
        return out, None
    tangents = [0.0 if t is NO_TANGENT else t for t in tangents_of(args[1], dargs[1])]
    return out, array(out.typecode, tangents)


def _of_list_rrule(args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> Any:
    out = array(*args)
    if out.typecode not in _FLOATS:
        return out, None, nothing(2)
    fout = array(out.typecode, bytes(len(out) * out.itemsize))
    source = Source(args[1], fargs[1])

    def make_pullback(bout: Any) -> Sequence[Any]:
        return None, source.give(fout)

    return out, fout, make_pullback


def _array(typecode: str, initializer: Any = (), /) -> Any:
    if isinstance(initializer, (bytes, bytearray, str)):
        return of_bytes(typecode, initializer)
    return of_list(typecode, collected(initializer))


# -- one element ---------------------------------------------------------------------------------------


def _setitem_frule(args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
    a, i, v = args
    da, _, dv = dargs
    _check_constant(a, da, dv)
    a[i] = v
    if da is not None:
        da[i] = 0.0 if dv is None else dv
    return None, None


def _setitem_rrule(args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> Any:
    a, i, v = args
    fa, _, fv = fargs
    _check_constant(a, fa, fv)
    if not -len(a) <= i < len(a):
        a[i] = v  # for the error
    old = a[i]
    a[i] = v

    def setitem_pullback(bout: Any) -> Sequence[Any]:
        a[i] = old
        if fa is None:
            return None, None, None
        bv = fa[i]
        fa[i] = 0.0
        return None, None, None if fv is None else bv

    return None, None, setitem_pullback


def _no_undo() -> None:
    """What is done if the first of two changes is impossible."""


def _in_step(change: Callable[[], Any], undo: Callable[[], object]) -> Any:
    """Call `change`, which changes the length of a shadow, or what a pullback restores; if it is impossible,
    call `undo` and raise."""
    try:
        return change()
    except BufferError:
        undo()
        raise UnsupportedError(
            "the length of an array.array changes that was seen through a NumPy array or a memoryview",
            "these go on showing the old memory",
            "copy it for those: np.array(a)",
        ) from None


def _inserted(args: Args, fargs: Args, derivative: Any) -> Any:
    """Insert into an array, and `derivative` into its shadow or tangent; returns the index of the element."""
    (a, i, v), (fa, _, fv) = args, fargs
    _check_constant(a, fa, fv)
    at = max(0, len(a) + i) if i < 0 else min(i, len(a))
    a.insert(at, v)
    if fa is not None:
        _in_step(lambda: fa.insert(at, derivative), lambda: a.pop(at))
    return at


def _insert_frule(args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
    dv = dargs[2]
    _inserted(args, dargs, 0.0 if dv is None else dv)
    return None, None


def _insert_rrule(args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> Any:
    a, (fa, _, fv) = args[0], fargs
    at = _inserted(args, fargs, 0.0)

    def insert_pullback(bout: Any) -> Sequence[Any]:
        value = _in_step(lambda: a.pop(at), _no_undo)
        bv = None if fa is None else _in_step(lambda: fa.pop(at), lambda: a.insert(at, value))
        return None, None, None if fv is None else bv

    return None, None, insert_pullback


def _pop_frule(args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
    a, where = args[0], args[1:]
    da = dargs[0]
    out = a.pop(*where)
    if da is None:
        return out, None
    at = where[0] if where else -1
    return out, _in_step(lambda: da.pop(at), lambda: a.insert(at if at >= 0 else len(a) + 1 + at, out))


def _pop_rrule(args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> Any:
    a, where = args[0], args[1:]
    fa = fargs[0]
    at = where[0] if where else -1
    out = a.pop(at)
    if at < 0:
        at += len(a) + 1
    before = None if fa is None else _in_step(lambda: fa.pop(at), lambda: a.insert(at, out))

    def pop_pullback(bout: Any) -> Sequence[Any]:
        _in_step(lambda: a.insert(at, out), _no_undo)
        if fa is not None:
            derivative = 0.0 if bout is None else slot_rdata(bout)
            _in_step(lambda: fa.insert(at, derivative), lambda: a.pop(at))
        return (None,) * len(args)

    return out, None if before is None else NO_FDATA, pop_pullback


# -- the rest, in Python -------------------------------------------------------------------------------


def _tolist(a: Any, /) -> Any:
    out: list[Any] = []
    for i in range(len(a)):
        out.append(a[i])  # noqa: PERF401  # before 3.12 a comprehension is a function
    return out


def _rewrite(a: Any, values: Any) -> None:
    """Let array `a` hold `values`, and nothing else."""
    while len(a) > len(values):
        a.pop()
    for i in range(len(a)):
        a[i] = values[i]
    for i in range(len(a), len(values)):
        a.append(values[i])


def check_kind(a: Any, b: Any, what: str) -> None:
    """Raise if `b` is not an array of the same type as `a`."""
    if type(b) is not array:
        raise TypeError(f"can only {what} array (not {type(b).__name__!r}) to array")
    if a.typecode != b.typecode:
        raise TypeError("bad argument type for built-in operation")


def _append(a: Any, value: Any, /) -> None:
    a.insert(len(a), value)


def _extend(a: Any, values: Any, /) -> None:
    if type(values) is array:
        if values.typecode != a.typecode:
            raise TypeError("can only extend with array of same kind")
        values = values.tolist()
    for v in values:
        a.append(v)


def _fromlist(a: Any, values: Any, /) -> None:
    for v in values:
        a.append(v)


def _getslice(a: Any, where: Any, /) -> Any:
    return of_list(a.typecode, a.tolist()[where])


def _setslice(a: Any, where: Any, values: Any, /) -> None:
    check_kind(a, values, "assign")
    new = a.tolist()
    new[where] = values.tolist()
    _rewrite(a, new)


def _delitem(a: Any, where: Any, /) -> None:
    new = a.tolist()
    del new[where]
    _rewrite(a, new)


def _reverse(a: Any, /) -> None:
    _rewrite(a, a.tolist()[::-1])


def _remove(a: Any, value: Any, /) -> None:
    a.pop(a.index(value))


def _copy(a: Any, memo: Any = None, /) -> Any:
    return of_list(a.typecode, a.tolist())


def _add(a: Any, b: Any, /) -> Any:
    check_kind(a, b, "append")
    return of_list(a.typecode, a.tolist() + b.tolist())


def _iadd(a: Any, b: Any, /) -> Any:
    check_kind(a, b, "extend with")
    a.extend(b)
    return a


def _mul(a: Any, times: Any, /) -> Any:
    return of_list(a.typecode, a.tolist() * times)


def _rmul(times: Any, a: Any, /) -> Any:
    return of_list(a.typecode, a.tolist() * times)


def _imul(a: Any, times: Any, /) -> Any:
    _rewrite(a, a.tolist() * times)
    return a


def _first(cls: type, *rest: type) -> bool:
    return cls is array


def _indexed(cls: type, index: type, *value: type) -> bool:
    return cls is array and integer(index)


def _sliced(cls: type, index: type, *value: type) -> bool:
    return cls is array and index is slice


def _deleted(cls: type, index: type) -> bool:
    return cls is array and (index is slice or integer(index))


def _popped(cls: type, *index: type) -> bool:
    return cls is array and all(map(integer, index))


def _times(cls: type, other: type) -> bool:
    return cls is array and integer(other)


def _reflected(other: type, cls: type) -> bool:
    return cls is array and integer(other)


def _two(*classes: type) -> bool:
    return classes == (array, array)


_ITERATOR: type = type(iter(array("d")))

_OF_BYTES = ZeroRule(of_bytes)
_OF_BYTES.converts, _OF_BYTES.meets_text = slice(1, 2), True

ROWS: list[Rule] = [
    Primitive(of_list, frule=_of_list_frule, rrule=_of_list_rrule),
    _OF_BYTES,
    ZeroRule(check_kind),
    Overlay(array, _array, result=array),
    Primitive(operator.getitem, frule=getitem_frule, rrule=getitem_rrule, when=_indexed),
    Overlay(operator.getitem, _getslice, when=_sliced),
    Primitive(operator.setitem, frule=_setitem_frule, rrule=_setitem_rrule, when=_indexed),
    Overlay(operator.setitem, _setslice, when=_sliced),
    Overlay(operator.delitem, _delitem, when=_deleted),
    Primitive(array.insert, frule=_insert_frule, rrule=_insert_rrule),
    Primitive(array.pop, frule=_pop_frule, rrule=_pop_rrule, when=_popped),
    Overlay(array.append, _append),
    Overlay(array.extend, _extend),
    Overlay(array.fromlist, _fromlist),
    Overlay(array.tolist, _tolist),
    Overlay(array.reverse, _reverse),
    Overlay(array.remove, _remove),
    *(Overlay(f, _copy) for f in (array.__copy__, array.__deepcopy__)),
    *(ZeroRule(f, result=int) for f in (array.index, array.count)),
    Overlay(operator.add, _add, when=_first),
    Overlay(operator.iadd, _iadd, when=_first),
    Overlay(operator.mul, _mul, when=_times),
    Overlay(operator.mul, _rmul, when=_reflected),
    Overlay(operator.imul, _imul, when=_times),
    *(ZeroRule(getattr(operator, n), when=_two, result=bool) for n in ("eq", "ne", "lt", "le", "gt", "ge")),
    ZeroRule(builtins.len, when=_first, result=int),
    *(
        making_iterator(f, when=lambda cls, *rest: not rest and cls in (array, _ITERATOR))
        for f in (intrinsics._iter_, builtins.iter)
    ),
    making_iterator(builtins.reversed, when=_first, backwards=True),
    Primitive(
        intrinsics._next_,
        frule=next_frule,
        rrule=next_rrule,
        is_fitted=True,
        when=lambda cls: cls is _ITERATOR,
    ),
]
