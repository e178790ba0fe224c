"""Whether an argument of a rule carries a derivative, for rules that refuse it if it does.

A tangent that is zero carries none.  Of a shadow the numbers say nothing before the pullback runs: an array
counts as a constant until something active has been written there (`tangents.activity_marks`).
"""

from __future__ import annotations

from typing import Any

from adbc.rules.declared import holds_numbers
from adbc.tangents.activity_marks import any_part, is_inactive

__all__ = ["carries"]


def carries(x: Any, derivative: Any, *, is_tangent: bool) -> bool:
    """Whether argument `x`, with this tangent or shadow, may have a derivative."""
    if derivative is None or not holds_numbers(x):
        return False
    return any_part(derivative, _is_not_zero if is_tangent else _is_active)


def _is_not_zero(part: Any) -> bool:
    if isinstance(part, float | complex):
        return part != 0.0
    return bool(part.any()) if hasattr(part, "any") else True


def _is_active(part: Any) -> bool:
    return not is_inactive(part)
