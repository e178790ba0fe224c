"""Rows that are called at every turn of a loop: rules in two halves, and displays that are written out.

A rule answers with a pullback, a function that is made anew for each call, and is given tuples that are made
for it.  A row with `rules.table.Halves` has no need of either::

    %1 = call deque.append(%q, %x)

becomes, in the forwards pass and in the pullback,

    %1 = call append_forwards(%q, %x, %q_shadow, NO_FDATA)
    %2 = call append_backwards(%saved, %cotangent)

A list of numbers, or a dict of numbers under keys that are written in the code, is made with its shadow, and
the cotangents of the numbers are read from that.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from adbc.ir import intrinsics
from adbc.ir.values import Const, Instruction, Value
from adbc.records import record
from adbc.reverse.adjoints import Adjoint, CallAdjoint, wants
from adbc.reverse.pullback import PullbackWriter
from adbc.types.callsites import CallSite
from adbc.types.derived import UNDO, SequenceType, rule_cotangent_type, shadow_type
from adbc.types.inference import type_of
from adbc.types.lattice import ANY, FLOAT, class_of, has_shadow

if TYPE_CHECKING:
    from adbc.reverse.forwards import ForwardsPass

__all__ = ["write_display", "write_halves"]


@record
class HalvesAdjoint(CallAdjoint):
    """A call of the first half of a rule: ``(b0, b1, ...) = backwards(saved, bout)``."""

    backwards: object

    def pulled_back(self, writer: PullbackWriter, bout: Value) -> Value:
        known = [ANY if t is None else rule_cotangent_type(type_of(t)) for t in self.targets]
        given = SequenceType(tuple(known))
        return writer.builder.call(self.backwards, writer.get(self.pullback), bout, type=given)


def write_halves(forwards: ForwardsPass, call: Instruction, site: CallSite) -> bool:
    """Write `call`, for which there is a rule, by the halves of that; whether it has such."""
    halves = site.row.halves_of(len(site.arguments))
    if halves is None or not forwards.support.values or call.keywords:
        return False
    given = [*map(forwards.p, site.arguments), *map(forwards.companion, site.arguments)]
    answer = forwards.builder.call(halves.forwards, *given)
    known = type_of(call)
    parts, out = forwards.take_apart(call, answer, known, shadow_type(known), UNDO)
    shadow = forwards.builder.call(intrinsics._project_, parts, 1) if has_shadow(known) else None
    saved = forwards.builder.call(intrinsics._project_, parts, 2)
    forwards._define(call, out, shadow)
    forwards.leave(HalvesAdjoint(call, saved, site.arguments, halves.backwards))
    return True


# -- displays ------------------------------------------------------------------------------------------


@record
class DisplayAdjoint(Adjoint):
    """``[a, b]`` or ``{"a": a, "b": b}`` of floats: each has its cotangent in the shadow."""

    shadow: Value
    keys: Sequence[object]
    elements: Sequence[Value]

    def __post_init__(self) -> None:
        self.needs = [self.shadow]

    def reverse(self, writer: PullbackWriter) -> None:
        for key, element in zip(self.keys, self.elements, strict=True):
            if wants(writer, element):
                call = writer.builder.call
                writer.give(element, {(): call(operator.getitem, writer.get(self.shadow), key)})


def write_display(forwards: ForwardsPass, call: Instruction, site: CallSite) -> bool:
    """Write `call` as a display of numbers beside another one of zeros, if it is one; whether it is."""
    if site.function is not intrinsics._new_ or not forwards.support.values:
        return False
    kind, *parts = site.arguments
    cls = kind.value if isinstance(kind, Const) else None
    keys: list[object]
    if cls is list and parts:
        keys, elements = list(range(len(parts))), parts
    elif cls is dict and parts:
        written = [k.value for k in parts[::2] if isinstance(k, Const) and type(k.value) in _KEYS]
        keys, elements = list(written), parts[1::2]
        if len({*written}) < len(elements):
            return False
    else:
        return False
    if not all(map(_is_number, elements)):
        return False
    builder, no_tangent = forwards.builder, forwards.support.no_tangent
    out = builder.call(intrinsics._new_, kind, *map(forwards.p, parts), type=call.type, name=call.name)
    slots: Iterable[object] = [0.0 if type_of(e) == FLOAT else no_tangent for e in elements]
    if cls is dict:
        slots = [part for pair in zip(keys, slots, strict=True) for part in pair]
    shadow = builder.call(intrinsics._new_, cls, *slots, type=shadow_type(type_of(call)))
    forwards._define(call, out, shadow)
    forwards.leave(DisplayAdjoint(shadow, keys, elements))
    return True


_KEYS = frozenset({str, int})
_WITHOUT = frozenset({int, bool, str, type(None)})


def _is_number(value: Value) -> bool:
    """Whether `value` is a float, or has no derivative and nothing that stands for it."""
    known = type_of(value)
    return known == FLOAT or class_of(known) in _WITHOUT
