"""The order of the passes, and why: `normalise` takes a lifted graph to normal form."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

from adbc.ir.graph import Graph
from adbc.ir.traverse import remove_unreachable
from adbc.passes.derived.shadow_slots import shadow_slots
from adbc.passes.derived.uncounted_loops import uncounted_loops
from adbc.passes.normal.copy_propagation import copy_propagation
from adbc.passes.normal.dead_code import dead_code
from adbc.passes.normal.fold_constants import fold_constants
from adbc.passes.normal.foreigncall_to_call import foreigncall_to_call
from adbc.passes.normal.idle_handlers import idle_handlers
from adbc.passes.normal.merge_blocks import merge_blocks
from adbc.passes.normal.new_to_call import new_to_call
from adbc.passes.normal.operators_to_call import operators_to_call
from adbc.passes.normal.promote_cells import promote_cells
from adbc.passes.normal.resolve_globals import resolve_globals
from adbc.passes.normal.trivial_phis import trivial_phis
from adbc.passes.normal.truth import truth
from adbc.passes.normal.unreachable import unreachable

__all__ = ["PASSES", "Pass", "clean", "clean_pullback", "normalise"]

Globals = Mapping[str, Any]


@dataclasses.dataclass(frozen=True)
class Pass:
    """name: of the pass and its file.  run: changes the graph in place.  reason: why it stands here."""

    name: str
    run: Callable[[Graph, Globals], Graph]
    reason: str


def _alone(run: Callable[[Graph], Graph]) -> Callable[[Graph, Globals], Graph]:
    """A pass that does not look at the globals."""
    return lambda graph, globals: run(graph)


PASSES: tuple[Pass, ...] = (
    Pass("new_to_call", _alone(new_to_call), "raw operations go first: what follows sees calls only"),
    Pass("operators_to_call", _alone(operators_to_call), "as before"),
    Pass("dead_code", _alone(dead_code), "takes away the functions of inlined comprehensions"),
    Pass("promote_cells", _alone(promote_cells), "needs cells that those functions no longer hold"),
    Pass("resolve_globals", resolve_globals, "looks for calls of _global_ and _getattr_"),
    Pass("foreigncall_to_call", _alone(foreigncall_to_call), "needs targets that are constants"),
    Pass("truth", _alone(truth), "knows isinstance and its like as foreign calls"),
    Pass("copy_propagation", _alone(copy_propagation), "before folding, which it gives constants"),
    Pass("fold_constants", _alone(fold_constants), "before unreachable, for which it makes work"),
    Pass("idle_handlers", _alone(idle_handlers), "when all is gone that goes; may make handlers unreachable"),
    Pass("unreachable", _alone(unreachable), "before phis are judged by their operands"),
    Pass("trivial_phis", _alone(trivial_phis), "before dead code, which it makes"),
    Pass("dead_code", _alone(dead_code), "empties blocks, which merging then skips"),
    Pass("merge_blocks", _alone(merge_blocks), "last: nothing before it needs larger blocks"),
)


def normalise(
    graph: Graph, globals: Globals, *, after: Callable[[Pass, Graph], object] | None = None
) -> Graph:
    """Bring `graph` to normal form, in place; `globals` is what its global names are looked up in.

    `after` is called behind each pass: for checking, and for printing the stages.
    """
    for step in PASSES:
        step.run(graph, globals)
        if after is not None:
            after(step, graph)
    return graph


CLEANING = ("copy_propagation", "idle_handlers", "unreachable", "trivial_phis", "dead_code", "merge_blocks")
"""The passes that tidy up what a builder wrote."""


def clean_pullback(graph: Graph) -> Graph:
    """The same for a pullback, in place."""
    return clean(shadow_slots(clean(graph)))


def clean(graph: Graph) -> Graph:
    """Tidy a graph in normal form that a builder made, in place."""
    remove_unreachable(graph)
    uncounted_loops(graph)
    for step in PASSES:
        if step.name in CLEANING:
            step.run(graph, {})
    return graph
