"""A function in C without a rule, for tests of what may be given to it."""

from typing import Any

import numpy as np
import pytest

_medfilt2d = pytest.importorskip("scipy.signal._sigtools")._medfilt2d


def binned(indices: Any, weights: Any) -> Any:
    """``np.bincount`` of what a filter of one element has gone through, which changes nothing."""
    return np.bincount(indices, _medfilt2d(np.atleast_2d(np.asarray(weights, np.float64)), (1, 1))[0])
