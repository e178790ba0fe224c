"""Functions that Numba has compiled are differentiated as the Python they were written in."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import adbc
from adbc.testing import test_rule as check_rule

numba = pytest.importorskip("numba")

MODES = ("learn", "never", "dynamic", "always")


@numba.njit
def helper(x: Any) -> Any:
    return x * x + np.sin(x)


def from_python(x: Any) -> Any:
    return helper(x) * 2.0


@numba.njit
def compiled_calls_compiled(x: Any) -> Any:
    return helper(x) * helper(2.0 * x)


@numba.njit(parallel=True)
def in_parallel(u: Any) -> Any:
    total = 0.0
    for i in numba.prange(u.size):
        total += u[i] * u[i]
    return total


@numba.njit(fastmath=True)
def with_fast_arithmetic(u: Any) -> Any:
    total = 0.0
    for i in range(u.size):
        total += np.exp(u[i])
    return total


@numba.njit
def squared(u: Any) -> None:
    for i in range(u.size):
        u[i] = u[i] * u[i]


def in_place(u: Any) -> Any:
    squared(u)
    return u.sum()


@numba.jit(nopython=True, nogil=True)
def with_options(x: Any, k: Any = 2.0) -> Any:
    return k * x**3


CASES: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "from Python": (from_python, (2.0,)),
    "itself": (helper, (2.0,)),
    "of an array": (lambda u: helper(u).sum(), (np.array([1.0, 2.0]),)),
    "compiled calls compiled": (compiled_calls_compiled, (2.0,)),
    "in parallel": (in_parallel, (np.array([1.0, 2.0, 3.0]),)),
    "fast arithmetic": (with_fast_arithmetic, (np.array([1.0, 2.0, 3.0]),)),
    "in place": (in_place, (np.array([1.0, 2.0, 3.0]),)),
    "defaults": (with_options, (2.0,)),
    "keywords": (lambda x: with_options(k=x, x=3.0), (2.0,)),
}


@numba.vectorize(["float64(float64, float64)"])
def product(a: Any, b: Any) -> Any:
    return a * b + a


@numba.vectorize
def chosen(a: Any, b: Any) -> Any:
    if a > b:
        return a * a
    return b * np.sin(a)


@numba.vectorize(["float32(float32)"])
def single(a: Any) -> Any:
    return a * a


@numba.vectorize(["int64(float64)"])
def rounded(a: Any) -> Any:
    return int(a)


@numba.guvectorize(["void(float64[:], float64[:], float64[:])"], "(n),(n)->()")
def inner(a: Any, b: Any, out: Any) -> None:
    total = 0.0
    for i in range(a.shape[0]):
        total += a[i] * b[i]
    out[0] = total


@numba.guvectorize(["void(float64[:], float64, float64[:])"], "(n),()->(n)")
def scaled(a: Any, k: Any, out: Any) -> None:
    for i in range(a.shape[0]):
        out[i] = a[i] * k * k


@numba.guvectorize(["void(float64[:], float64[:], float64[:])"], "(n),()->(n)")
def scaled_by_array(a: Any, k: Any, out: Any) -> None:
    for i in range(a.shape[0]):
        out[i] = a[i] * k[0]


U, V = np.array([1.0, 2.0, 3.0]), np.array([2.0, 0.5, 1.0])
M = np.arange(6.0).reshape(2, 3) / 3.0
UFUNCS: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "arrays": (lambda u, v: product(u, v), (U, V)),
    "broadcast": (lambda m, v: product(m, v), (M, V)),
    "with a number": (lambda u, k: chosen(u, k), (U, 1.5)),
    "numbers": (lambda x, y: product(x, y) * 2.0, (2.0, 3.0)),
    "a list": (lambda u: product(u, 2.0), ([1.0, 2.0],)),
    "single precision": (lambda u: single(u), (U.astype(np.float32),)),
    "an integer result": (lambda u: rounded(u) * u, (U + 0.25,)),
    "inner": (lambda u, v: inner(u, v), (U, V)),
    "inner, in loops": (lambda m, v: inner(m, v), (M, V)),
    "scaled": (lambda m, k: scaled(m, k), (M, np.array([2.0, 3.0]))),
    "scaled, by a number": (lambda u, k: scaled(u, k), (U, 2.0)),
    "scaled by an array": (lambda m, k: scaled_by_array(m, k), (M, np.array([2.0, 3.0]))),
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", CASES | UFUNCS)
def test_modes_agree_with_each_other_and_with_differences(name: str, mode: Any) -> None:
    function, args = (CASES | UFUNCS)[name]
    with adbc.use(adbc.Config(speculation=mode)):
        # Compiled code gives numbers of Python where the same code in Python gives numbers of NumPy.
        check_rule((lambda *xs: float(function(*xs))) if name in CASES else function, *args)


@pytest.mark.parametrize("name", CASES)
def test_values_are_those_of_compiled_code(name: str) -> None:
    function, args = CASES[name]
    copies = [x.copy() if isinstance(x, np.ndarray) else x for x in args]
    np.testing.assert_allclose(adbc.value_and_grad(function)(*args)[0], function(*copies))


@pytest.mark.parametrize("name", UFUNCS)
def test_ufuncs_give_what_compiled_code_gives(name: str) -> None:
    function, args = UFUNCS[name]
    value, _ = adbc.vjp(function, *args)
    wanted = function(*args)
    np.testing.assert_allclose(value, wanted)
    assert np.asarray(value).dtype == np.asarray(wanted).dtype and np.shape(value) == np.shape(wanted)


def test_what_is_not_covered_is_refused() -> None:
    out = np.zeros(3)
    with pytest.raises(adbc.errors.UnsupportedError, match="product, which Numba has compiled"):
        adbc.grad(lambda u: product(u, u, out=out).sum())(U)
    with pytest.raises(adbc.AdbcError):
        adbc.grad(lambda u: product.reduce(u))(U)


def test_numba_is_not_imported_for_others() -> None:
    program = "import adbc, sys; adbc.grad(lambda x: x * x)(2.0); assert 'numba' not in sys.modules"
    subprocess.run([sys.executable, "-c", program], check=True)
