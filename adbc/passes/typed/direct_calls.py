"""Functions that first look at the class of an array are passed over for direct ones, where the class is
known.

    %2: float64 = call numpy.sum(%1)

becomes, `%1` being an array of NumPy's own class,

    %2: float64 = call quick_sum(%1)

The rule of the function says which other one gives the same (`rules.table.Rule.direct`).
"""

from __future__ import annotations

from adbc.ir.graph import Graph
from adbc.ir.values import Const
from adbc.types.callsites import Knowledge, row_of
from adbc.types.inference import call_parts, type_of
from adbc.types.lattice import ArrayType

__all__ = ["direct_calls"]


def direct_calls(graph: Graph, knowledge: Knowledge) -> None:
    """Replace functions by their direct ones, in the typed `graph`, where the first argument is known to be
    an array."""
    for call in graph.instructions():
        if call.op != "call" or len(call.operands) < 2:
            continue
        callee, arguments = call_parts(call)
        if not isinstance(callee, Const) or not arguments or not isinstance(type_of(arguments[0]), ArrayType):
            continue
        row = row_of(call, knowledge)
        direct = None if row is None else row.direct(len(arguments), call.keywords)
        if direct is not None:
            call.operands = [Const(direct), *arguments]
