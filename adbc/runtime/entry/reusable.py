"""Pullbacks that may run again: the function is run again for each, on arguments that are as they were.

The records of a call are used up by its pullback, which restores the arguments: so the state before the call
is there again, and the function can be run from it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from adbc.runtime.entry.reverse import value_and_pullback
from adbc.runtime.report.tracebacks import leave
from adbc.runtime.state.engine import EngineView
from adbc.tangents.contents import contents, differs
from adbc.tangents.protocol import kind_of

__all__ = ["Unchanged", "value_and_reusable_pullback"]


class Unchanged:
    """What `values` hold now, to see later whether they still do."""

    def __init__(self, values: Sequence[Any]) -> None:
        self._before = list(contents([x for x in values if kind_of(type(x)).address]))

    def check(self) -> None:
        """Raise `ValueError` if something has been changed."""
        if any(differs(x, old) for x, old in self._before):
            raise ValueError(
                "a pullback runs again after an argument has been changed: it runs the function again, which"
                " would be differentiated where it was not called"
            )


def value_and_reusable_pullback(
    engine: Callable[[], EngineView], f: Callable[..., Any], primals: tuple[Any, ...], has_aux: bool
) -> tuple[Any, ...]:
    """What `value_and_pullback` gives, with a pullback that may run any number of times."""
    unchanged = Unchanged((f, *primals))
    value, first, *aux = value_and_pullback(engine(), f, primals, has_aux)
    waiting = [first]

    def pullback(cotangent: Any) -> tuple[Any, ...]:
        if waiting:
            result: tuple[Any, ...] = waiting[0](cotangent)  # a cotangent that does not fit leaves it waiting
            waiting.clear()
            return result
        try:
            unchanged.check()
            result = value_and_pullback(engine(), f, primals, has_aux)[1](cotangent)
        except BaseException as error:  # any exception of the user's is passed on
            leave(error)
            raise
        return result

    return (value, pullback, *aux)
