"""SciPy: what of its machinery has no derivative.

SciPy's functions are differentiated by descending into them; only what chooses between array
libraries is declared here: it returns a module, whatever the values of the arrays are.
"""

from __future__ import annotations

from scipy._lib import _array_api

from adbc.rules.table import Rule, ZeroRule

__all__ = ["ROWS"]

_SELECTORS = ("array_namespace", "is_numpy", "is_lazy_array")

ROWS: list[Rule] = [
    ZeroRule(getattr(_array_api, name))
    for name in _SELECTORS
    if hasattr(_array_api, name)
]
