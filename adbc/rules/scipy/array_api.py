"""SciPy's copy of the array API for NumPy: what calls NumPy's functions in C past its public ones."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy._lib.array_api_compat.numpy import linalg

from adbc.rules.scipy.base import bodies
from adbc.rules.table import Rule

__all__ = ["ROWS"]


def solve(x1: Any, x2: Any, /) -> Any:
    return np.linalg.solve(x1, x2)


ROWS: list[Rule] = bodies(linalg, {"solve": solve})
