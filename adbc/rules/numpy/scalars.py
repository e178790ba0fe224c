"""Rules of the classes of NumPy's scalars called as functions: ``np.float64(x)``."""

from __future__ import annotations

import numpy as np

from adbc.rules.numpy.creation import copying
from adbc.rules.table import Rule, ZeroRule

__all__ = ["ROWS"]

INEXACT = [np.float16, np.float32, np.float64, np.longdouble, np.complex64, np.complex128, np.clongdouble]
EXACT = [np.bool_, np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64]

ROWS: list[Rule] = [
    *(copying(cls, "x", result=None) for cls in INEXACT),
    *(ZeroRule(cls, result=cls) for cls in EXACT),
]
