"""The way from the public functions into differentiated code, and out of it by an exception."""

from __future__ import annotations

from collections.abc import Callable
from sys import exception
from typing import Any

from adbc.errors import AdbcError
from adbc.ir import intrinsics
from adbc.runtime.calls.generators import refuse_left_open
from adbc.runtime.report.tracebacks import leave
from adbc.runtime.state.context import Context
from adbc.runtime.state.stack import STACK

__all__ = ["enter"]


def _end(context: Context) -> None:
    """What has to be done when a pass has come to its end."""
    _put_back(context)
    refuse_left_open(context.opened)


def _put_back(context: Context) -> None:
    """Put the recursion limit back, if the pass that ends had it raised."""
    if context.is_raised:
        context.is_raised = False
        STACK.restore()


def enter(call: Callable[..., Any], context: Context, *arguments: Any) -> Any:
    """``call(context, *arguments)``, where `call` is that of an engine.

    The user's exceptions lose the frames of adbc.  A refusal leaves handlers of the user's without ending
    them, and what a thread is handling is its own state, which no ``except`` clause of ours could put back
    (it puts back what it found): so that is done here.
    """
    before = exception()
    try:
        answer = call(context, *arguments)
        if context.has_end:
            _end(context)
        return answer
    except AdbcError as error:
        leave(error)
        refusal = error
        _put_back(context)
    except BaseException as error:  # any exception of the user's is passed on
        leave(error)
        _put_back(context)
        raise
    intrinsics._pop_except_(before)
    try:
        raise refusal
    finally:
        del refusal  # which has this frame in its traceback
