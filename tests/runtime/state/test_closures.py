"""Functions made by others while these run: what is derived for one serves all with its code."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

import pytest

import adbc
from adbc.runtime import default_engine
from adbc.testing import test_rule as check_rule
from adbc.types import ClosureType, ConstType, Exact, join, typeof
from tests.programs.checks import check_gradient

Function = Callable[[float], float]


def scaled(k: float) -> Function:
    def f(t: float) -> float:
        return k * t * t

    return f


def apply(f: Function, x: float) -> float:
    return f(x) * x


def plain(t: float) -> float:
    return t


def test_closures_of_the_same_code_have_one_type() -> None:
    assert typeof(scaled(1.0)) == typeof(scaled(2.0))
    assert typeof(scaled(1.0)) != typeof(lambda t: t)
    assert isinstance(typeof(scaled(1.0)), ClosureType)
    assert isinstance(typeof(plain), ConstType)
    assert join(typeof(plain), typeof(scaled(1.0))) == Exact(types.FunctionType)


def test_one_rule_serves_all() -> None:
    gradient = adbc.value_and_grad(apply, argnums=1)
    assert gradient(scaled(2.0), 3.0) == (54.0, 54.0)
    built = default_engine().builds
    assert gradient(scaled(5.0), 3.0) == (135.0, 135.0)
    assert default_engine().builds == built


def test_the_same_code_with_other_globals() -> None:
    def maker(factor: float) -> Any:
        namespace: dict[str, Any] = {"factor": factor}
        exec("def make():\n    def f(t):\n        return factor * t\n    return f", namespace)
        return namespace["make"]()

    one = maker(2.0)
    other = types.FunctionType(one.__code__, {"factor": 7.0})
    gradient = adbc.value_and_grad(apply, argnums=1)
    assert gradient(one, 3.0) == (18.0, 12.0)
    assert gradient(other, 3.0) == (63.0, 42.0)


def test_a_function_with_a_rule_is_not_taken_for_others() -> None:
    first, second = scaled(2.0), scaled(2.0)
    gradient = adbc.value_and_grad(apply, argnums=1)
    assert gradient(first, 3.0) == (54.0, 54.0)

    @adbc.scalar_rule(second)
    def partials(out: float, t: float) -> float:
        return 100.0

    assert gradient(second, 3.0) == (54.0, 18.0 + 300.0)
    assert gradient(first, 3.0) == (54.0, 54.0)
    assert adbc.value_and_grad(lambda x: apply(second, x))(3.0) == (54.0, 318.0)
    assert adbc.jvp(apply, (second, 3.0), (None, 1.0)) == (54.0, 318.0)


def test_a_closure_whose_code_is_replaced() -> None:
    f = scaled(2.0)
    gradient = adbc.value_and_grad(apply, argnums=1)
    assert gradient(f, 3.0) == (54.0, 54.0)
    f.__code__ = _linear(0.0).__code__
    assert gradient(f, 3.0) == (18.0, 12.0)


def _linear(k: float) -> Function:
    def f(t: float) -> float:
        return k * t

    return f


def test_a_closure_that_raises_is_caught() -> None:
    def solve(x: float, u: list[float]) -> float:
        def f(t: float) -> float:
            u[0] *= t
            if t > 1.0:
                raise ValueError
            return u[0] * x

        try:
            return apply(f, 0.5 * x) + apply(f, x)
        except ValueError:
            return u[0] * x

    check_rule(solve, 1.5, [2.0])
    check_gradient(solve, 1.5, [2.0])


def test_an_empty_cell() -> None:
    def early(x: float) -> float:
        def f(t: float) -> float:
            return t * late

        value = apply(f, x) if x < 0.0 else x
        late = x
        return value * apply(f, x)

    assert adbc.value_and_grad(early)(2.0) == (16.0, 32.0)
    with pytest.raises(NameError, match="free variable 'late'"):
        adbc.value_and_grad(early)(-2.0)


@pytest.mark.parametrize("speculation", ["learn", "never", "dynamic", "always"])
def test_every_path(speculation: Any) -> None:
    def solve(x: float, k: float) -> float:
        def f(t: float) -> float:
            return k * t * t

        return apply(f, x) + apply(scaled(k), x)

    with adbc.use(adbc.Config(speculation=speculation)):
        for _ in range(3):
            assert adbc.value_and_grad(solve, argnums=(0, 1))(3.0, 2.0) == (108.0, (108.0, 54.0))
            assert adbc.jvp(solve, (3.0, 2.0), (1.0, 1.0)) == (108.0, 162.0)


def made() -> Function:
    def f(t: float) -> float:
        return 2.0 * t

    return f


def calls(functions: list[Function], x: float) -> float:
    return sum([f(x) for f in functions])


def test_a_rule_of_one_of_two_functions_with_the_same_code() -> None:
    plain_one, ruled = made(), made()

    @adbc.scalar_rule(ruled)
    def partials(out: float, t: float) -> float:
        return 100.0

    for _ in range(3):
        assert adbc.jvp(plain_one, (1.0,), (1.0,)) == (2.0, 2.0)
        assert adbc.jvp(ruled, (1.0,), (1.0,)) == (2.0, 100.0)
        assert adbc.value_and_grad(plain_one)(1.0) == (2.0, 2.0)
        assert adbc.value_and_grad(ruled)(1.0) == (2.0, 100.0)
    both = [plain_one, ruled, plain_one, ruled]
    for _ in range(3):
        assert adbc.jvp(calls, (both, 1.0), (None, 1.0)) == (8.0, 204.0)
        assert adbc.value_and_grad(calls, argnums=1)(both, 1.0) == (8.0, 204.0)
