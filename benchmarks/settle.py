"""Until nothing is built any more."""

from __future__ import annotations

from adbc.runtime import default_engine
from adbc.runtime.build.engine import Engine
from benchmarks.measure import Call

__all__ = ["MOST", "QUIET", "settle"]

QUIET = 4
"""After so many calls without a new rule, and in which nothing was interpreted, there will be none."""

MOST = 120
"""Calls after which something is measured even if it has not settled."""


def settle(call: Call, engine: Engine | None = None) -> int:
    """Call until no more rules are built: what early calls see may change the code for later ones, and what
    is called often enough gets code.

    engine: whose rules those are, by default that of the public functions.

    Returns how many were.
    """
    engine = default_engine() if engine is None else engine
    before, quiet = engine.builds, 0
    for _ in range(MOST):
        builds, steps = engine.builds, _steps(engine)
        call()
        quiet = quiet + 1 if engine.builds == builds and _steps(engine) == steps else 0
        if quiet == QUIET:
            break
    return engine.builds - before


def _steps(engine: Engine) -> int:
    """How many steps have been interpreted in functions that have no code yet."""
    return sum(rule.cold.steps for rule in engine.rules.values() if rule.cold is not None)
