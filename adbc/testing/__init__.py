"""Tools for whoever writes rules, or kinds of values.

`test_rule` checks a rule, `directional_derivative` is what it trusts; `test_tangent` and `test_data` check
the laws of the tangents of a value, `test_type` what programs do with any; `has_equal_data` compares.
"""

from __future__ import annotations

from adbc.testing.compare import has_equal_data
from adbc.testing.finite import directional_derivative
from adbc.testing.interactions import test_type
from adbc.testing.rule import test_rule
from adbc.testing.tangents import test_data, test_tangent

__all__ = [
    "directional_derivative",
    "has_equal_data",
    "test_data",
    "test_rule",
    "test_tangent",
    "test_type",
]
