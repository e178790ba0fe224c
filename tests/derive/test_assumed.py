"""What is assumed of a value is known of its copy where it holds at once, and of no other."""

from __future__ import annotations

import pytest

from adbc.derive.assumed import Assumed
from adbc.ir.intrinsics import _assume_
from adbc.ir.parser import parse_graph
from adbc.ir.values import Instruction
from adbc.passes.query import target
from adbc.types.lattice import ANY, FLOAT, AbstractType

PROVED = """
graph f(l: list, i: int)
entry:
    %1: Any = call operator.getitem(%l, %i)
    jump typed
typed:
    %2: float = call _assume_(%1, builtins.float)
    return %2
"""

STEPPED = """
graph f(l: list)
entry:
    %1: Any = call _iter_(%l)
    jump loop
loop:
    %2: Any = call _next_(%1)
    %3: bool = call _exhausted_(%2)
    branch %3, done, body
body:
    %4: float = call _assume_(%2, builtins.float)
    jump loop
done:
    return None
"""

GUESSED = """
graph f(l: list, i: int)
entry:
    %1: Any = call operator.getitem(%l, %i)
    %2: bool = call _class_is_(%1, builtins.float)
    branch %2, typed, otherwise
typed:
    %3: float = call _assume_(%1, builtins.float)
    jump more
more:
    %4: float = call _assume_(%3, builtins.float)
    return %4
otherwise:
    return %1
"""


@pytest.mark.parametrize(
    ("text", "known"),
    [(PROVED, FLOAT), (STEPPED, FLOAT), (GUESSED, ANY)],
    ids=["proved", "stepped", "guessed"],
)
def test_it_is_known_where_there_is_no_other_way(text: str, known: AbstractType) -> None:
    graph = parse_graph(text)
    assumed = Assumed(graph)
    copies: dict[object, Instruction] = {}
    for call in graph.instructions():
        if target(call) is _assume_:
            made = call.operands[1]
            call.type = FLOAT
            copies[call] = copies.setdefault(made, Instruction("call", [], type=ANY))
            assumed.tell(call, made, copies[made])
    assert [copy.type for copy in copies.values()] == [known] * len(copies)
