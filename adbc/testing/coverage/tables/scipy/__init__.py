"""Calls of SciPy's functions, by public module; none where SciPy is not installed."""

from __future__ import annotations

from collections.abc import Sequence

from adbc.testing.coverage.tables.scipy import (
    fft,
    integrate,
    interpolate,
    linalg,
    ndimage,
    optimize,
    signal,
    sparse,
    spatial,
    special,
    stats,
)

__all__ = ["CALLS", "MODULES", "SKIPPED"]

MODULES = (
    "scipy.special",
    "scipy.linalg",
    "scipy.fft",
    "scipy.integrate",
    "scipy.interpolate",
    "scipy.optimize",
    "scipy.signal",
    "scipy.ndimage",
    "scipy.spatial",
    "scipy.spatial.distance",
    "scipy.spatial.transform",
    "scipy.stats",
    "scipy.sparse",
    "scipy.sparse.linalg",
    "scipy.cluster.vq",
)
"""The modules of which there are calls."""

_TABLES = (fft, integrate, interpolate, linalg, ndimage, optimize, signal, sparse, spatial, special, stats)

CALLS: dict[str, Sequence[str]] = {}
SKIPPED: dict[str, str] = {}
for _table in _TABLES:
    CALLS.update(_table.CALLS)
    SKIPPED.update(_table.SKIPPED)
