"""Calls of the functions and classes of ``scipy.interpolate``."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["CALLS", "SKIPPED"]

_I = "scipy.interpolate"
_X = "[0.0, 0.7, 1.1, 2.0, 2.6]"
_AT = "2.0 * u"
_GRID = "[0.0, 1.0, 2.0]"
_TEN = "np.linspace(0.0, 3.0, 10), np.concatenate([v, u])"


def _fitted(name: str, *more: str) -> list[str]:
    """A class that is given positions and values: by the values, by where it is evaluated, derived."""
    return [
        f"{_I}.{name}({_X}, v)({_AT})",
        f"{_I}.{name}(np.cumsum(u), v)(1.2)",
        *(f"{_I}.{name}({_X}, v){text}" for text in more),
    ]


CALLS: dict[str, Sequence[str]] = {
    f"{_I}.CubicSpline": [
        *_fitted("CubicSpline", f"({_AT}, 1)", ".integrate(0.2, 1.5)", f".derivative()({_AT})"),
        f"{_I}.CubicSpline({_X}, v, bc_type='natural')({_AT})",
        f"{_I}.CubicSpline({_X}, v, bc_type='clamped')({_AT})",
    ],
    f"{_I}.PchipInterpolator": _fitted("PchipInterpolator", f".derivative()({_AT})"),
    f"{_I}.Akima1DInterpolator": _fitted("Akima1DInterpolator"),
    f"{_I}.CubicHermiteSpline": [
        f"{_I}.CubicHermiteSpline({_X}, v, u)(1.3)",
        f"{_I}.CubicHermiteSpline({_X}, v, u)({_AT})",
    ],
    f"{_I}.BarycentricInterpolator": [
        text.replace("v)(", "v, rng=1)(") for text in _fitted("BarycentricInterpolator")
    ],
    f"{_I}.KroghInterpolator": _fitted("KroghInterpolator"),
    f"{_I}.FloaterHormannInterpolator": _fitted("FloaterHormannInterpolator"),
    f"{_I}.AAA": [f"{_I}.AAA({_X}, v)({_AT})"],
    f"{_I}.InterpolatedUnivariateSpline": _fitted("InterpolatedUnivariateSpline"),
    f"{_I}.UnivariateSpline": _fitted("UnivariateSpline"),
    f"{_I}.LSQUnivariateSpline": [f"{_I}.LSQUnivariateSpline({_TEN}, [1.0, 2.0])(u)"],
    f"{_I}.interp1d": [f"{_I}.interp1d({_X}, v)({_AT})", f"{_I}.interp1d({_X}, v, kind='cubic')({_AT})"],
    f"{_I}.make_interp_spline": [f"{_I}.make_interp_spline({_X}, v, k=3)({_AT})"],
    f"{_I}.make_lsq_spline": [
        f"{_I}.make_lsq_spline({_TEN}, [0.0, 0.0, 0.0, 0.0, 1.5, 3.0, 3.0, 3.0, 3.0])(u)"
    ],
    f"{_I}.make_smoothing_spline": [f"{_I}.make_smoothing_spline({_TEN}, lam=0.1)(u)"],
    f"{_I}.make_splrep": [f"{_I}.make_splrep({_TEN}, s=0.01)(u)"],
    f"{_I}.make_splprep": [f"{_I}.make_splprep([v, u], s=0)[0](0.3)"],
    f"{_I}.generate_knots": [f"list({_I}.generate_knots({_TEN}, s=0.01))"],
    f"{_I}.BSpline": [f"{_I}.BSpline([0.0, 0.0, 0.0, 0.5, 0.8, 1.0, 1.0, 1.0], v, 2)(u)"],
    f"{_I}.PPoly": [
        f"{_I}.PPoly(A, [0.0, 0.3, 0.7, 1.0])(u)",
        f"{_I}.PPoly(A, [0.0, 0.3, 0.7, 1.0]).integrate(0.1, 0.8)",
    ],
    f"{_I}.BPoly": [f"{_I}.BPoly(A, [0.0, 0.3, 0.7, 1.0])(u)"],
    f"{_I}.NdPPoly": [
        f"{_I}.NdPPoly(D[..., None], [[0.0, 0.5, 0.8, 0.9, 1.0], [0.0, 1.0]])(A[:1, :2] * 0.1 + 0.1)"
    ],
    f"{_I}.NdBSpline": [f"{_I}.NdBSpline(([0.0, 0.0, 1.0, 2.0, 2.0],) * 2, A, 1)(np.stack([u, v], 1))"],
    f"{_I}.RegularGridInterpolator": [
        f"{_I}.RegularGridInterpolator(({_GRID}, {_GRID}), A)(np.stack([u, v], 1))",
        f"{_I}.RegularGridInterpolator(({_GRID}, {_GRID}), A, method='slinear')(np.stack([u, v], 1))",
    ],
    f"{_I}.interpn": [f"{_I}.interpn(({_GRID}, {_GRID}), A, np.stack([u, v], 1))"],
    f"{_I}.RectBivariateSpline": [
        f"{_I}.RectBivariateSpline({_GRID}, {_GRID}, A, kx=2, ky=2)(0.3, 1.2)",
        f"{_I}.RectBivariateSpline({_GRID}, {_GRID}, A, kx=2, ky=2).ev(u, v)",
    ],
    f"{_I}.RBFInterpolator": [
        f"{_I}.RBFInterpolator(C, v[:4])(A)",
        f"{_I}.RBFInterpolator(C, v[:4], kernel='gaussian', epsilon=1.0)(A)",
    ],
    f"{_I}.Rbf": [f"{_I}.Rbf(v, u, v * u)(0.3, 0.4)"],
    f"{_I}.LinearNDInterpolator": [
        f"{_I}.LinearNDInterpolator([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [0.4, 0.6]], v)(u, v)"
    ],
    f"{_I}.NearestNDInterpolator": [
        f"{_I}.NearestNDInterpolator([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [0.4, 0.6]], v)(u, v)"
    ],
    f"{_I}.CloughTocher2DInterpolator": [
        f"{_I}.CloughTocher2DInterpolator([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [0.4, 0.6]], v)(0.3, 0.4)"
    ],
    f"{_I}.griddata": [
        f"{_I}.griddata([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [0.4, 0.6]], v, [[0.3, 0.4]])"
    ],
    f"{_I}.splrep": [
        f"{_I}.splrep({_X}, v)[1]",
        f"{_I}.splrep(np.cumsum(u), v, k=2)[0]",
        f"{_I}.splev({_AT}, {_I}.splrep({_X}, v, k=2))",
        f"{_I}.splrep({_TEN}, t=[1.4])[1]",
        f"{_I}.splrep(np.append(np.cumsum(u), 6.0), np.append(v, 0.3), np.arange(1.0, 7.0), k=2, t=[u[0] + 1.7])[1]",
        f"{_I}.splrep({_TEN}, np.arange(1.0, 11.0), s=1e4)[1]",
    ],
    f"{_I}.splev": [f"{_I}.splev(u, {_I}.splrep({_X}, v))", f"{_I}.splev(u, {_I}.splrep({_X}, v), der=1)"],
    f"{_I}.splint": [f"{_I}.splint(0.1, u[0] + 1.0, {_I}.splrep({_X}, v))"],
    f"{_I}.splder": [f"{_I}.splev(0.3, {_I}.splder({_I}.splrep({_X}, v)))"],
    f"{_I}.splantider": [f"{_I}.splev(0.3, {_I}.splantider({_I}.splrep({_X}, v)))"],
    f"{_I}.spalde": [f"{_I}.spalde(0.3, {_I}.splrep({_X}, v))"],
    f"{_I}.sproot": [f"{_I}.sproot({_I}.splrep([0.0, 0.7, 1.1, 2.0, 2.6, 3.0], np.append(-v, u[0])))"],
    f"{_I}.splprep": [f"{_I}.splprep([v, u], s=0)[0][1][0]"],
    f"{_I}.insert": [f"{_I}.insert(0.5, {_I}.splrep({_X}, v))[1][:6]"],
    f"{_I}.bisplrep": [
        f"{_I}.bisplrep(np.repeat([0.0, 1.0, 2.0, 3.0], 4), np.tile([0.0, 1.0, 2.0, 3.0], 4), np.append(np.tile(v, 3), u[0]))[2]"
    ],
    f"{_I}.bisplev": [
        f"{_I}.bisplev(0.3, 0.6, {_I}.bisplrep(np.repeat([0.0, 1.0, 2.0, 3.0], 4), np.tile([0.0, 1.0, 2.0, 3.0], 4), np.append(np.tile(v, 3), u[0])))"
    ],
    **{
        f"{_I}.{name}": [f"{_I}.{name}({_X}, v, 1.2)", f"{_I}.{name}({_X}, v, u)"]
        for name in ("krogh_interpolate", "pchip_interpolate")
    },
    f"{_I}.barycentric_interpolate": [f"{_I}.barycentric_interpolate({_X}, v, u, rng=1)"],
    f"{_I}.lagrange": [f"{_I}.lagrange({_X}, v)(0.4)"],
    f"{_I}.pade": [f"{_I}.pade(v, 2)[0](0.3)"],
    f"{_I}.approximate_taylor_polynomial": [
        f"{_I}.approximate_taylor_polynomial(lambda t: np.sin(v[0] * t), 0.0, 3, 0.5)(0.3)"
    ],
}

SKIPPED: dict[str, str] = {
    f"{_I}.interp2d": "is gone",
    f"{_I}.BivariateSpline": "is a base class",
    **{
        f"{_I}.{name}": "fits scattered data by choosing knots"
        for name in (
            "LSQBivariateSpline",
            "LSQSphereBivariateSpline",
            "RectSphereBivariateSpline",
            "SmoothBivariateSpline",
            "SmoothSphereBivariateSpline",
        )
    },
}
