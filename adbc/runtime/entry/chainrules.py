"""The engine as rules of `adbc.chainrules` see it: what derives a function that they are given.

`frule.from_ad`, `rrule.from_ad` and rules that require a config come here.  Tangents go in and out in the
form of these rules; a pullback may run any number of times, as theirs may.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from adbc import chainrules as cr
from adbc.rules.adopted import add_natural, engine_tangent, natural_tangent, refuse_shared
from adbc.runtime.entry.boxed import DerivedFRule, DerivedRule
from adbc.runtime.entry.results import kept
from adbc.runtime.entry.reusable import Unchanged
from adbc.runtime.entry.signature import Signature
from adbc.runtime.state.engine import EngineView
from adbc.tangents import (
    NO_TANGENT,
    CoDual,
    Dual,
    fdata,
    fill_tangent,
    rdata,
    slot_increment,
    slot_shadow,
    tangent,
    zero_tangent,
)

__all__ = ["EngineConfig"]


class EngineConfig(cr.RuleConfig):
    """A `RuleConfig` that derives what it is asked for, with the engine that `engine` gives."""

    abilities = frozenset({"forward", "reverse"})

    def __init__(self, engine: Callable[[], EngineView]) -> None:
        self._engine = engine

    def frule_via_ad(
        self, tangents: tuple[Any, ...], f: Callable[..., Any], *args: Any, **kwargs: Any
    ) -> tuple[Any, Any]:
        if len(tangents) != 1 + len(args):
            raise TypeError(f"{len(tangents)} tangents for a function and {len(args)} arguments")
        args = tuple(_as_number(x, t) for x, t in zip(args, tangents[1:], strict=True))
        values = (f, *args)
        rule = DerivedFRule(self._engine, Signature.of(f, *args, **kwargs))
        given = [Dual(x, _direction(x, t)) for x, t in zip(values, tangents, strict=True)]
        by_name = {name: Dual(x, zero_tangent(x)) for name, x in kwargs.items()}
        out = rule(*given, **by_name)
        return out.primal, natural_tangent(out.primal, out.tangent)

    def rrule_via_ad(
        self, f: Callable[..., Any], *args: Any, **kwargs: Any
    ) -> tuple[Any, Callable[[Any], tuple[Any, ...]]]:
        values = (f, *args)
        unchanged = Unchanged(values)
        rule = DerivedRule(self._engine, Signature.of(f, *args, **kwargs))
        waiting = [_Run(rule, values, kwargs)]

        def derived_pullback(cotangent: Any) -> tuple[Any, ...]:
            if waiting:
                return waiting.pop().back(cotangent)
            unchanged.check()
            return _Run(rule, values, kwargs).back(cotangent)

        return kept(waiting[0].out), derived_pullback


def _as_number(x: Any, t: Any) -> Any:
    """The float that an int stands for if its tangent is a number, which says that it is no count."""
    return float(x) if type(x) is int and isinstance(t, int | float) else x


def _direction(x: Any, t: Any) -> Any:
    """The tangent of `x` for forward mode, from what a rule gives."""
    refuse_shared(x, f"an argument, a {type(x).__name__},")
    found = engine_tangent(x, t)
    if found is None:
        return zero_tangent(x)
    if type(x) is float:
        return float(found)
    return found


class _Run:
    """A call of the reverse rule, whose pullback has not run yet."""

    def __init__(self, rule: DerivedRule, values: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        for x in values:
            refuse_shared(x, f"an argument, a {type(x).__name__},")
        self.values = values
        self.shadows = [fdata(zero_tangent(x)) for x in values]
        boxes = [CoDual(x, f) for x, f in zip(values, self.shadows, strict=True)]
        by_name = {name: CoDual(x, fdata(zero_tangent(x))) for name, x in kwargs.items()}
        self.takes_names = bool(by_name)
        result, self.pullback = rule(*boxes, **by_name)
        self.out, self.fout = result.primal, result.fdata

    def back(self, cotangent: Any) -> tuple[Any, ...]:
        """The cotangents of the function and of the arguments by position."""
        whole = tangent(self.fout, rdata(zero_tangent(self.out)))
        added = add_natural(slot_shadow(whole), self.out, cotangent)
        whole = slot_increment(whole, added)
        found = self.pullback(rdata(whole))
        if self.takes_names:
            found = found[:-1]
        whole_tangents = [tangent(f, r) for f, r in zip(self.shadows, found, strict=True)]
        return tuple(
            NO_TANGENT if zero_tangent(x) is NO_TANGENT else natural_tangent(x, fill_tangent(x, t))
            for x, t in zip(self.values, whole_tangents, strict=True)
        )
