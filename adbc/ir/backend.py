"""What makes callables of the graphs of derivatives: the protocol that code generators implement.

The engine stands above, a code generator below, and neither knows the other.  A backend is handed the graphs
that the builders have made, in normal form, and gives callables that do what `ir.interpret` does with the
graphs, exceptions included.  How they are laid out for a machine is its own affair: they are its to reorder.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from adbc.ir.graph import Graph
from adbc.records import record

__all__ = ["Backend", "Pair", "Unit"]


@record(frozen=True)
class Unit:
    """What code is made for: the function that was differentiated."""

    name: str
    qualname: str
    namespace: dict[str, Any]
    """The globals in which the names of the function are looked up."""
    watchers: Mapping[str, Callable[[Any, Any], object] | None] = dataclasses.field(default_factory=dict)
    """Functions that are told of each stage of the backend and of what it has made, for "forwards",
    "pullback" and "single"; None where nobody wants to know."""


class Pair(Protocol):
    """The graphs of a derived rule in reverse mode: the pullback is given what the forwards pass returns
    last."""

    @property
    def forwards(self) -> Graph: ...

    @property
    def pullback(self) -> Graph: ...

    @property
    def records(self) -> object:
        """What the forwards pass saves for the pullback: a `reverse.layout.Records`."""


class Backend(Protocol):
    """A code generator."""

    @property
    def by_layout(self) -> bool:
        """Whether arrays of each memory layout, and arrays that may not be written to, get rules of their
        own."""

    def pair(self, pair: Pair, unit: Unit) -> tuple[Callable[..., Any], Callable[..., Any]]:
        """The callables of forwards pass and pullback."""

    def single(self, graph: Graph, unit: Unit) -> Callable[..., Any]:
        """The callable of a graph that stands alone: the dual function of forward mode, or the pullback of
        paths through a function that are seldom taken."""
