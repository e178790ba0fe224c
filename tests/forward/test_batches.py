"""Batches of tangents: each lane is the single tangent, whatever the function does."""

from __future__ import annotations

import array
import copy
import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adbc
from adbc.tangents import random_tangent
from adbc.testing import test_rule as check_rule
from adbc.testing.batches import stacked
from adbc.testing.values import assert_same, duplicate

MODES = ("always", "learn", "never")
X = np.array([0.5, 1.5, -0.7, 2.0])


def check(f: Callable[..., Any], *primals: Any, width: int = 3, rtol: float = 1e-12) -> Any:
    """Compare a batch with single tangents, often enough that interpreted code becomes written code."""
    rng = np.random.default_rng(5)
    directions = [[random_tangent(rng, x) for x in primals] for _ in range(width)]
    batch = [stacked([d[i] for d in directions]) for i in range(len(primals))]
    singles = [adbc.jvp(f, duplicate(list(primals)), duplicate(d))[1] for d in directions]
    for _ in range(3):
        value, tangents = adbc.jvp(f, duplicate(list(primals)), duplicate(batch), width=width)
        assert_same(f(*duplicate(list(primals))), value, "value", rtol=1e-12)
        assert_same(stacked(singles), tangents, "lanes", rtol=rtol)
    return tangents


class Spring:
    def __init__(self, k: float, rest: float) -> None:
        self.k, self.rest = k, rest

    def pull(self, x: float) -> float:
        self.rest = self.rest * 0.9 + 0.1 * x
        return 0.5 * self.k * (x - self.rest) ** 2


def branches(x: float, y: float) -> float:
    total = 1.0
    for i in range(6):
        total = total * math.exp(-x) if total > 2.0 else total + y * i
    return total


def closures(x: float, y: float) -> float:
    def scaled(z: float) -> float:
        nonlocal x
        x = x * z
        return x + y

    return scaled(y) + scaled(x)


def objects(k: float, x: float) -> Any:
    spring = Spring(k, 0.3)
    return spring.pull(x) + spring.pull(x * k), spring.rest


def containers(x: float, y: float) -> Any:
    values = [x, y, x * y]
    values.append(values[0] / values[1])
    table = {"a": values.pop(1), "b": tuple(values)}
    return table["a"] * sum(table["b"]) + max(values), table, sorted(values)


def generators(x: float, y: float) -> float:
    def powers() -> Any:
        p = x
        while p < 30.0:
            yield p
            p = p * (1.0 + y)

    return sum(v * y for v in powers())


def handled(x: float, y: float) -> float:
    try:
        y = y * x
        raise ValueError(y)
    except ValueError as error:
        return error.args[0] * x


SCALAR = [branches, closures, objects, containers, generators, handled]


@pytest.mark.parametrize("speculation", MODES)
@pytest.mark.parametrize("f", SCALAR, ids=lambda f: f.__name__)
def test_code_on_numbers(f: Any, speculation: str) -> None:
    with adbc.use(adbc.Config(speculation=speculation)):
        check(f, 1.3, 0.6)


def rosenbrock(x: Any) -> Any:
    return sum(100.0 * (b - a * a) ** 2 + (1 - a) ** 2 for a, b in itertools.pairwise(x))


def formulas(x: Any) -> Any:
    return np.sin(x) * np.exp(-x) + np.cumsum(x)


def broadcast(x: Any) -> Any:
    return x * x[0] + x[0] * np.ones((2, 1)) + np.outer(x, x)[:2] + x[1] * np.ones((4, 1, 1))


def views(x: Any) -> Any:
    y = x.copy()
    first = y[0]
    part = y[1:].reshape(3, 1).T
    y[1:] += 2.0 * y[:-1]
    part *= x[1]
    y[0] = part[0, 1] * y[2]
    y[[1, 3]] = y[[3, 1]]
    y[y > 1.0] *= 0.5
    return y * first, part, y[::-1][None, ..., 1:]


def elements(x: Any) -> Any:
    total = 0.0
    for i in range(len(x)):
        total += x[i] * x[i - 1]
        x[i] = total
    return total, x.tolist(), [v * v for v in x]


def reductions(x: Any) -> Any:
    a = np.outer(x, x) + np.eye(4)
    return a.sum(axis=0), a.mean(), np.linalg.norm(a), a.max(axis=1), np.prod(x), np.trace(a), np.sort(x)


def joins(x: Any) -> Any:
    whole = np.stack([x, 2.0 * x, np.ones(4)], axis=1)
    return np.concatenate([whole, whole[:1]]), np.where(x > 0, x, x * x), np.array([x[0], 1.0, x[1] * x[2]])


def products(x: Any) -> Any:
    a = np.outer(x, x) + np.eye(4)
    return a @ x, x @ a, a @ a, x @ x, np.einsum("ij,jk->ki", a, a), np.linalg.solve(a, x), np.dot(a, x)


def rows(x: Any) -> Any:
    buffer = np.zeros((2, 4), order="F")
    buffer[0] = x
    np.multiply(x, x, out=buffer[1])
    return buffer, buffer.T.ravel(), buffer.reshape(-1)


def every_shape(x: Any) -> Any:
    a = np.outer(x, x) + np.diag([1.0, 2.0, 3.0, 4.0])
    b = a.copy(order="F")
    b *= x
    b[1] = a[0] * x[0]
    b[:, 2] = x[1]
    b[[0, 1], [1, 2]] = x[3]
    b.T[0] = a[2]
    np.copyto(b[0], x * x[0])
    parts = a.reshape(8, 2), b.reshape(-1, order="F"), np.moveaxis(a, 0, 1), np.flip(b), np.roll(a, 1, axis=0)
    sums = b.cumsum(0), a.sum(-1, keepdims=True), np.diff(a, axis=0), np.var(b, axis=0), np.add.outer(x, x)
    return b, parts, sums, x[:, None] * b, x[[2, 0]], a[x > 0], np.tile(x, 2), np.linalg.inv(a)


ARRAYS = [rosenbrock, formulas, broadcast, views, elements, reductions, joins, products, rows, every_shape]


@pytest.mark.parametrize("speculation", MODES[1:])
@pytest.mark.parametrize("f", ARRAYS, ids=lambda f: f.__name__)
def test_code_on_arrays(f: Any, speculation: str) -> None:
    with adbc.use(adbc.Config(speculation=speculation)):
        check(
            f, X, width=len(X)
        )  # as many lanes as there are elements: an axis taken for lanes would be seen


def test_numbers_stay_what_they_are_when_arrays_are_written_to() -> None:
    def f(x: Any) -> Any:
        whole = np.array(x[0])
        product = np.dot(x, x, out=whole)
        first, last, one = x[0], x.item(3), whole[()]
        x[:] = 5.0 * x
        whole += x[1]
        return product, first, last, one, whole

    check(f, X, width=4)


def test_float32_stays_float32() -> None:
    def f(x: Any) -> Any:
        return np.sin(x) * x[0] + x.sum()

    assert check(f, X.astype(np.float32), rtol=1e-5).dtype == np.float32


def test_complex_numbers() -> None:
    check(lambda z: (z * z.conjugate(), np.exp(z), abs(z)), X + 1j)
    check(lambda z: z * z + z.real, 0.3 + 2.0j)


def test_lanes_of_zeros_stay_exactly_zero() -> None:
    def f(x: Any, y: float) -> Any:
        return np.sqrt(x) * y, math.sqrt(y - y), x / (x - x + 1e-300)

    batch = np.zeros((2, 4)), np.zeros(2)
    _, tangents = adbc.jvp(f, (np.abs(X) * [0.0, 1.0, 1.0, 1.0], 2.0), batch, width=2)
    for t in tangents:
        assert not np.any(t)


def test_what_does_not_depend_on_the_input_has_zeros() -> None:
    _, tangent = adbc.jvp(lambda x: ([2.0], np.ones(3)), (1.0,), (np.ones(2),), width=2)
    assert_same(([np.zeros(2)], np.zeros((2, 3))), tangent, "zeros")


def test_the_function_is_run_once() -> None:
    runs = []

    def f(x: Any) -> Any:
        runs.append(1)
        x *= 2.0
        return x.sum()

    x = X.copy()
    adbc.jvp(f, (x,), (np.eye(4),), width=4)
    assert len(runs) == 1
    np.testing.assert_array_equal(x, 2.0 * X)


def test_one_memory_has_one_batch() -> None:
    def f(whole: Any, part: Any) -> Any:
        part *= whole[0]
        return whole.sum()

    x = X.copy()
    t = np.arange(8.0).reshape(2, 4)
    for lane in t:
        y, d = X.copy(), lane.copy()
        single = adbc.jvp(f, (y, y[1:]), (d, d[1:]))[1]
        both = adbc.jvp(
            f, (z := X.copy(), z[1:]), (np.stack([lane, lane]), np.stack([lane[1:]] * 2)), width=2
        )[1]
        np.testing.assert_allclose(both, [single, single], rtol=1e-14)
    with pytest.raises(adbc.errors.InvalidTangentError, match="several tangents"):
        adbc.jvp(f, (x, x[1:]), (t, t[:, 1:] + 1.0), width=2)


def test_the_memory_of_an_argument_is_met_by_another_name() -> None:
    whole = np.arange(1.0, 5.0)
    part, again = whole[1:3], whole.reshape(2, 2)

    def f(x: Any) -> Any:
        part[0] = 3.0 * x.ravel()[0]
        return again * part[0] + again[1, 0]

    before = whole.copy()
    for x in (whole, again):
        t = np.eye(4).reshape(4, *x.shape)
        whole[:] = before
        tangents = adbc.jvp(f, (x,), (t,), width=4)[1]
        for lane in range(4):
            whole[:] = before
            np.testing.assert_allclose(tangents[lane], adbc.jvp(f, (x,), (t[lane].copy(),))[1], rtol=1e-14)


def test_what_a_rule_has_changed_is_not_changed_again() -> None:
    def f(x: Any) -> Any:
        y = x * 1.0
        return np.median(y, overwrite_input=True) * 3.0 + y @ np.arange(4.0)

    np.testing.assert_allclose(adbc.jacfwd(f, chunk_size=4)(X), adbc.grad(f)(X))


def test_errors_of_the_function_are_its_own() -> None:
    def f(x: Any) -> Any:
        try:
            return np.linalg.solve(x * np.zeros((4, 4)), x)
        except np.linalg.LinAlgError:
            return x * x

    check(f, X)
    with pytest.raises(ValueError, match="reshape"):
        adbc.jvp(lambda x: x.reshape(3, 2), (X,), (np.eye(4),), width=4)


def test_captured_and_global_memory() -> None:
    kept = np.zeros(4)

    def f(x: Any) -> Any:
        kept[1:3] = x[:2]
        return (kept * x).sum()

    check(f, X)


# -- rules -------------------------------------------------------------------------------------------------


def test_a_rule_of_a_user_is_called_for_each_lane() -> None:
    seen = []

    def scaled(x: Any, k: float) -> Any:
        x *= k
        return x.sum()

    def frule(args: Any, tangents: Any) -> Any:
        x, k = args
        dx, dk = tangents
        assert isinstance(dk, float) and dx.shape == x.shape
        seen.append(float(x[0]))
        dx[...] = dx * k + x * dk
        x *= k
        return x.sum(), dx.sum()

    adbc.primitive(scaled, frule=_flat(frule), rrule=_no_reverse)

    def f(x: Any, k: float) -> Any:
        total = scaled(x, k)
        return total * x

    x, t = X.copy(), np.eye(4)[:3]
    _, tangent = adbc.jvp(f, (x, 2.0), (t, np.array([0.0, 1.0, 0.0])), width=3)
    np.testing.assert_array_equal(x, 2.0 * X)
    assert len(seen) == 3 and len(set(seen)) == 1
    for lane, (dx, dk) in enumerate(zip(t, [0.0, 1.0, 0.0], strict=True)):
        d = 2.0 * dx + X * dk
        np.testing.assert_allclose(tangent[lane], d.sum() * 2.0 * X + (2.0 * X).sum() * d)


def _flat(frule: Any) -> Any:
    def rule(f: Any, *duals: Any) -> Any:
        out, dout = frule([d.primal for d in duals], [d.tangent for d in duals])
        return adbc.Dual(out, dout)

    return rule


def _no_reverse(*duals: Any) -> Any:
    raise AssertionError("not called")


def test_a_rule_that_gives_something_else_in_each_call_is_refused() -> None:
    def drawn(x: float) -> float:
        return x * next(numbers)

    def frule(args: Any, tangents: Any) -> Any:
        k = next(numbers)
        return args[0] * k, tangents[0] * k

    numbers = iter([1.0, 2.0, 3.0])
    adbc.primitive(drawn, frule=_flat(frule), rrule=_no_reverse)
    with pytest.raises(adbc.errors.BatchError, match="called for each lane"):
        adbc.jvp(lambda x: drawn(x), (2.0,), (np.ones(2),), width=2)


def test_a_rule_for_each_lane_finds_one_object_in_two_places() -> None:
    def grow(pair: Any, k: float) -> Any:
        """Changes the list that is the first and may be the second, and gives it twice, and a new one."""
        pair[0][0] *= k
        new = [k * pair[1][0]]
        return [pair[0], new, new]

    def frule(args: Any, tangents: Any) -> Any:
        (pair, k), (dpair, dk) = args, tangents
        dpair[0][0] = dpair[0][0] * k + pair[0][0] * dk
        out = grow(pair, k)
        new = [dk * pair[1][0] + k * dpair[1][0]]
        return out, [dpair[0], new, new]

    adbc.primitive(grow, frule=_flat(frule), rrule=_no_reverse)

    def f(x: float, y: float, k: float) -> Any:
        a = [x, y]
        first, new, again = grow([a, a], k)
        first[1] *= k
        again[0] *= y
        return a[0] * a[1] + new[0]

    batch = np.eye(3)
    _, tangents = adbc.jvp(f, (2.0, 3.0, 5.0), tuple(batch), width=3)
    singles = [adbc.jvp(f, (2.0, 3.0, 5.0), tuple(row))[1] for row in batch]
    np.testing.assert_allclose(tangents, singles, rtol=1e-14)
    # x k y k + k x k y = 2 x y k^2
    np.testing.assert_allclose(singles, [150.0, 100.0, 120.0], rtol=1e-14)


def test_results_of_a_rule_that_share_new_memory_are_not_put_together() -> None:
    def parts(x: Any) -> Any:
        new = x * 2.0
        return new, new[1:]

    def frule(args: Any, tangents: Any) -> Any:
        return parts(args[0]), parts(tangents[0])

    adbc.primitive(parts, frule=_flat(frule), rrule=_no_reverse)

    def f(x: Any) -> Any:
        whole, part = parts(x)
        part *= x[0]
        return whole.sum()

    with pytest.raises(adbc.errors.BatchError, match="one memory"):
        adbc.jvp(f, (X,), (np.eye(4),), width=4)
    np.testing.assert_allclose(adbc.jacfwd(f, chunk_size=4)(X), [2.0 + 2.0 * X[1:].sum(), *[2.0 * X[0]] * 3])


def copied(x: Any) -> Any:
    shared = [x[0], x[1] * x[2]]
    whole = [shared, shared, {"a": shared}]
    made: Any = copy.deepcopy(whole)
    made[0][0] *= x[3]
    made[2]["a"].append(x[1])
    return made[1][0] * made[1][2], whole


def copied_arrays(x: Any) -> Any:
    part = x[:2] * x[2]
    made = copy.deepcopy([part, (part, x)])
    made[0] *= 3.0
    return made[1][0] * part, made


class Holding:
    def __init__(self, p: Any) -> None:
        self.p = self.q = p


def copied_objects(x: Any) -> Any:
    held = Holding([x[0] * x[1]])
    held.me = held  # type: ignore[attr-defined]
    made = copy.deepcopy(held)
    made.me.p[0] *= x[2]  # type: ignore[attr-defined]
    return made.q[0], held.p[0]


@pytest.mark.parametrize("speculation", MODES)
@pytest.mark.parametrize("f", [copied, copied_arrays, copied_objects], ids=lambda f: f.__name__)
def test_what_is_one_object_stays_one_in_copies(f: Any, speculation: str) -> None:
    with adbc.use(adbc.Config(speculation=speculation)):
        check(f, X, width=4)


def gathered(x: Any) -> Any:
    a, b, c = x[x > 0.0], np.outer(x, x)[np.array([2, 0])], np.outer(x, x)[:, [2, 1]]
    rows = a.ravel(), b.ravel(), c.ravel(), a.reshape(-1), b.reshape(-1)
    a *= x[0]
    b[0] *= 2.0
    return rows, b.T.ravel(), np.unique(x).ravel()


def ordered_in_place(x: Any) -> Any:
    a, b, c = x * 1.0, np.outer(x, x), x * x
    a.sort()
    b.sort(axis=0)
    c.partition(2)
    return a, b, c[2], np.transpose(b, [1, 0]), b.transpose(np.array([1, 0])), b.transpose(np.int64(1), 0)


@pytest.mark.parametrize("f", [gathered, ordered_in_place], ids=lambda f: f.__name__)
def test_batches_lie_in_memory_as_their_arrays_do(f: Any) -> None:
    for _ in range(4):
        check(f, X, width=4)


def test_rules_give_batches() -> None:
    rule = adbc.build_frule(adbc.Signature.of(elements, X), width=2)
    x, t = X.copy(), np.random.default_rng(0).normal(size=(2, 4))
    given = t.copy()
    out = rule(adbc.Dual(elements, adbc.NoTangent()), adbc.Dual(x, given))
    for lane in range(2):
        y, d = X.copy(), t[lane].copy()
        expected = adbc.jvp(elements, (y,), (d,))[1]
        np.testing.assert_allclose(out.tangent[0][lane], expected[0], rtol=1e-13)
        np.testing.assert_allclose(given[lane], d, rtol=1e-13)  # changed as the argument is


@pytest.mark.parametrize("f", [np.multiply, np.dot, math.atan2, np.matmul], ids=str)
def test_the_tester_of_rules_takes_a_width(f: Any) -> None:
    arguments = (0.3, 1.2) if f is math.atan2 else (X, X + 1.0)
    check_rule(f, *arguments, width=3)


def test_the_tester_of_rules_finds_wrong_lanes() -> None:
    right = adbc.build_frule(adbc.Signature.of(formulas, X))

    from adbc.testing.rule import _Tester, _Tolerances

    tester = _Tester([formulas, X], np.random.default_rng(0), _Tolerances(1e-6, 1e-9, 1e-11, 1e-12, 1e-2))
    wide = adbc.build_frule(adbc.Signature.of(formulas, X), width=2)

    def swapped(*duals: Any) -> Any:
        out = wide(*duals)
        return adbc.Dual(out.primal, out.tangent[::-1])

    tester.check_batch(right, wide, 2)
    with pytest.raises(AssertionError, match="batches: lanes"):
        tester.check_batch(right, swapped, 2)


# -- refusals ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tangents", "message"),
    [
        ((np.ones(3), np.ones((2, 4))), "a batch of 3, but the width is 2"),
        ((1.0, np.ones((2, 4))), "a float, but a batch of 2"),
        ((np.ones(2), np.ones((2, 5))), "in each lane"),
        ((np.array(1.0), np.ones((2, 4))), "of shape \\(\\), but the width is 2"),
    ],
)
def test_batches_that_do_not_fit_are_refused(tangents: Any, message: str) -> None:
    with pytest.raises(adbc.errors.InvalidTangentError, match=message):
        adbc.jvp(lambda x, y: x * y, (1.0, X), tangents, width=2)


@pytest.mark.parametrize("width", [0, -1, 2.0, True])
def test_a_width_is_a_number_from_one_on(width: Any) -> None:
    with pytest.raises(adbc.errors.ArgumentError, match="width"):
        adbc.jvp(math.sin, (1.0,), (np.ones(2),), width=width)


def test_what_batches_cannot_do_is_refused() -> None:
    def f(x: Any) -> Any:
        whole = array.array("d", [1.0, 2.0])
        whole[1] = x
        return whole[0] * whole[1]

    with pytest.raises(adbc.errors.BatchError, match="without width"):
        adbc.jvp(f, (2.0,), (np.ones(2),), width=2)


def test_a_batch_inside_of_a_derivative_is_refused() -> None:
    def f(x: float) -> Any:
        return adbc.jvp(lambda y: y * y, (x,), (np.ones(2),), width=2)[1].sum()

    with pytest.raises(adbc.errors.AdbcError, match="width"):
        adbc.grad(f)(2.0)


# -- Jacobians ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("chunk_size", [None, 1, 3, 40])
def test_jacobians_in_chunks(chunk_size: int | None) -> None:
    x = np.linspace(0.1, 2.0, 10)
    found = adbc.jacfwd(formulas, chunk_size=chunk_size)(x)
    np.testing.assert_allclose(found, adbc.jacrev(formulas)(x), rtol=1e-12, atol=1e-14)


def banana(x: Any) -> Any:
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


def test_hessians_in_chunks() -> None:
    found = adbc.jacfwd(adbc.grad(banana), chunk_size=4)(X)
    np.testing.assert_allclose(
        np.diag(found)[:-1], 1200.0 * X[:-1] ** 2 - 400.0 * X[1:] + [2.0, 202.0, 202.0]
    )
    np.testing.assert_allclose(np.diag(found, 1), -400.0 * X[:-1])
    np.testing.assert_allclose(found, found.T, rtol=1e-12)


def test_jacobians_of_structures_in_chunks() -> None:
    def f(d: Any, k: float) -> Any:
        return {"a": d["x"] * d["y"] * k, "b": [d["x"] ** 2, (k, math.sin(k))]}

    arguments = {"x": 2.0, "y": X[:3]}, 0.5
    found = adbc.jacfwd(f, (0, 1), chunk_size=2)(*arguments)
    assert_same(adbc.jacfwd(f, (0, 1), chunk_size=None)(*arguments), found, "Jacobian", rtol=1e-13)


def test_a_function_that_batches_cannot_go_through_has_its_columns_one_by_one() -> None:
    runs = []

    def f(x: Any) -> Any:
        runs.append(1)
        whole = array.array("d", [1.0, 2.0])
        whole[0], whole[1] = x[0], x[1] * 2.0
        return whole[0] * whole[1]

    for expected in (1 + 4, 4):  # the first time a batch is tried
        runs.clear()
        np.testing.assert_allclose(adbc.jacfwd(f, chunk_size=4)(X), [3.0, 1.0, 0.0, 0.0])
        assert len(runs) == expected


def test_arrays_of_objects_have_their_columns_one_by_one() -> None:
    def f(x: Any) -> Any:
        whole = np.array([x[0], None], dtype=object)
        whole[1] = x[1] * 2.0
        return (whole * whole).sum()

    np.testing.assert_allclose(adbc.jacfwd(f, chunk_size=4)(X), [1.0, 12.0, 0.0, 0.0])


def test_chunks_inside_of_derivatives() -> None:
    def f(x: Any) -> Any:
        return adbc.jacfwd(lambda y: y * y * y, chunk_size=2)(x).sum()

    np.testing.assert_allclose(adbc.grad(f)(X[:3]), 6.0 * X[:3], rtol=1e-12)


@pytest.mark.parametrize("chunk_size", [0, True, 1.5])
def test_chunks_have_a_size(chunk_size: Any) -> None:
    with pytest.raises(adbc.errors.ArgumentError, match="chunk_size"):
        adbc.jacfwd(formulas, chunk_size=chunk_size)(X)
