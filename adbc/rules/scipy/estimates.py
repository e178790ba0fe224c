"""``scipy.stats``: densities that are estimated by kernels, von Mises' distribution, and whether something in
a sample is no number."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special, stats
from scipy._lib import _util

from adbc.rules.numpy.base import ArrayRule
from adbc.rules.scipy.base import internal
from adbc.rules.table import Overlay, Rule, ZeroRule

__all__ = ["ROWS"]


def _logarithms(self: Any, points: Any) -> Any:
    """For each point a row with the logarithm of the weighted kernel of each datum."""
    points = np.atleast_2d(np.asarray(points))
    if points.shape[0] != self.d:
        if points.shape != (1, self.d):
            raise ValueError(f"points have dimension {points.shape[0]}, dataset has dimension {self.d}")
        points = np.reshape(points, (self.d, 1))
    factor = self.cho_cov
    data = np.linalg.solve(factor, self.dataset)
    there = np.linalg.solve(factor, points)
    squares = np.sum((there[:, :, None] - data[:, None, :]) ** 2, axis=0)
    scale = np.sum(np.log(np.diagonal(factor))) + 0.5 * self.d * np.log(2 * np.pi)
    return np.log(self.weights) - 0.5 * squares - scale


def evaluate(self: Any, points: Any) -> Any:
    """The body of ``gaussian_kde.evaluate``."""
    return np.sum(np.exp(_logarithms(self, points)), axis=1)


def logpdf(self: Any, x: Any) -> Any:
    return special.logsumexp(_logarithms(self, x), axis=1)


_U, _W = np.polynomial.legendre.leggauss(64)


def _angle(kappa: Any, x: Any) -> Any:
    return np.exp(kappa * (np.cos(x) - 1)) / (2 * np.pi * special.i0e(kappa))


def _by_kappa(kappa: Any, x: Any) -> Any:
    """The derivative of von Mises' distribution by its concentration: the integral, from the middle, of the
    density times the derivative of its logarithm, cut where the density ends."""
    rest = np.asarray(x - 2 * np.pi * np.round(x / (2 * np.pi)))[..., None]
    kappa = np.asarray(kappa)[..., None]
    end = np.sign(rest) * np.minimum(np.abs(rest), 12 / np.sqrt(np.maximum(kappa, 1e-12)))
    t = 0.5 * end * (_U + 1)
    mean = special.i1e(kappa) / special.i0e(kappa)
    return np.sum(0.5 * end * _W * (np.cos(t) - mean) * _angle(kappa, t), axis=-1)


def _von_mises() -> list[Rule]:
    home = internal("scipy.stats._stats")
    function = getattr(home, "von_mises_cdf", None)
    if function is None:
        return []
    formulas = [  # of complex numbers SciPy takes the real part
        lambda d, out, kappa, x: _by_kappa(np.real(kappa), np.real(x)) * np.real(d),
        lambda d, out, kappa, x: _angle(np.real(kappa), np.real(x)) * np.real(d),
    ]
    return [ArrayRule(function, "kappa_obj x_obj", jvp=formulas, vjp=formulas)]


ROWS: list[Rule] = [
    Overlay(stats.gaussian_kde.evaluate, evaluate),
    Overlay(stats.gaussian_kde.logpdf, logpdf),
    *_von_mises(),
    *(ZeroRule(getattr(_util, name)) for name in ("_contains_nan",) if hasattr(_util, name)),
]
