"""Distances and rotations of ``scipy.spatial``."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest
from scipy import spatial
from scipy.spatial import distance
from scipy.spatial.transform import Rotation, Slerp

import adbc
from adbc.errors import UnsupportedError
from adbc.testing import test_rule as check_rule
from tests.programs.checks import check_gradient

RNG = np.random.default_rng(4)
A, B = RNG.random((4, 3)), RNG.random((3, 3))
VECTOR = np.array([1.0, 2.0, 3.0])
TURN = np.array([0.3, -0.2, 0.5])
METRICS = [
    "euclidean", "sqeuclidean", "cityblock", "chebyshev", "minkowski", "cosine", "correlation", "canberra",
    "braycurtis", "seuclidean",
]  # fmt: skip


@pytest.mark.parametrize("metric", METRICS)
def test_distances_of_pairs(metric: str) -> None:
    check_rule(lambda a, b: distance.cdist(a, b, metric), A, B, step=1e-3)
    check_rule(lambda a: distance.pdist(a, metric), A, step=1e-3)


@pytest.mark.filterwarnings("ignore:.* is deprecated in favor of:DeprecationWarning")
def test_a_matrix_of_distances() -> None:
    check_rule(lambda a, b: spatial.distance_matrix(a, b), A, B)


def test_distances_with_parameters() -> None:
    check_rule(lambda a, b: distance.cdist(a, b, "minkowski", p=3), A, B)
    check_rule(lambda a, b: distance.cdist(a, b, "euclidean", w=np.array([1.0, 2.0, 0.5])), A, B)
    check_rule(lambda a, v: distance.pdist(a, "mahalanobis", VI=v @ v.T), A, B)
    check_rule(lambda a: distance.pdist(a, "mahalanobis"), RNG.random((7, 3)), step=1e-3)
    check_rule(lambda a, v: distance.pdist(a, "seuclidean", V=v), A, VECTOR)
    check_rule(lambda a: distance.squareform(distance.pdist(a)), A)
    check_rule(lambda a: distance.squareform(distance.squareform(distance.pdist(a))), A)
    check_rule(lambda a: distance.squareform(distance.pdist(a[:1])) + a[0, 0], A)  # of one point: 1 by 1

    def into(a: Any, out: Any) -> Any:
        distance.cdist(a, a[:2] * 2.0, out=out)
        return out * 2.0

    check_rule(into, A, np.zeros((4, 2)))


def test_points_that_coincide_have_the_slope_of_a_norm_at_zero() -> None:
    gradient = adbc.grad(lambda a: distance.cdist(a, A).sum())(A.copy())
    assert np.all(np.isfinite(gradient))


def warped(u: Any, v: Any, power: Any = 0.5) -> Any:
    return np.sum(np.abs(u - v) ** 1.5) ** power


def euclidean(u: Any, v: Any) -> float:
    """A function that has the name of a metric, and is another."""
    return 2.0 * float(np.dot(u, v))


class Weighted:
    def __init__(self, weights: Any) -> None:
        self.weights = weights

    def __call__(self, u: Any, v: Any) -> Any:
        return np.sum(self.weights * (u - v) ** 2)


@pytest.mark.parametrize(
    "metric", [warped, euclidean, functools.partial(distance.minkowski, p=3), distance.jensenshannon]
)
def test_metrics_that_are_functions(metric: Any) -> None:
    for _ in range(3):
        check_rule(lambda a, b: distance.cdist(a, b, metric), A, B, step=1e-3)
        check_rule(lambda a: distance.pdist(a, metric), A, step=1e-3)


def test_metrics_that_are_functions_have_keywords_and_a_state() -> None:
    check_rule(lambda a, b, p: distance.cdist(a, b, warped, power=p), A, B, 0.7, step=1e-3)
    check_rule(lambda a, w: distance.pdist(a, Weighted(w)), A, VECTOR)
    check_rule(lambda a, w: distance.cdist(a, B, distance.cosine, w=w), A, VECTOR, step=1e-3)

    def into(a: Any, out: Any) -> Any:
        distance.pdist(a, lambda u, v: np.vdot(u, v) * a[0, 0], out=out)
        return out * 2.0

    check_rule(into, A, np.zeros(6))


def test_other_metrics_are_refused() -> None:
    with pytest.raises(UnsupportedError, match="jensenshannon"):
        adbc.grad(lambda a: distance.cdist(a, B, "jensenshannon").sum())(A.copy())


def test_rotations() -> None:
    check_gradient(lambda r: np.sum(Rotation.from_rotvec(r).apply(VECTOR) ** 3), TURN)
    check_gradient(lambda v: np.sum(Rotation.from_rotvec(TURN).apply(v, inverse=True) ** 3), VECTOR)
    check_gradient(lambda q: np.sum(Rotation.from_quat(q).as_rotvec() ** 3), np.array([0.1, 0.2, 0.3, 0.9]))
    check_gradient(
        lambda m: Rotation.from_matrix(m).as_rotvec()[0], np.array(Rotation.from_rotvec(TURN).as_matrix())
    )

    def arm(angles: Any) -> Any:
        second = Rotation.from_euler("z", angles[0]) * Rotation.from_euler("zyx", angles, degrees=True).inv()
        return np.sum(second.as_euler("zyx") ** 2) + second.as_matrix()[0, 1]

    check_gradient(arm, TURN)


def test_turning_between_rotations() -> None:
    keys = Rotation.from_rotvec([[0.0, 0.0, 0.1], [0.5, 0.2, 0.3]])
    check_gradient(lambda t: np.sum(Slerp([0.0, 1.0], keys)(t).as_rotvec()), np.array([0.3]))


def test_points_on_a_line_and_antipodes() -> None:
    line, others = np.array([[0.3], [1.0], [3.0], [4.0]]), np.array([[0.5], [1.5]])
    check_rule(lambda a: distance.pdist(a, "mahalanobis"), line)
    check_rule(lambda a, b: distance.cdist(a, b, "mahalanobis"), line, others)
    for f in (lambda a: distance.pdist(a, "mahalanobis").sum(), lambda a: distance.cdist(a, a, "mah").sum()):
        for call in (f, adbc.grad(f), lambda a, f=f: adbc.jvp(f, (a,), (a,))):
            with pytest.raises(ValueError, match="The number of observations"):
                call(np.ones((1, 3)))

    with pytest.warns(UserWarning, match="antipodes"):
        check_rule(lambda t: spatial.geometric_slerp([1.0, 0.0, 0.0], [-1.0, 0.0, 0.0], t), 0.3)


def test_weights_of_largest_differences() -> None:
    """Only whether a weight is zero matters."""
    a, b = np.array([[0.1, 5.0, 0.3]]), np.array([[0.2, 0.1, 0.9], [0.4, 0.3, 0.2]])
    for w in ([1, 0, 2], np.array([2, 3, 0])):
        check_rule(lambda a, w=w: spatial.distance.cdist(a, b, "minkowski", p=np.inf, w=w), a)
        check_rule(lambda a, w=w: spatial.distance.cdist(a, b, "minkowski", p=3, w=w), a)


def test_the_distance_of_two_sets() -> None:
    check_rule(lambda a, b: distance.directed_hausdorff(a, b)[0], A, B)
    check_rule(lambda a, b: max(distance.directed_hausdorff(*s)[0] for s in ((a, b), (b, a))), A, B)
    value, gradient = adbc.value_and_grad(lambda a: distance.directed_hausdorff(a, A)[0])(A.copy())
    assert value == 0 and not gradient.any()


@pytest.mark.parametrize(
    ("shape", "force"),
    [((2, 2), "tomatrix"), ((3,), "tovector"), ((2, 3), "no"), ((1, 1, 1), "no"), ((2,), "no")],
)
def test_squareform_refuses_what_scipy_refuses(shape: tuple[int, ...], force: str) -> None:
    def squared(x: float) -> float:
        return float(distance.squareform(np.zeros(shape) * x, force).sum())

    for run in (squared, adbc.value_and_grad(squared), lambda x: adbc.jvp(squared, (x,), (1.0,))):
        with pytest.raises(ValueError, match=r"Forcing|square|Incompatible|permitted"):
            run(1.0)
