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

__all__ = ["enter"]


def enter(call: Callable[..., Any], context: Context, *arguments: Any) -> Any:
    """``call(context, *arguments)``, where `call` is that of an engine.

    The user's exceptions lose the frames of adbc.  A refusal leaves handlers of the user's without ending
    them, and what a thread is handling is its own state, which no ``except`` clause of ours could put back
    (it puts back what it found): so that is done here.
    """
    before = exception()
    try:
        answer = call(context, *arguments)
        if context.opened:
            refuse_left_open(context.opened)
        return answer
    except AdbcError as error:
        leave(error)
        context.refused()
        refusal = error
    except BaseException as error:  # any exception of the user's is passed on
        leave(error)
        raise
    intrinsics._pop_except_(before)
    try:
        raise refusal
    finally:
        del refusal  # which has this frame in its traceback
