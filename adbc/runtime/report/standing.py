"""Calls that are made where the user's function stands.

Some functions look at the frames that they are called from: `warnings.warn` says which line a warning is
about, `logging` which function a record comes from, `collections.namedtuple` which module a class is of.  In
differentiated code there are frames of adbc between that call and the user's function.  So such a call is
made above copies of the user's frames: code that does nothing but call the next, under the files, names
and lines of the user's, and with the very globals, where `warnings` keeps what has been said.  What looks
further than the copies sees the true frames, adbc's among them.

The code of a copy is like that of the body of a class, whose variables are whatever mapping it is given: one
that refuses to show the variables of a function that is differentiated (`variables`).
"""

from __future__ import annotations

import functools
import types
import weakref
from collections.abc import Callable
from typing import Any

from adbc.emit.items import Location
from adbc.emit.locations import table
from adbc.runtime.report.frames import Entry, Frame, frames, from_within
from adbc.runtime.report.variables import CALL, Variables

__all__ = ["called_by_user"]

_MOST = 24
"""How many frames are copied: more than anybody looks at who counts frames, and few enough that a program
that is near the limit of recursion seldom exceeds it."""


def called_by_user(perform: Callable[[], Any]) -> Any:
    """``perform()``, called from the line of the user's function that is running.

    `perform` is to be a callable in C, so that there is no frame of ours between.
    """
    count = 0
    variables: Any = None  # as much of a mapping as is asked of it
    for entry in from_within():
        if count >= _MOST:
            break
        for code, frame in zip(_standing(entry), frames(entry), strict=True):
            variables = Variables(perform, frame)
            perform = functools.partial(eval, code, frame.namespace, variables)
            count += 1
    else:
        if variables is not None:
            variables.is_outermost = True
    return perform()


_STAND = compile("call()", "", "eval").replace(co_names=(CALL,))

_Places = dict[int, tuple[types.CodeType, ...]]

_known: dict[int, tuple[weakref.ref[types.CodeType], _Places]] = {}
"""What stands for the places in code, by its address: code is equal to other code from another file."""


def _standing(entry: Entry) -> tuple[types.CodeType, ...]:
    """The code that stands for the frames of `entry`, innermost first."""
    code = entry.frame.f_code
    known = _known.get(id(code))
    if known is None:
        address = id(code)
        known = _known[address] = weakref.ref(code, lambda _: _known.pop(address, None)), {}
    places = known[1]
    found = places.get(entry.at)
    if found is None:
        found = places[entry.at] = tuple(map(_reading_as, frames(entry)))
    return found


def _reading_as(frame: Frame) -> types.CodeType:
    """The code that makes the call of a standing frame, and reads as that of `frame` does."""
    function, position, code = frame.function, frame.position, _STAND
    where = Location(frame.line, position.end_line, position.column, position.end_column)
    return code.replace(
        co_name=function.name,
        co_qualname=function.qualname,
        co_filename=function.filename,
        co_firstlineno=function.first_line,
        co_linetable=table(function.first_line, [(len(code.co_code) // 2, where)]),
    )
