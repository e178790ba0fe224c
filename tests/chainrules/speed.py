"""Arguments for the functions whose rules are there for speed alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.special

__all__ = ["CASES"]

V = np.array([0.3, -0.7, 1.2])
M = np.array([[2.0, 0.5], [0.3, 1.0]])

CASES: dict[Any, list[tuple[Any, ...]]] = {
    np.broadcast_shapes: [((3,), (2, 3))],
    np.diag_indices: [(3,)],
    np.eye: [(3,)],
    np.identity: [(3,)],
    np.isscalar: [(2.5,), (V,)],
    np.iterable: [(V,)],
    np.ones: [(3,)],
    np.tri: [(3,)],
    scipy.special.comb: [(5.5, 2.5)],
    scipy.special.factorial: [(3.5,), (V + 1.0,)],
    scipy.special.log_softmax: [(V,), (M,)],
    scipy.special.logsumexp: [(V,), (M,)],
    scipy.special.multigammaln: [(3.5, 2)],
    scipy.special.polygamma: [(1, 2.5)],
    scipy.special.softmax: [(V,), (M,)],
}
