"""Cleaning a freshly lifted graph: what could only be decided once all edges were known.

It knows locals that may be unbound, and nothing of bytecode.
"""

from __future__ import annotations

from collections.abc import Iterable

from adbc.ir.builder import remove_dead_phis, remove_trivial_phis
from adbc.ir.graph import Graph
from adbc.ir.handlers import drop_idle_handlers
from adbc.ir.intrinsics import UNBOUND
from adbc.ir.traverse import remove_unreachable
from adbc.ir.values import Const, Instruction, Phi, Undef, Value

__all__ = ["clean", "drop_checks", "maybe_unbound"]


def clean(graph: Graph, checks: Iterable[Instruction]) -> None:
    """Drop needless checks and phis.

    Dropping a check can make a phi trivial, and a trivial phi that goes can make a check needless.
    """
    waiting = list(checks)
    while True:
        remove_trivial_phis(graph)
        left = drop_checks(graph, waiting)
        if len(left) < len(waiting) and drop_idle_handlers(graph):
            remove_unreachable(graph)
            left = [check for check in left if check.block in graph.blocks]
        if len(left) == len(waiting):
            break
        waiting = left
    remove_dead_phis(graph)


def drop_checks(graph: Graph, checks: list[Instruction]) -> list[Instruction]:
    """Remove those of `checks` whose operand is bound on every path; return the others."""
    unbound = maybe_unbound(graph)
    replaced: dict[Value, Value] = {}
    left = []
    for check in checks:
        operand = check.operands[0]
        if operand in unbound or (isinstance(operand, Const) and operand.value is UNBOUND):
            left.append(check)
        else:
            replaced[check] = operand
            assert check.block is not None
            check.block.instructions.remove(check)
    graph.replace_uses(replaced)
    return left


def maybe_unbound(graph: Graph) -> set[Value]:
    """The phis that may be `UNBOUND`."""
    users: dict[Value, list[Phi]] = {}
    waiting: list[Phi] = []
    for block in graph.blocks:
        for phi in block.phis:
            for operand in phi.operands.values():
                if isinstance(operand, Undef) or (isinstance(operand, Const) and operand.value is UNBOUND):
                    waiting.append(phi)
                else:
                    users.setdefault(operand, []).append(phi)
    found: set[Value] = set()
    while waiting:
        phi = waiting.pop()
        if phi not in found:
            found.add(phi)
            waiting += users.get(phi, ())
    return found
