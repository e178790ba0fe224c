"""The way from the public functions into differentiated code, back through it, and out by an exception."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from sys import exception
from typing import Any

from adbc.collector import PATIENCE
from adbc.errors import AdbcError
from adbc.ir import intrinsics
from adbc.rules.threading import THREADS
from adbc.runtime.calls.beside import check_result
from adbc.runtime.calls.changes import note_written
from adbc.runtime.calls.generators import refuse_left_open
from adbc.runtime.calls.started import check_thread, look_at_thread
from adbc.runtime.calls.weak import check_end
from adbc.runtime.report.tracebacks import leave, let_go
from adbc.runtime.report.waiting import Waiting
from adbc.runtime.state.context import Context
from adbc.runtime.state.stack import STACK
from adbc.tangents.keys import CALL

__all__ = ["enter", "go_back", "start_waiting"]


PATIENCE.begin(lambda: CALL.memory is not None)
THREADS.begin(check_thread, look_at_thread)


def _end(context: Context, answer: Any) -> None:
    """What has to be done when a pass has come to its end, with this answer."""
    result = answer[0] if type(answer) is tuple else answer
    if context.refusal is not None:
        raise context.refusal
    if context.is_forward and context.waiting is not None:
        context.waiting.check(answer[1:])
    _put_back(context)
    refuse_left_open(context.opened)
    if context.finalised:
        check_end(context, result)
    if "beside" in vars(context):
        check_result(context, result)
    note_written(context, is_last=True)
    let_go(_caught(context))


def _caught(context: Context) -> list[BaseException]:
    """The exceptions that were caught in the pass, which ends: the context does not hold them any more."""
    if "raised" not in vars(context):
        return []
    errors = list(vars(context).pop("raised").values())
    for error in errors:
        context.shadows.forget(error)
    return errors


def _put_back(context: Context) -> None:
    """Put the recursion limit back, if the pass that ends had it raised."""
    if context.is_raised:
        context.is_raised = False
        STACK.restore()


def enter(call: Callable[..., Any], context: Context, *arguments: Any) -> Any:
    """``call(context, *arguments)``, where `call` is that of an engine.

    The user's exceptions lose the frames of adbc.  A refusal that has passed handlers of the user's is what
    the call ends with, whatever these raised or returned.  It leaves some of them without ending them, and
    what a thread is handling is its own state, which no ``except`` clause of ours could put back (it puts
    back what it found): so that is done here.
    """
    before, around = exception(), CALL.memory
    refusal: AdbcError | None = None
    CALL.memory = context
    hearing: Any = None
    settings: Any = None
    if context.warns and "numpy" in sys.modules:
        hearing = context.hearing = _hearing()
        settings = hearing.begin()
    try:
        answer = call(context, *arguments)
        if context.has_end:
            _end(context, answer)
        return answer
    except AdbcError as error:
        refusal = context.refusal or error
    except BaseException as error:  # any exception of the user's is passed on
        if context.refusal is None or not isinstance(error, Exception):
            leave(error)
            _caught(context)  # they may have the frames in their tracebacks that hold the context
            _put_back(context)
            raise
        refusal = context.refusal
    finally:
        answer = None  # a pullback may need an exception that has this frame in its traceback
        CALL.memory = around
        if hearing is not None:
            # What was refused has not put back all that it has changed.
            hearing.end(settings) if refusal is None else hearing.put_back(settings[0])
        if PATIENCE.is_asked:
            PATIENCE.end()
    context.refusal = None  # it has this frame in its traceback
    leave(refusal)
    _caught(context)
    context.refused()
    _put_back(context)
    intrinsics._pop_except_(before)
    try:
        raise refusal
    finally:
        del refusal  # which has this frame in its traceback


def go_back(pullback: Callable[..., Any], *arguments: Any) -> Any:
    """``pullback(*arguments)``, where it may have to do with arrays.

    What is computed there is no number of the user's: where it divides by zero or overflows, so that a
    derivative is infinite or NaN, NumPy has nothing to warn of.  The primal has said what there was to say.
    """
    hearing = settings = None
    if "numpy" in sys.modules:
        hearing = _hearing()
        settings = hearing.silence()
    try:
        return pullback(*arguments)
    except BaseException as error:  # any exception of a rule of the user's is passed on
        leave(error)
        raise
    finally:
        if hearing is not None:
            hearing.put_back(settings)


@functools.cache
def _hearing() -> Any:
    """What stands between the user and NumPy's warnings, once there is NumPy."""
    from adbc.runtime.report.floating import Hearing

    return Hearing()


def start_waiting() -> Waiting:
    """What refusals wait in that are put off in a call (`Context.put_off`)."""
    return Waiting(enter.__code__)
