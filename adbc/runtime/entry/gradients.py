"""Gradients as users hold them: callables that can be copied and pickled, by their function and options.

What rules have been derived is not part of them: it belongs to the engine of a process, so that a gradient
that arrives in another process derives its rules there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from adbc.runtime.calls.nested import FOLLOWED, LEAVING
from adbc.runtime.entry.held import Held
from adbc.runtime.entry.reverse import value_and_gradient_of
from adbc.runtime.entry.selection import Selector, selectors
from adbc.runtime.report.tracebacks import leave
from adbc.runtime.state.engine import EngineView
from adbc.tangents.protocol import register_tangent

__all__ = ["Argnums", "Gradient", "ValueAndGradient"]

Argnums = Selector | Sequence[Selector]


class ValueAndGradient(Held):
    """A function that gives the value of another and its gradient: what `adbc.value_and_grad` returns."""

    # A slot rather than a method: what is called is the function in it, without a frame in between.
    __slots__ = ("__call__", "_argnums", "_chosen", "_engine_in_use", "_has_aux", "_single")

    __call__: Callable[..., Any]

    def __init__(
        self,
        function: Callable[..., Any],
        argnums: Argnums,
        has_aux: bool,
        engine_in_use: Callable[[], EngineView],
    ) -> None:
        super().__init__(function)
        self._argnums, self._has_aux = argnums, has_aux
        self._chosen = selectors(argnums)
        self._single = isinstance(argnums, str) or not isinstance(argnums, Sequence)
        self._engine_in_use = engine_in_use
        self.__call__ = self._made()

    def _made(self) -> Callable[..., Any]:
        """What is called."""
        return value_and_gradient_of(self._function, self._argnums, self._has_aux, self._engine_in_use)

    _what = "value and gradient"
    _gives_value = True

    def _made_of(self) -> tuple[Any, ...]:
        return self._function, self._argnums, self._has_aux, self._engine_in_use


class Gradient(ValueAndGradient):
    """A function that gives the gradient of another: what `adbc.grad` returns."""

    __slots__ = ()

    _what = "gradient"
    _gives_value = False

    def _made(self) -> Callable[..., Any]:
        both = super()._made()
        if self._has_aux:

            def gradient_and_aux(*args: Any, **kwargs: Any) -> Any:
                try:
                    (_, aux), found = both(*args, **kwargs)
                    return found, aux
                except BaseException as error:  # any exception of the user's is passed on
                    leave(error)
                    raise

            return gradient_and_aux

        def gradient(*args: Any, **kwargs: Any) -> Any:
            try:
                return both(*args, **kwargs)[1]
            except BaseException as error:  # any exception of the user's is passed on
                leave(error)
                raise

        return gradient


# What rules they have derived is nobody's memory; that of the function is looked at where they are called.
register_tangent(ValueAndGradient, None)
register_tangent(Gradient, None)


def _follow(calls: Any, context: Any, call: Any) -> Any:
    from adbc.runtime.entry import nested  # few take derivatives of derivatives

    return nested.follow(calls, context, call)


FOLLOWED[ValueAndGradient] = FOLLOWED[Gradient] = _follow
LEAVING.update((ValueAndGradient, Gradient))
