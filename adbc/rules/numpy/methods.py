"""Rules of the methods of arrays that are not simply a function of the same name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from adbc.errors import UnsupportedError
from adbc.rules.numpy.base import gather_tangent, plain, refuse_opaque
from adbc.rules.numpy.elementwise import conj
from adbc.rules.numpy.object_numbers import is_of_objects, listed
from adbc.rules.numpy.views import ViewRule
from adbc.rules.table import NO_KWARGS, Args, Kwargs, Overlay, Primitive, Pullback, Rule
from adbc.tangents import accumulate, fresh_shadow, fresh_tangent

__all__ = ["ROWS"]


def tolist_frule(args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
    x, dx = args[0], dargs[0]
    if dx is not None and is_of_objects(x):
        return x.tolist(), dx.tolist()
    if dx is not None:
        refuse_opaque(x)
    out = np.asarray(x).tolist()
    if dx is None or np.asarray(x).dtype.kind not in "fc":
        return out, fresh_tangent(out)
    return out, np.asarray(dx).tolist()


def tolist_rrule(args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any, Pullback]:
    x, f = args[0], fargs[0]
    if f is not None and is_of_objects(x):
        objects, fobjects, give = listed(x, f)

        def objects_pullback(bout: Any) -> Sequence[Any]:
            give()
            return (None,)

        return objects, fobjects, objects_pullback
    if f is not None:
        refuse_opaque(x)
    out = np.asarray(x).tolist()
    fout = fresh_shadow(out, active=f is not None)

    def tolist_pullback(bout: Any) -> Sequence[Any]:
        if f is None:
            return (None,)
        by = bout if not isinstance(fout, list) else gather_tangent(out, fout)
        if isinstance(by, np.ndarray):
            by = by.reshape(np.shape(x))  # of axes behind an empty one a list does not know
        return (None if by is None else accumulate(f, x, by),)

    return out, fout, tolist_pullback


def _conjugated(by: Any, x: Any) -> Any:
    return np.conjugate(by)


def conjugate_back(by: Any, out: Any, x: Any) -> Any:
    return conj(by)


class ConjugateRule(ViewRule):
    """The row of a method that conjugates an array, and gives the array itself if its numbers are real."""

    def __init__(self, function: Any) -> None:
        super().__init__(function, back=_conjugated, parameters=("x",), names="x", against=conjugate_back)

    def frule(self, args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
        _refuse_target(args)
        return super().frule(args, dargs, kwargs)

    def rrule(self, args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any, Pullback]:
        _refuse_target(args)
        return super().rrule(args, fargs, kwargs)


def _refuse_target(args: Args) -> None:
    if len(args) > 1:
        raise UnsupportedError(
            "conj or conjugate of an array into another",
            "the derivative of the method is that of a view or of a new array",
            "call the function, which takes a target: np.conjugate(x, out=y)",
        )


def to_device(x: Any, device: Any, /, *, stream: Any = None) -> Any:
    """The body of ``to_device``, to which arrays are on the one device that NumPy has."""
    if stream is not None:
        raise ValueError("The stream argument in to_device() is not supported")
    if device != "cpu":
        raise ValueError(f"Unsupported device: {device}. Only 'cpu' is accepted.")
    return x


def memory_of(x: Any) -> Any:
    """The body of the attribute ``data``."""
    return memoryview(x)


ROWS: list[Rule] = [
    *(Overlay(cls.to_device, to_device) for cls in (np.ndarray, np.generic) if hasattr(cls, "to_device")),
    Overlay(np.ndarray.data, memory_of),
    Primitive(np.ndarray.tolist, frule=tolist_frule, rrule=tolist_rrule, when=plain),
    Primitive(np.generic.tolist, frule=tolist_frule, rrule=tolist_rrule, when=plain),
    ConjugateRule(np.ndarray.conj),
    ConjugateRule(np.ndarray.conjugate),
    ConjugateRule(np.generic.conj),
    ConjugateRule(np.generic.conjugate),
]
