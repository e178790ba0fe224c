"""Whether an argument of a rule carries a derivative, for rules that refuse it if it does.

A tangent that is zero carries none.  Of a shadow the numbers say nothing before the pullback runs: an array
counts as a constant until something active has been written there (`tangents.activity_marks`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from adbc.errors import UnsupportedError
from adbc.rules.declared import holds_numbers
from adbc.rules.table import Args
from adbc.tangents.activity_marks import any_part, is_inactive
from adbc.tangents.zeros import is_zero

__all__ = ["Refusal", "carries", "without_refused"]


def carries(x: Any, derivative: Any, *, is_tangent: bool) -> bool:
    """Whether argument `x`, with this tangent or shadow, may have a derivative."""
    if derivative is None or not holds_numbers(x):
        return False
    return any_part(derivative, _is_not_zero if is_tangent else _is_active)


class Refusal:
    """Stands in place of a partial derivative for which there is no formula: raises if it is asked for.

    what: the function of a library and the argument, as people know them.
    """

    def __init__(self, what: str, why: str, instead: str) -> None:
        self.said = what, why, instead

    def __call__(self, *args: Any, **others: Any) -> Any:
        raise UnsupportedError(*self.said)


def without_refused(formulas: Sequence[Any], args: Args, derivatives: Args, *, is_tangent: bool) -> list[Any]:
    """`derivatives`, without those of constants whose formula is a `Refusal`, of which an active argument is
    refused: now, for what is a constant when it is called may have a derivative later."""
    result = list(derivatives)
    for i, (formula, d) in enumerate(zip(formulas, derivatives, strict=False)):
        if isinstance(formula, Refusal) and d is not None:
            if carries(args[i], d, is_tangent=is_tangent):
                formula()
            result[i] = None
    return result


def _is_not_zero(part: Any) -> bool:
    return not is_zero(part)


def _is_active(part: Any) -> bool:
    return not is_inactive(part)
