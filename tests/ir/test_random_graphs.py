"""Random graphs: the text form loses nothing, and dominance is what its definition says."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from adbc.ir.dominators import Dominators
from adbc.ir.graph import Block, Graph
from adbc.ir.intrinsics import EXHAUSTED, _next_
from adbc.ir.loops import natural_loops
from adbc.ir.parser import parse_graph
from adbc.ir.printer import placeholders
from adbc.ir.terminators import Branch, Jump, Raise, Return, Switch, Unreachable
from adbc.ir.traverse import copy_graph, reachable
from adbc.ir.values import UNDEF, Const, Instruction, Phi, Value
from adbc.ir.verify import problems

OBJECT = ["has no text"]

literals = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.complex_numbers()
    | st.text()
    | st.binary()
    | st.sampled_from([len, int.__add__, _next_, EXHAUSTED, ..., OBJECT, st]),
    lambda inner: (
        st.lists(inner, max_size=3).map(tuple) | st.frozensets(st.integers() | st.text(), max_size=3)
    ),
    max_leaves=4,
)
names = st.none() | st.sampled_from(["x", "y", "1", "total", "a.1", "entry", "phi"])
types = st.none() | st.sampled_from(["Any", "Tuple(int, 'a = b')"])


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    """A graph whose edges go anywhere but to the entry, and whose operands are any values at all."""
    graph = Graph(draw(st.sampled_from(["f", "<lambda>", "f.<locals>.g"])))
    for name in draw(st.lists(st.sampled_from(["x", "y", ".0", "_1"]), unique=True)):
        graph.add_argument(name, draw(types))
    graph.kwonly_count = draw(st.integers(0, len(graph.arguments)))
    rest = len(graph.arguments) - graph.kwonly_count
    graph.has_varargs = rest > 0 and draw(st.booleans())
    graph.has_varkw = rest > graph.has_varargs and draw(st.booleans())
    graph.posonly_count = draw(st.integers(0, rest - graph.has_varargs - graph.has_varkw))
    graph.free = tuple(draw(st.lists(st.sampled_from(["a", "__class__"]), unique=True)))

    count = draw(st.integers(1, 8))
    blocks = [graph.add_block("entry" if i == 0 else None) for i in range(count)]
    handlers = draw(st.lists(st.sampled_from(blocks[1:]), max_size=2)) if count > 1 else []
    targets = [b for b in blocks[1:] if b not in handlers]
    values: list[Value] = list(graph.arguments)
    for block in blocks:
        if block in handlers:
            values.append(block.append(Instruction("catch", [])))
        if handlers:
            block.handler = draw(st.none() | st.sampled_from(handlers))
        values += [block.append(draw_instruction(draw)) for _ in range(draw(st.integers(0, 2)))]
        if block in targets and draw(st.booleans()):
            phi = Phi(block, draw(types), draw(names))
            block.phis.append(phi)
            values.append(phi)

    operands = literals.map(Const) | st.sampled_from(values) if values else literals.map(Const)
    for block in blocks:
        for instruction in block.instructions:
            instruction.operands = [draw(operands) for _ in instruction.operands]
        block.terminator = draw_terminator(draw, operands, targets)
    for block, sources in graph.predecessors().items():
        for phi in block.phis:
            phi.operands = {source: draw(operands | st.just(UNDEF)) for source in sources}
    return graph


def draw_instruction(draw: st.DrawFn) -> Instruction:
    op, count, attribute = draw(
        st.sampled_from(
            [("add", 2, None), ("getattr", 1, "name"), ("freevar", 0, 1), ("build_tuple", 0, None),
             ("build_list", 3, None), ("cell_get", 1, ("x", True)), ("call", 1, None), ("call", 4, None)]
        )
    )  # fmt: skip
    keywords = draw(st.sampled_from([(), ("x",), ("y", "undef")])) if count == 4 else ()
    operands = [Const(None)] * count
    return Instruction(
        op, operands, attribute=attribute, keywords=keywords, type=draw(types), name=draw(names)
    )


def draw_terminator(draw: st.DrawFn, operands: st.SearchStrategy[Value], targets: list[Block]):
    kind = draw(st.sampled_from(["return", "raise", "unreachable", "jump", "branch", "switch"]))
    if kind == "raise":
        exception = draw(st.none() | operands)
        return Raise(exception, draw(st.none() | operands) if exception is not None else None)
    if kind == "unreachable":
        return Unreachable()
    if kind == "return" or not targets:
        return Return(draw(operands))
    chosen = draw(st.lists(st.sampled_from(targets), min_size=1, max_size=3))
    if kind == "jump":
        return Jump(chosen[0])
    if kind == "branch" and len(set(chosen)) > 1:
        first, second = list(dict.fromkeys(chosen))[:2]
        return Branch(draw(operands), first, second)
    return Switch(draw(operands), dict(enumerate(chosen[1:], -1)), chosen[0])


@given(graphs())
@settings(max_examples=200, deadline=None)
def test_text_and_graph_say_the_same(graph: Graph) -> None:
    text = str(graph)
    parsed = parse_graph(text, placeholders(graph))
    assert str(parsed) == text
    assert str(copy_graph(graph)[0]) == text
    assert [str(p) for p in problems(parsed)] == [str(p) for p in problems(graph)]
    for field in ("name", "posonly_count", "kwonly_count", "has_varargs", "has_varkw", "free"):
        assert getattr(parsed, field) == getattr(graph, field)
    for old, new in zip(graph.blocks, parsed.blocks, strict=True):
        assert [b.label for b in old.successors] == [b.label for b in new.successors]
        for before, after in zip(old.instructions, new.instructions, strict=True):
            assert (before.op, before.attribute, before.keywords) == (
                after.op,
                after.attribute,
                after.keywords,
            )
            assert [repr_of(v) for v in before.operands] == [repr_of(v) for v in after.operands]


def repr_of(value: Value) -> object:
    return repr(value.value) if isinstance(value, Const) and not has_set(value.value) else type(value)


def has_set(value: object) -> bool:
    # Equal sets may list their elements differently.
    return isinstance(value, frozenset) or (isinstance(value, tuple) and any(map(has_set, value)))


def reached_without(graph: Graph, avoided: Block) -> set[Block]:
    seen: set[Block] = set()
    waiting = [graph.entry]
    while waiting:
        block = waiting.pop()
        if block not in seen and block is not avoided:
            seen.add(block)
            waiting += block.successors
    return seen


@given(graphs())
@settings(max_examples=200, deadline=None)
def test_dominance_by_its_definition(graph: Graph) -> None:
    dominators = Dominators(graph)
    live = reachable(graph)
    over = {b: {a for a in live if b not in reached_without(graph, a)} for b in live}
    for b in live:
        assert {a for a in live if dominators.dominates(a, b)} == over[b]
        strict = over[b] - {b}
        # The immediate dominator is the strict one that all the others dominate.
        expected = next((a for a in strict if over[a] == strict), None)
        assert dominators.idom[b] is expected


@given(graphs())
@settings(max_examples=100, deadline=None)
def test_results_of_protected_blocks_by_definition(graph: Graph) -> None:
    dominators = Dominators(graph)
    live = reachable(graph)
    for home in live:
        if home.handler is None or not home.instructions:
            continue
        last = home.instructions[-1]
        # Reach without passing the result: entering `home` is fine, leaving it normally is not.
        seen: set[Block] = set()
        waiting = [graph.entry]
        while waiting:
            block = waiting.pop()
            if block not in seen:
                seen.add(block)
                waiting += [home.handler] if block is home else block.successors
        for block in live - {home}:
            assert dominators.available(last, block) == (block not in seen)


@given(graphs())
@settings(max_examples=100, deadline=None)
def test_loops_are_nested_or_apart(graph: Graph) -> None:
    loops = natural_loops(graph)
    dominators = Dominators(graph)
    for i, a in enumerate(loops.all):
        assert all(dominators.dominates(a.header, b) for b in a.blocks)
        assert a.parent is None or set(a.blocks) < set(a.parent.blocks)
        for b in loops.all[i + 1 :]:
            common = set(a.blocks) & set(b.blocks)
            assert not common or common == set(b.blocks)
    for block in graph.blocks:
        around = [loop for loop in loops.all if block in loop]
        assert loops.depth(block) == len(around)
