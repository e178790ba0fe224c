"""Loops over iterators: ``v = next it; c = exhausted v; branch c exit body``."""

from __future__ import annotations

from typing import Any

from adbc.lift.frame import Frame

__all__ = ["HANDLERS"]


def _for_iter(frame: Frame, target: int) -> None:
    iterator = frame.pop()
    value = frame.emit("next", iterator)
    exhausted = frame.emit("exhausted", value)
    frame.branch(
        exhausted,
        target,
        frame.index + 1,
        true_stack=frame.stack,
        false_stack=[*frame.stack, iterator, value],
    )


HANDLERS: dict[str, Any] = {"for_iter": _for_iter}
