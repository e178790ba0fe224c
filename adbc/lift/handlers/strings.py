"""Formatted strings."""

from __future__ import annotations

import importlib
from typing import Any

from adbc.ir.values import Const, Instruction, Value
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


def _interpolation(frame: Frame, field: tuple[int, bool]) -> None:
    conversion, has_spec = field
    spec = frame.pop() if has_spec else Const("")
    value, text = frame.pop_many(2)
    letter = (None, "s", "r", "a")[conversion]
    frame.push(frame.call(_class("Interpolation"), value, text, Const(letter), spec))


def _template(frame: Frame, _: None) -> None:
    # One string more than interpolations, both displayed by the instructions before: the class takes
    # them by turns.
    strings, display = frame.pop_many(2)
    interpolations: list[Value] = []
    if isinstance(display, Instruction) and display.op == "build_tuple":
        interpolations = display.operands
    texts = strings.value if isinstance(strings, Const) else None
    if not isinstance(texts, tuple) or len(texts) != len(interpolations) + 1:
        raise frame.refusal("internal")
    parts: list[Value] = [Const(texts[0])]
    for interpolation, string in zip(interpolations, texts[1:], strict=True):
        parts += [interpolation, Const(string)]
    frame.push(frame.call(_class("Template"), *parts))


def _class(name: str) -> Const:
    """A class of template strings: imported when first met, because there are none before 3.14."""
    return Const(getattr(importlib.import_module("string.templatelib"), name))


HANDLERS: dict[str, Any] = {
    "format": _format,
    "convert": _convert,
    "build_string": _build_string,
    "interpolation": _interpolation,
    "template": _template,
}
