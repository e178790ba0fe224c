"""Whether an argument of a rule carries a derivative, for rules that refuse it if it does.

A tangent that is zero carries none.  Of a shadow the numbers say nothing before the pullback runs: an array
counts as a constant until something active has been written there (`tangents.activity_marks`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from adbc.errors import UnsupportedError
from adbc.rules.declared import holds_numbers
from adbc.rules.table import Args, Pullback
from adbc.tangents.activity_marks import any_part, is_inactive
from adbc.tangents.keys import put_off
from adbc.tangents.lost import lose, may_be_lost
from adbc.tangents.zeros import is_zero

__all__ = ["Lost", "Refusal", "and_lost", "carries", "uncovered", "without_lost", "without_refused"]


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

    def error(self) -> UnsupportedError:
        return UnsupportedError(*self.said)

    def __call__(self, *args: Any, **others: Any) -> Any:
        raise self.error()


def uncovered(function: Any, name: str) -> Refusal | None:
    """Stands in place of the formula of a parameter by which a rule has no derivative; None of ``out``."""
    if name == "out":
        return None
    return Refusal(
        f"{name!r} of {getattr(function, '__name__', function)} has a derivative",
        "the rule of the function does not cover that",
        "write the function out, or pass it adbc.stop_gradient(x) in place of x",
    )


def without_refused(formulas: Sequence[Any], args: Args, dargs: Args) -> list[Any]:
    """The tangents `dargs`, without those of constants whose formula is a `Refusal`; raises if one of these
    arguments is active."""
    result = list(dargs)
    for i, (formula, d) in enumerate(zip(formulas, dargs, strict=False)):
        if isinstance(formula, Refusal) and d is not None:
            if carries(args[i], d, is_tangent=True):
                formula()
            result[i] = None
    return result


Lost = Mapping[int, tuple[Any, Any, float]]
"""By place, an argument whose derivative would be lost, its shadow, and the NaN that comes back to it."""


def without_lost(formulas: Sequence[Any], args: Args, fargs: Args) -> tuple[list[Any], Lost]:
    """The shadows `fargs`, without those of arguments whose formula is a `Refusal`, and those of these that
    may have a derivative.  Whether they have one is known when the pullback has run: raises if the refusal
    may not wait for that."""
    result = list(fargs)
    lost: dict[int, tuple[Any, Any, float]] = {}
    for i, (formula, f) in enumerate(zip(formulas, fargs, strict=False)):
        if isinstance(formula, Refusal) and f is not None:
            result[i] = None
            if carries(args[i], f, is_tangent=False):
                nan = put_off(formula.error) if may_be_lost(args[i], f) else None
                if nan is None:
                    formula()
                else:
                    lost[i] = args[i], f, nan
    return result, lost


def and_lost(answer: Any, lost: Lost) -> tuple[Any, Any, Pullback]:
    """The `answer` of an rrule without the shadows of the `lost` arguments, with what comes back to these."""
    out, fout, inner = answer

    def refusing_pullback(bout: Any) -> Sequence[Any]:
        given = list(inner(bout))
        for i, (x, f, nan) in lost.items():
            given[i] = lose(x, f, nan)
        return given

    return out, fout, refusing_pullback


def _is_not_zero(part: Any) -> bool:
    return not is_zero(part)


def _is_active(part: Any) -> bool:
    return not is_inactive(part)
