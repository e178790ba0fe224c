"""Cells, and the check of a local variable.

The shadow of a cell is a `MutableTangent` whose field ``cell_contents`` is absent while the cell is
empty.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import CellType
from typing import Any

from adbc.ir import intrinsics
from adbc.rules.sequences import check_constant, emptied, nothing, symbolic
from adbc.rules.table import NO_KWARGS, Args, Kwargs, Overlay, Primitive, Rule
from adbc.tangents import MutableTangent, fill_tangent, slot_increment, slot_rdata, slot_shadow, slot_tangent

__all__ = ["ROWS"]


def _check_frule(args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
    return intrinsics._check_(*args), dargs[0]


def _check_rrule(args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> Any:
    return intrinsics._check_(*args), fargs[0], lambda bout: (bout, None)


def _holds(contents: Args) -> bool:
    return bool(contents) and contents[0] is not intrinsics.UNBOUND


def _new_frule(args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
    cell = intrinsics._cell_new_(*args)
    return cell, MutableTangent(cell_contents=fill_tangent(args[0], dargs[0])) if _holds(
        args
    ) else MutableTangent()


def _new_rrule(args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> Any:
    cell = intrinsics._cell_new_(*args)
    if not _holds(args):
        return cell, MutableTangent(), nothing(len(args))
    fcell: Any = MutableTangent(cell_contents=slot_tangent(args[0], fargs[0]))

    def cell_pullback(bout: Any) -> Sequence[Any]:
        return (None if fargs[0] is None else slot_rdata(fcell.cell_contents),)

    return cell, fcell, cell_pullback


def _get_frule(args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
    out = intrinsics._cell_get_(*args)
    return out, None if dargs[0] is None else symbolic(dargs[0].cell_contents)


def _get_rrule(args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> Any:
    out = intrinsics._cell_get_(*args)
    fcell = fargs[0]
    if fcell is None:
        return out, None, nothing(3)

    def cell_get_pullback(bout: Any) -> Sequence[Any]:
        if bout is not None:
            fcell.cell_contents = slot_increment(fcell.cell_contents, bout)
        return None, None, None

    return out, slot_shadow(fcell.cell_contents), cell_get_pullback


def _peek_frule(args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
    out = intrinsics._cell_peek_(*args)
    return (out, None) if out is intrinsics.UNBOUND else _get_frule((*args, "", True), dargs)


def _peek_rrule(args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> Any:
    if intrinsics._cell_peek_(*args) is intrinsics.UNBOUND:
        return intrinsics.UNBOUND, None, nothing(1)
    out, fout, pullback = _get_rrule((*args, "", True), fargs)
    return out, fout, lambda bout: pullback(bout)[:1]


_EMPTY = object()


def _contents(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        return _EMPTY


def _put_back(cell: Any, fcell: Any, old: Any, before: Any) -> None:
    if old is _EMPTY:
        del cell.cell_contents
        if fcell is not None:
            del fcell.cell_contents
    else:
        cell.cell_contents = old
        if fcell is not None:
            fcell.cell_contents = emptied(old, before)


def _set_frule(args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
    cell, value = args
    dcell, dvalue = dargs
    check_constant(cell, dcell, dvalue)
    cell.cell_contents = value
    if dcell is not None:
        dcell.cell_contents = fill_tangent(value, dvalue)
    return None, None


def _set_rrule(args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> Any:
    cell, value = args
    fcell, fvalue = fargs
    check_constant(cell, fcell, fvalue)
    old, before = _contents(cell), getattr(fcell, "cell_contents", None)
    cell.cell_contents = value
    if fcell is not None and not (type(old) is float and type(value) is float):
        fcell.cell_contents = slot_tangent(value, fvalue)

    def cell_set_pullback(bout: Any) -> Sequence[Any]:
        bvalue = None if fcell is None or fvalue is None else slot_rdata(fcell.cell_contents)
        _put_back(cell, fcell, old, before)
        return None, bvalue

    return None, None, cell_set_pullback


_CONTENTS: Any = CellType.cell_contents


def _read_frule(args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
    out = args[0].cell_contents  # who reads it like this is told of an empty cell by a ValueError
    return out, None if dargs[0] is None else symbolic(dargs[0].cell_contents)


def _read_rrule(args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> Any:
    if _contents(args[0]) is _EMPTY:
        return args[0].cell_contents, None, nothing(1)  # which raises
    out, fout, pullback = _get_rrule((args[0], "cell_contents", False), (fargs[0], None, None))
    return out, fout, lambda bout: pullback(bout)[:1]


def _del_frule(args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
    intrinsics._cell_del_(*args)
    if dargs[0] is not None:
        del dargs[0].cell_contents
    return None, None


def _del_rrule(args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> Any:
    cell, fcell = args[0], fargs[0]
    old, before = _contents(cell), getattr(fcell, "cell_contents", None)
    intrinsics._cell_del_(*args)
    if fcell is not None:
        del fcell.cell_contents

    def cell_del_pullback(bout: Any) -> Sequence[Any]:
        _put_back(cell, fcell, old, before)
        return None, None, None

    return None, None, cell_del_pullback


def variables(names: Any, *values: Any) -> dict[str, Any]:
    """``locals()``, of the names and values that `intrinsics._variables_` is given."""
    found = {}
    for (name, is_cell), value in zip(names, values, strict=True):
        if is_cell:
            try:
                value = intrinsics._cell_get_(value, name, False)
            except NameError:
                continue
        if value is not intrinsics.UNBOUND:
            found[name] = value
    return found


ROWS: list[Rule] = [
    Overlay(intrinsics._variables_, variables),
    Primitive(intrinsics._check_, frule=_check_frule, rrule=_check_rrule, is_fitted=True),
    Primitive(intrinsics._cell_new_, frule=_new_frule, rrule=_new_rrule, is_fitted=True),
    Primitive(intrinsics._cell_get_, frule=_get_frule, rrule=_get_rrule, is_fitted=True),
    Primitive(intrinsics._cell_peek_, frule=_peek_frule, rrule=_peek_rrule, is_fitted=True),
    Primitive(intrinsics._cell_set_, frule=_set_frule, rrule=_set_rrule, is_fitted=True),
    Primitive(_CONTENTS, frule=_read_frule, rrule=_read_rrule, is_fitted=True),
    Primitive(_CONTENTS.__set__, frule=_set_frule, rrule=_set_rrule, is_fitted=True),
    Primitive(intrinsics._cell_del_, frule=_del_frule, rrule=_del_rrule, is_fitted=True),
]
