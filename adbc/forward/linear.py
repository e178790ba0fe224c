"""The tangent of a call of a scalar rule: partial derivatives times tangents, in few operations.

    %1 = call operator.truediv(%x, %y)

has the partial derivatives ``1.0 / y`` and ``-out / y``, and from those would be made

    %2 = call operator.truediv(1.0, %y)
    %3 = call operator.mul(%2, %dx)
    %4 = call operator.neg(%1)
    %5 = call operator.truediv(%4, %y)
    %6 = call operator.mul(%5, %dy)
    %7 = call operator.add(%3, %6)

What is written is

    %2 = call operator.mul(%1, %dy)
    %3 = call operator.sub(%dx, %2)
    %4 = call operator.truediv(%3, %y)

A partial derivative is taken apart into a sign, a factor and, for this rule, a divisor: terms with a sign are
subtracted, a divisor that all terms have divides their sum.  And what a block has computed already
(``math.cos(x)`` for the function, which the tangent of ``math.sin(x)`` needs) is not computed again.  All
values here are real numbers, and what comes out is what the rule gives, to the last digit.
"""

from __future__ import annotations

import operator
from collections.abc import Collection, Sequence
from typing import Any

from adbc.functions import is_builtin_function
from adbc.ir import intrinsics
from adbc.ir.builder import Builder
from adbc.ir.graph import Block, Graph
from adbc.ir.values import Const, Instruction, Value
from adbc.passes.derived.partials import are_sums_and_products, needed, taken_apart
from adbc.passes.query import drop, target, use_counts
from adbc.records import record
from adbc.types.lattice import AbstractType, is_float64
from adbc.types.number_calls import class_for_divisor

__all__ = ["LinearForms", "Term"]


@record
class Term:
    """A term of a sum of tangents: ``factor * tangent / divisor``, perhaps negated; a factor or divisor
    that is None is 1."""

    is_negative: bool
    factor: Value | None
    divisor: Value | None
    tangent: Value


class LinearForms:
    """Writes tangents as sums of terms, into the block that `builder` stands at."""

    def __init__(self, builder: Builder) -> None:
        self.builder = builder
        self.type: AbstractType | None = None
        """The type of all that is computed for the call that is being differentiated."""
        self.known: dict[Block, dict[Any, Value]] = {}
        """By block, the calls of pure functions on real numbers that stand in it, by their operands."""
        self.numbers: dict[tuple[Block, Value], Instruction] = {}
        """By block and number, the instruction that makes Python's float of it, if it is one of NumPy's, and
        else one of NumPy's."""
        self.made: list[Instruction] = []
        """Instructions that compute sums, products and the like of tangents, and may turn out not to be
        needed."""

    # -- calls that are made once ------------------------------------------------------------------------

    def remember(self, call: Value) -> None:
        """Note that `call`, if it is of a pure function on real numbers and in the current block, need not
        be made again."""
        if (
            isinstance(call, Instruction)
            and not call.keywords
            and call.block is self.builder.block
            and _is_pure(call.operands)
        ):
            self.known.setdefault(self.builder.block, {}).setdefault(_key(call.operands), call)

    def present(self, operands: Sequence[Value]) -> Value | None:
        """The value that is known to be the result of the call with these operands, or None."""
        known = self.known.get(self.builder.block)
        return None if known is None else known.get(_key(operands))

    def call(self, *operands: object) -> Value:
        """The result of a call of a pure function on real numbers."""
        values = [Builder.value(x) for x in operands]
        found = self.present(values)
        if found is None:
            found = self.builder.emit("call", *values, type=self.type)
            self.remember(found)
            if isinstance(values[0], Const) and values[0].value in _QUIET:
                self.made.append(found)
        return found

    def drop_unused(self) -> None:
        """Take out the noted instructions that nothing uses, once the whole graph has been written."""
        counts = use_counts(self.builder.graph)
        unused: set[Instruction] = set()
        for call in reversed(self.made):
            if not counts.get(call):
                unused.add(call)
                for operand in call.operands:
                    counts[operand] -= 1
        drop(self.builder.graph, unused)

    def as_float(self, value: Value) -> Value:
        """Python's float for a number of NumPy's: arithmetic on Python's floats takes a quarter of the
        time.  Not for a divisor, which may be zero."""
        if value.type is None or not is_float64(value.type):
            return value
        return self.converted(float, value)

    def converted(self, cls: type, value: Value) -> Value:
        """The number `value` as an instance of `cls`."""
        place = self.builder.block, value
        if place not in self.numbers:
            self.numbers[place] = self.builder.emit("call", Const(cls), value, type=self.type)
            self.made.append(self.numbers[place])
        return self.numbers[place]

    def values(self, out: Value, arguments: Sequence[Value], is_quotient: bool) -> list[Value]:
        """What partial derivatives are functions of: the result of a call, and its arguments."""
        values = [out, *arguments]
        cls = class_for_divisor(out, values[-1]) if is_quotient else None
        if cls is not None:
            values[-1] = self.converted(cls, values[-1])
        return values

    # -- terms and their sum -----------------------------------------------------------------------------

    def term(
        self, partial: Graph, values: Sequence[Value], tangent: Value, is_quotient: bool = False
    ) -> Term:
        """The term of one argument of a call: `partial`, a graph of one block, is the partial derivative,
        `values` are its arguments; with `is_quotient` its divisor is kept apart."""
        (result,) = partial.entry.terminator.values
        is_negative, factor, divisor = taken_apart(result, is_quotient)
        if target(tangent) is operator.neg and isinstance(tangent, Instruction):
            is_negative, tangent = not is_negative, tangent.operands[1]
        wanted = needed([v for v in (factor, divisor) if v is not None])
        as_floats = divisor is None and are_sums_and_products(wanted)
        written: dict[Value, Value] = {
            a: self.as_float(v) if as_floats and (a is factor or _is_used(a, wanted)) else v
            for a, v in zip(partial.arguments, values, strict=True)
        }
        for instruction in partial.entry.instructions:
            if instruction in wanted:
                operands = [written.get(v, v) for v in instruction.operands]
                if instruction.op == "call" and not instruction.keywords:
                    written[instruction] = self.call(*operands)
                else:
                    written[instruction] = self.builder.emit(
                        instruction.op,
                        *operands,
                        keywords=instruction.keywords,
                        attribute=instruction.attribute,
                    )
        return Term(
            is_negative,
            None if factor is None else written.get(factor, factor),
            None if divisor is None else written.get(divisor, divisor),
            tangent,
        )

    def total(self, terms: Sequence[Term]) -> Value:
        """The sum of `terms`, of which there is at least one."""
        divisor = terms[0].divisor
        if divisor is not None and all(_is_same(divisor, t.divisor) for t in terms):
            are_negative = all(t.is_negative for t in terms)  # then the sign comes last: others may use it
            above = self._sum(
                [Term(t.is_negative and not are_negative, t.factor, None, t.tangent) for t in terms]
            )
            quotient = self.call(operator.truediv, above, divisor)
            return self.call(operator.neg, quotient) if are_negative else quotient
        return self._sum(terms)

    def _sum(self, terms: Sequence[Term]) -> Value:
        products = [(t.is_negative, self._product(t)) for t in terms]
        are_negative = all(is_negative for is_negative, _ in products)
        if products[0][0] and not are_negative:
            if products[1][0]:  # then the order of the sum would be another
                products[0] = False, self.call(operator.neg, products[0][1])
            else:
                products[:2] = products[1], products[0]
        total = products[0][1]
        for is_negative, product in products[1:]:
            function = operator.sub if is_negative and not are_negative else operator.add
            total = self.call(function, total, product)
        return self.call(operator.neg, total) if are_negative else total

    def _product(self, term: Term) -> Value:
        product = term.tangent
        if term.factor is not None:
            product = self.call(operator.mul, term.factor, product)
        return product if term.divisor is None else self.call(operator.truediv, product, term.divisor)


def _is_used(argument: Value, instructions: Collection[Instruction]) -> bool:
    return any(argument in instruction.operands for instruction in instructions)


def _is_same(a: Value, b: Value | None) -> bool:
    return b is not None and _key([a]) == _key([b])


def _is_pure(operands: Sequence[Value]) -> bool:
    """Whether a function of `math` or an operator is called; functions of other modules may do anything."""
    function = operands[0].value if isinstance(operands[0], Const) else None
    if function is intrinsics._foreigncall_ and isinstance(operands[1], Const):
        function = operands[1].value
    return is_builtin_function(function) and function.__module__ in ("math", "_operator")


_QUIET = frozenset({operator.add, operator.sub, operator.mul, operator.neg})
"""Functions whose calls on real numbers may be taken out again where the result is not used."""

_COMMUTATIVE = frozenset({operator.add, operator.mul})


def _key(operands: Sequence[Value]) -> Any:
    parts = [_part(v) for v in operands]
    function = operands[0]
    if len(parts) == 3 and isinstance(function, Const) and any(function.value is f for f in _COMMUTATIVE):
        return parts[0], frozenset(parts[1:])
    return tuple(parts)


def _part(value: Value) -> Any:
    if not isinstance(value, Const):
        return value
    x = value.value
    return ("number", type(x), repr(x)) if type(x) in (float, int) else ("object", id(x))
