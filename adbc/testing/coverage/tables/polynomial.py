"""Calls of NumPy's polynomials: of all families alike."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["CALLS"]

_PARTS = {
    "polynomial": "poly",
    "chebyshev": "cheb",
    "legendre": "leg",
    "laguerre": "lag",
    "hermite": "herm",
    "hermite_e": "herme",
}

_FUNCTIONS: dict[str, Sequence[str]] = {
    "add": ["add(v, u)"],
    "sub": ["sub(v, u[:3])"],
    "mul": ["mul(v, u)"],
    "mulx": ["mulx(v)"],
    "div": ["div(v, u[:3])"],
    "pow": ["pow(v, 3)"],
    "val": ["val(x, v)", "val(v, A[:, :2])"],
    "val2d": ["val2d(v[:3], u[:3], A)"],
    "val3d": ["val3d(v[:3], u[:3], v[:3], D)"],
    "valfromroots": ["valfromroots(x, v)"],
    "grid2d": ["grid2d(v, u, A)"],
    "grid3d": ["grid3d(v[:2], u[:2], v[:2], D)"],
    "der": ["der(v)", "der(v, 2)", "der(A, axis=1)"],
    "int": ["int(v)", "int(v, 2, [0.1, 0.2])", "int(v, lbnd=0.3)"],
    "fromroots": ["fromroots(v)"],
    "vander": ["vander(v, 3)"],
    "vander2d": ["vander2d(v, u, [1, 2])"],
    "vander3d": ["vander3d(v, u, v, [1, 1, 1])"],
    "fit": ["fit(np.cumsum(v), u, 2)"],
    "trim": ["trim(v)"],
    "companion": ["companion(v)"],
    "roots": ["roots(v)"],
    "line": ["line(x, y)"],
    "weight": ["weight(x * 0.5)"],
    "gauss": ["gauss(3)"],
    "interpolate": ["interpolate(lambda a: a * a, 3)"],
}

_METHODS: dict[str, Sequence[str]] = {
    "__call__": ["P(v)(x)", "P(v, domain=[0.0, 2.0])(x)"],
    "__add__": ["(P(v) + P(u)).coef"],
    "__sub__": ["(P(v) - 1.0).coef"],
    "__mul__": ["(P(v) * P(u)).coef"],
    "__pow__": ["(P(v) ** 2).coef"],
    "__floordiv__": ["(P(v) // P(u[:2])).coef"],
    "__mod__": ["(P(v) % P(u[:2])).coef"],
    "__truediv__": ["(P(v) / 2.0).coef"],
    "__neg__": ["(-P(v)).coef"],
    "deriv": ["P(v).deriv().coef", "P(v).deriv(2)(0.3)"],
    "integ": ["P(v).integ().coef"],
    "roots": ["P(v).roots()"],
    "fit": ["P.fit(np.cumsum(v), u, 2).coef", "P.fit([0.1, 0.5, 1.0, 2.0, 2.5], u, 2)(0.3)"],
    "fromroots": ["P.fromroots(v)(0.4)", "P.fromroots(v, domain=[0.0, 1.0]).coef"],
    "linspace": ["P(v).linspace(4)"],
    "cutdeg": ["P(v).cutdeg(2).coef"],
    "truncate": ["P(v).truncate(2).coef"],
    "trim": ["P(v).trim().coef"],
    "convert": ["P(v).convert(kind=np.polynomial.Polynomial).coef"],
    "cast": ["P.cast(P(v)).coef"],
    "basis": ["P.basis(3)(x)"],
    "identity": ["P.identity()(x)"],
    "mapparms": ["P(v).mapparms()"],
    "copy": ["P(v).copy().coef"],
    "degree": ["P(v).degree()"],
}


def _calls() -> dict[str, Sequence[str]]:
    found: dict[str, Sequence[str]] = {}
    for part, prefix in _PARTS.items():
        for name, texts in _FUNCTIONS.items():
            home = f"numpy.polynomial.{part}"
            found[f"{home}.{prefix}{name}"] = [f"np.polynomial.{part}.{prefix}{text}" for text in texts]
        for other in (f"{prefix}2poly", f"poly2{prefix}"):
            found[f"{home}.{other}"] = [f"np.polynomial.{part}.{other}(v)"]
    for name in ("Polynomial", "Chebyshev", "Legendre", "Laguerre", "Hermite", "HermiteE"):
        for method, texts in _METHODS.items():
            found[f"numpy.polynomial.{name}.{method}"] = [
                text.replace("P(", f"np.polynomial.{name}(").replace("P.", f"np.polynomial.{name}.")
                for text in texts
            ]
    return found


CALLS: dict[str, Sequence[str]] = _calls()
