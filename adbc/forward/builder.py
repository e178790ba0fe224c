"""The forward builder: a dual graph, line by line.

Each value of the primal becomes a pair of SSA values, itself and its tangent; an inactive value
has no tangent at all.  Control flow does not change: branches look at primals, phis come in pairs
with the same edges.  A tangent of a proved number is always a number; any other may be None, the
symbolic zero.

    %1 = call operator.mul(%x, %y)

becomes, on floats,

    %1 = call operator.mul(%x, %y)
    %2 = call operator.mul(%y, %dx)
    %3 = call operator.mul(%x, %dy)
    %d1 = call operator.add(%2, %3)
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

from adbc.derive.mirror import Mirror, ReadSlot
from adbc.forward.arrays import formula_of, is_of_numbers, write_formulas
from adbc.forward.linear import LinearForms
from adbc.forward.presence import (
    PERHAPS,
    is_list_of_lists,
    is_slice,
    is_told,
    mirrored_lists,
    present_tangents,
)
from adbc.forward.structure import covers, is_inactive, is_proper_number, is_solid, zero_of
from adbc.forward.support import ForwardSupport
from adbc.ir import intrinsics
from adbc.ir.graph import Block
from adbc.ir.terminators import Return
from adbc.ir.traverse import reverse_postorder
from adbc.ir.values import Argument, Const, Instruction, Phi, Value
from adbc.tangents import NO_TANGENT
from adbc.types.array_calls import is_complex
from adbc.types.callsites import CallSite, name_of
from adbc.types.decisions import Decisions
from adbc.types.derived import rule_tangent_type, tangent_type
from adbc.types.inference import type_of
from adbc.types.kinds import Kind
from adbc.types.lattice import (
    ANY,
    COMPLEX,
    FLOAT,
    TANGENT,
    AbstractType,
    ArrayType,
    TupleType,
    ValueArrayType,
    class_of,
    has_cotangent,
    has_shadow,
    is_bare,
    is_float64,
    is_number,
    is_place,
    tangent_of,
)

__all__ = ["DualBuilder"]


class DualBuilder(Mirror):
    """Writes the dual graph.  A companion is a tangent."""

    support: ForwardSupport

    def __init__(
        self,
        decisions: Decisions,
        active_arguments: Sequence[int],
        result: AbstractType,
        support: ForwardSupport,
    ) -> None:
        source, sites = decisions.graph, decisions.sites
        super().__init__(decisions, reverse_postorder(source), support)
        self.result = result
        self.tangent = self.companions
        self.effects: list[Value] = []
        """What does what statements of the function do, and gives none of its values."""
        self.captured: Instruction | None = None
        """The instruction that gives the cells of the closure and their tangents, once it has been
        written."""
        self.formulas: dict[Instruction, Any] = {}
        """By call, the formulas by which its tangent is written."""
        if support.formulas:
            self.formulas = {
                call: found for call, site in sites.items() if (found := formula_of(call, site)) is not None
            }
        self.of_numbers = {call for call, site in sites.items() if is_of_numbers(call, site)}
        """The calls that make arrays of numbers which are given one by one."""
        written = self.formulas.keys() | (self.of_numbers if support.formulas else set())
        written |= {v for v, site in sites.items() if site.kind is Kind.COMPLEX and is_complex(type_of(v))}
        self.has_tangent = present_tangents(source, self.active, active_arguments, sites, written)
        """Values of the primal whose tangents are not None."""
        self.present: set[Value] = set()
        """Tangents, as values of the dual graph, that are not None."""
        self.loaded: dict[tuple[Block, Value, Value], Value] = {}
        """Elements of tangents of arrays, by block, array and index, read since something may have been
        written."""
        self.linear = LinearForms(self.builder)

    def write(self, active_arguments: Sequence[int]) -> None:
        super().write(active_arguments)
        self.linear.drop_unused()

    def _meet(self, call: Instruction, site: CallSite) -> None:
        if site.kind.writes:
            self.loaded.clear()

    # -- values ----------------------------------------------------------------------------------------

    @staticmethod
    def companion_name(name: str) -> str:
        return f"d{name}"

    def has_companion(self, value: Value) -> bool:
        return value in self.active

    @staticmethod
    def companion_type(type: AbstractType) -> AbstractType:
        return tangent_type(type)

    def _active_argument(self, argument: Argument) -> None:
        self.tangent[argument] = self.graph.add_argument(
            self.companion_name(argument.name), tangent_type(type_of(argument))
        )
        self._note_presence(argument)

    def _new_phi(self, phi: Phi) -> None:
        super()._new_phi(phi)
        self._note_presence(phi)

    def _note_presence(self, value: Value) -> None:
        if value in self.has_tangent:
            self.present.add(self.tangent[value])

    def _incoming(self, operand: Value, phi: Phi) -> Value:
        return self.d(operand, type_of(phi))

    def companion(self, value: Value) -> Value:
        return self.d(value)

    def d(self, value: Value, wanted: AbstractType | None = None) -> Value:
        """The tangent of `value`, in the form that tangents of type `wanted` have, if that is given."""
        known = self.tangent.get(value)
        if known is None and value in self.slots:
            known = self._slot_tangent(value, self.slots[value])
        if known is None:
            known = self._late_companion(value)
        if known is None:
            if wanted is None:
                return Const(None)
            if is_number(wanted):
                return Const(0.0)
            if type(wanted) is not ValueArrayType and is_complex(wanted):
                return _complex_zero(wanted)
            if type(wanted) is ValueArrayType:
                return self.builder.call(self.support.fill_array, None, self.p(value))
            return self._fill(value) if is_solid(wanted) else Const(None)
        return known if wanted is None else self._fit(known, self.p(value), type_of(value), wanted)

    def _fit(self, tangent: Value, primal: Value, known: AbstractType, wanted: AbstractType) -> Value:
        """`tangent`, which has the form of type `known`, brought into the form of type `wanted`."""
        if covers(known, wanted):
            return tangent
        if is_number(wanted):
            return self.builder.call(intrinsics._real_, tangent, NO_TANGENT)
        if type(wanted) is ValueArrayType:
            return self.builder.call(self.support.fill_array, tangent, primal)
        return self.builder.call(self.support.fill_tangent, primal, tangent)

    def _fill(self, value: Value) -> Value:
        """The zero tangent of `value`, a tuple."""
        fill = self.support.fill_tangent
        zero = fill(value.value, None) if isinstance(value, Const) else zero_of(type_of(value))
        return self.builder.call(fill, self.p(value), None) if zero is None else Const(zero)

    def _define(self, source: Instruction, primal: Value, companion: Value | None = None) -> None:
        self._define_as(source, primal, companion, None)

    def _define_loosely(self, source: Instruction, primal: Value, companion: Value | None) -> None:
        self._define_as(source, primal, companion, ANY)

    def _define_as(
        self, source: Instruction, primal: Value, tangent: Value | None, known: AbstractType | None
    ) -> None:
        """Let `primal` be the copy of `source`, and `tangent` its tangent, in the form of type `known` if
        that is given, else of the type of `source`."""
        if primal.type is None:
            primal.type = source.type
        self.primal[source] = primal
        if tangent is not None and source in self.active:
            if known is not None:
                tangent = self._fit(tangent, primal, known, type_of(source))
            self.tangent[source] = tangent
            if tangent.type is None and not isinstance(tangent, Const):
                tangent.type = tangent_type(type_of(source))
            self._note_presence(source)

    # -- calls ------------------------------------------------------------------------------------

    def _zero(self, value: Value) -> Value:
        return self.builder.call(self.support.fresh_tangent, value)

    def handlers(self) -> dict[Kind, Callable[[Instruction, CallSite], None]]:
        return super().handlers() | {
            Kind.SCALAR: self._scalar, Kind.COMPLEX: self._complex,
            Kind.LOAD: self._load, Kind.STORE: self._store,
            Kind.SLOT_STORE: self._slot_store, Kind.SLOT_APPEND: self._slot_append,
            Kind.FIELD_STORE: self._field_store, Kind.FIELD_PUT: self._field_put,
            Kind.FIELD_INIT: self._field_init,
            Kind.OVERWRITE_ITEM: self._overwrite_item, Kind.OVERWRITE_FIELD: self._overwrite_field,
            Kind.TUPLE: self._tuple, Kind.PROJECT: self._project, Kind.COPY: self._copy,
            Kind.VIEW: self._view, Kind.FORMULA: self._formula, Kind.UPDATE: self._update,
            Kind.WRITE: self._write,
            Kind.DERIVED: self._derived,
        }  # fmt: skip

    def _scalar(self, call: Instruction, site: CallSite) -> None:
        operands = [self.p(v) for v in call.operands]
        present = None if self.after is not call.block or call.keywords else self.linear.present(operands)
        out = self._copy_call(call) if present is None else present
        self.linear.remember(out)
        self.linear.type = tangent_of(type_of(call))
        values = self.linear.values(out, [*map(self.p, site.arguments)], site.row.is_quotient)
        terms = []
        for i, argument in enumerate(site.arguments):
            graph = self.support.partial(site.row, i) if argument in self.active else None
            if graph is not None and not _is_zero(self.tangent[argument]):
                terms.append(self.linear.term(graph, values, self.tangent[argument], site.row.is_quotient))
        total: Value = self.linear.total(terms) if terms else Const(0.0)
        if terms and self.support.watch is not None:
            total = self.builder.call(self.support.watch, total, name_of(site.function))
        self._define(call, out, total)

    def _step(self, call: Instruction, site: CallSite) -> None:
        active = [
            self.tangent[a] for a in site.arguments if a in self.active and not _is_zero(self.tangent[a])
        ]
        self._check_step(call, site, *active, is_checked=bool(active))

    def _complex(self, call: Instruction, site: CallSite) -> None:
        if not is_complex(type_of(call)) or call not in self.active:
            self._row(call, site)  # which takes the real part
            return
        out = self._copy_call(call)
        self.linear.type = TANGENT
        values = self.linear.values(out, [*map(self.p, site.arguments)], site.row.is_quotient)
        terms, is_certain = [], False
        for i, argument in enumerate(site.arguments):
            graph = self.support.partial(site.row, i) if argument in self.active else None
            if graph is not None:
                tangent = self.d(argument)
                is_there = tangent in self.present
                if not is_there and not is_number(type_of(argument)):
                    tangent = self.builder.call(intrinsics._real_, tangent, NO_TANGENT, type=TANGENT)
                if not _is_zero(tangent):
                    terms.append(self.linear.term(graph, values, tangent))
                    is_certain |= is_there and is_complex(type_of(argument))
        zero = _complex_zero(type_of(call))
        total: Value = self.linear.total(terms) if terms else zero
        if terms and not (is_certain and type_of(call) == COMPLEX):
            total = self.builder.call(
                operator.add, total, zero, type=TANGENT
            )  # complex, if nothing is so far
        if terms and self.support.watch is not None:
            total = self.builder.call(self.support.watch, total, name_of(site.function))
        self._define(call, out, total)

    def _load(self, call: Instruction, site: CallSite) -> None:
        container, index = site.arguments
        out = self._copy_call(call)
        whole = self._sink(self.d(container))
        place = self.builder.block, whole, self.p(index)
        known = self.loaded.get(place)
        if known is None:
            known = self.loaded[place] = self._number_at(whole, index, type_of(call))
        self._define(call, out, known)

    def _number_at(self, array: Value, index: Value, known: AbstractType) -> Value:
        """An element of the tangent of an array, as Python's float where that is the same number:
        arithmetic on Python's floats takes a quarter of the time."""
        if array in self.present and is_float64(known) and is_place(type_of(index)):
            read = self.builder.call(intrinsics._getattr_, array, "item")
            return self.builder.call(read, self.p(index))
        return self.builder.call(operator.getitem, array, self.p(index))

    def _store(self, call: Instruction, site: CallSite) -> None:
        self._write_slot(call, site, operator.setitem)

    def _view(self, call: Instruction, site: CallSite) -> None:
        array, index = site.arguments
        out = self._copy_call(call)
        self._define(call, out, self.builder.call(self.support.view, self.d(array), self.p(index)))

    def _take_slot(self, call: Instruction, slot: ReadSlot, out: Value | None) -> None:
        if slot.record is not None and is_number(type_of(call)):
            self.tangent[call] = self.builder.call(self.support.kept_number, slot.companion, slot.key)
        else:
            self.tangent[call] = self._slot_tangent(call, slot, out)

    def _slot_tangent(self, value: Value, slot: ReadSlot, out: Value | None = None) -> Value:
        """The tangent of `value`, which was read from `slot`; for `out` see `_slot_companion`."""
        if slot.is_field or out is not None:
            return self._slot_companion(slot, out)
        if value in self.has_tangent:
            found = self.builder.call(operator.getitem, slot.companion, slot.key)
            self.present.add(found)
            return found
        return self.builder.call(intrinsics._slot_, slot.companion, slot.key, NO_TANGENT)

    def _slot_store(self, call: Instruction, site: CallSite) -> None:
        self._write_slot(call, site, operator.setitem)

    def _slot_append(self, call: Instruction, site: CallSite) -> None:
        container, value = site.arguments
        known = type_of(value)
        if known != FLOAT and not is_bare(known):
            self._row(call, site)
            return
        whole = self.d(container)
        if known == FLOAT:
            self._require(container, whole, value)
        self._define(call, self._copy_call(call))
        is_there = whole in self.present or (
            value in self.active and known == FLOAT
        )  # or an error was raised
        append = intrinsics._list_append_ if is_there else self.support.append_tangent
        self.builder.call(append, whole, self.d(value, FLOAT) if known == FLOAT else Const(NO_TANGENT))

    def _require(self, container: Value, whole: Value, value: Value) -> None:
        """Refuse to write `value` into `container` if `value` has a derivative and `whole`, the tangent of
        `container`, is None."""
        if value in self.active and whole not in self.present:
            self._check_slot(self.p(container), whole)

    def _field_store(self, call: Instruction, site: CallSite) -> None:
        self._write_slot(call, site, intrinsics._setattr_)

    def _field_init(self, call: Instruction, site: CallSite) -> None:
        obj, name, value = site.arguments
        whole = self.d(obj)
        self.effects.append(self.builder.call(intrinsics._setattr_, self.p(obj), name, self.p(value)))
        if type_of(value) == FLOAT:
            tangent = self.d(value, FLOAT)
        elif has_shadow(type_of(value)) or has_cotangent(type_of(value)):
            tangent = self.builder.call(self.support.fill_tangent, self.p(value), self.d(value))
        else:
            tangent = Const(NO_TANGENT)
        self.builder.call(intrinsics._setattr_, self._sink(whole), name, tangent)
        self._define(call, Const(None))

    def _field_put(self, call: Instruction, site: CallSite) -> None:
        obj, name, value = site.arguments
        put, frule = self.support.put_field, self.support.set_field
        written = self.p(value), self.d(value)
        self.effects.append(self.builder.call(put, frule, self.p(obj), self.d(obj), self.p(name), *written))
        self._define(call, Const(None))

    def _overwrite_item(self, call: Instruction, site: CallSite) -> None:
        self._slot_store(call, site)

    def _overwrite_field(self, call: Instruction, site: CallSite) -> None:
        self._field_store(call, site)

    def _write_slot(self, call: Instruction, site: CallSite, store: Any) -> None:
        container, key, value = site.arguments[:3]
        if len(site.arguments) == 4 and is_bare(type_of(value)):  # and so is what is overwritten
            self._define(call, self._copy_call(call))
            return
        whole = self.d(container)
        self._require(container, whole, value)
        self._define(call, self._copy_call(call))
        self.builder.call(store, self._sink(whole), self.p(key), self.d(value, FLOAT))

    def _sink(self, companion: Value) -> Value:
        if isinstance(companion, Const):
            return Const(self.support.sink) if companion.value is None else companion
        return companion if companion in self.present else super()._sink(companion)

    def _tuple(self, call: Instruction, site: CallSite) -> None:
        elements = site.arguments[1:]
        out = self._copy_call(call)
        if is_solid(type_of(call)):
            tangent = self._pack(map(self._part_of_tuple, elements))
        else:
            tangent = self.builder.call(
                self.support.make_tuple, self._pack(map(self.p, elements)), self._pack(map(self.d, elements))
            )
        self._define(call, out, tangent)

    def _part_of_tuple(self, value: Value) -> Value:
        """The tangent of `value` in the form that tangents of elements of tuples have."""
        known = type_of(value)
        if is_inactive(known):
            return Const(zero_of(known))
        if is_proper_number(known) or is_solid(known):
            return self.d(value, known)
        return self.builder.call(self.support.fill_tangent, self.p(value), self.d(value))

    def _project(self, call: Instruction, site: CallSite) -> None:
        container, index = site.arguments
        if call not in self.active:
            self._define(call, self._copy_call(call))
            return
        whole, known = self.d(container), type_of(container)
        assert isinstance(known, TupleType) and isinstance(index, Const) and isinstance(index.value, int)
        part = known.elements[index.value]
        is_known = is_proper_number(part) or is_solid(part)
        if is_known and is_solid(known):
            tangent = self.builder.call(site.function, whole, index)
        else:
            tangent = self.builder.call(self.support.item, whole, index)
        out = self._copy_call(call)
        self._define_as(call, out, tangent, part if is_known and is_solid(known) else ANY)

    def _copy(self, call: Instruction, site: CallSite) -> None:
        source, wanted = site.arguments[0], type_of(call)
        if site.function is intrinsics._assume_:
            slot = self.slots.get(source)
            if slot is not None and is_number(wanted) and (slot.may_lack or slot.record is not None):
                tangent: Value = self.builder.call(self.support.kept_number, slot.companion, slot.key)
            elif slot is not None and is_number(wanted):
                get = intrinsics._getattr_ if slot.is_field else operator.getitem
                tangent = self.builder.call(get, self._sink(slot.companion), slot.key)
                if not is_proper_number(wanted):  # an int has none in a list
                    tangent = self.builder.call(intrinsics._real_, tangent, NO_TANGENT)
            else:
                tangent = self.d(source, wanted)
            self._rename(call, source)
            self._define(call, self.primal[call], tangent)
        elif site.function is intrinsics._unpack_ and is_solid(wanted):
            tangent = self.d(source, wanted)
            out = self._copy_call(call)
            self._define(call, out, self.builder.call(intrinsics._unpack_, tangent, site.arguments[1]))
        else:
            self._define(call, self._copy_call(call), self.d(source, wanted))

    def _freevar(self, call: Instruction, index: Value) -> None:
        assert isinstance(index, Const) and isinstance(index.value, int)
        builder = self.builder
        if self.captured is None or self.captured.block is not builder.block:
            whole = builder.call(self.support.captured, self.context, self.function, self.function_companion)
            self.captured = builder.call(intrinsics._unpack_, whole, 2 * len(self.source.free))
        cell, tangent = (
            builder.call(intrinsics._project_, self.captured, 2 * index.value + k) for k in (0, 1)
        )
        self._define(call, cell, tangent)

    def _stored_global(self, call: Instruction, undo: Value, value: Value) -> None:
        """Drop `undo`: forward mode takes no write to a global back."""

    def _formula(self, call: Instruction, site: CallSite) -> None:
        if not self._by_formulas(call, site):
            self._without_formulas(call, site)

    def _update(self, call: Instruction, site: CallSite) -> None:
        if call not in self.active and self.active.isdisjoint(site.arguments):
            self._primal(call, site)
            return
        if not self.support.formulas:
            self._row(call, site)
            return
        target, value = site.arguments
        d = self.d(value) if value in self.active else Const(None)
        written = self.p(target), self.d(target) if target in self.active else Const(None)
        self._define(call, self._copy_call(call), written[1])
        self.builder.call(self.support.formula(site.row.update_tangent), *written, d)

    def _write(self, call: Instruction, site: CallSite) -> None:
        if not self.support.formulas:
            self._row(call, site)
            return
        target, index, value = site.arguments
        tangent = self.d(value) if value in self.active else Const(None)
        self._define(call, self._copy_call(call))
        written = self.p(target), self.d(target) if target in self.active else Const(None)
        if isinstance(written[1], Const) and isinstance(tangent, Const):
            return  # a constant is written into an array that is one
        self.builder.call(self.support.formula(site.row.write_tangent), *written, self.p(index), tangent)

    def _row(self, call: Instruction, site: CallSite) -> None:
        if not (
            self._by_formulas(call, site) or self._by_mirroring(call, site) or self._by_placing(call, site)
        ):
            self._rule(call, site)

    def _by_formulas(self, call: Instruction, site: CallSite) -> bool:
        """Write the tangent of `call` by formulas, if its arguments are numbers, arrays, or what is known to
        have a tangent; return whether it was done."""
        found = self.formulas.get(call)
        arguments = site.arguments
        if call in self.of_numbers and self.support.formulas:
            items = [self.d(v) if v in self.active else Const(0.0) for v in arguments[:-1]]
            shape = self.p(arguments[-1])
            out = self._copy_call(call)
            made = tangent_type(type_of(call))
            function = self.support.formula(site.function)
            whole = self.builder.call(function, *items, shape, keywords=call.keywords, type=made)
            self._define(call, out, whole)
            return True
        active = [v for v in arguments if v in self.active]
        perhaps = {v for v in active if v not in self.has_tangent and not is_number(type_of(v))}
        if found is None or not all(isinstance(type_of(v), ArrayType) for v in perhaps):
            return False
        tangents = [
            None if v not in self.active else self._filled(v) if v in perhaps else self.d(v)
            for v in arguments
        ]
        out = self._copy_call(call)
        tangent = write_formulas(
            self.builder, self.support, found, out, arguments, list(map(self.p, arguments)), tangents
        )
        if tangent is None and call in self.active:
            is_array = isinstance(type_of(call), ArrayType)
            tangent = self._zero(out) if is_array else Const(0.0)
        self._define(call, out, tangent)
        return True

    def _filled(self, array: Value) -> Value:
        """The tangent of `array`, zeros if that is None."""
        tangent = self.d(array)
        if tangent in self.present:
            return tangent
        known = tangent_type(type_of(array))
        return self.builder.call(self.support.fill_array, tangent, self.p(array), type=known)

    def _by_mirroring(self, call: Instruction, site: CallSite) -> bool:
        """Call the function on the tangents of lists as it is called on the lists, if those tangents are
        known not to be None; return whether it was done."""
        lists = mirrored_lists(site)
        if lists is None or not all(v in self.active and self.d(v) in self.present for v in lists):
            return False
        out = self._copy_call(call)
        operands = []
        for v in site.arguments:
            if v in lists:
                operands.append(self.d(v))
            elif is_slice(v):  # another one: it takes no object then
                operands.append(self.builder.call(*map(self.p, v.operands)))  # type: ignore[attr-defined]
            else:
                operands.append(self.p(v))
        self._define(call, out, self.builder.call(site.function, *operands))
        return True

    def _by_placing(self, call: Instruction, site: CallSite) -> bool:
        """Put the tangent of a list or array into that of a list, if both are known not to be None; return
        whether it was done."""
        if site.row.inline not in ("append", "store"):
            return False
        container, *where, value = site.arguments
        whole, part = self.d(container), self.d(value)
        if class_of(type_of(container)) is not list or not {whole, part} <= self.present:
            return False
        self._define(call, self._copy_call(call))
        place = intrinsics._list_append_ if site.row.inline == "append" else operator.setitem
        self.builder.call(place, whole, *map(self.p, where), part)
        return True

    def _derived(self, call: Instruction, site: CallSite) -> None:
        assert site.binding is not None
        bound = self._bound(site)
        activities = [self._activity(v) for v in bound]
        entry = self.support.derived(site.binding, [type_of(v) for v in bound], activities)
        arguments = self._leading(site, entry)
        for value, is_active in zip(bound, activities, strict=True):
            arguments.append(self.p(value))
            if is_active:
                arguments.append(self.d(value))
        self._gives(call, self.builder.call(entry.forwards, *arguments), entry.result)

    def _activity(self, value: Value) -> int:
        if value not in self.active:
            return False
        if not is_told(value):
            return True
        return True if value in self.has_tangent and not is_list_of_lists(value) else PERHAPS

    def _returned(self, call: Instruction, answer: Value, arguments: Sequence[Value]) -> None:
        self._gives(call, answer, ANY)

    def _gives(self, call: Instruction, answer: Value, known: AbstractType) -> None:
        """Take apart `answer`, the pair of the result of `call` and its tangent, which has the form of type
        `known`."""
        tangent = rule_tangent_type(type_of(call)) if known is ANY else tangent_type(known)
        parts, out = self.take_apart(call, answer, type_of(call), tangent)
        self._define_as(call, out, self.builder.call(intrinsics._project_, parts, 1), known)

    def _return(self, terminator: Return) -> None:
        value = terminator.value
        self.builder.ret(
            self.builder.call(intrinsics._new_, tuple, self.p(value), self.d(value, self.result))
        )


def _is_zero(tangent: Value) -> bool:
    """Whether `tangent`, of a number, is zero for all arguments."""
    return isinstance(tangent, Const) and tangent.value == 0.0


def _complex_zero(type: AbstractType) -> Const:
    """The zero tangent of a complex number of this type."""
    cls = class_of(type) or (complex if is_complex(type) else float)
    return Const(cls(0))
