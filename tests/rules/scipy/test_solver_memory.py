"""What the functions keep that a solver calls: memos, counts, histories, buffers."""

from __future__ import annotations

import functools
import math
import threading
import types
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any, ClassVar

import numpy as np
import pytest
from scipy import integrate, optimize

import adbc
from adbc.errors import UnsupportedError

Function = Callable[[Any], Any]
CALLS = {"count": 0}
COUNT = 0


@pytest.fixture(autouse=True, params=[0, 3], ids=["code", "interpreted"])
def _warm_after(request: pytest.FixtureRequest) -> Iterator[None]:
    with adbc.use(adbc.Config(warm_after=request.param)):
        yield


class Unit:
    def __init__(self, t: Any) -> None:
        self.t = t
        self.rate: Any = None
        self.last: Any = 0.0
        self.count = 0
        self.steps: list[int] = []
        self.history: list[float] = []
        self.buffer = np.zeros(1)

    @functools.cached_property
    def k(self) -> Any:
        return math.exp(-1 / self.t)

    def lazy(self) -> Any:
        if self.rate is None:
            self.rate = math.exp(-1 / self.t)
        return self.rate

    def counted(self, c: Any) -> Any:
        self.count += 1
        self.steps.append(self.count)
        return c * c - self.t

    def told(self, c: Any) -> Any:
        self.history.append(float(c))
        return c * c - self.t

    def energy(self, c: Any) -> Any:
        return float(np.sum(self.counted(c) ** 2))

    def falling(self, t: Any, y: Any) -> Any:
        return -self.counted(y)

    def keeping(self, c: Any) -> Any:
        self.last = c * self.t
        return c * c - self.t

    def buffered(self, c: Any) -> Any:
        self.buffer[0] = np.ravel(c)[0] ** 2 - self.t
        return self.buffer[0]


def _cached_property(x: Any) -> Any:
    unit = Unit(x)
    return optimize.fsolve(lambda c: unit.k * c**2 + c - 1, 0.5)[0] + unit.k


def _lazy_attribute(x: Any) -> Any:
    unit = Unit(x)
    return optimize.brentq(lambda c: unit.lazy() * c**2 + c - 1, 0, 1) * unit.rate


def _memo(x: Any) -> Any:
    memo: dict[int, Any] = {}

    def rate(t: int) -> Any:
        if t not in memo:
            memo[t] = math.exp(-x * t)
        return memo[t]

    return optimize.brentq(lambda c: rate(1) * c**2 + c - rate(2), 0, 1) + memo[2]


def _memo_and_count(x: Any) -> Any:
    unit = Unit(x)

    def residual(c: Any) -> Any:
        unit.count += 1
        unit.last = 1.0
        return unit.lazy() * c**2 + c - 1

    return optimize.brentq(residual, 0, 1) * unit.rate + unit.rate * unit.last + min(unit.count, 3)


def _variable(x: Any) -> Any:
    rate = None

    def residual(c: Any) -> Any:
        nonlocal rate
        if rate is None:
            rate = math.sin(x)
        return c**3 - rate

    return optimize.brentq(residual, 0.1, 2) + x * (rate or 0.0)


def _global(x: Any) -> Any:
    def residual(c: Any) -> Any:
        global COUNT
        COUNT += 1
        CALLS["count"] += 1
        return c**2 - x

    before = COUNT, CALLS["count"]
    root = optimize.brentq(residual, 0, 3)
    return root * (COUNT - before[0]) + CALLS["count"] - before[1]


def _names(x: Any) -> Any:
    names: list[str] = []
    sizes, seen, last = [3], set(), deque([1], maxlen=4)

    def residual(c: Any) -> Any:
        names.append(f"step {len(names)}")
        sizes.append(len(names))
        seen.add(len(names) % 3)
        last.append(len(names))
        return c * c - x

    root = optimize.brentq(residual, 0, 3)
    names.append("end")
    return root * sizes[-1] + sizes[4] + len(names[-2]) + names.count("step 1") + sum(seen) + sum(last)


def _first_attributes(x: Any) -> Any:
    """Objects of classes in C that get their first attribute while the solver runs."""
    of_thread, names = threading.local(), types.SimpleNamespace()

    def residual(c: Any) -> Any:
        if not hasattr(of_thread, "count"):
            of_thread.count = 0
            names.rate = math.exp(-x)
        of_thread.count += 1
        return names.rate * c**2 + c - 1

    return optimize.brentq(residual, 0, 1) + names.rate + min(of_thread.count, 3)


class Helped:
    """What is called counts elsewhere."""

    total: ClassVar[list[int]] = [0]
    unit = Unit(1.0)

    def __init__(self) -> None:
        self.inner = Unit(1.0)

    def by_name(self) -> None:
        CALLS["count"] += 1

    @property
    def step(self) -> float:
        self.total[0] += 1
        return 1.0

    @staticmethod
    def statically(c: Any) -> Any:
        Helped.unit.count += 1
        return c


def _methods(x: Any) -> Any:
    helped = Helped()

    def residual(c: Any) -> Any:
        for _ in [helped.by_name() for _ in range(2)]:
            helped.inner.counted(1.0)
        return helped.statically(c) * c - x * helped.step

    before = CALLS["count"], helped.total[0], helped.unit.count
    root = optimize.brentq(residual, 0, 3)
    after = CALLS["count"], helped.total[0], helped.unit.count
    return root + helped.inner.count + sum(after) - sum(before)


def _counting(solve: Callable[[Unit], Any]) -> Function:
    def program(x: Any) -> Any:
        unit = Unit(x)
        return solve(unit) + unit.count + len(unit.steps)

    return program


COUNTING = {
    "global": _global,
    "lists of names": _names,
    "methods": _methods,
    "brentq": _counting(lambda u: optimize.brentq(u.counted, 0, 3)),
    "fsolve": _counting(lambda u: optimize.fsolve(u.counted, 1.0)[0]),
    "root": _counting(lambda u: optimize.root(u.counted, [1.0]).x[0]),
    "newton": _counting(lambda u: optimize.newton(u.counted, 1.0)),
    "root_scalar": _counting(lambda u: optimize.root_scalar(u.counted, bracket=(0, 3)).root),
    "minimize": _counting(lambda u: optimize.minimize(u.energy, [1.0]).x[0]),
    "minimize_scalar": _counting(lambda u: optimize.minimize_scalar(u.energy, bracket=(0.5, 2)).x),
    "least_squares": _counting(lambda u: optimize.least_squares(u.counted, [1.0]).x[0]),
    "quad": _counting(lambda u: integrate.quad(u.counted, 0, 1)[0]),
    "odeint": _counting(lambda u: integrate.odeint(u.falling, 0.1, [0, 1], tfirst=True)[-1, 0]),
    "LSODA": _counting(lambda u: integrate.solve_ivp(u.falling, (0, 1), [0.1], method="LSODA").y[0, -1]),
}
FOLLOWED = {
    "cached_property": _cached_property, "lazy_attribute": _lazy_attribute, "memo": _memo,
    "memo and count": _memo_and_count, "variable": _variable,
    "first attributes": _first_attributes, **COUNTING,
}  # fmt: skip


@pytest.mark.parametrize("name", FOLLOWED)
def test_memory_is_as_the_solver_leaves_it(name: str) -> None:
    program = FOLLOWED[name]
    value, step = program(2.0), 1e-4
    for _ in range(4):
        found, gradient = adbc.value_and_grad(program)(2.0)
        assert math.isclose(found, value, rel_tol=1e-9)
        along = adbc.jvp(program, (2.0,), (1.0,))
        assert math.isclose(along[0], value, rel_tol=1e-9)
        assert math.isclose(along[1], gradient, rel_tol=1e-6)
    if name not in COUNTING:  # the number of calls is another where the search is
        difference = (program(2.0 + step) - program(2.0 - step)) / (2 * step)
        assert math.isclose(gradient, difference, rel_tol=1e-5)


def _of_a_step(x: Any) -> Any:
    unit = Unit(x)
    return optimize.brentq(unit.keeping, 0, 3, xtol=1e-14) + unit.last


def _in_a_buffer(x: Any) -> Any:
    unit = Unit(x)
    return optimize.brentq(unit.buffered, 0, 3) + unit.buffer[0]


def _in_a_history(x: Any) -> Any:
    unit = Unit(x)
    return optimize.brentq(unit.told, 0, 3) + unit.history[-1]


def _of_the_last_call(x: Any) -> Any:
    """What is kept is the same at the root, and moves with it."""
    unit = Unit(x)
    return optimize.newton(unit.keeping, math.sqrt(2.0)) + unit.last


@pytest.mark.parametrize(
    "program", [_of_a_step, _in_a_buffer, _in_a_history, _of_the_last_call], ids=lambda f: f.__name__
)
def test_numbers_of_a_step_of_the_search_are_refused(program: Function) -> None:
    for _ in range(4):
        with pytest.raises(UnsupportedError, match="keeps numbers in"):
            adbc.value_and_grad(program)(2.0)
        with pytest.raises(UnsupportedError, match="keeps numbers in"):
            adbc.jvp(program, (2.0,), (1.0,))


def _keeping(x: Any, slope: Any) -> tuple[list[Any], Function]:
    """A list, and a function that gives slopes and keeps a number in the list."""
    kept: list[Any] = [0.0]

    def sloping(c: Any) -> Any:
        kept[0] = 3.0 * x
        return slope(c)

    return kept, sloping


def _in_a_slope(solve: Any) -> Function:
    def program(x: Any) -> Any:
        kept, slope = _keeping(x, lambda c: 2 * np.asarray(c)[()])
        return np.sum(solve(lambda c: c * c - x, slope)) + kept[0]

    return program


SLOPES = {
    "fsolve": lambda f, slope: optimize.fsolve(f, 1.0, fprime=slope),
    "newton": lambda f, slope: optimize.newton(f, 1.0, fprime=slope),
    "root_scalar": lambda f, slope: optimize.root_scalar(f, x0=1.0, fprime=slope, method="newton").root,
    "root": lambda f, slope: optimize.root(f, [1.0], jac=lambda c: [slope(c)]).x,
    "callback": lambda f, slope: optimize.root(
        f, [1.0], method="krylov", callback=lambda c, r: slope(c)
    ).x,
    "leastsq": lambda f, slope: optimize.leastsq(f, [1.0], Dfun=lambda c: [slope(c)])[0],
    "fmin_bfgs": lambda f, slope: optimize.fmin_bfgs(
        lambda c: np.sum(c**3 / 3 + f(0.0) * c),
        [1.0],
        fprime=lambda c: 0.5 * c * slope(c) + f(0.0),
        disp=False,
    ),
    "fmin": lambda f, slope: optimize.fmin(
        lambda c: float(np.sum(c**3 / 3 + f(0.0) * c)), [1.0], callback=slope, disp=False
    ),
    "odeint": lambda f, slope: integrate.odeint(
        lambda y, t: -1e4 * y, [1.0], [0.0, 1.0], Dfun=lambda y, t: [[-1e4 + 0.0 * slope(0.0)]]
    ),
    "solve_ivp": lambda f, slope: integrate.solve_ivp(
        lambda t, y: -y, (0.0, 1.0), [1.0], method="BDF", jac=lambda t, y: [[-1.0 + 0.0 * slope(0.0)]]
    ).y[0, -1],
}  # fmt: skip


@pytest.mark.parametrize("name", SLOPES)
def test_numbers_that_slopes_and_callbacks_keep_are_refused(name: str) -> None:
    """The calls that are differentiated make none of these."""
    program = _in_a_slope(SLOPES[name])
    assert program(4.0) > 6.0
    for ask in (lambda: adbc.jvp(program, (4.0,), (1.0,)), lambda: adbc.grad(program)(4.0)):
        with pytest.raises(UnsupportedError):
            ask()


def _with_a_history(x: Any) -> Any:
    unit = Unit(x)
    root = optimize.brentq(unit.told, 0, 3)
    return root * len(unit.history) + root * root


def _with_a_buffer(x: Any) -> Any:
    unit = Unit(x)
    return optimize.brentq(unit.buffered, 0, 3) * len(unit.buffer) + x * x


def _with_a_step(x: Any) -> Any:
    unit = Unit(x)
    root = optimize.brentq(unit.keeping, 0, 3)
    return root * (2.0 if unit.last > 0 else 1.0) + x


@pytest.mark.parametrize("program", [_with_a_history, _with_a_buffer, _with_a_step], ids=lambda f: f.__name__)
def test_numbers_may_be_kept_for_whose_derivative_nobody_asks(program: Function) -> None:
    slope = adbc.value_and_grad(lambda x: program(x))
    root = math.sqrt(2.0)
    per_root = (program(2.0) - {_with_a_history: 2.0, _with_a_buffer: 4.0, _with_a_step: 2.0}[program]) / root
    beside = {_with_a_history: 1.0, _with_a_buffer: 4.0, _with_a_step: 1.0}[program]
    for _ in range(4):
        for value, derivative in (slope(2.0), adbc.jvp(program, (2.0,), (1.0,))):
            assert math.isclose(value, program(2.0), rel_tol=1e-12)
            assert math.isclose(derivative, per_root / (2 * root) + beside, rel_tol=1e-9)
