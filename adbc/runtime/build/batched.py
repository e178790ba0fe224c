"""Forward mode in batches: what an engine for batches has in place of rules, helpers and calls.

The code that is written is that of one tangent.  A batch is a value with the operators of a tangent, so it
runs with N of them; only what makes tangents out of nothing has to know that there are N, and the forward
rules of the table are called through `BatchedRow`, which has them give batches.
"""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

from adbc.chainrules.registry import Rank
from adbc.errors import BatchError
from adbc.forward.support import ForwardSupport
from adbc.passes.derived.strong_zeros import Strong
from adbc.rules.effects import WRITES
from adbc.rules.kinds import RowKind
from adbc.rules.table import NO_KWARGS, Rule
from adbc.runtime.build.watched import Rowwise
from adbc.runtime.calls.classes import SLOW
from adbc.runtime.calls.forward import ForwardCalls
from adbc.runtime.state.batches import CANNOT, by_lanes, fresh, fresh_array, is_batched, lane_by_lane, spread
from adbc.runtime.state.engine import EngineView
from adbc.tangents import divide, multiply
from adbc.tangents.protocol import kind_of

__all__ = ["BatchedForwardCalls", "BatchedRow", "batched_support"]


class BatchedRow:
    """A row whose forward rule takes and gives batches.

    The formulas of a row are linear in the tangent and have no effects: where one of them cannot be computed
    for all lanes at once, it is computed for each, and the function itself is called once.  A rule as a whole
    is called with batches if it is adbc's own, and for each lane if it cannot take them and has no effects;
    one that a user has declared is called for each lane.
    """

    def __init__(self, row: Rule) -> None:
        self._row = row
        if row.kind is RowKind.PER_MODE:
            row = row.of("forward")  # type: ignore[attr-defined]  # of such a row
        formulas, view = getattr(row, "jvp", None), getattr(row, "view", None)
        if type(formulas) is tuple or callable(view):
            row = copy.copy(row)
        if type(formulas) is tuple:
            row.jvp = tuple([f if f is None else lane_by_lane(f) for f in formulas])  # type: ignore[attr-defined]  # it has
        if callable(view):
            row.view = lane_by_lane(view)  # type: ignore[attr-defined]  # it has
        self._rule: Callable[..., Any] = row.frule
        self._is_zero = row.kind is RowKind.ZERO
        self._is_foreign = row.origin.rank is not Rank.BUILT_IN and row.kind in _WHOLE
        self._is_of_arrays = type(row).__module__.startswith(("adbc.rules.numpy", "adbc.rules.scipy"))

    def frule(self, args: Sequence[Any], dargs: Sequence[Any], kwargs: Any = NO_KWARGS, *out: Any) -> Any:
        if self._is_zero:
            made, tangent = self._rule(args, dargs, kwargs, *out)
            if tangent is None or is_batched(tangent) or any(tangent is d for d in dargs):
                return made, tangent  # of what was written to
            return made, fresh(made)
        if self._is_foreign:
            return by_lanes(self._rule, args, dargs, kwargs, out, may_change=True)
        try:
            made, tangent = self._rule(args, dargs, kwargs, *out)
        except CANNOT as error:
            if not self._is_repeatable(args, kwargs):
                if self._is_of_arrays and not isinstance(error, BatchError) and any(map(is_batched, dargs)):
                    raise BatchError(
                        f"{self._row!r} cannot be done with a batch of tangents ({error})",
                        "it changes its arguments, so that it is not tried again for each lane",
                        "take the tangents one by one: adbc.jvp(f, primals, tangents) without width",
                    ) from error  # and no handler of the user's takes it for an error of the function
                raise
            return by_lanes(self._rule, args, dargs, kwargs, out, may_change=False)
        return made, spread(made, tangent)

    def _is_repeatable(self, args: Sequence[Any], kwargs: Any) -> bool:
        """Whether a call of the rule can be made once more: the row says that it has changed nothing."""
        row, names = self._row, tuple(kwargs)
        count = len(args) + len(names)
        if row.is_pure(count, names):
            return True
        if row.mutates or row.kind not in (RowKind.PURE, RowKind.PRIMITIVE):
            return False
        given = (*args, *kwargs.values())
        uses = row.uses(count, names)
        return not any(use & WRITES and kind_of(type(x)).address for x, use in zip(given, uses, strict=False))

    def at_site(self) -> Any:
        return BatchedRow(self._row.at_site())

    def __getattr__(self, name: str) -> Any:
        return getattr(self._row, name)


class BatchedForwardCalls(Rowwise, ForwardCalls):
    """The dynamic calls of forward mode with batches."""

    def __init__(self, engine: EngineView) -> None:
        self._made: dict[int, BatchedRow] = {}
        super().__init__(engine)

    def row(self, row: Any) -> Any:
        if row is SLOW or type(row) is BatchedRow:
            return row
        found = self._made.get(id(row))
        if found is None or found._row is not row:
            found = self._made[id(row)] = BatchedRow(row)
        return found


_WHOLE = (RowKind.PRIMITIVE, RowKind.PURE)


def batched_support(support: ForwardSupport) -> ForwardSupport:
    """`support` with what makes tangents out of nothing made to make batches."""
    from adbc.tangents import array_batch_tangents  # it imports NumPy

    times = array_batch_tangents.times
    strong = Strong(times, times, multiply, divide, support.strong.quiet)
    return dataclasses.replace(
        support,
        rule=lambda row: BatchedRow(row).frule,
        fresh_tangent=fresh,
        fill_array=fresh_array,
        strong=strong,
        formula=lane_by_lane,
        own_array=array_batch_tangents.own_array,
    )
