"""Frozen dataclasses whose constructor is replaced: they no longer hold what they are given."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from typing import Any

import pytest

import adbc


def twice(self: Any, w: Any, v: Any = 1) -> None:
    object.__setattr__(self, "w", w * 2)
    object.__setattr__(self, "v", v)


def another(cls: Any, *args: Any, **named: Any) -> Any:
    return object.__new__(cls)


def make_class() -> Any:
    @dataclasses.dataclass(frozen=True)
    class Frozen:
        w: float
        v: object = 0.5

    return Frozen


WAYS: dict[str, Callable[[Any], Any]] = {
    "called": lambda cls: lambda x: cls(x).w * x,
    "by name": lambda cls: lambda x: cls(w=x).w * x,
    "class of an instance": lambda cls: functools.partial(lambda o, x: type(o)(x).w * x, cls(1.0)),
    "replaced": lambda cls: functools.partial(lambda o, x: dataclasses.replace(o, w=x).w * x, cls(1.0)),
}


def both(f: Any) -> tuple[Any, Any]:
    return adbc.grad(f)(1.5), adbc.jvp(f, (1.5,), (1.0,))[1]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name, method", [("__init__", twice), ("__new__", another)])
def test_a_constructor_that_is_replaced_is_refused(
    way: str, name: str, method: Any, speculation: str
) -> None:
    cls = make_class()
    f = WAYS[way](cls)
    assert both(f) == (3.0, 3.0)
    setattr(cls, name, method)
    for run in (lambda: adbc.grad(f)(1.5), lambda: adbc.jvp(f, (1.5,), (1.0,))):
        with pytest.raises(adbc.errors.UnsupportedError, match="a frozen dataclass, was replaced"):
            run()
    if name == "__init__":
        cls.__init__ = make_class().__init__
        assert both(f) == (3.0, 3.0)


@pytest.mark.parametrize("way", ["called", "by name"])
@pytest.mark.parametrize("warm_after", [0, 2, 40])
def test_a_constructor_that_was_replaced_before_is_followed(way: str, warm_after: int) -> None:
    cls = make_class()
    cls.__init__ = twice
    f = WAYS[way](cls)
    with adbc.use(adbc.Config(warm_after=warm_after)):
        for _ in range(4):
            assert both(f) == (6.0, 6.0)
