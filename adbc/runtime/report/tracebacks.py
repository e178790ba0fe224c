"""Tracebacks that read as if the user's function had been called plainly.

When an exception leaves a public function, or is handled by code that is differentiated, its traceback has
the frames of the user's alone (`frames`), and so have those of the exceptions that it is chained to or made
of.  That is no concern of the engine's: what a pullback needs of an exception is in what `Raised` stands
for.  It costs nothing where nothing is raised, and `Config.hide_frames` switches it off.

Refusals come from tangents and rules too, which know of no frames: so they are told here which line of the
user's they are about.
"""

from __future__ import annotations

import inspect
import sys
import types
from collections.abc import Iterable, Iterator
from contextvars import ContextVar
from typing import Any

from adbc.config import Config
from adbc.emit.items import Location
from adbc.emit.locations import table
from adbc.errors import AdbcError, LiftError, VerificationError
from adbc.runtime.report.frames import Entry, Frame, frames, is_joined, is_ours, running, without_ours
from adbc.runtime.report.places import place_of

__all__ = ["hidden", "leave", "let_go", "note_place", "plain_traceback", "show_place"]


hidden: ContextVar[bool] = ContextVar(
    "whether frames of adbc are left out", default=Config.from_environment().hide_frames
)
"""What `Config.hide_frames` of the configuration in use says."""


def plain_traceback(error: BaseException) -> BaseException:
    """`error` without the frames of adbc in its traceback, nor in those of the exceptions behind it, unless
    these frames are wanted."""
    if hidden.get() and not _is_plain(error):
        for each in _with_those_behind(error):
            shown = _as_the_users(_TRACEBACK.__get__(each), issubclass(type(each), AdbcError))
            _TRACEBACK.__set__(each, shown)
    return error


def _is_plain(error: BaseException) -> bool:
    """Whether `error` stands alone, and comes from where it is handled, in a function of the user's: most do
    that a program handles step by step, as that of a key that is not there."""
    traceback = _TRACEBACK.__get__(error)
    if traceback is None or traceback.tb_next is not None or _CONTEXT.__get__(error) is not None:
        return False
    code = traceback.tb_frame.f_code
    is_alone = _CAUSE.__get__(error) is None and not issubclass(type(error), BaseExceptionGroup)
    return is_alone and not is_ours(code) and not is_joined(code)


def let_go(errors: Iterable[BaseException]) -> None:
    """Let the frames hold nothing any more that `errors` have come through, which were caught in a pass that
    has ended.

    A frame that is kept by a traceback keeps its variables, and all frames that it was called from with
    theirs: so with the first exception that is kept for its derivative all that the pass has computed would
    be garbage in cycles, and the collector would take longer than the derivative.  A generator's frame is
    left alone, for it may go on.
    """
    met: set[types.FrameType] = set()
    for error in errors:
        traceback = _TRACEBACK.__get__(error)
        while traceback is not None:
            _clear(traceback.tb_frame, met)
            traceback = traceback.tb_next


def _clear(frame: types.FrameType | None, met: set[types.FrameType]) -> None:
    """Clear `frame` and those that it was called from, up to one that runs or that was `met`."""
    while frame is not None and frame not in met:
        met.add(frame)
        if not frame.f_code.co_flags & inspect.CO_GENERATOR:
            try:
                frame.clear()
            except RuntimeError:
                return
        frame = frame.f_back


def leave(error: BaseException) -> None:
    """Make `error` fit for the user: a refusal gets its place, and the frames of adbc are left out.

    Those of a `VerificationError` are not: it is about adbc itself.
    """
    if issubclass(type(error), AdbcError):
        assert isinstance(error, AdbcError)
        inside = without_ours(_entries(error.__traceback__))
        # What is wrong with the arguments of the public function itself is wrong nowhere else.
        if error.place is None and (inside or error.why or error.remedy):
            place = place_of([*running(), *inside])
            if place is not None:
                # Code that cannot be lifted has no frame: the innermost is that of its caller.
                is_callers = isinstance(error, LiftError) and place.library is None
                error.place = f"called from {place.line}" if is_callers else str(place)
        if isinstance(error, VerificationError):
            return
    plain_traceback(error)


_TRACEBACK: Any = BaseException.__dict__["__traceback__"]
_CAUSE: Any = BaseException.__dict__["__cause__"]
_CONTEXT: Any = BaseException.__dict__["__context__"]
_EXCEPTIONS: Any = BaseExceptionGroup.__dict__["exceptions"]
"""What reads and sets these in C: the class of an exception may answer for its attributes in Python."""


def _with_those_behind(error: BaseException) -> list[BaseException]:
    """`error`, its causes and contexts, and the exceptions that a group holds, each once."""
    found: dict[int, BaseException] = {}
    pending: list[BaseException | None] = [error]
    while pending:
        each = pending.pop()
        if each is None or id(each) in found:
            continue
        found[id(each)] = each
        pending += (_CAUSE.__get__(each), _CONTEXT.__get__(each))
        if issubclass(type(each), BaseExceptionGroup):
            pending += _EXCEPTIONS.__get__(each)
    return list(found.values())


def _entries(traceback: types.TracebackType | None) -> Iterator[Entry]:
    while traceback is not None:
        yield Entry(traceback.tb_frame, traceback.tb_lasti, traceback.tb_lineno)
        traceback = traceback.tb_next


def _once(entries: list[Entry]) -> list[Entry]:
    """The entries without those of a frame that the next is of too: a refusal is raised again by a handler
    that it is not for, which the user need not know."""
    kept: list[Entry] = []
    for entry in entries:
        if kept and kept[-1].frame is entry.frame:
            kept.pop()
        kept.append(entry)
    return kept


def _as_the_users(traceback: types.TracebackType | None, is_refusal: bool) -> types.TracebackType | None:
    """`traceback` without the frames of adbc, and with those of functions that were written into others."""
    every = list(_entries(traceback))
    users = _once(without_ours(every)) if is_refusal else without_ours(every)
    if len(users) == len(every) and not any(is_joined(entry.frame.f_code) for entry in users):
        return traceback
    kept: types.TracebackType | None = None
    for entry in reversed(users):
        for frame in frames(entry):
            if frame.is_part:
                step = _step(frame)
                kept = types.TracebackType(kept, step.tb_frame, step.tb_lasti, step.tb_lineno)
            else:
                kept = types.TracebackType(kept, entry.frame, entry.at, entry.line)
    return kept


class _Left:
    """What a traceback needs of a frame, without what its variables hold."""

    __slots__ = ("f_code", "f_globals")

    def __init__(self, frame: types.FrameType) -> None:
        self.f_code, self.f_globals = frame.f_code, frame.f_globals


def note_place(outermost: types.CodeType) -> list[Entry]:
    """The place that the program is at, up to the frame of `outermost`, for an error that may be raised
    later.  No frame of the user's is held: what stands in these may die before."""
    entries: list[Entry] = []
    frame = sys._getframe(1)
    while frame.f_code is not outermost and frame.f_back is not None:
        entries.append(Entry(frame, frame.f_lasti, 0))
        frame = frame.f_back
    left: Any = _Left
    return [Entry(left(e.frame), e.at, e.frame.f_lineno) for e in without_ours(reversed(entries))]


def show_place(error: AdbcError, place: list[Entry]) -> None:
    """Give `error` the traceback of a `place` that was noted."""
    shown: types.TracebackType | None = None
    for entry in reversed(place):
        for each in frames(entry):
            step = _step(each)
            shown = types.TracebackType(shown, step.tb_frame, step.tb_lasti, step.tb_lineno)
    error.__traceback__ = shown


def _nothing() -> Iterator[None]:
    yield


def _step(frame: Frame) -> types.TracebackType:
    """An entry of a traceback that says where in the function of `frame` something was raised.

    Its frame is that of a generator which never began, for that is called from nowhere.  A frame that has run
    is kept with all that it was called from, here the frames that hold the exception: the two would be a
    cycle, and what a failed call has made would be there until the collector comes.
    """
    function, position = frame.function, frame.position
    code, line = _nothing.__code__, frame.line
    where = Location(line, position.end_line, position.column, position.end_column)
    code = code.replace(
        co_name=function.name,
        co_qualname=function.qualname,
        co_filename=function.filename,
        co_firstlineno=function.first_line,
        co_linetable=table(function.first_line, [(len(code.co_code) // 2, where)]),
    )
    generator: Any = types.FunctionType(code, frame.namespace)()
    return types.TracebackType(None, generator.gi_frame, 0, line)
