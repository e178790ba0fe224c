from adbc.ir.dominators import Dominators, immediate_dominators
from adbc.ir.parser import parse_graph
from adbc.ir.values import UNDEF, Const

PROTECTED = """
graph f(x)
entry: handler h
    %1 = neg %x
    %2 = pos %x
    jump good
good: handler h
    %3 = pos %2
    jump done
h:
    %p = phi [entry: %1, good: %2]
    %e = catch
    jump done
done:
    %q = phi [good: %3, h: %1]
    return %1
"""


def test_immediate_dominators_of_an_irreducible_graph():
    # The example of figure 4 of Cooper, Harvey and Kennedy: it takes a second sweep.
    edges = {6: [5, 4], 5: [1], 4: [2, 3], 3: [2], 2: [1, 3], 1: [2]}
    sources = {node: [s for s, targets in edges.items() if node in targets] for node in edges}
    found = immediate_dominators([6, 4, 3, 5, 1, 2], sources)
    assert found == {6: 6, 5: 6, 4: 6, 3: 6, 2: 6, 1: 6}


def test_tree():
    graph = parse_graph(
        "graph f(x)\nentry:\n    jump a\na:\n    branch %x, b, c\nb:\n    jump d\nc:\n    jump d\n"
        "d:\n    branch %x, a, e\ne:\n    return %x\ndead:\n    jump e"
    )
    entry, a, b, c, d, e, dead = graph.blocks
    dominators = Dominators(graph)
    assert dominators.idom == {entry: None, a: entry, b: a, c: a, d: a, e: d}
    assert dominators.children[a] == [b, c, d]
    assert dominators.dominates(a, e) and dominators.dominates(a, a)
    assert not dominators.dominates(b, d)
    assert dominators.dominates(b, dead) and not dominators.dominates(dead, e)
    assert dominators.common(b, c) is a and dominators.common(e, d) is d


def test_values_in_a_block():
    graph = parse_graph("graph f(x)\nentry:\n    %1 = neg %x\n    %2 = neg %1\n    return %2")
    dominators = Dominators(graph)
    first, second = graph.entry.instructions
    assert dominators.available(first, graph.entry, 1)
    assert not dominators.available(first, graph.entry, 0)
    assert not dominators.available(second, graph.entry, 1)
    assert dominators.available(second, graph.entry)
    assert dominators.available(graph.arguments[0], graph.entry, 0)
    assert dominators.available(Const(1), graph.entry, 0)
    assert not dominators.available(UNDEF, graph.entry)


def test_the_last_result_of_a_protected_block_is_not_there_in_the_handler():
    graph = parse_graph(PROTECTED)
    entry, good, h, done = graph.blocks
    dominators = Dominators(graph)
    one, two = entry.instructions
    assert dominators.idom == {entry: None, good: entry, h: entry, done: entry}
    assert dominators.available(one, h) and not dominators.available(two, h)
    assert dominators.available(two, good, 0)
    assert dominators.available(one, done) and not dominators.available(two, done)
    assert dominators.available_on_edge(one, entry, h)
    assert not dominators.available_on_edge(two, entry, h)
    assert dominators.available_on_edge(two, good, h)
    assert dominators.available_on_edge(two, good, done)
    assert dominators.available_on_edge(UNDEF, entry, h)
