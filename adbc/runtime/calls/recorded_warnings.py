"""Warnings that are recorded while a derivative is taken.

``warnings.catch_warnings(record=True)`` gives a list, and whoever warns appends to it: C code that no rule
sees, NumPy in the middle of a formula.  The list has a shadow, which must not be left behind; so what is
called with each warning is not the method of the list, but one that appends to both.
"""

from __future__ import annotations

import warnings
import weakref
from collections.abc import Callable
from typing import Any

from adbc.errors import UnsupportedError
from adbc.runtime.calls.changes import Undo
from adbc.runtime.state.context import Context
from adbc.tangents import register_tangent

__all__ = ["keep_in_step", "recorded"]

_METHOD = "_showwarnmsg_impl"
"""What `warnings` calls with each warning that is to be shown, where nobody has replaced ``showwarning``."""


class _Recorder:
    """Appends warnings to `log`, and their tangents to `shadow`."""

    def __init__(self, context: Context, log: list[Any], shadow: list[Any]) -> None:
        self.context = weakref.ref(context)  # `warnings` is looked through, and a context leads to everything
        self.log = log
        self.shadow = shadow
        self.count = len(log)
        """How long `log` is, if nobody else has changed it."""
        self.is_sure = context.is_forward
        """Whether nothing is undone later, or what undoes it takes the warning out as well."""

    def append(self, warning: Any) -> None:
        context = self.context()
        if context is not None and len(self.log) != self.count and not self.is_sure:
            raise UnsupportedError(
                "a list of recorded warnings was changed, and C code warns again",
                "what it appends is not taken out when the change is undone",
                "change a copy of the list",
            )
        self.log.append(warning)
        if context is not None:
            self.shadow.append(context.shadows.found(warning))
        self.count = len(self.log)


register_tangent(_Recorder, None)  # who walks through what the module `warnings` has stops there


def recorded(context: Context, call: Callable[[], tuple[Any, Undo | None]]) -> tuple[Any, Undo | None]:
    """Make `call`, of code that is not followed and may warn; its result, and what undoes it, with the
    warnings that were recorded."""
    log = _log()
    if type(log) is list:  # from before the derivative, if it is met here first
        context.logs.setdefault(id(log), log)
    recorder = log if type(log) is _Recorder and not log.is_sure else None
    count = 0 if recorder is None else len(recorder.log)
    if recorder is not None:
        recorder.is_sure = True
    try:
        out, undo = call()
    finally:
        if recorder is not None:
            recorder.is_sure = False
    if recorder is None or len(recorder.log) == count:
        return out, undo

    def undo_all() -> None:
        if undo is not None:
            undo()
        del recorder.log[count:], recorder.shadow[count:]

    return out, undo_all


def keep_in_step(context: Context) -> None:
    """Let the shadow of the list in which warnings are recorded grow with it, if that was begun by the call
    that was just `recorded`."""
    log = _log()
    if type(log) is list and id(log) not in context.logs:
        shadow = context.shadows.lookup(log)
        if type(shadow) is list and len(shadow) == len(log):
            setattr(warnings, _METHOD, _Recorder(context, log, shadow).append)


def _log() -> Any:
    """The list in which warnings are recorded, or its recorder."""
    return getattr(getattr(warnings, _METHOD, None), "__self__", None)
