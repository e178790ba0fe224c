"""Loops with several entrances become loops with one.

before (a generator resumed in the middle of a loop)::

    entry:                          entry:
        branch %c, a, b                 branch %c, to_a, to_b
    a:                              to_a:
        %p = phi [entry: 1, b: %q]      jump enter
        jump b                      to_b: ...
    b:                              enter:
        branch %d, a, done              %which = phi [to_a: 0, to_b: 1, ...]
                                        %p = phi [to_a: 1, ..., again_a: %q]
                                        switch %which, 0: a, default b

after: every way into the loop, and every way back to one of its entrances, goes through one new
block that says which entrance was meant.  Values that no longer dominate their uses are led through
phis.  What is left is reducible: it can be reversed loop by loop.
"""

from __future__ import annotations

from adbc.ir.builder import Variables, remove_dead_phis, remove_trivial_phis
from adbc.ir.dominators import Dominators
from adbc.ir.graph import Block, Graph
from adbc.ir.terminators import Jump, Switch
from adbc.ir.traverse import cycles, predecessors, reverse_postorder
from adbc.ir.values import Const, Instruction, Phi, Undef, Value

__all__ = ["reducible"]


def reducible(graph: Graph) -> Graph:
    """Give every loop one entrance, in place."""
    changed = False
    while True:
        entrances = _several_entrances(graph)
        if entrances is None:
            break
        _gather(graph, entrances)
        changed = True
    if changed:
        _repair(graph)
    return graph


def _several_entrances(graph: Graph) -> list[Block] | None:
    """The entrances of a loop that has more than one."""
    sources = predecessors(graph)
    pending = [list(sources)]
    while pending:
        blocks = pending.pop()
        allowed = set(blocks)
        within = {b: [s for s in b.successors if s in allowed] for b in blocks}
        for component in cycles(blocks, within.__getitem__):
            inside = set(component)
            entrances = [b for b in component if any(s not in inside for s in sources[b])]
            if len(entrances) > 1:
                return entrances
            # Without its one entrance, what is left of the loop are the loops inside it.
            pending.append([b for b in component if b not in entrances])
    return None


def _gather(graph: Graph, entrances: list[Block]) -> None:
    enter = graph.add_block("enter")
    which = Phi(enter, name="which")
    enter.phis.append(which)
    merged: dict[Phi, Phi] = {}
    sources = predecessors(graph)
    ways: list[Block] = []
    for number, entrance in enumerate(entrances):
        for source in sources[entrance]:
            way = graph.add_block(f"to_{entrance.label}")
            way.terminator = Jump(enter)
            source.terminator.replace_successor(entrance, way)
            assert source.handler is not entrance, "landing pads have one entrance"
            ways.append(way)
            which.operands[way] = Const(number)
            for phi in entrance.phis:
                into = merged.get(phi)
                if into is None:
                    into = merged[phi] = Phi(enter, phi.type, phi.name)
                    enter.phis.append(into)
                into.operands[way] = phi.operands.pop(source)
    for into in merged.values():
        for way in ways:
            into.operands.setdefault(way, Const(None))
    for phi, into in merged.items():
        phi.operands = {enter: into}
    cases = dict(enumerate(entrances[:-1]))
    enter.terminator = Switch(which, cases, entrances[-1])


def _repair(graph: Graph) -> None:
    """Insert phis for values whose definition no longer dominates all uses."""
    dominators = Dominators(graph)
    broken: dict[Value, None] = {}
    for block in dominators.order:
        for phi in block.phis:
            for source, value in phi.operands.items():
                if isinstance(value, Instruction | Phi) and not dominators.available_on_edge(
                    value, source, block
                ):
                    broken[value] = None
        for at, instruction in enumerate(block.instructions):
            for value in instruction.operands:
                if isinstance(value, Instruction | Phi) and not dominators.available(value, block, at):
                    broken[value] = None
        for value in block.terminator.values:
            if isinstance(value, Instruction | Phi) and not dominators.available(value, block):
                broken[value] = None
    if not broken:
        return
    variables = Variables(graph, initial=lambda variable: Const(None))
    for block in reverse_postorder(graph):
        for successor in block.successors:
            variables.edge(block, successor)
    for block in graph.blocks:
        variables.sealed.add(block)
    for value in broken:
        assert isinstance(value, Instruction | Phi) and value.block is not None
        variables.write(value, value.block, value)
    variables.arrange(graph.entry)

    def read(value: Value, block: Block) -> Value:
        if isinstance(value, Const | Undef) or value not in broken:
            return value
        return variables.read(value, block)

    own = {phi for block in graph.blocks for phi in block.phis}
    for block in graph.blocks:
        for phi in [p for p in block.phis if p in own]:
            phi.operands = {s: read(v, s) for s, v in phi.operands.items()}
        for instruction in block.instructions:
            instruction.operands = [
                v if isinstance(v, Instruction) and v.block is block else read(v, block)
                for v in instruction.operands
            ]
        for value in block.terminator.values:
            block.terminator.replace_value(value, read(value, block))
    remove_trivial_phis(graph, only=set(variables.phis))
    remove_dead_phis(graph)
