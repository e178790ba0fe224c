"""The mutations of rules that the generated calls do not find, and why.

`adbc.testing.coverage.mutations` makes rules wrong on purpose.
"""

from __future__ import annotations

__all__ = ["ENDLESS", "SURVIVORS"]

SIGNS = ("frule: the other sign", "rrule: the other sign")

INTEGERS = ("bitwise_and", "bitwise_or", "bitwise_xor", "gcd", "invert", "lcm", "left_shift", "right_shift")
STEPS = (
    "equal", "not_equal", "greater", "greater_equal", "less", "less_equal", "logical_and", "logical_or",
    "logical_xor", "floor_divide",
)  # fmt: skip

_OF_INTEGERS = "the ufunc takes integers, which have no derivative; its row is for what it overwrites"
_OF_STEPS = "the ufunc is constant between its steps, so that the sign of the derivative is that of zero"

_WHOLE = "the parameter is a whole number, which has no derivative; a float is an error of the function"
_OF_WHOLE = {
    "assoc_legendre_p": (0, 1), "assoc_legendre_p_all": (0, 1), "sph_harm_y": (0, 1),
    "sph_harm_y_all": (0, 1), "sph_legendre_p": (0, 1), "sph_legendre_p_all": (0, 1),
    "eval_hermite": (0,), "eval_hermitenorm": (0,), "legendre_p": (0,), "legendre_p_all": (0,),
}  # fmt: skip

_RULES = "adbc.rules.scipy"

OF_BODIES = {
    f"{_RULES}.trees.halfspaces: np.asarray(interior_point) * 1.0, a hundredth more": (
        "any point inside will do"
    ),
    f"{_RULES}.trees.halfspaces: np.asarray(halfspaces) * 1.0, a hundredth more": (
        "a half space is one of each multiple of its numbers"
    ),
    f"{_RULES}.distances._metric: np.linalg.inv(np.atleast_2d(np.cov(everything.T))).T, not transposed": (
        "the matrix is symmetric"
    ),
    f"{_RULES}.splines.splrep: solved(interpolate.splrep, (x, y, w, xb, xe, k, task, s, t, "
    ", a hundredth more": (
        "what is asked for by full_output or per has no derivative, and no call gets there with one"
    ),
    f"{_RULES}.distances.squareform: len(x) * 2, a hundredth more": "it is rounded to a whole number",
    **{
        f"{_RULES}.{function}: {what}": "the image is continued by more elements than the window reaches"
        for function in (
            "ndimage.correlate",
            "ndimage.correlate1d",
            "ndimage.min_or_max_filter1d",
            "ndimage.uniform_filter1d",
            "ndimage_interpolation._under",
        )
        for what in (
            "size - 1 - before, the other sign",
            "size - 1 - before, a term dropped",
            "size - 1, the other sign",
            "size - 1, a term dropped",
        )
    },
    **{
        f"{_RULES}.signal.upfirdn: len(h) - 1, {what}": (
            "the signal is continued by more samples than reach the result"
        )
        for what in ("the other sign", "a term dropped")
    },
}
"""What is said of functions in Python (`adbc.testing.coverage.bodies`)."""

_WAYS = ("the other sign", "a hundredth more", "dropped")

OF_INNER_ROWS = {
    **{
        f"{name}: row 0, argument {i}: {what}": "scipy.stats gives no location but 0 and no scale but 1"
        for name, arguments in {
            **dict.fromkeys(("_cauchy_ppf", "_cauchy_isf"), (1, 2)),
            **dict.fromkeys(("_skewnorm_cdf", "_skewnorm_ppf", "_skewnorm_isf"), (1, 2)),
            **dict.fromkeys(("_landau_cdf", "_landau_sf", "_landau_ppf", "_landau_isf"), (1, 2)),
        }.items()
        for i in arguments
        for what in _WAYS
    },
    **{
        f"scipy.stats.poisson.{name}: row 0, argument {i}: {what}": (
            "between whole numbers the value is that of nothing, so that no difference tells"
        )
        for name in ("pmf", "logpmf")
        for i in (1, 3)
        for what in _WAYS
    },
    **{
        f"scipy.stats.multivariate_normal.entropy: row 0, argument 1: {what}": (
            "the entropy does not depend on the mean"
        )
        for what in _WAYS
    },
    **{
        f"{_RULES}.{name}: row 0, {what}": "what it lets through has no derivative"
        for name in ("base.fixed", "optimize.with_constants")
        for what in SIGNS
    },
    **{
        f"{_RULES}.sparse_solves.at_solution: row 0, argument 0: {what}": (
            "the solution moves there in second derivatives alone"
        )
        for what in _WAYS
    },
}
"""What is said of rows that no public name stands for."""

SURVIVORS: dict[str, str] = {
    **{
        f"scipy.special.{name}: row 0, argument {i}: dropped": _WHOLE
        for name, arguments in _OF_WHOLE.items()
        for i in arguments
    },
    **{
        f"numpy.{name}.{method}: row 0, {what}": _OF_INTEGERS
        for name in INTEGERS
        for method in ("at", "outer")
        for what in SIGNS
    },
    **{f"numpy.{name}.outer: row 0, {what}": _OF_STEPS for name in STEPS for what in SIGNS},
    **{f"numpy.logical_{name}.outer: row 1, {what}": _OF_STEPS for name in ("and", "or") for what in SIGNS},
    **{
        f"numpy.float64.imag: row 0, {what}": "the imaginary part of a real number is a constant, zero"
        for what in SIGNS
    },
    **{f"numpy.ndarray.setflags: row 0, {what}": "no number changes" for what in (*SIGNS, "not restored")},
    "numpy.positive.at: row 0, not restored": "what is overwritten is overwritten with itself",
    "scipy.special.jn: row 0, argument 0: dropped": "the refusal names jv, of which jn is another name",
    **OF_BODIES,
    **OF_INNER_ROWS,
}
"""By the name of a mutation, why no call can find it."""

_SPHEROIDAL = ("obl_ang1", "obl_cv", "obl_rad1", "obl_rad2", "pro_ang1", "pro_cv", "pro_rad1", "pro_rad2")

ENDLESS: dict[str, tuple[str, ...]] = {f"scipy.special.{name}": ("float32",) for name in _SPHEROIDAL}
"""The kinds of arguments with which a function of a library has no end itself, in C code, which no signal
interrupts: mutations are not looked for by such calls."""
