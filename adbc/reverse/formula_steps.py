"""The reverses of calls that are differentiated by formulas, and of additions to arrays."""

from __future__ import annotations

import dataclasses
import operator
from collections.abc import Callable, Sequence
from typing import Any

from adbc.ir import intrinsics
from adbc.ir.graph import Const, Instruction, Value
from adbc.reverse.pullback import PullbackWriter
from adbc.reverse.steps import Step, wants
from adbc.types.inference import type_of
from adbc.types.lattice import ArrayType, has_cotangent, is_number

__all__ = ["FormulaStep", "UpdateStep"]

Formula = Callable[..., object] | int | None


@dataclasses.dataclass
class FormulaStep(Step):
    """``y = f(a, b)`` on arrays, where `y` is a number or treated like one: ``ba += vjp(by, y, a, b)``.

    `formulas` are those of the rule (`Rule.formulas`), None where an argument is inactive; `out` and `values`
    are result and arguments in the forwards pass, `shadows` those of arguments that are memory.  `exact` says
    of which formulas the result fits as it is (`types.callsites.is_exact`).

    Of arrays that no formula reads at most the shape is needed: those are in `shaped`, and `shapes` has pairs
    of shape and code of the dtype for them.
    """

    result: Value
    arguments: Sequence[Value]
    formulas: Sequence[Formula]
    out: Value
    values: Sequence[Value]
    shadows: Sequence[Value | None]
    exact: Sequence[bool]
    others: dict[str, Value]
    """What the formulas are given by name."""
    together: Callable[..., object] | None = None
    """All formulas at once."""
    gives_wide: bool = False
    """The argument gets what can be broadcast to its shape, as a sum gives it, and `takes_wide`."""

    def __post_init__(self) -> None:
        self.shapes: dict[Value, tuple[Value, str]] = {}
        self.read = self._values_read()
        self.shaped = set() if is_number(type_of(self.result)) else {self.out}
        for formula, value, shadow, exact in zip(
            self.formulas, self.values, self.shadows, self.exact, strict=True
        ):
            if formula is not None and (_of_shape(formula) is not None or (shadow is None and not exact)):
                self.shaped.add(value)

    def takes_wide(self) -> bool:
        """Whether the cotangent of the result may be what can be broadcast to its shape: each formula
        multiplies it by an array of that shape, there being no other."""
        everything = [self.result, *self.arguments]
        for formula, exact in zip(self.formulas, self.exact, strict=True):
            if formula is None:
                continue
            reads = getattr(formula, "reads", None)
            if not exact or getattr(formula, "exact", None) != "alone" or reads is None:
                return False
            if not any(isinstance(type_of(everything[i]), ArrayType) for i in reads):
                return False
        return True

    def copies(self) -> bool:
        """Whether the reverse only makes one new array of the cotangent of the result, which is not kept."""
        formulas = [f for f in self.formulas if f is not None]
        return len(formulas) == 1 and callable(formulas[0]) and getattr(formulas[0], "exact", None) == "alone"

    def find_needs(self) -> None:
        """Decide what is saved, now that `shapes` is complete."""
        needs: dict[Value, None] = {}
        for value in [self.out, *self.values]:
            if value in self.shapes:
                needs[self.shapes[value][0]] = None
            elif value in self.read or value in self.shaped:
                needs[value] = None
        for formula, shadow in zip(self.formulas, self.shadows, strict=True):
            if formula is not None and shadow is not None:
                needs[shadow] = None
        if any(map(callable, self.formulas)):
            needs.update(dict.fromkeys(self.others.values()))
        self.needs = [v for v in needs if not isinstance(v, Const)]

    def _values_read(self) -> set[Value]:
        """Those of result and arguments that a formula reads."""
        everything = [self.out, *self.values]
        if self.together is not None:
            return set(everything)
        found: set[Value] = set()
        for formula in self.formulas:
            if callable(formula) and _of_shape(formula) is None:
                reads = getattr(formula, "reads", None)
                found.update(everything if reads is None else [everything[i] for i in reads])
        return found

    def reverse(self, writer: PullbackWriter) -> None:
        cotangent = writer.take(self.result).get(())
        if cotangent is None:
            return
        support = writer.support
        if not is_number(type_of(self.result)) and not _is_never_none(cotangent, writer):
            cotangent = self._like(writer, support.filled, support.filled_array, cotangent, self.out)
        writer.owned.discard(cotangent)  # several arguments may get it
        known = [
            writer.get(v) if v in self.read or isinstance(v, Const) else Const(None)
            for v in (self.out, *self.values)
        ]
        parts: Sequence[Value | None] = [None] * len(self.values)
        if self.together is not None:
            parts = writer.unpack(self._call(writer, self.together, cotangent, *known), len(self.values))
        for i, formula in enumerate(self.formulas):
            if formula is not None:
                self._give(writer, i, formula, cotangent, known, parts[i])

    def _give(
        self,
        writer: PullbackWriter,
        i: int,
        formula: Formula,
        cotangent: Value,
        known: Sequence[Value],
        part: Value | None,
    ) -> None:
        """Give argument `i` its cotangent, which is `part` if it has been computed."""
        argument, value, shadow = self.arguments[i], self.values[i], self.shadows[i]
        call, support = writer.builder.call, writer.support
        if isinstance(shadow, Const) or (shadow is None and not wants(writer, argument)):
            return
        into = getattr(formula, "into", None)
        if shadow is not None and into is not None:
            kept = writer.get(shadow)
            self._call(writer, into, kept, cotangent)
            return
        of_shape = _of_shape(formula)
        wide = getattr(formula, "wide", None)
        if self.gives_wide and wide is not None and shadow is None:
            part = self._call(writer, wide, cotangent, self._shape(writer, value))
            writer.never_none.add(part)
            writer.give(argument, {(): part})
            return
        if part is not None:
            pass
        elif of_shape is not None:
            part = self._call(writer, of_shape, cotangent, self._shape(writer, value))
        elif callable(formula):
            part = self._call(writer, formula, cotangent, *known)
        else:
            part = cotangent if formula == 1 else call(operator.neg, cotangent)
        if self.together is None and (formula == -1 or getattr(formula, "makes_new", False)):
            writer.owned.add(part)
        if shadow is not None:
            kept = writer.get(shadow)
            call(support.give_array, kept, kept, part)  # the shadow has shape and dtype of its array
        else:
            if not self.exact[i]:
                part = writer.moved(part, self._like(writer, support.fit, support.fit_array, part, value))
            else:
                writer.never_none.add(part)
            writer.give(argument, {(): part})

    def _call(self, writer: PullbackWriter, function: Any, *values: Value) -> Value:
        others = map(writer.get, self.others.values())
        return writer.builder.call(function, *values, *others, keywords=tuple(self.others))

    def _shape(self, writer: PullbackWriter, value: Value) -> Value:
        if value in self.shapes:
            return writer.get(self.shapes[value][0])
        return writer.builder.call(intrinsics._getattr_, writer.get(value), "shape")

    def _like(self, writer: PullbackWriter, of_value: Any, of_shape: Any, d: Value, value: Value) -> Value:
        """``of_value(d, value)``, by shape and dtype alone where the value is not kept."""
        if value not in self.shapes:
            return writer.builder.call(of_value, d, writer.get(value))
        shape, code = self.shapes[value]
        return writer.builder.call(of_shape, d, writer.get(shape), code)


@dataclasses.dataclass
class UpdateStep(Step):
    """``u += v`` or ``u -= v`` of arrays: ``u[...] = old; bv = fu`` or ``-fu``; the cotangent of `u` stays.

    `shadow` is that of `v` if it is memory, `shape` its shape and code of the dtype if it is treated like a
    number.  With `is_passed` what comes next in the pullback makes a new array of `bv`; else it is a copy of
    `fu`, which will change.
    """

    argument: Value
    value: Value
    shadow: Value | None
    shape: tuple[Value, str] | None
    target: Value
    target_shadow: Value
    old: Value
    sign: int
    is_passed: bool

    def __post_init__(self) -> None:
        needs = [self.target, self.target_shadow, self.old]
        if self.shadow is not None:
            needs.append(self.shadow)
        elif self.shape is not None:
            needs.append(self.shape[0])
        elif has_cotangent(type_of(self.argument)):
            needs.append(self.value)
        self.needs = [v for v in needs if not isinstance(v, Const)]

    def reverse(self, writer: PullbackWriter) -> None:
        call, support = writer.builder.call, writer.support
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


def _of_shape(formula: Formula) -> Any:
    return getattr(formula, "of_shape", None)


def _is_never_none(cotangent: Value, writer: PullbackWriter) -> bool:
    """Whether what `cotangent` is computed by never gives None."""
    if cotangent in writer.never_none:
        return True
    if not isinstance(cotangent, Instruction):
        return False
    callee, *operands = cotangent.operands
    if not isinstance(callee, Const):
        return False
    support = writer.support
    if callee.value is support.add:
        return any(_is_never_none(v, writer) for v in operands)
    return any(callee.value is f for f in (support.fit, support.fit_array, operator.neg))
