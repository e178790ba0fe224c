"""Distributions of ``scipy.special`` by their parameters, and what ``scipy.stats`` makes of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import special, stats

import adbc
from adbc.errors import UnsupportedError
from adbc.rules.scipy.incomplete import beta_by_a, beta_by_b, gamma_by_a, student_by_df
from adbc.testing import test_rule as check_rule
from tests.programs.checks import check_gradient

X = np.array([0.35, 0.8, 1.6])
UNIT = np.array([0.15, 0.5, 0.85])
A = np.array([0.7, 2.0, 5.5])
B = np.array([1.9, 0.4, 3.0])
N = np.array([2.5, 4.0, 7.0])

CASES: dict[str, tuple[Any, ...]] = {
    "gammainc": (A, X),
    "gammaincc": (A, X),
    "gammaincinv": (A, UNIT),
    "gammainccinv": (A, UNIT),
    "betainc": (A, B, UNIT),
    "betaincc": (A, B, UNIT),
    "betaincinv": (A, B, UNIT),
    "betainccinv": (A, B, UNIT),
    "chdtr": (A, X),
    "chdtrc": (A, X),
    "chdtri": (A, UNIT),
    "stdtr": (A, np.array([-1.3, 0.4, 2.1])),
    "stdtrit": (A, UNIT),
    "fdtr": (N, A, X),
    "fdtrc": (N, A, X),
    "fdtri": (N, A, UNIT),
    "owens_t": (A - 2.0, B - 1.0),
    "ellipk": (UNIT,),
    "ellipkm1": (UNIT,),
    "ellipe": (UNIT - 0.4,),
    "ellipkinc": (UNIT, UNIT[::-1] - 0.2),
    "ellipeinc": (UNIT, UNIT[::-1] - 0.2),
    "elliprf": (UNIT, UNIT[::-1] + 0.4, UNIT + 1.0),
    "elliprc": (UNIT, UNIT[::-1] + 0.4),
    "voigt_profile": (A - 2.0, UNIT, UNIT[::-1] + 0.3),
    "inv_boxcox": (UNIT, np.linspace(-0.4, 0.5, len(UNIT))),
    "inv_boxcox1p": (UNIT, np.linspace(1e-4, 0.5, len(UNIT))),
    "powm1": (UNIT + 0.2, UNIT[::-1]),
    "tandg": (20.0 * UNIT,),
    "cotdg": (20.0 * UNIT + 9.0,),
    "itstruve0": (UNIT,),
    "itmodstruve0": (UNIT,),
    "it2struve0": (UNIT,),
    "ber": (A,),
    "bei": (A,),
    "ker": (UNIT,),
    "kei": (UNIT,),
}


@pytest.mark.parametrize("name", CASES)
def test_by_all_arguments(name: str) -> None:
    if not hasattr(special, name):
        pytest.skip("of a later SciPy")
    args = CASES[name]
    loose = {"rtol": 3e-5, "atol": 1e-8} if name.endswith(("inv", "tri", "trit")) else {}
    check_rule(getattr(special, name), *args, step=1e-3, **loose)
    check_rule(getattr(special, name), *[float(x[1]) for x in args], step=1e-3, **loose)


LAST: dict[str, tuple[Any, ...]] = {
    "hyp2f1": (0.3, 1.2, 2.1),
    "hyp1f1": (0.3, 1.2),
    "hyp0f1": (1.2,),
    "hyperu": (0.3, 1.2),
    "expn": (2,),
    "hankel1": (0.7,),
    "hankel2": (0.7,),
    "hankel1e": (0.7,),
    "hankel2e": (0.7,),
    "struve": (0.7,),
    "modstruve": (0.7,),
    "eval_sh_legendre": (3,),
    "eval_sh_chebyt": (3,),
    "eval_sh_chebyu": (3,),
    "eval_chebyc": (3,),
    "eval_chebys": (3,),
    "eval_legendre": (3,),
    "eval_chebyt": (3,),
    "eval_chebyu": (3,),
    "eval_hermite": (3,),
    "eval_hermitenorm": (0,),
    "eval_laguerre": (3,),
    "eval_genlaguerre": (3, 0.4),
    "eval_gegenbauer": (3, 0.4),
    "eval_jacobi": (3, 0.4, 0.7),
}


@pytest.mark.parametrize("name", LAST)
def test_by_the_last_argument(name: str) -> None:
    constants = ", ".join(map(repr, LAST[name]))
    f = eval(f"lambda x: abs(special.{name}({constants}, x)).sum()", {"special": special})  # above
    check_gradient(f, UNIT)


@pytest.mark.parametrize("name", ["wofz", "hankel1"])
def test_complex_results_of_real_arrays(name: str) -> None:
    constants = ", ".join([*map(repr, LAST.get(name, ())), "x"])
    check_rule(eval(f"lambda x: special.{name}({constants})", {"special": special}), UNIT[:2])


def test_by_a_parameter_without_a_formula() -> None:
    with pytest.raises(UnsupportedError, match="by its parameters"):
        adbc.grad(lambda a: special.hyp2f1(a, 1.0, 2.0, 0.3))(1.0)


@pytest.mark.parametrize("a", [1e-3, 0.3, 1.0, 17.0, 400.0])
@pytest.mark.parametrize("x", [0.02, 0.3, 0.9, 1.0, 1.1, 2.0, 6.0])
def test_of_gamma_the_recurrence_in_its_parameter_holds(a: float, x: float) -> None:
    """P(a+1, x) = P(a, x) - x**a exp(-x) / Gamma(a+1), differentiated by a."""
    x = x * a if a >= 1 else x
    term = np.exp(a * np.log(x) - x - special.gammaln(a + 1)) * (np.log(x) - special.psi(a + 1))
    first, second = gamma_by_a(a, x), gamma_by_a(a + 1, x)
    assert second == pytest.approx(first - term, rel=1e-10, abs=1e-11 * max(abs(first), abs(term)))


@pytest.mark.parametrize("a", [0.05, 0.7, 3.0, 80.0])
@pytest.mark.parametrize("b", [0.05, 1.0, 4.0, 60.0])
@pytest.mark.parametrize("x", [1e-6, 0.1, 0.5, 0.62, 0.97])
def test_of_beta_the_recurrence_in_its_parameter_holds(a: float, b: float, x: float) -> None:
    """I(a+1, b) = I(a, b) - x**a (1-x)**b / (a B(a, b)), differentiated by a and by b."""
    term = np.exp(a * np.log(x) + b * np.log1p(-x) - special.betaln(a, b)) / a
    by_a = term * (np.log(x) - special.psi(a) + special.psi(a + b) - 1 / a)
    by_b = term * (np.log1p(-x) - special.psi(b) + special.psi(a + b))
    for slope, change in ((beta_by_a, by_a), (beta_by_b, by_b)):
        first, second = slope(a, b, x), slope(a + 1, b, x)
        assert second == pytest.approx(first - change, rel=1e-9, abs=1e-11 * max(abs(first), abs(change)))


def test_ends() -> None:
    assert gamma_by_a(2.0, 0.0) == 0.0
    assert gamma_by_a(2.0, np.inf) == 0.0
    assert beta_by_a(2.0, 1.0, 1.0) == 0.0
    assert student_by_df(3.0, 0.0) == 0.0
    h = 1e-6
    far = (special.stdtr(3.0 + h, -1e3) - special.stdtr(3.0 - h, -1e3)) / (2 * h)
    assert student_by_df(3.0, -1e3) == pytest.approx(far, rel=1e-7)


@pytest.mark.parametrize(
    "name,parameters",
    [
        ("gamma", (2.2, 0.1, 1.4)),
        ("beta", (2.2, 1.4, 0.0, 3.0)),
        ("t", (4.5, 0.3, 1.2)),
        ("chi2", (3.3, 0.0, 1.3)),
        ("f", (3.2, 5.1)),
        ("norm", (0.2, 1.3)),
        ("cauchy", (0.2, 1.3)),
        ("skewnorm", (0.6, 0.2, 1.3)),
        ("lognorm", (0.8, 0.0, 1.2)),
    ],
)
def test_distributions_of_scipy_stats(name: str, parameters: tuple[float, ...]) -> None:
    distribution = getattr(stats, name)
    argnums = tuple(range(len(parameters) + 1))

    def frozen(x: Any, *parameters: Any) -> Any:
        found = distribution(*parameters)
        return (found.cdf(x) + 0.3 * found.sf(2.0 * x) ** 2 + found.pdf(x)).sum()

    def quantile(q: Any, *parameters: Any) -> Any:
        return (distribution.ppf(q, *parameters) ** 2 + distribution(*parameters).isf(q)).sum()

    check_gradient(frozen, np.array([0.3, 0.9]), *parameters, argnums=argnums)
    check_gradient(quantile, np.array([0.3, 0.9]), *parameters, argnums=argnums)


@pytest.mark.parametrize(
    ("f", "x"),
    [
        (lambda mu: stats.poisson(mu).pmf(2), 1.5),
        (lambda mu: stats.poisson(mu, loc=1).logpmf(np.array([2, 3])), 1.5),
        (lambda p: stats.binom(5, p).pmf(2), 0.3),
        (lambda p: stats.geom(p).cdf(2), 0.3),
        (lambda p: stats.bernoulli(p).mean() + stats.bernoulli(p).var(), 0.3),
    ],
)
def test_discrete_distributions_that_hold_their_parameters(f: Callable[..., Any], x: float) -> None:
    """They make a distribution of their own, of a class with a ``__new__`` in Python."""
    check_rule(f, x)
