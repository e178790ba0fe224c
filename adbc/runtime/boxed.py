"""Derived rules as users hold them: callables on `Dual` and `CoDual`.

Inside, primals and shadows travel separately and None stands for zero; here the public convention
holds: every value comes with its fdata, rdata comes back for the function and every argument, and
what has no derivative says so with `NoFData()` and `NoRData()`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from adbc.errors import InvalidTangentError, PullbackConsumedError
from adbc.runtime.context import Context
from adbc.runtime.signature import Signature
from adbc.runtime.tracebacks import plain_tracebacks
from adbc.tangents import (
    NO_TANGENT,
    CoDual,
    Dual,
    external_fdata,
    external_rdata,
    fill_tangent,
    internal_fdata,
    internal_rdata,
    project,
)
from adbc.types import class_of

__all__ = ["DerivedFRule", "DerivedRule", "Pullback"]


class Pullback:
    """The reverse pass of one call: ``pullback(rdata) -> (rdata of f, rdata of x, ...)``.

    It restores what the call changed, adds to the fdata of the arguments, and runs once: a second
    run raises `PullbackConsumedError`.
    """

    __slots__ = ("_inner", "_out", "_primals")

    def __init__(self, inner: Any, primals: Sequence[Any], out: Any) -> None:
        self._inner = inner
        self._primals = primals
        self._out = out

    def __call__(self, rdata: Any) -> tuple[Any, ...]:
        inner = self._inner
        if inner is None:
            raise PullbackConsumedError(
                "this pullback has been run already; the values it needs are gone. Call the rule again for"
                " another one."
            )
        self._inner = None
        returned = inner(internal_rdata(rdata))
        return tuple(
            external_rdata(r if r is None else project(r, x), x)
            for r, x in zip(returned, self._primals, strict=True)
        )

    def __repr__(self) -> str:
        return f"<pullback of {getattr(self._primals[0], '__qualname__', self._primals[0])}>"


class DerivedRule:
    """A derived reverse rule: ``rule(CoDual(f, ff), CoDual(x, fx), ...) -> (CoDual, pullback)``."""

    def __init__(self, engine: Any, signature: Signature) -> None:
        self.engine = engine
        self.signature = signature

    @property
    def is_primitive(self) -> bool:
        """Whether the rule table has the rule, so that nothing was derived."""
        classes = tuple(map(class_of, self.signature.types))
        return self.engine.table.find(self.signature.function, classes) is not None

    def __call__(self, *duals: CoDual) -> tuple[CoDual, Pullback]:
        primals = [_primal(d, CoDual, "fdata") for d in duals]
        shadows = [internal_fdata(d.fdata, d.primal) for d in duals]
        _check_arity(self.signature, duals)
        context = Context()
        for x, shadow in zip(primals, shadows, strict=True):
            context.shadows.adopt(x, shadow)
        with plain_tracebacks():
            out, fout, pullback = self.engine.reverse_calls.call(
                context, (), primals[0], shadows[0], tuple(primals[1:]), tuple(shadows[1:])
            )
        return CoDual(out, external_fdata(fout, out)), Pullback(pullback, primals, out)

    def __repr__(self) -> str:
        return f"<derived reverse rule of {self.signature}>"


class DerivedFRule:
    """A derived forward rule: ``rule(Dual(f, df), Dual(x, dx), ...) -> Dual``."""

    def __init__(self, engine: Any, signature: Signature) -> None:
        self.engine = engine
        self.signature = signature

    @property
    def is_primitive(self) -> bool:
        """Whether the rule table has the rule, so that nothing was derived."""
        classes = tuple(map(class_of, self.signature.types))
        return self.engine.table.find(self.signature.function, classes) is not None

    def __call__(self, *duals: Dual) -> Dual:
        primals = [_primal(d, Dual, "tangent") for d in duals]
        tangents = [None if d.tangent is NO_TANGENT else d.tangent for d in duals]
        _check_arity(self.signature, duals)
        context = Context()
        for x, tangent in zip(primals, tangents, strict=True):
            context.shadows.adopt(x, tangent)
        with plain_tracebacks():
            out, dout = self.engine.forward_calls.call(
                context, (), primals[0], tangents[0], tuple(primals[1:]), tuple(tangents[1:])
            )
        return Dual(out, fill_tangent(out, dout))

    def __repr__(self) -> str:
        return f"<derived forward rule of {self.signature}>"


def _primal(dual: Any, kind: type[Dual] | type[CoDual], part: str) -> Any:
    if type(dual) is not kind:
        raise InvalidTangentError(
            f"a derived rule is called with {kind.__name__}(primal, {part}) for the function and each"
            f" argument, not {type(dual).__name__}"
        )
    return dual.primal


def _check_arity(signature: Signature, duals: Sequence[Any]) -> None:
    if len(duals) != len(signature.types) + 1:
        raise InvalidTangentError(
            f"the rule of {signature} takes {len(signature.types) + 1} duals (the function's first),"
            f" not {len(duals)}"
        )
