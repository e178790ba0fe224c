"""What people give to SciPy's solvers: likelihoods, energies, fits, equations and stiff systems, five each.

`MINIMA`, `FITS`, `EQUATIONS` and `SYSTEMS` hold the problems of ``minimize``, ``least_squares``, ``root`` and
``solve_ivp``.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.spatial.transform import Rotation
from scipy.special import logsumexp

__all__ = ["EQUATIONS", "FITS", "MINIMA", "SYSTEMS", "Problem"]

Array = np.ndarray[Any, Any]


@dataclasses.dataclass(frozen=True)
class Problem:
    """A function of a vector and of `args`, and where a solver starts; of a system, until when it runs."""

    name: str
    function: Callable[..., Any]
    start: Array
    args: tuple[Any, ...] = ()
    end: float = 0.0


_rng = np.random.default_rng(11)

# -- minima ------------------------------------------------------------------------------------------------


def logistic_loss(w: Array, features: Array, labels: Array, ridge: float) -> Any:
    margins = labels * (features @ w[:-1] + w[-1])
    return np.mean(np.logaddexp(0.0, -margins)) + ridge * np.sum(w[:-1] ** 2)


def mixture_loss(p: Array, data: Array) -> Any:
    """Minus the mean log-likelihood of two normal distributions: weight, means, log widths."""
    weights = np.array([-np.log1p(np.exp(-p[0])), -np.log1p(np.exp(p[0]))])
    means, widths = p[1:3], np.exp(p[3:5])
    z = (data[:, None] - means) / widths
    return -np.mean(logsumexp(weights - np.log(widths) - 0.5 * z**2, axis=1))


def marginal_likelihood(theta: Array, x: Array, y: Array) -> Any:
    amplitude, length, noise = np.exp(theta)
    distance = (x[:, None] - x[None, :]) ** 2
    covariance = amplitude**2 * np.exp(-0.5 * distance / length**2) + (noise**2 + 1e-8) * np.eye(len(x))
    factor = cho_factor(covariance, lower=True)
    alpha = cho_solve(factor, y)
    return 0.5 * y @ alpha + np.sum(np.log(np.diag(factor[0]))) + 0.05 * np.sum(theta**2)


def garch_loss(p: Array, returns: list[float]) -> Any:
    """Minus the log-likelihood of a GARCH(1, 1) model, whose parameters are kept positive by exponentials."""
    omega, alpha, beta = math.exp(p[0]), 1.0 / (1.0 + math.exp(-p[1])), 1.0 / (1.0 + math.exp(-p[2]))
    variance = sum(r * r for r in returns) / len(returns)
    total = 0.0
    for r in returns:
        total += math.log(variance) + r * r / variance
        variance = omega + alpha * (1.0 - beta) * r * r + beta * variance
    return 0.5 * total / len(returns)


def cluster_energy(positions: Array) -> Any:
    """The Lennard-Jones energy of a few atoms, and a weak trap that holds them."""
    atoms = positions.reshape(-1, 3)
    i, j = np.triu_indices(len(atoms), 1)
    r6 = np.sum((atoms[i] - atoms[j]) ** 2, axis=1) ** 3
    return 4.0 * np.sum(1.0 / r6**2 - 1.0 / r6) + 0.05 * np.sum(atoms**2)


def _simulated_returns() -> list[float]:
    variance, made = 1.0, []
    for z in _rng.normal(size=300).tolist():
        made.append(math.sqrt(variance) * z)
        variance = 0.1 + 0.15 * made[-1] ** 2 + 0.75 * variance
    return made


_features = _rng.normal(size=(200, 8))
_labels = np.sign(_features @ _rng.normal(size=8) + 0.5 * _rng.normal(size=200))
_abscissae = np.sort(_rng.uniform(0.0, 6.0, size=40))
_octahedron = np.array([[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1]], dtype=float)

MINIMA = [
    Problem("logistic regression", logistic_loss, np.zeros(9), (_features, _labels, 1e-3)),
    Problem(
        "normal mixture",
        mixture_loss,
        np.array([0.0, -1.0, 1.0, 0.0, 0.0]),
        (np.concatenate([_rng.normal(-2.0, 0.7, 150), _rng.normal(1.5, 1.0, 250)]),),
    ),
    Problem(
        "Gaussian process",
        marginal_likelihood,
        np.array([0.0, 0.0, -1.0]),
        (_abscissae, np.sin(2.0 * _abscissae) + 0.1 * _rng.normal(size=40)),
    ),
    Problem("GARCH", garch_loss, np.array([-2.0, -1.0, 1.0]), (_simulated_returns(),)),
    Problem("six atoms", cluster_energy, 0.8 * _octahedron.ravel() + 0.05 * _rng.normal(size=18)),
]

# -- fits --------------------------------------------------------------------------------------------------


def two_compartments(p: Array, t: Array, y: Array) -> Any:
    a, b, fast, slow = np.exp(p)
    return a * np.exp(-(fast + slow) * t) + b * np.exp(-slow * t) - y


def pose(p: Array, points: Array, pixels: Array, focal: float) -> Any:
    """Of a camera: a rotation vector and a translation, by where points are seen."""
    seen = Rotation.from_rotvec(p[:3]).apply(points) + p[3:]
    return (focal * seen[:, :2] / seen[:, 2:] - pixels).ravel()


def saturation(p: Array, substrate: Array, inhibitor: Array, rate: Array) -> Any:
    vmax, km, ki = p
    return vmax * substrate / (km * (1.0 + inhibitor / ki) + substrate) - rate


def oscillator(p: Array, times: Array, seen: Array) -> Any:
    """A damped pendulum, followed by Runge and Kutta's method between the times."""
    omega, damping = p

    def slope(state: tuple[Any, Any]) -> tuple[Any, Any]:
        angle, speed = state
        return speed, -(omega**2) * math.sin(angle) - damping * speed

    state = (1.0, 0.0)
    residuals = np.zeros(len(times))
    h = times[1] - times[0]
    for i in range(len(times)):
        residuals[i] = state[0] - seen[i]
        k1 = slope(state)
        k2 = slope((state[0] + 0.5 * h * k1[0], state[1] + 0.5 * h * k1[1]))
        k3 = slope((state[0] + 0.5 * h * k2[0], state[1] + 0.5 * h * k2[1]))
        k4 = slope((state[0] + h * k3[0], state[1] + h * k3[1]))
        state = tuple(
            s + h / 6.0 * (a + 2.0 * b + 2.0 * c + d)
            for s, a, b, c, d in zip(state, k1, k2, k3, k4, strict=True)
        )
    return residuals


def positioning(p: Array, satellites: Array, ranges: Array) -> Any:
    """Where a receiver is, and how far its clock is off, by its distances from satellites."""
    return np.linalg.norm(satellites - p[:3], axis=1) + p[3] - ranges


def _measured(function: Callable[..., Any], truth: list[float], *args: Any, noise: float) -> Array:
    """What residuals with nothing measured are at the truth, and some noise."""
    exact = np.asarray(function(np.array(truth), *args))
    made: Array = exact + noise * _rng.normal(size=exact.shape)
    return made


_times = np.linspace(0.0, 8.0, 40)
_points = _rng.uniform(-1.0, 1.0, size=(20, 3))
_substrate, _inhibitor = np.linspace(0.2, 10.0, 30), np.tile([0.0, 1.0, 4.0], 10)
_satellites = 20.0 * _rng.normal(size=(9, 3))

FITS = [
    Problem(
        "two compartments",
        two_compartments,
        np.zeros(4),
        (_times, _measured(two_compartments, [1.0, 0.5, 0.2, -1.5], _times, 0.0, noise=0.01)),
    ),
    Problem(
        "pose of a camera",
        pose,
        np.array([0.0, 0.0, 0.0, 0.0, 0.0, 4.0]),
        (
            _points,
            _measured(
                pose, [0.3, -0.2, 0.5, 0.1, -0.3, 5.0], _points, np.zeros((20, 2)), 2.0, noise=0.001
            ).reshape(20, 2),
            2.0,
        ),
    ),
    Problem(
        "enzyme with an inhibitor",
        saturation,
        np.ones(3),
        (
            _substrate,
            _inhibitor,
            _measured(saturation, [2.0, 1.5, 0.8], _substrate, _inhibitor, 0.0, noise=0.01),
        ),
    ),
    Problem(
        "pendulum",
        oscillator,
        np.array([1.2, 0.1]),
        (_times, _measured(oscillator, [1.5, 0.2], _times, np.zeros(40), noise=0.01)),
    ),
    Problem(
        "satellites",
        positioning,
        np.zeros(4),
        (_satellites, _measured(positioning, [1.0, -2.0, 0.5, 0.3], _satellites, np.zeros(9), noise=0.001)),
    ),
]

# -- equations ---------------------------------------------------------------------------------------------


def acid(x: Array, total: float) -> Any:
    """The equilibrium of a diprotic acid in water, in logarithms of the concentrations."""
    proton, hydroxide, whole, once, twice = np.exp(x)
    return np.array(
        [
            x[0] + x[1] - math.log(1e-14),
            x[0] + x[3] - x[2] - math.log(4.3e-7),
            x[0] + x[4] - x[3] - math.log(4.8e-11),
            (whole + once + twice) / total - 1.0,
            (hydroxide + once + 2.0 * twice - proton) / total,
        ]
    )


def power_flow(x: Array, admittance: Array, power: Array) -> Any:
    """Angles and voltages of two buses that draw power, beside one that is held."""
    angle = np.concatenate([[0.0], x[:2]])
    voltage = np.concatenate([[1.0], x[2:]])
    phasor = voltage * np.exp(1j * angle)
    drawn = phasor * np.conj(admittance @ phasor)
    return np.concatenate([drawn.real[1:] - power[:2], drawn.imag[1:] - power[2:]])


def bratu(u: Array, strength: float) -> Any:
    """The temperature of a rod in which a reaction gives heat, by second differences."""
    h = 1.0 / (len(u) + 1)
    padded = np.concatenate([[0.0], u, [0.0]])
    return (padded[2:] - 2.0 * padded[1:-1] + padded[:-2]) / h**2 + strength * np.exp(u)


def arm(q: Array, target: Array) -> Any:
    """The joints of an arm in the plane whose hand is at a place and looks in a direction."""
    x = y = angle = 0.0
    for length, joint in zip((1.0, 0.8, 0.3), q, strict=True):
        angle += joint
        x += length * math.cos(angle)
        y += length * math.sin(angle)
    return np.array([x - target[0], y - target[1], angle - target[2]])


def pipes(flow: Array, resistance: Array, supply: float) -> Any:
    """Flows in five pipes with two loops: balances at three nodes, and pressures around the loops."""
    a, b, c, d, e = flow
    drop = resistance * flow * np.sqrt(flow**2 + 1e-6)
    return np.array(
        [
            a + b - supply,
            a - c - d,
            b + c - e,
            drop[0] + drop[2] - drop[1],
            drop[3] - drop[4] - drop[2],
        ]
    )


_y = np.array(
    [[10.0 - 30.0j, -6.0 + 18.0j, -4.0 + 12.0j], [-6.0 + 18.0j, 9.0 - 27.0j, -3.0 + 9.0j],
     [-4.0 + 12.0j, -3.0 + 9.0j, 7.0 - 21.0j]]
)  # fmt: skip

EQUATIONS = [
    Problem("carbonic acid", acid, np.array([-16.0, -16.0, -7.0, -11.0, -20.0]), (1e-3,)),
    Problem(
        "power flow", power_flow, np.array([0.0, 0.0, 1.0, 1.0]), (_y, np.array([-1.0, -0.8, -0.3, -0.2]))
    ),
    Problem("Bratu, 30 points", bratu, np.zeros(30), (2.0,)),
    Problem("arm with three joints", arm, np.array([0.3, 0.5, 0.1]), (np.array([1.2, 0.9, 1.0]),)),
    Problem("pipes", pipes, np.array([0.5, 0.5, 0.1, 0.5, 0.5]), (np.array([1.0, 2.0, 0.7, 1.5, 1.1]), 1.0)),
]

# -- systems -----------------------------------------------------------------------------------------------


def robertson(t: float, y: Array) -> Any:
    slow, fast, most = 0.04 * y[0], 1e4 * y[1] * y[2], 3e7 * y[1] ** 2
    return np.array([-slow + fast, slow - fast - most, most])


def van_der_pol(t: float, y: Array, mu: float) -> Any:
    position, speed = y
    return [speed, mu * (1.0 - position**2) * speed - position]


def oregonator(t: float, y: Array, s: float, w: float, q: float) -> Any:
    return np.array(
        [s * (y[1] - y[0] * y[1] + y[0] - q * y[0] ** 2), (y[2] - y[1] - y[0] * y[1]) / s, w * (y[0] - y[2])]
    )


def brusselator(t: float, y: Array, diffusion: float) -> Any:
    """Two substances along a line, whose ends are held."""
    u, v = y[::2], y[1::2]
    h = 1.0 / (len(u) + 1)
    left, right = np.concatenate([[1.0], u[:-1]]), np.concatenate([u[1:], [1.0]])
    below, above = np.concatenate([[3.0], v[:-1]]), np.concatenate([v[1:], [3.0]])
    dy = np.empty_like(y)
    dy[::2] = 1.0 + u**2 * v - 4.0 * u + diffusion * (left - 2.0 * u + right) / h**2
    dy[1::2] = 3.0 * u - u**2 * v + diffusion * (below - 2.0 * v + above) / h**2
    return dy


def hires(t: float, y: Array) -> Any:
    """Eight chemical species of a plant that answers to light (Schäfer, 1975)."""
    d = [0.0] * 8
    d[0] = -1.71 * y[0] + 0.43 * y[1] + 8.32 * y[2] + 0.0007
    d[1] = 1.71 * y[0] - 8.75 * y[1]
    d[2] = -10.03 * y[2] + 0.43 * y[3] + 0.035 * y[4]
    d[3] = 8.32 * y[1] + 1.71 * y[2] - 1.12 * y[3]
    d[4] = -1.745 * y[4] + 0.43 * y[5] + 0.43 * y[6]
    d[5] = -280.0 * y[5] * y[7] + 0.69 * y[3] + 1.71 * y[4] - 0.43 * y[5] + 0.69 * y[6]
    d[6] = 280.0 * y[5] * y[7] - 1.81 * y[6]
    d[7] = -d[6]
    return d


_line = np.arange(1, 21) / 21.0

SYSTEMS = [
    Problem("Robertson", robertson, np.array([1.0, 0.0, 0.0]), (), 1e4),
    Problem("Van der Pol", van_der_pol, np.array([2.0, 0.0]), (100.0,), 200.0),
    Problem("Oregonator", oregonator, np.array([1.0, 2.0, 3.0]), (77.27, 0.161, 8.375e-6), 300.0),
    Problem(
        "Brusselator on a line",
        brusselator,
        np.ravel([1.0 + np.sin(2.0 * np.pi * _line), np.full(20, 3.0)], order="F"),
        (0.02,),
        10.0,
    ),
    Problem("plant and light", hires, np.array([1.0, 0, 0, 0, 0, 0, 0, 0.0057]), (), 321.8122),
]
