"""Instances whose classes say something else to ``x.__dict__`` than their attributes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import adbc
from adbc.config import SPECULATION
from adbc.tangents.fields import instance_dict, instance_fields

X = 0.75


class Items(dict[str, Any]):
    """A dict whose items are read as attributes."""

    def __getattr__(self, name: str) -> Any:
        try:
            return object.__getattribute__(self, name)
        except AttributeError:
            try:
                return self[name]
            except KeyError:
                raise AttributeError(name) from None

    def __setattr__(self, name: str, value: Any) -> None:
        self[name] = value

    @property
    def __dict__(self) -> Any:  # type: ignore[override]
        return dict(self)


class Slots:
    __slots__ = ("__dict__", "slot")


class Described(Slots):
    """An object that shows a description of itself."""

    def __init__(self, value: Any) -> None:
        self.slot = value
        self.value = value

    @property
    def __dict__(self) -> Any:  # type: ignore[override]
        return {"value": -1.0, "other": 7.0}


class Plain:
    def __init__(self, value: Any) -> None:
        self.value = value

    @property
    def __dict__(self) -> Any:  # type: ignore[override]
        return {"value": -1.0}


ITEMS = Items(a=Items(b=2.0), c=[1.0, 2.0])
DESCRIBED = Described(3.0)
PLAIN = Plain(4.0)


def test_attributes_are_found_past_what_the_class_says() -> None:
    assert instance_dict(ITEMS) == {}
    assert instance_dict(DESCRIBED) == {"value": 3.0}
    assert instance_dict(PLAIN) == {"value": 4.0}
    assert dict(instance_fields(DESCRIBED)) == {"value": 3.0, "slot": 3.0}
    instance_dict(PLAIN)["more"] = 1
    assert PLAIN.more == 1  # type: ignore[attr-defined]
    del PLAIN.more  # type: ignore[attr-defined]


def of_constants(x: float) -> Any:
    return x * ITEMS.a.b + ITEMS.c[1] * x**2 + DESCRIBED.value * DESCRIBED.slot * x + PLAIN.value * x


def of_items(x: float) -> Any:
    made = Items(x=x, y=2.0 * x)
    made.z = made.x * made.y
    return made.z + sum(made.values())


def of_fields(x: float) -> Any:
    made, plain = Described(x), Plain(x * x)
    made.value = made.value * plain.value
    return made.value + made.slot * plain.value


def of_what_it_says(x: float) -> Any:
    return Described(x).__dict__["other"] * x + Items(a=x).__dict__["a"] * x


@pytest.mark.parametrize("speculation", SPECULATION)
@pytest.mark.parametrize("f", [of_constants, of_items, of_fields, of_what_it_says])
def test_they_have_their_derivatives(f: Callable[[float], Any], speculation: str) -> None:
    step = 1e-6
    slope = (f(X + step) - f(X - step)) / (2.0 * step)
    with adbc.use(adbc.Config(speculation=speculation)):
        for _ in range(3):
            assert adbc.value_and_grad(f)(X) == pytest.approx((f(X), slope))
            assert adbc.jvp(f, (X,), (1.0,)) == pytest.approx((f(X), slope))


def test_their_gradients_have_their_attributes() -> None:
    gradient = adbc.grad(lambda p: p.value * p.slot)(Described(3.0))
    assert (gradient.value, gradient.slot) == (3.0, 3.0)
