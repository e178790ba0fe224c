"""Second derivatives, in all ways, against differences of first ones; third ones of functions of numbers."""

from __future__ import annotations

import math
import types
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adbc
from adbc.errors import UnsupportedError
from adbc.runtime.calls import resolve, steps
from tests.nested.programs import PROGRAMS, stacked

X = 1.3


def forward(f: Callable[[float], Any]) -> Callable[[float], Any]:
    return lambda x: adbc.jvp(f, (x,), (1.0,))[1]


def backward(f: Callable[[float], Any]) -> Callable[[float], Any]:
    return lambda x: adbc.vjp(f, x)[1](1.0)[0]


def value_and(f: Callable[[float], Any]) -> Callable[[float], Any]:
    return lambda x: adbc.value_and_grad(f)(x)[1]


WAYS: dict[str, Callable[[Callable[[float], Any]], Callable[[float], Any]]] = {
    "forward": forward,
    "reverse": adbc.grad,
    "vjp": backward,
    "value_and_grad": value_and,
}
MODES = ("forward", "reverse")


def difference(f: Callable[[float], Any], x: float) -> float:
    h = 1e-5
    return float((f(x + h) - f(x - h)) / (2 * h))


@pytest.mark.parametrize("inner", MODES)
@pytest.mark.parametrize("outer", MODES)
@pytest.mark.parametrize("name", PROGRAMS)
def test_second_derivatives(name: str, outer: str, inner: str) -> None:
    f = PROGRAMS[name]
    first = WAYS[inner](f)
    wanted = difference(adbc.grad(f), X)
    assert WAYS[outer](first)(X) == pytest.approx(wanted, rel=1e-6)
    assert WAYS[outer](first)(X) == pytest.approx(wanted, rel=1e-6)  # warm


@pytest.mark.slow
@pytest.mark.parametrize("inner", MODES)
@pytest.mark.parametrize("outer", MODES)
def test_managers_on_a_stack(outer: str, inner: str) -> None:
    wanted = difference(adbc.grad(stacked), X)
    assert WAYS[outer](WAYS[inner](stacked))(X) == pytest.approx(wanted, rel=1e-6)


@pytest.mark.parametrize("inner", MODES)
@pytest.mark.parametrize("outer", MODES)
@pytest.mark.parametrize(
    "config", [{"speculation": "dynamic"}, {"speculation": "interpret"}, {"warm_after": 0}]
)
@pytest.mark.parametrize("name", ["loop", "lists", "objects", "closure", "array"])
def test_second_derivatives_however_code_is_made(name: str, config: Any, outer: str, inner: str) -> None:
    f = PROGRAMS[name]
    wanted = difference(adbc.grad(f), X)
    with adbc.use(adbc.Config(**config)):
        assert WAYS[outer](WAYS[inner](f))(X) == pytest.approx(wanted, rel=1e-6)


# -- formulas that are called, where nothing is known of what is met -----------------------------------------


def _by_name(function: Any, *arguments: Any) -> Any:
    return {"f": function}["f"](*arguments)


def _of_numbers(name: str) -> int:
    """Of how many floats the function `name` of `math` is one float; 0 if it is none."""
    for count in (1, 2):
        try:
            if type(getattr(math, name)(*(X, 0.7)[:count])) is float:
                return count
        except (TypeError, ValueError):
            continue
    return 0


@pytest.mark.slow
@pytest.mark.parametrize("inner", MODES)
@pytest.mark.parametrize("outer", MODES)
@pytest.mark.parametrize("name", [name for name in dir(math) if _of_numbers(name)])
def test_functions_of_numbers_that_are_met(name: str, outer: str, inner: str) -> None:
    function, count = getattr(math, name), _of_numbers(name)

    def f(x: Any) -> Any:
        return _by_name(function, *(x, 0.7)[:count])

    assert WAYS[outer](WAYS[inner](f))(X) == pytest.approx(difference(adbc.grad(f), X), rel=1e-5, abs=1e-9)


@pytest.mark.parametrize("warm_after", [0, 40])
@pytest.mark.parametrize("inner", MODES)
@pytest.mark.parametrize("outer", MODES)
def test_zero_wins_at_both_levels(outer: str, inner: str, warm_after: int) -> None:
    def f(x: float) -> float:
        return 0.0 * (x * x * math.inf) + x * x * x

    with adbc.use(adbc.Config(warm_after=warm_after)):
        assert WAYS[outer](WAYS[inner](f))(X) == pytest.approx(6.0 * X)


def of_c(x: float) -> float:
    try:
        return x / 0.0
    except ZeroDivisionError:
        return x**3


def exhausted(x: float) -> float:
    values = iter([x])
    while True:
        try:
            x += next(values) ** 2
        except StopIteration:
            return x


@pytest.mark.slow
@pytest.mark.parametrize("f, speculation", [(of_c, "dynamic"), (exhausted, "learn")])
def test_what_is_caught_does_not_leave(f: Any, speculation: Any) -> None:
    wanted = difference(adbc.grad(f), X)
    with adbc.use(adbc.Config(speculation=speculation)):
        assert adbc.grad(adbc.grad(f))(X) == pytest.approx(wanted, rel=1e-6)


@pytest.mark.parametrize(
    "name, config",
    [
        ("power", {"debug": True}),
        ("power", {"trace_nan": True}),
        pytest.param("loop", {"debug": True}, marks=pytest.mark.slow),
        pytest.param("lists", {"debug": True}, marks=pytest.mark.slow),
        pytest.param("array", {"debug": True, "speculation": "dynamic"}, marks=pytest.mark.slow),
    ],
)
def test_second_derivatives_are_taken_in_debug_mode(name: str, config: Any) -> None:
    f = PROGRAMS[name]
    wanted = difference(adbc.grad(f), X)
    with adbc.use(adbc.Config(**config)):
        assert adbc.grad(adbc.grad(f))(X) == pytest.approx(wanted, rel=1e-6)
        assert forward(adbc.grad(f))(X) == pytest.approx(wanted, rel=1e-6)


@pytest.mark.parametrize("outer", MODES)
def test_third_derivatives(outer: str) -> None:
    def f(x: float) -> float:
        return math.sin(x) * x**2

    wanted = 6 * math.cos(X) - 6 * X * math.sin(X) - X * X * math.cos(X)
    assert WAYS[outer](adbc.grad(adbc.grad(f)))(X) == pytest.approx(wanted, rel=1e-12)
    assert WAYS[outer](adbc.grad(forward(f)))(X) == pytest.approx(wanted, rel=1e-12)


# -- no level sees the perturbation of another -----------------------------------------------------------


def of_sum(first: Any, second: Any) -> tuple[float, float]:
    return first(lambda x: x * second(lambda y: x + y)(1.0))(1.0), 1.0


def of_product(first: Any, second: Any) -> tuple[float, float]:
    return first(lambda x: x * second(lambda y: x * y)(2.0))(3.0), 6.0


def through_an_array(first: Any, second: Any) -> tuple[float, float]:
    def f(x: float) -> Any:
        a = np.array([x, 2 * x])
        return second(lambda y: np.sum(a * y * y))(3.0) * x  # 18 x^2

    return first(f)(2.0), 72.0


class Box:
    def __init__(self, value: Any) -> None:
        self.value = value

    def times_cube(self, y: Any) -> Any:
        return self.value * y**3


def through_an_object(first: Any, second: Any) -> tuple[float, float]:
    def f(x: float) -> Any:
        box = Box(x)
        return second(lambda y: box.value * y**3)(x)  # 3 x^3

    return first(f)(2.0), 36.0


def by_a_method(first: Any, second: Any) -> tuple[float, float]:
    return first(lambda x: second(Box(x).times_cube)(x))(2.0), 36.0


def through_mutation(first: Any, second: Any) -> tuple[float, float]:
    def f(x: float) -> Any:
        box = Box(x)

        def g(y: float) -> Any:
            box.value = box.value * y
            return box.value * y  # x y^2

        return x * second(g)(2.0)

    return first(f)(3.0), 24.0


def through_a_list(first: Any, second: Any) -> tuple[float, float]:
    def f(x: float) -> Any:
        def g(y: float) -> Any:
            values = [x, y]
            values[0] = values[0] * y
            return values[0] * values[1]

        return second(g)(x)  # 2 x^2

    return first(f)(3.0), 12.0


def through_a_variable(first: Any, second: Any) -> tuple[float, float]:
    def f(x: float) -> Any:
        total = 0.0

        def g(y: float) -> Any:
            nonlocal total
            total = total + x * y
            return total * y  # x y^2

        return second(g)(2.0) * x

    return first(f)(3.0), 24.0


def through_a_dictionary(first: Any, second: Any) -> tuple[float, float]:
    def f(x: float) -> Any:
        d = {"a": x}

        def g(y: float) -> Any:
            d["b"] = d["a"] * y
            return d["b"] * y

        return second(g)(x)

    return first(f)(2.0), 8.0


def by_map(first: Any, second: Any) -> tuple[float, float]:
    return first(lambda x: sum(map(second(lambda y: x * y * y), [x, 1.0, 2.0])))(3.0), 18.0


CLASSICS = [
    of_sum, of_product, through_an_array, through_an_object, by_a_method, through_mutation, through_a_list,
    through_a_variable, through_a_dictionary, by_map,
]  # fmt: skip


@pytest.mark.parametrize("inner", WAYS)
@pytest.mark.parametrize("outer", WAYS)
@pytest.mark.parametrize("classic", CLASSICS)
def test_perturbations_are_not_confused(classic: Any, outer: str, inner: str) -> None:
    found, wanted = classic(WAYS[outer], WAYS[inner])
    assert found == pytest.approx(wanted, rel=1e-12)


# -- what is refused -------------------------------------------------------------------------------------


def test_a_pullback_from_outside_is_refused() -> None:
    _, pullback = adbc.vjp(lambda x: x * x, 3.0)
    with pytest.raises(adbc.errors.UnsupportedError, match="inside a function that is being differentiated"):
        adbc.grad(lambda c: pullback(c)[0])(1.0)


def test_a_pullback_runs_once() -> None:
    def f(x: float) -> Any:
        _, pullback = adbc.vjp(lambda y: y * y * y, x)
        return pullback(1.0)[0] + pullback(1.0)[0]

    with pytest.raises(adbc.errors.PullbackConsumedError):
        adbc.grad(f)(2.0)


def test_an_inner_gradient_of_what_has_none() -> None:
    with pytest.raises(adbc.errors.ArgumentError, match="pass a float"):
        adbc.grad(lambda x: x * adbc.grad(lambda n, y: n * y * x)(2, x))(2.0)


def test_globals_that_change_are_seen() -> None:
    global SCALE
    SCALE = 2.0
    second = adbc.grad(adbc.grad(lambda x: SCALE * x**3))
    assert second(1.0) == 12.0
    SCALE = 5.0
    assert second(1.0) == 30.0


SCALE = 2.0


@pytest.mark.parametrize(("is_mixed", "remedy"), [(True, "warm_after=0"), (False, "stop_gradient")])
def test_a_part_of_adbc_that_is_refused_is_not_named(is_mixed: bool, remedy: str) -> None:
    def pullback(saved: Any) -> Any:
        raise AssertionError

    part = types.FunctionType(pullback.__code__, {"__name__": "adbc.runtime.build.tiers"})
    if is_mixed:
        part.coded = lambda saved: None  # type: ignore[attr-defined]
    with pytest.raises(UnsupportedError) as refusal:
        resolve.met_inside(steps.Enter(steps.Call(part, None, (1.0,), (None,), (None,))))
    assert "pullback(" not in str(refusal.value) and "<locals>" not in str(refusal.value)
    assert remedy in str(refusal.value)


# -- functions that were made by exec, which read globals of a namespace that is no module's -----------------


@pytest.mark.parametrize("config", [{}, {"warm_after": 0}])
@pytest.mark.parametrize("inner", MODES)
@pytest.mark.parametrize("outer", MODES)
def test_functions_that_were_made_by_exec(outer: str, inner: str, config: Any) -> None:
    space: dict[str, Any] = {"scale": 0.7, "sin": math.sin, "cosh": np.cosh}
    exec("def f(x):\n    return scale * sin(x) * float(cosh(scale * x)) * x", space)
    f = space["f"]
    with adbc.use(adbc.Config(**config)):
        assert WAYS[outer](WAYS[inner](f))(X) == pytest.approx(difference(adbc.grad(f), X), rel=1e-6)


@pytest.mark.parametrize("inner", MODES)
@pytest.mark.parametrize("outer", MODES)
def test_numbers_left_in_a_namespace_are_refused(outer: str, inner: str) -> None:
    space: dict[str, Any] = {"scale": 2.0}
    exec("def g(x):\n    return scale * x * x", space)

    def f(x: float) -> Any:
        space["scale"] = x
        return space["g"](x)

    with pytest.raises(UnsupportedError, match="reads 'scale', a number with a derivative"):
        WAYS[outer](WAYS[inner](f))(X)
