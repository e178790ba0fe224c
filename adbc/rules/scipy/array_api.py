"""SciPy's copy of the array API for NumPy: what calls NumPy's functions in C past its public ones."""

from __future__ import annotations

from typing import Any

import numpy as np

from adbc.rules.scipy.base import bodies, vendored
from adbc.rules.table import Rule

__all__ = ["ROWS"]


_HELPERS = vendored("array_api_compat.common._helpers")


def solve(x1: Any, x2: Any, /) -> Any:
    return np.linalg.solve(x1, x2)


def asarray(
    obj: Any, /, *, dtype: Any = None, device: Any = None, copy: bool | None = None, **kwargs: Any
) -> Any:
    _HELPERS._check_device(np, device)
    if copy is None:
        return np.asarray(obj, dtype, **kwargs)
    return np.array(obj, dtype, copy=copy if copy else np._CopyMode.NEVER, **kwargs)


ROWS: list[Rule] = [
    *bodies(vendored("array_api_compat.numpy.linalg"), {"solve": solve}),
    *bodies(vendored("array_api_compat.numpy._aliases"), {"asarray": asarray}),
]
