"""What NumPy says of floating-point numbers in a differentiated call: what it says in the plain one, about
the same lines, and under the settings that the function makes."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adbc

Told = tuple[Any, list[tuple[Any, ...]], list[str], Any]

POINTS = {
    "zeros": np.zeros(3),
    "huge": np.array([1e200, 1e308, 1.0]),
    "tiny": np.array([1e-310, 1e-200, -1e-310]),
    "infinite": np.array([np.inf, 0.0, -1.0]),
    "unit": np.array([1.0, -1.0, 0.0]),
    "nan": np.array([np.nan, 1.0, 0.0]),
}

OF_ONE = [
    "sqrt",
    "log",
    "log2",
    "log10",
    "log1p",
    "exp",
    "exp2",
    "expm1",
    "reciprocal",
    "arcsin",
    "arccos",
    "arccosh",
    "arctanh",
    "tan",
    "cbrt",
    "sinc",
    "abs",
    "sinh",
    "square",
]
OF_TWO = [
    "power",
    "divide",
    "arctan2",
    "hypot",
    "fmod",
    "remainder",
    "float_power",
    "logaddexp",
    "maximum",
    "copysign",
    "multiply",
    "add",
    "subtract",
]

PROGRAMS = {
    **{f"{u} of arrays": f"y = np.{u}(x)\n    z = y * y\n    return z.sum()" for u in OF_ONE},
    **{
        f"difference of {u}": f"y = np.{u}(x) - np.{u}(x)\n    return np.where(np.isfinite(y), y, 0.0).sum()"
        for u in OF_ONE
    },
    **{
        f"{u} of numbers": "s = np.float64(0.0)\n    for v in x:\n"
        f"        w = np.{u}(v)\n        s = s + w * v\n    return s"
        for u in OF_ONE
    },
    **{f"{u} of two arrays": f"y = np.{u}(x, x[::-1])\n    return (y * 2).sum()" for u in OF_TWO},
    **{
        f"{u} of two numbers": f"s = np.float64(1.0)\n    for v in x:\n        s = np.{u}(s, v)\n    return s"
        for u in OF_TWO
    },
    "norm": "n = x / np.linalg.norm(x)\n    return n.sum()",
    "shares": "n = x / x.sum()\n    return (n * x).mean()",
    "entropy": "p = np.exp(x) / np.exp(x).sum()\n    return -(p * np.log(p)).sum()",
    "moments": "return np.var(x) / np.std(x) + np.prod(x)",
    "in place": "y = np.zeros_like(x)\n    y += x\n    y /= x\n    y **= 0.5\n    return y.sum()",
    "into": "y = np.empty_like(x)\n    np.log(x, out=y)\n    return y.sum()",
    "without NaN": "y = 1.0 / x\n    return np.nansum(y) + np.nanmax(x)",
    "cumulated": "return np.cumprod(x)[-1] / np.cumsum(x)[0]",
}


def said_by(call: Callable[[], Any], heard: list[str] | None = None) -> Told:
    """The exception that `call` ends with, the warnings, what was told to functions, and NumPy's settings
    after it, which are then put back."""
    ways, told, error = np.geterr(), np.geterrcall(), None
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            call()
        except (FloatingPointError, ValueError) as raised:
            error = type(raised), str(raised)
    after = np.geterr(), np.geterrcall()
    np.seterr(**ways)
    np.seterrcall(told)
    # What a function of NumPy's in Python computes is said about its caller where adbc has spared that.
    places = [
        (str(w.message), *((w.filename, w.lineno) if "numpy" not in w.filename else ())) for w in caught
    ]
    words = [] if heard is None else heard[:]
    if heard is not None:
        heard.clear()
    return error, places, words, after


def check_says_the_same(
    f: Callable[[Any], Any], x: Any, heard: list[str] | None = None, times: int = 4
) -> None:
    """Compare all ways to differentiate `f` at `x`, first and later, with the plain call."""
    expected = said_by(lambda: f(x.copy()), heard)
    gradient = adbc.grad(f)
    ways: dict[str, Callable[[], Any]] = {
        "jvp": lambda: adbc.jvp(f, (x.copy(),), (np.ones(len(x)),)),
        "grad": lambda: gradient(x.copy()),
        "vjp": lambda: adbc.vjp(f, x.copy())[1](1.0),
        "jvp of grad": lambda: adbc.jvp(adbc.grad(f), (x.copy(),), (np.ones(len(x)),)),
    }
    if f in (raised_and_passed_on, one_in_another):
        del ways["jvp of grad"]  # the value is not asked for, and not computed where no formula needs it
    for name, way in ways.items():
        for time in range(times):
            found = said_by(way, heard)
            assert _alike(found, expected), (name, time, found, expected)


def _alike(found: Told, expected: Told) -> bool:
    """Whether both are the same, up to the places of warnings in code of NumPy's in Python: where adbc spares
    that, they are about its caller."""
    places = zip(found[1], expected[1], strict=False)
    return (
        len(found[1]) == len(expected[1])
        and all(a[: len(b)] == b for a, b in places)
        and (found[0], found[2], found[3]) == (expected[0], expected[2], expected[3])
    )


@pytest.mark.parametrize("warm_after", [None, 0])  # interpreted first, and written at once
@pytest.mark.parametrize("name", PROGRAMS)
def test_warnings_are_those_of_the_function_alone(name: str, warm_after: int | None) -> None:
    namespace: dict[str, Any] = {"np": np}
    exec(compile(f"def f(x):\n    {PROGRAMS[name]}", f"<{name}>", "exec"), namespace)
    config = adbc.Config() if warm_after is None else adbc.Config(warm_after=warm_after)
    with adbc.use(config):
        for point in POINTS.values():
            check_says_the_same(namespace["f"], point, times=2)


# -- settings that the function makes ------------------------------------------------------------------


def raising(x: Any) -> Any:
    with np.errstate(all="raise"):
        y = np.sqrt(x)
        y = y * y
        return y.sum()


def handled(x: Any) -> Any:
    y = x
    with np.errstate(all="raise"):
        try:
            y = np.log(x)
        except FloatingPointError as error:
            y = x * len(str(error))
    return y.sum()


def asked_for(x: Any) -> Any:
    first = np.geterr()
    old = np.seterr(all="warn")
    try:
        y = np.sqrt(x)
        y = y * y
    finally:
        np.seterr(**old)
    if first != old or np.geterrcall() is not None:
        raise ValueError("these are not the settings of the plain call")
    return y.sum()


@np.errstate(all="raise")
def decorated(x: Any) -> Any:
    y = np.sqrt(x)
    y = y * y
    return y.sum()


def left_behind(x: Any) -> Any:
    np.seterr(divide="ignore", over="raise")
    return np.exp(np.log(x)).sum()


def one_in_another(x: Any) -> Any:
    with np.errstate(divide="ignore"):
        with np.errstate(invalid="raise"):
            y = np.log(x)
            y = np.exp(y) * 2
        z = np.log(x)
    w = np.log(x)
    return (y + np.exp(z) + np.exp(w)).sum()


def raised_and_passed_on(x: Any) -> Any:
    with np.errstate(divide="raise"):
        return (1 / x).sum()


def in_a_loop(x: Any) -> Any:
    s = 0.0
    for v in x:
        with np.errstate(all="raise"):
            s = s + np.sqrt(v) * np.sqrt(v)
    return s


class Model:
    def __init__(self) -> None:
        self.strict = np.errstate(all="raise")

    def value(self, x: Any) -> Any:
        with self.strict:
            y = np.sqrt(x)
            return (y * y).sum()


def of_an_object(x: Any) -> Any:
    return Model().value(x)


def roots(x: Any) -> Any:
    with np.errstate(all="raise"):
        for v in x:
            yield np.sqrt(v)


def of_a_generator(x: Any) -> Any:
    return sum(v * v for v in roots(x))


HEARD: list[str] = []


def told_to_a_function(x: Any) -> Any:
    with np.errstate(all="call", call=lambda *args: HEARD.append(str(args))):
        y = np.log(x)
    z = np.sqrt(x)
    z = z * z
    return z.sum() + np.exp(y).sum()


class Log:
    def write(self, text: str) -> None:
        HEARD.append(text)


def told_to_an_object(x: Any) -> Any:
    with np.errstate(all="log", call=Log()):
        y = np.log(x)
    return np.exp(y).sum()


SETTINGS = [
    raising, handled, asked_for, decorated, left_behind, one_in_another, raised_and_passed_on, in_a_loop,
    of_an_object, of_a_generator, told_to_a_function, told_to_an_object,
]  # fmt: skip


@pytest.mark.parametrize("f", SETTINGS)
def test_settings_mean_the_arithmetic_of_the_function(f: Callable[[Any], Any], speculation: str) -> None:
    for point in (np.zeros(3), np.array([1.0, 2.0, 4.0]), np.array([1.0, 0.0, 3.0])):
        check_says_the_same(f, point, HEARD)


def test_settings_around_the_call_mean_it_too(speculation: str) -> None:
    def f(x: Any) -> Any:
        y = np.sqrt(x)
        return (y * y).sum()

    with np.errstate(all="ignore"):
        quiet = adbc.jvp(f, (np.zeros(2),), (np.ones(2),))
    with np.errstate(all="raise"):
        for _ in range(4):
            assert adbc.jvp(f, (np.zeros(2),), (np.ones(2),)) == quiet
        with pytest.raises(FloatingPointError, match="divide by zero encountered in log"):
            adbc.jvp(lambda x: np.log(x).sum(), (np.zeros(2),), (np.ones(2),))
        assert set(np.geterr().values()) == {"raise"}


def test_a_refused_call_leaves_the_settings_as_they_were(speculation: str) -> None:
    def f(x: Any) -> Any:
        np.seterr(all="raise")
        return float(str(x.sum()))

    before = np.geterr()
    for _ in range(3):
        with pytest.raises(adbc.AdbcError):
            adbc.jvp(f, (np.ones(2),), (np.ones(2),))
        assert np.geterr() == before


def test_a_warning_that_is_an_error_comes_from_the_line(speculation: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(4):
            with pytest.raises(RuntimeWarning, match="divide by zero encountered in log"):
                adbc.jvp(lambda x: np.log(x).sum(), (np.zeros(2),), (np.ones(2),))
