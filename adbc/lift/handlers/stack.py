"""Constants and shuffles: nothing here emits an instruction."""

from __future__ import annotations

from typing import Any

from adbc.ir.values import Const
from adbc.lift.frame import NULL, Frame

__all__ = ["HANDLERS"]


def _const(frame: Frame, value: object) -> None:
    frame.push(Const(value))


def _null(frame: Frame, _: None) -> None:
    frame.push(NULL)


def _pop(frame: Frame, _: None) -> None:
    frame.release(frame.pop())


def _copy(frame: Frame, n: int) -> None:
    frame.push(frame.stack[-n])


def _swap(frame: Frame, n: int) -> None:
    stack = frame.stack
    stack[-1], stack[-n] = stack[-n], stack[-1]


HANDLERS: dict[str, Any] = {
    "const": _const,
    "null": _null,
    "pop": _pop,
    "copy": _copy,
    "swap": _swap,
}
