"""Writes to fields of instances, and to lists, in the forwards pass: to fields of new objects, of anything
but floats, of what has no derivative over its like, and what is appended."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING

from adbc.ir import intrinsics
from adbc.ir.values import Const, Instruction, Value
from adbc.reverse.adjoints import AppendAdjoint, InitAdjoint, PutAdjoint, ReplaceAdjoint
from adbc.types.callsites import CallSite
from adbc.types.inference import type_of
from adbc.types.lattice import (
    FLOAT,
    AbstractType,
    TupleType,
    has_cotangent,
    has_shadow,
    is_bare,
    is_memory,
)

if TYPE_CHECKING:  # the builder has these functions among its handlers
    from adbc.reverse.forwards import ForwardsPass

__all__ = ["field_init", "field_put", "replace", "slot_append", "stands_for"]


def stands_for(builder: ForwardsPass, call: Instruction, effect: Value) -> None:
    """Note that `effect` does what `call` does, which gives None."""
    builder.primal[call] = Const(None)
    builder.effects.append(effect)


def field_init(builder: ForwardsPass, call: Instruction, site: CallSite) -> None:
    """Write ``obj.x = v`` of a new object, and a zero into the field of its shadow."""
    obj, name, value = site.arguments
    write = builder.builder.call
    shadow = builder.s(obj)
    stands_for(builder, call, write(intrinsics._setattr_, builder.p(obj), name, builder.p(value)))
    slot: Value
    if type_of(value) == FLOAT:
        slot = Const(0.0)
    elif has_shadow(type_of(value)) or has_cotangent(type_of(value)):
        slot = write(builder.support.slot_of, builder.p(value), builder.s(value))
    else:
        slot = Const(builder.support.no_tangent)
    write(intrinsics._setattr_, shadow, name, slot)
    builder.leave(InitAdjoint(value, shadow, name))


def field_put(builder: ForwardsPass, call: Instruction, site: CallSite) -> None:
    """Write ``obj.x = v`` of anything, by a function of the runtime that saves what was there."""
    obj, name, value = site.arguments
    support, u, fu, key = builder.support, builder.p(obj), builder.s(obj), builder.p(name)
    v, fv = builder.p(value), builder.s(value)
    old = builder.builder.call(support.put_field, support.set_field, u, fu, key, v, fv)
    stands_for(builder, call, old)
    builder.leave(PutAdjoint(value, u, fu, key, old))


def replace(builder: ForwardsPass, call: Instruction, site: CallSite, is_field: bool) -> None:
    """Write what has no derivative over its like (a count, a flag, a text): the shadow stays as it is."""
    container, key, value, old = site.arguments
    u, i = builder.p(container), key if is_field else builder.p(key)
    write = intrinsics._setattr_ if is_field else operator.setitem
    stands_for(builder, call, builder.builder.call(write, u, i, builder.p(value)))
    builder.leave(ReplaceAdjoint(u, i, builder.p(old), is_field))


def slot_of(builder: ForwardsPass, known: AbstractType, shadow: Value) -> Value:
    """The tangent of a new value of a type of which `is_flat` is true, or of a part of it, with this
    `shadow`."""
    nothing = builder.support.no_tangent
    if is_memory(known):
        return builder.builder.call(intrinsics._or_else_, shadow, nothing)
    if not isinstance(known, TupleType):
        return Const(0.0 if known == FLOAT else nothing)
    parts: list[Value] = []
    for i, part in enumerate(known.elements):
        of_part = builder.builder.call(builder.support.item, shadow, i) if has_shadow(part) else Const(None)
        parts.append(slot_of(builder, part, of_part))
    values = [part.value if isinstance(part, Const) else part for part in parts]
    if all(value is nothing for value in values):
        return Const(nothing)
    if any(isinstance(value, Value) for value in values):
        return builder.builder.call(intrinsics._new_, tuple, *parts)
    return Const(tuple(values))


def slot_append(builder: ForwardsPass, call: Instruction, site: CallSite) -> None:
    """Append to a list what is a number, is memory, has no derivative, or is a tuple of numbers."""
    container, value = site.arguments
    u, fu, known, support = builder.p(container), builder.s(container), type_of(value), builder.support
    if isinstance(known, TupleType):
        shadow = builder.s(value)
        is_active = shadow if has_shadow(known) else Const(value in builder.active)
        given = u, fu, builder.p(value), slot_of(builder, known, shadow), is_active
        stands_for(builder, call, builder.builder.call(support.append_flat, *given))
        builder.leave(AppendAdjoint(value, u, fu))
        return
    is_memory = has_shadow(known) or is_bare(known)
    beside = builder.s(value) if has_shadow(known) else None if is_memory else value in builder.active
    append = support.append_array if is_memory else support.append_item
    stands_for(builder, call, builder.builder.call(append, u, fu, builder.p(value), beside))
    builder.leave(AppendAdjoint(value, u, fu, is_memory))
