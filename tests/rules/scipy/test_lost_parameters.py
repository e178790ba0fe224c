"""Parameters of functions of SciPy without a formula: constants that stand in lists, dicts and objects are
taken, and what has a derivative is refused, with the line."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import special, stats

import adbc
from adbc.errors import UnsupportedError

Program = Callable[[float], Any]


@dataclasses.dataclass
class Wave:
    order: float
    length: float

    def at(self, t: float) -> float:
        return special.jv(self.order, self.length * t)


def orders_in_a_list(x: float) -> Any:
    orders = [0.5, 1.5, 2.5]
    return sum(special.jv(order, x) for order in orders)


def settings_in_a_dict(x: float) -> Any:
    settings = {"order": 1.5, "scale": x, "n": 2.0}
    return special.iv(settings["order"], settings["scale"]) * special.kv(*(settings["n"], x))


def in_an_object(x: float) -> Any:
    return Wave(1.5, x).at(0.3)


def of_an_array(x: float) -> Any:
    orders = np.array([0.5, x])
    orders[1] = 2.0
    return special.yv(orders, x * np.ones(2)).sum()


def of_several(x: float) -> Any:
    parameters = [0.3, x]
    return special.pbdv(parameters[0], parameters[1])[0]


def of_an_option(x: float) -> Any:
    return special.polygamma(*[1.0, x]) + stats.t.logpdf(x, *[4.5])


def into_an_array(x: float) -> Any:
    out = np.zeros(2)
    given = [1.5, x]
    special.jve(given[0], np.array([x, 2.0 * x]), out=out)
    return out @ out


ORDERS = np.full(3, 3.0)


def computed_from_a_global(x: float) -> Any:
    return lowered(np.array([x, 2.0 * x, 0.3]), ORDERS)


def lowered(x: Any, orders: Any) -> Any:
    less = orders / 2.0 - 1.0  # memory that is new, and nobody knows of what is in it
    return special.ive(less, x).sum()


CONSTANT: list[Program] = [
    orders_in_a_list, settings_in_a_dict, in_an_object, of_an_array, of_several, of_an_option, into_an_array,
    computed_from_a_global,
]  # fmt: skip


@pytest.mark.parametrize("program", CONSTANT)
def test_constants_are_taken_wherever_they_stand(program: Program) -> None:
    x = 0.7
    slope = (program(x + 1e-6) - program(x - 1e-6)) / 2e-6
    for _ in range(5):
        assert adbc.value_and_grad(program)(x) == pytest.approx((program(x), slope), rel=1e-6)
    assert adbc.jvp(program, (x,), (1.0,))[1] == pytest.approx(slope, rel=1e-6)
    assert adbc.vjp(program, x)[1](1.0)[0] == pytest.approx(slope, rel=1e-6)


def of_an_active_order(x: float) -> Any:
    return special.jv(x, 2.0)


def of_one_in_a_list(x: float) -> Any:
    given = [x * 2.0, 1.0]
    return special.jv(given[0], given[1]) * given[1]


def of_one_in_an_array(x: float) -> Any:
    return special.yv(np.array([1.0, x]), 2.0).sum()


def of_an_array_that_is_computed(x: float) -> Any:
    orders = np.array([x, 2.0, 3.0])
    return lowered(np.array([0.3, 0.4, 0.5]), orders)


def of_one_of_several(x: float) -> Any:
    y = x * x
    return special.pbdv(y, 0.3)[1]


def test_an_array_of_orders_is_refused_however_often_it_is_tried() -> None:
    gradient = adbc.grad(lambda x, orders: lowered(x, orders), argnums=1)
    for _ in range(30):
        with pytest.raises(UnsupportedError, match="has no derivative rule by its order"):
            gradient(np.array([0.3, 0.4, 0.5]), ORDERS.copy())
        with pytest.raises(UnsupportedError, match="has no derivative rule by its order"):
            adbc.grad(of_an_array_that_is_computed)(0.7)


@pytest.mark.parametrize("warm_after", [3, 0])
@pytest.mark.parametrize(
    ("program", "line"),
    [(of_an_active_order, 1), (of_one_in_a_list, 2), (of_one_in_an_array, 1), (of_one_of_several, 2)],
)
def test_what_has_a_derivative_is_refused_with_the_line(program: Program, line: int, warm_after: int) -> None:
    place = rf"test_lost_parameters\.py:{program.__code__.co_firstlineno + line}\)"
    says = f"has no derivative rule by .* in {program.__name__} .*{place}"
    with adbc.use(adbc.Config(warm_after=warm_after)):
        for derivative in (
            lambda: adbc.grad(program)(0.7),
            lambda: adbc.jvp(program, (0.7,), (1.0,)),
            lambda: adbc.vjp(program, 0.7)[1](1.0),
            lambda: adbc.jvp(adbc.grad(program), (0.7,), (1.0,)),
            lambda: adbc.grad(adbc.grad(program))(0.7),
        ):
            with pytest.raises(UnsupportedError, match=says):
                derivative()
