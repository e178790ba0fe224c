"""What the graph of a partial derivative is made of: a sign, a factor and, in a quotient, a divisor.

``-out / y`` is taken apart into a minus, ``out`` and ``y``.  Whoever multiplies it with a tangent or a
cotangent then needs no negation where the product is subtracted, and no second division where all
partial derivatives of a call have one divisor.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable

from adbc.ir.values import Const, Instruction, Value
from adbc.passes.query import target

__all__ = ["are_sums_and_products", "needed", "taken_apart"]


def taken_apart(result: Value, is_quotient: bool) -> tuple[bool, Value | None, Value | None]:
    """Sign, factor and divisor of a partial derivative."""
    is_negative = False
    divisor: Value | None = None
    while isinstance(result, Instruction) and result.op == "call" and isinstance(result.operands[0], Const):
        function = result.operands[0].value
        if function is operator.neg:
            is_negative = not is_negative
        elif function is operator.truediv and is_quotient and divisor is None:
            divisor = result.operands[2]
        else:
            break
        result = result.operands[1]
    if isinstance(result, Const) and type(result.value) is float and abs(result.value) == 1.0:
        return is_negative != (result.value < 0.0), None, divisor
    return is_negative, result, divisor


def needed(results: list[Value]) -> set[Instruction]:
    """The instructions by which `results` are computed."""
    found: set[Instruction] = set()
    while results:
        value = results.pop()
        if isinstance(value, Instruction) and value not in found:
            found.add(value)
            results += value.operands
    return found


def are_sums_and_products(instructions: Iterable[Instruction]) -> bool:
    """Whether all `instructions` are sums, products and negations, which give the same for Python's floats as
    for NumPy's numbers; a division by zero does not."""
    return all(any(target(i) is f for f in _SUMS_AND_PRODUCTS) for i in instructions)


_SUMS_AND_PRODUCTS = (operator.add, operator.sub, operator.mul, operator.neg)
