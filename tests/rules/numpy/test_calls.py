"""Calls of NumPy's functions in forms that rows do not see in cases of their own: options that change the
argument, targets, values that stand for nothing given, numbers where arrays are usual."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import adbc
from adbc.errors import UnsupportedError
from adbc.testing import test_rule as check_rule

V = np.array([3.0, 1.0, 2.0, 5.0, 4.0])
W = np.arange(1.0, 6.0)


@pytest.fixture(autouse=True, params=["learn", "never", "dynamic", "always"])
def speculation(request: pytest.FixtureRequest) -> Iterator[None]:
    with adbc.use(adbc.Config(speculation=request.param)):
        yield


def with_nan(v: Any) -> Any:
    u = v.copy()
    u[1] = np.nan
    return u


def overwritten(v: Any) -> Any:
    u = v * 1.0
    return np.median(u, overwrite_input=True) * 3.0 + u @ W


def partitioned(v: Any) -> Any:
    u = v * v
    u.partition(1)
    return u @ W + np.partition(v, (0, 3)) @ W


def into(function: Callable[..., Any], shape: tuple[int, ...]) -> Callable[..., Any]:
    def f(v: Any) -> Any:
        w = np.empty(shape)
        w[...] = v[0]
        function(v, out=w)
        return np.sum(w * w)

    return f


class Wrapped:
    """Something that NumPy makes an array of."""

    def __init__(self, numbers: Any) -> None:
        self.numbers = numbers

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return self.numbers if dtype is None else self.numbers.astype(dtype)


def shared(v: Any) -> Any:
    u = v * 2.0
    np.asarray(Wrapped(u), copy=None)[0] = 7.0
    np.array(Wrapped(u))[1] = 8.0
    return u @ W


ARRAYS: dict[str, Callable[[Any], Any]] = {
    "median of what it overwrites": overwritten,
    "median of what nobody else has": lambda v: np.median(v.copy(), overwrite_input=True),
    "nanmedian": lambda v: np.nanmedian(with_nan(v)),
    "nanquantile": lambda v: np.nanquantile(with_nan(v), 0.3),
    "nanpercentile": lambda v: np.nanpercentile(with_nan(v), 30.0),
    "nanprod": lambda v: np.nanprod(with_nan(v)),
    "nansum": lambda v: np.nansum(with_nan(v)),
    "nanmax": lambda v: np.nanmax(with_nan(v)) * np.nanmin(with_nan(v)),
    "nanstd": lambda v: np.nanstd(with_nan(v)),
    "partition": partitioned,
    "out is an Ellipsis": lambda v: np.sum(np.sin(v, out=...) * W),
    "out is an Ellipsis for a number": lambda v: np.multiply(v[0], v[1], out=...) * v[2],
    "out of a sum": into(np.add.reduce, ()),
    "out of a product": into(np.multiply.reduce, ()),
    "out of running sums": into(np.add.accumulate, (5,)),
    "out of running products": into(np.multiply.accumulate, (5,)),
    "out of a function": into(np.cumsum, (5,)),
    "explicitly nothing": lambda v: np.prod(v, keepdims=np._NoValue, initial=np._NoValue, where=np._NoValue),  # type: ignore[call-overload,attr-defined]
    "running maximum": lambda v: np.maximum.accumulate(v) @ W + np.minimum.accumulate(v * v) @ W,
    "different values": lambda v: np.unique(np.concatenate((v, v * 1.0))) @ W,
    "inserted": lambda v: np.insert(v, 2, v[0])[1:] @ W + np.ediff1d(v, to_end=v[1]) @ W,
    "chosen": lambda v: np.choose([0, 1, 1, 0, 0], [v, v * v]) @ W,
    "chosen by a method": lambda v: np.array([0, 1, 4]).choose([v[:3], v[0]], mode="clip") @ W[:3],
    "products of vectors": lambda v: np.vecdot(v, W) * np.matvec(np.outer(v, W), v)[0],
    "quantiles of rows": lambda v: np.quantile(np.outer(v, W), [0.2, 0.5], axis=1, method="hazen").sum(),
    "quantiles of all": lambda v: np.quantile(v, 0.3, keepdims=True)[0] * np.percentile(v, 10.0 * v[0]),
    "poly1d": lambda v: np.array(np.poly1d(v), copy=None) @ W,
    "polymul": lambda v: np.polymul(np.poly1d(v), np.poly1d([1.0, 2.0]))(0.3),
    "made into arrays": shared,
    "fft along the usual axes": lambda v: np.abs(np.fft.fft2(np.outer(v, v), out=None)).sum(),
}


def differences(f: Callable[[Any], Any], v: Any) -> Any:
    steps = np.eye(len(v)) * 1e-6
    return np.array([(f(v + h) - f(v - h)) / 2e-6 for h in steps])


@pytest.mark.parametrize("name", ARRAYS)
def test_of_an_array(name: str) -> None:
    f = ARRAYS[name]
    for _ in range(2):
        value, gradient = adbc.value_and_grad(f)(V.copy())
        assert value == pytest.approx(f(V.copy()))
        assert gradient == pytest.approx(differences(f, V), rel=1e-6, abs=1e-6)
        for i, direction in enumerate(np.eye(len(V))):
            value, tangent = adbc.jvp(f, (V.copy(),), (direction,))
            assert value == pytest.approx(f(V.copy()))
            assert tangent == pytest.approx(gradient[i])


def test_what_a_median_overwrites_is_restored() -> None:
    def f(v: Any) -> Any:
        return np.median(v, overwrite_input=True) * v[0]

    v = V.copy()
    _, pullback = adbc.vjp(f, v)
    assert v[2] == 3.0
    pullback(1.0)
    assert v.tolist() == V.tolist()


def test_a_target_of_another_class() -> None:
    out = np.zeros(len(V)).view(np.matrix)
    check_rule(lambda v: np.sum(np.multiply(np.sin(v, out=out), v)) + out.sum(), V)


def test_a_target_with_a_mask_is_refused() -> None:
    out = np.ma.zeros(5)
    with pytest.raises(adbc.AdbcError):
        adbc.grad(lambda v: np.sum(np.sin(v, out=out)))(V)
    with pytest.raises(adbc.AdbcError):
        adbc.jvp(lambda v: np.sum(np.sin(v, out=out)), (V,), (V,))


def test_a_median_written_over_its_own_array_is_refused() -> None:
    def f(v: Any) -> Any:
        u = v * 1.0
        return np.median(u, overwrite_input=True, out=u[:1].reshape(()))

    with pytest.raises(UnsupportedError, match="Leave one of them out"):
        adbc.grad(f)(V)


# -- numbers -------------------------------------------------------------------------------------------------

NUMBERS: dict[str, tuple[Callable[[Any], Any], float]] = {
    "kron": (lambda x: np.kron(x, 2.0) * 1.0, 2.0),
    "kron with itself": (lambda x: np.kron(x, x) * 1.0, 1.4),
    "float and array": (lambda x: float(x) + x, 2.0),
    "complex and array": (lambda x: (complex(x) * x).real, 1.4),
    "complex of two arrays": (lambda x: abs(complex(x, x * x) * complex(x, 1.0)) ** 2, 5.15242000),
    "item of a number": (lambda x: np.float64(x).item() * x, 1.4),
}


@pytest.mark.parametrize("make", [float, np.float64, np.array])
@pytest.mark.parametrize("name", NUMBERS)
def test_of_a_number(name: str, make: Callable[[float], Any]) -> None:
    f, derivative = NUMBERS[name]
    value, gradient = adbc.value_and_grad(f)(make(0.7))
    assert value == pytest.approx(f(make(0.7))) and gradient == pytest.approx(derivative)
    value, tangent = adbc.jvp(f, (make(0.7),), (make(1.0),))
    assert value == pytest.approx(f(make(0.7))) and tangent == pytest.approx(derivative)


# -- a value without dimensions is a scalar ------------------------------------------------------------------

SCALARS: dict[str, tuple[Callable[[Any], Any], list[float]]] = {
    "array": (lambda v: np.array(v[0] * v[1]), [1.0, 3.0, 0.0, 0.0, 0.0]),
    "squeeze": (lambda v: np.squeeze(v[1:2]), [0.0, 1.0, 0.0, 0.0, 0.0]),
    "subscript": (lambda v: v[1, ...], [0.0, 1.0, 0.0, 0.0, 0.0]),
    "reshape": (lambda v: (v[:1] * v[1]).reshape(()), [1.0, 3.0, 0.0, 0.0, 0.0]),
}


@pytest.mark.parametrize("name", SCALARS)
def test_a_value_without_dimensions_is_a_scalar(name: str) -> None:
    f, derivative = SCALARS[name]
    for _ in range(3):
        value, gradient = adbc.value_and_grad(f)(V.copy())
        assert type(value) is np.ndarray and value.shape == () and value == f(V)
        assert gradient.tolist() == derivative
        assert adbc.grad(f)(V.copy()).tolist() == derivative
    value, pullback = adbc.vjp(f, V.copy())
    assert pullback(2.0)[0].tolist() == [2.0 * d for d in derivative]
    value, pullback = adbc.vjp(f, V.copy())
    assert pullback(np.array(2.0))[0].tolist() == [2.0 * d for d in derivative]
    value, tangent = adbc.jvp(f, (V.copy(),), (np.ones(5),))
    assert type(tangent) is np.ndarray and tangent.shape == () and tangent == sum(derivative)


def test_the_tangent_of_an_array_without_dimensions_may_be_a_number() -> None:
    value, tangent = adbc.jvp(lambda x: x * x, (np.array(3.0),), (1.0,))
    assert (value, tangent) == (9.0, 6.0)


# -- dtypes, layouts -----------------------------------------------------------------------------------------


DTYPES: dict[str, Callable[[Any], Any]] = {
    "larger, rounded": lambda v: np.maximum(v, 1.1 * v[::-1], dtype=np.float32) @ W,
    "smaller, rounded": lambda v: np.fmin(v, 1.1 * v[::-1], dtype=np.float32) @ W,
    "largest, rounded": lambda v: np.maximum.reduce(v * 1.1, dtype=np.float32) * v[0],
    "complex of real": lambda v: np.imag(np.arcsin(0.5 + v, dtype=complex) @ W),
    "across a cut": lambda v: (
        (np.arccos(-v - 0.5 + 0j) + np.arccosh(v - 4.5 + 0j) + np.arctanh(v + 1j)).imag @ W
    ),
    "the other side of a cut": lambda v: (
        np.real(np.arcsinh(v[0] * 1e-3 - 1j * (v + 1.0)) @ W)
        + np.real(np.arcsinh(1e-9 * v - 1j * (v + 1.0)) @ W)
    ),
    "real of complex": lambda v: np.exp((0.1 + 0.2j) * v, dtype=float, casting="unsafe") @ W,
    "real deviation of complex": lambda v: np.std(v + 0.5j * v * v, dtype=float),
    "real product of complex": lambda v: (
        np.prod(v + 0.5j * v, dtype=float) + np.cumprod(v + 1j * v, dtype=float) @ W
    ),
    "signature": lambda v: (np.log(-v, signature="D->D") @ W).real,
    "small integers": lambda v: np.arctan2(v, np.array([100, 20, 3, 100, 50], np.int8)) @ W,
    "truths": lambda v: np.arctan2(v > 2.5, v) @ W,
    "covariance": lambda v: np.cov(np.stack([v, v * v]).astype(np.float32))[0, 1],
}


@pytest.mark.parametrize("name", DTYPES)
@pytest.mark.filterwarnings("ignore:Casting complex values")
def test_options_decide_what_is_computed_with(name: str) -> None:
    f = DTYPES[name]
    expected = np.array([(f(V + h) - f(V - h)) / 2e-2 for h in np.eye(5) * 1e-2])
    for _ in range(2):
        value, gradient = adbc.value_and_grad(f)(V.copy())
        assert value == pytest.approx(f(V))
        assert gradient == pytest.approx(expected, rel=1e-3, abs=1e-3)
        tangents = [adbc.jvp(f, (V.copy(),), (d,))[1] for d in np.eye(5)]
        assert gradient == pytest.approx(tangents, rel=1e-5)


def test_elements_in_the_order_of_memory() -> None:
    x, w = np.asfortranarray(np.arange(1.0, 7.0).reshape(2, 3)), np.arange(6.0)
    for f in (
        lambda x: x.flatten(order="K") @ w,
        lambda x: x.ravel("K") @ w,
        lambda x: np.ravel(x * x, order="A") @ w,
    ):
        gradient = adbc.grad(f)(x)
        for d in np.eye(6).reshape(6, 2, 3):
            assert adbc.jvp(f, (x,), (np.asfortranarray(d),))[1] == pytest.approx(np.sum(gradient * d))
            try:  # this tangent has another layout than the array
                tangent = adbc.jvp(f, (x,), (d.copy(),))[1]
            except UnsupportedError:
                continue
            assert tangent == pytest.approx(np.sum(gradient * d))


def test_a_tangent_is_laid_out_like_its_array() -> None:
    def f(x: Any) -> Any:
        y = np.multiply.accumulate(x, axis=0)
        z = np.flipud(np.broadcast_to(x[0], (4, 3))) + 0.5
        return np.sum(y.reshape(-1) * np.arange(6.0)) + np.sum(z.reshape(-1) * np.arange(12.0))

    x = np.arange(1.0, 7.0).reshape(2, 3)
    gradient = adbc.grad(f)(x)
    assert adbc.jvp(f, (x,), (np.ones((2, 3)),))[1] == pytest.approx(np.sum(gradient))


NOTHING: dict[str, Callable[[Any], Any]] = {
    "full": lambda v: np.full((0, 4), v[0]),
    "sin": lambda v: np.sin(v[:0]),
    "prod": lambda v: np.multiply.reduce(np.outer(v, v)[:, :0], axis=(0,)),
    "max": lambda v: np.max(np.outer(v, v)[:0], axis=1),
}


@pytest.mark.parametrize("name", NOTHING)
def test_arrays_of_nothing_can_be_written_to(name: str) -> None:
    def f(v: Any) -> Any:
        y = NOTHING[name](v)
        y[...] = v[0]
        return np.sum(y) + v[1]

    assert adbc.grad(f)(V).tolist() == [0.0, 1.0, 0.0, 0.0, 0.0]
    assert adbc.jvp(f, (V.copy(),), (np.ones(5),))[1] == 1.0


# -- numbers of NumPy's as arrays ----------------------------------------------------------------------------

METHODS: dict[str, Callable[[Any], Any]] = {
    "T": lambda x: x.T * x,
    "sum": lambda x: x.sum() * x,
    "reshape": lambda x: (x.reshape(1, 1) * x)[0, 0],
    "squeeze": lambda x: x.squeeze() * x,
    "mean": lambda x: x.mean(keepdims=True) * x,
    "ravel": lambda x: (x.ravel() * x)[0],
    "subscript": lambda x: (x[None, ...] * x[()])[0],
    "real": lambda x: np.sum(np.real([x, 2.0]) * x) - 2.0 * x,
}


@pytest.mark.parametrize("name", METHODS)
def test_methods_of_numbers(name: str) -> None:
    f = METHODS[name]
    value, gradient = adbc.value_and_grad(f)(np.float64(0.7))
    assert type(value) is type(f(np.float64(0.7)))
    assert (value, gradient) == (pytest.approx(0.49), pytest.approx(1.4))
    assert adbc.jvp(f, (np.float64(0.7),), (np.float64(1.0),))[1] == pytest.approx(1.4)


@pytest.mark.parametrize(
    "text", ["x.sum(keepdims=True)", "x.__array__()", "x.fill(2.0)", "x.setflags()", "x.hex()", "x.view()"]
)
def test_methods_of_numbers_that_are_about_arrays(text: str) -> None:
    check_rule(eval(f"lambda x: ({text}, x * x)[1]"), np.float64(1.5))
    check_rule(eval(f"lambda x: {text}"), np.float64(1.5))


@pytest.mark.parametrize("name", ["all", "any"])
def test_truth_written_into_an_array(name: str) -> None:
    method = getattr(np.ndarray, name)
    for out in (np.zeros(2), np.zeros(2, bool)):
        check_rule(lambda x, out: method(x, 0, None, out), np.eye(2), out)
        check_rule(lambda x, out: method(x, axis=0, out=out), np.eye(2), out)
