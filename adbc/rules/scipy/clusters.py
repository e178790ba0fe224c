"""``scipy.cluster.vq``: distances from the nearest codes, and means of clusters.

The rest of the module is Python.  Which code is the nearest does not move: it jumps.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adbc.rules.implicit import valued
from adbc.rules.scipy.base import bodies, internal
from adbc.rules.table import Rule, ZeroRule

__all__ = ["ROWS"]

_IN_C: Any = internal("scipy.cluster._vq", "scipy.cluster.vq._vq")  # the latter from SciPy 1.18 on


def nearest(obs: Any, codes: Any) -> Any:
    """The numbers of the nearest codes and the distances from them, as constants."""
    return _IN_C.vq(obs, codes)


def means(obs: Any, labels: Any, count: int) -> Any:
    """The means of the clusters and which of them have members, as constants."""
    return _IN_C.update_cluster_means(obs, labels, count)


def vq(obs: Any, codes: Any) -> Any:
    numbers, distances = nearest(obs, codes)
    away = obs - codes[numbers]
    return numbers, valued(distances, np.abs(away) if away.ndim == 1 else np.linalg.norm(away, axis=1))


def update_cluster_means(obs: Any, labels: Any, nc: int) -> Any:
    found, has_members = means(obs, labels, nc)
    members = (np.arange(nc)[:, None] == labels).astype(obs.dtype)
    share = members / np.maximum(np.sum(members, axis=1, keepdims=True), 1)
    return valued(found, share @ obs), has_members


ROWS: list[Rule] = [ZeroRule(nearest), ZeroRule(means)]
if _IN_C is not None:
    ROWS += bodies(_IN_C, {"vq": vq, "update_cluster_means": update_cluster_means})
