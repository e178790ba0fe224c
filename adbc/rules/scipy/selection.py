"""SciPy: the machinery by which it chooses between array libraries.

SciPy's functions are differentiated by descending into them.  Here is only what stands in front of
many of them: which library the arrays come from has no derivative, and their promotion to a common
type is spelt out for NumPy arrays (the original catches exceptions of other libraries).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy._lib import _array_api

from adbc.rules.table import Overlay, Rule, ZeroRule

__all__ = ["ROWS"]


def promote(*args: Any, broadcast: bool = False, force_floating: bool = False, xp: Any) -> Any:
    """The body of SciPy's ``xp_promote``: arrays of one dtype, and of one shape if `broadcast`."""
    dtype = _array_api.xp_result_type(*args, force_floating=force_floating, xp=xp)
    out = [None if arg is None else np.asanyarray(arg, dtype) for arg in args]  # masks stay
    if broadcast:
        shape = np.broadcast_shapes(*[arg.shape for arg in out if arg is not None])
        out = [x if x is None or x.shape == shape else np.broadcast_to(x, shape, subok=True) for x in out]
    return out[0] if len(out) == 1 else tuple(out)


_SELECTORS = ("array_namespace", "is_numpy", "is_lazy_array", "xp_result_type", "xp_default_dtype")
_PROMOTIONS = ("xp_promote",)

ROWS: list[Rule] = [
    *(ZeroRule(getattr(_array_api, name)) for name in _SELECTORS if hasattr(_array_api, name)),
    *(Overlay(getattr(_array_api, name), promote) for name in _PROMOTIONS if hasattr(_array_api, name)),
]
