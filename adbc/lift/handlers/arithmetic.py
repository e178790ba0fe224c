"""Operations on one or two values: the decoder has named the operation of the graph already."""

from __future__ import annotations

from typing import Any

from adbc.lift.frame import Frame

__all__ = ["HANDLERS"]


def _binary(frame: Frame, op: str) -> None:
    frame.push(frame.emit(op, *frame.pop_many(2)))


def _unary(frame: Frame, op: str) -> None:
    frame.push(frame.emit(op, frame.pop()))


def _contains(frame: Frame, inverted: int) -> None:
    item, container = frame.pop_many(2)
    frame.push(frame.emit("not_contains" if inverted else "contains", container, item))


HANDLERS: dict[str, Any] = {
    "binary": _binary,
    "unary": _unary,
    "contains": _contains,
}
