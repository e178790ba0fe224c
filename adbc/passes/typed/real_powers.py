"""Powers of positive numbers are real: where the base is one, ``x ** y`` is as good as ``math.pow(x, y)``.

before::

    b:
        %p: Any = call operator.pow(%x, %y)          # %x, %y: float
        %t: bool = call _class_is_(%p, float)
        branch %t, typed, otherwise
    typed:
        %a: float = call _assume_(%p, float)
        ...

after::

    b:
        %t: bool = call operator.gt(%x, 0.0)
        branch %t, b.real, b.any
    b.real:
        %q: float = call math.pow(%x, %y)
        jump typed
    b.any:
        %p: Any = call operator.pow(%x, %y)
        %u: bool = call _class_is_(%p, float)
        branch %u, b.float, otherwise
    b.float:
        %a: float = call _assume_(%p, float)
        jump typed
    typed:
        %r: float = phi [b.real: %q, b.float: %a]
        ...

A negative number to a fractional power is complex, so nothing follows from the types, and what is not known
to be a number is differentiated by a call.  Roots and laws of physics are mostly of positive numbers, for
which both functions are that of the C library.  For guards without handlers around them; needs types.
"""

from __future__ import annotations

import math
import operator

from adbc.ir import intrinsics
from adbc.ir.graph import Block, Graph
from adbc.ir.terminators import Branch, Jump
from adbc.ir.traverse import predecessors
from adbc.ir.values import Const, Instruction, Phi
from adbc.passes.query import constant, target
from adbc.types.inference import type_of
from adbc.types.lattice import BOOL, FLOAT, is_real

__all__ = ["real_powers"]


def real_powers(graph: Graph) -> bool:
    """Write powers that are guessed to be real as those of positive numbers, where the base is one, in place;
    returns whether there were any."""
    changed = False
    sources = predecessors(graph)
    for block in [*graph.blocks]:
        power = _guarded_power(block, sources)
        if power is not None:
            _split(graph, block, power)
            changed = True
    return changed


def _guarded_power(block: Block, sources: dict[Block, list[Block]]) -> Instruction | None:
    """The power at the end of `block` that a guard tests for being a float."""
    end, calls = block.terminator, block.instructions
    if not isinstance(end, Branch) or len(calls) < 2 or block.handler is not None:
        return None
    power, test = calls[-2:]
    if end.condition is not test or target(test) is not intrinsics._class_is_:
        return None
    if test.operands[1] is not power or constant(test.operands[2]) is not float:
        return None
    if target(power) is not operator.pow and target(power) is not operator.ipow:
        return None
    known = [type_of(value) for value in power.operands[1:]]
    if FLOAT not in known or not all(map(is_real, known)):  # a power of two ints may be an int
        return None
    typed = end.true
    if sources.get(typed) != [block] or typed.phis or not typed.instructions:
        return None
    first = typed.instructions[0]
    return power if target(first) is intrinsics._assume_ and first.operands[1] is power else None


def _split(graph: Graph, block: Block, power: Instruction) -> None:
    end = block.terminator
    assert isinstance(end, Branch)
    typed, otherwise = end.true, end.false
    assumed = typed.instructions.pop(0)
    test = block.instructions.pop()
    block.instructions.pop()
    position = power.position
    real, some, floating = (graph.add_block(f"{block.label}.{name}") for name in ("real", "any", "float"))
    is_positive = block.append(
        Instruction("call", [Const(operator.gt), power.operands[1], Const(0.0)], type=BOOL, position=position)
    )
    block.terminator = Branch(is_positive, real, some, end.position)
    of_positive = real.append(
        Instruction("call", [Const(math.pow), *power.operands[1:]], type=FLOAT, position=position)
    )
    real.terminator = Jump(typed, end.position)
    some.append(power)
    some.append(test)
    some.terminator = Branch(test, floating, otherwise, end.position)
    for phi in otherwise.phis:
        phi.operands[some] = phi.operands.pop(block)
    floating.append(assumed)
    floating.terminator = Jump(typed, end.position)
    merged = Phi(typed, FLOAT, assumed.name)
    merged.position = assumed.position
    graph.replace_uses({assumed: merged})
    merged.operands = {real: of_positive, floating: assumed}
    typed.phis.append(merged)
