"""Windows on memory: `memoryview`, ``np.frombuffer``, and NumPy's view of an `array.array`.

The shadow of a memoryview is the array that shows the shadow of what it shows.  What hands out bytes
(``tobytes``, ``cast``, ``hex``) has no rule.
"""

from __future__ import annotations

import builtins
import operator
from array import array
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from adbc.errors import UnsupportedError
from adbc.ir import intrinsics
from adbc.rules.builtins.iteration import next_frule, next_rrule
from adbc.rules.numpy.base import converting, refuse_opaque
from adbc.rules.numpy.indexing import setitem_frule, setitem_rrule
from adbc.rules.numpy.iteration import iter_frule, iter_rrule
from adbc.rules.numpy.methods import tolist_frule, tolist_rrule
from adbc.rules.numpy.zeros import AttributeRule
from adbc.rules.table import NO_KWARGS, Args, Kwargs, Overlay, Primitive, Pullback, Rule, ZeroRule
from adbc.tangents import NO_FDATA, project
from adbc.tangents.array_memory import extent, flat_bytes, ultimate_owner

__all__ = ["ROWS"]


def window(view: memoryview) -> Any:
    """The array that shows the memory of `view` but does not hold on to `view`, which may be released."""
    shown = np.asarray(view)
    owner = ultimate_owner(view.obj)
    flat = flat_bytes(owner) if isinstance(owner, np.ndarray) else np.frombuffer(owner, np.uint8)
    if not shown.size:
        return np.zeros(shown.shape, shown.dtype)
    return np.ndarray(shown.shape, shown.dtype, flat, extent_start(shown) - extent(flat)[0], shown.strides)


def extent_start(x: Any) -> int:
    """The address of the first element of `x`."""
    return int(x.__array_interface__["data"][0])


def shadow_array(x: Any, f: Any) -> Any:
    """The shadow of a buffer as an array; the shadow of an `array.array` is an `array.array`."""
    return np.asarray(f) if type(f) is array else f


def _nothing(count: int) -> Callable[[Any], Sequence[None]]:
    return lambda bout: (None,) * count


# -- making --------------------------------------------------------------------------------------------


def _memoryview_frule(args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
    (x,), (dx,) = args, dargs
    if dx is not None:
        refuse_opaque(x)
    return memoryview(x), None if dx is None else shadow_array(x, dx)


def _memoryview_rrule(args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any, Pullback]:
    return *_memoryview_frule(args, fargs), _nothing(1)


def _asarray_frule(args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
    (x,), (dx,) = args, dargs
    return np.asarray(x), None if dx is None else shadow_array(x, dx)


def _asarray_rrule(args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any, Pullback]:
    return *_asarray_frule(args, fargs), _nothing(1)


def _frombuffer_frule(args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
    x, dx = args[0], dargs[0]
    out = np.frombuffer(*args, **kwargs)
    if dx is None:
        return out, None
    refuse_opaque(x)
    shadow = shadow_array(x, dx)
    if out.dtype != shadow.dtype:
        raise UnsupportedError(
            f"np.frombuffer shows numbers of {shadow.dtype} that have a derivative as {out.dtype}",
            "the bytes mean something else there",
            f"convert them: np.frombuffer(b, {str(shadow.dtype)!r}).astype({str(out.dtype)!r})",
        )
    return out, np.frombuffer(shadow, *args[1:], **kwargs)


def _frombuffer_rrule(args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any, Pullback]:
    return *_frombuffer_frule(args, fargs, kwargs), _nothing(len(args))


def _array(x: Any, /) -> Any:
    return np.asarray(x).copy()


# -- reading and writing a memoryview --------------------------------------------------------------------


def _getitem_frule(args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
    view, index = args
    dv = dargs[0]
    out = view[index]
    return out, None if dv is None else project(dv[index], out)


def _getitem_rrule(args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any, Pullback]:
    view, index = args
    f = fargs[0]
    out = view[index]
    if f is None:
        return out, None, _nothing(2)
    if isinstance(out, memoryview):
        return out, f[index], _nothing(2)

    def element_pullback(bout: Any) -> Sequence[Any]:
        if bout is not None:
            f[index] += bout
        return None, None

    return out, NO_FDATA, element_pullback


def _write(args: Args, fv: Any) -> tuple[Any, Any, Any]:
    """The array behind the view, what is written, and its shadow, for ``view[index] = v``; raises, as the
    interpreter does, if this is no valid assignment."""
    view, index, v = args
    target = window(view)
    old = np.array(target[index])
    view[index] = v
    target[index] = old
    if type(v) in (memoryview, array):
        return target, np.asarray(v), None if fv is None else shadow_array(v, fv)
    if isinstance(v, (bytes, bytearray)):
        return target, np.frombuffer(v, target.dtype), None
    return target, v, fv


def _setitem_frule(args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
    target, v, dv = _write(args, dargs[2])
    return setitem_frule((target, args[1], v), (dargs[0], None, dv))


def _setitem_rrule(args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any, Pullback]:
    target, v, fv = _write(args, fargs[2])
    return setitem_rrule((target, args[1], v), (fargs[0], None, fv))


def _tolist_frule(args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
    return tolist_frule((window(args[0]),), dargs)


def _tolist_rrule(args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any, Pullback]:
    return tolist_rrule((window(args[0]),), fargs)


def _next_frule(args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
    out, dout = next_frule(args, dargs)
    return out, None if dout is None else project(dout, out)  # a Python number


def _same_frule(args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
    return args[0], dargs[0]


def _same_rrule(args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any, Pullback]:
    return args[0], fargs[0], _nothing(1)


def _only_buffer(cls: type, *rest: type) -> bool:
    return cls in (memoryview, array) and not rest


def _buffer(cls: type, *rest: type) -> bool:
    return cls in (memoryview, array, np.ndarray)


def _view(cls: type, *rest: type) -> bool:
    return cls is memoryview


_ATTRIBUTES = (
    "shape", "format", "nbytes", "ndim", "itemsize", "strides", "suboffsets", "readonly", "c_contiguous",
    "f_contiguous", "contiguous",
)  # fmt: skip
_ITERATOR: type = type(iter(memoryview(b"")))

ROWS: list[Rule] = [
    Primitive(memoryview, frule=_memoryview_frule, rrule=_memoryview_rrule, when=_buffer),
    *(
        Primitive(f, frule=_asarray_frule, rrule=_asarray_rrule, when=_only_buffer)
        for f in (np.asarray, np.asanyarray)
    ),
    *(Overlay(f, _array, when=_only_buffer) for f in (np.array, np.copy)),
    Primitive(
        np.frombuffer, frule=_frombuffer_frule, rrule=_frombuffer_rrule, when=_buffer, parameters=("buffer",)
    ),
    Primitive(operator.getitem, frule=_getitem_frule, rrule=_getitem_rrule, when=_view),
    converting(Primitive(operator.setitem, frule=_setitem_frule, rrule=_setitem_rrule, when=_view), 2),
    Primitive(memoryview.tolist, frule=_tolist_frule, rrule=_tolist_rrule),
    Primitive(memoryview.__enter__, frule=_same_frule, rrule=_same_rrule),
    *(ZeroRule(f) for f in (memoryview.release, memoryview.__exit__)),
    *(
        Primitive(f, frule=iter_frule, rrule=iter_rrule, when=_view)
        for f in (intrinsics._iter_, builtins.iter)
    ),
    Primitive(intrinsics._next_, frule=_next_frule, rrule=next_rrule, when=lambda cls: cls is _ITERATOR),
    *(AttributeRule(memoryview, name) for name in _ATTRIBUTES),
    ZeroRule(builtins.len, when=_view, result=int),
    *(ZeroRule(getattr(operator, n), when=lambda *cs: memoryview in cs, result=bool) for n in ("eq", "ne")),
]
