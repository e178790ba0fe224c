"""Values with pullbacks: what `adbc.vjp` gives, the first time and every other.

The value may be anything, and the pullback is run later or never.  Apart from that a call is like that of a
gradient by all arguments: what the first call with arguments of their kind has shown leads the next on a
short way (`reverse.Entrance`).
"""

from __future__ import annotations

import types
from collections.abc import Callable, Sequence
from typing import Any

from adbc.errors import PullbackConsumedError
from adbc.runtime.entry.first import FirstCall, Forwards
from adbc.runtime.entry.results import kept, pair, snapshot
from adbc.runtime.entry.reverse import Entrance, Way
from adbc.runtime.entry.shared import kept_entrance
from adbc.runtime.report.tracebacks import leave
from adbc.runtime.state.engine import EngineView

__all__ = ["OpenCall", "value_and_pullback"]


class _Entrance(Entrance):
    """The ways into functions with the same code, of whose value anything is asked: an array may be in it, or
    be seen through it, so that all arrays have shadows."""

    def _prepared(
        self, engine: EngineView, f: Any, args: tuple[Any, ...], key: tuple[Any, ...]
    ) -> Way | None:
        return None


class _KnownCall(Forwards):
    """A forwards pass on a way that was known."""

    def __init__(self, way: Way, args: tuple[Any, ...], entered: Any) -> None:
        self._way, self._args = way, args
        self.out, self.fout, self._pullback, self._shadows, self.context = entered

    def gradients(self, bargs: Sequence[Any]) -> tuple[Any, ...]:
        """The cotangents of the arguments, once the pullback has returned `bargs`."""
        found = self._way.collect(self._shadows, self._args, bargs)
        if self.context.waiting is not None:
            self.context.waiting.check(found)
        return found


def _called(engine: EngineView, f: Any, primals: tuple[Any, ...]) -> FirstCall | _KnownCall:
    """``f(*primals)`` after its forwards pass."""
    if type(f) is not types.FunctionType or engine.table.rows(f):
        return _called_first(engine, f, primals)
    key = "vjp", f.__code__, id(f.__globals__), len(primals)
    entrance: _Entrance | None = engine.entrances.get(key)
    if entrance is None:
        entrance = kept_entrance(engine, key, _Entrance(tuple(range(len(primals)))))
    way = entrance.way(engine, f, primals)
    entered = None if way is None else entrance.enter(engine, way, f, primals)
    if way is not None and entered is not None:
        return _KnownCall(way, primals, entered)
    call = _called_first(engine, f, primals)
    entrance.learn(engine, f, primals, call)
    return call


def _called_first(engine: EngineView, f: Any, primals: tuple[Any, ...]) -> FirstCall:
    return FirstCall(engine, f, primals, {}, tuple(range(len(primals))), strict=False)


class OpenCall:
    """``f(*primals)`` after its forwards pass: `value`, and what takes a cotangent of it to the cotangents of
    the arguments; with `has_aux`, what `f` returns besides its value is in `aux`.

    is_reusable: whether the memory that the pullback changes may be asked for (`FirstCall.memory`).
    """

    def __init__(
        self,
        engine: EngineView,
        f: Callable[..., Any],
        primals: tuple[Any, ...],
        has_aux: bool,
        is_reusable: bool = False,
    ) -> None:
        self.call = (_called_first if is_reusable else _called)(engine, f, primals)
        self.has_aux = has_aux
        self.aux: tuple[Any, ...] = ()
        if has_aux:
            value, aux = pair(f, self.call.out)
            self.value, self.aux = kept(value, primals), (snapshot(f, aux),)
        else:
            self.value = kept(self.call.out, primals)

    def back(self, cotangent: Any, is_checked: bool = False) -> tuple[Any, ...]:
        """The cotangents of the arguments; the shadows of those that have memory are what is returned."""
        if self.has_aux:
            cotangent = cotangent, None
        if not is_checked:
            self.call.check(cotangent)
        return self.call.gradients(self.call.pullback(cotangent))


def value_and_pullback(
    engine: EngineView, f: Callable[..., Any], primals: tuple[Any, ...], has_aux: bool
) -> tuple[Any, ...]:
    """``f(*primals)``, and what takes a cotangent of it to the cotangents of the arguments, once; with
    `has_aux`, what `f` returns besides its value comes last."""
    opened = OpenCall(engine, f, primals, has_aux)

    def pullback(cotangent: Any) -> tuple[Any, ...]:
        if opened.call.done:
            raise PullbackConsumedError(
                "this pullback has been run already; the values it needs are gone."
                " Call adbc.vjp again for another."
            )
        try:
            return opened.back(cotangent)
        except BaseException as error:  # any exception of a rule of the user's is passed on
            leave(error)
            raise

    return (opened.value, pullback, *opened.aux)
