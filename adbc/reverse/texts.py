"""Text that is made of numbers, in reverse mode.

Text has no derivative.  But if a number is read from it, and that has to be refused only if what was written
has a derivative, NaN comes back to all numbers that text was made of (`tangents.lost`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from adbc.derive.mirror import Mirror
from adbc.ir.values import Instruction, Value
from adbc.records import record
from adbc.reverse.adjoints import Adjoint
from adbc.reverse.pullback import PullbackWriter
from adbc.types.callsites import CallSite
from adbc.types.lattice import FLOAT

if TYPE_CHECKING:
    from adbc.reverse.forwards import ForwardsPass

__all__ = ["TextAdjoint", "text"]


@record
class TextAdjoint(Adjoint):
    """A call that makes text of real numbers: what comes back to them is zero, or NaN once a number was read
    from such text, as `context` knows."""

    numbers: Sequence[Value]
    context: Value

    def __post_init__(self) -> None:
        self.needs = [self.context]

    def reverse(self, writer: PullbackWriter) -> None:
        context = writer.get(self.context)
        lost = writer.builder.call(writer.support.lost_in_text, context, type=FLOAT)
        for number in self.numbers:
            writer.give(number, {(): lost})


def text(builder: ForwardsPass, call: Instruction, site: CallSite) -> None:
    """Write `call`, which makes text or reads a number from it."""
    Mirror._text(builder, call, site)
    numbers = [a for a in site.arguments if a in builder.active]
    if numbers:
        builder.leave(TextAdjoint(numbers, builder.context))
