"""Refusals that wait until cotangents have gone back, which says whether there is a derivative.

From where a derivative would be lost NaN comes back (`tangents.lost`).  A NaN has bits to spare, which
arithmetic hands on: they say at which of these places it began, so that the refusal is the one of that place.
"""

from __future__ import annotations

import struct
import sys
import types
from collections.abc import Callable, Sequence
from typing import Any

from adbc.errors import AdbcError
from adbc.runtime.report.frames import Entry, is_ours
from adbc.runtime.report.tracebacks import leave, note_place, show_place
from adbc.tangents.activity_marks import any_part

__all__ = ["Waiting"]


class Waiting:
    """The refusals of one call that wait.

    outermost: the code of adbc's whose frame is around the user's.
    """

    def __init__(self, outermost: types.CodeType) -> None:
        self.outermost = outermost
        self.sites: dict[tuple[int, int], float] = {}
        """The NaN of each place: of the code with this address, at this instruction."""
        self.refusals: list[tuple[AdbcError, list[Entry]]] = []
        """The refusal of each place, and the place, which is shown if the refusal is raised."""
        self.codes: list[types.CodeType] = []
        """Kept, so that their addresses are theirs."""

    def add(self, refusal: Callable[[], AdbcError]) -> float:
        """The NaN of the place that the program is at, of which `refusal` makes the error."""
        frame: Any = sys._getframe(1)
        while is_ours(frame.f_code) and frame.f_back is not None:
            frame = frame.f_back
        site = id(frame.f_code), frame.f_lasti
        if site not in self.sites:
            error = refusal()
            leave(error)
            self.codes.append(frame.f_code)
            self.refusals.append((error, note_place(self.outermost)))
            self.sites[site] = _nan(len(self.refusals))
        return self.sites[site]

    def check(self, gradients: Sequence[Any]) -> None:
        """Raise the refusal of a place from which NaN has come to one of `gradients`."""
        found: list[float] = []

        def note(part: Any) -> bool:
            found.extend(_nans(part))
            return bool(found)

        if any(any_part(g, note) for g in gradients):
            k = _number_of(found[0]) - 1
            error, place = self.refusals[k if 0 <= k < len(self.refusals) else 0]
            show_place(error, place)
            raise error


_QUIET = 0x7FF8 << 48
_BITS = (1 << 51) - 1


def _nan(k: int) -> float:
    """The NaN with number `k`."""
    nan: float = struct.unpack("<d", struct.pack("<Q", _QUIET | k))[0]
    return nan


def _number_of(nan: float) -> int:
    """The number of a NaN."""
    bits: int = struct.unpack("<Q", struct.pack("<d", nan))[0]
    return bits & _BITS


def _nans(part: Any) -> list[float]:
    """A NaN that is a part of a gradient, or in an array that is one."""
    unlike = part != part
    if unlike is False:
        return []
    value = part if unlike is True else part[unlike].ravel()[0] if unlike.any() else 0.0
    both = [float(value.real), float(value.imag)] if hasattr(value, "imag") else [float(value)]
    return [x for x in both if x != x]
