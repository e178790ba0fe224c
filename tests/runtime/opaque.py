"""A function in C without a rule, for tests of what may be given to it."""

from typing import Any

import numpy as np
import pytest

_siegelslopes = pytest.importorskip("scipy.stats._stats_pythran").siegelslopes


def _through(weights: Any) -> Any:
    """`weights`, each as the slope of a line, which a function in C finds by medians."""
    n = len(weights)
    ends = np.zeros((n, 2))
    ends[:, 1] = weights
    return np.array([_siegelslopes(end, np.arange(2.0), "hierarchical")[0] for end in ends])


def binned(indices: Any, weights: Any) -> Any:
    """``np.bincount`` of what has gone through a function in C, which changes nothing."""
    return np.bincount(indices, _through(np.asarray(weights, np.float64)))
