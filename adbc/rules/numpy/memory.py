"""What arrays say of their memory: whose it is, and whether it may be written."""

from __future__ import annotations

import mmap
import sys
from typing import Any

import numpy as np

from adbc.errors import UnsupportedError
from adbc.rules.kinds import RowKind
from adbc.rules.numpy.indexing import mutating
from adbc.rules.table import NO_KWARGS, Args, Kwargs, Primitive, Pullback, Rule, ZeroRule
from adbc.tangents import NO_TANGENT
from adbc.tangents.array_memory import address_of, extent, flat_bytes, ultimate_owner

__all__ = ["ROWS"]


def _base_shadow(x: Any, shadow: Any) -> Any:
    """The shadow of ``x.base``, where `x` has `shadow`: the same part of the memory that this lies in."""
    base, f = x.base, shadow
    if f is None or f is NO_TANGENT or base is None or isinstance(base, (bytes, mmap.mmap)):
        return None
    if getattr(f, "is_batch", False) and type(base) is np.ndarray and base.dtype.kind in "fc":
        return f.under(x, base)
    owner, twin = ultimate_owner(x), ultimate_owner(f)
    if type(base) is np.ndarray and isinstance(owner, np.ndarray) and isinstance(twin, np.ndarray):
        (low, high), (start, stop) = extent(owner), extent(twin)
        if stop - start == high - low and address_of(f) - start == address_of(x) - low:
            if base.dtype.kind not in "fc":
                return None
            return np.ndarray(base.shape, base.dtype, flat_bytes(twin), address_of(base) - low, base.strides)
    raise UnsupportedError(
        f"the base of an array that has a derivative, a {type(base).__name__}, is asked for",
        "the memory of its derivative has another layout",
        "keep the array itself under a name of its own",
    )


def _base_frule(args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
    return args[0].base, _base_shadow(args[0], dargs[0])


def _base_rrule(args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any, Pullback]:
    return args[0].base, _base_shadow(args[0], fargs[0]), lambda bout: (None,)


def _setflags_frule(args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
    np.ndarray.setflags(*args, **kwargs)
    return None, None


def _setflags_rrule(args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any, Pullback]:
    flags = args[0].flags
    old = flags.writeable, flags.aligned
    np.ndarray.setflags(*args, **kwargs)

    def setflags_pullback(bout: Any) -> Any:
        args[0].setflags(write=old[0], align=old[1])
        return (None,) * len(args)

    return None, None, setflags_pullback


_FLAGS: Any = type(np.zeros(0).flags)
_SET_WRITEABLE: Any = vars(_FLAGS)["writeable"].__set__


def _writeable_frule(args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
    _SET_WRITEABLE(*args)
    return None, None


def _writeable_rrule(args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any, Pullback]:
    flags = args[0]
    old = flags.writeable
    _SET_WRITEABLE(*args)

    def writeable_pullback(bout: Any) -> Any:
        _SET_WRITEABLE(flags, old)
        return None, None

    return None, None, writeable_pullback


class _ByAddress(Rule):
    """The row of a function that finds memory of shadows: where it is differentiated itself, what it gives
    has its derivative by its address."""

    kind = RowKind.PRIMITIVE
    is_apart = True


def _is_array(cls: type, *rest: type) -> bool:
    return issubclass(cls, np.ndarray)


def _is_plain_array(cls: type, *rest: type) -> bool:
    """Whether `cls` is NumPy's own: new instances of subclasses are made as views here, and have a base."""
    return cls is np.ndarray


ROWS: list[Rule] = [
    _ByAddress(_base_shadow),
    Primitive(np.ndarray.base, frule=_base_frule, rrule=_base_rrule, when=_is_plain_array),
    mutating(Primitive(np.ndarray.setflags, frule=_setflags_frule, rrule=_setflags_rrule, when=_is_array)),
    mutating(Primitive(_SET_WRITEABLE, frule=_writeable_frule, rrule=_writeable_rrule)),
    ZeroRule(sys.getsizeof, when=_is_array, result=int),
]
