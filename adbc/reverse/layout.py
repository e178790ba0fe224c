"""What is saved, described: the types of the slots of every record, by call, loop and edge.

The forwards pass writes records by `_record_` and tuples, the pullback reads them by `_recall_` and
projections.  Who lays them out in another way (a struct per iteration in an arena, say) needs to know what
there is before reading that code:

    call: (float, Tape[loop])
    loop: a list, with (float, float) per iteration
"""

from __future__ import annotations

import enum

from adbc.records import record
from adbc.types.lattice import AbstractType

__all__ = ["LoopRecords", "Records", "Slots", "TapeForm"]

Slots = tuple[AbstractType, ...]


class TapeForm(enum.StrEnum):
    """How the records of the iterations of a loop are kept (see `tapes`)."""

    REEL = "a list"
    WINDING = "on the list of the loop around"
    LINKS = "linked tuples"
    COUNT = "the number of iterations"
    RANGE = "the range that it is over"


@record(frozen=True)
class LoopRecords:
    """The records of one loop of the forwards pass.

    loop: the label of its header.  tape: the type of what the records are on.  mark: what stands in front of
    them, if they are on the list of the loop around.  iteration: the slots of the record of an iteration.
    leaving: those of the last one, which is not complete, by the edge on which the loop is left (the labels
    of its ends).  Where the trip count is all that is kept, `iteration` is empty.
    """

    loop: str
    form: TapeForm
    tape: AbstractType
    mark: object
    iteration: Slots
    leaving: dict[tuple[str, str], Slots]

    @property
    def is_counted(self) -> bool:
        """Whether only the trip count of the loop is kept, with no record per iteration."""
        return self.form in (TapeForm.COUNT, TapeForm.RANGE)

    def __str__(self) -> str:
        kept = str(self.form)
        if not self.is_counted:
            kept += f", with {_text(self.iteration)} per iteration"
        edges = [f"    {a} -> {b}: {_text(slots)}" for (a, b), slots in self.leaving.items()]
        return "\n".join([f"{self.loop}: {kept}", *edges])


@record(frozen=True)
class Records:
    """All that the forwards pass saves for the pullback.

    ways: the slots of the record of the call, by way through the function: where several ways have a record
    of their own each begins with its label, which is None on the usual way.  A single slot is saved as it is,
    with no tuple around it.
    """

    ways: tuple[Slots, ...] = ()
    loops: tuple[LoopRecords, ...] = ()

    def __str__(self) -> str:
        calls = [f"call: {_text(slots)}" for slots in self.ways]
        return "\n".join([*calls, *map(str, self.loops)])


def _text(slots: Slots) -> str:
    return f"({', '.join(map(str, slots))})"
