"""Markers: objects that stand for there being none."""

from __future__ import annotations

__all__ = ["BEGINNING", "EXHAUSTED", "MISSING", "UNBOUND", "Sentinel"]


class Sentinel:
    """A named marker object."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return self.name

    def __reduce__(self) -> str:
        return self.name


BEGINNING = Sentinel("BEGINNING")
"""What stands on a tape where the records of a loop begin, if these may end in None."""

EXHAUSTED = Sentinel("EXHAUSTED")
"""What `_next_` gives when the iterator has no more values."""

MISSING = Sentinel("MISSING")
"""What `find_special` gives where there is nothing."""

UNBOUND = Sentinel("UNBOUND")
"""The value of a local variable that is not assigned."""
