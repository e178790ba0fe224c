import pytest

from adbc.ir.parser import ParsedType, ParseError, parse_graph
from adbc.ir.printer import placeholders
from adbc.ir.values import Const, Instruction


def parse_body(body: str):
    return parse_graph(f"graph f(x, y)\nentry:\n    {body}")


def only(body: str) -> Instruction:
    return parse_body(f"{body}\n    return %x").entry.instructions[0]


def test_placeholders_come_from_the_caller():
    marker = object()
    text = "graph f()\nentry:\n    return <const 0>"
    graph = parse_graph(text, {0: marker})
    assert graph.entry.terminator.value.value is marker
    assert str(graph) == text
    assert placeholders(graph) == {0: marker}


def test_operands_and_attribute():
    instruction = only("%1 = getattr 'text' 'upper'")
    assert [v.value for v in instruction.operands] == ["text"] and instruction.attribute == "upper"
    instruction = only("%1 = freevar 0")
    assert instruction.operands == [] and instruction.attribute == 0
    instruction = only("%1 = build_tuple")
    assert instruction.operands == [] and instruction.attribute is None


def test_keywords():
    instruction = only("%1 = call %x(1, a=2, b=%y)")
    assert instruction.keywords == ("a", "b") and len(instruction.operands) == 4


def test_types_are_opaque():
    instruction = only("%1: Tuple('x = y', [a, b]) = neg %x  ; a comment")
    assert instruction.type == "Tuple('x = y', [a, b])" and isinstance(instruction.type, ParsedType)
    graph = parse_graph("graph f(x: A(b, 'c)'), y)\nentry:\n    return %x")
    assert [a.type for a in graph.arguments] == ["A(b, 'c)')", None]


def test_signature():
    graph = parse_graph("graph f(a, /, b, *, c, d, *e, **g) free h\nentry:\n    return %a")
    assert [a.name for a in graph.arguments] == list("abcdeg")
    assert (graph.posonly_count, graph.kwonly_count) == (1, 2)
    assert graph.has_varargs and graph.has_varkw and graph.free == ("h",)


def test_values_without_a_name_stay_without():
    graph = parse_body("%7 = neg %x\n    %z = neg %7\n    return %z")
    assert [i.name for i in graph.entry.instructions] == [None, "z"]
    assert "%1 = neg %x" in str(graph)


def test_comments_and_strings():
    graph = parse_graph(
        "; first\n\ngraph f()  ; a graph\n; inside\nentry:  ; here\n    return 'a ; b'\n; last\n"
    )
    value = graph.entry.terminator.value
    assert isinstance(value, Const) and value.value == "a ; b"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "there is no graph"),
        ("entry:\n    return 1", "line 1: expected a graph"),
        ("graph f()\nentry:\n    return %x", "line 3: nothing is called %x"),
        ("graph f(x, x)", "line 1: there are two definitions of %x"),
        ("graph f()\nentry:\n    jump b", "line 3: there is no block b"),
        ("graph f()\nentry: handler h\n    return 1", "line 2: there is no block h"),
        ("graph f()\na:\n    return 1\na:\n    return 1", "line 4: there are two blocks a"),
        ("graph f()\na:\nb:\n    return 1", "block a is empty"),
        ("graph f()\na:\n    %1 = catch", "line 3: a block ends with a terminator"),
        ("graph f()\na:\n    return 1\n    return 2", "line 3: a terminator must be the last line"),
        ("graph f()\na:\n    %1 = catch\n    %p = phi []\n    return 1", "line 4: a phi must stand"),
        ("graph f()\na:\n    %p = phi [a: 1, a: 2]\n    return 1", "line 3: there are two operands for a"),
        ("graph f()\na:\n    return", "line 3: unexpected end of the line"),
        ("graph f()\na:\n    return 1 2", "line 3: unexpected '2'"),
        ("graph f()\na:\n    return ?", "line 3: cannot read '?'"),
        ("graph f()\na:\n    return )", r"line 3: expected an operand, not '\)'"),
        ("graph f()\na:\n    vanish", "line 3: there is no terminator vanish"),
        ("graph f()\na:\n    return <const 3>", "line 3: nobody said what <const 3> is"),
        ("graph f()\na:\n    return math.nothing", "line 3: nothing is called math.nothing"),
        ("graph f()\na:\n    %1 = call 1(a=1, 2)\n    return 1", "line 3: a positional argument follows"),
        ("graph f()\na:\n    %1 = call 1(2\n    return 1", "line 3: expected ','"),
        ("graph f()\na:\n    switch 1, ['x': a], a", "line 3: a case is an int"),
        ("graph f()\nnonsense\na:\n    return 1", "line 2: expected a guard or a block"),
    ],
)
def test_errors_name_the_line(text, message):
    with pytest.raises(ParseError, match=message):
        parse_graph(text)
