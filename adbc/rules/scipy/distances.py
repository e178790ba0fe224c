"""``scipy.spatial.distance``: distances of all pairs, and what is made of them.

The derivative of a distance by its points is 0 where they coincide, as that of a norm is at 0.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.spatial import distance

from adbc.errors import UnsupportedError
from adbc.rules.implicit import valued
from adbc.rules.lookup import derived_body
from adbc.rules.scipy.base import bodies, internal
from adbc.rules.table import Rule, ZeroRule

__all__ = ["ROWS"]

_followed_cdist: Any = derived_body(distance.cdist)
_followed_pdist: Any = derived_body(distance.pdist)

# Each takes points that broadcast against each other, whose coordinates are along the last axis.


def _euclidean(a: Any, b: Any, w: Any = None) -> Any:
    d = a - b
    return np.linalg.norm(d if w is None else d * np.sqrt(w), axis=-1)


def _sqeuclidean(a: Any, b: Any, w: Any = None) -> Any:
    d = a - b
    return np.sum(d * d if w is None else w * d * d, axis=-1)


def _cityblock(a: Any, b: Any, w: Any = None) -> Any:
    d = np.abs(a - b)
    return np.sum(d if w is None else w * d, axis=-1)


def _chebyshev(a: Any, b: Any, w: Any = None) -> Any:
    d = np.abs(a - b)
    return np.max(d if w is None else np.where(np.asarray(w) != 0, d, 0.0), axis=-1)


def _minkowski(a: Any, b: Any, p: Any = 2.0, w: Any = None) -> Any:
    if p == np.inf:
        return _chebyshev(a, b, w)
    d = a - b
    return np.linalg.norm(d if w is None else d * np.asarray(w) ** (1.0 / p), p, axis=-1)


def _cosine(a: Any, b: Any) -> Any:
    return 1.0 - np.sum(a * b, axis=-1) / (np.linalg.norm(a, axis=-1) * np.linalg.norm(b, axis=-1))


def _correlation(a: Any, b: Any) -> Any:
    return _cosine(a - np.mean(a, axis=-1, keepdims=True), b - np.mean(b, axis=-1, keepdims=True))


def _canberra(a: Any, b: Any) -> Any:
    below = np.abs(a) + np.abs(b)
    return np.sum(np.where(below == 0, 0.0, np.abs(a - b) / np.where(below == 0, 1.0, below)), axis=-1)


def _braycurtis(a: Any, b: Any) -> Any:
    return np.sum(np.abs(a - b), axis=-1) / np.sum(np.abs(a + b), axis=-1)


def _seuclidean(a: Any, b: Any, V: Any) -> Any:
    return np.linalg.norm((a - b) / np.sqrt(V), axis=-1)


def _mahalanobis(a: Any, b: Any, VI: Any) -> Any:
    d = a - b
    return np.sqrt(np.sum(np.matmul(d, VI) * d, axis=-1))


_METRICS: dict[str, Callable[..., Any]] = {
    "euclidean": _euclidean,
    "sqeuclidean": _sqeuclidean,
    "cityblock": _cityblock,
    "chebyshev": _chebyshev,
    "minkowski": _minkowski,
    "cosine": _cosine,
    "correlation": _correlation,
    "canberra": _canberra,
    "braycurtis": _braycurtis,
    "seuclidean": _seuclidean,
    "mahalanobis": _mahalanobis,
}
_SHORT = {
    "euclid": "euclidean", "eu": "euclidean", "e": "euclidean", "sqeuclid": "sqeuclidean",
    "sqe": "sqeuclidean", "sqeu": "sqeuclidean",
    "manhattan": "cityblock", "cblock": "cityblock", "cb": "cityblock", "c": "cityblock",
    "chebychev": "chebyshev", "cheby": "chebyshev", "cheb": "chebyshev", "ch": "chebyshev", "cos": "cosine",
    "mi": "minkowski", "m": "minkowski", "pnorm": "minkowski", "co": "correlation", "se": "seuclidean",
    "s": "seuclidean", "mahal": "mahalanobis", "mah": "mahalanobis",
}  # fmt: skip


def _keywords(metric: Callable[..., Any]) -> tuple[str, ...]:
    return metric.__code__.co_varnames[2 : metric.__code__.co_argcount]


def _is_called(metric: Any, kwargs: Any) -> bool:
    """Whether `metric` is called for each pair of points, as SciPy does with every function: those of its own
    that are here do the same for all pairs at once."""
    if isinstance(metric, str):
        return False
    name = str(getattr(metric, "__name__", ""))  # an object, or a partial application, has none
    found = _METRICS.get(name)
    if found is None or metric is not getattr(distance, name):
        return True
    return not all(n in _keywords(found) for n, x in kwargs.items() if x is not None)


def _metric(metric: Any, everything: Any, kwargs: Any) -> tuple[Any, Any]:
    """The function of a metric, and its keywords, of which some follow from all points."""
    name = metric if isinstance(metric, str) else metric.__name__
    name = _SHORT.get(name.lower(), name.lower())
    found = _METRICS.get(name)
    if found is None:
        raise UnsupportedError(
            f"distances of scipy.spatial with metric={metric!r}",
            "adbc has no rule for that form",
            "call the function for each pair",
        )
    given = {n: x for n, x in kwargs.items() if x is not None}
    if not all(n in _keywords(found) for n in given):
        raise UnsupportedError(
            f"distances of scipy.spatial with metric={metric!r} and {', '.join(given)}",
            "adbc has no rule for that form",
            "scale the coordinates",
        )
    if name == "seuclidean" and "V" not in given:
        given["V"] = np.var(everything, axis=0, ddof=1)
    if name == "mahalanobis" and "VI" not in given:
        m, n = everything.shape
        if m <= n:
            raise ValueError(
                f"The number of observations ({m}) is too small; the covariance matrix is singular. For"
                f" observations with {n} dimensions, at least {n + 1} observations are required."
            )
        given["VI"] = np.linalg.inv(np.atleast_2d(np.cov(everything.T))).T
    return found, given


def _written(found: Any, out: Any) -> Any:
    """`found`, written into the array `out` if there is one, which has to be as code in C needs it."""
    if out is None:
        return found
    if out.shape != found.shape:
        raise ValueError("Output array has incorrect shape.")
    if not out.flags.c_contiguous:
        raise ValueError("Output array must be C-contiguous")
    if out.dtype != np.float64:
        raise ValueError("Output array must be double type.")
    out[...] = found
    return out


def cdist(XA: Any, XB: Any, metric: Any = "euclidean", *, out: Any = None, **kwargs: Any) -> Any:
    if _is_called(metric, kwargs):
        return _followed_cdist(XA, XB, metric, out=out, **kwargs)
    a, b = np.asarray(XA, dtype=float), np.asarray(XB, dtype=float)
    for x, name in ((a, "XA"), (b, "XB")):
        if x.ndim != 2:
            raise ValueError(f"{name} must be a 2-dimensional array.")
    if a.shape[1] != b.shape[1]:
        raise ValueError("XA and XB must have the same number of columns (i.e. feature dimension.)")
    function, given = _metric(metric, np.concatenate((a, b)), kwargs)
    return _written(function(a[:, None, :], b[None, :, :], **given), out)


def pdist(X: Any, metric: Any = "euclidean", *, out: Any = None, **kwargs: Any) -> Any:
    if _is_called(metric, kwargs):
        return _followed_pdist(X, metric, out=out, **kwargs)
    x = np.asarray(X, dtype=float)
    if x.ndim != 2:
        raise ValueError(f"A 2-dimensional array must be passed. (Shape was {x.shape}).")
    function, given = _metric(metric, x, kwargs)
    i, j = np.triu_indices(len(x), 1)
    return _written(function(x[i], x[j], **given), out)


def squareform(X: Any, force: str = "no", checks: bool = True) -> Any:
    x = np.asarray(X)
    forced = force.lower()
    if forced == "tomatrix" and x.ndim != 1:
        raise ValueError("Forcing 'tomatrix' but input X is not a distance vector.")
    if forced == "tovector" and x.ndim != 2:
        raise ValueError("Forcing 'tovector' but input X is not a distance matrix.")
    if x.ndim == 1:
        n = int(np.ceil(np.sqrt(len(x) * 2))) if len(x) else 1  # a single point has no distances
        if n * (n - 1) != 2 * len(x):
            raise ValueError("Incompatible vector size. It must be a binomial coefficient n choose 2.")
        i, j = np.triu_indices(n, 1)
        square = np.zeros((n, n), x.dtype)
        square[i, j] = x
        square[j, i] = x
        return square
    if x.ndim != 2 or len(x) != x.shape[1]:
        raise ValueError("The matrix argument must be square.")
    if checks:
        distance.is_valid_dm(x, throw=True, name="X")
    i, j = np.triu_indices(len(x), 1)
    return x[i, j]


# -- the distance of two sets ------------------------------------------------------------------------------

_HAUSDORFF = internal("scipy.spatial._hausdorff")


def farthest(ar1: Any, ar2: Any, seed: Any) -> Any:
    """What SciPy says of the point of one set that is farthest from another, as constants."""
    return _HAUSDORFF.directed_hausdorff(ar1, ar2, seed)


def directed_hausdorff(ar1: Any, ar2: Any, seed: Any = 0) -> Any:
    found, i, j = farthest(ar1, ar2, seed)
    return valued(found, np.linalg.norm(ar1[i] - ar2[j])), i, j


def _of_sets() -> list[Rule]:
    rows: list[Rule] = bodies(_HAUSDORFF, {"directed_hausdorff": directed_hausdorff})
    return [ZeroRule(farthest), *rows]


ROWS: list[Rule] = [
    *bodies(distance, {"cdist": cdist, "pdist": pdist, "squareform": squareform}),
    *_of_sets(),
]
