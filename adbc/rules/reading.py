"""Which of its parameters a formula reads: what it does not read need not be kept for it."""

from __future__ import annotations

import dis
import inspect
import types
from collections.abc import Callable
from typing import Any

__all__ = ["parameters_read"]


def parameters_read(formula: Callable[..., Any]) -> frozenset[int] | None:
    """The positions of the parameters that occur in the code of `formula`; None if that cannot be said."""
    if not isinstance(formula, types.FunctionType):
        return None
    code = formula.__code__
    if code.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS):
        return None
    found: set[str] = set(code.co_cellvars)  # a function inside may read these
    for instruction in dis.get_instructions(code):
        if instruction.opname.startswith("LOAD_FAST"):
            names = instruction.argval
            found.update(names if isinstance(names, tuple) else (names,))
    names = code.co_varnames[: code.co_argcount]
    return frozenset(i for i, name in enumerate(names) if name in found)
