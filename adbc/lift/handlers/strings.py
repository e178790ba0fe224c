"""Formatted strings."""

from __future__ import annotations

from typing import Any

from adbc.ir.graph import Const
from adbc.lift.frame import Frame

__all__ = ["HANDLERS"]


def _format(frame: Frame, field: tuple[int, bool]) -> None:
    conversion, has_spec = field
    spec = frame.pop() if has_spec else Const("")
    frame.push(frame.emit("format", frame.pop(), spec, attribute=conversion))


def _convert(frame: Frame, conversion: int) -> None:
    # The result is a string, which formats to itself.
    frame.push(frame.emit("format", frame.pop(), Const(""), attribute=conversion))


def _build_string(frame: Frame, n: int) -> None:
    frame.push(frame.emit("build_string", *frame.pop_many(n)))


HANDLERS: dict[str, Any] = {
    "format": _format,
    "convert": _convert,
    "build_string": _build_string,
}
