"""Functions of ``scipy.special`` where a formula for the inside of their range does not hold: at the ends of
a range, of tiny, negative and fractional parameters, and of constants that are arrays of a closure."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import special

import adbc
from adbc.errors import UnsupportedError
from adbc.rules.scipy import incomplete
from adbc.testing import test_rule as check_rule

SMOOTH: dict[str, tuple[Callable[..., Any], tuple[float, ...]]] = {
    "a complete integral of Carlson's": (lambda y, z: special.elliprd(0.0, y, z), (0.7, 2.0)),
    "another one": (lambda x, z: special.elliprd(x, 0.0, z), (0.7, 2.0)),
    "that of the third kind": (lambda y, z, p: special.elliprj(0.0, y, z, p), (0.7, 2.0, 0.4)),
    "that of the second kind": (lambda y, z: special.elliprg(y, 0.0, z), (0.7, 2.0)),
    "a beta distribution of tiny parameters": (lambda a, b: special.betainc(a, b, 0.3), (3e-3, 2e-3)),
    "its complement": (lambda a, b: special.betaincc(a, b, 0.086), (1e-3, 0.02)),
    "a gamma distribution of a tiny shape": (lambda a: special.gammainc(a, 0.3), (1e-3,)),
    "a scale below zero": (lambda p, b, x: special.gdtria(p, b, x), (0.3, 1.7, -0.8)),
    "a limit below zero": (lambda a, b, p: special.gdtrix(a, b, p), (-0.8, 1.7, 0.3)),
    "a binomial coefficient that is zero": (lambda n, k: special.binom(n, k), (1.0, 3.0)),
    "one of no elements": (lambda n, k: special.binom(n, k), (0.0, 4.0)),
    "a beta function that is zero": (lambda a, b: special.beta(a, b), (0.7, -0.7)),
    "powers of zero": (lambda p: special.boxcox(0.0, p), (0.7,)),
    "logarithms of the end": (lambda p: special.boxcox1p(-1.0, p), (0.7,)),
    "a spherical Bessel function's slope": (lambda x: 1.0 * special.spherical_jn(2, x, True), (0.0,)),
    "a modified one's": (lambda x: 1.0 * special.spherical_in(0, x, True), (0.0,)),
    "a Kelvin function's slope": (lambda x: special.berp(x), (0.0,)),
    "another's": (lambda x: special.beip(x), (0.0,)),
    "both of them": (lambda x: special.kelvin(x)[2], (0.0,)),
    "an integral of Struve's": (lambda x: special.it2struve0(x), (0.0,)),
    "a characteristic value of high order": (lambda q: special.mathieu_a(60, q), (7.0,)),
    "the end of a distribution": (lambda n, d: special.fdtr(n, d, 0.0), (0.7, 0.9)),
    "the same of one that is not central": (lambda n, d, c: special.ncfdtr(n, d, c, 0.0), (0.7, 0.9, 0.4)),
    "the lower end of an inverse": (lambda a, b: special.betaincinv(a, b, 0.0), (0.7, 0.9)),
    "its upper end": (lambda a, b: special.betainccinv(a, b, 0.0), (0.7, 0.9)),
    "the end of another inverse": (lambda v: special.chdtri(v, 1.0), (0.7,)),
    "a narrow profile": (lambda x, s, g: special.voigt_profile(x, s, g), (0.7, 2e-3, 1.4)),
    "one without a normal part": (lambda x, g: special.voigt_profile(x, 0.0, g), (0.7, 1.4)),
    "a far place of Faddeeva's function": (lambda x: special.wofz(x + 2.0j), (3e4,)),
    "a rising factorial that is zero": (lambda z: special.poch(z, 2.3), (0.0,)),
    "a zeta function far below zero": (lambda x: special.zetac(x), (-20.3,)),
    "one at a zero of it": (lambda x: special.zetac(x), (-4.0,)),
    "a mean with zero": (lambda a: special.agm(a, 0.0), (0.7,)),
    "an inverse at the end of its search": (lambda n, p: special.nbdtrik(1e-8, n, p), (3.0, 0.0115)),
    "another inverse there": (lambda n, p: special.bdtrik(0.0, n, p), (7.0, 0.998)),
}


@pytest.mark.parametrize("name", SMOOTH)
def test_ends_and_limits(name: str) -> None:
    call, at = SMOOTH[name]
    step = 1e-4 if min(map(abs, at)) in (3e-3, 1e-3, 0.0115) else 1e-3
    check_rule(call, *at, step=step, rtol=1e-4, atol=1e-7)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "name, args, whole",
    [
        ("bdtr", (2.7, 6.9), (2.0, 6)),
        ("bdtrc", (2.7, 6.9), (2.0, 6)),
        ("bdtri", (2.7, 6.9), (2.0, 6)),
        ("nbdtr", (2.7, 6.9), (2, 6)),
        ("nbdtrc", (2.7, 6.9), (2, 6)),
        ("nbdtri", (2.7, 6.9), (2, 6)),
        ("pdtri", (-0.5,), (0,)),
    ],
)
def test_counts_are_cut_as_scipy_cuts_them(name: str, args: Any, whole: Any) -> None:
    function = getattr(special, name)
    slopes = []
    for given in (args, whole):  # constants as they are written in a call
        call = eval(f"lambda p: special.{name}({', '.join(map(repr, given))}, p)", {"special": special})
        slopes.append(adbc.grad(call)(0.4))
    assert function(*args, 0.4) == function(*whole, 0.4)
    assert slopes[0] == pytest.approx(slopes[1])


def test_counts_beyond_the_largest_give_constants() -> None:
    assert adbc.grad(lambda p: special.bdtrc(-0.5, 6, p))(0.4) == 0.0
    assert adbc.grad(lambda p: special.bdtr(6.0, 6, p))(0.4) == 0.0


def test_an_infinite_slope_of_what_does_not_move_counts_as_zero() -> None:
    found = adbc.jvp(lambda x: special.ivp(1.2, x), (np.array([0.0, 0.5]),), (np.array([0.0, 1.0]),))[1]
    assert found[0] == 0.0
    assert np.isfinite(found[1])


def test_a_derivative_without_limit_is_infinite() -> None:
    for mode in (lambda f: adbc.grad(f)(0.0), lambda f: adbc.jvp(f, (0.0,), (1.0,))[1]):
        assert mode(lambda x: special.elliprd(x, 0.7, 2.0)) == -np.inf
        assert np.isfinite(mode(lambda x: special.elliprg(x, 0.7, 2.0)))


@pytest.mark.parametrize("name", ["obl_cv", "pro_cv"])
def test_spheroidal_parameters_below_zero_are_refused(name: str) -> None:
    with pytest.raises(UnsupportedError, match=name):
        adbc.grad(lambda c: getattr(special, name)(1, 2, c))(-0.5)


@pytest.mark.parametrize("name", ["modfresnelp", "modfresnelm"])
def test_what_scipy_computes_wrongly_is_refused(name: str) -> None:
    x = -0.7  # the two parts of the integral over all numbers are equal, so the sum would be at 45 degrees
    whole = np.sqrt(np.pi) * np.exp(0.25j * np.pi)
    missed = getattr(special, name)(x)[0] + getattr(special, name)(-x)[0]
    assert abs(missed - (whole if name == "modfresnelp" else np.conj(whole))) > 0.1
    with pytest.raises(UnsupportedError, match=name):
        adbc.grad(lambda x: getattr(special, name)(x)[0].real)(x)


ORDERS = np.array([0.5, 1.5])
CLOSED: list[Callable[[Any], Any]] = [
    lambda x: special.jv(ORDERS, x),
    lambda x: special.hyp2f1(ORDERS, 0.3, ORDERS + 1.0, x),
    lambda x: special.pbdv(ORDERS, x)[0],
    lambda x: special.jvp(ORDERS, x),
    lambda x: special.polygamma(ORDERS + 0.5, x),
]


@pytest.mark.parametrize("call", CLOSED)
def test_parameters_that_are_arrays_elsewhere_are_constants(call: Callable[[Any], Any]) -> None:
    check_rule(call, np.array([0.3, 0.6]), rtol=1e-5)


@pytest.mark.parametrize("call", [special.jv, lambda v, x: special.hyp2f1(v, 0.3, 1.5, x)])
def test_parameters_that_become_active_are_refused(call: Callable[[Any, Any], Any]) -> None:
    def through_memory(x: Any) -> Any:
        orders = ORDERS.copy()
        before = np.sum(call(orders, 0.3))
        orders[0] = x
        return before + np.sum(call(orders, x))

    for differentiate in (
        lambda: adbc.grad(through_memory)(0.4),
        lambda: adbc.jvp(through_memory, (0.4,), (1.0,)),
    ):
        with pytest.raises(UnsupportedError, match="no derivative rule by its"):
            differentiate()


def test_constants_that_become_active_later_stay_constants_of_the_call() -> None:
    def f(x: Any) -> Any:
        orders = ORDERS.copy()
        y = special.jv(orders, x)
        orders *= x
        return np.sum(y) + np.sum(orders)

    check_rule(f, 0.4, rtol=1e-5)


def test_integrals_go_by_blocks_that_fit_into_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    x, df, nc = (
        np.array([0.3, 1.7, 4.0])[:, None],
        np.array([0.4, 2.0, 3.0, 5.0]),
        np.array([0.1, 3.0, 50.0, 1.0]),
    )
    whole = adbc.jvp(lambda d: special.chndtr(x, d, nc), (df,), (np.ones(4),))[1]
    sizes = []
    monkeypatch.setattr(incomplete, "_ROOM", 3000)
    inside = incomplete._integral

    def watched(f: Any, width: Any, *arguments: Any) -> Any:
        def of_block(v: Any, *columns: Any) -> Any:
            sizes.append(np.size(v))
            return f(v, *columns)

        return inside(of_block, width, *arguments)

    monkeypatch.setattr(incomplete, "_integral", watched)
    by_blocks = adbc.jvp(lambda d: special.chndtr(x, d, nc), (df,), (np.ones(4),))[1]
    np.testing.assert_allclose(by_blocks, whole, rtol=1e-12)
    assert max(sizes) <= 3000


LARGE: dict[str, tuple[Callable[..., Any], float, float]] = {
    "binom": (lambda n: special.binom(n, 1.0), 1e300, 1.0),
    "binom of several": (lambda n: special.binom(n, 3.0), 1e20, 5e39),
    "comb": (lambda n: special.comb(n, 2.0), 1e20, 1e20),
    "poch": (lambda z: special.poch(z, 2.0), 1e20, 2e20),
    "betaln": (lambda a: special.betaln(a, 2.0), 1e20, -2e-20),
    "betaln of close ones": (lambda a: special.betaln(a, 1e-12), 0.5, -4.934802200544679e-12),
    "beta": (lambda a: special.beta(a, 1.0), 1e20, -1e-40),
}
"""Functions with a place and the slope there, which is the difference of two nearly equal numbers."""


@pytest.mark.parametrize("name", LARGE)
def test_slopes_of_large_numbers_keep_their_digits(name: str) -> None:
    f, x, slope = LARGE[name]
    assert adbc.grad(f)(x) == pytest.approx(slope, rel=1e-9, abs=0.0)
    assert adbc.jvp(f, (x,), (1.0,))[1] == pytest.approx(slope, rel=1e-9, abs=0.0)
    whole = adbc.jvp(lambda a: f(np.array([a, 3.0])), (x,), (1.0,))[1]
    assert whole[0] == pytest.approx(slope, rel=1e-9, abs=0.0)
