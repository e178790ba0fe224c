"""What the text of a graph says; `filetests/roundtrip` has more."""

import collections
import enum
import math
import operator

import pytest

from adbc.ir import intrinsics
from adbc.ir.builder import Builder
from adbc.ir.constants import constant_text, named_constant
from adbc.ir.graph import Block, Graph
from adbc.ir.printer import placeholders, print_graph
from adbc.ir.values import Const, Phi, Position


class Color(enum.IntEnum):
    RED = 1


class Number(float):
    pass


class Forward:
    """Answers every question about itself, wrongly."""

    def __getattr__(self, name):
        raise RuntimeError("asked")


def test_names_are_unique_and_unnamed_values_are_numbered():
    graph = Graph("f")
    x = graph.add_argument("x")
    builder = Builder(graph)
    builder.emit("neg", x, name="x")
    builder.emit("neg", x)
    builder.emit("neg", x, name="x")
    builder.emit("neg", x, name="7")
    builder.emit("neg", x, name="a b")
    builder.ret(x)
    assert [line.split(" =")[0].strip() for line in str(graph).splitlines()[2:-1]] == [
        "%x.1", "%1", "%x.2", "%2", "%a_b",
    ]  # fmt: skip


def test_placeholders_are_numbered_by_object():
    graph = Graph("f")
    builder = Builder(graph)
    first, second = [], []
    builder.emit("build_tuple", first, second, first)
    builder.ret(second)
    assert "build_tuple <const 0>, <const 1>, <const 0>" in str(graph)
    assert "return <const 1>" in str(graph)
    found = placeholders(graph)
    assert found[0] is first and found[1] is second and len(found) == 2


def test_annotations_and_positions():
    graph = Graph("f")
    builder = Builder(graph)
    builder.position = Position(3, 3, 4, 9)
    one = builder.emit("build_tuple")
    builder.ret(one)

    def note(place):
        return {graph: "the graph", graph.entry: "two\nlines", one: "one"}.get(place)

    assert print_graph(graph, note, positions=True) == (
        "graph f()\n"
        "    ; the graph\n"
        "entry:\n"
        "    ; two\n"
        "    ; lines\n"
        "    %1 = build_tuple  ; 3:4\n"
        "        ; one\n"
        "    return %1  ; 3:4"
    )


def test_broken_graphs_can_be_printed():
    graph = Graph("f")
    builder = Builder(graph)
    call = builder.emit("call", keywords=("a",))
    phi = Phi(Block(graph, "nowhere"))
    builder.emit("add", phi).operands.append(3)
    builder.ret(call)
    assert str(graph) == (
        "graph f()\nentry:\n    %1 = call <nothing>()\n    %2 = add %?2, <no value: 3>\n    return %1"
    )


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (operator.mul, "operator.mul"),
        (len, "builtins.len"),
        (math, "math"),
        (list.append, "builtins.list.append"),
        (collections.OrderedDict, "collections.OrderedDict"),
        (intrinsics._next_, "_next_"),
        (intrinsics.UNBOUND, "UNBOUND"),
        (-0.0, "-0.0"),
        (-math.inf, "-inf"),
        (frozenset("ba"), "frozenset({'a', 'b'})"),
        (complex(-0.0, -1.0), "(-0-1j)"),
        (1 << 20000, hex(1 << 20000)),
        ((1, (True, None)), "(1, (True, None))"),
        (Color, f"{__name__}.Color"),
    ],
    ids=lambda x: x[:30] if isinstance(x, str) else type(x).__name__,
)
def test_constants_with_a_text(value, text):
    assert constant_text(value) == text


@pytest.mark.parametrize(
    "value",
    [
        [],
        [].append,
        Forward(),
        Color.RED,
        Number(1.0),
        ([],),
        frozenset({Color.RED}),
        complex(0.0, math.inf),
        lambda: None,
        compile("1", "", "eval"),
        slice(1),
    ],
    ids=lambda value: type(value).__name__,
)
def test_constants_without_a_text(value):
    assert constant_text(value) is None
    assert constant_text((1, value)) is None


def test_a_name_that_means_something_else_is_not_used():
    def impostor():
        pass

    impostor.__module__, impostor.__qualname__ = "math", "sin"
    assert constant_text(impostor) is None


def test_named_constants():
    assert named_constant("os.path.join") is __import__("os").path.join
    assert named_constant("builtins.list.append") is list.append
    with pytest.raises(LookupError, match=r"nothing is called math\.nothing"):
        named_constant("math.nothing")


def test_types_are_printed():
    graph = Graph("f")
    x = graph.add_argument("x", "T")
    builder = Builder(graph)
    builder.ret(builder.emit("add", x, Const(1, type="Int"), type="Tuple(a, b)"))
    assert str(graph) == "graph f(x: T)\nentry:\n    %1: Tuple(a, b) = add %x, 1\n    return %1"
