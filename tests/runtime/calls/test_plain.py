"""Library code that nothing with a derivative reaches runs as it is; what is the user's is followed."""

from __future__ import annotations

import contextlib
import functools
import inspect
import io
import json
import logging
import math
import re
import sys
import types
import unittest.mock
from collections import ChainMap, OrderedDict, defaultdict
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adbc
from adbc.errors import AdbcError, UnsupportedError
from adbc.runtime import default_engine
from adbc.runtime.calls.plain import leads_nowhere

optimize = pytest.importorskip("scipy.optimize")
integrate = pytest.importorskip("scipy.integrate")
interpolate = pytest.importorskip("scipy.interpolate")

ARRAY = np.array([1.0, 2.0])
LIST = [1.0]


class Model:
    def __init__(self) -> None:
        self.rate = 1.0

    def residual(self, t: float) -> float:
        return t - self.rate

    def __call__(self, t: float) -> float:
        return t - self.rate


MODEL = Model()


def residual(t: float) -> float:
    return t - LIST[0]


def both(f: Callable[..., Any], x: Any) -> list[Any]:
    """What the two modes give, None for a refusal."""
    found: list[Any] = []
    for run in (lambda: adbc.grad(f)(x), lambda: adbc.jvp(f, (x,), (np.ones_like(x) * 1.0,))[1]):
        try:
            found.append(run())
        except AdbcError:
            found.append(None)
        LIST[0], MODEL.rate = 1.0, 1.0
    return found


# -- runs as it is -------------------------------------------------------------------------------------------


def of_a_lambda(x):
    return x * optimize.brentq(lambda t: t * t - 2.0, 0.0, 2.0)


def of_an_integral(x):
    return x * integrate.quad(lambda t: math.exp(-t * t), 0, 1)[0]


def of_a_minimum(x):
    return x * optimize.minimize(lambda p: ((p - 1.0) ** 2).sum(), np.zeros(2)).x.sum()


def of_an_object(x):
    t = np.linspace(0.0, 1.0, 5)
    spline = interpolate.CubicSpline(t, t**2)
    return x * float(spline(0.3)) + x * spline.x[2]


def of_lists(x):
    return x * interpolate.interp1d([0.0, 1.0, 2.0], [1.0, 3.0, 2.0])([0.5, 1.5]).sum()


def of_texts(x):
    settings = json.loads('{"rate": 2.5}')
    return x * settings["rate"] * len(re.findall(r"\d+", "a1b22"))


@pytest.mark.parametrize("f", [of_a_lambda, of_an_integral, of_a_minimum, of_an_object, of_lists, of_texts])
@pytest.mark.parametrize("speculation", ["learn", "dynamic"])
def test_constants(f: Any, speculation: str) -> None:
    with adbc.use(adbc.Config(speculation=speculation)):
        for _ in range(3):
            forward, reverse = both(f, 1.3)
            assert forward == pytest.approx(f(1.0), rel=1e-9)
            assert reverse == pytest.approx(f(1.0), rel=1e-9)


@functools.cache
def fibonacci(n: int) -> int:
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


@functools.cache
def nodes(n: int) -> Any:
    return np.polynomial.legendre.leggauss(n)


def test_caches_stay_filled() -> None:
    def f(x):
        t, w = nodes(6)
        return np.sum(w * np.sin(x * t + 1.0)) * fibonacci(30)

    fibonacci.cache_clear()
    nodes.cache_clear()
    assert adbc.grad(f)(1.3) == pytest.approx(adbc.jvp(f, (1.3,), (1.0,))[1], rel=1e-12)
    assert fibonacci.cache_info().currsize == 31
    assert nodes.cache_info().currsize == 1


def test_what_becomes_of_arguments_is_undone() -> None:
    data = np.array([3.0, 1.0, 2.0])

    def f(x, data):
        y = x * data[0]
        np.random.default_rng(0).shuffle(data)
        return y * data.sum()

    value, gradient = adbc.value_and_grad(f)(2.0, data)
    assert (value, gradient) == (36.0, 18.0)
    assert data.tolist() == [3.0, 1.0, 2.0]


def test_log_lines_stay(caplog: pytest.LogCaptureFixture) -> None:
    def f(x):
        logging.getLogger("program").warning("step %d", 3)
        return x * x

    assert adbc.grad(f)(3.0) == 6.0
    assert [r.getMessage() for r in caplog.records] == ["step 3"]


# -- is followed ---------------------------------------------------------------------------------------------


def closes_over(x):
    return optimize.brentq(lambda t: t - x, -10.0, 10.0)


def has_a_default(x):
    return integrate.quad(lambda t, k=x: k * t, 0, 1)[0]


def names_an_array(a):
    return optimize.brentq(lambda t: t - ARRAY.sum(), -10.0, 10.0) * a.sum()


def names_a_list(x):
    LIST[0] = x
    return optimize.brentq(lambda t: t - LIST[0], -10.0, 10.0)


def names_a_function(x):
    LIST[0] = x
    return optimize.brentq(lambda t: residual(t), -10.0, 10.0)


def is_a_method(x):
    MODEL.rate = x
    return optimize.brentq(MODEL.residual, -10.0, 10.0)


def names_an_object(x):
    MODEL.rate = x
    return optimize.brentq(lambda t: MODEL(t), -10.0, 10.0)


def looks_up(x):
    LIST[0] = x
    return optimize.brentq(lambda t: t - globals()["LIST"][0], -10.0, 10.0)


def imports_what_it_needs(x):
    def difference(t):
        from tests.runtime.calls import test_plain

        return t - test_plain.LIST[0]

    LIST[0] = x
    return optimize.brentq(difference, -10.0, 10.0)


def is_partial(x):
    return optimize.brentq(functools.partial(lambda k, t: t - k, x), -10.0, 10.0)


def is_in_a_list(x):
    return integrate.quad(lambda t, k: k[0] * t, 0, 1, args=([x],))[0]


@pytest.mark.parametrize(
    "f",
    [
        closes_over, has_a_default, names_a_list, names_a_function, is_a_method, names_an_object, looks_up,
        imports_what_it_needs, is_partial,
        is_in_a_list,
    ],
)  # fmt: skip
@pytest.mark.parametrize("speculation", ["learn", "dynamic"])
def test_what_leads_to_the_user_is_no_constant(f: Any, speculation: str) -> None:
    with adbc.use(adbc.Config(speculation=speculation)):
        for _ in range(2):
            for found in both(f, 1.3):
                slope = (f(1.3 + 1e-4) - f(1.3 - 1e-4)) / 2e-4
                assert found is None or found == pytest.approx(slope, rel=1e-6)


def test_what_hides_in_an_object() -> None:
    spatial = pytest.importorskip("scipy.spatial")

    def f(x):
        points = np.zeros((3, 2))
        tree = spatial.cKDTree(points)
        points[0] = x
        return optimize.brentq(
            lambda t, trees: t - trees[0].query([9.0, 9.0])[0], -99.0, 99.0, args=([tree],)
        )

    for found in both(f, 1.3):
        assert found is None or found == pytest.approx(-math.sqrt(2.0), rel=1e-10)


def test_a_global_that_is_the_argument() -> None:
    for found in both(names_an_array, ARRAY):
        assert found is None or np.all(found == 6.0) or found == 12.0


@functools.lru_cache
def total(n: int) -> Any:
    return ARRAY.sum() * n


def test_a_cached_function_of_a_global_array() -> None:
    def f(a):
        return total(2) * a.sum()

    assert adbc.grad(f)(ARRAY).tolist() == [12.0, 12.0]
    assert adbc.jvp(f, (ARRAY,), (np.ones(2),))[1] == 24.0


def test_what_was_patched_meanwhile() -> None:
    def f(x):
        with unittest.mock.patch("math.sin", lambda t: t * t):
            return math.sin(x)

    for run in (lambda: adbc.grad(f)(1.3), lambda: adbc.jvp(f, (1.3,), (1.0,))):
        with pytest.raises(
            UnsupportedError, match="global 'sin' of module 'math' is bound to something else"
        ):
            run()
        assert math.sin(1.0) != 1.0  # it is bound to what it was


# -- what is set in modules of libraries ---------------------------------------------------------------------


def redirected(x):
    with contextlib.redirect_stdout(io.StringIO()) as stream:
        print("x =", x)
        shown = len(stream.getvalue()) > 3
    return x * x if shown else x


@pytest.mark.parametrize("config", [adbc.Config(), adbc.Config(speculation="dynamic", warm_after=0)])
def test_a_stream_that_was_redirected_is_that_of_before(config: adbc.Config) -> None:
    # Entering the context is a plain call, and leaving it is followed, because text was printed meanwhile.
    before = sys.stdout
    with adbc.use(config):
        for _ in range(2):
            assert adbc.grad(redirected)(3.0) == 6.0
            assert sys.stdout is before
            assert adbc.jvp(redirected, (3.0,), (1.0,)) == (9.0, 6.0)
            assert sys.stdout is before


@pytest.mark.parametrize(
    "value", [list[float], dict[str, list[int]], int | None, defaultdict(list, a=["b"]), OrderedDict(a=1)]
)
def test_what_leads_nowhere(value: Any) -> None:
    assert leads_nowhere(value)


def test_however_many_tuples_of_constants_there_are() -> None:
    table = {name: [(name, k, (0.5,)) for k in range(4000)] for name in "abc"}
    assert not leads_nowhere(table)
    assert leads_nowhere({name: [row[:2] for row in rows] for name, rows in table.items()})


@pytest.mark.parametrize("value", [list[Model], Model | None, defaultdict(Model), OrderedDict(a=MODEL)])
def test_what_leads_to_the_users(value: Any) -> None:
    assert not leads_nowhere(value)


def test_what_a_signature_says_is_asked_as_it_is() -> None:
    default_engine().clear()

    def scaled(x: float, by: float = 3.0, *, power: int = 2) -> float:
        return by * x**power

    def f(x: float) -> float:
        parameters = inspect.signature(scaled).parameters
        given = {k: p.default for k, p in parameters.items() if p.default is not inspect.Parameter.empty}
        return scaled(x, **given) * len(inspect.getfullargspec(scaled).args)

    for _ in range(4):
        assert both(f, 1.5) == [18.0, 18.0]
    followed = {rule.code.co_qualname for rule in default_engine().rules.values()}
    assert not followed & {
        "signature",
        "Signature.from_callable",
        "getfullargspec",
        "_signature_from_callable",
    }


def test_a_default_with_a_derivative_is_not_lost_in_a_signature() -> None:
    def f(x: float) -> float:
        def scaled(u: float, by: float = x) -> float:
            return u * by

        return inspect.signature(scaled).parameters["by"].default ** 2  # type: ignore[no-any-return]

    assert both(f, 1.5) == [None, None]


def test_views_of_dictionaries_may_lead_to_a_derivative() -> None:
    def f(x: float) -> float:
        table = {"a": 1.0, "b": 2.0}
        found = ChainMap(types.MappingProxyType(table), {"c": 1.0})  # type: ignore[arg-type]
        table["a"] = x
        return found["a"] ** 2 * found["b"]

    for _ in range(4):
        assert both(f, 1.5) == [6.0, 6.0]
