"""Tracebacks that read as if the user's function had been called plainly.

A derived rule runs under the user's file and lines, but between two frames of the user's there may
be frames of adbc: dispatch, protocols, rules.  When an exception leaves a public function those
are taken out; and where a function goes on in another frame of its own, the last one stands for all.
It costs nothing where nothing is raised.  Errors of adbc's own keep all frames: there the way
through adbc may be what one wants to see.  Those that come from rules, which know of no frames, are
told here which line of the user's they are about.
"""

from __future__ import annotations

import itertools
import re
import types
import weakref
from collections.abc import Iterator, Sequence
from typing import Any

from adbc.config import FOLDER
from adbc.emit.items import Location
from adbc.emit.locations import table
from adbc.errors import AdbcError, ConstWriteError, UnsupportedError
from adbc.ir.values import Inlined, Position

__all__ = ["continuations", "inlined_in", "leave", "note_inlined", "plain_traceback"]

_NAMES_A_LINE = re.compile(r":\d+\b")


def plain_traceback(error: BaseException) -> BaseException:
    """`error` without the frames of adbc in its traceback."""
    error.__traceback__ = _without_adbc(error.__traceback__)
    return error


continuations: weakref.WeakValueDictionary[int, types.CodeType] = weakref.WeakValueDictionary()
"""The code of side exits, whose frames take the place of a frame of the same function; by address, because
the constants of generated code need not have a hash."""


Places = Sequence[tuple[int, int, Inlined]]

_inlined: dict[int, tuple[weakref.ref[types.CodeType], Places]] = {}


def note_inlined(code: types.CodeType, places: Places) -> None:
    """Note which functions were written into `code`, and from which byte up to which."""
    at = id(code)
    _inlined[at] = weakref.ref(code, lambda _: _inlined.pop(at, None)), places


def inlined_in(code: types.CodeType) -> Places:
    """The functions that were written into `code`, and where: what `note_inlined` was told."""
    known = _inlined.get(id(code))
    return known[1] if known is not None and known[0]() is code else ()


def leave(error: BaseException) -> None:
    """Make `error` fit for the user: an exception of the user's loses the frames of adbc, and a refusal that
    names no line gets one."""
    if not isinstance(error, AdbcError):
        error.__traceback__ = _without_adbc(error.__traceback__)
    elif isinstance(error, ConstWriteError | UnsupportedError) and not _NAMES_A_LINE.search(str(error)):
        frames = _without_adbc(error.__traceback__)
        while frames is not None and frames.tb_next is not None:
            frames = frames.tb_next
        if frames is not None:
            code = frames.tb_frame.f_code
            place = f"{code.co_qualname} ({code.co_filename}:{frames.tb_lineno})"
            error.args = (f"{error} (In {place}.)",)


def _without_adbc(traceback: types.TracebackType | None) -> types.TracebackType | None:
    frames: list[types.TracebackType] = []
    entry = traceback
    while entry is not None:
        code = entry.tb_frame.f_code
        if not code.co_filename.startswith(FOLDER):
            if frames and continuations.get(id(code)) is code:
                frames.pop()
            frames.append(entry)
        entry = entry.tb_next
    kept: types.TracebackType | None = None
    for frame in reversed(frames):
        for step in _steps(frame):
            kept = types.TracebackType(kept, step.tb_frame, step.tb_lasti, step.tb_lineno)
    return kept


def _steps(entry: types.TracebackType) -> Iterator[types.TracebackType]:
    """`entry`, or frames for the functions that were written into that of `entry`, innermost first."""
    code, at = entry.tb_frame.f_code, entry.tb_lasti
    found = next((inlined for start, end, inlined in inlined_in(code) if start <= at < end), None)
    if found is None:
        yield entry
        return
    position = Position(*next(itertools.islice(code.co_positions(), at // 2, None)))
    namespace = entry.tb_frame.f_globals
    while found is not None:
        yield _frame(found, position, namespace)
        position = found.call or Position(None)
        found = position.inlined
    outermost = Inlined(code.co_name, code.co_qualname, code.co_filename, code.co_firstlineno, None)
    yield _frame(outermost, position, namespace)


class _Here(Exception):
    """Raised to get a frame, and not seen outside."""


def _raise() -> None:
    raise _Here


def _frame(function: Inlined, position: Position, namespace: dict[str, Any]) -> types.TracebackType:
    """An entry of a traceback that says where in `function` something was raised."""
    code, line = _raise.__code__, position.line or function.first_line
    where = Location(line, position.end_line, position.column, position.end_column)
    code = code.replace(
        co_name=function.name,
        co_qualname=function.qualname,
        co_filename=function.filename,
        co_firstlineno=function.first_line,
        co_linetable=table(function.first_line, [(len(code.co_code) // 2, where)]),
    )
    try:
        types.FunctionType(code, {**namespace, "_Here": _Here})()
    except _Here as error:
        assert error.__traceback__ is not None
        entry = error.__traceback__.tb_next
        assert entry is not None
        return entry
    raise AssertionError("a function that raises returned")
