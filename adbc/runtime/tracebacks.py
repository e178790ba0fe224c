"""Tracebacks that read as if the user's function had been called plainly.

A derived rule runs under the user's file and lines, but between two frames of the user's there may
be frames of adbc: dispatch, protocols, rules.  When an exception leaves a public function those
are taken out.  It costs nothing where nothing is raised.
"""

from __future__ import annotations

import os
import types

__all__ = ["without_adbc"]

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep


def without_adbc(error: BaseException) -> BaseException:
    """`error`, its traceback without the frames of adbc, except where there are no others."""
    frames: list[types.TracebackType] = []
    entry = error.__traceback__
    while entry is not None:
        if not entry.tb_frame.f_code.co_filename.startswith(_PACKAGE):
            frames.append(entry)
        entry = entry.tb_next
    if not frames:
        return error
    kept: types.TracebackType | None = None
    for frame in reversed(frames):
        kept = types.TracebackType(kept, frame.tb_frame, frame.tb_lasti, frame.tb_lineno)
    return error.with_traceback(kept)


