"""Until nothing is built any more."""

from __future__ import annotations

from adbc.runtime import default_engine
from benchmarks.measure import Call

__all__ = ["MOST", "QUIET", "settle"]

QUIET = 4
"""After so many calls without a new rule, there will be none."""

MOST = 100
"""Calls after which something is measured even if it has not settled."""


def settle(call: Call) -> int:
    """Call until no more rules are built: what early calls see may change the code for later ones.

    Returns how many were.
    """
    engine = default_engine()
    before, quiet = engine.builds, 0
    for _ in range(MOST):
        builds = engine.builds
        call()
        quiet = quiet + 1 if engine.builds == builds else 0
        if quiet == QUIET:
            break
    return engine.builds - before
