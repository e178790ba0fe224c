"""What the rule of a call by keyword is given."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from adbc.errors import MissingRuleError
from adbc.rules.declared import holds_numbers
from adbc.runtime.calls import steps
from adbc.runtime.report.messages import missing_rule
from adbc.runtime.state.activity import is_active
from adbc.types.keywords import drops_keywords

__all__ = ["with_keywords"]

Values = tuple[Any, ...]


class _Place(int):
    """The place of an argument in a call, which no default of a parameter is taken for."""


_PLACES = tuple(map(_Place, range(256)))


def with_keywords(
    step: steps.UseRow,
    has_derivative: Callable[[Any], bool] = is_active,
    put_off: Callable[[int, MissingRuleError], bool] | None = None,
) -> tuple[Values, Values, dict[str, Any], Sequence[int]]:
    """What the rule of a call by keyword is given: arguments, shadows and keywords; and the places in the
    call of the first two (-1: nowhere, a parameter is left out).

    has_derivative: whether a value with such a shadow, or tangent, is none that a rule may take for a
    constant.  Of a derivative that nobody differentiates again, a tangent of zero says that it is one.
    put_off: ``put_off(place, error)`` says whether the refusal of an argument by keyword may wait until it is
    known whether that depends on the input.
    """
    call, row = step.call, step.row
    args, n = call.args, call.count
    by_name = dict(zip(call.keywords, _PLACES[n : len(args)], strict=True))
    bound, rest = row.bind(_PLACES[:n], by_name)
    kwargs = {}
    if rest and drops_keywords(row):
        raise missing_rule(call, f"its rule does not know the keyword argument {next(iter(rest))!r}")
    for name, i in rest.items():
        # A number that is whole has none, whatever stands beside it.
        may_depend = has_derivative(call.shadows[i]) and holds_numbers(args[i])
        if may_depend and not row.is_zero(n, call.keywords):
            error = missing_rule(
                call, f"its keyword argument {name!r} has a derivative, which the rule does not cover"
            )
            if put_off is None or not put_off(i, error):
                raise error
        kwargs[name] = args[i]
    if len(bound) + len(rest) == len(args):  # there are no defaults among them
        found, shadows = map(args.__getitem__, bound), map(call.shadows.__getitem__, bound)
        return tuple(found), tuple(shadows), kwargs, bound
    places = [i if i.__class__ is _Place else -1 for i in bound]
    given = tuple([args[i] if i >= 0 else x for i, x in zip(places, bound, strict=True)])
    return given, tuple(map((*call.shadows, None).__getitem__, places)), kwargs, places
