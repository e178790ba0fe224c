"""From graph to code object.

`delegation` finds the loops of ``yield from``, `regions` joins what one handler protects, `flow` lays
the blocks out, `schedule` decides what stays on the stack, `slots` gives the rest to local variables,
`writer` writes it, `assembler` spells it for the running interpreter and `encoding` makes it a code object.
"""

from __future__ import annotations

import dataclasses
import types
from typing import Any

from adbc.emit.delegation import delegated
from adbc.emit.encoding import Heading
from adbc.emit.flow import Flow
from adbc.emit.regions import widened
from adbc.emit.releases import cut_at_releases
from adbc.emit.schedule import Schedule
from adbc.emit.slots import Slots
from adbc.emit.writer import Writer
from adbc.ir.graph import Graph
from adbc.ir.values import Inlined
from adbc.passes.stages import Group, Stage, run
from adbc.records import record

__all__ = ["EMIT", "emit", "emit_function"]


@record
class Emission:
    """What the stages of emission work with: how the code is to be called, and what they have found."""

    name: str | None = None
    qualname: str | None = None
    docstring: str | None = None
    flow: Flow | None = None
    schedule: Schedule | None = None
    slots: Slots | None = None
    places: list[tuple[int, int, Inlined]] = dataclasses.field(default_factory=list)


def _flow(graph: Graph, emission: Emission) -> Graph:
    emission.flow = Flow(graph, cut_at_releases(graph))
    return graph


def _schedule(graph: Graph, emission: Emission) -> Graph:
    assert emission.flow is not None
    emission.schedule = Schedule(graph, emission.flow)
    return graph


def _slots(graph: Graph, emission: Emission) -> Graph:
    assert emission.flow is not None and emission.schedule is not None
    emission.slots = Slots(graph, emission.flow, emission.schedule)
    return graph


def _write(graph: Graph, emission: Emission) -> types.CodeType:
    assert emission.flow is not None and emission.schedule is not None and emission.slots is not None
    writer = Writer(graph, emission.flow, emission.schedule, emission.slots)
    assembler = writer.write()
    name, qualname = emission.name, emission.qualname
    positional = len(graph.arguments) - graph.kwonly_count - graph.has_varargs - graph.has_varkw
    heading = Heading(
        name=name if name is not None else graph.name,
        qualname=qualname if qualname is not None else (name if name is not None else graph.qualname),
        filename=graph.filename,
        first_line=graph.first_line,
        positional=positional,
        posonly=graph.posonly_count,
        kwonly=graph.kwonly_count,
        local_names=emission.slots.names,
        cell_names=writer.cell_names(),
        free_names=list(graph.free),
    )
    code = assembler.finish(
        heading,
        varargs=graph.has_varargs,
        varkw=graph.has_varkw,
        nested=bool(graph.free),
        generator=graph.is_generator,
        docstring=emission.docstring,
    )
    emission.places += assembler.places
    return code


EMIT: Group[Emission] = Group(
    "emit",
    (
        Stage("delegation", lambda graph, emission: delegated(graph), ("normal form",), ("delegations",),
              "the loops of yield from become one operation again, in a copy"),
        Stage("regions", lambda graph, emission: widened(graph), ("delegations",), ("regions",),
              "what one handler protects is joined, so that the table of exceptions has few entries"),
        Stage("flow", _flow, ("regions",), ("order of blocks",),
              "what a block is entered from decides whether it may begin with values on the stack"),
        Stage("schedule", _schedule, ("order of blocks",), ("values on the stack",),
              "what stays on the stack needs no local variable"),
        Stage("slots", _slots, ("values on the stack",), ("local variables",),
              "the rest shares local variables where lives do not meet"),
        Stage("write", _write, ("order of blocks", "values on the stack", "local variables"), ("code",),
              "every instruction and every move is known"),
    ),
)  # fmt: skip


def emit(
    graph: Graph,
    *,
    name: str | None = None,
    qualname: str | None = None,
    docstring: str | None = None,
    places: list[tuple[int, int, Inlined]] | None = None,
) -> types.CodeType:
    """The code object of a graph; the graph is not changed.

    places: gets the parts of the code (from, to, in bytes) that are of functions written into this one.
    """
    emission = Emission(name, qualname, docstring)
    code: types.CodeType = run(EMIT, graph, emission)
    if places is not None:
        places += emission.places
    return code


def emit_function(
    graph: Graph,
    globals: dict[str, Any],
    *,
    name: str | None = None,
    qualname: str | None = None,
    docstring: str | None = None,
    defaults: tuple[Any, ...] | None = None,
    kwdefaults: dict[str, Any] | None = None,
    closure: tuple[types.CellType, ...] | None = None,
) -> types.FunctionType:
    """The function of a graph, with `globals` and a cell for each of `graph.free`."""
    code = emit(graph, name=name, qualname=qualname, docstring=docstring)
    function = types.FunctionType(code, globals, code.co_name, defaults, closure)
    function.__kwdefaults__ = kwdefaults
    return function
