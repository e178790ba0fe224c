"""Frozen dataclasses as they are written today: parameters by keyword alone, slots, copies, other fields."""

from __future__ import annotations

import copy
import dataclasses
import functools
from collections.abc import Callable
from typing import Any, ClassVar

import pytest

import adbc

X = 1.5


@dataclasses.dataclass(frozen=True)
class Model:
    order: ClassVar[int] = 3
    x: Any
    tag: str = dataclasses.field(default="a", kw_only=True)
    scale: Any = dataclasses.field(default=2.0, kw_only=True)
    weights: list[Any] = dataclasses.field(default_factory=list, kw_only=True)

    def value(self) -> Any:
        return self.x * self.scale * self.order


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, match_args=False)
class Settings:
    x: Any
    model: Model


@dataclasses.dataclass(frozen=True)
class WithConstant:
    x: Any
    y: float = dataclasses.field(default=1.0, init=False)


@dataclasses.dataclass(frozen=True)
class WithParameter:
    x: Any
    i: dataclasses.InitVar[Any] = 1.0


@dataclasses.dataclass(frozen=True)
class Lazy(WithConstant):
    z: tuple[Any, ...] = ()

    @functools.cached_property
    def both(self) -> Any:
        return self.x * 3.0


def made(x: Any) -> Any:
    return Model(x, scale=x).value()


def nested(x: Any) -> Any:
    model = Model(x, weights=[x])
    model.weights.append(x * x)
    settings = Settings(model=model, x=x * x)
    return settings.model.value() * settings.x + sum(settings.model.weights) + sum(Model(x).weights)


def spread(x: Any) -> Any:
    return Settings(**{"x": x * x, "model": Model(**dict(zip(("x", "scale"), (x, x * x), strict=True)))}).x


def constant_field(x: Any) -> Any:
    return WithConstant(x * x).x * WithConstant(x).y


def parameter_that_is_no_field(x: Any) -> Any:
    return WithParameter(x, x * 2.0).x


def replaced(x: Any) -> Any:
    return dataclasses.replace(Model(x), scale=x * x).value()


def too_many(x: Any) -> Any:
    try:
        return Model(x, "a", x).value()  # type: ignore[misc]  # on purpose
    except TypeError as error:
        return x * len(str(error))


def in_a_list(x: Any) -> Any:
    made = [Settings(x=x * k, model=Model(x, scale=k)) for k in range(1, 4)]
    return sum(s.x * s.model.x for s in made)


def matched(x: Any) -> Any:
    match Model(x, scale=x):
        case Model(y, scale=s):
            return y * s


def copied(x: Any) -> Any:
    model = Model(x, scale=x * x, weights=[x, 2.0])
    deep, shallow = copy.deepcopy(model), copy.copy(model)
    model.weights[0] = 0.0
    deep.weights.append(x)
    return deep.weights[0] * deep.scale * 10 + shallow.weights[0] + sum(deep.weights) + (deep is model)


def copied_with_slots(x: Any) -> Any:
    settings = Settings(x=x, model=Model(x, weights=[x]))
    deep = copy.deepcopy(settings)
    settings.model.weights[0] = 3.0
    return deep.x * deep.model.weights[0] + settings.model.weights[0]


def copied_with_a_cache(x: Any) -> Any:
    lazy = Lazy(x, (x, [x]))
    first = lazy.both
    deep = copy.deepcopy(lazy)
    deep.z[1][0] = deep.both
    return first + deep.both * deep.z[0] + deep.z[1][0] + lazy.z[1][0] + ("both" in vars(deep))


PROGRAMS = [
    made, nested, spread, constant_field, parameter_that_is_no_field, replaced, too_many, in_a_list, matched,
    copied, copied_with_slots, copied_with_a_cache,
]  # fmt: skip


@pytest.mark.parametrize("f", PROGRAMS)
def test_first_derivatives(f: Callable[[Any], Any], speculation: str) -> None:
    value, slope = f(X), (f(X + 1e-6) - f(X - 1e-6)) / 2e-6
    for _ in range(3):
        assert adbc.value_and_grad(f)(X) == (value, pytest.approx(slope, rel=1e-7))
        assert adbc.jvp(f, (X,), (1.0,)) == (value, pytest.approx(slope, rel=1e-7))


@pytest.mark.parametrize("f", PROGRAMS)
def test_second_derivatives(f: Callable[[Any], Any]) -> None:
    second = (f(X + 1e-4) - 2.0 * f(X) + f(X - 1e-4)) / 1e-8
    assert adbc.grad(adbc.grad(f))(X) == pytest.approx(second, rel=1e-5, abs=1e-5)


def test_tangents_have_all_fields_and_nothing_else() -> None:
    assert adbc.jvp(WithConstant, (X,), (1.0,))[1].__dict__ == {"x": 1.0, "y": 0.0}
    assert adbc.jvp(lambda x: WithParameter(x, x), (X,), (1.0,))[1].__dict__ == {"x": 1.0}
    gradient: Any = adbc.grad(lambda s: s.x * s.model.value())(Settings(x=2.0, model=Model(3.0, scale=4.0)))
    assert (gradient.x, gradient.model.x, gradient.model.scale) == (36.0, 24.0, 18.0)
