"""The reverse of adding to an array in place."""

from __future__ import annotations

import dataclasses
import operator

from adbc.ir.values import Const, Value
from adbc.reverse.adjoints import Adjoint, wants
from adbc.reverse.pullback import PullbackWriter
from adbc.types.inference import type_of
from adbc.types.lattice import has_cotangent

__all__ = ["UpdateAdjoint"]


@dataclasses.dataclass
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
