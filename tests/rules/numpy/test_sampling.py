"""What functions return, found out on examples, is what they return."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import linalg

import adbc
from adbc.rules.numpy.sampling import sampled
from adbc.rules.table import ArrayLike, Known
from adbc.runtime import default_engine
from adbc.testing import test_rule as check_rule
from adbc.types import typeof
from adbc.types.lattice import FLOAT, INT, ArrayType, Exact, RealType

from .test_rows import CASES, _name


def describe(x: Any) -> Any:
    if isinstance(x, np.ndarray):
        return ArrayLike(x.dtype.name, x.ndim) if x.ndim else None
    if isinstance(x, tuple | list):
        parts = [describe(p) for p in x]
        return None if any(p is None for p in parts) else type(x)(parts)
    if type(x) in (int, bool, str, type(None), type):
        return Known(x)
    return type(x)


def describe_result(x: Any) -> Any:
    if type(x) is np.ndarray:
        return ArrayLike(x.dtype.name, x.ndim)
    return tuple(map(describe_result, x)) if type(x) is tuple else type(x)


def test_flags_are_tried_off() -> None:
    """With other numbers at the same time, an example with a flag off may be none that the function takes."""
    options = {"axis": (Known(-2), Known(-1)), "keepdims": bool, "ord": int}
    assert sampled(np.linalg.norm, [ArrayLike("float64", 2)], options) is None
    f = np.linalg.matrix_norm if hasattr(np.linalg, "matrix_norm") else np.linalg.norm
    for order in (1, 2, -2):
        check_rule(lambda a: f(a, ord=order), np.eye(3) + np.arange(9.0).reshape(3, 3) ** 2)  # noqa: B023
    assert sampled(np.sum, [ArrayLike("float64", 2)], {"keepdims": Known(True)}) == ArrayLike("float64", 2)
    assert sampled(np.sort, [ArrayLike("float64", 2), Known(-1)], {}) == ArrayLike("float64", 2)


def row_of(function: Any, args: tuple[Any, ...]) -> Any:
    return default_engine().table.find(function, tuple(map(type, args)))


def keywords_of(case: Any) -> dict[str, Any]:
    given = case[2]
    return {} if callable(given) else {k: v for k, v in given.items() if k != "float32"}


def is_asked(case: Any) -> bool:
    """Whether the row of a case makes examples, and all that it is given can be described."""
    function, make, _ = case
    args = make()
    row = row_of(function, args)
    given = (*args, *keywords_of(case).values())
    return row is not None and row.sample is not None and None not in map(describe, given)


@pytest.mark.parametrize("case", list(filter(is_asked, CASES)), ids=_name)
def test_the_example_is_like_the_call(case: Any) -> None:
    function, make, _ = case
    args, kwargs = make(), keywords_of(case)
    named = {k: describe(v) for k, v in kwargs.items()}
    found = row_of(function, args).sample(function, [describe(a) for a in args], named)
    if found is not None:
        result = describe_result(function(*args, **kwargs))
        if isinstance(found, ArrayLike) and found.ndim is None:
            assert isinstance(result, ArrayLike) and result.dtype == found.dtype
        else:
            assert found == result


def test_lengths_may_decide_about_the_axes() -> None:
    some = ArrayLike("float64", None)
    assert sampled(np.squeeze, [ArrayLike("float64", 2)], {}) == some
    assert sampled(np.tensordot, [ArrayLike("float64", 2)] * 2, {"axes": Known(2)}) == some
    assert sampled(np.where, [ArrayLike("bool", 2)], {}) == (ArrayLike("int64", 1),) * 2
    assert sampled(np.sum, [ArrayLike("float32", 2), Known(7)], {}) == ArrayLike("float32", 1)
    assert sampled(np.zeros, [(int, int)], {"dtype": Known(complex)}) == ArrayLike("complex128", 2)
    vector, matrix = ArrayLike("float64", 1), ArrayLike("float64", 2)
    assert sampled(np.reshape, [matrix, (Known(-1), Known(10))], {}) == matrix
    assert sampled(np.zeros, [object], {}) is None
    assert sampled(np.einsum, [matrix, (int, int)], {}) is None  # equal labels stand for a trace
    assert sampled(np.linalg.solve, [matrix, vector], {}) == vector


def scratch(x: Any) -> Any:
    n, m = x.shape
    y = np.zeros((n, m))
    total = 0
    for i in range(n):
        row = x[i].copy()
        for j in range(m):
            y[i, j] = row[j] * np.sin(x[i, j])
            total += y[i, j]
    stacked = np.stack([y.sum(axis=0), np.ones(m)])
    return total + np.max(stacked[0]) + np.array([total, 1.0, y[0, 0]]).sum()


def test_everything_in_a_loop_over_elements_has_a_type() -> None:
    x = np.linspace(0.1, 0.6, 6).reshape(2, 3)
    check_rule(scratch, x)
    engine = default_engine()
    with engine.lock:
        engine.clear()
    adbc.grad(scratch)(x)
    # Nothing is left to run time: all is of one rule.
    assert [str(r.parameters[0]) for r in engine.rules.values()] == ["Array[float64, 2]"]


def sums(x: Any, start: Any) -> Any:
    for i in range(len(x)):
        start = start + x[i] * x[i] if i % 2 else start * x[i]
    return start


@pytest.mark.parametrize("start", [1.5, 2, np.float64(0.5)])
def test_sums_that_begin_with_a_number_of_python(start: Any) -> None:
    x = np.array([0.5, 1.5, -0.7])
    check_rule(sums, x, start)
    value, gradient = adbc.value_and_grad(sums)(x, start)
    assert type(value) is type(sums(x, start))
    np.testing.assert_allclose(gradient[0], start * x[2] * 1.0)


def test_reals_join() -> None:
    float64 = typeof(np.float64(1.0))
    assert float64 == Exact(np.float64)
    from adbc.types.lattice import REAL, join

    assert join(FLOAT, float64) == RealType(frozenset({float, np.float64}))
    assert join(join(INT, float64), FLOAT) == RealType(frozenset({int, float, np.float64}))
    assert join(INT, FLOAT) == REAL
    assert str(join(FLOAT, float64)) == "Real[float, float64]"
    assert str(join(join(FLOAT, float64), ArrayType("float64", 1, np.ndarray))) == "Any"


KEPT = True


def test_an_option_that_is_not_known_leaves_the_form_open() -> None:
    assert sampled(np.sum, [ArrayLike("float64", 2)], {"keepdims": bool}) is None
    assert sampled(np.multiply, [ArrayLike("float64", 2), bool], {}) == ArrayLike("float64", 2)

    def kept(x: Any) -> Any:
        total = np.sum(x, keepdims=KEPT)
        total[0, 0] *= 2.0
        return total[0, 0] * x[0, 0]

    check_rule(kept, np.array([[0.5, 1.5], [2.0, 3.0]]))


def test_arrays_of_many_axes_are_not_made() -> None:
    """Else a function that calls itself with an axis more would be asked with one that fills the memory."""
    assert sampled(np.sin, [ArrayLike("float64", 8)], {}) == ArrayLike("float64", 8)
    assert sampled(np.sin, [ArrayLike("float64", 20)], {}) is None


def test_comparison_of_rotated_lists() -> None:
    lists = [[[4, 0], [6, 2]], [[5, 1], [7, 3]]]

    def f(x: float) -> float:
        a = np.arange(8).reshape((2, 2, 2))
        for k in range(1, 3):
            np.testing.assert_equal(np.rot90(a, k=k, axes=(2, 0)), np.rot90(lists, k=k - 1, axes=(2, 0)))
        return x * x

    assert adbc.value_and_grad(f)(1.5) == (2.25, 3.0)


def test_a_flag_is_no_reason_where_shapes_do_not_fit_anyhow() -> None:
    given = [ArrayLike("float64", 2), ArrayLike("float64", 1), int, bool]
    assert sampled(linalg.solve_triangular, given, {}) == ArrayLike("float64", 1)
