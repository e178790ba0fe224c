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

from adbc.ir.graph import Block, Graph
from adbc.ir.repair import repair
from adbc.ir.terminators import Jump, Switch
from adbc.ir.traverse import cycles, predecessors
from adbc.ir.values import Const, Phi

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
        repair(graph)
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
