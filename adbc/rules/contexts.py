"""Which built-in rules are there for speed alone: a minimal context derives their functions instead.

These functions are written in Python, and what they call has rules: each of them is right by derivation as
well, which a test shows.  Rules of users and plug-ins say so themselves (``for_speed=True``).
"""

from __future__ import annotations

from typing import Any

__all__ = ["FOR_SPEED", "is_for_speed"]

FOR_SPEED = frozenset({
    "numpy.broadcast_shapes", "numpy.diag_indices", "numpy.eye", "numpy.identity",
    "numpy.isscalar", "numpy.iterable", "numpy.ones", "numpy.tri",
    "scipy.special._basic.comb", "scipy.special._basic.factorial", "scipy.special._basic.polygamma",
    "scipy.special._logsumexp.log_softmax", "scipy.special._logsumexp.logsumexp",
    "scipy.special._logsumexp.softmax", "scipy.special._spfun_stats.multigammaln",
})  # fmt: skip
"""Functions by module and name, all rows of which but overlays are for speed."""


def is_for_speed(function: Any) -> bool:
    """Whether the built-in rules of `function` are for speed alone."""
    name = getattr(function, "__qualname__", None)
    return name is not None and f"{getattr(function, '__module__', None)}.{name}" in FOR_SPEED
