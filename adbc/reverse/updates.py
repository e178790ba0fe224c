"""The reverse of adding to an array in place, and of writing into a part of one."""

from __future__ import annotations

import operator
from collections.abc import Sequence

from adbc.ir.values import Const, Instruction, Value
from adbc.records import record
from adbc.reverse.adjoints import Adjoint, wants
from adbc.reverse.formulas import FormulaAdjoint, FormulaUses
from adbc.reverse.pullback import PullbackWriter
from adbc.types.inference import type_of
from adbc.types.lattice import has_cotangent

__all__ = ["ClearAdjoint", "UpdateAdjoint", "WriteAdjoint", "passed_on"]


@record
class UpdateAdjoint(Adjoint):
    """``u += v`` or ``u -= v`` of arrays: ``u[...] = old; bv = fu`` or ``-fu``; the cotangent of `u` stays.
    There is no `old` where nobody looks at the memory before the update (`reverse.unrestored`).

    `shadow` is the shadow of `v` if `v` is memory, `shape` the shape of `v` and the code of its dtype if
    `v` is treated like a number.  With `is_passed`, the next thing in the pullback makes a new array of
    `bv`; else `bv` is a copy of `fu`, which will change.
    """

    argument: Value
    value: Value
    shadow: Value | None
    shape: tuple[Value, str] | None
    target: Value
    target_shadow: Value
    old: Value | None
    sign: int
    is_passed: bool

    def __post_init__(self) -> None:
        needs = [self.target_shadow]
        if self.old is not None:
            needs += [self.target, self.old]
        if self.shadow is not None:
            needs.append(self.shadow)
        elif self.shape is not None:
            needs.append(self.shape[0])
        elif has_cotangent(type_of(self.argument)):
            needs.append(self.value)
        self.needs = [v for v in needs if not isinstance(v, Const)]

    def reverse(self, writer: PullbackWriter) -> None:
        call, support = writer.builder.call, writer.support
        if self.old is not None:
            call(operator.setitem, writer.get(self.target), ..., writer.get(self.old))
        if self.argument not in writer.active or isinstance(self.target_shadow, Const):
            return
        part = writer.get(self.target_shadow)
        if self.sign == -1:
            part = call(operator.neg, part)
        elif self.shadow is None and not self.is_passed:
            part = call(support.copied, part)
        if self.shadow is not None:
            if not isinstance(self.shadow, Const):
                kept = writer.get(self.shadow)
                call(support.give_array, kept, kept, part)
        elif self.shape is not None:
            shape, code = self.shape
            writer.give(self.argument, {(): call(support.fit_array, part, writer.get(shape), code)})
        elif wants(writer, self.argument):
            writer.give(self.argument, {(): call(support.fit, part, writer.get(self.value))})


@record
class WriteAdjoint(Adjoint):
    """``u[i] = v`` of arrays: ``u[i] = old; bv = fu[i]; fu[i] = 0``.  There is no `old` where nobody looks at
    what was there before (`reverse.unrestored`).

    `shadow` is the shadow of `v` if `v` is memory, `shape` the shape of `v` and the code of its dtype if `v`
    is treated like a number.  If there is `clear`, the next thing in the pullback makes a new array of `bv`,
    and `clear` comes behind that; else `bv` is a copy of the part of `fu`.
    """

    argument: Value
    value: Value
    shadow: Value | None
    shape: tuple[Value, str] | None
    target: Value
    target_shadow: Value
    index: Value
    old: Value | None
    clear: ClearAdjoint | None
    is_own: bool
    """Whether the shadow of `u` was made here, so that it is there."""

    def __post_init__(self) -> None:
        needs = [self.target_shadow, self.index]
        if self.old is not None:
            needs += [self.target, self.old]
        if self.shadow is not None:
            needs.append(self.shadow)
        elif self.shape is not None:
            needs.append(self.shape[0])
        elif has_cotangent(type_of(self.argument)):
            needs.append(self.value)
        self.needs = [v for v in needs if not isinstance(v, Const)]

    def reverse(self, writer: PullbackWriter) -> None:
        call, support = writer.builder.call, writer.support
        index = writer.get(self.index)
        if self.old is not None:
            call(operator.setitem, writer.get(self.target), index, writer.get(self.old))
        if isinstance(self.target_shadow, Const):
            return
        whole = writer.get(self.target_shadow)
        if self.argument not in writer.active:
            call(support.clear_part, whole, index)
        elif self.shadow is not None:
            call(support.move_part, whole, index, writer.get(self.shadow))
        elif not wants(writer, self.argument):
            call(support.clear_part, whole, index)
        elif self.shape is None:
            writer.give(self.argument, {(): call(support.taken_number, whole, index, writer.get(self.value))})
        else:
            shape, code = writer.get(self.shape[0]), self.shape[1]
            if self.clear is None:
                d = call(support.taken_part, whole, index, shape, code)
                writer.owned.add(d)
            else:
                self.clear.part = call(support.view, whole, index)
                d = call(support.fit_array, self.clear.part, shape, code)
            if self.is_own:
                writer.never_none.add(d)
            writer.give(self.argument, {(): d})


class ClearAdjoint(Adjoint):
    """What is left of ``u[i] = v`` when the cotangent of `v` has been used: ``fu[i] = 0``."""

    part: Value | None = None
    """The part of `fu`, in the pullback that is being written."""

    def __init__(self) -> None:
        self.needs = []

    def reverse(self, writer: PullbackWriter) -> None:
        if self.part is not None:
            writer.builder.call(writer.support.clear, self.part)
            self.part = None


def passed_on(
    adjoints: Sequence[Adjoint], formulas: FormulaUses, call: Instruction, value: Value
) -> FormulaAdjoint | None:
    """The adjoint of `value` if it is the last of `adjoints`, in front of that of `call`, the only user of
    `value`, and makes a new array of the cotangent, which is not kept."""
    last = adjoints[-1] if adjoints else None
    if not isinstance(last, FormulaAdjoint) or last.result is not value or not last.copies():
        return None
    is_here = isinstance(value, Instruction) and value.block is call.block
    return last if is_here and formulas.users.get(value) == [call] else None
