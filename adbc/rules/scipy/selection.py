"""SciPy: the machinery by which it chooses between array libraries.

SciPy's functions are differentiated by descending into them.  Here is only what stands in front of
many of them: which library the arrays come from and where their memory is have no derivative, and their
promotion to a common type is spelt out for NumPy arrays (the original catches exceptions of other
libraries).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy._lib import _array_api

from adbc.rules.scipy.base import vendored
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


_SELECTORS = (
    "array_namespace", "get_native_namespace_name", "is_complex", "is_lazy_array", "is_marray", "is_numpy",
    "is_torch", "scipy_namespace_for", "xp_default_dtype", "xp_device", "xp_result_device", "xp_result_type",
    "xp_size",
)  # fmt: skip
_PROMOTIONS = ("xp_promote",)


def _questions(module: Any) -> list[Any]:
    """The functions of `module`, one of questions about arrays and namespaces, that answer; none, if there is
    no such module."""
    names = ("array_namespace", "device", "get_namespace", "size", "_check_device", "_issubclass_fast")
    return [
        function
        for name, function in ({} if module is None else vars(module)).items()
        if (name in names or name.startswith(("is_", "_is_"))) and function.__module__ == module.__name__
    ]


_ALIASES = vendored("array_api_compat.common._aliases")
_ASKED: dict[Any, None] = dict.fromkeys(
    [
        *(getattr(_array_api, name) for name in _SELECTORS if hasattr(_array_api, name)),
        *_questions(vendored("array_api_compat.common._helpers")),
        *(getattr(_ALIASES, name) for name in ("finfo", "iinfo", "isdtype") if hasattr(_ALIASES, name)),
    ]
)

ROWS: list[Rule] = [
    *map(ZeroRule, _ASKED),
    *(Overlay(getattr(_array_api, name), promote) for name in _PROMOTIONS if hasattr(_array_api, name)),
]
