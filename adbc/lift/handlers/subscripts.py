"""Subscript stores and slices; a subscript load is a row of `arithmetic`."""

from __future__ import annotations

from typing import Any

from adbc.lift.frame import Frame

__all__ = ["HANDLERS"]


def _store_subscript(frame: Frame, _: None) -> None:
    value, container, index = frame.pop_many(3)
    frame.emit("setitem", container, index, value)


def _delete_subscript(frame: Frame, _: None) -> None:
    frame.emit("delitem", *frame.pop_many(2))


def _build_slice(frame: Frame, n: int) -> None:
    frame.push(frame.emit("build_slice", *frame.pop_many(n)))


HANDLERS: dict[str, Any] = {
    "store_subscript": _store_subscript,
    "delete_subscript": _delete_subscript,
    "build_slice": _build_slice,
}
