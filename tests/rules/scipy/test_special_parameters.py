"""Functions of ``scipy.special`` with several results, elliptic ones, distributions by all parameters, and
those that give their own derivatives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import special

import adbc
from adbc.errors import UnsupportedError
from adbc.testing import test_rule as check_rule

A = np.array([0.3, 1.7])
UNIT = np.array([0.2, 0.7])

CASES: dict[str, tuple[tuple[Any, ...], ...]] = {
    # several results
    **dict.fromkeys(["airy", "airye", "itairy", "fresnel", "modfresnelp", "modfresnelm"], ((A,),)),
    **dict.fromkeys(["iti0k0", "itj0y0", "kelvin", "shichi", "sici"], ((A,),)),
    **dict.fromkeys(["it2i0k0", "it2j0y0"], ((np.array([0.05, 1.7]),),)),
    **dict.fromkeys(["pbdv", "pbvv", "pbwa"], ((1.5, A),)),
    **dict.fromkeys(["mathieu_cem", "mathieu_sem"], ((2, 0.3, 40 * A),)),
    **dict.fromkeys([f"mathieu_mod{name}" for name in ("cem1", "cem2", "sem1", "sem2")], ((2, 0.3, A),)),
    **dict.fromkeys(["pro_ang1", "obl_ang1"], ((1, 2, 0.3, UNIT),)),
    **dict.fromkeys(["pro_rad1", "obl_rad1"], ((1, 2, 0.3, A + 1.5),)),
    **dict.fromkeys(["mathieu_a", "mathieu_b"], ((2, A),)),
    **dict.fromkeys(["pro_cv", "obl_cv"], ((1, 2, A),)),
    # elliptic
    "ellipj": ((4 * A, UNIT),),
    **dict.fromkeys(
        ["ellipkinc", "ellipeinc"],
        (
            (A, UNIT),
            (-4 * A, UNIT),
        ),
    ),
    **dict.fromkeys(["elliprd", "elliprg", "elliprf"], ((A, A + 0.1, A + 0.4),)),
    "elliprj": ((A, A + 0.1, A + 0.4, A + 0.2),),
    "agm": ((A, A + 0.4),),
    # distributions
    "chndtr": ((A, A + 1, A),),
    "ncfdtr": ((A + 2, A + 3, A, A),),
    "nctdtr": ((A + 3, A, np.array([-1.3, 0.8])),),
    "chndtrix": ((UNIT, A + 1, A),),
    "ncfdtri": ((A + 2, A + 3, A, UNIT),),
    "nctdtrit": ((A + 3, A, UNIT),),
    **dict.fromkeys(["gdtr", "gdtrc"], ((A, A + 1, A),)),
    "gdtrix": ((A, A + 1, UNIT),),
    "gdtria": ((UNIT, A + 1, A),),
    "gdtrib": ((A, UNIT, A),),
    "btdtria": ((UNIT, A, UNIT),),
    "btdtrib": ((A, UNIT, UNIT),),
    "chdtriv": ((UNIT, A),),
    **dict.fromkeys(["bdtr", "bdtrc", "bdtri"], ((2, 5, UNIT),)),
    **dict.fromkeys(["nbdtr", "nbdtrc", "nbdtri"], ((2, 5, UNIT),)),
    **dict.fromkeys(["bdtrik", "nbdtrik"], ((np.array([0.5, 0.7]), 6.0 + A, np.array([0.4, 0.5])),)),
    **dict.fromkeys(["bdtrin"], ((np.array([1.5, 2.0]), np.array([0.5, 0.7]), np.array([0.4, 0.5])),)),
    "pdtri": ((2, UNIT),),
    "pdtrik": ((np.array([0.6, 0.8]), A),),
    "stdtridf": ((np.array([0.6, 0.7]), np.array([0.4, 0.6])),),
    "nrdtrimn": ((UNIT, A, A),),
    "nrdtrisd": ((A, np.array([0.7, 0.8]), A + 1),),
    "tklmbda": (
        (UNIT, A),
        (UNIT, np.array([1e-3, 2e-3])),
        (np.array([5.0, -5.0]), A),
    ),
    **dict.fromkeys(["kolmogorov"], ((A,),)),
    "kolmogi": ((UNIT,),),
    **dict.fromkeys(["smirnov", "smirnovi"], ((3, UNIT),)),
    # those that know their derivatives
    **dict.fromkeys(["jvp", "yvp", "ivp", "kvp", "h1vp", "h2vp"], ((1.5, A),)),
    **dict.fromkeys(["spherical_jn", "spherical_yn", "spherical_in", "spherical_kn"], ((2, A),)),
    **dict.fromkeys(["legendre_p", "legendre_p_all"], ((2, UNIT),)),
    **dict.fromkeys(["assoc_legendre_p", "sph_legendre_p", "assoc_legendre_p_all"], ((2, 1, UNIT),)),
    **dict.fromkeys(["sph_harm_y", "sph_harm_y_all"], ((2, 1, UNIT, A),)),
    # by the last argument
    "lpmv": ((1, 2.5, UNIT),),
    "eval_sh_jacobi": ((3, 2.4, 0.7, UNIT),),
    **dict.fromkeys(["wright_bessel", "log_wright_bessel"], ((0.4, 1.3, A),)),
    "besselpoly": ((A, 0.4, 1.5),),
    **dict.fromkeys(["berp", "beip", "kerp", "keip", "zetac"], ((A + 1.1,),)),
    **dict.fromkeys(["jve", "yve"], ((1.5, A),)),
    "zeta": ((A + 1.2, A),),
}
"""Arguments by the name of the function; arrays have a derivative, numbers are constants."""


STEPS = {"itairy": 0.05}
"""Larger steps of differences, for what SciPy computes to some eight digits."""


@pytest.mark.parametrize("name", [name for name in CASES if hasattr(special, name)])
def test_derivatives(name: str) -> None:
    for case in CASES[name]:
        given = [f"x{i}" if isinstance(x, np.ndarray) else repr(x) for i, x in enumerate(case)]
        factor = (
            "1.0 * " if name.startswith("spherical") else ""
        )  # these fill memory that means nothing before
        names = ", ".join(x for x in given if x.startswith("x"))
        call = eval(f"lambda {names}: {factor}special.{name}({', '.join(given)})", {"special": special})
        check_rule(
            call, *[x for x in case if isinstance(x, np.ndarray)], step=STEPS.get(name, 3e-3), rtol=1e-5
        )


def test_airy_functions_of_complex_numbers() -> None:
    check_rule(lambda z: special.airy(z), np.array([0.3 + 0.2j, -1.1 + 0.7j]))


@pytest.mark.parametrize("name", ["bdtri", "pdtri", "nbdtri"])
@pytest.mark.filterwarnings("ignore")
def test_counts_that_are_no_constants_are_cut(name: str) -> None:
    args = (2.7, 0.4) if name == "pdtri" else (2.7, 5, 0.4)
    assert adbc.jvp(getattr(special, name), args, (1.0, *[None] * (len(args) - 1)))[1] == 0.0


def test_inverses_without_a_solution_do_not_move() -> None:
    with np.errstate(all="ignore"):
        found = special.fdtridfd(0.3, 0.9, 0.2)
        assert special.fdtr(0.3, found, 0.2) != pytest.approx(0.9)
        assert adbc.grad(special.fdtridfd)(0.3, 0.9, 0.2) == 0.0


@pytest.mark.parametrize("name", ["chebyu", "legendre", "sh_chebyt"])
def test_polynomials_as_objects(name: str) -> None:
    check_rule(lambda x: getattr(special, name)(5)(x), UNIT)


def test_polynomials_of_high_degree() -> None:
    f = lambda x: special.jacobi(40, 0.4, 0.7)(x)  # noqa: E731  # as in the other tests
    slope = (f(0.3 + 1e-6) - f(0.3 - 1e-6)) / 2e-6
    assert adbc.grad(f)(0.3) == pytest.approx(slope, rel=1e-7)
    assert adbc.jvp(f, (0.3,), (1.0,))[1] == pytest.approx(slope, rel=1e-7)


@pytest.mark.parametrize(
    "call",
    [
        lambda z: special.airye(z * (1 + 0.5j))[0].real,
        lambda q: special.mathieu_cem(2, q, 30.0)[0],
        lambda a: special.wright_bessel(a, 0.4, 0.3),
        lambda p: special.elliprj(0.2, 0.3, 0.4, -p),
        lambda x: special.legendre_p(2, x, diff_n=2)[0],
    ],
)
def test_what_is_not_known_is_refused(call: Any) -> None:
    for differentiate in (lambda: adbc.grad(call)(1.3), lambda: adbc.jvp(call, (1.3,), (1.0,))):
        with pytest.raises(UnsupportedError):
            differentiate()
