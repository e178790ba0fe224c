"""Testers of rules that need no engine: finite differences against what the rules say.

`test_scalar`, `test_frule` and `test_rrule` run a rule at a point; `test_ruleset` looks at all rules of a
module without running them.  Arrays are handled where NumPy has been imported.
"""

from __future__ import annotations

from adbc.chainrules.testing.finite import CentralDifferences, Estimate, central_fdm
from adbc.chainrules.testing.rules import test_frule, test_rrule, test_scalar
from adbc.chainrules.testing.ruleset import test_ruleset
from adbc.chainrules.testing.tangents import (
    PrimalAndTangent,
    assert_approx,
    primal_with_tangent,
    rand_tangent,
)

__all__ = [
    "CentralDifferences",
    "Estimate",
    "PrimalAndTangent",
    "assert_approx",
    "central_fdm",
    "primal_with_tangent",
    "rand_tangent",
    "test_frule",
    "test_rrule",
    "test_ruleset",
    "test_scalar",
]
