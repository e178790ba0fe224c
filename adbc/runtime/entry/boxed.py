"""Derived rules as users hold them: callables on `Dual` and `CoDual`.

Inside, primals and shadows travel separately and None stands for zero; here the public convention
holds: every value comes with its fdata, rdata comes back for the function and every argument, and
what has no derivative says so with `NoFData()` and `NoRData()`.
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from adbc.errors import InvalidTangentError, PullbackConsumedError
from adbc.functions import is_function
from adbc.rules.kinds import RowKind
from adbc.runtime.calls.plans import Mode
from adbc.runtime.entry.entering import enter, go_back
from adbc.runtime.entry.selection import by_position
from adbc.runtime.entry.signature import Signature
from adbc.runtime.state.context import Context
from adbc.runtime.state.engine import EngineView
from adbc.tangents import (
    NO_TANGENT,
    CoDual,
    Dual,
    external_fdata,
    external_rdata,
    internal_fdata,
    internal_rdata,
    project,
    zero_tangent,
)
from adbc.tangents.fit import as_numbers, fdata_misfit, misfit, rdata_misfit
from adbc.tangents.protocol import kind_of
from adbc.types import class_of, has_cotangent, has_shadow

__all__ = ["DerivedFRule", "DerivedRule", "Pullback", "check_fit"]


class Pullback:
    """The reverse pass of one call: ``pullback(rdata) -> (rdata of f, rdata of x, ...)``.

    What was given by keyword has its rdata in a dict by name, which comes last.

    It restores what the call changed, adds to the fdata of the arguments, and runs once: a second
    run raises `PullbackConsumedError`.
    """

    __slots__ = ("_inner", "_names", "_out", "_primals")

    def __init__(self, inner: Any, primals: Sequence[Any], names: Sequence[str], out: Any) -> None:
        self._inner = inner
        self._primals = primals
        self._names = names
        self._out = out

    def __call__(self, rdata: Any) -> tuple[Any, ...]:
        inner = self._inner
        if inner is None:
            raise PullbackConsumedError(
                "this pullback has been run already; the values it needs are gone. Call the rule again for"
                " another one."
            )
        problem = rdata_misfit(self._out, rdata)
        if problem is not None:
            raise InvalidTangentError(f"this is not rdata of the value of {self._name()}: {problem}")
        self._inner = None
        returned = go_back(inner, as_numbers(self._out, internal_rdata(rdata)))
        found = tuple(
            external_rdata(r if r is None else project(r, x), x)
            for r, x in zip(returned, self._primals, strict=True)
        )
        if not self._names:
            return found
        first = len(found) - len(self._names)
        return (*found[:first], dict(zip(self._names, found[first:], strict=True)))

    def __repr__(self) -> str:
        return f"<pullback of {self._name()}>"

    def _name(self) -> str:
        return str(getattr(self._primals[0], "__qualname__", self._primals[0]))


class _Rule:
    """A derived rule of one mode: what is given is checked, and arrives with one memo for all of it."""

    mode: Mode
    kind: type[Dual] | type[CoDual]
    part: str
    """What a dual holds beside the primal."""

    def __init__(self, engine_in_use: Callable[[], EngineView], signature: Signature) -> None:
        self.engine = engine = engine_in_use()
        self.signature = signature
        self._made: tuple[Any, ...] = type(self), (engine_in_use, signature)
        function = signature.function
        if is_function(function) and not engine.table.rows(function):
            code = function.__code__
            is_known = code.co_argcount == len(signature.types) and not (
                code.co_kwonlyargcount or signature.keywords
            )
            if is_known and not code.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS):
                # It is known what will be called: it is built now, and errors are raised now.
                active = [has_shadow(t) or has_cotangent(t) for t in signature.types]
                engine.entry(function, signature.types, active, self.mode).build(at_once=True)

    @property
    def _function(self) -> Any:
        """What the rule is of, as a gradient has it too."""
        return self.signature.function

    @property
    def is_primitive(self) -> bool:
        """Whether the rule table has the rule, so that nothing was derived."""
        classes: tuple[Any, ...] = tuple(map(class_of, self.signature.types))
        row: Any = self.engine.table.find(self.signature.function, classes)
        if row is not None and row.kind is RowKind.PER_MODE:
            return bool(row.of(self.mode).kind is not RowKind.OVERLAY)
        return row is not None

    def __reduce__(self) -> tuple[Any, ...]:
        return self._made

    def _given(self, duals: tuple[Any, ...], named: dict[str, Any]) -> tuple[tuple[Any, ...], list[Any]]:
        """The duals of the function and of its arguments, those by keyword last, and their primals, if as
        many have come as the signature says."""
        if named and not self.signature.keywords:  # what is given by name has its type by position
            others, named = by_position(self.signature.function, duals[1:], named)
            duals = (*duals[:1], *others)
        for dual in (*duals, *named.values()):
            _check_class(dual, self.kind, self.part)
        _check_arity(self.signature, duals, named)
        every = (*duals, *[named[k] for k, _ in self.signature.keywords])
        return every, [dual.primal for dual in every]

    def _enter(
        self, context: Context, call: Callable[..., Any], primals: Sequence[Any], companions: Sequence[Any]
    ) -> Any:
        """What `call` gives for the function and its arguments with their shadows or tangents."""
        names = tuple([k for k, _ in self.signature.keywords])
        if self.engine.stale:
            self.engine.refresh()
        for x, companion in zip(primals, companions, strict=True):
            context.shadows.adopt(x, companion)
        _hold_constants(context, primals[1:], companions[1:])
        return enter(
            call, context, names, primals[0], companions[0], tuple(primals[1:]), tuple(companions[1:])
        )

    def __repr__(self) -> str:
        return f"<derived {self.mode} rule of {self.signature}>"


class DerivedRule(_Rule):
    """A derived reverse rule: ``rule(CoDual(f, ff), CoDual(x, fx), ..., y=CoDual(y, fy)) -> (CoDual,
    pullback)``."""

    mode = "reverse"
    kind = CoDual
    part = "fdata"

    def __call__(self, *positional: CoDual, **named: CoDual) -> tuple[CoDual, Pullback]:
        duals, primals = self._given(positional, named)
        for i, dual in enumerate(duals):
            check_fit(self.signature, i, dual, fdata_misfit(dual.primal, dual.fdata))
        shadows = [internal_fdata(d.fdata, d.primal) for d in duals]
        context = Context()
        out, fout, pullback = self._enter(context, self.engine.reverse_calls.call, primals, shadows)
        names = [k for k, _ in self.signature.keywords]
        back = context.backwards(pullback)
        return CoDual(out, external_fdata(fout, out)), Pullback(back, primals, names, out)


class DerivedFRule(_Rule):
    """A derived forward rule: ``rule(Dual(f, df), Dual(x, dx), ..., y=Dual(y, dy)) -> Dual``."""

    mode = "forward"
    kind = Dual
    part = "tangent"

    def __init__(
        self, engine_in_use: Callable[[], EngineView], signature: Signature, width: int | None = None
    ) -> None:
        self.width = width
        super().__init__(engine_in_use if width is None else lambda: engine_in_use().batched, signature)
        self._made = type(self), (engine_in_use, signature, width)

    def __call__(self, *positional: Dual, **named: Dual) -> Dual:
        duals, primals = self._given(positional, named)
        if self.width is not None:
            from adbc.runtime.entry.batches import rule_call  # it imports NumPy

            return rule_call(self.engine, duals, tuple([k for k, _ in self.signature.keywords]), self.width)
        for i, dual in enumerate(duals):
            if dual.tangent is not NO_TANGENT:
                check_fit(self.signature, i, dual, misfit(dual.primal, dual.tangent))
        tangents = [None if d.tangent is NO_TANGENT else as_numbers(d.primal, d.tangent) for d in duals]
        context = Context()
        context.is_forward = True
        out, dout = self._enter(context, self.engine.forward_calls.call, primals, tangents)
        return Dual(out, zero_tangent(out) if dout is None else as_numbers(out, dout))


def _check_class(dual: Any, kind: type[Dual] | type[CoDual], part: str) -> None:
    if type(dual) is not kind:
        raise InvalidTangentError(
            f"a derived rule is called with {kind.__name__}(primal, {part}) for the function and each"
            f" argument, not {type(dual).__name__}"
        )


def check_fit(signature: Signature, i: int, dual: Any, problem: str | None) -> None:
    """Raise what a rule does that is given `dual` as its part `i`, if there is a `problem` with that."""
    if problem is not None:
        what = f"argument {i - 1}" if i else "the function"
        raise InvalidTangentError(
            f"the {type(dual).__name__} of {what} of the rule of {signature} does not hold together:"
            f" {problem}"
        )


def _hold_constants(context: Context, primals: Sequence[Any], shadows: Sequence[Any]) -> None:
    """An object that came without a derivative is a constant, by whatever name it is met."""
    for x, shadow in zip(primals, shadows, strict=True):
        if shadow is None and type(x) is not types.FunctionType and kind_of(type(x)).address:
            context.shadows.hold_constant(x)


def _check_arity(signature: Signature, duals: Sequence[Any], named: Mapping[str, Any]) -> None:
    names = [k for k, _ in signature.keywords]
    if named.keys() != set(names):
        raise InvalidTangentError(
            f"the rule of {signature} takes duals by the keywords {names}, not {list(named)}"
        )
    if len(duals) != len(signature.types) + 1:
        raise InvalidTangentError(
            f"the rule of {signature} takes {len(signature.types) + 1} duals (the function's first),"
            f" not {len(duals)}"
        )
