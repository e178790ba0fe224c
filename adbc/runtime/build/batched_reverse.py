"""Reverse mode in batches: what an engine for batches has in place of rules, helpers and calls.

The code that is written is that of one cotangent: the forwards pass runs once, with shadows that are batches,
and the pullback runs once, with batches for cotangents.  Three kinds of rows are told apart:

- where formulas say what the cotangents are, they are computed with batches;
- rows that only move what stands in lists, dicts and objects do that with batches as with anything else;
- every other rule is called once, with the first lane, and its pullback once for each lane
  (`tangents.array_batch_lanes`), from the same state.
"""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

from adbc.chainrules.registry import Rank
from adbc.passes.derived.strong_zeros import Strong
from adbc.reverse import Support
from adbc.rules.kinds import RowKind
from adbc.rules.table import NO_KWARGS, PureRule, Rule, ScalarRule, ZeroRule
from adbc.runtime.build.watched import Rowwise
from adbc.runtime.calls.classes import SLOW
from adbc.runtime.calls.replaying import Notes, OutOfSight
from adbc.runtime.calls.reverse import ReverseCalls
from adbc.runtime.state.batches import fresh_shadow, lane_by_lane, spread_shadow, width
from adbc.runtime.state.engine import EngineView
from adbc.tangents import NO_FDATA, cotangent_of, divide, internal, multiply

__all__ = ["BatchedReverseCalls", "BatchedReverseRow", "batched_reverse_support"]

_MOVING = (
    *[
        f"adbc.rules.builtins.{name}"
        for name in (
            "cells", "container_classes", "dicts", "displays", "items", "iteration", "lists", "ordering",
            "patterns", "sets", "tuples",
        )
    ],
    "adbc.rules.cached", "adbc.rules.collections", "adbc.rules.contextvars", "adbc.rules.deque_classes",
    "adbc.rules.heap_halves", "adbc.rules.numpy.iteration", "adbc.rules.recollections", "adbc.rules.stopping",
    "adbc.rules.types", "adbc.runtime.calls",
)  # fmt: skip
"""Where rows are that only move what stands in containers, or step iterators."""


class BatchedReverseRow:
    """A row whose reverse rule takes batches of shadows, and whose pullbacks take and give batches."""

    def __init__(self, row: Rule) -> None:
        self._row = row
        if row.kind is RowKind.PER_MODE:
            row = row.of("reverse")  # type: ignore[attr-defined]  # of such a row
        self._one: Any = row
        """The row, as it is for one cotangent."""
        self._rule: Callable[..., Any] = row.rrule
        modules = {type(row).__module__, *[f.__module__ for f in row.by_hand]}
        is_of_arrays = any(m.startswith(("adbc.rules.numpy", "adbc.rules.scipy")) for m in modules)
        self._gives_views = False
        """Whether nothing is left for the pullback if the result is a view of an argument."""
        self.rrule: Callable[..., Any] = self._by_lanes
        if type(row).rrule is ZeroRule.rrule:
            self.rrule = self._of_zero
        elif row.origin.rank is not Rank.BUILT_IN:
            return  # by lanes
        elif isinstance(row, ScalarRule) and type(row).rrule is ScalarRule.rrule:
            self.rrule = self._of_numbers
        elif type(row) is PureRule:
            self.rrule = self._of_formulas
            self._formulas = [f if f is None else lane_by_lane(f) for f in row.vjp]
        elif any(m.startswith(_MOVING) for m in modules):
            self.rrule = self._moving
        elif is_of_arrays:
            from adbc.rules.numpy.base import ArrayRule  # loaded: the row is one of NumPy's
            from adbc.rules.numpy.elementwise import ElementwiseRule
            from adbc.rules.numpy.indexing import SubscriptRule
            from adbc.rules.numpy.reduction_rule import ReductionRule
            from adbc.rules.numpy.views import ViewRule

            if type(row).rrule in [cls.rrule for cls in (ArrayRule, ElementwiseRule, ReductionRule)] and not (
                row.refuses  # type: ignore[attr-defined]  # one of those has it
            ):
                laned: Any = copy.copy(row)
                laned.vjp = tuple([f if f is None else lane_by_lane(f) for f in laned.vjp])
                self._laned = laned
                self.rrule = self._of_arrays
            self._gives_views = type(row) in (ViewRule, SubscriptRule)

    # -- the kinds of rows

    def _of_zero(self, args: Sequence[Any], fargs: Sequence[Any], kwargs: Any = NO_KWARGS, *out: Any) -> Any:
        made, fout, pullback = self._rule(args, fargs, kwargs, *out)
        return made, spread_shadow(made, fout, fargs), pullback

    def _moving(self, args: Sequence[Any], fargs: Sequence[Any], kwargs: Any = NO_KWARGS, *out: Any) -> Any:
        made, fout, pullback = self._rule(args, fargs, kwargs, *out)
        return made, spread_shadow(made, fout, fargs), pullback

    def _of_numbers(
        self, args: Sequence[Any], fargs: Sequence[Any], kwargs: Any = NO_KWARGS, *out: Any
    ) -> Any:
        made, fout, pullback = self._rule(args, fargs, kwargs, *out)
        if fout is None or fout is NO_FDATA:
            return made, fout, pullback
        return self._by_lanes(args, fargs, kwargs, made)

    def _of_formulas(
        self, args: Sequence[Any], fargs: Sequence[Any], kwargs: Any = NO_KWARGS, *out: Any
    ) -> Any:
        made = self._one.function(*args, **kwargs)
        fout = fresh_shadow(made, any(f is not None for f in fargs))
        formulas = self._formulas

        def pullback_of_formulas(bout: Any) -> Sequence[Any]:
            by = cotangent_of(fout, bout)
            result: list[Any] = [None] * len(args)
            if by is not None:
                for i, formula in enumerate(formulas[: len(args)]):
                    if formula is not None and fargs[i] is not None:
                        result[i] = internal.accumulate(fargs[i], args[i], formula(by, made, *args, **kwargs))
            return result

        return made, fout, pullback_of_formulas

    def _of_arrays(
        self, args: Sequence[Any], fargs: Sequence[Any], kwargs: Any = NO_KWARGS, *out: Any
    ) -> Any:
        laned = self._laned
        arrays, others, target, _ = laned.split(args, kwargs)
        besides = getattr(laned, "of_besides", ())
        if target is not None or (besides and len(args) > min(besides)):
            return self._by_lanes(args, fargs, kwargs, *out)
        firsts = _working().first(tuple(fargs))
        made, fmade, _ = self._rule(args, firsts, kwargs, *out)
        if fmade is None:
            return made, None, lambda bout: (None,) * len(args)
        fout = fmade
        if fmade is not NO_FDATA:
            if getattr(fmade, "dtype", None) is None or fmade.dtype.kind not in "fc":
                return self._by_lanes(args, fargs, kwargs, *out)
            fout = fresh_shadow(made, True)

        def pullback_of_arrays(bout: Any) -> Sequence[Any]:
            by = bout if fout is NO_FDATA else fout
            found: Sequence[Any] = laned._cotangents(by, made, arrays, fargs, others, len(args))
            return found

        return made, fout, pullback_of_arrays

    def _by_lanes(self, args: Sequence[Any], fargs: Sequence[Any], kwargs: Any = NO_KWARGS, *out: Any) -> Any:
        """The rule is called with the first lane, and its pullback for each."""
        working = _working()
        made, fmade, pullback = self._rule(args, working.first(tuple(fargs)), kwargs, *out)
        fout = working.whole(fmade)
        working.follow()
        if self._gives_views and any(fout is view for view in working.views):
            return made, fout, lambda bout: (None,) * len(args)
        row = self._one
        is_pure = row.origin.rank is Rank.BUILT_IN and row.is_pure(len(args) + len(kwargs), tuple(kwargs))

        def pullback_of_lanes(bout: Any) -> Sequence[Any]:
            from adbc.tangents.array_batch_lanes import joined_rdata

            put_back = _nothing if is_pure else _state(working, pullback, args, kwargs)
            rows = [tuple(r) for r in working.run(lambda b: tuple(pullback(b)), bout, put_back)]
            return tuple(map(joined_rdata, zip(*rows, strict=True)))

        return made, fout, pullback_of_lanes

    def at_site(self) -> Any:
        return BatchedReverseRow(self._row.at_site())

    def __getattr__(self, name: str) -> Any:
        return getattr(self._row, name)


def _working() -> Any:
    from adbc.tangents.array_batch_lanes import Working  # it imports NumPy

    return Working(width())


def _nothing() -> None:
    pass


def _state(working: Any, pullback: Any, args: Sequence[Any], kwargs: Any) -> Callable[[], None]:
    """What puts back the arguments of a call, and all else that the pullback reaches, but for shadows."""
    from adbc.tangents.array_batch_lanes import cannot

    notes = Notes()
    notes.seen |= working.own()
    try:
        notes.run([*args, *kwargs.values(), pullback])
    except OutOfSight:
        raise cannot("a rule has something whose state is out of sight") from None
    kept = notes.found

    def put_back() -> None:
        for x, content, put in kept:
            put(x, content)

    return put_back


class BatchedReverseCalls(Rowwise, ReverseCalls):
    """The dynamic calls of reverse mode with batches."""

    def __init__(self, engine: EngineView) -> None:
        self._made: dict[int, BatchedReverseRow] = {}
        super().__init__(engine)

    def row(self, row: Any) -> Any:
        if row is SLOW or type(row) is BatchedReverseRow:
            return row
        found = self._made.get(id(row))
        if found is None or found._row is not row:
            found = self._made[id(row)] = BatchedReverseRow(row)
        return found


def batched_reverse_support(support: Support) -> Support:
    """`support` with what makes shadows out of nothing made to make batches."""
    from adbc.tangents import array_batch_tangents  # it imports NumPy

    times = array_batch_tangents.times
    return dataclasses.replace(
        support,
        rule=lambda row: BatchedReverseRow(row).rrule,
        fresh_shadow=fresh_shadow,
        strong=Strong(times, times, multiply, divide, support.strong.quiet),
        values=False,
    )
