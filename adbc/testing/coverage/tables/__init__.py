"""The calls of functions whose signature does not say how they are called, by public name.

The names in a text stand for what `adbc.testing.coverage.values` says; everything else is constant.
"""

from __future__ import annotations

from collections.abc import Sequence

from adbc.testing.coverage.tables import arrays, library, numpy, polynomial, random, scipy
from adbc.testing.coverage.tables.without import WITHOUT

__all__ = ["CALLS", "SKIPPED", "WITHOUT"]

CALLS: dict[str, Sequence[str]] = {
    **numpy.CALLS,
    **arrays.CALLS,
    **polynomial.CALLS,
    **random.CALLS,
    **library.CALLS,
    **scipy.CALLS,
}
SKIPPED: dict[str, str] = {**numpy.SKIPPED, **library.SKIPPED, **scipy.SKIPPED}
"""Public names that are not judged, and why."""
