"""Gradients for which everything was built ahead: what `adbc.prepare` returns.

A prepared gradient is a gradient like any other, with a shorter way in for arguments of the types of the
example: it looks at the way that was found then, and nothing else.  Other arguments take the way of any
gradient.
"""

from __future__ import annotations

import copy
import types
from collections.abc import Callable
from typing import Any

from adbc.errors import ArgumentError
from adbc.runtime.calls.nested import FOLLOWED, LEAVING
from adbc.runtime.entry.gradients import Argnums, Gradient, ValueAndGradient
from adbc.runtime.entry.reverse import Entrance, learnt, short
from adbc.runtime.report.tracebacks import leave
from adbc.runtime.state.engine import EngineView
from adbc.tangents.protocol import register_tangent

__all__ = ["PreparedGradient", "PreparedValueAndGradient"]

_MOST_CALLS = 8
"""How often the function is called ahead at most: code is written in the third call, and what that calls may
need another."""


class _Ways:
    """The ways in that a prepared gradient knows."""

    __slots__ = ("entrance",)

    def __init__(self) -> None:
        self.entrance: Entrance | None = None

    def prepare(self, both: ValueAndGradient, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Call the gradient `both` with copies of these arguments until nothing is built any more."""
        engine: Any = both._engine_in_use()
        idle = 0
        for _ in range(_MOST_CALLS):
            before = engine.builds
            both.__call__(*_copies(args), **_copies(kwargs))
            idle = idle + 1 if engine.builds == before else 0
            if idle == 2:
                break
        f, chosen = both._function, both._chosen
        is_simple = type(f) is types.FunctionType and all(isinstance(i, int) for i in chosen)
        if is_simple and not kwargs and not both._has_aux:
            self.entrance = learnt(engine, f, chosen, _copies(args))  # type: ignore[arg-type]  # all are ints

    def call(self, of: ValueAndGradient, general: Callable[..., Any]) -> Callable[..., Any]:
        """What the gradient `of` is called as: by a way that is known, or as `general`."""
        f: Any = of._function
        engine_in_use, single, gives_value = of._engine_in_use, of._single, of._gives_value

        def prepared(*args: Any, **kwargs: Any) -> Any:
            entrance = self.entrance
            if entrance is None or kwargs:
                return general(*args, **kwargs)
            way = entrance.latest
            try:
                engine = engine_in_use()
                if way is not None and way.is_short and engine.native is None:  # noqa: SIM102  # the quick questions first
                    if way.is_for(args) and way.is_good(engine, f):
                        answer = short(engine, way, f, args)
                        if answer is not None:
                            found = answer[1][0] if single else answer[1]
                            return (answer[0], found) if gives_value else found
            except BaseException as error:  # any exception of the user's is passed on
                leave(error)
                raise
            return general(*args)

        return prepared


class PreparedValueAndGradient(ValueAndGradient):
    """What gives the value of a function and its gradient, by the `ways` that were found ahead."""

    __slots__ = ("_ways",)
    _what = "prepared value and gradient"

    def __init__(
        self,
        function: Callable[..., Any],
        argnums: Argnums,
        has_aux: bool,
        engine_in_use: Callable[[], EngineView],
        ways: _Ways | None = None,
    ) -> None:
        self._ways = _Ways() if ways is None else ways
        super().__init__(function, argnums, has_aux, engine_in_use)

    def _made(self) -> Callable[..., Any]:
        return self._ways.call(self, super()._made())


class PreparedGradient(Gradient):
    """What gives the gradient of a function, with everything built ahead for arguments like `args` and
    `kwargs`; `value_and_grad` gives the value, too.  A copy in another process finds its ways in its first
    calls.
    """

    __slots__ = ("_ways", "value_and_grad")
    _what = "prepared gradient"

    def __init__(
        self,
        function: Callable[..., Any],
        argnums: Argnums,
        has_aux: bool,
        engine_in_use: Callable[[], EngineView],
        args: tuple[Any, ...] | None = None,
        kwargs: dict[str, Any] | None = None,
    ) -> None:
        self._ways = _Ways()
        self.value_and_grad = PreparedValueAndGradient(function, argnums, has_aux, engine_in_use, self._ways)
        super().__init__(function, argnums, has_aux, engine_in_use)
        if args is not None:
            self._ways.prepare(self.value_and_grad, args, kwargs or {})

    def _made(self) -> Callable[..., Any]:
        return self._ways.call(self, super()._made())


def _copies(given: Any) -> Any:
    """Copies of example arguments, in which one object is one object."""
    try:
        return copy.deepcopy(given)
    except TypeError as error:  # what `copy` raises for files, locks, generators
        raise ArgumentError(
            f"the example arguments of adbc.prepare cannot be copied ({error}), and the function is called"
            " with them: use adbc.grad, which does the same in its first calls"
        ) from error


for _class in (PreparedValueAndGradient, PreparedGradient):
    register_tangent(_class, None)
    FOLLOWED[_class] = FOLLOWED[Gradient]
    LEAVING.add(_class)
