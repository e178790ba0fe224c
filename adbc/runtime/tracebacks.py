"""Tracebacks that read as if the user's function had been called plainly.

A derived rule runs under the user's file and lines, but between two frames of the user's there may
be frames of adbc: dispatch, protocols, rules.  When an exception leaves a public function those
are taken out; and where a function goes on in another frame of its own, the last one stands for all.
It costs nothing where nothing is raised.  Errors of adbc's own keep all frames: there the way
through adbc may be what one wants to see.  Those that come from rules, which know of no frames, are
told here which line of the user's they are about.
"""

from __future__ import annotations

import os
import re
import types
import weakref
from typing import Self

from adbc.errors import AdbcError, ConstWriteError, UnsupportedError

__all__ = ["continuations", "plain_traceback", "plain_tracebacks"]

_NAMES_A_LINE = re.compile(r":\d+\b")
_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep


def plain_traceback(error: BaseException) -> BaseException:
    """`error` without the frames of adbc in its traceback."""
    error.__traceback__ = _without_adbc(error.__traceback__)
    return error


continuations: weakref.WeakValueDictionary[int, types.CodeType] = weakref.WeakValueDictionary()
"""Code of the rest of functions, which goes on where another frame of the same function stands; by address,
because the constants of generated code need not have a hash."""


class plain_tracebacks:  # used like a function: ``with plain_tracebacks():``
    """In the block, the user's exceptions lose the frames of adbc on their way out."""

    __slots__ = ()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        if error is None:
            return
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
        if not code.co_filename.startswith(_PACKAGE):
            if frames and continuations.get(id(code)) is code:
                frames.pop()
            frames.append(entry)
        entry = entry.tb_next
    kept: types.TracebackType | None = None
    for frame in reversed(frames):
        kept = types.TracebackType(kept, frame.tb_frame, frame.tb_lasti, frame.tb_lineno)
    return kept
