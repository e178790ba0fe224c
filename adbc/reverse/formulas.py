"""The reverse of a function that formulas differentiate: ``y = f(a, b)``, ``ba += formula(by, y, a, b)``.

What is known of a formula (`rules.formulas.Formula`) and of the types says how little has to be written:

- A cotangent of which all elements are the same, as a sum has for what it adds up, stays one number while
  elementwise formulas are all that is done with it.
- What a formula gives is made to fit its argument (broadcasting undone, dtype kept) unless it fits anyway.
- The last product with a cotangent that nothing else has is written over it.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Container, Mapping, Sequence
from itertools import compress
from typing import Any

from adbc.ir.graph import Block, Graph
from adbc.ir.values import Const, Instruction, Value
from adbc.records import record
from adbc.reverse.adjoints import Adjoint, wants
from adbc.reverse.pullback import PullbackWriter
from adbc.rules.formulas import Formula
from adbc.types.array_calls import DTYPE_CODES, formula_call, is_complex
from adbc.types.callsites import CallSite
from adbc.types.derived import CotangentOf, SequenceType, cotangent_type, merge
from adbc.types.inference import type_of
from adbc.types.kinds import Kind
from adbc.types.lattice import (
    ANY,
    FLOAT,
    NONE,
    TANGENT,
    AbstractType,
    ArrayType,
    ValueArrayType,
    is_number,
    memory_type,
)

__all__ = ["FormulaAdjoint", "FormulaUses", "Part", "code_of", "values_read"]


def code_of(type: AbstractType) -> str:
    """The character for the dtype of an array that is treated like a number."""
    assert isinstance(type, ArrayType)
    return DTYPE_CODES[type.dtype]


_MULTIPLE = Formula(operator.mul, is_elementwise=True)
"""What is known of a formula that is just the number 1 or -1, by which the cotangent is multiplied."""


_Share = tuple[bool, bool, Value | None]
"""The share of one argument in the cotangent of a result: whether it fits as it is, whether its negative is
meant, and its value."""
_NOTHING: _Share = (True, False, None)


class Part:
    """What the formula for argument number `i` of a call does, given the types of the arguments.

    read: which of the result (0) and the arguments (from 1) it reads, None for all.  makes_new: it gives new
    memory.  fits: what it gives for an array has its shape and dtype.  takes_number: it may be given a number
    for a cotangent of which all elements are the same; gives_number: then it gives a number.  may_hand_on:
    the argument may have such a cotangent.  may_be_negative: who takes the cotangent of the argument can do
    with its negative.
    """

    def __init__(
        self,
        formula: Formula | int,
        i: int,
        types: Sequence[AbstractType],
        read: frozenset[int] | None,
        is_double: bool,
        may_hand_on: bool,
        may_be_negative: bool,
    ) -> None:
        is_simple = not isinstance(formula, Formula)  # 1 or -1
        self.is_simple = is_simple
        self.is_negative = formula == -1
        known = formula if isinstance(formula, Formula) else _MULTIPLE
        self.function = None if is_simple else known.function
        self.read = read
        self.may_be_negative = may_be_negative
        self.is_array = isinstance(types[i], ArrayType)
        self.may_hand_on = may_hand_on
        others = [j for j, t in enumerate(types) if j != i and isinstance(t, ArrayType)]
        arrays = [j for j, t in enumerate(types) if isinstance(t, ArrayType)]
        is_elementwise = known.is_elementwise or is_simple
        self.uniform = known.uniform if is_double else None
        """The number that the cotangent of an argument that is summed up is full of: a function of the
        cotangent of the sum and the shape of the argument, or 1 if the number is that cotangent itself."""
        self.makes_new = known.makes_new
        check = known.fits
        self.fits = (
            is_double and self.is_array
            and (self.uniform is not None or (is_elementwise and not others) or (check is not None and
            check(types)))
        )  # fmt: skip
        self.is_elementwise = is_elementwise
        self.of_shape = known.of_shape
        """The formula ``of_shape(by, shape, **others)``, which needs the shape of the argument only; None
        if there is none."""
        self.into = known.into
        """The formula ``into(shadow, by, **others)``, which adds the cotangent of the argument to `shadow`;
        None if there is none."""
        self.is_broadcast = bool(others)
        """Whether the result may be larger than the argument."""
        self.takes_number = is_simple or (
            is_elementwise
            and read is not None
            and (not others or 0 in read or all(j + 1 in read for j in others))
        )
        self.gives_number = is_simple or (
            read is not None and 0 not in read and not any(j + 1 in read for j in arrays)
        )
        self.needs_whole = self.uniform is None and (
            self.is_broadcast or not self.is_array if is_simple
            else not (self.takes_number and (may_hand_on or not self.gives_number))
        )  # fmt: skip
        """Whether the shape of the result is needed if its cotangent is full of one number."""
        self.partial = known.slope if is_double else None
        self.over = known.over if is_double else None
        self.factor = known.factor


@record
class FormulaAdjoint(Adjoint):
    """``y = f(a, b)``: each active argument gets what its formula gives for the cotangent of the result.

    `parts` are None where an argument is inactive; `out` and `values` are result and arguments in the
    forwards pass, `shadows` those of arguments that are memory.  Of arrays that no formula reads only
    `shapes` are kept: pairs of shape and code of the dtype, by array.
    """

    result: Value
    arguments: Sequence[Value]
    parts: Sequence[Part | None]
    out: Value
    values: Sequence[Value]
    shadows: Sequence[Value | None]
    shapes: dict[Value, tuple[Value, str]]
    others: dict[str, Value]
    """What the formulas are given by keyword."""
    kept: Sequence[Value]
    """The arrays of which the pullback needs the value or the shape."""
    together: Callable[..., object] | None = None
    """The function that computes the cotangents of all arguments at once, if the rule has one."""
    not_overlapping: Container[Value] = ()
    """Shadows of which no two elements are at one place."""
    memory: Value | None = None
    """The shadow of the result, which holds its cotangent, if the result is memory."""

    def __post_init__(self) -> None:
        self.read = values_read(self.parts, self.out, self.values, self.together)
        needs: dict[Value, None] = {}
        for value in self.kept:
            needs[self.shapes[value][0] if value in self.shapes else value] = None
        for part, value, shadow in zip(self.parts, self.values, self.shadows, strict=True):
            if part is not None and shadow is not None:
                needs[shadow] = None
            elif part is not None and not part.is_array:
                needs[value] = None
        needs.update(dict.fromkeys(self.read))
        if any(part is not None and part.function is not None for part in self.parts):
            needs.update(dict.fromkeys(self.others.values()))
        if self.memory is not None:
            needs[self.memory] = None
        self.needs = [v for v in needs if not isinstance(v, Const)]

    def copies(self) -> bool:
        """Whether the reverse only makes one new array of the cotangent of the result, which is not kept."""
        parts = [part for part in self.parts if part is not None]
        return (
            len(parts) == 1
            and parts[0].function is not None
            and parts[0].makes_new
            and parts[0].is_elementwise
        )

    def reverse(self, writer: PullbackWriter) -> None:
        if self.memory is None:
            cotangent = writer.take(self.result).get(())
        else:
            cotangent = writer.get(self.memory)
            writer.never_none.add(cotangent)
            writer.owned.add(cotangent)  # this comes last of all that has to do with the result
        if cotangent is None:
            return
        support = writer.support
        if not writer.is_never_none(cotangent, type_of(self.result)):
            filled = self._like(writer, support.filled, support.filled_array, cotangent, self.out)
            cotangent = writer.moved(cotangent, filled)
        base, is_negated = writer.signed(cotangent)
        if is_negated and self._ends_in_several():
            if base in writer.owned:
                cotangent = writer.builder.call(support.negate, base)
                writer.owned.add(cotangent)
            base, is_negated = cotangent, False
        given = _Given(self, writer, base, cotangent).all()
        # What is given to a leaf may be added to in place, so that comes last.
        for shadow, part, (fits, is_negative, value) in zip(self.shadows, self.parts, given, strict=True):
            if value is not None and shadow is not None and not isinstance(shadow, Const):
                kept = writer.get(shadow)  # the shadow has shape and dtype of its array
                if fits and part is not None and part.fits and shadow in self.not_overlapping:
                    update = operator.isub if is_negative != is_negated else operator.iadd
                    writer.builder.call(update, kept, value)
                elif shadow in self.not_overlapping:
                    give = support.take_own if is_negative != is_negated else support.give_own
                    writer.builder.call(give, kept, value)
                else:
                    give = support.take_array if is_negative != is_negated else support.give_array
                    writer.builder.call(give, kept, kept, value)
        fitting: list[tuple[Value, Value]] = []
        for argument, value, part, (fits, is_negative, d) in zip(
            self.arguments, self.values, self.parts, given, strict=True
        ):
            if d is None or part is None or not wants(writer, argument):
                continue
            if not fits:
                d = writer.moved(d, self._like(writer, support.fit, support.fit_array, d, value))
            if is_negative != is_negated:
                d = self._minus(writer, d, part)
            fitting.append((argument, d))
        for argument, d in fitting:
            writer.give(argument, {(): d})

    def _ends_in_several(self) -> bool:
        """Whether several values get a share of the cotangent, and one of them cannot do with the negative
        of its share."""
        active = [(p, s) for p, s in zip(self.parts, self.shadows, strict=True) if p is not None]
        return len(active) > 1 and any(
            part.is_array and shadow is None and not part.may_be_negative for part, shadow in active
        )

    def _minus(self, writer: PullbackWriter, d: Value, part: Part) -> Value:
        """Minus the cotangent `d` of the argument of `part`."""
        if part.may_be_negative and d not in writer.uniform:
            return writer.negated(d, ANY)
        result = writer.builder.call(operator.neg, d)
        if part.is_array:
            (writer.uniform if d in writer.uniform else writer.owned).add(result)
        return result

    def whole(self, writer: PullbackWriter, number: Value) -> Value:
        """The cotangent of the result as an array, all elements of which are `number`."""
        shape, code = self.shapes[self.out]
        whole = writer.builder.call(writer.support.full_array, number, writer.get(shape), code)
        writer.owned.add(whole)
        return whole

    def spread(self, writer: PullbackWriter, part: Part, cotangent: Value, value: Value) -> Value:
        """The cotangent that an array gets if `cotangent` is that of the sum of its elements."""
        call = writer.builder.call
        number = cotangent
        if part.uniform != 1:
            number = call(part.uniform, cotangent, writer.get(self.shapes[value][0]), type=TANGENT)
        return self._full(writer, part, number, value)

    def share(self, writer: PullbackWriter, part: Part, number: Value, value: Value) -> Value:
        """The cotangent that a term gets if that of the sum of terms is full of `number`."""
        call = writer.builder.call
        if part.is_broadcast:
            shapes = [writer.get(self.shapes[v][0]) for v in (value, self.out)]
            number = call(writer.support.share, number, *shapes)
        if part.is_negative:
            number = call(operator.neg, number)
        return self._full(writer, part, number, value)

    def _full(self, writer: PullbackWriter, part: Part, number: Value, value: Value) -> Value:
        """A cotangent that is full of `number`: the number itself where that may stand for the array, else
        the array."""
        if part.may_hand_on:
            writer.uniform.add(number)
            return number
        shape, code = self.shapes[value]
        whole = writer.builder.call(writer.support.full_array, number, writer.get(shape), code)
        writer.owned.add(whole)
        writer.never_none.add(whole)
        return whole

    def _like(self, writer: PullbackWriter, of_value: Any, of_shape: Any, d: Value, value: Value) -> Value:
        """A call ``of_value(d, value)``, or of `of_shape` with the shape and dtype of `value` where `value`
        is not kept."""
        if value not in self.shapes:
            return writer.builder.call(of_value, d, writer.get(value))
        shape, code = self.shapes[value]
        return writer.builder.call(of_shape, d, writer.get(shape), code)


class _Given:
    """What the formulas of `adjoint` give for `cotangent`, written with `writer`.

    `original` is the cotangent with its sign.
    """

    def __init__(
        self, adjoint: FormulaAdjoint, writer: PullbackWriter, cotangent: Value, original: Value
    ) -> None:
        self.adjoint = adjoint
        self.writer = writer
        self.cotangent = cotangent
        self.original = original
        self.known = [
            writer.get(v) if v in adjoint.read or isinstance(v, Const) else Const(None)
            for v in adjoint.values
        ]
        self.out = writer.get(adjoint.out) if adjoint.out in adjoint.read else Const(None)
        self.is_array = isinstance(type_of(adjoint.result), ArrayType)
        self.is_number = self.is_array and cotangent in writer.uniform
        self._array: Value | None = None if self.is_number else cotangent
        """The cotangent as an array; None as long as only a number stands for it."""
        self.looking = 0
        """How many leaves get the cotangent, or something that may look into its memory."""

    def all(self) -> list[_Share]:
        """The shares of all arguments, in order."""
        adjoint = self.adjoint
        if adjoint.together is not None:
            result = self._together(adjoint.together)
        else:
            result = [
                _NOTHING if part is None else self._share(i, part) for i, part in enumerate(adjoint.parts)
            ]
        if self.looking > 1:
            self.writer.owned.discard(self.cotangent if self._array is None else self._array)
        return result

    def _together(self, function: Callable[..., object]) -> list[_Share]:
        """The shares of all arguments, given at once by `function`."""
        adjoint, writer = self.adjoint, self.writer
        types_ = [self._given_type(i, part) for i, part in enumerate(adjoint.parts)]
        others = map(writer.get, adjoint.others.values())
        answer = writer.builder.call(
            function,
            self._whole(),
            self.out,
            *self.known,
            *others,
            keywords=tuple(adjoint.others),
            type=SequenceType(tuple(types_)),
        )
        result = []
        for argument, part, d in zip(
            adjoint.arguments, adjoint.parts, writer.unpack(answer, len(adjoint.parts)), strict=True
        ):
            if part is None:
                result.append(_NOTHING)
                continue
            self.looking += not part.makes_new and isinstance(type_of(argument), ValueArrayType)
            if part.makes_new:
                writer.owned.add(d)
            if part.fits:
                writer.never_none.add(d)
            result.append((part.fits, False, d))
        return result

    def _share(self, i: int, part: Part) -> _Share:
        adjoint, writer, cotangent = self.adjoint, self.writer, self.cotangent
        value, shadow = adjoint.values[i], adjoint.shadows[i]
        if part.uniform is not None:
            return True, False, adjoint.spread(writer, part, cotangent, value)
        if self.is_number and part.is_simple and part.is_array:
            return True, False, adjoint.share(writer, part, cotangent, value)
        by, stays = cotangent, self.is_number and part.takes_number
        if self.is_number and (not stays or (part.gives_number and not part.may_hand_on)):
            by, stays = self._whole(), False
        if part.into is not None and shadow is not None:
            if not isinstance(shadow, Const):
                others = map(writer.get, adjoint.others.values())
                given = self.original if by is cotangent else by
                writer.builder.call(
                    part.into, writer.get(shadow), given, *others, keywords=tuple(adjoint.others), type=NONE
                )
            return _NOTHING
        is_negative = False
        if part.function is not None:
            d = self._by_formula(i, part, by, stays)
        elif part.is_negative and by in writer.uniform:
            d = writer.builder.call(operator.neg, by)
        else:
            d, is_negative = by, part.is_negative
            if part.may_be_negative or not is_negative:
                self.looking += isinstance(type_of(adjoint.arguments[i]), ValueArrayType)
        if stays and part.gives_number:
            writer.uniform.add(d)
            return True, is_negative, d
        if part.fits:
            writer.never_none.add(d)
        return part.fits, is_negative, d

    def _by_formula(self, i: int, part: Part, by: Value, stays: bool) -> Value:
        """The cotangent that the formula of argument `i`, a function, gives for the cotangent `by` of the
        result; `stays`: `by` is a number that stands for an array."""
        adjoint, writer = self.adjoint, self.writer
        call = writer.builder.call
        last = max(i for i, other in enumerate(adjoint.parts) if other is not None)
        is_alone = (
            i == last and self.looking == 0 and by in writer.owned and self.is_array and not stays
            and all(other is None or other.makes_new for other in adjoint.parts)
        )  # fmt: skip
        if part.partial is not None and not part.is_array and self.is_array and by is self._array:
            d = call(writer.support.inner, by, self._slope(part))
        elif part.over is not None and is_alone:
            d = call(part.over, by, self.out, *self.known, type=self._given_type(i, part))
        elif part.partial is not None and is_alone:
            d = call(operator.imul, by, self._slope(part))
        elif part.factor is not None:
            d = call(operator.mul, [self.out, *self.known][part.factor], by)
        else:
            others = map(writer.get, adjoint.others.values())
            read: tuple[Value, ...] = (self.out, *self.known)
            if part.of_shape is not None:
                read = (writer.get(adjoint.shapes[adjoint.values[i]][0]),)
            function = part.function if part.of_shape is None else part.of_shape
            known = TANGENT if stays and part.gives_number else self._given_type(i, part)
            d = call(function, by, *read, *others, keywords=tuple(adjoint.others), type=known)
            self.looking += not part.makes_new and isinstance(type_of(adjoint.arguments[i]), ValueArrayType)
        if part.makes_new:
            writer.owned.add(d)
        return d

    def _slope(self, part: Part) -> Value:
        """The partial derivative by which the cotangent of the result is multiplied."""
        read = [self.out, *self.known]
        if part.factor is not None:
            slope: Value = read[part.factor]
            return slope
        known = merge(FLOAT, _of_any_shape(type_of(self.adjoint.result)))
        return self.writer.builder.call(part.partial, *read, type=known)

    def _whole(self) -> Value:
        """The cotangent as an array, which is made once."""
        found = self._array
        if found is None:
            found = self._array = self.adjoint.whole(self.writer, self.cotangent)
        return found

    def _given_type(self, i: int, part: Part | None) -> AbstractType:
        """The type of what the formula of argument `i` gives: an array of any shape if it must still be
        made to fit."""
        known = type_of(self.adjoint.arguments[i])
        if part is None:
            return NONE
        if part.fits:
            return cotangent_type(memory_type(known)) if is_number(known) else CotangentOf(memory_type(known))
        return CotangentOf(
            _of_any_shape(known if isinstance(known, ArrayType) else type_of(self.adjoint.result))
        )


def _of_any_shape(type: AbstractType) -> AbstractType:
    """`type`, or arrays of any number of axes of its dtype, numbers of NumPy's included."""
    return ArrayType(type.dtype, None, type.cls) if isinstance(type, ArrayType) else type


def values_read(
    parts: Sequence[Part | None],
    out: Value,
    values: Sequence[Value],
    together: Callable[..., object] | None = None,
) -> list[Value]:
    """What the formulas read of the result `out` and the arguments `values`, each once."""
    everything = [out, *values]
    if together is not None:
        return list(dict.fromkeys(everything))
    found: dict[Value, None] = {}
    for part in parts:
        if part is not None and part.function is not None and part.uniform is None and part.of_shape is None:
            read = part.read  # among others a parameter with a default, which no argument stands for
            is_read = [read is None or i in read for i in range(len(everything))]
            found.update(dict.fromkeys(compress(everything, is_read)))
    return list(found)


class FormulaUses:
    """What is known of the calls in a graph that formulas differentiate."""

    def __init__(
        self,
        graph: Graph,
        active: Container[Value],
        sites: Mapping[Instruction, CallSite],
        parameters_read: Callable[[Callable[..., object]], frozenset[int] | None],
    ) -> None:
        self.parameters_read = parameters_read
        self.active = active
        self.sites = sites
        self._parts: dict[Instruction, list[Part | None]] = {}
        self._may_get_number: dict[Value, bool] = {}
        self.users: dict[Value, list[object]] = {}
        """By value, the phis, instructions and terminators of the primal that have it as an operand."""
        for block in graph.blocks:
            for phi in block.phis:
                for value in phi.operands.values():
                    self.users.setdefault(value, []).append(phi)
            for instruction in block.instructions:
                for value in instruction.operands:
                    self.users.setdefault(value, []).append(instruction)
            for value in block.terminator.values:
                self.users.setdefault(value, []).append(block.terminator)

    def may_get_number(self, call: Instruction) -> bool:
        """Whether a number may stand for the cotangent of the array `call`, all elements being the same."""
        known = self._may_get_number.get(call)
        if known is None:
            self._may_get_number[call] = False
            known = self._may_be_number(call, call) and any(
                self._gives_number(user, call)
                for user in self.users.get(call, ())
                if isinstance(user, Instruction)
            )
            self._may_get_number[call] = known
        return known

    def _gives_number(self, user: Instruction, array: Instruction) -> bool:
        """Whether `user` may give a number to `array`, one of its arguments."""
        site = self.sites[user]
        if site.kind is not Kind.FORMULA:
            return False
        found = formula_call(site.row, [type_of(a) for a in site.arguments], user.keywords, type_of(user))
        assert found is not None
        return any(
            part is not None
            and site.arguments[place] is array
            and (part.uniform is not None or (part.gives_number and self.may_get_number(user)))
            for part, place in zip(self.parts(user), found.arrays, strict=True)
        )

    def parts(self, call: Instruction) -> list[Part | None]:
        """What the formula for each argument of `call` does; None where an argument is inactive."""
        known = self._parts.get(call)
        if known is None:
            site = self.sites[call]
            found = formula_call(site.row, [type_of(a) for a in site.arguments], call.keywords, type_of(call))
            assert found is not None
            arguments = [site.arguments[i] for i in found.arrays]
            types_ = [type_of(a) for a in arguments]
            is_double = all(
                not is_complex(t)
                and not (isinstance(t, ArrayType) and t.dtype.startswith("float") and t.dtype != "float64")
                for t in [type_of(call), *types_]
            )
            known = self._parts[call] = [
                Part(
                    formula,
                    i,
                    types_,
                    self._read(formula, len(arguments)),
                    is_double,
                    self._may_be_number(argument, call),
                    self._is_of_formula(argument, call),
                )
                if argument in self.active and formula is not None
                else None
                for i, (argument, formula) in enumerate(zip(arguments, found.formulas, strict=True))
            ]
        return known

    def _read(self, formula: Formula | int, arrays: int) -> frozenset[int] | None:
        """Which of the result (0) and the arrays (from 1) `formula` reads; None for all."""
        if not isinstance(formula, Formula):
            return frozenset()
        if formula.partial is not None:
            return self.parameters_read(formula.partial)
        read = self.parameters_read(formula.function)
        # The cotangent is its first parameter; what stands behind the arrays is no array.
        return None if read is None else frozenset(i - 1 for i in read if 0 < i <= arrays + 1)

    def _is_of_formula(self, array: Value, user: Instruction) -> bool:
        """Whether the cotangent that `user` gives to `array` is taken in the same block, by a formula or as
        a part of another cotangent."""
        return (
            isinstance(type_of(array), ValueArrayType)
            and isinstance(array, Instruction)
            and array.block is user.block
            and self.sites[array].kind in (Kind.FORMULA, Kind.PART)
        )

    def _may_be_number(self, array: Value, user: Instruction) -> bool:
        """Whether `user` may give a number for the cotangent of `array`: only formulas in the same block
        have to do with that cotangent."""
        known = type_of(array)
        return (
            isinstance(known, ValueArrayType)
            and known.dtype == "float64"
            and isinstance(array, Instruction)
            and array.block is user.block
            and self.sites[array].kind in (Kind.FORMULA, Kind.PART)
            and self.are_all_users_of(array)
        )

    def used_within(self, block: Block) -> list[Instruction]:
        """The arrays of `block` that get cotangents from formulas there alone: they have none where the block
        is entered from behind.  To say so matters in a loop, of which not all ways are known there yet: a sum
        with what may come is no number any more that may stand for an array."""
        return [
            call
            for call in block.instructions
            if call in self.active
            and isinstance(type_of(call), ValueArrayType)
            and self.are_all_users_of(call)
        ]

    def are_all_users_of(self, call: Instruction) -> bool:
        """Whether `call` gets cotangents, all of them from formulas in the same block."""
        users = self.users.get(call, ())
        formulas = [user for user in users if isinstance(user, Instruction) and user.block is call.block]
        kinds = {self.sites[user].kind for user in formulas}
        if len(formulas) < len(users):
            return False
        return kinds <= {Kind.FORMULA, Kind.PART, Kind.PRIMAL} and kinds != {Kind.PRIMAL} and bool(kinds)
