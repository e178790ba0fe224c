"""The order of the passes that need no types, and why: to normal form, and tidying up what builders wrote."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from adbc.ir.graph import Graph
from adbc.ir.traverse import remove_unreachable
from adbc.passes.derived.shadow_slots import shadow_slots
from adbc.passes.derived.uncounted_loops import uncounted_loops
from adbc.passes.normal.caught_stops import caught_stops
from adbc.passes.normal.class_tests import class_tests
from adbc.passes.normal.copy_propagation import copy_propagation
from adbc.passes.normal.dead_code import dead_code
from adbc.passes.normal.enumerations import enumerations
from adbc.passes.normal.fold_constants import fold_constants
from adbc.passes.normal.foreigncall_to_call import foreigncall_to_call
from adbc.passes.normal.idle_handlers import idle_handlers
from adbc.passes.normal.merge_blocks import merge_blocks
from adbc.passes.normal.misfits import misfits
from adbc.passes.normal.named_attributes import named_attributes
from adbc.passes.normal.new_to_call import new_to_call
from adbc.passes.normal.operators_to_call import operators_to_call
from adbc.passes.normal.promote_cells import promote_cells
from adbc.passes.normal.resolve_globals import resolve_globals
from adbc.passes.normal.trivial_phis import trivial_phis
from adbc.passes.normal.truth import truth
from adbc.passes.normal.unreachable import unreachable
from adbc.passes.stages import Group, Stage, Watcher, in_place, run

__all__ = ["CLEAN", "CLEAN_PULLBACK", "NORMAL", "clean", "clean_pullback", "normalise"]

Globals = Mapping[str, Any]


TIDYING: tuple[Stage[object], ...] = (
    Stage("idle_handlers", in_place(idle_handlers), ("no copies",), ("handlers that are entered",),
          "when all is gone that goes; handlers that nobody enters are left to unreachable", False),
    Stage("unreachable", in_place(unreachable), ("handlers that are entered",), ("reachable blocks",),
          "before phis are judged by their operands"),
    Stage("trivial_phis", in_place(trivial_phis), ("reachable blocks",), ("phis that merge",),
          "before dead code, which it makes"),
    Stage("dead_code", in_place(dead_code), ("phis that merge",), ("used values",),
          "empties blocks, which merging then skips"),
    Stage("merge_blocks", in_place(merge_blocks), ("used values",), ("normal form",),
          "last: nothing before it needs larger blocks"),
)  # fmt: skip

NORMAL: Group[Globals] = Group(
    "normal",
    (
        Stage("new_to_call", in_place(new_to_call), ("graph",), ("calls of _new_",),
              "raw operations go first: what follows sees calls only"),
        Stage("operators_to_call", in_place(operators_to_call), ("calls of _new_",), ("calls",),
              "allocations are calls by now, and the rest of the raw operations follows"),
        Stage("dead_code", in_place(dead_code), ("calls",), ("no unused functions",),
              "takes away the functions of inlined comprehensions"),
        Stage("promote_cells", in_place(promote_cells), ("no unused functions",), ("values in cells",),
              "needs cells that those functions no longer hold"),
        Stage("resolve_globals", resolve_globals, ("calls",), ("known globals",),
              "looks for calls of _global_ and _getattr_"),
        Stage("misfits", in_place(misfits), ("known globals",), ("calls that fit",),
              "needs targets that are constants, and all that follows knows functions in C"),
        Stage("foreigncall_to_call", in_place(foreigncall_to_call), ("known globals",), ("foreign calls",),
              "needs targets that are constants"),
        Stage("enumerations", in_place(enumerations), ("foreign calls",), (),
              "knows what goes through something as a foreign call"),
        Stage("truth", in_place(truth), ("foreign calls",), ("conditions that are bools",),
              "knows isinstance and its like as foreign calls"),
        Stage("copy_propagation", in_place(copy_propagation), ("calls", "values in cells"), ("no copies",),
              "before folding, which it gives constants"),
        Stage("named_attributes", in_place(named_attributes), ("no copies", "foreign calls"), (),
              "sees names that are constants"),
        Stage("class_tests", in_place(class_tests), ("no copies", "conditions that are bools"), (),
              "what a method is asked for are values, not copies of them, and ends a block as a condition"),
        Stage("fold_constants", in_place(fold_constants), ("no copies", "conditions that are bools"),
              ("folded constants",), "before unreachable, for which it makes work"),
        Stage("caught_stops", in_place(caught_stops), ("no copies", "foreign calls"), (),
              "sees iterators where they are made, and takes away handlers"),
        *TIDYING,
    ),
)  # fmt: skip
"""The passes from the graph that the lifter wrote to normal form; they are given the globals of the
function."""

CLEAN: Group[None] = Group(
    "clean",
    (
        Stage("remove_unreachable", in_place(remove_unreachable), ("derived",), ("reachable blocks",),
              "builders write blocks for ways that turn out not to be gone"),
        Stage("uncounted_loops", in_place(uncounted_loops), ("derived",), ("counters that are read",),
              "what counts iterations for nobody is still to be seen as the builder wrote it"),
        Stage("dead_code", in_place(dead_code), ("derived",), (),
              "builders write what may be wanted: without the rest there are fewer copies to follow"),
        Stage("copy_propagation", in_place(copy_propagation), ("derived",), ("no copies",),
              "saved tuples that are taken apart again become their elements"),
        *TIDYING,
    ),
)  # fmt: skip
"""The passes that tidy up a graph in normal form that a builder wrote."""

CLEAN_PULLBACK: Group[None] = Group(
    "clean_pullback",
    (
        *CLEAN.stages,
        Stage("shadow_slots", in_place(shadow_slots), ("normal form",), ("slots that are read",),
              "follows stores to loads within blocks, which are as large as they get by now"),
        *CLEAN.stages,
    ),
)  # fmt: skip
"""The passes that tidy up a pullback, which reads places shortly after it has written to them."""


def normalise(graph: Graph, globals: Globals, *, after: Watcher | None = None) -> Graph:
    """Bring `graph` to normal form, in place; `globals` is what its global names are looked up in.

    `after` is called behind each pass: for checking, and for printing the stages.
    """
    made: Graph = run(NORMAL, graph, globals, after)
    return made


def clean_pullback(graph: Graph, *, after: Watcher | None = None) -> Graph:
    """Tidy the graph of a pullback, in place."""
    made: Graph = run(CLEAN_PULLBACK, graph, None, after)
    return made


def clean(graph: Graph, *, after: Watcher | None = None) -> Graph:
    """Tidy a graph in normal form that a builder made, in place."""
    made: Graph = run(CLEAN, graph, None, after)
    return made
