"""What the encoder works out itself: tables of locations, distances of jumps, numbers of variables."""

from __future__ import annotations

import dis
import random
import types

import pytest

from adbc.emit.assembler import Assembler
from adbc.emit.encoding import Heading
from adbc.emit.items import Label, Location
from adbc.emit.locations import table


def finished(asm: Assembler, parameters: list[str], cells: list[str] | None = None) -> types.FunctionType:
    heading = Heading(
        name="made", qualname="made", filename="<made>", first_line=1, positional=len(parameters), posonly=0,
        kwonly=0, local_names=parameters, cell_names=cells or [], free_names=[],
    )  # fmt: skip
    code = asm.finish(heading, varargs=False, varkw=False, nested=False, generator=False, docstring=None)
    return types.FunctionType(code, {})


def test_table_of_locations() -> None:
    """CPython reads what was written, for entries of all forms and lengths."""
    rng = random.Random(1)
    units = []
    for _ in range(2000):
        line = rng.choice([1, 1, 2, 3, 100])
        column = rng.choice([0, 7, 70, 71, 72, 80, 127, 128, 300])
        places = [
            Location(None),
            Location(line, line),
            Location(line, line, column, column + rng.choice([0, 1, 15, 16, 60, 200])),
            Location(line, line + rng.choice([1, 70]), column, rng.randrange(200)),
        ]
        units += [(rng.choice([1, 2, 8, 9, 30]), rng.choice(places))]
    code = (lambda: None).__code__.replace(
        co_code=bytes(2 * sum(size for size, _ in units)), co_linetable=table(1, units), co_firstlineno=1
    )
    assert list(code.co_positions()) == [tuple(at) for size, at in units for _ in range(size)]


@pytest.mark.parametrize("length", [10, 124, 126, 128, 130, 300, 33000])
def test_distances_of_jumps(length: int) -> None:
    """Forwards over, and backwards around, code that needs longer and longer jumps."""
    asm = Assembler()
    head, end = Label(), Label()
    asm.resume()
    asm.place(head)
    asm.load("x")
    asm.jump_if("NONE", end)
    for _ in range(length):
        asm.const(None)
        asm.pop()
    asm.const(None)
    asm.store("x")
    asm.jump(head)
    end.depth = 0
    asm.place(end)
    asm.ret_const("end")
    function = finished(asm, ["x"])
    assert function(1) == "end"
    jumps = [i for i in dis.get_instructions(function) if "JUMP" in i.opname]
    returns = [i.offset for i in dis.get_instructions(function) if i.opname.startswith("RETURN")]
    assert len(jumps) == 2
    assert jumps[0].argval <= returns[0] < jumps[0].argval + 4
    assert jumps[1].argval < jumps[0].offset


def test_cells_have_numbers_behind_the_variables() -> None:
    """A parameter that is a cell keeps its number."""
    asm = Assembler()
    asm.make_cell("b")
    asm.make_cell("y")
    asm.resume()
    asm.load_deref("b", False)
    asm.store_deref("y", False)
    asm.load("a")
    asm.load_deref("y", False)
    asm.binary("sub")
    asm.ret()
    function = finished(asm, ["a", "b"], ["b", "y"])
    assert function(5, 2) == 3
    assert function.__code__.co_varnames == ("a", "b") and function.__code__.co_cellvars == ("b", "y")
