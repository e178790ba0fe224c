"""The functions that HIPS autograd has derivatives of, each as a sum of what it gives for 1,000 elements.

The lambdas read `np`, `special`, `stats`, `linalg`, `signal` and `integrate` as globals, so that autograd can
be given its own; what they are not differentiated by they are given as arguments.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import integrate, linalg, signal, special, stats

__all__ = ["DIFFERENT", "ROWS", "UNMEASURED", "Row"]


@dataclasses.dataclass(frozen=True)
class Row:
    """A function of one real array, and arguments that are constant, with a real number for a result."""

    name: str
    function: Callable[..., Any]
    arguments: tuple[Any, ...]


def _between(seed: int, *shape: int) -> np.ndarray[Any, Any]:
    return np.random.default_rng(seed).uniform(0.3, 0.9, shape)


X, Y = _between(0, 1000), _between(1, 1000)
"""Between 0.3 and 0.9, where each of these functions is smooth."""
SHORT = _between(2, 30)
SOME = np.arange(0, 1000, 3)
LARGE = X > 0.5
M, N = _between(3, 25, 40), _between(4, 40, 25)
CUBE, VECTORS = _between(5, 10, 10, 10), _between(6, 333, 3)
SMALL, TINY = _between(7, 10, 10), _between(8, 4, 3)
SQUARE = _between(9, 32, 32) + 8 * np.eye(32)
POSITIVE = SQUARE @ SQUARE.T / 32
CENTRE = np.zeros(40)
COVARIANCE = np.eye(40) + 0.1
WEIGHTS = np.full(1000, 1 / 1000)
THIRTIETHS = np.full(30, 1 / 30)
BANDS = np.stack([Y, 4 + Y, Y])
TIMES = np.linspace(0.0, 1.0, 10)


def decay(y: Any, t: Any, rate: Any) -> Any:
    return -y * rate


def _of(kind: str, *names: str, second: Any = None) -> list[Row]:
    """Rows of functions of elements that need no more than their names."""
    made = []
    for name in names:
        argument = 1 + X if name == "arccosh" else X
        call = f"{kind}.{name}(x)" if second is None else f"{kind}.{name}(x, y)"
        made.append(
            Row(f"{kind}.{name}", _written(call), (argument,) if second is None else (argument, second))
        )
    return made


def _written(call: str) -> Callable[..., Any]:
    """The function of x, and of y if that is in it, that adds up what a call gives."""
    names = "x, y" if ", y)" in call else "x"
    made: Callable[..., Any] = eval(f"lambda {names}: {call}.sum()", globals())
    return made


NUMPY = [
    *_of(
        "np", "abs", "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctanh", "cos", "cosh", "deg2rad",
        "degrees", "exp", "exp2", "expm1", "fabs", "log", "log10", "log1p", "log2", "negative", "rad2deg",
        "radians", "reciprocal", "sin", "sinc", "sinh", "sqrt", "square", "tan", "tanh", "nan_to_num",
    ),
    *_of(
        "np", "add", "arctan2", "divide", "fmax", "fmin", "hypot", "logaddexp", "logaddexp2", "maximum",
        "minimum", "multiply", "power", "remainder", "subtract", second=Y,
    ),
    Row("np.sum", lambda x: np.sum(x), (X,)),
    Row("np.sum, axis", lambda x: np.sum(x, axis=0).sum(), (M,)),
    Row("np.mean", lambda x: np.mean(x), (X,)),
    Row("np.mean, axis", lambda x: np.mean(x, axis=0).sum(), (M,)),
    Row("np.prod", lambda x: np.prod(x + 0.5), (X,)),
    Row("np.prod, axis", lambda x: np.prod(x, axis=0).sum(), (M,)),
    Row("np.max", lambda x: np.max(x), (X,)),
    Row("np.max, axis", lambda x: np.max(x, axis=0).sum(), (M,)),
    Row("np.min", lambda x: np.min(x), (X,)),
    Row("np.min, axis", lambda x: np.min(x, axis=0).sum(), (M,)),
    Row("np.amax", lambda x: np.amax(x), (X,)),
    Row("np.amin", lambda x: np.amin(x), (X,)),
    Row("np.var", lambda x: np.var(x), (X,)),
    Row("np.var, axis", lambda x: np.var(x, axis=0).sum(), (M,)),
    Row("np.std", lambda x: np.std(x), (X,)),
    Row("np.std, axis", lambda x: np.std(x, axis=0).sum(), (M,)),
    Row("np.cumsum", lambda x: np.cumsum(x).sum(), (X,)),
    Row("np.clip", lambda x: np.clip(x, 0.4, 0.7).sum(), (X,)),
    Row("np.where", lambda x, y, large: np.sum(np.where(large, x, y)), (X, Y, LARGE)),
    Row("np.sort", lambda x: np.sort(x).sum(), (X,)),
    Row("np.partition", lambda x: np.partition(x, 500)[:500].sum(), (X,)),
    Row("np.diff", lambda x: np.diff(x).sum(), (X,)),
    Row("np.gradient", lambda x: np.gradient(x).sum(), (X,)),
    Row("np.dot", lambda x, y: np.dot(x, y), (X, Y)),
    Row("np.dot, matrices", lambda x, y: np.dot(x, y).sum(), (M, N)),
    Row("np.inner", lambda x, y: np.inner(x, y), (X, Y)),
    Row("np.matmul", lambda x, y: np.matmul(x, y).sum(), (M, N)),
    Row("np.outer", lambda x, y: np.outer(x, y).sum(), (SHORT, Y[:30])),
    Row("np.tensordot", lambda x, y: np.tensordot(x, y, axes=2), (M, N.T.copy())),
    Row("np.einsum", lambda x, y: np.einsum("ij,jk->ik", x, y).sum(), (M, N)),
    Row("np.kron", lambda x, y: np.kron(x, y).sum(), (SMALL, TINY)),
    Row("np.cross", lambda x, y: np.cross(x, y).sum(), (VECTORS, VECTORS[::-1].copy())),
    Row("np.reshape", lambda x: np.reshape(x, (25, 40)).sum(), (X,)),
    Row("np.ravel", lambda x: np.ravel(x).sum(), (M,)),
    Row("np.transpose", lambda x: np.transpose(x).sum(), (M,)),
    Row("np.swapaxes", lambda x: np.swapaxes(x, 0, 2).sum(), (CUBE,)),
    Row("np.moveaxis", lambda x: np.moveaxis(x, 0, 2).sum(), (CUBE,)),
    Row("np.rollaxis", lambda x: np.rollaxis(x, 2).sum(), (CUBE,)),
    Row("np.expand_dims", lambda x: np.expand_dims(x, 0).sum(), (X,)),
    Row("np.squeeze", lambda x: np.squeeze(x).sum(), (X[None],)),
    Row("np.atleast_1d", lambda x: np.atleast_1d(x).sum(), (X,)),
    Row("np.atleast_2d", lambda x: np.atleast_2d(x).sum(), (X,)),
    Row("np.atleast_3d", lambda x: np.atleast_3d(x).sum(), (X,)),
    Row("np.broadcast_to", lambda x: np.broadcast_to(x, (3, 1000)).sum(), (X[None],)),
    Row("np.repeat", lambda x: np.repeat(x, 3).sum(), (X,)),
    Row("np.tile", lambda x: np.tile(x, 3).sum(), (X,)),
    Row("np.roll", lambda x: np.roll(x, 3).sum(), (X,)),
    Row("np.flipud", lambda x: np.flipud(x).sum(), (M,)),
    Row("np.fliplr", lambda x: np.fliplr(x).sum(), (M,)),
    Row("np.rot90", lambda x: np.rot90(x).sum(), (M,)),
    Row("np.pad", lambda x: np.pad(x, (2, 3), mode="constant").sum(), (X,)),
    Row("np.concatenate", lambda x, y: np.concatenate([x, y]).sum(), (X, Y)),
    Row("np.stack", lambda x, y: np.stack([x, y]).sum(), (X, Y)),
    Row("np.hstack", lambda x, y: np.hstack([x, y]).sum(), (X, Y)),
    Row("np.vstack", lambda x, y: np.vstack([x, y]).sum(), (X, Y)),
    Row("np.array, of arrays", lambda x, y: np.array([x, y]).sum(), (X, Y)),
    Row("np.array, of an array", lambda x: np.array(x).sum(), (X,)),
    Row("np.split", lambda x: np.split(x, 4)[1].sum(), (X,)),
    Row("np.array_split", lambda x: np.array_split(x, 3)[1].sum(), (X,)),
    Row("np.vsplit", lambda x: np.vsplit(x, 5)[1].sum(), (M,)),
    Row("np.hsplit", lambda x: np.hsplit(x, 5)[1].sum(), (M,)),
    Row("np.dsplit", lambda x: np.dsplit(x, 5)[1].sum(), (CUBE,)),
    Row("x[10:900]", lambda x: x[10:900].sum(), (X,)),
    Row("x[integers]", lambda x, some: x[some].sum(), (X, SOME)),
    Row("x[truths]", lambda x, large: x[large].sum(), (X, LARGE)),
    Row("np.trace", lambda x: np.trace(x), (SQUARE,)),
    Row("np.diag", lambda x: np.diag(x).sum(), (SQUARE,)),
    Row("np.diag, of a vector", lambda x: np.diag(x).sum(), (SHORT,)),
    Row("np.diagonal", lambda x: np.diagonal(x, 0, -1, -2).sum(), (CUBE,)),
    Row("np.triu", lambda x: np.triu(x).sum(), (SQUARE,)),
    Row("np.tril", lambda x: np.tril(x).sum(), (SQUARE,)),
    Row("np.full", lambda x: np.full((1000,), x[0]).sum(), (X,)),
    Row("np.linspace", lambda x: np.linspace(x[0], x[1], 1000).sum(), (X,)),
    Row("np.astype", lambda x: np.astype(x, np.float32).sum(), (X,)),
    Row("np.real", lambda x, y: np.real(x * y).sum(), (X, 1j * Y)),
    Row("np.imag", lambda x, y: np.imag(x * y).sum(), (X, 1j * Y)),
    Row("np.conjugate", lambda x, y: np.real(np.conjugate(x * y)).sum(), (X, 1j + Y)),
    Row("np.angle", lambda x, y: np.angle(x + y).sum(), (X, 1j * Y)),
    Row("np.real_if_close", lambda x: np.real_if_close(x).sum(), (X,)),
]  # fmt: skip

FOURIER = [
    Row("np.fft.fft", lambda x: np.abs(np.fft.fft(x)).sum(), (X,)),
    Row("np.fft.ifft", lambda x: np.abs(np.fft.ifft(x)).sum(), (X,)),
    Row("np.fft.fft2", lambda x: np.abs(np.fft.fft2(x)).sum(), (M,)),
    Row("np.fft.ifft2", lambda x: np.abs(np.fft.ifft2(x)).sum(), (M,)),
    Row("np.fft.fftn", lambda x: np.abs(np.fft.fftn(x)).sum(), (CUBE,)),
    Row("np.fft.ifftn", lambda x: np.abs(np.fft.ifftn(x)).sum(), (CUBE,)),
    Row("np.fft.rfft", lambda x: np.abs(np.fft.rfft(x)).sum(), (X,)),
    Row("np.fft.irfft", lambda x: np.fft.irfft(x).sum(), (X[:501],)),
    Row("np.fft.rfft2", lambda x: np.abs(np.fft.rfft2(x)).sum(), (M,)),
    Row("np.fft.irfft2", lambda x: np.fft.irfft2(x).sum(), (M[:, :21].copy(),)),
    Row("np.fft.rfftn", lambda x: np.abs(np.fft.rfftn(x)).sum(), (CUBE,)),
    Row("np.fft.irfftn", lambda x: np.fft.irfftn(x).sum(), (CUBE[:, :, :6].copy(),)),
    Row("np.fft.fftshift", lambda x: np.fft.fftshift(x).sum(), (X,)),
    Row("np.fft.ifftshift", lambda x: np.fft.ifftshift(x).sum(), (X,)),
]

MATRICES = [
    Row("np.linalg.cholesky", lambda x: np.linalg.cholesky(x).sum(), (POSITIVE,)),
    Row("np.linalg.det", lambda x: np.linalg.det(x / 8), (SQUARE,)),
    Row("np.linalg.eig", lambda x: np.abs(np.linalg.eig(x)[0]).sum(), (SQUARE,)),
    Row("np.linalg.eigh", lambda x: np.linalg.eigh(x)[0].sum(), (POSITIVE,)),
    Row("np.linalg.inv", lambda x: np.linalg.inv(x).sum(), (SQUARE,)),
    Row("np.linalg.norm", lambda x: np.linalg.norm(x), (X,)),
    Row("np.linalg.norm, matrix", lambda x: np.linalg.norm(x), (M,)),
    Row("np.linalg.pinv", lambda x: np.linalg.pinv(x).sum(), (SQUARE,)),
    Row("np.linalg.slogdet", lambda x: np.linalg.slogdet(x)[1], (SQUARE,)),
    Row("np.linalg.solve", lambda x, y: np.linalg.solve(x, y).sum(), (SQUARE, POSITIVE)),
    Row("np.linalg.solve, vector", lambda x, y: np.linalg.solve(x, y).sum(), (SQUARE, Y[:32])),
    Row("np.linalg.svd", lambda x: np.linalg.svd(x, full_matrices=False)[1].sum(), (M,)),
    Row("linalg.sqrtm", lambda x: linalg.sqrtm(x).sum(), (POSITIVE,)),
    Row("linalg.solve_triangular", lambda x, y: linalg.solve_triangular(x, y).sum(), (SQUARE, Y[:32])),
    Row("linalg.solve_banded", lambda x, y: linalg.solve_banded((1, 1), x, y).sum(), (BANDS, X)),
    Row("linalg.solve_sylvester", lambda x, a, b: linalg.solve_sylvester(x, a, b).sum(),
        (SQUARE, POSITIVE, POSITIVE)),
]  # fmt: skip

SPECIAL = [
    *_of(
        "special", "digamma", "erf", "erfc", "erfcinv", "erfinv", "expit", "gamma", "gammaln", "gammasgn",
        "i0", "i1", "j0", "j1", "logit", "psi", "rgamma", "y0", "y1",
    ),
    *_of("special", "beta", "betaln", second=Y),
    Row("special.logsumexp", lambda x: special.logsumexp(x), (X,)),
    Row("special.logsumexp, axis", lambda x: special.logsumexp(x, axis=1).sum(), (M,)),
    Row("special.betainc", lambda x: special.betainc(1.3, 2.2, x).sum(), (X,)),
    Row("special.gammainc", lambda x: special.gammainc(1.3, x).sum(), (X,)),
    Row("special.gammaincc", lambda x: special.gammaincc(1.3, x).sum(), (X,)),
    Row("special.polygamma", lambda x: special.polygamma(1, x).sum(), (X,)),
    Row("special.multigammaln", lambda x: special.multigammaln(x, 2).sum(), (X + 5,)),
    Row("special.iv", lambda x: special.iv(2, x).sum(), (X,)),
    Row("special.ive", lambda x: special.ive(2, x).sum(), (X,)),
    Row("special.jn", lambda x: special.jn(2, x).sum(), (X,)),
    Row("special.yn", lambda x: special.yn(2, x).sum(), (X,)),
]  # fmt: skip

STATISTICS = [
    Row("stats.norm.pdf", lambda x: stats.norm.pdf(x, 0.3, 1.2).sum(), (X,)),
    Row("stats.norm.logpdf", lambda x: stats.norm.logpdf(x, 0.3, 1.2).sum(), (X,)),
    Row("stats.norm.cdf", lambda x: stats.norm.cdf(x, 0.3, 1.2).sum(), (X,)),
    Row("stats.norm.logcdf", lambda x: stats.norm.logcdf(x, 0.3, 1.2).sum(), (X,)),
    Row("stats.norm.sf", lambda x: stats.norm.sf(x, 0.3, 1.2).sum(), (X,)),
    Row("stats.norm.logsf", lambda x: stats.norm.logsf(x, 0.3, 1.2).sum(), (X,)),
    Row("stats.t.pdf", lambda x: stats.t.pdf(x, 3.3, 0.3, 1.2).sum(), (X,)),
    Row("stats.t.logpdf", lambda x: stats.t.logpdf(x, 3.3, 0.3, 1.2).sum(), (X,)),
    Row("stats.t.cdf", lambda x: stats.t.cdf(x, 3.3, 0.3, 1.2).sum(), (X,)),
    Row("stats.t.logcdf", lambda x: stats.t.logcdf(x, 3.3, 0.3, 1.2).sum(), (X,)),
    Row("stats.gamma.pdf", lambda x: stats.gamma.pdf(x, 1.3).sum(), (X,)),
    Row("stats.gamma.logpdf", lambda x: stats.gamma.logpdf(x, 1.3).sum(), (X,)),
    Row("stats.gamma.cdf", lambda x: stats.gamma.cdf(x, 1.3).sum(), (X,)),
    Row("stats.beta.pdf", lambda x: stats.beta.pdf(x, 1.3, 2.2).sum(), (X,)),
    Row("stats.beta.logpdf", lambda x: stats.beta.logpdf(x, 1.3, 2.2).sum(), (X,)),
    Row("stats.beta.cdf", lambda x: stats.beta.cdf(x, 1.3, 2.2).sum(), (X,)),
    Row("stats.chi2.pdf", lambda x: stats.chi2.pdf(x, 3.0).sum(), (X,)),
    Row("stats.chi2.logpdf", lambda x: stats.chi2.logpdf(x, 3.0).sum(), (X,)),
    Row("stats.chi2.cdf", lambda x: stats.chi2.cdf(x, 3.0).sum(), (X,)),
    Row("stats.poisson.pmf", lambda x: stats.poisson.pmf(3, x).sum(), (X,)),
    Row("stats.poisson.logpmf", lambda x: stats.poisson.logpmf(3, x).sum(), (X,)),
    Row("stats.poisson.cdf", lambda x: stats.poisson.cdf(3, x).sum(), (X,)),
    Row("stats.multivariate_normal.pdf",
        lambda x, mean, cov: stats.multivariate_normal.pdf(x, mean, cov).sum(), (M, CENTRE, COVARIANCE)),
    Row("stats.multivariate_normal.logpdf",
        lambda x, mean, cov: stats.multivariate_normal.logpdf(x, mean, cov).sum(), (M, CENTRE, COVARIANCE)),
    Row("stats.multivariate_normal.entropy",
        lambda x, mean: stats.multivariate_normal.entropy(mean, x), (POSITIVE, CENTRE[:32])),
    Row("stats.dirichlet.pdf", lambda x, y: stats.dirichlet.pdf(y, x), (SHORT + 0.5, THIRTIETHS)),
    Row("stats.dirichlet.logpdf", lambda x, y: stats.dirichlet.logpdf(y, x), (X, WEIGHTS)),
]  # fmt: skip

OTHERS = [
    Row("signal.convolve", lambda x, y: signal.convolve(x, y).sum(), (X, SHORT)),
    Row("integrate.odeint", lambda x, t, a: integrate.odeint(decay, x, t, (a,)).sum(), (X[:100], TIMES, 0.7)),
]

ROWS = {
    "numpy": NUMPY,
    "numpy.fft": FOURIER,
    "numpy.linalg, scipy.linalg": MATRICES,
    "scipy.special": SPECIAL,
    "scipy.stats": STATISTICS,
    "scipy.signal, scipy.integrate": OTHERS,
}

_ADJOINT = "only the derivative of another function calls it"
_OWN = "autograd's own, of no other library"

UNMEASURED = {
    "dot_adjoint_0": _ADJOINT,
    "dot_adjoint_1": _ADJOINT,
    "tensordot_adjoint_0": _ADJOINT,
    "tensordot_adjoint_1": _ADJOINT,
    "untake": _ADJOINT,
    "container_untake": _ADJOINT,
    "truncate_pad": _ADJOINT,
    "sparse_add": _ADJOINT,
    "add": _ADJOINT,
    "mut_add": _ADJOINT,
    "inner_prod": _ADJOINT,
    "covector": _ADJOINT,
    "scalar_mul": _ADJOINT,
    "make_diagonal": _OWN,
    "container_take": "elements of tuples and lists are no function",
    "sequence_extend_left": "sums of tuples and lists are no function of arrays",
    "sequence_extend_right": "sums of tuples and lists are no function of arrays",
    "make_sequence": "a tuple or list of arrays is no function of arrays",
    "_make_dict": "a dict of arrays is no function of arrays",
}
"""What autograd registers a derivative of and no row calls, by the name it has there, and why."""

_TRIANGLE = "the matrix is read in one triangle; autograd gives the derivative to both"

DIFFERENT = {"np.linalg.cholesky": _TRIANGLE, "stats.multivariate_normal.entropy": _TRIANGLE}
"""Rows whose gradients are not autograd's, and why."""
