"""Clusters of ``scipy.cluster.vq``, in both modes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.cluster import vq

import adbc
from adbc.testing import test_rule as check_rule

RNG = np.random.default_rng(0)
POINTS = RNG.normal(size=(12, 2)) + np.repeat([[0.0, 0.0], [6.0, 5.0]], 6, axis=0)
CODES = np.array([[0.0, 0.5], [5.0, 5.0]])


def test_distances_from_codes() -> None:
    check_rule(lambda p, c: vq.vq(p, c)[1], POINTS, CODES)
    check_rule(lambda p, c: vq.vq(p, c)[1], POINTS[:, 0], CODES[:, 0])
    check_rule(lambda p: vq.vq(p, CODES)[0] * 1.0, POINTS)
    assert vq.vq(POINTS, CODES)[1].dtype == adbc.vjp(lambda p: vq.vq(p, CODES)[1], POINTS)[0].dtype


@pytest.mark.parametrize(
    "f",
    [
        lambda p: vq.kmeans(p, CODES)[0],
        lambda p: vq.kmeans(p, CODES)[1],
        lambda p: vq.kmeans(p, 2, seed=3)[0],
        lambda p: vq.kmeans2(p, CODES, minit="matrix")[0],
        lambda p: vq.kmeans2(p, 2, minit="points", seed=1)[0],
    ],
)
def test_clusters(f: Any) -> None:
    check_rule(f, POINTS)


def test_a_point_on_its_code_and_a_cluster_without_members() -> None:
    def spread(x: Any) -> Any:
        points = np.array([[1.0, 1.0], [2.0, 3.0]]) * x
        return vq.vq(points, np.array([[1.0, 1.0], [2.0, 2.5]]))[1].sum()

    assert adbc.grad(spread)(1.0) == adbc.jvp(spread, (1.0,), (1.0,))[1] == pytest.approx(3.0)

    def book(x: Any) -> Any:
        return vq.kmeans(POINTS * x, np.array([[0.0, 0.0], [6.0, 5.0], [90.0, 90.0]]))[0].sum()

    wanted = POINTS[:6].mean(0).sum() + POINTS[6:].mean(0).sum()
    assert adbc.grad(book)(1.0) == pytest.approx(wanted)
    assert adbc.jvp(book, (1.0,), (1.0,))[1] == pytest.approx(wanted)
