"""Functions with a cache that are given numbers: which of them find nothing but functions and constants.

``functools.lru_cache`` makes a function of which nobody sees whether it computes.  Called on constants, it
is called as it is, unless something with a derivative is found by the names in its code.  Where these lead to
functions, classes of C and modules only, that is known before the program runs, as long as they mean what
they do.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

from adbc.cpython.wrappers import CACHED
from adbc.flags import HEAP_TYPE
from adbc.functions import is_builtin_function
from adbc.ir import intrinsics
from adbc.ir.graph import Graph
from adbc.ir.values import Const, Instruction
from adbc.passes.query import constant, target
from adbc.runtime.calls.plain import reaches_out
from adbc.runtime.calls.plain_functions import CONSTANTS
from adbc.runtime.calls.reach import KEEP_NOTHING, package_of

__all__ = ["finds_nothing"]

_SYNTAX = frozenset(intrinsics.INTRINSICS.values())
_BY_NAMES: frozenset[Any] = frozenset(
    {
        intrinsics._global_, intrinsics._globals_, intrinsics._store_global_, intrinsics._delete_global_,
        intrinsics._freevar_, intrinsics._import_, intrinsics._import_from_,
    }
)  # fmt: skip
"""What finds an object by a name when the program runs, or lets a name mean another."""


def finds_nothing(function: Any, body: Callable[[types.FunctionType], Graph | None]) -> bool:
    """Whether `function`, which has a cache, finds functions and constants only.

    body: gives the graph of a function in Python, in normal form, and notes what the names in it mean; None
    if there is none.
    """
    if type(function) is not CACHED:
        return False
    pending: list[Any] = [function]
    seen: set[int] = set()
    while pending:
        x = pending.pop()
        if type(x) in CONSTANTS or id(x) in seen:
            continue
        seen.add(id(x))
        if type(x) is CACHED:
            pending.append(getattr(x, "__wrapped__", None))
        elif type(x) is tuple or type(x) is frozenset:
            pending.extend(x)
        elif type(x) is types.FunctionType and x not in _SYNTAX and package_of(x) not in KEEP_NOTHING:
            found = _found_by(x, body)
            if found is None:
                return False
            pending.extend(found)
        elif not _is_closed(x):
            return False
    return True


def _found_by(function: types.FunctionType, body: Callable[[types.FunctionType], Graph | None]) -> Any:
    """The constants in the code of `function`, and its defaults; None if it may find anything else."""
    if function.__closure__ or function.__kwdefaults__ or reaches_out(function.__code__):
        return None
    graph = body(function)
    if graph is None or any(_finds(instruction) for instruction in graph.instructions()):
        return None
    values = [v for i in graph.instructions() for v in i.operands]
    for block in graph.blocks:
        values += [v for phi in block.phis for v in phi.operands.values()]
        values += block.terminator.values
    return [*(v.value for v in values if isinstance(v, Const)), *(function.__defaults__ or ())]


def _finds(instruction: Instruction) -> bool:
    """Whether `instruction` may find something by a name, or makes a function or class that may."""
    function = target(instruction)
    if function is intrinsics._new_:
        return constant(instruction.operands[1]) is types.FunctionType
    return function in _BY_NAMES if function.__hash__ is not None else True


def _is_closed(x: Any) -> bool:
    """Whether nothing that may change is found through `x`."""
    if isinstance(x, types.ModuleType) or type(x) is types.FunctionType:
        return package_of(x) in KEEP_NOTHING or x in _SYNTAX
    if isinstance(x, type):
        return not x.__flags__ & HEAP_TYPE
    if is_builtin_function(x):
        return x.__self__ is None or isinstance(x.__self__, types.ModuleType | type)
    return isinstance(x, types.MethodDescriptorType | types.WrapperDescriptorType)
