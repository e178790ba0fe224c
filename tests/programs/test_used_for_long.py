"""What a program that runs for long relies on: what is public is there from the start, arguments are let go
of, and an exception of the user's leaves what it leaves in a plain call."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adbc
from adbc.config import SPECULATION


class Box:
    def __init__(self, value: Any) -> None:
        self.value = value


@pytest.mark.parametrize(("module", "name"), [("testing", "test_rule"), ("inspect", "show")])
def test_public_modules_are_attributes_at_once(
    module: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are found when they are asked for, whether somebody has imported them or not."""
    monkeypatch.delattr(adbc, module, raising=False)
    assert callable(getattr(getattr(adbc, module), name))


def reverse(f: Callable[[Any], Any], x: Any) -> Any:
    return adbc.grad(f)(x)


def forward(f: Callable[[Any], Any], x: Any) -> Any:
    return adbc.jvp(f, (x,), (adbc.zero_tangent(x),))


MAKE: dict[str, tuple[Callable[[], Any], Callable[[Any], Any]]] = {
    "array": (lambda: np.arange(3.0), lambda v: (v * v).sum()),
    "object": (lambda: Box(2.0), lambda b: b.value**2),
    "written_to": (lambda: Box(np.arange(3.0)), lambda b: (b.value.__imul__(2.0) ** 2).sum()),
}


@pytest.mark.parametrize("mode", [reverse, forward])
@pytest.mark.parametrize("name", MAKE)
def test_arguments_are_let_go_of(name: str, mode: Callable[..., Any]) -> None:
    make, f = MAKE[name]
    for _ in range(3):
        x = make()
        seen = weakref.ref(x)
        mode(f, x)
        del x
        gc.collect()
        assert seen() is None


def fails(boxes: Any) -> Any:
    boxes[0].value = boxes[0].value * 2.0
    boxes.append(Box(boxes[0].value))
    boxes[1][:] = boxes[1] * 3.0
    return boxes[5].value


@pytest.mark.parametrize("speculation", SPECULATION)
@pytest.mark.parametrize("mode", [reverse, forward])
def test_an_exception_leaves_what_it_leaves_in_a_plain_call(
    speculation: str, mode: Callable[..., Any]
) -> None:
    with adbc.use(adbc.Config(speculation=speculation)):
        for _ in range(3):
            boxes: list[Any] = [Box(1.5), np.arange(2.0)]
            with pytest.raises(IndexError, match="^list index out of range$"):
                mode(fails, boxes)
            assert [boxes[0].value, *boxes[1], boxes[2].value] == [3.0, 0.0, 3.0, 3.0]
            assert len(boxes) == 3
