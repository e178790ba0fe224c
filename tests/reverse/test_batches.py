"""Batches of cotangents: each lane is the single cotangent, whatever the function does."""

from __future__ import annotations

import math
import random
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adbc
from adbc import rows
from adbc.tangents import random_tangent
from adbc.testing import test_rule as check_rule
from adbc.testing.batches import stacked
from adbc.testing.values import assert_same, duplicate
from tests.forward import test_batches as forward
from tests.rules.test_rows_alone_in_batches import CALLS
from tests.rules.test_rows_in_batches import CASES

MODES = ("always", "learn", "never")
X = np.array([0.5, 1.5, -0.7, 2.0])


def check(f: Callable[..., Any], *primals: Any, width: int = 3, rtol: float = 1e-11) -> Any:
    """Compare a batch with single cotangents, often enough that interpreted code becomes written code."""
    rng = np.random.default_rng(5)
    value, pullback = adbc.vjp(f, *duplicate(list(primals)))
    value = duplicate(value)  # arguments in it are put back
    pullback(None)
    cotangents = [random_tangent(rng, value) for _ in range(width)]
    singles = [adbc.vjp(f, *duplicate(list(primals)))[1](duplicate(c)) for c in cotangents]
    for _ in range(3):
        given = duplicate(list(primals))
        found, pullback = adbc.vjp(f, *given, width=width)
        assert_same(value, found, "value", rtol=1e-12)
        lanes = pullback(duplicate(stacked(cotangents)))
        assert_same(stacked(singles), lanes, "lanes", rtol=rtol)
        assert_same(list(primals), given, "arguments")
    return lanes


# -- programs ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("speculation", MODES)
@pytest.mark.parametrize("f", forward.SCALAR, ids=lambda f: f.__name__)
def test_code_on_numbers(f: Any, speculation: str) -> None:
    with adbc.use(adbc.Config(speculation=speculation)):
        check(f, 1.3, 0.6)


@pytest.mark.parametrize("speculation", MODES[1:])
@pytest.mark.parametrize("f", forward.ARRAYS, ids=lambda f: f.__name__)
def test_code_on_arrays(f: Any, speculation: str) -> None:
    with adbc.use(adbc.Config(speculation=speculation)):
        check(f, X, width=len(X))  # as many lanes as elements: an axis taken for lanes would be seen


COPIES = [
    forward.copied, forward.copied_arrays, forward.copied_objects, forward.gathered, forward.ordered_in_place,
]  # fmt: skip


@pytest.mark.parametrize("f", COPIES, ids=lambda f: f.__name__)
def test_copies_and_places_in_memory(f: Any) -> None:
    check(f, X, width=4)


def test_arrays_without_axes() -> None:
    def f(x: Any) -> Any:
        whole = np.array(x[0])
        product = np.dot(x, x, out=whole)
        first, last, one = x[0], x.item(3), whole[()]
        x[:] = 5.0 * x
        whole += x[1]
        return product, first, last, one, whole

    check(f, X, width=4)


def test_a_target_is_overwritten_once_for_each_lane() -> None:
    def f(x: Any) -> Any:
        target = np.empty(3)
        np.exp(x[0], out=target)
        np.sin(x[1], target[1:2])
        return target.sum() + np.exp(x[2], where=True), target * x[3]

    check(f, X)


def test_float32_stays_float32() -> None:
    (found,) = check(lambda x: np.sin(x) * x[0] + x.sum(), X.astype(np.float32), rtol=1e-5)
    assert found.dtype == np.float32


def test_complex_numbers() -> None:
    check(lambda z: (z * z.conjugate(), np.exp(z), abs(z)), X + 1j)
    check(lambda z: z * z + z.real, 0.3 + 2.0j)


def aliased(table: Any) -> Any:
    a, b = table["a"], table["b"]
    a[0] = b[1] * 2.0
    b.append(a[0] * a[1])
    table["c"] = [x * x for x in b]
    return sum(table["c"]), a, table


def test_one_object_by_several_names() -> None:
    shared = [1.0, 2.0]
    check(aliased, {"a": shared, "b": shared})
    check(aliased, {"a": [1.0, 2.0], "b": [3.0, 4.0]})


def test_overlapping_arguments() -> None:
    def f(whole: Any, part: Any) -> Any:
        part *= whole[0]
        return whole * part[0], part.sum()

    singles = []
    cotangents = np.random.default_rng(0).normal(size=(3, 4)), np.array([1.0, 0.0, -2.0])
    for first, second in zip(*cotangents, strict=True):
        x = X.copy()
        singles.append(adbc.vjp(f, x, x[1:])[1]((first.copy(), float(second))))
    x = X.copy()
    lanes = adbc.vjp(f, x, x[1:], width=3)[1](cotangents)
    assert_same(stacked(singles), lanes, "lanes", rtol=1e-12)
    np.testing.assert_array_equal(x, X)


def test_captured_and_global_memory() -> None:
    kept = np.zeros(4)
    calls = [0]

    def f(x: Any) -> Any:
        calls[0] += 1
        kept[1:3] += x[:2]
        return kept * x

    check(f, X)
    assert calls == [0]
    np.testing.assert_array_equal(kept, 0.0)


class Stack:
    def __init__(self, *values: float) -> None:
        self.values = deque(values, 5)
        self.top = 0.0

    def push(self, x: float) -> None:
        self.values.append(x)
        self.top = x


def pushed(stack: Stack, x: float) -> Any:
    for k in range(4):
        stack.push(stack.values[k] * x)
    stack.values.rotate(1)
    try:
        stack.top = stack.values[9]
    except IndexError:
        stack.top *= 2.0
    return list(stack.values), stack.top, {k: v for k, v in enumerate(stack.values) if k % 2}


def test_objects_and_deques() -> None:
    check(pushed, Stack(1.0, 2.0, 0.5, 3.0), 1.7)


def test_derivatives_inside() -> None:
    check(lambda x: adbc.grad(lambda y: math.sin(y) * y * y)(x) * x, 1.3)
    check(lambda x: adbc.grad(lambda y: (np.sin(y) * y * y).sum())(x) * x, X)
    check(adbc.grad(lambda x: (x**3).sum()), X)


@pytest.mark.parametrize("seed", range(12))
def test_random_programs(seed: int) -> None:
    source = random.Random(seed)
    check(_random_program(source), [source.uniform(0.5, 2.0) for _ in range(4)], X.copy(), width=2)


def _random_program(source: random.Random) -> Any:
    """A function of a list of numbers and an array that does a few things, one after the other."""
    steps: list[Callable[[list[Any], Any, int, int], Any]] = [
        lambda a, x, i, j: a.append(a[i] * a[j]),
        lambda a, x, i, j: a.__setitem__(i, math.sin(a[j]) + a[i]),
        lambda a, x, i, j: a.insert(i, x[j] * 0.5),
        lambda a, x, i, j: x.__setitem__(i, a[j] * x[i]),
        lambda a, x, i, j: x.__setitem__(slice(i, None), x[i:] + a[j]),
        lambda a, x, i, j: np.multiply(x, a[i], out=x),
        lambda a, x, i, j: x[i:].sort(),
        lambda a, x, i, j: a.append(float(np.dot(x, x)) if j > 1 else max(a)),
        lambda a, x, i, j: a.extend([v / 3.0 for v in reversed(x[:2])]),
        lambda a, x, i, j: np.copyto(x[:2], np.exp(-np.abs(x[2:]))),
        lambda a, x, i, j: a.sort(),
        lambda a, x, i, j: x[[0, i]].sum() and a.append(x[[0, i, 0]].sum()),
    ]
    chosen = [(source.choice(steps), source.randrange(4), source.randrange(4)) for _ in range(7)]

    def program(a: list[Any], x: Any) -> Any:
        for step, i, j in chosen:
            step(a, x, i, j)
        return a, x, x @ np.outer(x, x), sum(a)

    return program


# -- rules ---------------------------------------------------------------------------------------------------

_OUT_OF_SIGHT = ("dicts", "ordered_dicts", "written", "shaped")
"""Those of the cases that step an iterator made in C, or ``x.flat``, through a rule."""


@pytest.mark.parametrize("warm_after", [0, None])
@pytest.mark.parametrize("name", [name for name in CASES if name not in _OUT_OF_SIGHT])
def test_rows_by_hand(name: str, warm_after: int | None) -> None:
    with adbc.use(adbc.Config() if warm_after is None else adbc.Config(warm_after=warm_after)):
        check(*CASES[name])


@pytest.mark.parametrize("name", _OUT_OF_SIGHT)
def test_rows_that_cannot_be_run_for_each_lane_are_refused(name: str) -> None:
    f, *args = CASES[name]
    with pytest.raises(adbc.errors.BatchError, match="one by one"):
        adbc.vjp(f, *duplicate(args), width=2)[1](None)


@pytest.mark.parametrize("function, args", CALLS)
def test_each_lane_is_that_cotangent_alone(function: Any, args: tuple[Any, ...]) -> None:
    check_rule(function, *args, width=3, mode="reverse")


def test_a_rule_of_a_user_is_called_once_and_its_pullback_for_each_lane() -> None:
    calls = []

    def scaled(x: Any, k: float) -> Any:
        x *= k
        return x.sum()

    def rrule(f: Any, x: Any, k: Any) -> Any:
        old = x.primal.copy()
        waste = [1.0]
        calls.append(1)
        x.primal[...] *= k.primal

        def pullback(by: float) -> Any:
            assert isinstance(by, float) and len(waste) == 1
            waste.append(by)  # a pullback runs once, and may use up what it has
            np.testing.assert_array_equal(x.primal, old * k.primal)
            x.primal[...] = old
            x.fdata[...] += by
            bk = float(x.fdata @ old)
            x.fdata[...] *= k.primal
            return adbc.NoRData(), adbc.NoRData(), bk

        return adbc.CoDual(x.primal.sum(), adbc.NoFData()), pullback

    adbc.primitive(scaled, frule=lambda *duals: None, rrule=rrule)

    def f(x: Any, k: float) -> Any:
        total = scaled(x, k)
        return total * x

    cotangents = np.random.default_rng(1).normal(size=(3, 4))
    x = X.copy()
    _, pullback = adbc.vjp(f, x, 2.0, width=3)
    bx, bk = pullback(cotangents)
    assert len(calls) == 1
    np.testing.assert_array_equal(x, X)
    for lane, b in enumerate(cotangents):
        # total * x is k^2 sum(x) x
        np.testing.assert_allclose(bx[lane], 4.0 * (X.sum() * b + (X @ b)))
        np.testing.assert_allclose(bk[lane], 4.0 * X.sum() * (X @ b))


# -- what is promised ----------------------------------------------------------------------------------------


def test_a_lane_of_zeros_is_exactly_zero() -> None:
    def f(x: Any, y: float) -> Any:
        return np.sqrt(x) * y, math.sqrt(y - 2.0) if y > 2.0 else y, x / (x - x + 1e-300), 1.0 / x

    x = np.abs(X) * [0.0, 1.0, 1.0, 1.0]
    with np.errstate(all="ignore"):
        _, pullback = adbc.vjp(f, x, 2.0, width=2)
        one = np.zeros((2, 4))
        one[1] = 1.0
        bx, by = pullback((one, np.array([0.0, 1.0]), one, one))
    assert not np.any(bx[0]) and by[0] == 0.0
    assert np.isinf(bx[1, 0]) or np.isnan(bx[1, 0])


def test_the_function_is_run_once(capsys: pytest.CaptureFixture[str]) -> None:
    def f(x: Any) -> Any:
        print("run")
        return x * x

    for reusable in (False, True):
        _, pullback = adbc.vjp(f, X, width=4, reusable=reusable)
        np.testing.assert_allclose(pullback(np.eye(4))[0], np.diag(2.0 * X))
        assert capsys.readouterr().out == "run\n"


def test_it_runs_once_or_is_reusable() -> None:
    def f(x: Any) -> Any:
        x *= 2.0
        return x * x[0]

    batches = [np.eye(4), np.arange(16.0).reshape(4, 4)]
    expected = [adbc.jacrev(f)(X).T @ b.T for b in batches]
    x = X.copy()
    _, pullback = adbc.vjp(f, x, width=4)
    np.testing.assert_allclose(pullback(batches[0])[0].T, expected[0])
    with pytest.raises(adbc.errors.PullbackConsumedError):
        pullback(batches[0])
    x = X.copy()
    _, pullback = adbc.vjp(f, x, width=4, reusable=True)
    found = [pullback(b)[0] for b in (*batches, batches[0])]
    for one, by in zip(found, (*expected, expected[0]), strict=True):
        np.testing.assert_allclose(one.T, by)
    np.testing.assert_array_equal(x, X)
    x[0] += 1.0
    with pytest.raises(ValueError, match="has been changed"):
        pullback(batches[0])


def test_what_a_function_returns_besides() -> None:
    value, pullback, aux = adbc.vjp(lambda x: (x * x, "seen"), X, has_aux=True, width=2)
    np.testing.assert_array_equal(value, X * X)
    assert aux == "seen"
    np.testing.assert_allclose(pullback(np.ones((2, 4)))[0], [2.0 * X] * 2)


def test_no_cotangent_is_zero() -> None:
    _, pullback = adbc.vjp(lambda x, y: (x * y, [y]), X, 2.0, width=2)
    bx, by = pullback((None, [np.array([1.0, 3.0])]))
    np.testing.assert_array_equal(bx, np.zeros((2, 4)))
    np.testing.assert_array_equal(by, [1.0, 3.0])


@pytest.mark.parametrize(
    ("cotangent", "message"),
    [
        (np.ones((3, 4)), "a batch of 3, but the width is 2"),
        (1.0, "a float, but a batch of 2"),
        (np.ones((2, 5)), "in each lane"),
        (np.array(1.0), "of shape \\(\\), but the width is 2"),
    ],
)
def test_batches_that_do_not_fit_are_refused_before_anything_is_done(cotangent: Any, message: str) -> None:
    x = X.copy()

    def f(x: Any) -> Any:
        x *= 2.0
        return x

    _, pullback = adbc.vjp(f, x, width=2)
    with pytest.raises(adbc.errors.InvalidTangentError, match=message):
        pullback(cotangent)
    np.testing.assert_allclose(pullback(np.ones((2, 4)))[0], np.full((2, 4), 2.0))


@pytest.mark.parametrize("width", [0, -1, 2.0, True])
def test_a_width_is_a_number_from_one_on(width: Any) -> None:
    with pytest.raises(adbc.errors.ArgumentError, match="width"):
        adbc.vjp(math.sin, 1.0, width=width)


@pytest.mark.parametrize("options", [{}, {"reusable": True}])
def test_a_batch_inside_of_a_derivative_is_refused(options: Any) -> None:
    def f(x: float) -> Any:
        return adbc.vjp(lambda y: y * y, x, width=2, **options)[1](np.ones(2))[0].sum()

    with pytest.raises(adbc.errors.UnsupportedError, match="width="):
        adbc.grad(f)(2.0)
    assert adbc.grad(lambda x: adbc.vjp(lambda y: y * y, x, width=None)[1](1.0)[0])(2.0) == 2.0


def test_the_tester_of_rules_finds_wrong_lanes(monkeypatch: pytest.MonkeyPatch) -> None:
    from adbc.runtime.entry.batches import BatchedPullback

    check_rule(forward.formulas, X, width=2, mode="reverse")
    back = BatchedPullback._back
    monkeypatch.setattr(BatchedPullback, "_back", lambda self, c: tuple(t[::-1] for t in back(self, c)))
    with pytest.raises(AssertionError, match="batches back: lanes"):
        check_rule(forward.formulas, X, width=2, mode="reverse")


# -- Jacobians -----------------------------------------------------------------------------------------------


@pytest.fixture
def always(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Jacobians in reverse mode take batches for two rows and more; gives the widths that were taken."""
    widths: list[int] = []
    made = rows.BatchedPullback

    def note(engine: Any, f: Any, given: Any, width: int, **options: Any) -> Any:
        widths.append(width)
        return made(engine, f, given, width, **options)

    monkeypatch.setattr(rows, "BatchedPullback", note)
    monkeypatch.setattr(rows, "_FEWEST_ROWS", 2)
    return widths


def structured(d: Any, k: float) -> Any:
    d["x"] *= 2.0
    return {"a": d["x"] * d["y"] * k, "b": [d["x"] ** 2, (k, math.sin(k))]}


JACOBIANS = [
    (forward.formulas, (X,), 0),
    (structured, ({"x": 2.0, "y": X[:3]}, 0.5), (0, 1)),
    (lambda x, y: [x * y, x + y, math.sin(x)], (2.0, 3.0), (0, 1)),
    (lambda xs, k: [v * xs[0] * k for v in xs], ([1.0, 2.0, 3.0], 0.5), 1),
    (lambda x: np.outer(x, x), (X,), 0),
    (lambda x: (x[0] * 2.0, x.astype(np.float32)), (X,), 0),
]


@pytest.mark.parametrize("most", [64, 3])
@pytest.mark.parametrize("f, args, argnums", JACOBIANS)
def test_jacobians(f: Any, args: Any, argnums: Any, most: int, always: list[int], monkeypatch: Any) -> None:
    monkeypatch.setattr(rows, "_MOST_ROWS", most)
    rows._counted.clear()
    given = duplicate(list(args))
    first = adbc.jacrev(f, argnums)(*given)  # nobody knows yet how many rows there are
    assert not always
    for _ in range(2):
        found = adbc.jacrev(f, argnums)(*given)
        assert_same(first, found, "Jacobian", rtol=1e-6 if f is JACOBIANS[-1][0] else 1e-12)
        assert_same(list(args), given, "arguments")
    assert len(always) == 2 and max(always) <= most


def test_the_number_of_rows_changes(always: list[int]) -> None:
    def f(x: Any, n: int) -> Any:
        return [x[0] ** k for k in range(1, n)]

    for n in (4, 4, 7, 7, 3, 9):
        found = adbc.jacrev(f)(X, n)
        np.testing.assert_allclose([row[0] for row in found], [k * X[0] ** (k - 1) for k in range(1, n)])
    assert always == [3, 3, 6, 6] or always[0] == 3


def test_what_is_kept_from_call_to_call_is_put_back(always: list[int]) -> None:
    total = np.zeros(4)

    def f(x: Any) -> Any:
        total[:] += x
        return total * x

    for _ in range(3):
        np.testing.assert_allclose(adbc.jacrev(f)(X), np.diag(2.0 * X))
        np.testing.assert_array_equal(total, 0.0)
    assert always


def test_a_function_that_batches_cannot_go_through_has_its_rows_one_by_one(always: list[int]) -> None:
    runs = np.zeros(1)

    def f(x: Any) -> Any:
        runs[0] += 1.0
        whole = np.array([x[0], None], dtype=object)
        whole[1] = x[1] * 2.0
        return [(whole * whole).sum() * runs[0], x[2], x[3]]

    for _ in range(3):
        found = adbc.jacrev(f)(X)
        np.testing.assert_allclose(found[0], [1.0, 12.0, 0.0, 0.0])
        np.testing.assert_array_equal(runs, 0.0)
    assert len(always) == 1  # it is tried once


def test_jacobians_inside_of_derivatives(always: list[int]) -> None:
    def f(x: Any) -> Any:
        return adbc.jacrev(lambda y: y * y * y)(x).sum()

    np.testing.assert_allclose(adbc.grad(f)(X), 6.0 * X, rtol=1e-12)


def test_values_and_jacobians_of_wide_functions(always: list[int]) -> None:
    a = np.arange(20.0).reshape(4, 5)
    x = np.linspace(0.1, 1.0, 5)
    for _ in range(3):
        value, found = adbc.value_and_jacobian(lambda x: np.sin(a @ x))(x)
        np.testing.assert_allclose(value, np.sin(a @ x))
        np.testing.assert_allclose(found, np.cos(a @ x)[:, None] * a)
        np.testing.assert_allclose(adbc.jacrev(adbc.grad(lambda x: (x**3).sum()))(x), np.diag(6.0 * x))
