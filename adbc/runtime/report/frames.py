"""The frames of a running or failed program as the user knows them.

A derived rule runs under the file, the lines and the names of the user's function, but between two frames of
the user's there are frames of adbc: dispatch, protocols, rules.  Here those are left out; where a function
goes on in another frame of its own, the last one stands for all; and where functions were written into
another, there is a step for each of them.
"""

from __future__ import annotations

import itertools
import sys
import types
import weakref
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from adbc.config import FOLDER
from adbc.ir.values import Inlined, Position
from adbc.records import record

__all__ = [
    "Entry",
    "Frame",
    "Spot",
    "continuations",
    "frames",
    "from_within",
    "inlined_in",
    "is_derived",
    "is_joined",
    "is_ours",
    "note_inlined",
    "note_original",
    "original",
    "running",
    "without_ours",
]

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


_originals: dict[int, tuple[weakref.ref[types.CodeType], weakref.ref[types.CodeType]]] = {}


def note_original(code: types.CodeType, primal: types.CodeType) -> None:
    """Note that `code` was derived from a function of the user's with the code `primal`."""
    at = id(code)
    _originals[at] = weakref.ref(code, lambda _: _originals.pop(at, None)), weakref.ref(primal)


def original(code: types.CodeType) -> types.CodeType | None:
    """The code of the user's that `code` was derived from, if it was."""
    known = _originals.get(id(code))
    return known[1]() if known is not None and known[0]() is code else None


def is_derived(code: types.CodeType) -> bool:
    """Whether `code` was derived from a function of the user's, as a whole or from some place on."""
    return original(code) is not None or continuations.get(id(code)) is code


def is_joined(code: types.CodeType) -> bool:
    """Whether functions were written into `code`."""
    return bool(inlined_in(code))


@record(frozen=True, slots=True)
class Entry:
    """A real frame, the offset of the instruction that it is at, and the line."""

    frame: types.FrameType
    at: int
    line: int


@record(frozen=True, slots=True)
class Frame:
    """A frame as the user knows it.  entry: the real one that it is, or is a part of."""

    entry: Entry
    function: Inlined
    position: Position
    is_part: bool
    """Whether other functions were written into the real frame, so that it stands for several."""

    @property
    def namespace(self) -> dict[str, Any]:
        """The globals that the function runs in: only functions of one module are written into each other."""
        return self.entry.frame.f_globals

    @property
    def line(self) -> int:
        """The line that the function is at."""
        return self.position.line or self.function.first_line

    def __str__(self) -> str:
        """Function, file and line."""
        return f"{self.function.qualname} ({self.function.filename}:{self.line})"


def is_ours(code: types.CodeType) -> bool:
    """Whether code is adbc's own."""
    return code.co_filename.startswith(FOLDER)


def without_ours(entries: Iterable[Entry]) -> list[Entry]:
    """The entries, outermost first, that are not adbc's, and of each function the last."""
    kept: list[Entry] = []
    for entry in entries:
        code = entry.frame.f_code
        if not is_ours(code):
            if kept and _is_rest(entry.frame, kept[-1].frame):
                kept.pop()
            kept.append(entry)
    return kept


def _is_rest(frame: types.FrameType, before: types.FrameType) -> bool:
    """Whether `frame` is where the function of the frame `before` goes on: it was called by it.

    The frame before it need not be that, if what is looked at has been through here already.
    """
    code = frame.f_code
    if continuations.get(id(code)) is not code:
        return False
    caller = frame.f_back
    while caller is not None and is_ours(caller.f_code):
        caller = caller.f_back
    return caller is before


def frames(entry: Entry) -> Iterator[Frame]:
    """The frames that `entry` stands for, innermost first: those of the functions that were written into its
    code at this place, then its own."""
    code, at = entry.frame.f_code, entry.at
    own = Inlined(code.co_name, code.co_qualname, code.co_filename, code.co_firstlineno, None)
    found = next((inlined for start, end, inlined in inlined_in(code) if start <= at < end), None)
    if found is None:
        yield Frame(entry, own, Position(entry.line), False)
        return
    position = Position(*next(itertools.islice(code.co_positions(), at // 2, None)))
    while found is not None:
        yield Frame(entry, found, position, True)
        position = found.call or Position(None)
        found = position.inlined
    yield Frame(entry, own, position, True)


@record(frozen=True, slots=True)
class Spot:
    """A place in code, noted without a frame, which would keep what its variables hold: as text it is what
    the innermost `Frame` there is."""

    code: types.CodeType
    at: int

    def __str__(self) -> str:
        code, at = self.code, self.at
        position = Position(*next(itertools.islice(code.co_positions(), at // 2, None)))
        found = next((inlined for start, end, inlined in inlined_in(code) if start <= at < end), None)
        if found is not None:
            return f"{found.qualname} ({found.filename}:{position.line or found.first_line})"
        return f"{code.co_qualname} ({code.co_filename}:{position.line or code.co_firstlineno})"


def running() -> list[Entry]:
    """What is running now, outermost first, without what is adbc's, and of each function the last."""
    return [*reversed([*from_within()])]


def from_within() -> Iterator[Entry]:
    """What is `running`, innermost first: whoever needs a few of these frames looks at no others."""
    frame: types.FrameType | None = sys._getframe(1)
    inner: types.FrameType | None = None
    while frame is not None:
        if not is_ours(frame.f_code):
            if inner is None or not _is_rest(inner, frame):
                yield Entry(frame, frame.f_lasti, frame.f_lineno or frame.f_code.co_firstlineno)
            inner = frame
        frame = frame.f_back
