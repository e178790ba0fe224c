"""The stages from a function to its primal graph: lifted, in normal form, with small functions written in."""

from __future__ import annotations

import types
from collections.abc import Sequence
from typing import Any, Protocol

from adbc import lift, passes  # loaded when they are first used
from adbc.ir.graph import Graph
from adbc.ir.values import Instruction, Value
from adbc.passes.normal.closed_cells import closed_cells
from adbc.passes.normal.dropped_generators import Made, ask_before_holders, drop_generators
from adbc.passes.normal.foreigncall_to_call import normal_call
from adbc.passes.normal.getters import getters
from adbc.passes.normal.handler_ends import handler_ends
from adbc.passes.normal.inline_calls import inline_calls
from adbc.passes.normal.inner_displays import inner_displays
from adbc.passes.normal.known_calls import known_calls
from adbc.passes.normal.managers import managers
from adbc.passes.normal.named_tuples import named_tuples
from adbc.passes.normal.recollections import recollections
from adbc.passes.normal.refusals import pass_by_handlers
from adbc.passes.normal.scalar_replacement import scalar_replacement
from adbc.passes.normal.segments import cells_as_arguments
from adbc.passes.normal.spread_mappings import spread_mappings
from adbc.passes.normal.spread_sequences import spread_sequences
from adbc.passes.normal.step_edges import step_edges
from adbc.passes.normal.trivial_phis import trivial_phis
from adbc.passes.normal.zipped_loops import zipped_loops
from adbc.passes.stages import Group, Stage, in_place, run
from adbc.records import record
from adbc.rules.builtins.getters import getter_function
from adbc.runtime.build.calling import Calling
from adbc.runtime.build.consuming import Consuming
from adbc.runtime.build.facts import Classes
from adbc.runtime.build.managing import Managing
from adbc.runtime.report.observer import Observer
from adbc.runtime.state.graph_functions import Segments

__all__ = [
    "CLASS_BODY",
    "LIFT",
    "LIFT_CLASS_BODY",
    "LOCAL",
    "GeneratorsOf",
    "Lifting",
    "class_body_graph",
    "primal_graph",
]


class Callees(Protocol):
    """What is asked of other functions while one is lifted: `graphs.Graphs`."""

    inlines: bool
    lifting: set[Any]

    @property
    def table(self) -> Any: ...

    def makes_closed(self, graph: Graph, function: types.FunctionType) -> bool: ...

    def must_be_closed(self, made: Made, function: types.FunctionType) -> bool: ...

    def only_consumes(
        self, function: types.FunctionType | types.CodeType, index: int, caller: Any
    ) -> bool: ...

    def makes_walked_by_closed(self, maker: object) -> bool: ...

    @property
    def bindings(self) -> Any: ...

    def primal(self, function: types.FunctionType) -> Graph: ...

    def lifted(self, code: types.CodeType, globals: dict[str, Any]) -> Graph: ...

    def segments(self, function: types.FunctionType, /) -> Segments: ...

    def small_callee(self, graph: Graph, call: Instruction) -> tuple[Graph, list[Value]] | None: ...

    def moved(self, body: Graph, globals: dict[str, Any], graph: Graph) -> Graph | None: ...


class GeneratorsOf:
    """What is known of the functions that one function calls: `dropped_generators.Functions`."""

    def __init__(self, callees: Callees, function: types.FunctionType) -> None:
        self.callees = callees
        self.function = function

    def must_be_closed(self, made: Made) -> bool:
        return self.callees.must_be_closed(made, self.function)

    def only_consumes(self, function: types.FunctionType | types.CodeType, index: int) -> bool:
        return self.callees.only_consumes(function, index, self.function)

    def makes_walked_by_closed(self, maker: object) -> bool:
        return self.callees.makes_walked_by_closed(maker)


@record(frozen=True)
class Lifting:
    """What the stages of this module work with: a function, and who knows of others."""

    callees: Callees
    function: types.FunctionType
    contents: Sequence[Any] | None = None
    """What the cells of the closure of the function hold, if that is to be written into it."""


def _lifted(function: types.FunctionType, lifting: Lifting) -> Graph:
    graph: Graph = lift.lift(function, inline=True, looks=True)
    graph.namespace = function.__globals__
    return graph


def _lifted_class_body(function: types.FunctionType, lifting: Lifting) -> Graph:
    return lift.lift_class_body(function, inline=True, looks=True)


def _dropped_generators(graph: Graph, lifting: Lifting) -> Graph:
    function = lifting.function
    generators = GeneratorsOf(lifting.callees, function)
    ask_before_holders(graph, generators)
    if not lifting.callees.makes_closed(graph, function):
        return graph
    graph = lift.lift(function, inline=True, releases=True, looks=True)
    graph.namespace = function.__globals__
    passes.normalise(graph, function.__globals__)
    ask_before_holders(graph, generators)
    drop_generators(graph, generators)
    return graph


def _closed_cells(graph: Graph, lifting: Lifting) -> Graph:
    if lifting.contents is not None and closed_cells(graph, lifting.contents):
        passes.normalise(graph, lifting.function.__globals__)
    return graph


def _functions_for_getters(graph: Graph, lifting: Lifting) -> Graph:
    getters(graph, getter_function)
    return graph


def _written_managers(graph: Graph, lifting: Lifting) -> Graph:
    callees = lifting.callees
    if callees.inlines and managers(graph, Managing(callees, graph).manager):
        passes.normalise(graph, lifting.function.__globals__)
    return graph


def _consumed_generators(graph: Graph, lifting: Lifting) -> Graph:
    if lifting.callees.inlines:
        Consuming(lifting.callees).consume(graph, lifting.function.__globals__)
    return graph


def _inlined_calls(graph: Graph, lifting: Lifting) -> Graph:
    if not lifting.callees.inlines:
        return graph
    calling = Calling(lifting.callees, graph)
    choose = calling.choose
    changed = spread_sequences(graph, calling.signature, normal_call)
    changed |= spread_mappings(graph, calling.signature, normal_call)
    is_new = True
    while is_new:
        # What was written in may call what is known by now.
        is_new = known_calls(graph, normal_call)
        is_new |= inline_calls(graph, choose)
        changed |= is_new
    if changed:
        passes.normalise(graph, lifting.function.__globals__)
    return graph


def _replaced_scalars(graph: Graph, lifting: Lifting) -> Graph:
    callees = lifting.callees
    if callees.inlines:
        found = scalar_replacement(graph, Classes(callees.table), callees.small_callee)
        trivial_phis(found)  # or the body of a loop begins with some, and is not seen to be one
        if found is not graph:  # a constructor may ask for what it was given
            passes.normalise(found, lifting.function.__globals__)
        return found
    return graph


def _read_fields(graph: Graph, lifting: Lifting) -> Graph:
    callees = lifting.callees
    if callees.inlines and named_tuples(graph, lambda cls: not callees.table.rows(cls)):
        passes.normalise(graph, lifting.function.__globals__)
    return graph


def _inner_displays(graph: Graph, lifting: Lifting) -> Graph:
    def maker(function: Any) -> Any:
        rows = lifting.callees.table.rows(function)
        return next((row.joined_array for row in rows if row.joined_array is not None), None)

    inner_displays(graph, maker)
    return graph


LIFT: Group[Lifting] = Group(
    "lift",
    (Stage("lift", _lifted, (), ("graph",), "from bytecode to a graph: nothing else sees bytecode"),),
)

LOCAL: Group[Lifting] = Group(
    "local",
    (
        Stage("dropped_generators", _dropped_generators, ("normal form",), ("closed generators",),
              "where the frame lets go of a generator is lost once functions are written into each other; and"
              " only the lifter knows it, which is asked again if some generator has to be closed"),
        Stage("closed_cells", _closed_cells, ("normal form",), ("normal form",),
              "what was in cells is a constant before anything is written in"),
        Stage("getters", _functions_for_getters, ("normal form",), ("normal form",),
              "the functions that they are may be written in"),
        Stage("managers", _written_managers, ("closed generators",), ("normal form",),
              "a generator in the body of a with is consumed without an exception having a handler there"),
        Stage("consumed_generators", _consumed_generators, ("closed generators",), ("normal form",),
              "generators become loops before loops are looked at; what they shared in cells becomes values"),
        Stage("zipped_loops", in_place(zipped_loops), ("normal form",), ("single iterators",),
              "loops take from several iterators as they would from one, before they are copied elsewhere"),
        Stage("inline_calls", _inlined_calls, ("closed generators",), ("small functions",),
              "on normal forms: what is written in has gone all this way itself"),
        Stage("scalar_replacement", _replaced_scalars, ("small functions",), ("own objects",),
              "escape analysis sees what is done to an object when constructors and methods are written in"),
        Stage("generators_of_objects", _consumed_generators, ("own objects",), ("own objects",),
              "what constructors and methods that were written in consume was given to a call before"),
        Stage("named_tuples", _read_fields, ("own objects",), ("normal form",),
              "what the functions that are written in do with named tuples is seen by then"),
        Stage("inner_displays", _inner_displays, ("small functions",), ("normal form",),
              "displays are by then where they are used; before types, which know arrays of arrays"),
        Stage("recollections", in_place(recollections), ("small functions",), ("normal form",),
              "what a method compares and what it writes may stand in functions that were written in"),
        Stage("step_edges", in_place(step_edges), ("own objects",), ("steps",),
              "behind all that merges blocks: guesses need the place"),
        Stage("handler_ends", in_place(handler_ends), ("own objects",), ("handler ends",),
              "behind all that merges blocks: guesses need the place"),
        Stage("refusals", in_place(pass_by_handlers), ("normal form",), ("primal",),
              "passes that know handlers by their shape have seen them as they were"),
    ),
)  # fmt: skip
"""The stages that look at other functions, and at no types."""

LIFT_CLASS_BODY: Group[Lifting] = Group(
    "lift class body",
    (Stage("lift_class_body", _lifted_class_body, (), ("graph",), "as `lift`, of the code of a class"),),
)

CLASS_BODY: Group[Lifting] = Group(
    "class body",
    (
        Stage("cells_as_arguments", in_place(cells_as_arguments), ("normal form",), ("cells",),
              "promote_cells has to know cells of its own from those of the closure"),
        Stage("refusals", in_place(pass_by_handlers), ("normal form",), ("primal",),
              "last, as it is for functions"),
    ),
)  # fmt: skip


def primal_graph(lifting: Lifting, observer: Observer) -> Graph:
    """The graph of a function in normal form, with small functions written into it."""
    function, callees = lifting.function, lifting.callees
    after = observer.watcher(function.__code__, "primal")
    graph: Graph = run(LIFT, function, lifting, after)
    run(passes.NORMAL, graph, function.__globals__, after)
    key = (function.__code__, id(function.__globals__))
    callees.lifting.add(key)
    try:
        graph = run(LOCAL, graph, lifting, after)
    finally:
        callees.lifting.discard(key)
    return graph


def class_body_graph(lifting: Lifting, observer: Observer) -> Graph:
    """The graph of the body of a class in normal form, which is given its namespace and cells."""
    function = lifting.function
    after = observer.watcher(function.__code__, "primal")
    graph: Graph = run(LIFT_CLASS_BODY, function, lifting, after)
    run(passes.NORMAL, graph, function.__globals__, after)
    run(CLASS_BODY, graph, lifting, after)
    return graph
