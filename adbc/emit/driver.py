"""From graph to code object.

`delegation` finds the loops of ``yield from``, `regions` joins what one handler protects, `flow` lays
the blocks out, `schedule` decides what stays on the stack, `slots` gives the rest to local variables,
`writer` writes it, `assembler` spells it for the running interpreter and `encoding` makes it a code object.
"""

from __future__ import annotations

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

__all__ = ["emit", "emit_function"]


def emit(
    graph: Graph,
    *,
    name: str | None = None,
    qualname: str | None = None,
    docstring: str | None = None,
    places: list[tuple[int, int, Inlined]] | None = None,
) -> types.CodeType:
    """The code object of a graph; the graph is not changed.

    places: is told which of the code (from, up to, in bytes) is that of functions written into this one.
    """
    graph = widened(delegated(graph))
    flow = Flow(graph, cut_at_releases(graph))
    schedule = Schedule(graph, flow)
    slots = Slots(graph, flow, schedule)
    writer = Writer(graph, flow, schedule, slots)
    assembler = writer.write()
    positional = len(graph.arguments) - graph.kwonly_count - graph.has_varargs - graph.has_varkw
    heading = Heading(
        name=name if name is not None else graph.name,
        qualname=qualname if qualname is not None else (name if name is not None else graph.qualname),
        filename=graph.filename,
        first_line=graph.first_line,
        positional=positional,
        posonly=graph.posonly_count,
        kwonly=graph.kwonly_count,
        local_names=slots.names,
        cell_names=writer.cell_names(),
        free_names=list(graph.free),
    )
    code = assembler.finish(
        heading,
        varargs=graph.has_varargs,
        varkw=graph.has_varkw,
        nested=bool(graph.free),
        generator=graph.is_generator,
        docstring=docstring,
    )
    if places is not None:
        places += assembler.places
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
