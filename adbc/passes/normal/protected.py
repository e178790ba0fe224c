"""Protected regions in a form that builders can work with.

`isolate` gives each instruction that may raise into a handler a block of its own, with an empty block
behind it::

    a: handler h                    a:
        %1 = call tuple(%x)             %1 = call tuple(%x)
        %2 = call f(%1)                 jump a.call
        jump b                      a.call: handler h
                                        %2 = call f(%1)
                                        jump a.done
                                    a.done:
                                        jump b

so that what a builder adds behind the call has a place outside the region.  A `Raise` gets one too, if it
stands behind instructions (which may not raise, so they belong outside as well), or in the entry, where
builders put what they make of arguments.

`landing_pads` gives each exceptional edge a handler block of its own, which only catches and goes on
to what the handlers shared::

    h:                              h.pad:
        %p = phi [a: %1, b: %2]         %e1 = catch
        %e = catch                      jump h
        ...                         h.pad.1:
                                        %e2 = catch
                                        jump h
                                    h:
                                        %p = phi [h.pad: %1, h.pad.1: %2]
                                        %e = phi [h.pad: %e1, h.pad.1: %e2]
                                        ...

so that exceptional edges can be told apart, and code can be put on them.
"""

from __future__ import annotations

from adbc.ir.graph import Block, Graph
from adbc.ir.terminators import Jump, Raise
from adbc.ir.values import Instruction, Phi, Value

__all__ = ["is_isolated", "isolate", "landing_pads"]


def is_isolated(block: Block) -> bool:
    """Whether `block` holds one instruction that may raise into a handler."""
    return block.handler is not None and not isinstance(block.terminator, Raise)


def isolate(graph: Graph) -> Graph:
    """Give each instruction that may raise into a handler a block of its own; in place."""
    for block in list(graph.blocks):
        if block.handler is None:
            continue
        if isinstance(block.terminator, Raise):
            if block.instructions or block is graph.entry:
                _isolate_raise(graph, block)
            continue
        if not block.instructions:
            _forget_handler(block)
            continue
        last = block.instructions.pop()
        call = _behind(graph, block, "call")
        call.append(last)
        done = graph.add_block(f"{block.label}.done")
        _move_end(block, done)
        call.terminator = Jump(done, last.position)
        call.handler = block.handler
        _rename_source(call.handler, block, call)
        block.handler = None
        block.terminator = Jump(call, last.position)
    return graph


def _isolate_raise(graph: Graph, block: Block) -> None:
    """Move the `Raise` of `block`, which has a handler, behind the block."""
    assert block.handler is not None
    end = _behind(graph, block, "raise")
    _move_end(block, end)
    end.handler = block.handler
    _rename_source(end.handler, block, end)
    block.handler = None
    block.terminator = Jump(end, end.terminator.position)


def _behind(graph: Graph, block: Block, label: str) -> Block:
    return graph.add_block(f"{block.label}.{label}")


def _move_end(block: Block, to: Block) -> None:
    """Move the terminator of `block` to `to`."""
    to.terminator = block.terminator
    for successor in to.terminator.successors:
        _rename_source(successor, block, to)


def _rename_source(block: Block, old: Block, new: Block) -> None:
    for phi in block.phis:
        if old in phi.operands:
            phi.operands[new] = phi.operands.pop(old)


def _forget_handler(block: Block) -> None:
    assert block.handler is not None
    for phi in block.handler.phis:
        phi.operands.pop(block, None)
    block.handler = None


def landing_pads(graph: Graph) -> Graph:
    """Give each exceptional edge a handler block of its own; in place."""
    sources: dict[Block, list[Block]] = {}
    for block in graph.blocks:
        if block.handler is not None:
            sources.setdefault(block.handler, []).append(block)
    replaced: dict[Value, Value] = {}
    for handler, entries in sources.items():
        if len(entries) == 1:
            continue
        catch = handler.instructions[0]
        assert catch.op == "catch", handler
        merged = Phi(handler, catch.type, catch.name)
        for source in entries:
            pad = graph.add_block(f"{handler.label}.pad")
            caught = pad.append(Instruction("catch", [], type=catch.type, position=catch.position))
            pad.terminator = Jump(handler, catch.position)
            source.handler = pad
            merged.operands[pad] = caught
            _rename_source(handler, source, pad)
        handler.instructions.pop(0)
        handler.phis.append(merged)
        replaced[catch] = merged
    graph.replace_uses(replaced)
    return graph
