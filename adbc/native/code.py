"""Machine code that can be called with Python's values."""

from __future__ import annotations

import ctypes
from array import array
from typing import Any

from adbc.low.interpret import BailedOut
from adbc.low.ops import LIBM
from adbc.low.program import BOOL, F64, I64, LIST, Program
from adbc.low.verify import verify
from adbc.native.llvm import Status, write
from adbc.native.machine import compiled, same_functions

__all__ = ["Code", "uses_other_functions"]

_C = {F64: ctypes.c_double, I64: ctypes.c_int64, BOOL: ctypes.c_int64}


def uses_other_functions(program: Program) -> list[str]:
    """The functions that a program calls and that the C library here has in another form than `math`."""
    return sorted({op.name for op in program.ops() if op.name in LIBM} - same_functions())


class Code:
    """A program as machine code.  It is called with one value per parameter of the program: a float, an int
    of 64 bits, a bool, or a list of floats."""

    def __init__(self, program: Program) -> None:
        self.program = verify(program)
        self.text = write(program)
        self.machine = compiled(self.text)
        self.count = len(program.results)
        types: list[Any] = []
        self.lists = [i for i, register in enumerate(program.parameters) if register.type == LIST]
        for register in program.parameters:
            types += [ctypes.c_void_p, ctypes.c_int64] if register.type == LIST else [_C[register.type]]
        # The lock of the interpreter is held, so that signals can be looked at (`llvm.POLL_EVERY`).
        prototype = ctypes.PYFUNCTYPE(ctypes.c_int32, *types, ctypes.c_void_p)
        self._function = prototype(self.machine.address)
        self._results: Any = ctypes.c_double * self.count

    def __call__(self, *values: Any) -> list[float]:
        """The results; raises `low.interpret.BailedOut`, or what a handler of a signal raises."""
        results = self._results()
        if self.lists:
            buffers = {i: array("d", values[i]) for i in self.lists}  # they live as long as the call
            given = [x for i, value in enumerate(values) for x in _passed(value, buffers.get(i))]
            status = self._function(*given, ctypes.addressof(results))
        else:
            status = self._function(*values, ctypes.addressof(results))
        if status > 0:
            raise BailedOut(status - 1, self.program.sites[status - 1].reason)
        if status:
            raise BailedOut(status, Status(status).name)
        found: list[float] = results[:]
        return found


def _passed(value: Any, buffer: array[float] | None) -> tuple[Any, ...]:
    """What is passed for a value: for a list, where its numbers are and how many.  An empty one has memory
    of somebody's, of which a word may be read and is not used."""
    if buffer is None:
        return (value,)
    if not buffer:
        return ctypes.addressof(_SOME_WORD), 0
    return buffer.buffer_info()


_SOME_WORD = ctypes.c_double()
