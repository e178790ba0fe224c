"""Calls of the functions of ``scipy.special`` with parameters that are constant by their nature: orders and
degrees.  All others are called by their signature."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["CALLS", "SKIPPED"]

_S = "scipy.special"


def _with(constants: str, *names: str, behind: str = "x") -> dict[str, Sequence[str]]:
    """Functions of these constants, and of `behind`."""
    return {f"{_S}.{name}": [f"{_S}.{name}({constants}, {behind})"] for name in names}


_POLYNOMIALS: dict[str, tuple[str, ...]] = {
    "chebyc": (),
    "chebys": (),
    "chebyt": (),
    "chebyu": (),
    "hermite": (),
    "hermitenorm": (),
    "laguerre": (),
    "legendre": (),
    "sh_chebyt": (),
    "sh_chebyu": (),
    "sh_legendre": (),
    "gegenbauer": ("0.4",),
    "genlaguerre": ("0.4",),
    "jacobi": ("0.4", "0.7"),
    "sh_jacobi": ("1.4", "0.7"),
}
"""Families of orthogonal polynomials, with their parameters beside the degree."""

CALLS: dict[str, Sequence[str]] = {
    **_with(
        "1.5",
        "jv",
        "jve",
        "yv",
        "yve",
        "iv",
        "ive",
        "kv",
        "kve",
        "jn",
        "struve",
        "modstruve",
        "pbdv",
        "pbvv",
        "lmbda",
        "hankel1",
        "hankel1e",
        "hankel2",
        "hankel2e",
        "ivp",
        "jvp",
        "kvp",
        "yvp",
        "h1vp",
        "h2vp",
    ),
    **_with(
        "2",
        "yn",
        "kn",
        "expn",
        "spherical_jn",
        "spherical_yn",
        "spherical_in",
        "spherical_kn",
        "polygamma",
        "eval_chebyc",
        "eval_chebys",
        "eval_chebyt",
        "eval_chebyu",
        "eval_hermite",
        "eval_hermitenorm",
        "eval_laguerre",
        "eval_legendre",
        "eval_sh_chebyt",
        "eval_sh_chebyu",
        "eval_sh_legendre",
        "legendre_p",
        "smirnov",
    ),
    **_with("3", "pdtr", "pdtrc", "smirnovi", behind="x"),
    **_with("2, 0.4", "eval_gegenbauer", "eval_genlaguerre"),
    **_with("2, 0.4, 0.7", "eval_jacobi", "eval_sh_jacobi"),
    **_with("2, 5", "bdtr", "bdtrc", "bdtri", "nbdtr", "nbdtrc", "nbdtri"),
    **_with("1, 2", "lpmv", "lqmn"),
    **_with("2, 1", "assoc_legendre_p", "sph_legendre_p"),
    **_with(
        "2, 0.3",
        "mathieu_cem",
        "mathieu_sem",
        "mathieu_modcem1",
        "mathieu_modcem2",
        "mathieu_modsem1",
        "mathieu_modsem2",
    ),
    **_with("0, 1, 0.3", "pro_ang1", "obl_ang1"),
    **_with("0, 1, 0.3", "pro_rad1", "pro_rad2", "obl_rad1", "obl_rad2", behind="x + 1.5"),
    **_with("2", "mathieu_a", "mathieu_b"),
    **_with("0, 1", "pro_cv", "obl_cv"),
    f"{_S}.ellip_harm": [f"{_S}.ellip_harm(1.0, 4.0, 2, 1, x)"],
    f"{_S}.ellip_harm_2": [f"{_S}.ellip_harm_2(1.0, 4.0, 2, 1, x + 2.0)"],
    f"{_S}.ellip_normal": [f"{_S}.ellip_normal(x, y + 2.0, 2, 1)"],
    f"{_S}.sph_harm_y": [f"{_S}.sph_harm_y(2, 1, x, y)"],
    f"{_S}.sph_harm_y_all": [f"{_S}.sph_harm_y_all(2, 1, v[0], v[1])"],
    f"{_S}.assoc_legendre_p_all": [f"{_S}.assoc_legendre_p_all(2, 1, v[0])"],
    f"{_S}.legendre_p_all": [f"{_S}.legendre_p_all(2, v[0])"],
    f"{_S}.sph_legendre_p_all": [f"{_S}.sph_legendre_p_all(2, 1, v[0])"],
    f"{_S}.multigammaln": [f"{_S}.multigammaln(x + 2.0, 2)"],
    f"{_S}.ndtri_exp": [f"{_S}.ndtri_exp(-x)"],
    f"{_S}.lqn": [f"{_S}.lqn(2, v[0])"],
    f"{_S}.riccati_jn": [f"{_S}.riccati_jn(2, v[0])"],
    f"{_S}.riccati_yn": [f"{_S}.riccati_yn(2, v[0])"],
    f"{_S}.pbdn_seq": [f"{_S}.pbdn_seq(2, v[0] + 0j)"],
    f"{_S}.pbdv_seq": [f"{_S}.pbdv_seq(2, v[0])"],
    f"{_S}.pbvv_seq": [f"{_S}.pbvv_seq(2, v[0])"],
    f"{_S}.diric": [f"{_S}.diric(x, 5)"],
    f"{_S}.factorialk": [f"{_S}.factorialk(7, 3) * x"],
    f"{_S}.factorial": [f"{_S}.factorial(x)"],
    f"{_S}.factorial2": [f"{_S}.factorial2(7) * x"],
    f"{_S}.stirling2": [f"{_S}.stirling2(5, 2) * x"],
    f"{_S}.bernoulli": [f"{_S}.bernoulli(4) @ v"],
    f"{_S}.euler": [f"{_S}.euler(4) @ v"],
    f"{_S}.zeta": [f"{_S}.zeta(x + 1.5)", f"{_S}.zeta(x + 1.5, y)", f"{_S}.zeta(2.5, x)"],
    f"{_S}.radian": [f"{_S}.radian(x, 60.0 * y, 3600.0 * z)"],
    **_with("0.4, 1.3", "wright_bessel", "log_wright_bessel", "hyp1f1", "hyperu"),
    f"{_S}.hyp0f1": [f"{_S}.hyp0f1(1.3, x)"],
    f"{_S}.hyp2f1": [f"{_S}.hyp2f1(0.4, 0.7, 1.3, 0.6 * x)"],
    f"{_S}.logsumexp": [
        f"{_S}.logsumexp(x)",
        f"{_S}.logsumexp(v, b=u)",
        f"{_S}.logsumexp(A, axis=0, keepdims=True)",
    ],
    f"{_S}.bdtrik": [f"{_S}.bdtrik(0.4 * x, z + 6.0, 0.5 * y)"],
    f"{_S}.pbwa": [f"{_S}.pbwa(1.5, x)"],
    f"{_S}.ncfdtridfd": [f"{_S}.ncfdtridfd(4.0 * x, 0.1 * y + 0.4, z, w + 1.0)"],
    f"{_S}.bdtrin": [f"{_S}.bdtrin(x + 1.0, y, z)"],
    f"{_S}.comb": [f"{_S}.comb(x + 5.0, y + 1.0)"],
    f"{_S}.besselpoly": [f"{_S}.besselpoly(x, 1.5, 0.5)"],
    f"{_S}.owens_t": [f"{_S}.owens_t(x, y)"],
    f"{_S}.betainc": [f"{_S}.betainc(x + 1.0, y + 1.0, z)"],
    f"{_S}.elliprj": [f"{_S}.elliprj(x, y, z, w)"],
    **{
        f"{_S}.{name}": [f"{_S}.{name}({', '.join(['3', *constants])})(x)"]
        for name, constants in _POLYNOMIALS.items()
    },
    **{
        f"{_S}.roots_{name}": [f"{_S}.roots_{name}({', '.join(['5', *constants])})[1] @ v"]
        for name, constants in _POLYNOMIALS.items()
    },
    **{
        f"{_S}.{name}": [f"abs({_S}.{name}(2, 5)) @ v"]
        for name in ("jn_zeros", "jnp_zeros", "yn_zeros", "ynp_zeros")
    },
}

SKIPPED: dict[str, str] = {
    **{f"{_S}.{name}": "is about settings" for name in ("errstate", "geterr", "seterr")},
    **{
        f"{_S}.{name}": "takes whole numbers only, and gives constants"
        for name in (
            "ai_zeros",
            "bi_zeros",
            "bei_zeros",
            "beip_zeros",
            "ber_zeros",
            "berp_zeros",
            "kei_zeros",
            "keip_zeros",
            "ker_zeros",
            "kerp_zeros",
            "kelvin_zeros",
            "erf_zeros",
            "fresnel_zeros",
            "fresnelc_zeros",
            "fresnels_zeros",
            "y0_zeros",
            "y1_zeros",
            "y1p_zeros",
            "jnjnp_zeros",
            "jnyn_zeros",
            "mathieu_even_coef",
            "mathieu_odd_coef",
            "obl_cv_seq",
            "pro_cv_seq",
        )
    },
    **{
        f"{_S}.{name}": "is another name"
        for name in (
            "c_roots",
            "cg_roots",
            "h_roots",
            "he_roots",
            "j_roots",
            "js_roots",
            "l_roots",
            "la_roots",
            "p_roots",
            "ps_roots",
            "s_roots",
            "t_roots",
            "ts_roots",
            "u_roots",
            "us_roots",
        )
    },
    **{
        f"{_S}.{name}": "takes a characteristic value, which only its kin gives"
        for name in ("obl_ang1_cv", "obl_rad1_cv", "obl_rad2_cv", "pro_ang1_cv", "pro_rad1_cv", "pro_rad2_cv")
    },
}
