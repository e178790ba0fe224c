"""Formulas on whole arrays: Mooncake's own set, and others."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from benchmarks.workload import Array, Workload

__all__ = ["WORKLOADS"]


# -- After the set that Mooncake.jl measures itself with --------------------------------------------


def total(x: Array) -> float:
    return np.sum(x)


def total_adjoint(x: Array) -> tuple[float, Array]:
    return np.sum(x), np.ones(x.shape)


def sum_of_sines(x: Array) -> float:
    return np.sum(np.sin(x))


def sum_of_sines_adjoint(x: Array) -> tuple[float, Array]:
    return np.sum(np.sin(x)), np.cos(x)


def sum_of_kron(a: Array, b: Array) -> Any:
    return np.sum(np.kron(a, b))


def sum_of_kron_adjoint(a: Array, b: Array) -> tuple[Any, tuple[Array, Array]]:
    product = np.kron(a, b)
    cotangent = np.ones(product.shape).reshape(a.shape[0], b.shape[0], a.shape[1], b.shape[1])
    da = np.einsum("ikjl,kl->ij", cotangent, b)
    db = np.einsum("ikjl,ij->kl", cotangent, a)
    return np.sum(product), (da, db)


def sin_cos_exp(x: Array) -> float:
    return np.sum(np.sin(np.cos(np.exp(x))))


def sin_cos_exp_adjoint(x: Array) -> tuple[float, Array]:
    grown = np.exp(x)
    cosine = np.cos(grown)
    dx = np.cos(cosine)
    dx *= np.sin(grown)
    dx *= grown
    np.negative(dx, out=dx)
    return np.sum(np.sin(cosine)), dx


def simple_network(w1: Array, w2: Array, x: Array, y: Array) -> float:
    """Rectified, without biases."""
    hidden = w1 @ x
    hidden = hidden * (hidden > 0.0)
    return np.sum((y - w2 @ hidden) ** 2)


def simple_network_adjoint(w1: Array, w2: Array, x: Array, y: Array) -> tuple[float, tuple[Array, Array]]:
    hidden = w1 @ x
    is_on = hidden > 0.0
    hidden *= is_on
    error = w2 @ hidden
    error -= y
    value = np.sum(error**2)
    error *= 2.0
    d_hidden = w2.T @ error
    d_hidden *= is_on
    return value, (d_hidden @ x.T, error @ hidden.T)


def gaussian_process(x: Array, y: Array, noise: float) -> float:
    """The negative logarithm of the marginal likelihood of `y` at `x`."""
    n = len(x)
    distance = x[:, None] - x[None, :]
    covariance = np.exp(-0.5 * distance**2) + noise * np.eye(n)
    lower = np.linalg.cholesky(covariance)
    fit = np.linalg.solve(covariance, y)
    return 0.5 * (y @ fit) + np.sum(np.log(np.diag(lower))) + 0.5 * n * math.log(2.0 * math.pi)


def gaussian_process_adjoint(x: Array, y: Array, noise: float) -> tuple[float, tuple[Array, Array, float]]:
    n = len(x)
    distance = x[:, None] - x[None, :]
    kernel = np.exp(-0.5 * distance**2)
    covariance = kernel + noise * np.eye(n)
    lower = np.linalg.cholesky(covariance)
    inverse = np.linalg.inv(covariance)
    fit = inverse @ y
    value = 0.5 * (y @ fit) + np.sum(np.log(np.diag(lower))) + 0.5 * n * math.log(2.0 * math.pi)
    d_covariance = 0.5 * (inverse - np.outer(fit, fit))
    d_distance = d_covariance * kernel
    d_distance *= -distance
    dx = d_distance.sum(axis=1) - d_distance.sum(axis=0)
    return value, (dx, fit, float(np.trace(d_covariance)))


# -- Others ------------------------------------------------------------------------------------------


def softmax_regression(w: Array, b: Array, x: Array, labels: Array) -> float:
    logits = x @ w + b
    shifted = logits - np.max(logits, axis=1, keepdims=True)
    log_sum = np.log(np.sum(np.exp(shifted), axis=1))
    picked = shifted[np.arange(len(labels)), labels]
    return np.mean(log_sum - picked)


def softmax_regression_adjoint(
    w: Array, b: Array, x: Array, labels: Array
) -> tuple[float, tuple[Array, Array]]:
    n = len(labels)
    logits = x @ w
    logits += b
    logits -= np.max(logits, axis=1, keepdims=True)
    rows = np.arange(n)
    picked = logits[rows, labels]
    exponentials = np.exp(logits)
    sums = np.sum(exponentials, axis=1)
    value = np.mean(np.log(sums) - picked)
    exponentials /= sums[:, None]
    exponentials[rows, labels] -= 1.0
    exponentials /= n
    return value, (x.T @ exponentials, np.sum(exponentials, axis=0))


def matrix_chain(a: Array, b: Array, c: Array, d: Array) -> float:
    return np.sum((a @ b @ c @ d) ** 2)


def matrix_chain_adjoint(
    a: Array, b: Array, c: Array, d: Array
) -> tuple[float, tuple[Array, Array, Array, Array]]:
    ab = a @ b
    abc = ab @ c
    product = abc @ d
    value = np.sum(product**2)
    product *= 2.0
    d_abc = product @ d.T
    d_ab = d_abc @ c.T
    return value, (d_ab @ b.T, a.T @ d_ab, ab.T @ d_abc, abc.T @ product)


def attention_scores(queries: Array, keys: Array) -> float:
    return np.sum(np.einsum("bqd,bkd->bqk", queries, keys) ** 2)


def attention_scores_adjoint(queries: Array, keys: Array) -> tuple[float, tuple[Array, Array]]:
    scores = np.einsum("bqd,bkd->bqk", queries, keys)
    value = np.sum(scores**2)
    scores *= 2.0
    return value, (np.einsum("bqk,bkd->bqd", scores, keys), np.einsum("bqk,bqd->bkd", scores, queries))


def fft_loss(x: Array, target: Array) -> float:
    return np.mean(np.abs(np.fft.fft(x) - target) ** 2)


def fft_loss_adjoint(x: Array, target: Array) -> tuple[float, Array]:
    error = np.fft.fft(x)
    error -= target
    value = np.mean(np.abs(error) ** 2)
    return value, 2.0 * np.fft.ifft(error).real


def heat_plane(initial: Array, k: float, steps: int) -> float:
    u = initial.copy()
    for _ in range(steps):
        u[1:-1, 1:-1] += k * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4.0 * u[1:-1, 1:-1])
    return np.sum(u**2)


def heat_plane_adjoint(initial: Array, k: float, steps: int) -> tuple[float, Array]:
    u = initial.copy()
    for _ in range(steps):
        u[1:-1, 1:-1] += k * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4.0 * u[1:-1, 1:-1])
    du = 2.0 * u
    for _ in range(steps):
        part = k * du[1:-1, 1:-1]
        du[2:, 1:-1] += part
        du[:-2, 1:-1] += part
        du[1:-1, 2:] += part
        du[1:-1, :-2] += part
        part *= 4.0
        du[1:-1, 1:-1] -= part
    return np.sum(u**2), du


def heat_slices(u: Array, k: float, steps: int) -> float:
    """In place on an argument."""
    for _ in range(steps):
        u[1:-1] += k * (u[2:] - 2.0 * u[1:-1] + u[:-2])
    return np.sum(u)


def heat_slices_adjoint(u: Array, k: float, steps: int) -> tuple[float, Array]:
    u = u.copy()
    for _ in range(steps):
        u[1:-1] += k * (u[2:] - 2.0 * u[1:-1] + u[:-2])
    du = np.ones(len(u))
    for _ in range(steps):
        part = k * du[1:-1]
        du[2:] += part
        du[:-2] += part
        part *= 2.0
        du[1:-1] -= part
    return np.sum(u), du


def rosenbrock(x: Array) -> float:
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2.0) ** 2.0 + (1.0 - x[:-1]) ** 2.0)


def rosenbrock_adjoint(x: Array) -> tuple[float, Array]:
    head = x[:-1]
    curve = x[1:] - head**2.0
    rest = 1.0 - head
    value = np.sum(100.0 * curve**2.0 + rest**2.0)
    curve *= 200.0
    dx = np.empty(len(x))
    dx[0] = 0.0
    dx[1:] = curve
    curve *= head
    curve += rest
    curve *= 2.0
    dx[:-1] -= curve
    return value, dx


def network(w1: Array, w2: Array, x: Array, y: Array) -> float:
    hidden = np.tanh(x @ w1)
    output = hidden @ w2
    error = output - y
    return np.sum(error * error)


def network_adjoint(w1: Array, w2: Array, x: Array, y: Array) -> tuple[float, tuple[Array, Array]]:
    hidden = np.tanh(x @ w1)
    error = hidden @ w2
    error -= y
    value = np.sum(error * error)
    error *= 2.0
    d_hidden = error @ w2.T
    dw2 = hidden.T @ error
    hidden *= hidden
    np.subtract(1.0, hidden, out=hidden)
    d_hidden *= hidden
    return value, (x.T @ d_hidden, dw2)


RANDOM = np.random.default_rng(1)


def normal(*shape: int, scale: float = 1.0) -> Array:
    return scale * RANDOM.standard_normal(shape)


def classes(n: int, count: int) -> Array:
    return RANDOM.integers(0, count, n)


WORKLOADS = [
    Workload("sum, array of 50000", total, total_adjoint, (normal(50000),), (normal(4),)),
    Workload(
        "sum of sines, array of 2000", sum_of_sines, sum_of_sines_adjoint, (normal(2000),), (normal(4),)
    ),
    Workload(
        "kron, 20 x 20 by 10 x 10",
        sum_of_kron,
        sum_of_kron_adjoint,
        (normal(20, 20), normal(10, 10)),
        (normal(2, 3), normal(3, 2)),
        argnums=(0, 1),
    ),
    Workload(
        "sin of cos of exp, array of 2000",
        sin_cos_exp,
        sin_cos_exp_adjoint,
        (normal(2000),),
        (normal(4),),
    ),
    Workload(
        "simple network, 40 x 60 x 100",
        simple_network,
        simple_network_adjoint,
        (normal(60, 40), normal(20, 60), normal(40, 100), normal(20, 100)),
        (normal(3, 2), normal(2, 3), normal(2, 4), normal(2, 4)),
        argnums=(0, 1),
    ),
    Workload(
        "Gaussian process, 60 points",
        gaussian_process,
        gaussian_process_adjoint,
        (normal(60, scale=3.0), normal(60), 0.3),
        (normal(4), normal(4), 0.5),
        argnums=(0, 1, 2),
    ),
    Workload(
        "softmax regression, 300 x 20 x 10",
        softmax_regression,
        softmax_regression_adjoint,
        (normal(20, 10), normal(10), normal(300, 20), classes(300, 10)),
        (normal(2, 3), normal(3), normal(4, 2), classes(4, 3)),
        argnums=(0, 1),
    ),
    Workload(
        "matrix chain, four of 60 x 60",
        matrix_chain,
        matrix_chain_adjoint,
        tuple(normal(60, 60, scale=0.1) for _ in range(4)),
        (normal(2, 3), normal(3, 2), normal(2, 4), normal(4, 2)),
        argnums=(0, 1, 2, 3),
    ),
    Workload(
        "einsum, batch of 8, 30 x 30 x 16",
        attention_scores,
        attention_scores_adjoint,
        (normal(8, 30, 16), normal(8, 30, 16)),
        (normal(2, 3, 2), normal(2, 2, 2)),
        argnums=(0, 1),
    ),
    Workload(
        "FFT loss, array of 4096",
        fft_loss,
        fft_loss_adjoint,
        (normal(4096), np.fft.fft(normal(4096))),
        (normal(5), np.fft.fft(normal(5))),
    ),
    Workload(
        "heat in the plane, in place, 64 x 64 x 10",
        heat_plane,
        heat_plane_adjoint,
        (normal(64, 64), 0.1, 10),
        (normal(4, 5), 0.1, 2),
    ),
    Workload(
        "heat, slices in place, 2000 x 50",
        heat_slices,
        heat_slices_adjoint,
        (np.linspace(0.0, 1.0, 2000) ** 2, 0.2, 50),
        (normal(5), 0.2, 2),
    ),
    Workload(
        "Rosenbrock, array of 10000",
        rosenbrock,
        rosenbrock_adjoint,
        (np.linspace(0.5, 1.5, 10000),),
        (normal(4),),
    ),
    Workload(
        "two-layer network, 256 x 64 x 128 x 16",
        network,
        network_adjoint,
        tuple(normal(*shape, scale=0.3) for shape in ((64, 128), (128, 16), (256, 64), (256, 16))),
        (normal(2, 3), normal(3, 2), normal(4, 2), normal(4, 2)),
        argnums=(0, 1),
    ),
]
