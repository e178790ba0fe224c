"""``scipy.spatial.transform``: written twice, in C for NumPy and in Python for other arrays.

The second functions are the bodies of the first.  Only the nearest rotation to a matrix is a body of its own:
SciPy does without it where the matrix is a rotation already, but its derivative is not that of the identity.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.spatial.transform import _rotation_cy, _rotation_xp

from adbc.functions import is_function
from adbc.rules.scipy.factorisations import polar_factors
from adbc.rules.table import Overlay, Rule

__all__ = ["ROWS"]


def from_matrix(matrix: Any, assume_valid: bool = False) -> Any:
    """The quaternions of matrices, of each the rotation that is nearest to it."""
    matrix = np.asarray(matrix)
    if not assume_valid and np.all(np.linalg.det(matrix) > 0):
        rows = np.reshape(matrix, (-1, 3, 3))
        nearest = np.stack([polar_factors(rows[i])[0] for i in range(len(rows))])
        matrix = np.reshape(nearest, matrix.shape)
    return _rotation_xp.from_matrix(matrix, assume_valid)


_OWN = {"from_matrix": from_matrix}

ROWS: list[Rule] = [
    Overlay(getattr(_rotation_cy, name), _OWN.get(name, body))
    for name, body in vars(_rotation_xp).items()
    if is_function(body)
    and body.__module__ == _rotation_xp.__name__
    and not name.startswith("_")
    and hasattr(_rotation_cy, name)
]
