"""Calls that are made where the user's function stands.

Some functions look at the frames that they are called from: `warnings.warn` says which line a warning is
about, `logging` which function a record comes from, `collections.namedtuple` which module a class is of.  In
differentiated code there are frames of adbc between that call and the user's function.  So such a call is
made above copies of the user's frames: functions that do nothing but call the next, under the files, names
and lines of the user's, and with the very globals, where `warnings` keeps what has been said.  What looks
further than the copies sees the true frames, adbc's among them.
"""

from __future__ import annotations

import itertools
import types
from collections.abc import Callable
from typing import Any

from adbc.emit.items import Location
from adbc.emit.locations import table
from adbc.runtime.report.frames import Frame, frames, running

__all__ = ["called_by_user"]

_MOST = 24
"""How many frames are copied: more than anybody looks at who counts frames, and few enough that a program
that is near the limit of recursion seldom exceeds it."""


def called_by_user(perform: Callable[[], Any]) -> Any:
    """``perform()``, called from the line of the user's function that is running.

    `perform` is to be a callable in C, so that there is no frame of ours between.
    """
    walk = (frame for entry in reversed(running()) for frame in frames(entry))
    innermost = list(itertools.islice(walk, _MOST))
    steps = [_standing(frame) for frame in reversed(innermost)]
    if not steps:
        return perform()
    first, *others = steps
    return first(*others, perform)


def _stand(call, *others):  # type: ignore[no-untyped-def]  # annotations would be in the code that is copied
    return call(*others)


def _standing(frame: Frame) -> types.FunctionType:
    """A function that calls its first argument with the others, in a frame that reads as `frame`."""
    function, position, code = frame.function, frame.position, _stand.__code__
    where = Location(frame.line, position.end_line, position.column, position.end_column)
    copy = code.replace(
        co_name=function.name,
        co_qualname=function.qualname,
        co_filename=function.filename,
        co_firstlineno=function.first_line,
        co_linetable=table(function.first_line, [(len(code.co_code) // 2, where)]),
    )
    return types.FunctionType(copy, frame.namespace)
