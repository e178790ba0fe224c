"""``copy.copy``: of plain instances by a rule, of others by following the code of `copy`."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adbc
from adbc.rules.shallow_copies import is_copied_by_fields
from adbc.testing import test_rule as check_rule
from tests.programs.checks import check_gradient, check_once_warm, check_second_derivative


class Body:
    def __init__(self, position: Any, mass: Any) -> None:
        self.position, self.mass = position, mass
        self.name, self.steps = "body", 0


class Slotted:
    __slots__ = ("__dict__", "unset", "value")

    def __init__(self, value: Any) -> None:
        self.value = value
        self.beside = [value, 1.0]


@dataclasses.dataclass(frozen=True)
class Record:
    value: float
    weight: float = 2.0


class Counted(Body):
    """Says itself how it is copied."""

    def __copy__(self) -> Counted:
        return Counted([2.0 * p for p in self.position], self.mass)


class Stateful(Body):
    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.mass = 3.0 * state["mass"]


class Checked(Body):
    """Whatever is set goes by a method; a copy is filled past it."""

    def __setattr__(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, 2.0 * value if name == "mass" else value)


def shares_what_stands_in_fields(x: float) -> float:
    body = Body([x, x * x], 2.0 * x)
    other = copy.copy(body)
    other.position[0] *= 3.0  # also that of the original
    other.mass *= x
    other.steps += 1
    body.position.append(x)
    total = body.position[0] * other.mass + body.mass * len(other.position) + other.steps
    other.position = [x]
    return total + sum(body.position) + sum(other.position) * body.steps + other.position[0]


def slots_and_attributes_beside(x: float) -> float:
    made = Slotted(x * x)
    other = copy.copy(made)
    other.value += 1.0
    other.beside[1] = x
    made.value *= 2.0
    return made.value * other.value + made.beside[1] * hasattr(other, "unset")


def own_ways(x: float) -> float:
    counted, stateful, checked = Counted([x, 1.0], x), Stateful([x], x), Checked([x], x)
    others: list[Any] = [copy.copy(counted), copy.copy(stateful), copy.copy(checked)]
    return sum(k * other.mass * other.position[0] for k, other in enumerate(others, 1))


def containers_and_records(x: float) -> float:
    rows, table, record = [x, [x * x]], {"a": x, "b": [x]}, Record(x)
    copies: tuple[Any, ...] = copy.copy(rows), copy.copy(table), copy.copy(record), copy.copy((x, rows))
    copies[0][0] = 3.0
    copies[0][1].append(x)
    copies[1]["a"] = x**3
    rows[1][0] *= 2.0
    return rows[0] * sum(copies[0][1]) + table["a"] * copies[1]["a"] + copies[2].value * copies[3][1][0]


def particles(x: float) -> float:
    """Steps of a simulation that keeps what was before."""
    state, path = Body([x], 1.0), []
    for k in range(6):
        path.append(copy.copy(state))
        state.mass = state.mass * x + 0.1 * k
        state.steps = k
    return sum(each.mass * (each.steps + 1) for each in path) + state.mass


PROGRAMS: list[Callable[[float], float]] = [
    shares_what_stands_in_fields, slots_and_attributes_beside, own_ways, containers_and_records, particles,
]  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS)
def test_gradients(program: Callable[[float], float], speculation: str) -> None:
    for at in (0.7, 0.9, 0.8):
        check_gradient(program, at)


@pytest.mark.parametrize("program", PROGRAMS)
def test_gradients_once_warm(program: Callable[[float], float]) -> None:
    check_once_warm(program)


@pytest.mark.parametrize("program", [shares_what_stands_in_fields, particles])
def test_second_derivatives(program: Callable[[float], float]) -> None:
    check_second_derivative(program, 0.8, rtol=1e-6)


def test_objects_that_are_given() -> None:
    def program(body: Body) -> Any:
        other = copy.copy(body)
        other.position = other.position * body.mass
        other.mass = body.mass**2
        return other.position.sum() * other.mass

    check_rule(program, Body(np.array([1.0, 2.0, 0.5]), 1.5))
    check_rule(lambda body: copy.copy(body).position, Body([1.0, (2.0, 3.0)], np.array([0.5])))


def test_the_copy_of_a_constant_is_one() -> None:
    known = Body([1.0, 2.0], 3.0)

    def program(x: float) -> float:
        other = copy.copy(known)
        other.steps = 5
        return x * other.mass * other.position[1] * other.steps

    for _ in range(60):
        assert adbc.grad(program)(2.0) == 30.0
        assert known.steps == 0


def test_what_is_copied_by_fields() -> None:
    hidden = Body(1.0, 2.0)
    hidden.__dict__["__reduce_ex__"] = None
    assert all(map(is_copied_by_fields, [Body(1.0, 2.0), Slotted(1.0), Checked(1.0, 2.0)]))
    assert not any(
        map(is_copied_by_fields, [Counted([], 1.0), Stateful([], 1.0), Record(1.0), [], 1.0, hidden])
    )
