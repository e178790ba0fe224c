"""Loops over iterators: ``v = next it; c = exhausted v; branch c exit body``."""

from __future__ import annotations

from typing import Any

from adbc.lift.frame import NULL, Frame

__all__ = ["HANDLERS"]


def _for_iter(frame: Frame, target: int) -> None:
    # From 3.15 the iterator has a second slot, which is always empty here.
    pair = frame.pop_many(2 if frame.stack[-1] is NULL else 1)
    iterator = pair[0]
    value = frame.emit("next", iterator)
    exhausted = frame.emit("exhausted", value)
    known = frame.promised() if frame.promises else None
    if known is not None and not isinstance(known, tuple):
        frame.branch_assuming(exhausted, target, frame.index + 1, known, [*frame.stack, *pair], value)
        return
    frame.branch(
        exhausted,
        target,
        frame.index + 1,
        true_stack=frame.stack,
        false_stack=[*frame.stack, *pair, value],
    )


HANDLERS: dict[str, Any] = {"for_iter": _for_iter}
