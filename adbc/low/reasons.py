"""Why a function is not native: reasons, each with the line that it is about."""

from __future__ import annotations

from collections.abc import Sequence

from adbc.errors import AdbcError
from adbc.ir.graph import Graph
from adbc.ir.values import Position
from adbc.records import record

__all__ = ["NotNative", "Reason"]


@record(frozen=True)
class Reason:
    """Why something has no native form.

    what: the name of the function that is called there, if that is what it is about.
    """

    reason: str
    what: str
    function: str
    line: int | None
    filename: str = ""

    @classmethod
    def at(cls, reason: str, what: str, graph: Graph, position: Position | None) -> Reason:
        """The reason, at a place of a graph, which may be one of a function that was written in."""
        inside = None if position is None else position.inlined
        line = None if position is None else position.line
        if inside is not None:
            return cls(reason, what, inside.qualname, line, inside.filename)
        return cls(reason, what, graph.qualname, line, graph.filename)

    def __str__(self) -> str:
        where = self.function if self.line is None else f"{self.function}, line {self.line}"
        return f"{where}: {self.what + ': ' if self.what else ''}{self.reason}"


class NotNative(AdbcError):
    """A function has no native form, for these reasons."""

    def __init__(self, reasons: Sequence[Reason]) -> None:
        self.reasons = tuple(reasons)
        super().__init__("; ".join(map(str, self.reasons)))
