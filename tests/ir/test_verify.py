"""What text cannot say; `filetests/verifier` has the rest."""

import pytest

from adbc.errors import VerificationError
from adbc.ir.builder import Builder
from adbc.ir.graph import Block, Graph
from adbc.ir.parser import parse_graph
from adbc.ir.terminators import Branch, Jump, Return
from adbc.ir.values import Argument, Const, Phi
from adbc.ir.verify import problems, verify


def simple() -> tuple[Graph, Builder]:
    graph = Graph("f")
    x = graph.add_argument("x")
    builder = Builder(graph)
    builder.ret(builder.emit("neg", x))
    return graph, builder


def messages(graph: Graph) -> list[str]:
    return [str(problem) for problem in problems(graph)]


def test_a_right_graph_has_no_problems():
    graph, _ = simple()
    assert problems(graph) == []
    verify(graph)


def test_the_error_shows_the_graph():
    graph = parse_graph("graph f(x)\nentry:\n    %1 = add %x\n    return undef")
    with pytest.raises(VerificationError) as caught:
        verify(graph)
    assert str(caught.value) == (
        "2 problems in graph f:\n"
        "  entry: %1: add takes 2 operands, not 1\n"
        "  entry: return: only phis may use undef\n"
        "\n"
        "graph f(x)\n"
        "entry:\n"
        "    %1 = add %x\n"
        "        ; error: add takes 2 operands, not 1\n"
        "    return undef\n"
        "        ; error: only phis may use undef"
    )


def test_normal_form_is_asked_for():
    graph, _ = simple()
    with pytest.raises(VerificationError, match="neg is not allowed in normal form"):
        verify(graph, normal_form=True)


def test_values_of_another_graph():
    graph, builder = simple()
    other, _ = simple()
    builder.emit("add", other.arguments[0], other.entry.instructions[0])
    assert messages(graph) == [
        "entry: %2: uses %?x, which is not in this graph",
        "entry: %2: uses %?4, which is not in this graph",
    ]


def test_blocks_of_another_graph():
    graph, _ = simple()
    outside = Block(graph, "outside")
    graph.entry.terminator = Jump(outside)
    graph.entry.handler = outside
    assert messages(graph) == [
        "entry: handler outside is not a block of this graph",
        "entry: jump: goes to outside, which is not a block of this graph",
        "entry: jump: goes to handler outside, which only exceptions may enter",
    ]
    graph, _ = simple()
    block = Block(Graph("g"), "b")
    block.terminator = Return(Const(1))
    graph.blocks.append(block)
    assert messages(graph) == ["b: block belongs to another graph"]


def test_labels():
    graph, _ = simple()
    for label in ("entry", "two words"):
        graph.blocks.append(Block(graph, label))
    assert messages(graph) == [
        "entry: label entry is not unique",
        "two words: label 'two words' cannot be written",
    ]


def test_a_block_is_listed_once():
    graph, _ = simple()
    graph.blocks.append(graph.entry)
    assert "entry: block is listed twice" in messages(graph)


def test_places_of_instructions_and_phis():
    graph, _ = simple()
    second = graph.add_block("b")
    second.terminator = Return(Const(1))
    moved = graph.entry.instructions[0]
    second.instructions.append(moved)
    assert messages(graph) == ["b: %1: %1 is defined twice"]
    graph.entry.instructions.remove(moved)
    assert messages(graph) == ["b: %1: says that it is in block entry"]
    second.instructions.clear()
    graph.entry.terminator = Jump(second)
    phi = Phi(graph.entry)
    phi.operands[graph.entry] = Const(1)
    second.phis.append(phi)
    assert messages(graph) == ["b: %1: says that it is in block entry"]


def test_arguments_that_contradict_the_signature_are_found():
    graph, _ = simple()
    graph.arguments.append(Argument("x", 5))
    graph.arguments.append(Argument("2", 2))
    graph.kwonly_count = 3
    graph.has_varargs = True
    assert messages(graph) == [
        "f: there are two arguments x",
        "f: argument x is number 1, not 5",
        "f: argument '2' cannot be written",
        "f: there are fewer arguments than the signature says",
    ]


def test_operands_are_values():
    graph, _ = simple()
    graph.entry.instructions[0].operands = [3]  # type: ignore[list-item]
    assert messages(graph) == ["entry: %1: operand 3 is not a value"]


def test_keywords_and_calls():
    graph, builder = simple()
    call = builder.call(len, 1, keywords=("a", "b"))
    assert messages(graph) == ["entry: %2: there are more keywords than arguments"]
    call.operands.clear()
    call.keywords = ()
    assert messages(graph) == ["entry: %2: call cannot have 0 operands"]


def test_a_result_that_does_not_exist_yet_at_a_merge_through_the_handler():
    graph = parse_graph(
        "graph f(x)\nentry: handler h\n    %1 = neg %x\n    jump done\n"
        "h:\n    %e = catch\n    jump done\ndone:\n    return %1"
    )
    assert messages(graph) == ["done: return: %1 of block entry is not defined on every path to its use"]


def test_a_handler_that_is_also_an_arm():
    graph = parse_graph(
        "graph f(x)\nentry: handler h\n    branch %x, a, h\na:\n    return %x\nh:\n    %1 = catch\n    raise"
    )
    assert messages(graph) == ["entry: branch: goes to handler h, which only exceptions may enter"]


def test_dead_code_may_use_anything():
    graph, builder = simple()
    dead = graph.add_block("dead")
    builder.block = dead
    builder.ret(graph.entry.instructions[0])
    verify(graph)


def test_branch_on_a_constant_bool():
    graph, _ = simple()
    a, b = graph.add_block("a"), graph.add_block("b")
    a.terminator = b.terminator = Return(Const(None))
    graph.entry.terminator = Branch(Const(True), a, b)
    verify(graph)
    graph.entry.terminator = Branch(Const(1), a, b)
    assert len(problems(graph)) == 1


def test_values_without_a_type_are_named_where_all_must_have_one():
    graph = parse_graph(
        "graph f(x: float, y)\nentry:\n    %1: float = neg %x\n    %2 = neg %y\n    return %2\n"
    )
    assert problems(graph) == []
    found = problems(graph, is_typed=lambda known: known is not None)
    assert [str(problem) for problem in found] == ["f: no type: y", "entry: %2: its type is None"]
