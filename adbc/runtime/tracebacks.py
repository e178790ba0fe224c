"""Tracebacks that read as if the user's function had been called plainly.

A derived rule runs under the user's file and lines, but between two frames of the user's there may
be frames of adbc: dispatch, protocols, rules.  When an exception leaves a public function those
are taken out.  It costs nothing where nothing is raised.  Errors of adbc's own keep all frames:
there the way through adbc may be what one wants to see.
"""

from __future__ import annotations

import os
import types
from typing import Self

from adbc.errors import AdbcError

__all__ = ["plain_traceback", "plain_tracebacks"]

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep


def plain_traceback(error: BaseException) -> BaseException:
    """`error` without the frames of adbc in its traceback."""
    error.__traceback__ = _without_adbc(error.__traceback__)
    return error


class plain_tracebacks:  # used like a function: ``with plain_tracebacks():``
    """In the block, the user's exceptions lose the frames of adbc on their way out."""

    __slots__ = ()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        if error is not None and not isinstance(error, AdbcError):
            error.__traceback__ = _without_adbc(error.__traceback__)


def _without_adbc(traceback: types.TracebackType | None) -> types.TracebackType | None:
    frames: list[types.TracebackType] = []
    entry = traceback
    while entry is not None:
        if not entry.tb_frame.f_code.co_filename.startswith(_PACKAGE):
            frames.append(entry)
        entry = entry.tb_next
    kept: types.TracebackType | None = None
    for frame in reversed(frames):
        kept = types.TracebackType(kept, frame.tb_frame, frame.tb_lasti, frame.tb_lineno)
    return kept
