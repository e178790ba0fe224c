"""Jumps, return, raise, and the end of everything that is refused."""

from __future__ import annotations

from typing import Any

from adbc.lift.frame import Frame

__all__ = ["HANDLERS"]


def _jump(frame: Frame, target: int) -> None:
    frame.goto(target)


def _branch_true(frame: Frame, target: int) -> None:
    condition = frame.pop()
    frame.branch(condition, target, frame.index + 1, true_stack=frame.stack, false_stack=frame.stack)


def _branch_false(frame: Frame, target: int) -> None:
    condition = frame.pop()
    frame.branch(condition, frame.index + 1, target, true_stack=frame.stack, false_stack=frame.stack)


def _return(frame: Frame, _: None) -> None:
    value = frame.pop()
    frame.release_slots()
    frame.builder.ret(value)


def _raise(frame: Frame, n: int) -> None:
    operands = frame.pop_many(n)
    frame.release_raising()
    frame.before_raising()
    if frame.region is not None and frame.block.instructions:
        frame.fresh_block()  # what stands last in a protected block is not seen by its handler
    frame.builder.raise_(*operands)
    frame.raises()


def _refuse(frame: Frame, construct: str) -> None:
    raise frame.refusal(construct)


HANDLERS: dict[str, Any] = {
    "jump": _jump,
    "branch_true": _branch_true,
    "branch_false": _branch_false,
    "return": _return,
    "raise": _raise,
    "refuse": _refuse,
}
