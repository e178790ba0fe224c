"""What the bytecode of a function says about the size of its graph, before that is made.

To lift a function takes a hundred times as long as to count its instructions.
"""

from __future__ import annotations

import opcode
import types

__all__ = ["may_be_straight"]

_WITHOUT_WORK = bytes(
    sorted(
        number
        for name, number in opcode.opmap.items()
        if number < 256
        and name.startswith(
            (
                "CACHE", "COPY", "END_", "EXTENDED_ARG", "JUMP", "KW_NAMES", "LOAD_", "MAKE_CELL", "NOP",
                "NOT_TAKEN", "POP_", "PRECALL", "PUSH_NULL", "RESUME", "RETURN_", "STORE_FAST", "SWAP",
            )
        )
    )
)  # fmt: skip
"""The opcodes that leave no instruction in a graph, or may leave none: what they load is known, say."""

_BACKWARDS = [number for name, number in opcode.opmap.items() if "JUMP_BACKWARD" in name and number < 256]


def may_be_straight(code: types.CodeType, most: int) -> bool:
    """Whether the graph of `code` may have at most `most` instructions, no loop and no handler."""
    if code.co_exceptiontable:
        return False
    opcodes = code.co_code[::2]
    if len(opcodes.translate(None, _WITHOUT_WORK)) > most:
        return False
    return not any(number in opcodes for number in _BACKWARDS)
