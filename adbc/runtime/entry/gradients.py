"""Gradients as users hold them: callables that can be copied and pickled, by their function and options.

What rules have been derived is not part of them: it belongs to the engine of a process, so that a gradient
that arrives in another process derives its rules there.
"""

from __future__ import annotations

import functools
import sys
import types
from collections.abc import Callable, Sequence
from typing import Any

from adbc.runtime.calls.nested import FOLLOWED
from adbc.runtime.entry.reverse import value_and_gradient_of
from adbc.runtime.entry.selection import Selector, selectors
from adbc.runtime.report.tracebacks import leave
from adbc.runtime.state.engine import EngineView
from adbc.tangents.protocol import register_tangent

__all__ = ["Gradient", "ValueAndGradient"]

Argnums = Selector | Sequence[Selector]
_DESCRIBED = ("__module__", "__name__", "__qualname__", "__doc__")


class ValueAndGradient:
    """A function that gives the value of another and its gradient: what `adbc.value_and_grad` returns.

    It has the name and the documentation of the function, `inspect.signature` shows the parameters of that,
    and in a class it becomes a method as a function does.
    """

    # A slot rather than a method: what is called is the function in it, without a frame in between.
    __slots__ = (
        "__call__", "__dict__", "__weakref__", "_argnums", "_chosen", "_engine_in_use", "_function",
        "_has_aux", "_single",
    )  # fmt: skip

    __call__: Callable[..., Any]

    def __init__(
        self,
        function: Callable[..., Any],
        argnums: Argnums,
        has_aux: bool,
        engine_in_use: Callable[[], EngineView],
    ) -> None:
        self._function, self._argnums, self._has_aux = function, argnums, has_aux
        self._chosen = selectors(argnums)
        self._single = isinstance(argnums, str) or not isinstance(argnums, Sequence)
        self._engine_in_use = engine_in_use
        functools.update_wrapper(self, function, assigned=_DESCRIBED, updated=())
        self.__call__ = self._made()

    def _made(self) -> Callable[..., Any]:
        """What is called."""
        return value_and_gradient_of(self._function, self._argnums, self._has_aux, self._engine_in_use)

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        return self if instance is None else types.MethodType(self, instance)

    def __repr__(self) -> str:
        name = getattr(self._function, "__qualname__", None) or repr(self._function)
        return f"<{self._what} of {name}>"

    _what = "value and gradient"
    _gives_value = True

    def __reduce__(self) -> str | tuple[Any, ...]:
        name = self._global_name()
        if name is not None:
            return name
        return type(self), (self._function, self._argnums, self._has_aux, self._engine_in_use)

    def _global_name(self) -> str | None:
        """The name by which its module has this very object, in the place of the function."""
        found: Any = sys.modules.get(getattr(self, "__module__", None) or "")
        name: str | None = getattr(self, "__qualname__", None)
        if found is None or name is None:
            return None
        for part in name.split("."):
            found = getattr(found, part, None)
        return name if found is self else None


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
