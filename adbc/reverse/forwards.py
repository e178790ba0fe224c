"""The forwards pass: the primal, a shadow beside each value that has one, and an adjoint per statement.

The control flow is that of the primal.  Per value there are up to two values in the forwards pass,
`primal[v]` and `shadow[v]`.  A shadow that the type alone determines is a constant: nothing stands
for an inactive value (None), a float has no memory (`NO_FDATA`), a tuple of floats is a tuple of
those.  Only values that are or hold memory cost anything here.
"""

from __future__ import annotations

import dataclasses
import functools
import operator
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from adbc.derive.mirror import Mirror, ReadMethod, ReadSlot
from adbc.ir import intrinsics
from adbc.ir.builder import insert_behind
from adbc.ir.graph import Block, Graph
from adbc.ir.terminators import Return
from adbc.ir.traverse import cycles
from adbc.ir.values import Argument, Const, Instruction, Phi, Value
from adbc.reverse.adjoints import (
    Adjoint,
    CallAdjoint,
    ComplexAdjoint,
    CopyAdjoint,
    DerivedAdjoint,
    LoadAdjoint,
    MoveAdjoint,
    OverwriteAdjoint,
    OwnAdjoint,
    PartAdjoint,
    ProjectAdjoint,
    ScalarAdjoint,
    SlotAdjoint,
    SlotStoreAdjoint,
    TupleAdjoint,
    UndoAdjoint,
    slot_adjoint,
)
from adbc.reverse.companions import constant_shadow, may_be_arrays, meets_numpy
from adbc.reverse.element_writes import store
from adbc.reverse.fields import field_init, field_put, replace, slot_append, stands_for
from adbc.reverse.formulas import FormulaAdjoint, FormulaUses, code_of, values_read
from adbc.reverse.halves import write_display, write_halves
from adbc.reverse.support import Support
from adbc.reverse.texts import text
from adbc.reverse.unrestored import unrestored_updates
from adbc.reverse.updates import ClearAdjoint, UpdateAdjoint, WriteAdjoint, passed_on
from adbc.types.array_calls import formula_call, is_mask
from adbc.types.callsites import CallSite, name_of
from adbc.types.decisions import Decisions
from adbc.types.derived import UNDO, CallableType, SavedOf, SequenceType, rule_cotangent_type, shadow_type
from adbc.types.inference import type_of
from adbc.types.kinds import Kind
from adbc.types.lattice import (
    ANY,
    FLOAT,
    AbstractType,
    ArrayType,
    TupleType,
    ValueArrayType,
    class_of,
    has_cotangent,
    has_shadow,
    is_bare,
    is_memory,
    memory_type,
)

_WRITES = (Kind.STORE, Kind.UPDATE, Kind.WRITE)
_COMPUTED = (
    Kind.FORMULA, Kind.SCALAR, Kind.COMPLEX, Kind.ROW, Kind.LOAD, Kind.PART, Kind.MOVE, Kind.VIEW, Kind.COPY,
    Kind.PROJECT, Kind.TUPLE,
)  # fmt: skip
"""Kinds of calls whose results depend on their arguments alone."""
_MANY = 40
"""The most values that are looked at to find out what one is made of."""
_READS = (Kind.FORMULA, Kind.LOAD, Kind.PRIMAL)
"""Kinds of calls to which it does not matter whether the memory of an array is marked inactive."""

__all__ = ["ForwardsPass"]


class ForwardsPass(Mirror):
    """Writes the forwards pass of a graph in canonical form, except for what is saved.

    A companion is a shadow.  Afterwards `adjoints` has, per block of the primal, the adjoints of its
    statements in order.
    """

    support: Support

    def __init__(
        self,
        decisions: Decisions,
        order: Sequence[Block],
        active_arguments: Sequence[bool],
        support: Support,
    ) -> None:
        super().__init__(decisions, order, support)
        source, active, sites = decisions.graph, decisions.active, decisions.sites
        self.shadow = self.companions
        self.adjoints: dict[Block, list[Adjoint]] = {block: [] for block in order}
        self.own_shadows: set[Value] = set()
        self.activated: set[Value] = set()
        """Shadows behind whose definition it is said that active values are written there."""
        self._looping: set[Block] | None = None
        self.inactive_marks: dict[Value, Instruction] = {}
        """By shadow, or that of a view, what marks its memory inactive."""
        self.effects: list[Value] = []
        """What does what statements of the function do, and gives none of its values."""
        self.formulas = FormulaUses(source, active, sites, support.parameters_read)
        self.unrestored: set[Instruction] = set()
        self.put_back: dict[Instruction, Any] = {}
        if support.values:
            self.unrestored, self.put_back = unrestored_updates(source, sites, self.formulas)
        self.without_numpy = not meets_numpy(source)
        """Whether no value of the graph may be a number of NumPy, so that sums of floats are floats."""
        self.parameters: list[Argument] = []
        """The parameters of the primal that get a cotangent back, in order."""
        self.shapes: dict[tuple[Block, Value], Value] = {}
        self.write(active_arguments)

    # -- values ----------------------------------------------------------------------------------------

    @staticmethod
    def companion_name(name: str) -> str:
        return f"{name}_shadow"

    def has_companion(self, value: Value) -> bool:
        return value in self.active and has_shadow(type_of(value))

    @staticmethod
    def companion_type(type: AbstractType) -> AbstractType:
        return shadow_type(type)

    def _active_argument(self, argument: Argument) -> None:
        if self.has_companion(argument):
            self.shadow[argument] = self.graph.add_argument(
                self.companion_name(argument.name), shadow_type(type_of(argument))
            )
        if has_cotangent(type_of(argument)):
            self.parameters.append(argument)

    def _incoming(self, operand: Value, phi: Phi) -> Value:
        return self.s(operand)

    def companion(self, value: Value) -> Value:
        return self.s(value)

    def s(self, value: Value) -> Value:
        """The shadow of `value` in the forwards pass."""
        known = self.shadow.get(value)
        if known is not None:
            return known
        late = self._late_companion(value)
        if late is not None:
            return late
        if value not in self.active:
            return Const(None)
        return Const(constant_shadow(type_of(value), self.support.no_fdata))

    def _define(self, source: Instruction, primal: Value, companion: Value | None = None) -> None:
        if isinstance(primal, Instruction):
            primal.name = primal.name or source.name
        if primal.type is None:
            primal.type = source.type
        self.primal[source] = primal
        if companion is not None and has_shadow(type_of(source)):
            self.shadow[source] = companion
            if companion.type is None and not isinstance(companion, Const):
                companion.type = shadow_type(type_of(source))

    # -- calls -----------------------------------------------------------------------------------------

    def handlers(self) -> dict[Kind, Callable[[Instruction, CallSite], None]]:
        return super().handlers() | {
            Kind.SCALAR: self._scalar, Kind.COMPLEX: self._complex, Kind.TUPLE: self._tuple,
            Kind.PROJECT: self._project, Kind.COPY: self._copy, Kind.LOAD: self._load,
            Kind.STORE: functools.partial(store, self), Kind.SLOT_STORE: self._slot_store,
            Kind.FIELD_STORE: self._field_store, Kind.FIELD_PUT: functools.partial(field_put, self),
            Kind.FIELD_INIT: functools.partial(field_init, self), Kind.TEXT: functools.partial(text, self),
            Kind.SLOT_APPEND: functools.partial(slot_append, self), Kind.OVERWRITE_ITEM: self._overwrite_item,
            Kind.OVERWRITE_FIELD: self._overwrite_field,
            Kind.VIEW: self._view, Kind.PART: self._part, Kind.MOVE: self._move, Kind.OWN: self._own,
            Kind.FORMULA: self._formula, Kind.UPDATE: self._update, Kind.WRITE: self._write,
            Kind.DERIVED: self._derived, Kind.ATTEMPT: self._attempt,
        }  # fmt: skip

    def leave(self, adjoint: Adjoint) -> None:
        """Let `adjoint` be the adjoint of the current call, or one of several."""
        adjoint.position = self.builder.position
        self.adjoints[self.after].append(adjoint)

    def _meet(self, call: Instruction, site: CallSite) -> None:
        if site.kind is Kind.PRIMAL or site.function is intrinsics._assume_:
            return
        # The rest of the function is left for: it takes what is tested as it is, whichever test failed.
        for value in dict.fromkeys(call.operands):
            slot = self.slots.get(value)
            if slot is not None:
                self.leave(slot_adjoint(value, slot))

    def _primal(self, call: Instruction, site: CallSite) -> None:
        if site.function is intrinsics._observe_ and site.arguments[1] in self.methods:
            found = self.methods[site.arguments[1]]
            self.leave(SlotAdjoint(site.arguments[1], found.companion, found.name, True, may_lack=True))
        super()._primal(call, site)

    def _zero(self, value: Value) -> Value:
        shadow = self.builder.call(self.support.fresh_shadow, value, False)
        if type(type_of(value)) is ArrayType:
            shadow.type = shadow_type(type_of(value))
        return shadow

    def _scalar(self, call: Instruction, site: CallSite, adjoint: Any = ScalarAdjoint) -> None:
        partials, values = self._slopes(call, site)
        name = name_of(site.function)
        self.leave(adjoint(call, site.arguments, partials, values, name, site.row.is_quotient))

    def _complex(self, call: Instruction, site: CallSite) -> None:
        self._scalar(call, site, ComplexAdjoint)

    def _slopes(self, call: Instruction, site: CallSite) -> tuple[list[Graph | None], list[Value]]:
        """Make a call of a scalar rule: the graphs of its partial derivatives, None for an argument that is
        inactive, and its result and arguments, of which these are functions."""
        out = self._copy_call(call)
        self._define(call, out)
        partials = [
            self.support.partial(site.row, i) if a in self.active else None
            for i, a in enumerate(site.arguments)
        ]
        return partials, [out, *map(self.p, site.arguments)]

    def _load(self, call: Instruction, site: CallSite) -> None:
        container, index = site.arguments
        self._define(call, self._copy_call(call))
        self.leave(LoadAdjoint(call, self.s(container), self.p(index)))

    @property
    def is_protected(self) -> bool:
        """Whether a handler may see what the current call raises."""
        return self.builder.block.handler is not None

    def copy(self, call: Instruction) -> None:
        """Let the copy of `call` be a call of the same function."""
        self._define(call, self._copy_call(call))

    def activate(self, shadow: Value) -> None:
        """Say that active values are written into the memory of `shadow`: once, where it is defined."""
        is_known = shadow in self.own_shadows and shadow not in self.inactive_marks
        if is_known or shadow in self.activated or isinstance(shadow, Const):
            return
        if self.after not in self._in_loops():  # what was done with it before was done with a constant
            self.builder.call(self.support.mark_active, shadow)
            return
        self.activated.add(shadow)
        mark = Instruction("call", [Const(self.support.mark_active), shadow])
        mark.position = self.builder.position
        insert_behind(self.graph, self.inactive_marks.get(shadow, shadow), mark)

    def _row(self, call: Instruction, site: CallSite) -> None:
        if write_display(self, call, site):
            return
        if not write_halves(self, call, site):
            super()._row(call, site)
        shadow = self.shadow.get(call)
        is_new = site.function is not operator.getitem and may_be_arrays(type_of(call))
        if is_new and shadow is not None and not isinstance(shadow, Const):
            self._note_inactive(call, site, shadow)

    def _fresh(self, call: Instruction, site: CallSite) -> None:
        super()._fresh(call, site)
        shadow = self.shadow.get(call)
        known = type_of(call)
        if shadow is not None and (isinstance(known, ArrayType) or known == ANY) and self._is_handed_on(call):
            self.inactive_marks[shadow] = self.builder.call(self.support.mark_inactive, shadow)

    def _note_inactive(self, call: Instruction, site: CallSite, shadow: Value) -> None:
        """Mark `shadow`, that of new arrays which `call` makes, inactive where all that it is made of is."""
        if self._is_handed_on(call):
            given = [a for a in site.arguments if a in self.active]
            lists = [a for a in given if a in self.shadow and class_of(type_of(a)) is list]
            with_lists = (bool(lists) or any(type_of(a) == ANY for a in given)) and self.support.keeps_lists(
                site.row
            )
            is_direct = with_lists and all(a in lists or self._may_be_inactive(a) for a in given)
            sources = given if is_direct else self._memory_behind(given)
            shadows = self._pack(map(self.s, sources))
            is_drawn = not given and self.support.keeps_lists(site.row)
            if is_drawn or not isinstance(shadows, Const):
                mark = self.builder.call(self.support.note_inactive, shadow, shadows, is_direct)
                self.inactive_marks[shadow] = mark

    def _handed(self, value: Value) -> Value:
        known = type_of(value)
        assert type(known) is not ValueArrayType or value not in self.active, f"{value} has no shadow"
        if (
            value in self.active
            and has_cotangent(known)
            and not (has_shadow(known) or isinstance(known, TupleType))
        ):
            given = self._pack(map(self.s, self._memory_behind([value])))
            if not isinstance(given, Const):
                return self.builder.call(self.support.number_shadow, given)
        return super()._handed(value)

    def _memory_behind(self, values: Iterable[Value]) -> list[Value]:
        """The values with shadows from which `values`, which may be active, were computed by formulas and
        rules alone; none if they depend on anything else."""
        found: dict[Value, None] = {}
        seen: set[Value] = set()
        pending = list(values)
        while pending:
            value = pending.pop()
            if value in seen:
                continue
            seen.add(value)
            site = self.sites.get(value) if isinstance(value, Instruction) else None
            if self._may_be_inactive(value):
                found[value] = None
            elif has_shadow(known := type_of(value)) and not isinstance(known, TupleType):
                return []  # something may have been written into it since
            elif site is not None and site.kind in _COMPUTED and len(seen) < _MANY:
                pending += [a for a in site.arguments if a in self.active]
            else:
                return []
        return list(found)

    def _may_be_inactive(self, value: Value) -> bool:
        """Whether the shadow of `value` is there, and may turn out to be inactive (`note_inactive`)."""
        # That of what was read from a slot would be read anew, and may be another by now.
        return value in self.shadow and may_be_arrays(type_of(value))

    def _in_loops(self) -> set[Block]:
        """The blocks of the primal that may be run several times."""
        if self._looping is None:
            found = cycles(self.source.blocks, lambda block: block.terminator.successors)
            self._looping = {block for cycle in found for block in cycle}
        return self._looping

    def _is_handed_on(self, call: Instruction) -> bool:
        """Whether something other than formulas and writes of single elements uses what `call` makes, and
        none of these writes is active."""
        users = self.users(call)
        is_handed_on = not users
        for user in users:
            site = self.sites.get(user)
            if site is not None and site.kind in _WRITES and site.arguments[0] is call:
                if site.arguments[-1] in self.active and user.block in self._in_loops():
                    return False
            elif site is None or site.kind not in _READS or type(type_of(user)) is ArrayType:
                is_handed_on = True
        return is_handed_on

    # -- slots of lists and dicts, fields of instances

    def _take_slot(self, call: Instruction, slot: ReadSlot, out: Value | None) -> None:
        if has_shadow(type_of(call)):
            self.shadow[call] = self._slot_companion(slot, out)
        self.leave(slot_adjoint(call, slot, slot.may_lack))

    def _take_method(self, call: Instruction, method: ReadMethod) -> None:
        """Write the reading of `method` and its adjoint, which is that of a field: the bound method gives
        no cotangent back for the instance, whose fdata is identified by address, but the instance may have
        a field of this name."""
        super()._take_method(call, method)
        self.leave(SlotAdjoint(call, method.companion, method.name, True, may_lack=True))

    def _memory(self, slot: ReadSlot) -> Value:
        """The shadow of the value in the slot of a container, where that value is identified by its
        address."""
        return self.builder.call(intrinsics._slot_, slot.companion, slot.key, self.support.no_tangent)

    def _slot_store(self, call: Instruction, site: CallSite) -> None:
        self._write_slot(call, site, site.row.rrule, False)

    def _write_slot(self, call: Instruction, site: CallSite, rrule: Any, is_field: bool) -> None:
        container, key, value = site.arguments
        u, fu, i = self.p(container), self.s(container), self.p(key)
        store = self.support.store_field if is_field else self.support.store_item
        old = self.builder.call(store, rrule, u, fu, i, self.p(value), value in self.active)
        stands_for(self, call, old)
        self.leave(SlotStoreAdjoint(value, u, fu, i, old, is_field))

    def _field_store(self, call: Instruction, site: CallSite) -> None:
        self._write_slot(call, site, self.support.set_field, True)

    def _overwrite_item(self, call: Instruction, site: CallSite) -> None:
        self._overwrite(call, site, False)

    def _overwrite_field(self, call: Instruction, site: CallSite) -> None:
        self._overwrite(call, site, True)

    def _overwrite(self, call: Instruction, site: CallSite, is_field: bool) -> None:
        """Write a float over a float of a container: the shadow has a number in that slot and keeps it."""
        container, key, value, old = site.arguments
        if is_bare(type_of(value)):
            return replace(self, call, site, is_field)
        shadow = self.s(container)
        if container not in self.active or isinstance(shadow, Const) or not self.without_numpy:
            written = dataclasses.replace(site, arguments=site.arguments[:3])
            rrule = self.support.set_field if is_field else site.row.rrule
            return self._write_slot(call, written, rrule, is_field)
        write = intrinsics._setattr_ if is_field else operator.setitem
        u, i = self.p(container), key if is_field else self.p(key)
        if value in self.active:
            self._check_slot(u, shadow)
        stands_for(self, call, self.builder.call(write, u, i, self.p(value)))
        self.leave(OverwriteAdjoint(value, u, self._sink(shadow), i, self.p(old), is_field))

    def _tuple(self, call: Instruction, site: CallSite) -> None:
        elements = site.arguments[1:]
        shadow = None
        if has_shadow(type_of(call)):
            shadow = self.builder.call(intrinsics._new_, tuple, *map(self.s, elements))
        self._define(call, self._copy_call(call), shadow)
        self.leave(TupleAdjoint(call, elements))

    def _project(self, call: Instruction, site: CallSite) -> None:
        container, index = site.arguments[0], site.arguments[1].value  # type: ignore[attr-defined]  # a Const
        shadow = None
        if has_shadow(type_of(call)):
            shadow = self.builder.call(self.support.item, self.s(container), index)
        self._define(call, self._copy_call(call), shadow)
        self.leave(ProjectAdjoint(call, container, index))

    def _copy(self, call: Instruction, site: CallSite) -> None:
        source = site.arguments[0]
        if site.function is intrinsics._assume_:
            self._rename(call, source)
            slot = self.slots.get(source)
            if has_shadow(type_of(call)):
                at_once = slot is not None and not slot.is_field and is_memory(type_of(call))
                self.shadow[call] = self._memory(slot) if slot is not None and at_once else self.s(source)
            if slot is not None:
                if slot.record is not None:
                    self.leave(slot_adjoint(call, slot))
                elif has_cotangent(type_of(call)):
                    shadow = slot.companion
                    inline = self.without_numpy and type_of(call) == FLOAT and not isinstance(shadow, Const)
                    inline = inline and not slot.may_lack
                    sink = self._sink(shadow) if inline else None
                    self.leave(SlotAdjoint(call, shadow, slot.key, slot.is_field, sink, slot.may_lack))
                return
        else:
            self._define(call, self._copy_call(call), self.s(source))
        self.leave(CopyAdjoint(call, source))

    def _freevar(self, call: Instruction, index: Value) -> None:
        cell = self.builder.call(self.support.freevar, self.function, index)
        shadow = self.builder.call(
            self.support.freevar_shadow, self.context, self.function, self.function_companion, index
        )
        self._define(call, cell, shadow)

    def _stored_global(self, call: Instruction, undo: Value, value: Value) -> None:
        self.leave(CallAdjoint(call, undo, [value]) if value in self.active else UndoAdjoint(undo))

    def _new_function(self, call: Instruction, closure: Value, defaults: Value, kwdefaults: Value) -> None:
        super()._new_function(call, closure, defaults, kwdefaults)
        if defaults in self.active:
            collected = self.builder.call(self.support.defaults_pullback, self.shadow[call])
            self.leave(CallAdjoint(call, collected, [defaults]))

    # -- arrays

    def _view(self, call: Instruction, site: CallSite) -> None:
        array, index = site.arguments
        out = self._copy_call(call)
        shadow = self.s(array)
        # That of memory of our own is there, and so are its views, writable.
        view = operator.getitem if shadow in self.own_shadows else self.support.view
        viewed = self.builder.call(view, shadow, self.p(index))
        if shadow in self.own_shadows:
            self.own_shadows.add(viewed)
        if shadow in self.inactive_marks:
            self.inactive_marks[viewed] = viewed
        self._define(call, out, viewed)

    def _part(self, call: Instruction, site: CallSite) -> None:
        array, index = site.arguments
        self._define(call, self._copy_call(call))
        shape = self._shape(self.p(array))
        self.leave(PartAdjoint(call, array, self.p(index), shape, code_of(type_of(array))))

    def _move(self, call: Instruction, site: CallSite) -> None:
        array = site.arguments[0]
        self._define(call, self._copy_call(call))
        shape = None if site.row.moves == "transpose" else self._shape(self.p(array))
        self.leave(MoveAdjoint(call, array, shape))

    def _own(self, call: Instruction, site: CallSite) -> None:
        (argument,) = site.arguments
        self.primal[call] = self.p(argument)
        shadow = self.shadow[call] = self._zero(self.p(argument))
        shadow.type = shadow_type(type_of(call))
        self.own_shadows.add(shadow)
        row = self.put_back.get(call)
        old = None if row is None else self.builder.call(row.save, self.p(argument), shadow, True, type=UNDO)
        self.leave(OwnAdjoint(argument, shadow, self.p(argument), old))

    def _formula(self, call: Instruction, site: CallSite) -> None:
        if not self.support.values:
            self._without_formulas(call, site)
            return
        out = self._copy_call(call)
        shadow = None
        if type(type_of(call)) is ArrayType:
            shadow = self._zero(out)
            self.own_shadows.add(shadow)
            self._note_inactive(call, site, shadow)
        self._define(call, out, shadow)
        found = formula_call(site.row, [type_of(a) for a in site.arguments], call.keywords, type_of(call))
        assert found is not None
        arguments = [site.arguments[i] for i in found.arrays]
        others = {name: self.p(site.arguments[i]) for name, i in found.others}
        parts = self.formulas.parts(call)
        values = list(map(self.p, arguments))
        shadows = [self.s(a) if type(type_of(a)) is ArrayType else None for a in arguments]
        together = found.together if len(parts) > 1 and None not in parts else None
        kept = self._kept(call, [(out, call), *zip(values, arguments, strict=True)], together)
        read = values_read(parts, out, values, together)
        shapes = {
            value: (self._shape(value), code_of(type_of(of)))
            for value, of, is_shape in kept
            if is_shape or value not in read
        }
        keeps = [value for value, _, _ in kept]
        adjoint = FormulaAdjoint(
            call, arguments, parts, out, values, shadows, shapes, others, keeps, together, self.own_shadows,
            shadow,
        )  # fmt: skip
        self.leave(adjoint)

    def _kept(
        self, call: Instruction, arrays: Sequence[tuple[Value, Value]], together: object
    ) -> list[tuple[Value, Value, bool]]:
        """The arrays of which a formula of `call` needs the value or the shape: as they are in the forwards
        pass, as they are in the primal, and whether the shape must be kept.

        arrays: the result of `call` and its arguments, in the forwards pass and in the primal.  together:
        one formula for all cotangents, if there is one.
        """
        kept: list[tuple[Value, Value, bool]] = []
        parts = self.formulas.parts(call)
        is_number = self.formulas.may_get_number(call)
        (out, _), *given = arrays
        if isinstance(type_of(call), ValueArrayType):
            needs_whole = together is not None or any(p is not None and p.needs_whole for p in parts)
            grows = is_number and needs_whole
            if grows or not self.formulas.are_all_users_of(call):
                kept.append((out, call, grows))
        for (value, argument), part in zip(given, parts, strict=True):
            if part is None or not part.is_array:
                continue
            if part.uniform is not None:
                if part.uniform != 1 or not part.may_hand_on:
                    kept.append((value, argument, True))
            elif is_number and part.is_simple:
                if part.is_broadcast or not part.may_hand_on:
                    kept.append((value, argument, True))
            elif part.of_shape is not None and together is None:
                kept.append((value, argument, True))
            elif not part.fits and isinstance(type_of(argument), ValueArrayType):
                kept.append((value, argument, False))
        return kept

    def _update(self, call: Instruction, site: CallSite) -> None:
        if not self.support.values:
            self._row(call, site)
            return
        target, value = site.arguments
        u, fu = self.p(target), self.s(target)
        is_active = value in self.active
        if is_active:
            self.activate(fu)
        old = None
        if call not in self.unrestored:
            old = self.builder.call(site.row.save, u, fu, is_active, type=UNDO)
        self._define(call, self._copy_call(call), fu)
        shadow = shape = None
        known = type_of(value)
        if isinstance(known, ArrayType) and is_active:
            if type(known) is ArrayType:
                shadow = self.s(value)
            else:
                shape = self._shape(self.p(value)), code_of(known)
        is_passed = passed_on(self.adjoints[self.after], self.formulas, call, value) is not None
        self.leave(UpdateAdjoint(value, self.p(value), shadow, shape, u, fu, old, site.row.sign, is_passed))

    def _write(self, call: Instruction, site: CallSite) -> None:
        if not self.support.values:
            self._row(call, site)
            return
        target, index, value = site.arguments
        u, fu, i = self.p(target), self.s(target), self.p(index)
        old = None
        if call not in self.unrestored:
            old = self.builder.call(site.row.save_part, u, fu, i, self._carried(value), type=UNDO)
        elif fu in self.inactive_marks:
            self.builder.call(self.support.carry, fu, self._carried(value))
        self._define(call, self._copy_call(call))
        shadow = shape = passed = None
        known = type_of(value)
        if isinstance(known, ArrayType) and value in self.active:
            if type(known) is ArrayType:
                shadow = self.s(value)
            else:
                shape = self._shape(self.p(value)), code_of(known)
                passed = passed_on(self.adjoints[self.after], self.formulas, call, value)
                if passed is not None and (
                    is_mask(type_of(target), type_of(index)) or any(s is not None for s in passed.shadows)
                ):
                    passed = None  # what is read of the part may be memory that grows by its cotangent
        clear = None
        if passed is not None:
            adjoints = self.adjoints[self.after]
            clear = ClearAdjoint()
            clear.position = self.builder.position
            adjoints.insert(adjoints.index(passed), clear)
        self.leave(
            WriteAdjoint(value, self.p(value), shadow, shape, u, fu, i, old, clear, fu in self.own_shadows)
        )

    def _carried(self, value: Value) -> Value:
        """What stands for a shadow of `value`, None if nothing active has gone into it."""
        if value not in self.active:
            return Const(None)
        behind = self._pack(map(self.s, self._memory_behind([value])))
        if isinstance(behind, Const):
            return Const(self.support.no_fdata)
        return self.builder.call(self.support.number_shadow, behind)

    def _shape(self, array: Value) -> Value:
        """The shape of `array` in the forwards pass, read once per block."""
        key = self.builder.block, array
        if key not in self.shapes:
            self.shapes[key] = self.builder.call(intrinsics._getattr_, array, "shape")
        return self.shapes[key]

    # -- rules that are called

    def _returned(self, call: Instruction, answer: Value, arguments: Sequence[Value]) -> None:
        known = type_of(call)
        gives = CallableType(SequenceType(tuple(rule_cotangent_type(type_of(v)) for v in arguments)))
        parts, out = self.take_apart(call, answer, known, shadow_type(known), gives)
        shadow = None
        if has_shadow(known):
            shadow = self.builder.call(intrinsics._project_, parts, 1)
        pullback = self.builder.call(intrinsics._project_, parts, 2)
        self._define(call, out, shadow)
        self.leave(CallAdjoint(call, pullback, arguments))

    def _attempt(self, call: Instruction, site: CallSite) -> None:
        attempt = functools.partial(self._call_at_run_time, self.support.attempt)
        (attempt if site.binding is None else self._derived)(call, site)

    def _derived(self, call: Instruction, site: CallSite) -> None:
        assert site.binding is not None
        bound = self._bound(site)
        activities = [v in self.active for v in bound]
        types_ = [type_of(v) if v in self.active else memory_type(type_of(v)) for v in bound]
        find = self.support.protected if site.kind is Kind.ATTEMPT else self.support.derived
        entry = find(site.binding, types_, activities)
        arguments = self._leading(site, entry)
        targets: list[tuple[Value | None, AbstractType]] = []
        for value, type, is_active in zip(bound, types_, activities, strict=True):
            arguments.append(self.p(value))
            if is_active and has_shadow(type):
                arguments.append(self.s(value))
            if is_active and has_cotangent(type):
                targets.append((value, type))
        answer = self.builder.call(entry.forwards, *arguments)
        with_shadow = has_shadow(entry.result)
        shadows = [shadow_type(entry.result)] if with_shadow else []
        parts, out = self.take_apart(call, answer, entry.result, *shadows, SavedOf(entry.forwards.__name__))
        if with_shadow:
            shadow: Value = self.builder.call(intrinsics._project_, parts, 1)
        else:  # less may be known of the type here than the rule knows of its result
            shadow = Const(constant_shadow(entry.result, self.support.no_fdata))
        saved = self.builder.call(intrinsics._project_, parts, 1 + with_shadow)
        self._define(call, out, shadow)
        self.leave(DerivedAdjoint(call, entry.result, entry.pullback, saved, targets))

    def _return(self, terminator: Return) -> None:
        """Write nothing yet: what the forwards pass returns is written once it is known what must be
        saved."""
