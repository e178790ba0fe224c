"""What is worth being kept of the types of values, for those who lift the code again (`types.promises`)."""

from __future__ import annotations

import operator
from typing import Any

from adbc.ir import intrinsics
from adbc.ir.values import Argument, Instruction, Phi
from adbc.types.derived import UnionType
from adbc.types.lattice import TupleType
from adbc.types.promises import promise, promise_of_several

__all__ = ["promise_of"]

_STEPS = (
    intrinsics._next_, intrinsics._next_at_, intrinsics._take_at_,
    intrinsics._next_key_, intrinsics._next_value_, intrinsics._next_place_,
)  # fmt: skip


def promise_of(instruction: Instruction, function: Any) -> str:
    """What is said of what `instruction` gives, a call of `function`; of what is unpacked it is said what it
    was.  Nothing where inference will find that again, or where it may be `EXHAUSTED` instead: a loop says
    what there is in its body."""
    if instruction.type is None:
        return ""
    if function is intrinsics._unpack_:
        whole, known = instruction.operands[1], instruction.type
        is_known = isinstance(whole, Instruction | Argument | Phi) and isinstance(
            whole.type, TupleType | UnionType
        )
        return promise_of_several(known.elements) if is_known and isinstance(known, TupleType) else ""
    if any(function is step for step in _STEPS):
        return ""
    follows = (
        getattr(function, "__module__", None) in ("_operator", "math") and function is not operator.getitem
    )
    return "" if follows else promise(instruction.type)
