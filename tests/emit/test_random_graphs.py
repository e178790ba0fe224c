"""Random graphs, irreducible ones included: emitted code gives what the interpreter of graphs gives."""

from __future__ import annotations

import operator
import random

import pytest

from adbc.emit import emit
from adbc.ir.builder import Builder, Variables
from adbc.ir.graph import Graph
from adbc.ir.interpret import interpret
from adbc.ir.intrinsics import _bool_, _exhausted_, _iter_, _new_, _next_, _project_, _unpack_
from adbc.ir.values import Value
from adbc.ir.verify import verify
from tests.emit.checking import checked

NAMES = ["a", "b", "c", "d", "e"]


def pair(x: int, y: int) -> tuple[int, int]:
    return (x + 1) % 1000, (y * 3 + x) % 1000


def random_graph(rng: random.Random) -> Graph:
    """Blocks that shuffle five numbers, with any control flow; `fuel` makes sure that it ends."""
    graph = Graph("random")
    count = rng.randint(2, 9)
    entry = graph.add_block("entry")
    blocks = [graph.add_block(f"n{k}") for k in range(count)]
    out = graph.add_block("out")
    variables = Variables(graph)
    for name in NAMES[:2]:
        variables.write(name, entry, graph.add_argument(name))
    variables.write("fuel", entry, graph.add_argument("fuel"))
    for name in NAMES[2:]:
        variables.write(name, entry, Builder.value(rng.randint(0, 9)))
    builder = Builder(graph, entry)
    builder.jump(blocks[0])
    variables.edge(entry, blocks[0])
    variables.seal(entry)
    for number, block in enumerate(blocks):
        builder.block = block

        def read(name: str, block: object = block) -> Value:
            return variables.read(name, builder.block)

        fuel = builder.call(operator.sub, read("fuel"), 1)
        variables.write("fuel", builder.block, fuel)
        empty = builder.call(operator.lt, fuel, 0)
        body = graph.add_block(f"n{number}.body")
        builder.branch(empty, out, body)
        variables.edge(builder.block, out)
        variables.edge(builder.block, body)
        builder.block = body
        for _ in range(rng.randint(0, 5)):
            kind = rng.random()
            x, y, z = (rng.choice(NAMES) for _ in range(3))
            if kind < 0.4:
                f = rng.choice([operator.add, operator.sub, operator.mul, operator.xor])
                total = builder.call(f, read(x), rng.choice([read(y), rng.randint(1, 5)]))
                variables.write(z, builder.block, builder.call(operator.mod, total, 1009))
            elif kind < 0.6:
                first, second = read(x), read(y)
                variables.write(x, builder.block, second)
                variables.write(y, builder.block, first)
            elif kind < 0.8:
                both = builder.call(_unpack_, builder.call(pair, read(x), read(y)), 2)
                variables.write(y, builder.block, builder.call(_project_, both, 1))
                variables.write(x, builder.block, builder.call(_project_, both, 0))
            elif kind < 0.9:
                variables.write(z, builder.block, Builder.value(rng.randint(0, 99)))
            else:
                display = builder.call(_new_, tuple, read(x), read(y), read(z))
                variables.write(z, builder.block, builder.call(operator.getitem, display, rng.randint(0, 2)))
        if rng.random() < 0.3:
            loop(graph, builder, variables, rng)
        targets = rng.sample(blocks, min(len(blocks), rng.randint(1, 4)))
        here = builder.block
        x, y = rng.choice(NAMES), rng.choice(NAMES)
        if len(targets) == 1:
            builder.jump(targets[0])
        elif len(targets) == 2 and rng.random() < 0.8:
            if rng.random() < 0.5:
                condition = builder.call(operator.lt, read(x), read(y))
            else:
                condition = builder.call(_bool_, builder.call(operator.and_, read(x), 1))
                if rng.random() < 0.3:
                    condition = builder.call(operator.not_, condition)
            builder.branch(condition, targets[0], targets[1])
        else:
            choice = builder.call(operator.mod, read(x), 5)
            cases = {k: rng.choice(targets) for k in range(rng.randint(1, 5))}
            builder.switch(choice, cases, targets[-1])
            targets = list(dict.fromkeys((*cases.values(), targets[-1])))
        for target in targets:
            variables.edge(here, target)
    builder.block = out
    result = builder.call(_new_, tuple, *(variables.read(name, out) for name in NAMES))
    builder.ret(result)
    variables.finish()
    reachable = {graph.entry}
    work = [graph.entry]
    while work:
        for successor in work.pop().successors:
            if successor not in reachable:
                reachable.add(successor)
                work.append(successor)
    graph.blocks = [block for block in graph.blocks if block in reachable]
    for block in graph.blocks:
        for phi in block.phis:
            phi.operands = {b: v for b, v in phi.operands.items() if b in reachable}
    return graph


def loop(graph: Graph, builder: Builder, variables: Variables, rng: random.Random) -> None:
    """A ``for`` over a few numbers, perhaps with a way out."""
    x, y = rng.choice(NAMES), rng.choice(NAMES)
    head, body, after = graph.add_block("head"), graph.add_block("body"), graph.add_block("after")
    iterator = builder.call(_iter_, builder.call(range, rng.randint(0, 4)))
    if rng.random() < 0.5:
        variables.write(y, builder.block, builder.call(operator.add, variables.read(y, builder.block), 1))
    if rng.random() < 0.5:  # the iterator waits in a variable while something else is decided
        late, early = graph.add_block("late"), graph.add_block("early")
        builder.branch(builder.call(operator.lt, variables.read(x, builder.block), 50), late, early)
        for block in (late, early):
            variables.edge(builder.block, block)
        builder.block = early
        builder.jump(after)
        variables.edge(early, after)
        builder.block = late
        variables.write(rng.choice(NAMES), late, Builder.value(rng.randint(0, 9)))
    builder.jump(head)
    variables.edge(builder.block, head)
    builder.block = head
    value = builder.call(_next_, iterator)
    builder.branch(builder.call(_exhausted_, value), after, body)
    variables.edge(head, after)
    variables.edge(head, body)
    builder.block = body
    total = builder.call(operator.add, value, variables.read(x, body))
    variables.write(x, body, builder.call(operator.mod, total, 97))
    if rng.random() < 0.4:
        odd = builder.call(_bool_, builder.call(operator.and_, variables.read(y, body), 1))
        builder.branch(odd, after, head)
        variables.edge(body, after)
    else:
        builder.jump(head)
    variables.edge(body, head)
    builder.block = after


@pytest.mark.parametrize("seed", range(300))
def test_random_graph(seed: int) -> None:
    rng = random.Random(seed)
    graph = random_graph(rng)
    verify(graph)
    before = str(graph)
    function = checked(graph)
    assert str(graph) == before, "emission changed the graph"
    for _ in range(4):
        arguments = rng.randint(0, 50), rng.randint(0, 50), rng.randint(0, 40)
        assert function(*arguments) == interpret(graph, *arguments, limit=100_000), graph
    assert emit(graph).co_code == function.__code__.co_code, "emission depends on chance"
