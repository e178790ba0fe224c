"""What functions have captured."""

from __future__ import annotations

import types
from typing import Any

__all__ = ["captured", "captures_empty_cell", "content_of", "is_filled"]


def captured(function: types.FunctionType) -> list[Any]:
    """The contents of those cells of `function` in which there is something."""
    return [content for cell in function.__closure__ or () for content in content_of(cell)]


def captures_empty_cell(function: types.FunctionType) -> bool:
    """Whether a variable that `function` has captured has no value yet."""
    return not all(map(content_of, function.__closure__ or ()))


def is_filled(cell: types.CellType) -> bool:
    """Whether there is something in `cell`."""
    return bool(content_of(cell))


def content_of(cell: types.CellType) -> tuple[Any, ...]:
    """What is in `cell`, in a tuple that is empty if nothing is."""
    try:
        return (cell.cell_contents,)
    except ValueError:
        return ()
