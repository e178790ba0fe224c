"""Structural patterns, and the type parameters that CPython makes by numbered intrinsics."""

from __future__ import annotations

from typing import Any

from adbc.lift.frame import Frame

__all__ = ["HANDLERS"]


def _get_len(frame: Frame, _: None) -> None:
    frame.push(frame.emit("get_len", frame.stack[-1]))


def _match_test(frame: Frame, op: str) -> None:
    frame.push(frame.emit(op, frame.stack[-1]))


def _match_keys(frame: Frame, _: None) -> None:
    frame.push(frame.emit("match_keys", *frame.stack[-2:]))


def _match_class(frame: Frame, count: int) -> None:
    frame.push(frame.emit("match_class", *frame.pop_many(3), attribute=count))


def _intrinsic_1(frame: Frame, number: int) -> None:
    frame.push(frame.emit("intrinsic_1", frame.pop(), attribute=number))


def _intrinsic_2(frame: Frame, number: int) -> None:
    frame.push(frame.emit("intrinsic_2", *frame.pop_many(2), attribute=number))


HANDLERS: dict[str, Any] = {
    "get_len": _get_len,
    "match_test": _match_test,
    "match_keys": _match_keys,
    "match_class": _match_class,
    "intrinsic_1": _intrinsic_1,
    "intrinsic_2": _intrinsic_2,
}
