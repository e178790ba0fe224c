"""SciPy's solvers with derivatives from adbc, against the same by differences.

``python -m benchmarks --solvers`` prints, for each problem and solver, how often the function is evaluated
and how long it takes: with `adbc.scipy`, after a first solution for which everything is built; and by
differences.  A value with its gradient counts as one evaluation, and so does a Jacobian, a Hessian or a
product with one.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp
from scipy.optimize import approx_fprime, least_squares, minimize, root

import adbc.scipy
from benchmarks import measure
from benchmarks.problems import EQUATIONS, FITS, MINIMA, SYSTEMS, Problem

__all__ = ["SOLVERS", "Solution", "Solver", "report", "solutions"]

Array = np.ndarray[Any, Any]
Solve = Callable[[Problem, dict[str, Any]], Any]


class _Counted:
    """Functions that count together how often they are called."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*args: Any) -> Any:
            self.count += 1
            return function(*args)

        return counted

    def all_of(self, how: dict[str, Any]) -> dict[str, Any]:
        return {name: self(value) if callable(value) else value for name, value in how.items()}


@dataclasses.dataclass(frozen=True)
class Solver:
    """A solver of SciPy's, what it is given by adbc, and what by differences of a function that counts."""

    name: str
    problems: Sequence[Problem]
    solve: Solve
    by_adbc: Callable[[Callable[..., Any]], dict[str, Any]]
    by_differences: Callable[[Callable[..., Any]], dict[str, Any]]


def _minimum(method: str, **options: Any) -> Solve:
    def solve(problem: Problem, how: dict[str, Any]) -> Any:
        return minimize(x0=problem.start, args=problem.args, method=method, options=options, **how).x

    return solve


def _fit(problem: Problem, how: dict[str, Any]) -> Any:
    return least_squares(x0=problem.start, args=problem.args, **how).x


def _zero(problem: Problem, how: dict[str, Any]) -> Any:
    return root(x0=problem.start, args=problem.args, **how).x


def _trajectory(problem: Problem, how: dict[str, Any]) -> Any:
    span = (0.0, problem.end)
    return solve_ivp(t_span=span, y0=problem.start, args=problem.args, method="BDF", **how).y[:, -1]


_STEP = 1e-5


def _differences(f: Callable[..., Any]) -> dict[str, Any]:
    def gradient(x: Array, *args: Any) -> Any:
        return approx_fprime(x, f, np.sqrt(np.finfo(float).eps), *args)

    return {"fun": f, "jac": gradient}


def _second_differences(f: Callable[..., Any]) -> dict[str, Any]:
    def hessian(x: Array, *args: Any) -> Array:
        units = _STEP * np.eye(len(x))
        rows = []
        for unit in units:
            up, down = approx_fprime(x + unit, f, _STEP, *args), approx_fprime(x - unit, f, _STEP, *args)
            rows.append((up - down) / (2.0 * _STEP))
        matrix = np.array(rows)
        made: Array = (matrix + matrix.T) / 2.0
        return made

    return {**_differences(f), "hess": hessian}


SOLVERS = [
    Solver("minimize, BFGS", MINIMA, _minimum("BFGS"), adbc.scipy.for_minimize, _differences),
    Solver(
        "minimize, Newton-CG",
        MINIMA,
        _minimum("Newton-CG"),
        lambda f: adbc.scipy.for_minimize(f, hessp=True),
        _differences,
    ),
    Solver(
        "minimize, trust-exact",
        MINIMA,
        _minimum("trust-exact"),
        lambda f: adbc.scipy.for_minimize(f, hess=True),
        _second_differences,
    ),
    Solver("least_squares", FITS, _fit, adbc.scipy.for_least_squares, lambda f: {"fun": f}),
    Solver("root", EQUATIONS, _zero, adbc.scipy.for_root, lambda f: {"fun": f}),
    Solver("solve_ivp, BDF", SYSTEMS, _trajectory, adbc.scipy.for_solve_ivp, lambda f: {"fun": f}),
]


@dataclasses.dataclass(frozen=True)
class Solution:
    """Of one problem: what adbc and differences lead to, with how many evaluations, in how many seconds; and
    how long the first solution by adbc takes."""

    solver: str
    problem: str
    found: Array
    by_differences: Array
    evaluations: tuple[int, int]
    seconds: tuple[float, float]
    first: float


def solutions(solver: Solver) -> Iterator[Solution]:
    """Solve each of its problems in both ways."""
    for problem in solver.problems:
        counted, plainly = _Counted(), _Counted()
        how = solver.by_adbc(problem.function)
        first = measure.once(lambda: solver.solve(problem, how))  # noqa: B023  # called here
        found = solver.solve(problem, counted.all_of(how))
        other_how = solver.by_differences(plainly(problem.function))
        other = solver.solve(problem, other_how)
        evaluations = counted.count, plainly.count
        warm = measure.once(lambda: solver.solve(problem, how))  # noqa: B023
        slow = measure.once(lambda: solver.solve(problem, other_how))  # noqa: B023
        yield Solution(solver.name, problem.name, found, other, evaluations, (warm, slow), first)


def report(solvers: Sequence[Solver]) -> None:
    """Print a table."""
    print(f"{'':52}{'evaluations':>22}{'ms':>22}{'first':>10}")
    print(f"{'':52}{'adbc':>11}{'differences':>11}{'adbc':>11}{'differences':>11}")
    for solver in solvers:
        for s in solutions(solver):
            (ours, theirs), (warm, slow) = s.evaluations, s.seconds
            print(
                f"{s.solver:24}{s.problem:28}{ours:>11}{theirs:>11}{1e3 * warm:>11.1f}{1e3 * slow:>11.1f}"
                f"{1e3 * s.first:>10.0f}",
                flush=True,
            )
