"""Cells, and making functions.

A slot holds either a value or a cell; the instructions know which, so this does not need to.
"""

from __future__ import annotations

from typing import Any

from adbc.cpython.decode import Slot
from adbc.ir.intrinsics import UNBOUND
from adbc.ir.values import Const, Instruction, Value
from adbc.lift.frame import Frame

__all__ = ["HANDLERS"]

_PARTS = ("defaults", "kwdefaults", "annotations", "closure")


def _make_cell(frame: Frame, slot: Slot) -> None:
    contents = frame.read(slot)
    empty = isinstance(contents, Const) and contents.value is UNBOUND
    frame.write(slot, frame.emit("cell_new") if empty else frame.emit("cell_new", contents))


def _load_deref(frame: Frame, slot: Slot) -> None:
    frame.push(frame.emit("cell_get", frame.read(slot), attribute=(slot.name, slot.free)))


def _class_deref(frame: Frame, slot: Slot) -> None:
    cell = frame.read(slot)
    frame.push(frame.emit("class_cell", frame.pop(), cell, attribute=(slot.name, slot.free)))


def _store_deref(frame: Frame, slot: Slot) -> None:
    frame.emit("cell_set", frame.read(slot), frame.pop())


def _delete_deref(frame: Frame, slot: Slot) -> None:
    frame.emit("cell_del", frame.read(slot), attribute=(slot.name, slot.free))


def _make_function(frame: Frame, parts: tuple[str, ...]) -> None:
    code = frame.pop()
    given = dict(zip(parts, frame.pop_many(len(parts)), strict=True))
    if "annotations" in given:
        given["annotations"] = _annotations(frame, given["annotations"])
    elif "annotate" in given:  # from 3.14: the function that makes them stands in their place
        given["annotations"] = given["annotate"]
    operands = [given.get(part, Const(None)) for part in _PARTS]
    frame.push(frame.emit("make_function", code, *operands))


def _annotations(frame: Frame, pairs: Value) -> Value:
    """The dict of annotations that a graph holds, for the tuple of alternating names and annotations of
    bytecode."""
    if isinstance(pairs, Instruction) and pairs.op == "build_tuple":
        return frame.emit("build_map", *pairs.operands)
    if isinstance(pairs, Const) and isinstance(pairs.value, tuple):
        return frame.emit("build_map", *(Const(x) for x in pairs.value))
    return pairs


HANDLERS: dict[str, Any] = {
    "make_cell": _make_cell,
    "load_deref": _load_deref,
    "class_deref": _class_deref,
    "store_deref": _store_deref,
    "delete_deref": _delete_deref,
    "make_function": _make_function,
}
