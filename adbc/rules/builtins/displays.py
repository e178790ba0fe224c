"""Objects made by syntax: list, tuple, dict and set displays, slices.

One row, since the kind of object is the first argument and no row can be chosen by a value.  The
kinds it knows are `NEW_KINDS`; `_new_` of any other class is a call of the class, which the runtime
follows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from adbc.errors import UnsupportedError
from adbc.ir import intrinsics
from adbc.rules.builtins.tuples import tuple_shadow, tuple_tangent
from adbc.rules.classes import stands_for_position
from adbc.rules.table import NO_KWARGS, Args, Kwargs, Primitive, Pullback, Rule
from adbc.tangents import NO_TANGENT, FData, Tangent, fill_tangent, slot_rdata, slot_tangent
from adbc.tangents.keys import keep_key

__all__ = ["NEW", "NEW_KINDS", "ROWS"]

NEW_KINDS: tuple[type, ...] = (list, tuple, dict, set, slice)


def _keep_keys(kind: type, parts: Sequence[Any], derivatives: Sequence[Any]) -> list[Any]:
    """What comes back to the keys or elements among the `parts` of a new object, for each part."""
    if kind is dict:
        given = zip(parts, derivatives, strict=True)
        return [None if i % 2 else keep_key(k, f, "the key of a dict") for i, (k, f) in enumerate(given)]
    if kind is set:
        return [keep_key(x, f, "an element of a set") for x, f in zip(parts, derivatives, strict=True)]
    if kind is not slice:
        raise AssertionError(f"_new_ of {kind.__name__} is a call of the class")
    return [None] * len(parts)


def _new_frule(args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
    kind, parts, tangents = args[0], args[1:], dargs[1:]
    if kind is list:
        return list(parts), [fill_tangent(x, d) for x, d in zip(parts, tangents, strict=True)]
    if kind is tuple:
        return tuple(parts), tuple_tangent(parts, tangents)
    _keep_keys(kind, parts, tangents)
    out = intrinsics._new_(kind, *parts)
    if kind is dict:
        dout: dict[Any, Any] = {}
        for k, v, d in zip(parts[::2], parts[1::2], tangents[1::2], strict=True):
            dout[k] = fill_tangent(v, d)
        return out, dout
    if kind is slice and any(d is not None for d in tangents):
        return out, Tangent(**dict(zip(_BOUNDS, map(fill_tangent, *_bounds(out, tangents)), strict=True)))
    return out, None


def _new_rrule(args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> Any:
    kind, parts, shadows = args[0], args[1:], fargs[1:]
    if kind is list:
        return _new_list(parts, shadows)
    if kind is tuple:
        return _new_tuple(parts, shadows)
    lost = _keep_keys(kind, parts, shadows)
    if kind is dict:
        return _new_dict(parts, shadows, lost)
    if kind is slice and any(f is not None for f in shadows):
        return _new_slice(parts, shadows)
    return intrinsics._new_(kind, *parts), None, lambda bout: (None, *lost)


def _new_list(parts: Sequence[Any], shadows: Sequence[Any]) -> Any:
    if _FLOATS.issuperset(map(type, parts)):
        return _new_list_of_floats(parts, shadows)
    fout = [slot_tangent(x, f) for x, f in zip(parts, shadows, strict=True)]

    def list_pullback(bout: Any) -> Sequence[Any]:
        return (None, *[None if f is None else slot_rdata(t) for t, f in zip(fout, shadows, strict=True)])

    return list(parts), fout, list_pullback


_FLOATS = frozenset({float})


def _new_list_of_floats(parts: Sequence[Any], shadows: Sequence[Any]) -> Any:
    fout = [0.0] * len(parts)
    are_active = None not in shadows

    def list_pullback(bout: Any) -> Sequence[Any]:
        if are_active:
            return (None, *fout)
        return (None, *[None if f is None else t for t, f in zip(fout, shadows, strict=True)])

    return list(parts), fout, list_pullback


def _new_tuple(parts: Sequence[Any], shadows: Sequence[Any]) -> Any:
    def tuple_pullback(bout: Any) -> Sequence[Any]:
        return (None, *(bout or (None,) * len(parts)))

    return tuple(parts), tuple_shadow(shadows), tuple_pullback


_BOUNDS = ("start", "stop", "step")


def _bounds(made: slice, derivatives: Sequence[Any]) -> tuple[Sequence[Any], Sequence[Any]]:
    """The three bounds of the slice `made`, and their derivatives."""
    return (made.start, made.stop, made.step), (*derivatives, None)[:3]


def _new_slice(parts: Sequence[Any], shadows: Sequence[Any]) -> Any:
    out = slice(*parts)

    def slice_pullback(bout: Any) -> Sequence[Any]:
        if bout is None:
            return (None,) * (len(parts) + 1)
        return (None, *[bout.__dict__.get(name) for name in _BOUNDS[: len(parts)]])

    return out, FData(**dict(zip(_BOUNDS, _bounds(out, shadows)[1], strict=True))), slice_pullback


def _new_dict(parts: Sequence[Any], shadows: Sequence[Any], lost: Sequence[Any]) -> Any:
    out, fout, last = {}, {}, {}
    for i in range(0, len(parts), 2):
        k, v = parts[i], parts[i + 1]
        out[k] = v
        fout[k] = slot_tangent(v, shadows[i + 1])
        last[k] = i + 1  # of equal keys the last one's value stays

    def dict_pullback(bout: Any) -> Sequence[Any]:
        result = [None, *lost]
        for k, i in last.items():
            if shadows[i] is not None:
                result[i + 1] = slot_rdata(fout[k])
        return result

    return out, fout, dict_pullback


def _no_positions(*classes: type) -> bool:
    return not any(map(stands_for_position, classes))


NEW = Primitive(intrinsics._new_, frule=_new_frule, rrule=_new_rrule, is_fitted=True, when=_no_positions)
"""The row of `_new_`; a slice with a bound that has a method ``__index__`` in Python is made another way."""


def _note_frule(args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
    _refuse_noted(args, dargs)
    return keep_key(*args), None


def _note_rrule(args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any, Pullback]:
    _refuse_noted(args, fargs)
    return keep_key(*args), None, lambda bout: (None,) * len(args)


def _refuse_noted(args: Args, derivatives: Args) -> None:
    """Raise if note is to be taken of an object with a derivative, where that is differentiated itself: the
    memory of the call inside, which is told, belongs to no program."""
    if derivatives[1] is not None and derivatives[1] is not NO_TANGENT:
        raise UnsupportedError(
            f"a derivative is taken inside a function that is being differentiated, and a "
            f"{type(args[0]).__name__} with a derivative becomes {args[2]}",
            "the derivatives of keys are not followed through two derivatives",
            "use a number or a text that says which object it is, and keep the object beside it",
        )


ROWS: list[Rule] = [NEW, Primitive(keep_key, frule=_note_frule, rrule=_note_rrule)]
