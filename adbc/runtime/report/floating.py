"""NumPy's errors of floating-point numbers, while something is differentiated.

In forward mode the arithmetic of derivatives stands between that of the function.  Where a partial derivative
is infinite, or zero times infinity is computed, NumPy would warn, and raise if it was told to, of what the
function has never computed.  So while a derivative is computed NumPy tells a listener instead, which looks
at the frames: what the function computes itself is said as it would have been, about the line of the user's,
and the rest is not.  Nothing is looked at until there is something to be said.
"""

from __future__ import annotations

import functools
import itertools
import sys
import types
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from adbc.cpython.names import names_on_lines
from adbc.records import record
from adbc.rules.quick import QUICK
from adbc.runtime.report.frames import is_derived, is_ours
from adbc.runtime.report.standing import called_by_user

__all__ = ["Hearing", "Listener"]

_KINDS = {"divide by zero": "divide", "overflow": "over", "underflow": "under", "invalid value": "invalid"}
"""NumPy's words for what happened, and the names of its settings."""

_HEARD = ("raise", "warn")
"""The settings in place of which a listener is told.  What is printed, or told to a function or an object of
the user's, may be of the derivative, too."""

_PREFIX = "Warning: "

_PRIMAL = {"function", "perform"}
"""The names by which code of adbc's knows what the user's function calls: on a line with one of them the
value is computed, on the others derivatives."""


class Listener:
    """What NumPy tells of errors of floating-point numbers, as an object with `write`, which NumPy calls with
    a line of text.  ways: by setting, how the user wants to hear of it."""

    __slots__ = ("ways",)

    def __init__(self, ways: dict[str, str]) -> None:
        self.ways = ways

    def write(self, text: str) -> None:
        """Say what `text` says, if it is of the function's own arithmetic.

        Raises `FloatingPointError` where the user has asked for that, and what a filter makes of the warning.
        """
        if _is_of_derivative(sys._getframe(1)):
            return
        message = text.removeprefix(_PREFIX).rstrip("\n")
        kind = next(name for words, name in _KINDS.items() if message.startswith(words))
        if self.ways[kind] == "raise":
            raise FloatingPointError(message)
        called_by_user(functools.partial(warnings.warn, message, RuntimeWarning))


def _is_of_derivative(frame: types.FrameType | None) -> bool:
    """Whether what runs in `frame` computes a derivative.

    The innermost code around it that adbc has written, or that is its own, says so, and so may whatever code
    it has written further out: a formula that an outer derivative differentiates is of an inner one.
    """
    is_known = False
    while frame is not None:
        code = frame.f_code
        if is_derived(code):
            if _stands_beside(code, frame.f_lasti):
                return True
            is_known = True
        elif not is_known and is_ours(code):
            if code not in QUICK and _PRIMAL.isdisjoint(names_on_lines(code).get(frame.f_lineno, ())):
                return True
            is_known = True
        frame = frame.f_back
    return False


def _column(code: types.CodeType, at: int) -> int | None:
    _, _, column, _ = next(itertools.islice(code.co_positions(), at // 2, None))
    return column


def _stands_beside(code: types.CodeType, at: int) -> bool:
    """Whether the instruction of derived code at this byte computes a derivative: such instructions have a
    line, and no columns (`derive.places`)."""
    return _HAS_COLUMNS and _column(code, at) is None


_HAS_COLUMNS = _column(_stands_beside.__code__, 2) is not None
"""Whether this process knows of columns (``-X no_debug_ranges``)."""


@record(frozen=True, slots=True)
class _Sets:
    """NumPy's settings that the user has, `plain`, and what is put in their place: `heard` while a derivative
    is computed beside the function, `silent` where nothing but derivatives is computed."""

    plain: Any
    heard: Any
    silent: Any


class Hearing:
    """The way in and out of NumPy's settings for differentiated code.

    NumPy has its settings in one object, so to replace them takes two assignments, once it is known what goes
    with those that are found.
    """

    __slots__ = ("_get", "_set", "_sets")

    def __init__(self) -> None:
        variable = getattr(getattr(getattr(np, "_core", None), "umath", None), "_extobj_contextvar", None)
        if variable is not None:
            self._get, self._set = variable.get, variable.set
        else:
            numpy: Any = np  # the first version has functions for that
            self._get, self._set = numpy.geterrobj, numpy.seterrobj
        self._sets = self._look(self._get())

    def begin(self) -> tuple[Any, _Sets]:
        """Let NumPy tell a `Listener`; returns what `end` is to be given."""
        before = self._get()
        sets = self._found(before)
        self._set(sets.heard)
        return before, sets

    def end(self, found: tuple[Any, _Sets]) -> None:
        """Let the settings be those that were found, or what the function has made of them."""
        before, sets = found
        now = self._get()
        if now != sets.heard:
            after = self._found(now)
            if after.plain != sets.plain:
                before = after.heard if before == sets.heard else after.plain
        self._set(before)

    def silence(self) -> Any:
        """Let NumPy say nothing; returns what `put_back` is to be given."""
        before = self._get()
        self._set(self._found(before).silent)
        return before

    def put_back(self, settings: Any) -> None:
        """Let the settings be these, whatever has become of them."""
        self._set(settings)

    def plainly(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """``function(*args, **kwargs)`` under the user's settings; what it makes of them is heard, too."""
        self._set(self._found(self._get()).plain)
        try:
            return function(*args, **kwargs)
        finally:
            self._set(self._found(self._get()).heard)

    def made(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """What takes the place of the settings that ``function(*args, **kwargs)`` makes of the user's."""
        before = self._get()
        self._set(self._found(before).plain)
        try:
            self._set(function(*args, **kwargs))
            return self._found(self._get()).heard
        finally:
            self._set(before)

    def _found(self, settings: Any) -> _Sets:
        """What goes with `settings`, which are in force."""
        sets = self._sets
        if settings == sets.plain or settings == sets.heard:
            return sets
        self._sets = sets = self._look(settings)
        return sets

    def _look(self, settings: Any) -> _Sets:
        ways: dict[str, Any] = {**np.geterr()}
        call, plain = np.geterrcall(), settings
        if type(call) is Listener:  # code that is run as it is has changed some of the ways
            ways = {kind: call.ways[kind] if way == "log" else way for kind, way in ways.items()}
            plain = self._made(ways, None)
        silent = self._made(dict.fromkeys(ways, "ignore"), None)
        if type(call) is not Listener and call is not None:
            return _Sets(plain, plain, silent)
        heard = {kind: "log" if way in _HEARD else way for kind, way in ways.items()}
        return _Sets(plain, self._made(heard, Listener(ways)), silent)

    def _made(self, ways: Any, call: Any) -> Any:
        with np.errstate(call=call, **ways):
            return self._get()
