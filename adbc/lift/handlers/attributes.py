"""Attribute access, and `super` where an instruction stands for its call."""

from __future__ import annotations

from typing import Any

from adbc.lift.frame import Frame
from adbc.lift.handlers.names import LOOKS_OF_MODULES

__all__ = ["HANDLERS"]


def _attribute(frame: Frame, name: str) -> None:
    owner = frame.pop()
    value = frame.emit("getattr", owner, attribute=name)
    for (module, function), construct in LOOKS_OF_MODULES.items():
        if name == function and frame.is_module(owner, module):
            frame.look(value, construct)
    frame.push(value)


def _store_attribute(frame: Frame, name: str) -> None:
    value, owner = frame.pop_many(2)
    frame.emit("setattr", owner, value, attribute=name)


def _delete_attribute(frame: Frame, name: str) -> None:
    frame.emit("delattr", frame.pop(), attribute=name)


def _super(frame: Frame, _: None) -> None:
    # The compiler has put the class and the first argument there, also for `super()`.
    function, cls, instance = frame.pop_many(3)
    frame.push(frame.emit("call", function, cls, instance))


HANDLERS: dict[str, Any] = {
    "attribute": _attribute,
    "store_attribute": _store_attribute,
    "delete_attribute": _delete_attribute,
    "super": _super,
}
