"""What is asked of calls on numbers: whether they round, and whether they read a part of a number."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from adbc.ir import intrinsics
from adbc.ir.values import Const, Instruction, Value
from adbc.types.array_calls import is_inline_number
from adbc.types.inference import type_of
from adbc.types.lattice import (
    COMPLEX,
    FLOAT,
    AbstractType,
    ComplexType,
    Exact,
    TupleType,
    has_shadow,
    is_complex128,
    is_float64,
    is_real,
)

__all__ = ["class_for_divisor", "is_global_number", "is_plain_step", "limit_of", "part_of_number"]


def is_plain_step(row: Any, arguments: Sequence[Value], result: AbstractType) -> bool:
    """Whether a call of a step with the rule `row` rounds a number, and it is known from which size on it
    does not."""
    if not is_inline_number(result) or not is_inline_number(type_of(arguments[0])):
        return False
    return limit_of(row, arguments) is not None


def limit_of(row: Any, arguments: Sequence[Value]) -> float | None:
    """The size of its result from which on a step with the rule `row` rounds nothing."""
    found: float | None = row.limit([a.value if isinstance(a, Const) else ... for a in arguments])
    return found


def part_of_number(number: AbstractType, name: Value) -> Any:
    """The descriptor of the real or imaginary part of a number of 64 bits, if `name` is that of one: the one
    of Python's, whose rule holds for NumPy's too."""
    if not isinstance(name, Const) or name.value not in ("real", "imag"):
        return None
    if number == FLOAT or is_float64(number):
        return float.real if name.value == "real" else float.imag
    if number == COMPLEX or is_complex128(number) or isinstance(number, ComplexType):
        return complex.real if name.value == "real" else complex.imag
    return None


def is_global_number(arguments: Sequence[Value]) -> bool:
    """Whether what was read from a global is assumed to be a number, or a tuple of such: then it is a
    constant, because writing an active number to a global is refused."""
    value, assumed = arguments
    if not isinstance(value, Instruction) or value.op != "call" or not isinstance(assumed, Const):
        return False
    callee, known = value.operands[0], assumed.value
    is_global = isinstance(callee, Const) and callee.value is intrinsics._global_
    is_tuple = isinstance(known, TupleType) and not has_shadow(known)
    return is_global and (is_tuple or (isinstance(known, AbstractType) and is_inline_number(known)))


def class_for_divisor(quotient: Value, divisor: Value) -> Any:
    """The class of NumPy's that `divisor` becomes where the derivative of `quotient` is divided by it, or
    None for as it is.

    A number of NumPy's is divided by a zero of Python's without an error.  So must its derivative be, which
    may be a number of Python's.
    """
    found, by = type_of(quotient), type_of(divisor)
    if isinstance(found, ComplexType):
        return next(cls for cls in found.members if cls is not complex)
    if not (is_float64(found) or is_complex128(found)) or is_float64(by) or is_complex128(by):
        return None
    assert isinstance(found, Exact)
    if isinstance(divisor, Const) and divisor.value:
        return None
    return type(found.cls().real) if is_real(by) else found.cls  # which a real number may be, too
