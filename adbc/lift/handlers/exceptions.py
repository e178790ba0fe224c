"""``try`` and ``with``: what the interpreter does when an exception has arrived in a handler.

What is being handled is state of the thread, which the operations here change as the bytecode does.
The value of `push_exc_info` is what was handled before, and `pop_except` takes it back.
"""

from __future__ import annotations

from typing import Any

from adbc.ir.terminators import Unreachable
from adbc.ir.values import Const
from adbc.lift.frame import NULL, Frame

__all__ = ["HANDLERS"]


def _push_exc_info(frame: Frame, _: None) -> None:
    exception = frame.pop()
    frame.push(frame.emit("push_exc_info", exception))
    frame.push(exception)


def _pop_except(frame: Frame, _: None) -> None:
    frame.emit("pop_except", frame.pop())


def _reraise(frame: Frame, _: int) -> None:
    # The number of the instruction that raised first, deeper in the stack, only sets the line of the
    # dead frame; the line in the traceback was written down when the exception was raised.
    exception = frame.pop()
    frame.release_raising()
    frame.emit("reraise", exception)
    frame.block.terminator = Unreachable(frame.builder.position)


def _check_exc_match(frame: Frame, _: None) -> None:
    kind = frame.pop()
    frame.push(frame.emit("check_exc_match", frame.stack[-1], kind))


def _check_eg_match(frame: Frame, _: None) -> None:
    both = frame.emit("check_eg_match", *frame.pop_many(2))
    frame.push(frame.emit("project", both, attribute=0))
    frame.push(frame.emit("project", both, attribute=1))


def _prep_reraise_star(frame: Frame, _: None) -> None:
    frame.push(frame.emit("prep_reraise_star", *frame.pop_many(2)))


def _before_with(frame: Frame, _: None) -> None:
    manager = frame.pop()
    enter = frame.emit("load_special", manager, attribute="__enter__")
    leave = frame.emit("load_special", manager, attribute="__exit__")
    frame.push(leave)
    frame.push(frame.call(enter))


def _load_special(frame: Frame, name: str) -> None:
    frame.push(frame.emit("load_special", frame.pop(), attribute=name))
    frame.push(NULL)


def _with_except_start(frame: Frame, _: None) -> None:
    exception = frame.stack[-1]
    kind = frame.call(Const(type), exception)
    traceback = frame.emit("getattr", exception, attribute="__traceback__")
    # From 3.14 the function is followed by a slot for a receiver, which is empty.
    leave = frame.stack[-5] if frame.stack[-4] is NULL else frame.stack[-4]
    frame.push(frame.call(leave, kind, exception, traceback))


HANDLERS: dict[str, Any] = {
    "push_exc_info": _push_exc_info,
    "pop_except": _pop_except,
    "reraise": _reraise,
    "check_exc_match": _check_exc_match,
    "check_eg_match": _check_eg_match,
    "prep_reraise_star": _prep_reraise_star,
    "before_with": _before_with,
    "load_special": _load_special,
    "with_except_start": _with_except_start,
}
