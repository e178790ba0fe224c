"""Tools for whoever writes rules: `test_rule` checks one, `directional_derivative` is what it trusts."""

from __future__ import annotations

from adbc.testing.finite import directional_derivative
from adbc.testing.rule import test_rule

__all__ = ["directional_derivative", "test_rule"]
