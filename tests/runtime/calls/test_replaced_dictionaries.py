"""``obj.__dict__ = ...``: copies of objects, objects with one state."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, ClassVar

import pytest

import adbc
from adbc.config import SPECULATION
from adbc.errors import UnsupportedError

X = 0.75


@dataclasses.dataclass
class Options:
    width: float
    scale: float = 2.0
    tags: list[float] = dataclasses.field(default_factory=list)

    def copy(self) -> Options:
        made = Options.__new__(Options)
        made.__dict__ = self.__dict__.copy()
        return made

    def updated(self, **changes: Any) -> Options:
        made = self.copy()
        for name, value in changes.items():
            setattr(made, name, value)
        return made

    def without(self, *names: str) -> Options:
        made = type(self).__new__(type(self))
        made.__dict__ = {k: v for k, v in self.__dict__.items() if k not in names}
        return made


class Shared:
    """All instances have one state."""

    state: ClassVar[dict[str, Any]] = {}

    def __init__(self, **values: Any) -> None:
        self.__dict__ = self.state
        self.__dict__.update(values)


class Bunch:
    def __init__(self, **values: Any) -> None:
        self.__dict__ = values


OPTIONS = Options(3.0)


def copies(x: float) -> Any:
    first = Options(x, tags=[x])
    second = first.copy()
    second.width = second.width * x
    second.tags.append(x * x)
    return first.width + 3.0 * second.width + sum(first.tags) * second.scale


def updates(x: float) -> Any:
    made = OPTIONS.updated(width=x * x, other=x)
    return made.width * made.other * OPTIONS.width + made.scale * x  # type: ignore[attr-defined]


def leaves_out(x: float) -> Any:
    made = Options(x, scale=x * x).without("width")
    return made.scale * (1.0 if hasattr(made, "width") else 2.0)


def shares(x: float) -> Any:
    Shared(a=x)
    other = Shared(b=x * x)
    other.a = other.a * other.b  # type: ignore[attr-defined]
    result = Shared().a * Shared.state["b"]  # type: ignore[attr-defined]
    Shared.state.clear()
    return result


def bunches(x: float) -> Any:
    made = Bunch(a=x, b=2.0)
    made.c = made.a * made.b  # type: ignore[attr-defined]
    return made.c * made.a + sum(made.__dict__.values())  # type: ignore[attr-defined]


def of_another(x: float) -> Any:
    first, second = Options(x), Options(1.0)
    second.__dict__ = first.__dict__
    second.width *= x
    before = first.width
    second.__dict__ = {"width": x}
    second.width = 3.0 * second.width
    return before * first.width + second.width


def of_names(x: float) -> Any:
    made = Bunch()
    names = {"a": x}
    made.__dict__ = names
    names["b"] = x * x
    made.a = made.b * made.a  # type: ignore[attr-defined]
    return names["a"] + made.b  # type: ignore[attr-defined]


def in_a_loop(x: float) -> Any:
    state, total = Options(x), 0.0
    for i in range(20):
        state = state.updated(width=state.width * 0.9 + x * i)
        total += state.width
    return total


FUNCTIONS = [copies, updates, leaves_out, shares, bunches, of_another, of_names, in_a_loop]


@pytest.mark.parametrize("speculation", SPECULATION)
@pytest.mark.parametrize("f", FUNCTIONS)
def test_a_dictionary_that_is_replaced_has_its_derivatives(
    f: Callable[[float], Any], speculation: str
) -> None:
    step = 1e-6
    slope = (f(X + step) - f(X - step)) / (2.0 * step)
    with adbc.use(adbc.Config(speculation=speculation)):
        for _ in range(4):
            assert adbc.value_and_grad(f)(X) == pytest.approx((f(X), slope))
            assert adbc.jvp(f, (X,), (1.0,)) == pytest.approx((f(X), slope))


def test_arguments_are_what_they_were() -> None:
    given = Options(2.0, tags=[1.0])
    own = given.__dict__

    def f(options: Options) -> Any:
        options.__dict__ = {"width": options.width * options.scale, "tags": options.tags}
        options.tags.append(options.width)
        return options.width * options.tags[1]

    gradient = adbc.grad(f)(given)
    assert given.__dict__ is own
    assert own == {"width": 2.0, "scale": 2.0, "tags": [1.0]}
    assert (gradient.width, gradient.scale) == (16.0, 16.0)


def test_second_derivatives() -> None:
    assert adbc.grad(adbc.grad(bunches))(X) == pytest.approx(4.0)


class Slots:
    __slots__ = ("__dict__", "place")


def test_what_has_slots_beside_is_refused() -> None:
    def f(x: float) -> Any:
        made = Slots()
        made.place = x
        made.__dict__ = {"a": x}
        return made.a * made.place  # type: ignore[attr-defined]

    for derivative in (lambda: adbc.grad(f)(X), lambda: adbc.jvp(f, (X,), (1.0,))):
        with pytest.raises(UnsupportedError, match="__dict__ of a Slots is replaced"):
            derivative()
