"""Machine code that can be called with Python's values."""

from __future__ import annotations

import ctypes
from array import array
from typing import Any

from adbc.low.interpret import BailedOut
from adbc.low.ops import LIBM
from adbc.low.program import LIST, Program
from adbc.low.verify import verify
from adbc.native.llvm import Status, write
from adbc.native.machine import compiled, same_functions

__all__ = ["Code", "uses_other_functions"]


class _Definition(ctypes.Structure):
    """What Python's interface calls a `PyMethodDef`: a function of C, under a name."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("text", ctypes.c_char_p),
    )


_FASTCALL = 0x80
"""Says that a function is given an array of objects, and their number."""


def uses_other_functions(program: Program) -> list[str]:
    """The functions that a program calls and that the C library here has in another form than `math`."""
    return sorted({op.name for op in program.ops() if op.name in LIBM} - same_functions())


class Code:
    """A program as machine code.  It is called with one value per parameter of the program: a float, an int
    of 64 bits, a bool, or a list of floats; or, for a list that it writes to, an array of them."""

    def __init__(self, program: Program) -> None:
        self.program = verify(program)
        self.text = write(program)
        self.machine = compiled(self.text)
        self.count = len(program.results)
        self.lists = [i for i, register in enumerate(program.parameters) if register.type == LIST]
        # What is made lives as long as this object, and so is called by nobody else.
        self._definition = _Definition(b"native", self.machine.address, _FASTCALL, None)
        make = ctypes.pythonapi.PyCFunction_NewEx
        self._function = _maker(make)(ctypes.byref(self._definition), None, None)

    def __call__(self, *values: Any) -> tuple[float, ...]:
        """The results; raises `low.interpret.BailedOut`, or what a handler of a signal raises."""
        if self.lists:
            buffers = {  # they live as long as the call
                i: values[i] if values[i].__class__ is array else array("d", values[i]) for i in self.lists
            }
            found = self._function(*[x for i, v in enumerate(values) for x in _passed(v, buffers.get(i))])
        else:
            found = self._function(*values)
        if found.__class__ is tuple:
            results: tuple[float, ...] = found
            return results
        if found > 0:
            raise BailedOut(found - 1, self.program.sites[found - 1].reason)
        raise BailedOut(found, Status(found).name)


def _maker(function: Any) -> Any:
    """`PyCFunction_NewEx`, told what it takes."""
    prototype = ctypes.PYFUNCTYPE(
        ctypes.py_object, ctypes.POINTER(_Definition), ctypes.c_void_p, ctypes.c_void_p
    )
    return ctypes.cast(function, prototype)


def _passed(value: Any, buffer: array[float] | None) -> tuple[Any, ...]:
    """What is passed for a value: for a list, where its numbers are and how many.  An empty one has memory
    of somebody's, of which a word may be read and is not used."""
    if buffer is None:
        return (value,)
    if not buffer:
        return ctypes.addressof(_SOME_WORD), 0
    return buffer.buffer_info()


_SOME_WORD = ctypes.c_double()
