"""``yield`` and ``yield from``.

A suspension is an operation like any other: it takes the value that is handed out and gives what is
sent in.  ``yield from`` is the loop that the bytecode spells out: send to the inner iterator, hand out
what it gives, until it has finished; its suspension knows the inner iterator, because an exception
thrown in goes there.
"""

from __future__ import annotations

from typing import Any

from adbc.ir.terminators import Unreachable
from adbc.lift.frame import NULL, Frame

__all__ = ["HANDLERS"]


def _yield(frame: Frame, _: None) -> None:
    frame.push(frame.emit("yield", frame.pop()))


def _yield_from(frame: Frame, _: None) -> None:
    # The handler for what is thrown in finds the value still on the stack.
    value = frame.stack[-1]
    iterator = frame.stack[-3] if frame.stack[-2] is NULL else frame.stack[-2]
    sent = frame.emit("yield_from", value, iterator)
    frame.pop()
    frame.push(sent)


def _send(frame: Frame, target: int, *, keeps_iterator: bool = False) -> None:
    sent = frame.pop()
    pair = [*frame.stack[-2:]] if frame.stack[-1] is NULL else [frame.stack[-1]]
    answer = frame.emit("send", pair[0], sent)
    finished = frame.emit("bool", frame.emit("project", answer, attribute=0))
    value = frame.emit("project", answer, attribute=1)
    below = frame.stack[: len(frame.stack) - len(pair)]
    frame.branch(
        finished,
        target,
        frame.index + 1,
        true_stack=[*below, *(pair if keeps_iterator else ()), value],
        false_stack=[*below, *pair, value],
    )


def _send_pair(frame: Frame, target: int) -> None:
    _send(frame, target, keeps_iterator=True)


def _end_send(frame: Frame, _: None) -> None:
    value = frame.pop()
    if frame.pop() is NULL:
        frame.pop()
    frame.push(value)


def _cleanup_throw(frame: Frame, _: None) -> None:
    # An inner iterator that finishes when an exception is thrown into it has been dealt with where it
    # was sent to: what arrives here goes on.
    frame.emit("reraise", frame.pop())
    frame.block.terminator = Unreachable(frame.builder.position)


HANDLERS: dict[str, Any] = {
    "yield": _yield,
    "yield_from": _yield_from,
    "send": _send,
    "send_pair": _send_pair,
    "end_send": _end_send,
    "cleanup_throw": _cleanup_throw,
}
