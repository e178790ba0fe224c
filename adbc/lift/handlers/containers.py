"""Displays, what grows them, and unpacking.

The instructions that grow a container change an object that lies deeper in the stack.  The graph
says so by an operation with an effect on that object; its value stays the same.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from adbc.ir.values import Const, Instruction, Value
from adbc.lift.frame import Frame

__all__ = ["HANDLERS"]


def _build(op: str, size: int = 1) -> Callable[[Frame, int], None]:
    """A handler that makes a display of n entries of `size` values each."""

    def build(frame: Frame, n: int) -> None:
        frame.push(frame.emit(op, *frame.pop_many(size * n)))

    return build


def _grow(op: str, size: int = 1) -> Callable[[Frame, int], None]:
    """A handler that puts `size` values into the container at a depth of the stack, counted without the
    values."""

    def grow(frame: Frame, depth: int) -> None:
        values = frame.pop_many(size)
        frame.emit(op, frame.stack[-depth], *values)

    return grow


def _build_const_key_map(frame: Frame, n: int) -> None:
    keys = frame.pop()
    assert isinstance(keys, Const) and isinstance(keys.value, tuple), keys
    values = frame.pop_many(n)
    pairs = [x for key, value in zip(keys.value, values, strict=True) for x in (Const(key), value)]
    frame.push(frame.emit("build_map", *pairs))


def _unpack(frame: Frame, n: int) -> None:
    values = frame.emit("unpack", frame.pop(), attribute=n)
    for i in reversed(range(n)):
        frame.push(frame.emit("project", values, attribute=i))


def _unpack_ex(frame: Frame, counts: tuple[int, int]) -> None:
    values = frame.emit("unpack_ex", frame.pop(), attribute=counts)
    for i in reversed(range(sum(counts) + 1)):
        frame.push(frame.emit("project", values, attribute=i))


def _list_extend(frame: Frame, depth: int) -> None:
    """A display of constants is an empty list that a tuple extends: here it is a display like others."""
    values = frame.pop()
    target: Value = frame.stack[-depth]
    if not isinstance(values, Const) or type(values.value) is not tuple or len(values.value) > _SHORT:
        frame.emit("list_extend", target, values)
    elif frame.block.instructions[-1:] == [target] and _is_empty_list(target):
        frame.block.instructions[-1].operands = list(map(Const, values.value))
    else:
        frame.emit("list_extend", target, values)


def _is_empty_list(value: Value) -> bool:
    return isinstance(value, Instruction) and value.op == "build_list" and not value.operands


_SHORT = 30
"""Displays of more constants stay as they are."""

HANDLERS: dict[str, Any] = {
    "build_tuple": _build("build_tuple"),
    "build_list": _build("build_list"),
    "build_set": _build("build_set"),
    "build_map": _build("build_map", 2),
    "build_const_key_map": _build_const_key_map,
    "list_append": _grow("list_append"),
    "list_extend": _list_extend,
    "set_add": _grow("set_add"),
    "set_update": _grow("set_update"),
    "map_add": _grow("map_add", 2),
    "dict_update": _grow("dict_update"),
    "unpack": _unpack,
    "unpack_ex": _unpack_ex,
}
