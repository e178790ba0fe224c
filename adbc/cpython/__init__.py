"""All that knows interpreter versions: opcode tables as data, decoding to one instruction set."""

from __future__ import annotations

from adbc.cpython.decode import Code, Instruction, Slot, decode
from adbc.cpython.refusals import CONSTRUCTS, Construct, refusal

__all__ = ["CONSTRUCTS", "Code", "Construct", "Instruction", "Slot", "decode", "refusal"]
