"""What stands in the source at a position: for messages about calls."""

from __future__ import annotations

import linecache

from adbc.ir.values import Position

__all__ = ["line_of", "text_at"]

_LONGEST = 40


def line_of(position: Position | None) -> int | None:
    """The line of a position, if it is known."""
    return None if position is None else position.line


def text_at(filename: str, position: Position | None) -> str | None:
    """The source text at `position`, shortened; None if there is no source, or if the position is not within
    one line."""
    if position is None or position.line is None or position.column is None or position.end_column is None:
        return None
    line = linecache.getline(filename, position.line)
    if position.end_line not in (None, position.line):
        return None
    text = line.encode()[position.column : position.end_column].decode(errors="replace").strip()
    if not text:
        return None
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 4]} ..."
