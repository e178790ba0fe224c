"""The mathematics: how the functions of Python, `math` and NumPy are differentiated.

`default_table` is the one visible place where the table is put together.  A source is imported when
the package it is about has been imported and a rule is first looked for.
"""

from __future__ import annotations

import threading

from adbc import chainrules as cr
from adbc.rules import scipy
from adbc.rules.adopted import adopt
from adbc.rules.collection import Collection
from adbc.rules.lookup import RuleTable

__all__ = ["SOURCES", "collection", "default_table"]

SOURCES: tuple[tuple[str, str], ...] = (
    ("builtins", "adbc.rules.builtins"),
    ("array", "adbc.rules.array"),
    ("bisect", "adbc.rules.bisect"),
    ("math", "adbc.rules.math"),
    ("cmath", "adbc.rules.cmath"),
    ("collections", "adbc.rules.collections"),
    ("collections", "adbc.rules.deque_classes"),
    ("collections", "adbc.rules.mappings"),
    ("concurrent.futures.thread", "adbc.rules.futures"),
    ("contextvars", "adbc.rules.contextvars"),
    ("copy", "adbc.rules.copying"),
    ("fractions", "adbc.rules.fractions"),
    ("functools", "adbc.rules.functools"),
    ("heapq", "adbc.rules.heapq"),
    ("builtins", "adbc.rules.implicit"),
    ("itertools", "adbc.rules.itertools"),
    ("operator", "adbc.rules.operator"),
    ("random", "adbc.rules.random"),
    ("re", "adbc.rules.re"),
    ("statistics", "adbc.rules.statistics"),
    ("threading", "adbc.rules.threading"),
    ("types", "adbc.rules.types"),
    ("weakref", "adbc.rules.weakref"),
    ("string.templatelib", "adbc.rules.templates"),
    ("numpy", "adbc.rules.numpy"),
    ("numpy.fft", "adbc.rules.numpy.fourier"),
    ("numpy.polynomial", "adbc.rules.numpy.series"),
    ("numpy.random", "adbc.rules.numpy.composed_draws"),
    ("numpy.random", "adbc.rules.numpy.random"),
    ("numba.np.ufunc.gufunc", "adbc.rules.numba"),
    ("wrapt.wrappers", "adbc.rules.wrapt"),
    *scipy.SOURCES,
)
"""Pairs of a package and the module that has the rules of a part of it."""

_default: RuleTable | None = None
_lock = threading.Lock()


def default_table() -> RuleTable:
    """The table of rules that is used unless another is given."""
    global _default
    if _default is None:
        with _lock:
            if _default is None:
                table = RuleTable(SOURCES, takes_plugins=True)
                adopt(table)
                _default = table
    return _default


def collection() -> Collection:
    """The rules of the default table that other systems can use: declarations, one after the other."""
    return Collection(default_table())


cr.registry.providers.append(lambda function, mode, classes: collection()(function, mode, classes))
