"""Every row of ``scipy.special``: values, both modes against central differences and each other."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import special

import adbc
from adbc.errors import UnsupportedError
from adbc.rules.scipy.special import ROWS, STEPS, UFUNC_ROWS
from adbc.testing import test_rule as check_rule
from tests.rules.numpy import harness
from tests.rules.numpy.harness import check

harness.TABLE.add(ROWS)

X = (0.35, 0.8, 1.6)
"""Points inside nearly every domain."""
SIGNED = (-1.3, 0.4, 2.1)
UNIT = (0.15, 0.5, 0.85)

UNARY: dict[str, tuple[float, ...]] = {
    **dict.fromkeys(["erf", "erfc", "erfi", "erfcx", "dawsn", "ndtr", "log_ndtr", "gamma", "psi"], SIGNED),
    **dict.fromkeys(
        ["rgamma", "expit", "log_expit", "expm1", "exprel", "exp2", "exp10", "cosm1", "sindg"], SIGNED
    ),
    **dict.fromkeys(["cosdg", "gammaln", "cbrt", "i0", "i1", "i0e", "i1e", "j0", "j1"], SIGNED),
    **dict.fromkeys(["erfinv", "ndtri", "logit"], UNIT),
    **dict.fromkeys(["erfcinv", "log1p", "entr", "loggamma", "expi", "exp1", "spence"], X),
    **dict.fromkeys(["y0", "y1", "k0", "k1", "k0e", "k1e"], X),
    "ndtri_exp": (-0.2, -1.5, -30.0),
    "wrightomega": SIGNED,
}
FAR: dict[str, tuple[float, ...]] = {
    "log_ndtr": (-40.0, -5.0, 9.0),
    "erfcx": (49.0, 60.0, 400.0),
    "log_expit": (-60.0, 60.0),
    "expit": (-30.0, 30.0),
    "exprel": (-0.01, 0.0, 0.01, 0.69, 0.71),
    "gammaln": (1e3, -2.5),
    "j1": (0.0, 12.0),
    "i1": (0.0, 5.0),
    "wrightomega": (-700.0, -40.0, 30.0, 1e6),
}

Pairs = tuple[tuple[tuple[float, ...], tuple[float, ...]], ...]
BINARY: dict[str, Pairs] = {
    **dict.fromkeys(
        ["beta", "betaln", "kl_div", "rel_entr", "xlogy", "xlog1py", "boxcox", "boxcox1p", "poch"],
        ((X, (0.7, 1.9, 0.3)),),
    ),
    "binom": (((5.3, 4.1, 6.0), (2.2, 0.5, 3.0)),),
    "huber": (((1.0, 1.0, 0.5), (0.3, -2.0, 4.0)),),
    "pseudo_huber": (((1.0, 1.0, 0.5), (0.3, -2.0, 4.0)),),
}
"""Both arguments active."""

ORDERS = {
    **dict.fromkeys(["jv", "yv", "iv", "ive", "kv", "kve"], (0.5, 1.0, 2.7)),
    **dict.fromkeys(["yn", "kn"], (0, 1, 3)),
    **dict.fromkeys(["gammainc", "gammaincc", "chdtr", "chdtrc", "stdtr"], (0.7, 2.0, 5.5)),
    **dict.fromkeys(["pdtr", "pdtrc"], (0.0, 1.0, 3.0)),
    **dict.fromkeys(["gammaincinv", "gammainccinv", "stdtrit"], (0.7, 2.0, 5.5)),
}  # fmt: skip
"""The last argument active, the first constant."""
INVERSE = {"gammaincinv", "gammainccinv", "stdtrit"}
BETA = ["betainc", "betaincinv", "betaincc", "betainccinv"]


@pytest.mark.parametrize("name", UNARY)
def test_unary(name: str) -> None:
    f, x = getattr(special, name), np.array(UNARY[name])
    check(f, lambda: (x.copy(),))
    check(f, lambda: (float(x[1]),))
    check(f, lambda: (np.float64(x[0]),))
    check(f, lambda: (np.stack([x, x[::-1]]).T,))
    check(f, lambda: (x.tolist(),))
    check(f, lambda: (x.copy(),), lambda: {"out": np.ones(3)})


@pytest.mark.parametrize("name", FAR)
def test_in_the_tails(name: str) -> None:
    check(getattr(special, name), lambda: (np.array(FAR[name]),))


@pytest.mark.parametrize("name", BINARY)
def test_binary(name: str) -> None:
    f = getattr(special, name)
    for x, y in BINARY[name]:
        check(f, lambda x=x, y=y: (np.array(x), np.array(y)))
        check(f, lambda x=x, y=y: (x[0], np.array(y)))
        check(f, lambda x=x, y=y: (np.array(x)[:, None], y[0]))
        check(f, lambda x=x, y=y: (x[1], y[1]))


@pytest.mark.parametrize("name", ORDERS)
def test_last_argument(name: str) -> None:
    f = getattr(special, name)
    x = UNIT if name in INVERSE else X
    for order in ORDERS[name]:
        check(f, lambda order=order: (order, np.array(x)), inactive=(0,))
        check(f, lambda order=order: (order, x[0]), inactive=(0,))
    check(f, lambda: (np.array(ORDERS[name])[:, None], np.array(x)), inactive=(0,))


@pytest.mark.parametrize("name", [name for name in BETA if hasattr(special, name)])
def test_incomplete_beta(name: str) -> None:
    check(getattr(special, name), lambda: (0.7, np.array([2.0, 3.5, 0.8]), np.array(UNIT)), inactive=(0, 1))


def test_radian() -> None:
    check(special.radian, lambda: (np.array([10.0, 20.0]), 3.0, np.array([4.0, 5.0])))


COMPLEX = ["erf", "erfc", "erfi", "erfcx", "dawsn", "ndtr", "gamma", "loggamma", "rgamma", "expm1", "log1p",
           "spence", "expi", "exp1", "log_ndtr", "wrightomega"]  # fmt: skip


@pytest.mark.parametrize("name", COMPLEX)
def test_complex(name: str) -> None:
    z = np.array([0.6 + 0.4j, 1.3 - 0.7j])
    check(getattr(special, name), lambda: (z.copy(),))


@pytest.mark.parametrize("name", ["jv", "yv", "iv", "kv", "kve"])
def test_complex_bessel(name: str) -> None:
    z = np.array([0.6 + 0.4j, 1.3 - 0.7j])
    check(getattr(special, name), lambda: (1.5, z.copy()), inactive=(0,))


A = np.array([[0.3, -1.2, 2.0], [0.9, 0.1, -0.4]])
Case = tuple[Any, Callable[[], Any], dict[str, Any]]
FUNCTIONS: list[Case] = [
    (special.polygamma, lambda: (2, np.array(X)), {}),
    (special.polygamma, lambda: (np.array([0, 1, 3]), np.array(X)), {}),
    (special.polygamma, lambda: (1, 0.7), {}),
    (special.multigammaln, lambda: (np.array([2.2, 3.5]), 3), {}),
    (special.multigammaln, lambda: (4.5, 2), {}),
    (special.lambertw, lambda: (np.array([0.4, 2.0, -0.1]),), {}),
    (special.lambertw, lambda: (np.array([0.4 + 1j, 2.0]), 1), {}),
    (special.factorial, lambda: (np.array([2.5, 4.0]),), {}),
    (special.comb, lambda: (np.array([5.5, 4.0]), np.array([2.0, 1.5])), {}),
    *((special.logsumexp, lambda: (A.copy(),), kw) for kw in
      [{}, {"axis": 0}, {"axis": -1, "keepdims": True}, {"axis": (0, 1)}]),
    (special.logsumexp, lambda: (A.copy(), None, np.array([1.0, 0.5, 2.0])), {}),
    (special.logsumexp, lambda: (A.copy(), 1, A * A + 1.0), {"keepdims": True}),
    (special.logsumexp, lambda: (A.copy(), (0, 1), 2.0), {}),
    (special.logsumexp, lambda: (A[0].copy(), 0, A * A + 1.0), {}),
    (special.logsumexp, lambda: ([0.3, 1.2],), {}),
    *((f, lambda: (A.copy(),), kw) for f in [special.softmax, special.log_softmax] for kw in
      [{}, {"axis": 0}, {"axis": -1}, {"axis": (0, 1)}]),
    (special.softplus, lambda: (np.array([-3.0, 0.2, 40.0]),), {}),
]  # fmt: skip


@pytest.mark.parametrize("case", FUNCTIONS, ids=lambda case: case[0].__name__)
def test_function(case: Case) -> None:
    check(*case)


def test_a_term_of_a_logarithm_of_a_sum_may_be_zero() -> None:
    gradient = adbc.grad(special.logsumexp)(np.array([-np.inf, 999.0, 1000.0]))
    np.testing.assert_allclose(gradient, [0.0, 1.0 / (1.0 + np.e), np.e / (1.0 + np.e)])


def test_hurwitz_zeta_by_its_second_argument() -> None:
    check(special.zeta, lambda: (2.5, np.array(X)), inactive=(0,))


def test_every_row_has_a_case() -> None:
    known = {getattr(special, name) for name in [*UNARY, *BINARY, *ORDERS, *BETA] if hasattr(special, name)}
    known |= {case[0] for case in FUNCTIONS} | {special.radian, special.zeta}
    known |= {special.jve, special.yve, special.zetac}  # in test_special_parameters
    assert not [row for row in ROWS if row.function not in known and row not in STEPS]
    assert len({row.function for row in UFUNC_ROWS}) == len(UFUNC_ROWS)


@pytest.mark.parametrize("name", ["jv", "yv", "iv", "kve"])
def test_unknown_derivatives_are_refused(name: str) -> None:
    f = getattr(special, name)
    with pytest.raises(UnsupportedError, match=f"scipy.special.{name} has no derivative rule"):
        adbc.grad(lambda a: f(a, 0.5))(1.5)
    with pytest.raises(UnsupportedError, match=f"scipy.special.{name} has no derivative rule"):
        adbc.jvp(lambda a: f(a, 0.5), (1.5,), (1.0,))


@pytest.mark.parametrize(
    "f,x,expected",
    [
        (lambda x: special.xlogy(0.0, x), 0.0, 0.0),
        (lambda x: special.log_ndtr(x), -1e6, 1e6 + 1e-6),
        (lambda x: special.log_expit(x), -800.0, 1.0),
        (lambda x: special.expit(x), 40.0, np.exp(-40.0)),
        (lambda x: special.rgamma(x), -3.0, -6.0),
        (lambda x: special.erfcx(x), 1e8, -1e-16 / np.sqrt(np.pi)),
        (lambda x: special.boxcox(2.0, x), 0.0, 0.5 * np.log(2.0) ** 2),
        (lambda x: special.logsumexp(np.array([x, -np.inf])), -np.inf, 1.0),
        (lambda x: special.logsumexp(x + np.array([1e4, 0.0])), 0.0, 1.0),
    ],
)
def test_edges(f: Any, x: float, expected: float) -> None:
    assert adbc.grad(f)(x) == pytest.approx(expected, rel=1e-12)
    assert adbc.jvp(f, (x,), (1.0,))[1] == pytest.approx(expected, rel=1e-12)


def test_rules_do_not_import_more_of_scipy() -> None:
    code = (
        "import sys, numpy as np, adbc\n"
        "assert adbc.grad(lambda x: np.sum(x * x))(np.ones(2))[0] == 2.0\n"
        "assert not any(name.split('.')[0] == 'scipy' for name in sys.modules)\n"
        "import scipy.special\n"
        "before = {name for name in sys.modules if name.split('.')[0] == 'scipy'}\n"
        "assert adbc.grad(lambda x: scipy.special.gammaln(x))(2.0) == scipy.special.psi(2.0)\n"
        "assert before == {name for name in sys.modules if name.split('.')[0] == 'scipy'}\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


CUT = [row.function for row in UFUNC_ROWS if row.function.nin > 1 and None in row.partials]
"""The functions with an argument that has no derivative: they cut it to a whole number, or round it down."""


@pytest.mark.parametrize("function", CUT, ids=lambda f: f.__name__)
@pytest.mark.parametrize("order", [0.4, 1.5, 2.6, 3.0, -0.5, -1.5])
@pytest.mark.filterwarnings("ignore:floating point number truncated")
def test_the_derivative_is_that_of_the_function_for_any_order(function: Any, order: float) -> None:
    if np.isnan(function(order, 1.3)):
        return
    h = 1e-5
    slope = (function(order, 1.3 + h) - function(order, 1.3 - h)) / (2.0 * h)
    for x in (1.3, np.array([1.3])):
        np.testing.assert_allclose(adbc.grad(lambda x: np.sum(function(order, x)))(x), slope, rtol=1e-7)
        _, tangent = adbc.jvp(lambda x: np.sum(function(order, x)), (x,), (x / x,))
        np.testing.assert_allclose(tangent, slope, rtol=1e-7)


def test_the_functions_that_cut_their_order_are_known() -> None:
    assert {f.__name__ for f in CUT} == {"kn", "yn", "pdtr", "pdtrc"}


def test_logarithms_of_sums_with_their_signs() -> None:
    a, b = np.array([[0.3, 1.2, -0.4], [2.0, 0.1, 0.7]]), np.array([1.0, -2.0, 0.5])
    for axis, keepdims in ((None, False), (1, False), (0, True)):

        def f(a: Any, b: Any, axis: Any = axis, keepdims: Any = keepdims) -> Any:
            return special.logsumexp(a, axis=axis, b=b, keepdims=keepdims, return_sign=True)

        check_rule(f, a, b)
    check_rule(lambda a: special.logsumexp(a, return_sign=True)[0], a)
    with pytest.raises(UnsupportedError, match="return_sign=True"):
        adbc.grad(lambda x: np.real(special.logsumexp(x * 1j * a, return_sign=True)[0]))(1.0)
