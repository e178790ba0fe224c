"""The rules of the table that are pure, as `frule` and `rrule`: the collection serves other systems too.

``import adbc.rules`` brings them: `chainrules.frule` and `chainrules.rrule` then know the functions of
`math`, `operator`, NumPy and SciPy that have a rule without effects, and nothing of the engine is loaded.
What is declared comes before what is in the collection.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from adbc import chainrules as cr
from adbc.chainrules.registry import Declaration
from adbc.chainrules.scalar import Partials
from adbc.errors import UnsupportedError
from adbc.rules.adopted import add_natural, engine_tangent, natural_tangent, refuse_shared
from adbc.rules.declared import name_of
from adbc.rules.kinds import RowKind
from adbc.rules.lookup import RuleTable
from adbc.rules.table import Rule
from adbc.tangents import (
    NO_TANGENT,
    slot_increment,
    slot_shadow,
    slot_tangent,
    zero_tangent,
)

__all__ = ["Collection", "is_pure"]

_KINDS = {RowKind.SCALAR: "scalar", RowKind.ZERO: "zero"}


def is_pure(row: Rule, count: int = 1, keywords: Sequence[str] = ()) -> bool:
    """Whether a row says all that an `frule` and an `rrule` say of calls with `count` arguments: they have no
    effects, and what they give is new."""
    if row.mutates or row.of_text or row.is_checked:
        return False
    return row.is_zero(count, keywords) if row.kind is RowKind.ZERO else row.is_pure(count, keywords)


class Collection:
    """The pure rows of `table`, as `Registry.providers` gives rules."""

    def __init__(self, table: RuleTable) -> None:
        self._table = table

    def __call__(self, function: Any, mode: str, classes: Sequence[type]) -> Declaration | None:
        row = self._table.find(function, tuple(classes))
        if row is None or mode not in row.modes or not is_pure(row, len(classes)):
            return None
        return _declaration(row)

    def __iter__(self) -> Iterator[Declaration]:
        return map(_declaration, filter(is_pure, self._table))


def _declaration(row: Rule) -> Declaration:
    made = _Rules(row)
    when = None if row.when is None else (lambda *classes: row.accepts(classes))
    rules: dict[str, Any] = {"forward": made.frule, "reverse": made.rrule}
    detail = None
    if row.kind is RowKind.SCALAR:
        detail = Partials(row.function, getattr(row, "partials"), None)  # noqa: B009  # of this kind of row
    kind = _KINDS.get(row.kind, "rule")
    return Declaration(row.function, kind, rules, row.modes, when, None, row.for_speed, detail, row.origin)


class _Rules:
    """The two rules that a row says."""

    def __init__(self, row: Rule) -> None:
        self.row = row
        self.counts_ints = row.kind is RowKind.SCALAR

    def frule(self, tangents: tuple[Any, ...], function: Any, *args: Any, **kwargs: Any) -> Any:
        """The rule of forward mode."""
        bound, rest = self.row.bind(args, kwargs)
        self.check(bound, rest)
        for x in bound:
            refuse_shared(x, f"an argument of {name_of(self.row.function)}")
        given = [engine_tangent(x, t) for x, t in zip(args, tangents[1:], strict=True)]
        given += [None] * (len(bound) - len(given))
        out, dout = self.row.frule(bound, given, rest)
        return out, natural_tangent(out, dout)

    def check(self, args: Sequence[Any], kwargs: dict[str, Any]) -> None:
        """Raise if a call with these arguments, after binding, has effects."""
        if not is_pure(self.row, len(args) + len(kwargs), tuple(kwargs)):
            raise UnsupportedError(
                f"{name_of(self.row.function)} is called with {len(args) + len(kwargs)} arguments",
                "its rule for such calls has effects, or gives what is not new",
                "leave out=, and what else says where the result goes",
            )

    def rrule(self, function: Any, *args: Any, **kwargs: Any) -> Any:
        """The rule of reverse mode.  Where partial derivatives say it all, an int counts as a number."""
        self.check(*self.row.bind(args, kwargs))
        numbers = args
        if self.counts_ints and any(type(x) is int for x in args):
            numbers = tuple(float(x) if type(x) is int else x for x in args)
        waiting = [_Run(self.row, numbers, kwargs)]
        out = waiting[0].out if numbers is args else function(*args, **kwargs)

        def row_pullback(cotangent: Any) -> tuple[Any, ...]:
            run = waiting.pop() if waiting else _Run(self.row, numbers, kwargs)
            return NO_TANGENT, *run.back(cotangent, len(args))

        return out, row_pullback


class _Run:
    """A call of the reverse rule of a row, whose pullback has not run yet."""

    def __init__(self, row: Rule, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.args, rest = row.bind(args, kwargs)
        for x in self.args:
            refuse_shared(x, f"an argument of {name_of(row.function)}")
        zeros = [zero_tangent(x) for x in self.args]
        self.shadows = [None if t is NO_TANGENT else slot_shadow(t) for t in zeros]
        self.out, self.fout, self.pullback = row.rrule(self.args, self.shadows, rest)

    def back(self, cotangent: Any, count: int) -> Iterator[Any]:
        """The cotangents of the first `count` arguments."""
        if isinstance(cr.unthunk(cotangent), cr.NoTangent | cr.ZeroTangent) or self.fout is None:
            found: Sequence[Any] = (None,) * len(self.args)
        else:
            found = self.pullback(add_natural(self.fout, self.out, cotangent))
        for x, f, r in zip(self.args[:count], self.shadows, found, strict=False):
            if f is None:
                yield NO_TANGENT
            else:
                yield natural_tangent(x, slot_increment(slot_tangent(x, f), r))
