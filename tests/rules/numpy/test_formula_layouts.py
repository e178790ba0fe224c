"""Formulas written inline, on arrays of other dtypes and layouts, empty, and one array given twice."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adbc
from adbc.errors import UnsupportedError
from adbc.runtime import default_engine
from adbc.testing import test_rule as check_rule

from .test_formulas import OF_NUMBERS, program_of
from .test_rows import _name, c, n, spd

SINGLE = {np.dtype("float64"): np.float32, np.dtype("complex128"): np.complex64}
KINKS = (np.max, np.min, np.ndarray.max, np.ndarray.min, np.maximum, np.minimum)


def can_be_laid_out_anew(case: Any) -> bool:
    """Whether there are active arrays, with memory of their own, whose layout is none of the function's
    business."""
    _, make, kwargs = case
    args = make()
    arrays = [x for x in args if isinstance(x, np.ndarray)]
    return (
        bool(active(args))
        and not any(np.may_share_memory(x, y) for i, x in enumerate(arrays) for y in arrays[:i])
        and not any(0 in x.strides for x in arrays)
        and kwargs.get("order", "C") in "CF"
    )


def program_and_arguments(case: Any) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    function, make, kwargs = case
    args = make()
    return program_of(function, len(args), kwargs, np.iscomplexobj(function(*make(), **kwargs))), args


def active(args: tuple[Any, ...]) -> tuple[int, ...]:
    return tuple(i for i, x in enumerate(args) if isinstance(x, np.ndarray) and x.dtype.kind in "fc")


def turned(x: Any) -> Any:
    """The same numbers, in memory the other way round."""
    if not isinstance(x, np.ndarray) or not x.ndim:
        return x
    return np.asfortranarray(x[::-1].copy())[::-1]


LAID_OUT = list(filter(can_be_laid_out_anew, OF_NUMBERS))


@pytest.mark.parametrize("case", LAID_OUT, ids=_name)
def test_formulas_in_single_precision_stay_single(case: Any) -> None:
    program, args = program_and_arguments(case)
    argnums = active(args)
    expected = adbc.grad(program, argnums)(*args)
    single = [x.astype(SINGLE[x.dtype]) if i in argnums else x for i, x in enumerate(args)]
    found = adbc.grad(program, argnums)(*single)
    for i, g, e in zip(argnums, found, expected, strict=True):
        assert g.dtype == single[i].dtype and g.shape == single[i].shape
        largest = np.max(np.abs(e), initial=0.0, where=np.isfinite(e))
        np.testing.assert_allclose(g, e, rtol=2e-3, atol=2e-3 * (1 + largest))


@pytest.mark.parametrize("case", LAID_OUT, ids=_name)
def test_formulas_do_not_depend_on_the_layout(case: Any) -> None:
    program, args = program_and_arguments(case)
    argnums = active(args)
    expected = adbc.grad(program, argnums)(*args)
    found = adbc.grad(program, argnums)(*map(turned, args))
    for g, e in zip(found, expected, strict=True):
        np.testing.assert_allclose(g, e, rtol=1e-10, atol=1e-12)


TWICE: list[Any] = [
    (np.kron, n(2, 3)),
    (np.kron, c(2)),
    (np.dot, n(3, 3)),
    (np.matmul, n(2, 3, 3)),
    (operator.matmul, c(3, 3)),
    (np.outer, n(3)),
    (np.inner, n(2, 3)),
    (np.vdot, n(4)),
    (np.linalg.solve, spd(3)),
    (np.divide, n(3)),
    (np.power, np.abs(n(3))),
    (np.arctan2, n(3)),
    (np.hypot, n(3)),
    (np.logaddexp, n(3)),
    (lambda a, b: np.einsum("ij,ij", a, b), n(2, 3)),
    (lambda a, b: np.einsum("ij,jk->ki", a, b), n(3, 3)),
    (lambda a, b: np.einsum("bij,bjk->bik", a, b), n(8, 17, 17) * 0.1),
    (lambda a, b: np.einsum("ij,kl->ijkl", a, b), n(2, 3)),
    (lambda a, b: np.tensordot(a, b, 1), n(3, 3)),
    (lambda a, b: np.tensordot(a, b, ((0, 1), (1, 0))), n(3, 3)),
    (lambda a, b: np.where(a > 0, a, b), n(3, 3)),
]


@pytest.mark.parametrize(("function", "x"), TWICE)
def test_an_array_given_twice_gets_both_cotangents(function: Any, x: Any) -> None:
    def program(x: Any) -> Any:
        y = function(x, x)
        return np.sum(np.real(y * np.conjugate(y)))

    def of_new(x: Any) -> Any:
        z = x + 0.0
        y = function(z, z)
        return np.sum(np.real(y * np.conjugate(y)))

    check_rule(program, x, rtol=2e-5)
    check_rule(of_new, x, rtol=2e-5)


EMPTY: list[Any] = [
    (np.kron, (0, 2), (3, 2)),
    (np.matmul, (2, 0), (0, 3)),
    (np.matmul, (0, 2), (2, 3)),
    (np.matmul, (0, 2, 3), (3, 2)),
    (np.matmul, (4, 0, 3), (3,)),
    (np.dot, (0, 2), (2, 0)),
    (np.outer, (0,), (3,)),
    (np.multiply, (0, 2), (2,)),
    (np.divide, (0, 2), (1, 2)),
    (np.maximum, (0,), (1,)),
    (lambda a, b: np.einsum("ij,jk->ik", a, b), (0, 2), (2, 3)),
    (lambda a, b: np.einsum("ij,jk->ik", a, b), (2, 0), (0, 3)),
    (lambda a, b: np.sum(a, axis=0) * b, (0, 2), (2,)),
    (lambda a, b: np.sum(a) * b, (0, 2), (2,)),
    (lambda a, b: np.mean(a * b, axis=1), (0, 2), (2,)),
    (lambda a, b: np.cumsum(a * b, axis=0), (0, 2), (2,)),
    (lambda a, b: (a * 2.0)[np.array([0, 1, 1])[:0]] * b, (3, 2), (2,)),
    (lambda a, b: np.tile(a * b, (2, 1)), (0, 2), (2,)),
    (lambda a, b: np.repeat(a * b, 0, axis=1), (3, 2), (2,)),
    (lambda a, b: np.linalg.solve(a + np.eye(0), b), (0, 0), (0, 2)),
    (lambda a, b: np.linalg.cholesky(a + np.eye(0)) @ b, (0, 0), (0, 2)),
]


@pytest.mark.parametrize(("function", "a", "b"), EMPTY)
def test_empty(function: Any, a: tuple[int, ...], b: tuple[int, ...]) -> None:
    def program(x: Any, y: Any) -> Any:
        z = function(x, y)
        return np.sum(z * z) + np.sum(y)

    check_rule(program, n(*a), n(*b))


def gathered(x: Any, i: Any) -> Any:
    y = x * x
    z = y[i]
    return np.sum(z * z * z) + np.sum(y)


def gathered_from_argument(x: Any, i: Any) -> Any:
    z = x[i]
    return np.sum(z * z) + np.sum(x[i] * 2.0)


def gathered_in_a_loop(x: Any, i: Any) -> Any:
    y = x * x
    total = 0.0
    for k in range(3):
        total = total + np.sum(y[i] ** (k + 2))
    return total


def changed_meanwhile(x: Any, i: Any) -> Any:
    """What is taken out is a copy, and the array goes on."""
    y = x * x
    z = y[i]
    y += 1.0
    return np.sum(z * z) + np.sum(y * y)


INDEXES: list[Any] = [
    np.array([0, 2, 2, 1, 0]),
    np.array([-1, 0, -1]),
    np.array([[0, 1], [1, 1]]),
    np.array([True, False, True]),
    np.array([False, False, False]),
    np.array([], int),
]


@pytest.mark.parametrize("program", [gathered, gathered_from_argument, gathered_in_a_loop, changed_meanwhile])
@pytest.mark.parametrize("index", INDEXES, ids=str)
def test_subscripts(program: Any, index: Any) -> None:
    check_rule(program, n(3), index)
    check_rule(program, n(3, 2), index)


def pairs(x: Any, i: Any, j: Any) -> Any:
    y = np.exp(x)
    return np.sum(y[i, j] ** 2) + np.sum(y[:, j] * y[i, 0][0]) + np.sum(y[i][:, None] * y[None, i])


def test_several_subscripts() -> None:
    check_rule(pairs, n(3, 4), np.array([0, 2, 2]), np.array([3, 1, 1]))


def views(x: Any) -> Any:
    y = x * x
    z = np.reshape(y, (3, 2)) @ y.reshape(2, 3)[:, ::-1]
    z = z + np.transpose(z) * z.T + np.swapaxes(z, 0, 1)
    d = np.diag(z) + np.diagonal(z, 1)[:1] + z.ravel()[:3] + np.flip(z, 0)[0]
    w = np.diag(d * d) + z[:, None, :][:, 0, :] + np.broadcast_to(d, (3, 3)) + np.fliplr(z) + np.flipud(z)
    return np.sum(w * w) + np.trace(z) + np.sum(np.moveaxis(w, 0, 1) * np.expand_dims(d, 0))


def viewed_and_changed(x: Any) -> Any:
    """The view shows what is written into the array behind it."""
    y = x * x
    z = y.reshape(3, 2)
    y[0, 1] = 3.0
    w = (x + 1.0).T
    w[0] *= 2.0
    return np.sum(z * z) + np.sum(w * w)


def viewed_by_others(x: Any) -> Any:
    y = x * x
    t = y.T
    kept = [t]
    kept[0][0, 0] = 7.0
    return np.sum(y * y)


def copied(x: Any) -> Any:
    y = np.copy(x * x)
    z = np.array(y) * y.astype(float) + np.asarray(y)
    return np.sum(z * y.flatten().reshape(2, 3))


@pytest.mark.parametrize("program", [views, viewed_and_changed, viewed_by_others, copied])
def test_views(program: Any) -> None:
    check_rule(program, n(2, 3))


def constants(x: Any) -> Any:
    eye = np.eye(3)
    ones = np.ones((3, 3))
    ones[0] = x[1]
    return np.sum((x + 2.0 * eye) ** 2) + np.sum(ones * x) + np.sum(np.arange(3) * x)


def updates(u: Any, v: Any, a: float) -> Any:
    for _ in range(2):
        u[1:-1] += 0.3 * (u[2:] - 2.0 * u[1:-1] + u[:-2])
        u[1:] -= u[:-1] * a
        u[::2] += v[::-1][: len(u[::2])]
        u += a
        u[:2] += u[1:3]
        u -= v * u
    return np.sum(u * u)


def wide(x: Any) -> Any:
    y = np.sum(np.exp(x), axis=0) + np.mean(x**2, axis=1, keepdims=True)[0]
    return np.sum(np.sin(y)) + np.mean(np.tanh(x)) + np.sum(np.abs(x)) + np.sum(-x) + np.sum(x**0)


def test_other_programs() -> None:
    check_rule(constants, n(3, 3))
    check_rule(updates, n(5), n(5), 0.7)
    check_rule(wide, n(3, 4))


def conjugated(x: Any) -> Any:
    """The method gives a real array itself."""
    y = x * x
    z = y.conj()
    z += x
    w = (x + 1j * x * x).conjugate()
    return np.sum(y * z) + np.sum(np.imag(w * w)) + np.sum(x.conj() * 3.0)


def test_conjugates() -> None:
    check_rule(conjugated, n(3))


def test_numbers_are_replaced_in_place() -> None:
    def program(x: Any) -> Any:
        y = x * 2.0
        z = np.nan_to_num(y, copy=False)
        z *= 2.0
        return np.sum(y * y)

    check_rule(program, n(3))


def test_an_array_that_overlaps_itself_is_not_added_to() -> None:
    def program(x: Any) -> Any:
        y = x * 1.0
        w = np.lib.stride_tricks.as_strided(y, (2, 2), (8, 8))
        w += 1.0
        return np.sum(y * y)

    with pytest.raises(UnsupportedError):
        adbc.grad(program)(np.arange(3.0))


def joined(x: Any, a: float) -> Any:
    y = x * x
    z = np.concatenate((y, x, np.sin(y)), axis=1)
    w = np.stack([y, y * 2.0], axis=-1)
    v = np.vstack((y, x[:1]))
    h = np.hstack([y[:, :1], x])
    c = np.column_stack((x[:, 0], y))
    d = np.dstack((y, x))
    r = np.array([[math.cos(a), -math.sin(a)], [math.sin(a), math.cos(a)]])
    q = np.array([a, a * a, 1.0], dtype=np.float64)
    m = np.array([y[0], x[0]])
    parts = np.concatenate([y, y], None)
    total = np.sum(z * z) + np.sum(w**3) + np.sum(v * v) + np.sum(h * h) + np.sum(c * c * c)
    return total + np.sum((r @ r) ** 2) + np.sum(q * q) + np.sum(m * m) + np.sum(d * d) + np.sum(parts**2)


def joined_and_changed(x: Any, a: float) -> Any:
    """What is made is memory of its own."""
    q = np.array([a, 2.0 * a])
    q[0] = q[1] * a
    z = np.concatenate([x, x * a], axis=-1)
    z += 1.0
    parts = [x, x * 2.0]
    w = np.stack(parts)
    parts.append(x)
    w[0] *= a
    return np.sum(q * q) + np.sum(z * z) + np.sum(w * w), z


def joined_from_a_list(x: Any, a: float) -> Any:
    """The list is used elsewhere too."""
    parts = [x, x * a]
    first = np.concatenate(parts)
    parts.reverse()
    return np.sum(first**3 * np.concatenate(parts)) + np.sum(np.array([x[0, 0], a]) * x[0, :2])


@pytest.mark.parametrize("program", [joined, joined_and_changed, joined_from_a_list])
def test_joined(program: Any) -> None:
    check_rule(program, n(2, 3), 0.3, rtol=2e-5)


@pytest.mark.usefixtures("at_once")
def test_what_is_joined_is_given_one_by_one() -> None:
    default_engine().clear()
    adbc.grad(joined)(n(2, 3), 0.3)
    (rule,) = default_engine().rules.values()
    assert "rrule" not in str(rule.graphs[0])


def with_keywords(x: Any) -> Any:
    """Memory, from functions with keywords."""
    y = np.max(x * x, axis=1, keepdims=True)
    y[0] = 2.0 * x[0, 0]
    z = np.sum(x, axis=0)
    z += x[0]
    np.multiply(z, x[0], out=z)
    w = np.add(x, x, where=x > 0.0, out=x.copy())
    return np.sum(y * y) + np.sum(z * z) + np.sum(w * w)


def test_rules_with_keywords_are_called_directly() -> None:
    check_rule(with_keywords, n(3, 4))
    default_engine().clear()
    adbc.grad(with_keywords)(n(3, 4))
    assert all("('axis'," not in str(rule.graphs) for rule in default_engine().rules.values())
