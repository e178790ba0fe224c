"""Pullbacks that may run again, without another forwards pass where that is possible.

What a pullback changes is noted before its first run and put there again before each further one
(`replaying`).
Where that cannot be said, the function is run again for each: a pullback restores the arguments, so the state
before the call is there again, and the function can be run from it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from adbc.runtime.calls.replaying import Memory
from adbc.runtime.entry.first import FirstCall
from adbc.runtime.entry.pullbacks import OpenCall
from adbc.runtime.report.tracebacks import leave
from adbc.runtime.state.engine import EngineView
from adbc.tangents import scale
from adbc.tangents.contents import contents, differs
from adbc.tangents.internal import ARRAY_FRESH
from adbc.tangents.protocol import kind_of

__all__ = ["ReusablePullback", "Unchanged"]


def _copied(results: tuple[Any, ...]) -> tuple[Any, ...]:
    """A copy of cotangents, in which what shares memory shares it again."""
    arrays = [x for x in results if x.__class__ is not float]
    if len({*map(id, arrays)}) == len(arrays) and all(map(_is_own_array, arrays)):
        return tuple([x if x.__class__ is float else x.copy("K") for x in results])
    return scale(1.0, results)  # type: ignore[no-any-return]


def _is_own_array(x: Any) -> bool:
    """Whether `x` is an array of numbers that owns its memory."""
    cls = type(x)
    return cls in ARRAY_FRESH and x.base is None and x.dtype.kind in "fc"


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


class ReusablePullback:
    """The pullback of ``f(*primals)``, whose forwards pass is run when it is made; it may run any number of
    times.

    value: the value of the call, or of `f` without what it returns besides, which `aux` then holds.
    is_unit: the pullback is given tangents of the value, which need not be looked at.
    check: is called with this value and that of each further run of the function, and may raise.
    """

    def __init__(
        self,
        engine: Callable[[], EngineView],
        f: Callable[..., Any],
        primals: tuple[Any, ...],
        has_aux: bool,
        check: Callable[[Any, Any], object] | None = None,
        is_unit: bool = False,
    ) -> None:
        self._check, self._is_unit = check, is_unit
        self._again = engine, f, primals, has_aux
        self._unchanged = Unchanged((f, *primals))
        self._first = OpenCall(engine(), f, primals, has_aux, is_reusable=True)
        self._memory: Memory | None = None
        self._has_run = False
        self.value, self.aux = self._first.value, self._first.aux

    def keep(self) -> None:
        """Note what a run changes, so that more runs need no other forwards pass."""
        call = self._first.call
        assert isinstance(call, FirstCall)
        self._memory = call.memory()

    def __call__(self, cotangent: Any) -> tuple[Any, ...]:
        result: tuple[Any, ...]
        if not self._has_run:
            result = self._first.back(cotangent)  # a cotangent that does not fit leaves it waiting
            self._has_run = True
            if self._memory is not None:
                result = _copied(result)  # shadows are part of it
                self._memory.settle()
            return result
        try:
            self._unchanged.check()
            if self._memory is not None and not self._memory.is_public():
                self._memory = None
            if self._memory is not None:
                result = self._memory.again(lambda: _copied(self._first.back(cotangent, self._is_unit)))
                return result
            engine, f, primals, has_aux = self._again
            again = OpenCall(engine(), f, primals, has_aux)
            if self._check is not None:
                self._check(self.value, again.value)
            return again.back(cotangent)
        except BaseException as error:  # any exception of the user's is passed on
            leave(error)
            raise
