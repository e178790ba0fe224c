import itertools
import sys

import pytest

from adbc.ir.graph import Block, Graph
from adbc.ir.loops import is_reducible, natural_loops
from adbc.ir.parser import parse_graph
from adbc.ir.terminators import Jump, Return
from adbc.ir.traverse import (
    copy_graph,
    is_critical,
    postorder,
    predecessors,
    reachable,
    remove_unreachable,
    reverse_postorder,
    split_critical_edges,
    split_edge,
    uses,
)
from adbc.ir.values import Const, Instruction, Position
from adbc.ir.verify import verify

NESTED = """
graph f(x)
entry:
    jump outer
outer:
    %i = phi [entry: 0, latch: %i2]
    branch %x, inner, done
inner:
    %j = phi [outer: 0, inner2: %j2, inner3: 3]
    branch %x, inner2, latch
inner2: handler h
    %j2 = add %j, 1
    branch %x, inner, inner3
inner3:
    jump inner
latch:
    %i2 = add %i, %j
    jump outer
done:
    return %i
h:
    %e = catch
    raise %e
"""

UNREACHABLE = """
graph f(x)
entry:
    jump a
a:
    %p = phi [entry: 1, dead: 2, dead2: 3]
    return %p
dead:
    branch %x, dead2, a
dead2:
    jump a
"""


def labels(blocks):
    return [block.label for block in blocks]


def block(graph: Graph, label: str) -> Block:
    return next(b for b in graph.blocks if b.label == label)


def test_orders():
    graph = parse_graph(NESTED)
    order = reverse_postorder(graph)
    assert order[::-1] == postorder(graph)
    assert labels(order) == ["entry", "outer", "inner", "inner2", "inner3", "h", "latch", "done"]
    assert reachable(graph) == set(graph.blocks)


def test_orders_of_a_graph_deeper_than_the_stack():
    graph = Graph("long")
    blocks = [graph.blocks.append(Block(graph, f"b{i}")) or graph.blocks[-1] for i in range(5000)]
    for here, there in itertools.pairwise(blocks):
        here.terminator = Jump(there)
    blocks[-1].terminator = Return(Const(None))
    assert len(blocks) > sys.getrecursionlimit()
    assert reverse_postorder(graph) == blocks
    verify(graph)
    assert len(copy_graph(graph)[0].blocks) == len(blocks)


def test_predecessors_leave_out_what_cannot_be_reached():
    graph = parse_graph(UNREACHABLE)
    entry, a = graph.blocks[:2]
    assert predecessors(graph) == {entry: [], a: [entry]}
    assert labels(graph.predecessors()[a]) == ["entry", "dead", "dead2"]


def test_remove_unreachable():
    graph = parse_graph(UNREACHABLE)
    assert labels(remove_unreachable(graph)) == ["dead", "dead2"]
    assert str(graph) == "graph f(x)\nentry:\n    jump a\na:\n    %p = phi [entry: 1]\n    return %p"
    verify(graph)
    assert remove_unreachable(graph) == []


def test_uses_are_listed_once_per_user():
    graph = parse_graph(
        "graph f(x, unused)\nentry:\n    %1 = mul %x, %x\n    jump b\n"
        "b:\n    %p = phi [entry: %x]\n    %2 = add %1, %x\n    return %2"
    )
    x, unused = graph.arguments
    entry, b = graph.blocks
    (first,), (second,), (phi,) = entry.instructions, b.instructions, b.phis
    found = uses(graph)
    assert found[x] == [first, phi, second]
    assert found[first] == [second]
    assert found[second] == [b.terminator]
    assert found[unused] == found[phi] == []


def test_split_edge_keeps_phis_and_order():
    graph = parse_graph(NESTED)
    new = split_edge(block(graph, "inner2"), block(graph, "inner"))
    verify(graph)
    assert new.label == "inner2.inner"
    assert graph.blocks.index(new) == graph.blocks.index(block(graph, "inner2")) + 1
    (phi,) = block(graph, "inner").phis
    assert labels(phi.operands) == ["outer", "inner2.inner", "inner3"]


def test_split_edge_of_several_cases():
    graph = parse_graph(
        "graph f(x)\nentry:\n    switch %x, [0: a, 1: a], b\na:\n    %p = phi [entry: 1]\n"
        "    return %p\nb:\n    return %x"
    )
    split_edge(graph.entry, block(graph, "a"), "mid")
    verify(graph)
    assert "switch %x, [0: mid, 1: mid], b" in str(graph)


def test_exceptional_edges_cannot_be_split():
    graph = parse_graph(NESTED)
    with pytest.raises(ValueError, match="no normal edge from inner2 to h"):
        split_edge(block(graph, "inner2"), block(graph, "h"))


def test_split_critical_edges():
    graph = parse_graph(NESTED)
    assert labels(split_critical_edges(graph)) == ["outer.inner", "inner2.inner"]
    verify(graph)
    sources = graph.predecessors()
    assert not any(is_critical(b, t, sources) for b in graph.blocks for t in b.terminator.successors)
    assert split_critical_edges(graph) == []


def test_copy_shares_nothing():
    graph = parse_graph(NESTED)
    graph.kwonly_count = 1
    graph.free = ("y",)
    graph.arguments[0].type = "T"
    shared = Const(1)
    graph.entry.append(Instruction("add", [shared, shared], position=Position(3)))
    before = str(graph)
    copy, values, blocks = copy_graph(graph)
    verify(copy)
    assert str(copy) == before
    assert copy.filename == graph.filename
    assert set(blocks) == set(graph.blocks) and not set(graph.blocks) & set(copy.blocks)
    assert not set(values) & set(values.values())
    (new,) = copy.entry.instructions
    assert new.operands == [values[shared]] * 2 and new.position == Position(3)

    copy.entry.instructions.clear()
    copy.arguments[0].type = None
    copy.guards.append(None)
    copy.blocks[1].phis[0].operands.clear()
    assert str(graph) == before


def test_nested_loops():
    graph = parse_graph(NESTED)
    loops = natural_loops(graph)
    outer, inner = loops.all
    assert loops.outermost == [outer] and outer.children == [inner] and inner.parent is outer
    assert labels(outer.blocks) == ["outer", "inner", "inner2", "inner3", "latch"]
    assert labels(inner.blocks) == ["inner", "inner2", "inner3"]
    assert labels(inner.latches) == ["inner2", "inner3"]
    assert [labels(edge) for edge in inner.exits] == [["inner", "latch"], ["inner2", "h"]]
    assert (outer.depth, inner.depth) == (1, 2)
    assert block(graph, "inner3") in outer and block(graph, "done") not in outer
    assert [loops.depth(b) for b in graph.blocks] == [0, 1, 2, 2, 2, 1, 0, 0]
    assert is_reducible(graph)


def test_loops_side_by_side_and_of_one_block():
    graph = parse_graph(
        "graph f(x)\nentry:\n    jump a\na:\n    branch %x, a, b\nb:\n    branch %x, b, c\nc:\n    return %x"
    )
    loops = natural_loops(graph)
    assert [labels(loop.blocks) for loop in loops.all] == [["a"], ["b"]]
    assert [loop.depth for loop in loops.all] == [1, 1]


def test_irreducible():
    graph = parse_graph(
        "graph f(x)\nentry:\n    branch %x, a, b\na:\n    jump b\nb:\n    branch %x, a, c\nc:\n    return %x"
    )
    assert not is_reducible(graph)
    assert natural_loops(graph).all == []


def test_blocks_that_run_once_in_an_iteration():
    graph = parse_graph(
        "graph f(x)\nentry:\n    jump head\nhead:\n    branch %x, a, b\na:\n    jump c\nb:\n    jump c\n"
        "c:\n    branch %x, a, latch\nlatch:\n    branch %x, head, done\ndone:\n    return %x"
    )
    (loop,) = natural_loops(graph).all
    assert labels(b for b in loop.blocks if loop.runs_once(b)) == ["head", "b", "latch"]
