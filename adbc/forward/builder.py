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
import types
from collections.abc import Mapping, Sequence
from typing import Any

from adbc.forward.arrays import formula_of, write_formulas
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
from adbc.forward.values import find_values
from adbc.ir import intrinsics
from adbc.ir.builder import Builder, insert_behind
from adbc.ir.graph import Block, Graph
from adbc.ir.terminators import Branch, Jump, Raise, Return, Switch
from adbc.ir.traverse import remove_unreachable, reverse_postorder
from adbc.ir.values import Const, Instruction, Phi, Undef, Value
from adbc.passes.normal.protected import is_isolated, isolate
from adbc.rules.kinds import RowKind
from adbc.tangents import NO_TANGENT
from adbc.types.callsites import CallSite, activity, is_constant_dict, name_of
from adbc.types.decisions import Decisions
from adbc.types.derived import CONTEXT, FUNCTION, rule_tangent_type, tangent_type
from adbc.types.inference import type_of
from adbc.types.lattice import (
    ANY,
    FLOAT,
    AbstractType,
    ArrayType,
    TupleType,
    ValueArrayType,
    class_of,
    is_float64,
    is_number,
    is_place,
    tangent_of,
)
from adbc.types.usefulness import drop_useless

__all__ = ["build_forward"]


_NO_KEYWORDS: Mapping[str, Any] = types.MappingProxyType({})


def build_forward(
    graph: Graph, active_arguments: Sequence[int], result: AbstractType, support: ForwardSupport
) -> Graph:
    """The dual graph of `graph`, which is typed and in normal form.  An active argument may be `PERHAPS`.

    ``dual(context, [function, dfunction], x, [dx], ...) -> (out, dout)``
    """
    remove_unreachable(graph)
    isolate(graph)
    if support.formulas:
        find_values(graph, support.knowledge)
    active, sites = activity(graph, list(map(bool, active_arguments)), support.knowledge)
    drop_useless(graph, active, sites)
    dual = _Dual(graph, active, active_arguments, sites, result, support).graph
    if support.told is not None:
        support.told(Decisions(graph, sites, active))
    return dual


class _Dual:
    def __init__(
        self,
        source: Graph,
        active: set[Value],
        active_arguments: Sequence[int],
        sites: Mapping[Instruction, CallSite],
        result: AbstractType,
        support: ForwardSupport,
    ) -> None:
        self.result = result
        self.free = source.free
        self.captured: Instruction | None = None
        """The cells of the closure and their tangents, once they have been asked for."""
        self.active = active
        self.sites = sites
        self.support = support
        self.primal: dict[Value, Value] = {}
        self.tangent: dict[Value, Value] = {}
        self.methods: dict[Value, tuple[Value, Value, Value]] = {}
        """Bound methods that are tested right behind: the instance, its tangent, the name."""
        self.slots: dict[Value, tuple[Value, Value, bool, bool]] = {}
        """Values read from slots and tested right behind: tangent of the container, index or name, whether it
        is a name, and whether the tangent is known to be there."""
        self.sinks: dict[tuple[Value, int], Instruction] = {}
        self.formulas: dict[Instruction, Any] = {}
        """Calls whose tangents are written by formulas."""
        if support.formulas:
            self.formulas = {
                call: found for call, site in sites.items() if (found := formula_of(call, site)) is not None
            }
        self.has_tangent = present_tangents(source, active, active_arguments, sites, self.formulas)
        self.present: set[Value] = set()
        """Tangents that are not None."""
        self.loaded: dict[tuple[Block, Value, Value], Value] = {}
        """Elements of tangents of arrays that were read since something may have been written, by block."""
        self.seen: set[tuple[Block, Value]] = set()
        """Where else tangents were seen not to be None."""
        self.guarded = {
            call.operands[1]
            for call in source.instructions()
            if call.op == "call"
            and isinstance(call.operands[0], Const)
            and call.operands[0].value in (intrinsics._assume_, intrinsics._method_is_)
        }
        graph = self.graph = Graph(source.name)
        graph.qualname, graph.filename, graph.first_line = source.qualname, source.filename, source.first_line
        self.context = graph.add_argument("context", CONTEXT)
        if source.free:
            self.function = graph.add_argument("function", FUNCTION)
            self.dfunction = graph.add_argument("dfunction", tangent_type(FUNCTION))
        for argument, is_active in zip(source.arguments, active_arguments, strict=True):
            self.primal[argument] = graph.add_argument(argument.name, argument.type)
            if is_active:
                self.tangent[argument] = graph.add_argument(
                    f"d{argument.name}", tangent_type(type_of(argument))
                )
                if argument in self.has_tangent:
                    self.present.add(self.tangent[argument])
        order = reverse_postorder(source)
        self.blocks = {block: graph.add_block(block.label) for block in order}
        self.builder = Builder(graph, self.blocks[source.entry])
        self.linear = LinearForms(self.builder)
        sources = source.predecessors()
        self.before = {
            copy: self.blocks[sources[block][0]]
            for block, copy in self.blocks.items()
            if len(sources[block]) == 1 and sources[block][0].handler is not block
        }
        """The one block in front of a block, if there is one, and it is not left by an exception."""
        for block in order:
            for phi in block.phis:
                self._new_phi(phi)
        for block, copy in self.blocks.items():
            if block.handler is not None:
                copy.handler = self.blocks[block.handler]
        for block in order:
            self.builder.block = self.blocks[block]
            # What may raise into a handler stands alone; what its dual adds goes where it has not raised.
            self.after = block.terminator.successors[0] if is_isolated(block) else block
            for instruction in block.instructions:
                self.builder.position = instruction.position
                if instruction.op == "catch":
                    caught = self.builder.emit("catch", name=instruction.name)
                    self._define(
                        instruction,
                        caught,
                        self.builder.call(self.support.caught_tangent, self.context, caught),
                    )
                    continue
                site = self.sites[instruction]
                if site.kind.writes:
                    self.loaded.clear()
                getattr(self, f"_{site.kind}")(instruction, site)
            self.builder.block = self.blocks[block]
            self._terminator(block)
        for block in order:
            for phi in block.phis:
                self._fill_phi(phi)
        self.linear.drop_unused()

    # -- values ----------------------------------------------------------------------------------------

    def p(self, value: Value) -> Value:
        return value if isinstance(value, Const | Undef) else self.primal[value]

    def d(self, value: Value, wanted: AbstractType | None = None) -> Value:
        """The tangent of `value`, of the form that tangents of type `wanted` have."""
        known = self.tangent.get(value)
        slot = self.slots.get(value)
        if known is None and slot is not None:
            known = self._slot_tangent(slot)
        if known is None and value in self.methods:
            known = self._method_tangent(value, *self.methods[value])
        if known is None:
            if wanted is None:
                return Const(None)
            if is_number(wanted):
                return Const(0.0)
            if type(wanted) is ValueArrayType:
                return self.builder.call(self.support.fill_array, None, self.p(value))
            return self._fill(value) if is_solid(wanted) else Const(None)
        return known if wanted is None else self._fit(known, self.p(value), type_of(value), wanted)

    def _fit(self, tangent: Value, primal: Value, known: AbstractType, wanted: AbstractType) -> Value:
        """`tangent`, which has the form of type `known`, in that of type `wanted`."""
        if covers(known, wanted):
            return tangent
        if is_number(wanted):
            return self.builder.call(intrinsics._real_, tangent, NO_TANGENT)
        if type(wanted) is ValueArrayType:
            return self.builder.call(self.support.fill_array, tangent, primal)
        return self.builder.call(self.support.fill_tangent, primal, tangent)

    def _fill(self, value: Value) -> Value:
        """The zero tangent of a tuple."""
        fill = self.support.fill_tangent
        zero = fill(value.value, None) if isinstance(value, Const) else zero_of(type_of(value))
        return self.builder.call(fill, self.p(value), None) if zero is None else Const(zero)

    def _define(
        self,
        source: Instruction,
        primal: Value,
        tangent: Value | None = None,
        known: AbstractType | None = None,
    ) -> None:
        """`known`: the type whose form `tangent` has, if that is not the type of `source`."""
        if primal.type is None:
            primal.type = source.type
        self.primal[source] = primal
        if tangent is not None and source in self.active:
            if known is not None:
                tangent = self._fit(tangent, primal, known, type_of(source))
            self.tangent[source] = tangent
            if tangent.type is None and not isinstance(tangent, Const):
                tangent.type = tangent_type(type_of(source))
            if source in self.has_tangent:
                self.present.add(tangent)

    def _new_phi(self, phi: Phi) -> None:
        block = self.blocks[phi.block]
        for is_tangent in (False, True):
            if is_tangent and phi not in self.active:
                continue
            new = Phi(
                block,
                tangent_type(type_of(phi)) if is_tangent else phi.type,
                phi.name if not is_tangent or phi.name is None else f"d{phi.name}",
            )
            block.phis.append(new)
            (self.tangent if is_tangent else self.primal)[phi] = new
            if is_tangent and phi in self.has_tangent:
                self.present.add(new)

    def _fill_phi(self, phi: Phi) -> None:
        primal, tangent = self.primal[phi], self.tangent.get(phi)
        assert isinstance(primal, Phi)
        for source, operand in phi.operands.items():
            if source in self.blocks:
                primal.operands[self.blocks[source]] = self.p(operand)
                if isinstance(tangent, Phi):
                    self.builder.block = self.blocks[source]
                    tangent.operands[self.blocks[source]] = (
                        operand if isinstance(operand, Undef) else self.d(operand, type_of(phi))
                    )

    # -- instructions ------------------------------------------------------------------------------------

    def _copy_call(self, call: Instruction) -> Instruction:
        copy = self.builder.emit(
            "call",
            *(self.p(v) for v in call.operands),
            keywords=call.keywords,
            type=call.type,
            name=call.name,
        )
        self.builder.block = self.blocks[self.after]
        return copy

    def _primal(self, call: Instruction, site: CallSite) -> None:
        if site.function in (intrinsics._assume_, intrinsics._resume_iterator_):
            self.primal[call] = self.p(site.arguments[0])
            return
        self._define(call, self._copy_call(call))

    def _fresh(self, call: Instruction, site: CallSite) -> None:
        if self.support.checks_aliases and site.row.kind is RowKind.ZERO and not call.keywords:
            self._row(call, site)
            return
        out = self._copy_call(call)
        self._define(call, out, self.builder.call(self.support.fresh_tangent, out), ANY)

    def _scalar(self, call: Instruction, site: CallSite) -> None:
        operands = [self.p(v) for v in call.operands]
        present = None if self.after is not call.block or call.keywords else self.linear.present(operands)
        out = self._copy_call(call) if present is None else present
        self.linear.remember(out)
        values = [out, *map(self.p, site.arguments)]
        self.linear.type = tangent_of(type_of(call))
        terms = []
        for i, argument in enumerate(site.arguments):
            graph = self.support.partial(site.row, i) if argument in self.active else None
            if graph is not None and not _is_zero(self.tangent[argument]):
                terms.append(self.linear.term(graph, values, self.tangent[argument], site.row.is_quotient))
        total: Value = self.linear.total(terms) if terms else Const(0.0)
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
        """An element of the tangent of an array, as Python's float where that is the same number: arithmetic
        on those takes a quarter of the time."""
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

    def _slot_load(self, call: Instruction, site: CallSite) -> None:
        self._read_slot(call, site.arguments[0], self.p(site.arguments[1]), False)

    def _field_load(self, call: Instruction, site: CallSite) -> None:
        self._read_slot(call, site.arguments[0], site.arguments[1], True)

    def _cell_load(self, call: Instruction, site: CallSite) -> None:
        self._read_slot(call, site.arguments[0], Const("cell_contents"), True)

    def _next(self, call: Instruction, site: CallSite) -> None:
        out = self.builder.call(intrinsics._next_, self.p(site.arguments[0]), type=call.type, name=call.name)
        self._read_slot(call, site.arguments[1], self.p(site.arguments[2]), False, out)

    def _element(self, call: Instruction, site: CallSite) -> None:
        unpacked, container, key = site.arguments
        out = self.builder.call(intrinsics._project_, self.p(unpacked), key, type=call.type, name=call.name)
        self._read_slot(call, container, key, False, out)

    def _read_slot(
        self, call: Instruction, container: Value, key: Value, is_field: bool, out: Value | None = None
    ) -> None:
        self._define(call, self._copy_call(call) if out is None else out)
        slot = (self.d(container), key, is_field, call in self.has_tangent)
        if call in self.guarded:
            self.slots[call] = slot  # its tangent is written where more is known of it
        else:
            self.tangent[call] = self._slot_tangent(slot, out)

    def _method(self, call: Instruction, site: CallSite) -> None:
        self._define(call, self._copy_call(call))
        obj, name = site.arguments
        found = self.p(obj), self.d(obj), name
        if call in self.guarded:
            self.methods[call] = found
        else:
            self.tangent[call] = self._method_tangent(call, *found)

    def _method_tangent(self, value: Value, obj: Value, tangent: Value, name: Value) -> Value:
        return self.builder.call(self.support.bound_tangent, self.p(value), obj, tangent, name)

    def _slot_tangent(self, slot: tuple[Value, Value, bool, bool], out: Value | None = None) -> Value:
        container, key, is_field, is_there = slot
        if is_field:
            return self.builder.call(self.support.field_slot_tangent, container, key)
        if out is not None:
            return self.builder.call(self.support.item_slot_tangent, container, key, out)
        if is_there:
            found = self.builder.call(operator.getitem, container, key)
            self.present.add(found)
            return found
        return self.builder.call(intrinsics._slot_, container, key, NO_TANGENT)

    def _slot_store(self, call: Instruction, site: CallSite) -> None:
        self._write_slot(call, site, operator.setitem)

    def _slot_append(self, call: Instruction, site: CallSite) -> None:
        container, value = site.arguments
        whole = self.d(container)
        self._require(container, whole, value)
        self._define(call, self._copy_call(call))
        is_there = whole in self.present or value in self.active  # or an error was raised
        append = intrinsics._list_append_ if is_there else self.support.append_tangent
        self.builder.call(append, whole, self.d(value, FLOAT))

    def _require(self, container: Value, whole: Value, value: Value) -> None:
        """`value` goes into `container`: if it has a derivative, that must have a tangent, `whole`."""
        if value in self.active and whole not in self.present and not self._was_seen(whole):
            self.builder.call(intrinsics._require_, whole, self.support.check_slot, self.p(container))
            if not isinstance(whole, Const):
                self.seen.add((self.builder.block, whole))

    def _was_seen(self, whole: Value) -> bool:
        """Whether every way here has found that the tangent is not None."""
        block: Block | None = self.builder.block
        while block is not None:
            if (block, whole) in self.seen:
                return True
            block = self.before.get(block)
        return False

    def _empty_list(self, call: Instruction, site: CallSite) -> None:
        self._define(call, self._copy_call(call), self.builder.call(intrinsics._new_, list))

    def _field_store(self, call: Instruction, site: CallSite) -> None:
        self._write_slot(call, site, intrinsics._setattr_)

    _overwrite_item, _overwrite_field = _slot_store, _field_store

    def _write_slot(self, call: Instruction, site: CallSite, store: Any) -> None:
        container, key, value = site.arguments[:3]  # what is overwritten does not matter here
        whole = self.d(container)
        self._require(container, whole, value)
        self._define(call, self._copy_call(call))
        self.builder.call(store, self._sink(whole), self.p(key), self.d(value, FLOAT))

    def _sink(self, tangent: Value) -> Value:
        """The tangent, or something to read zeros from and write to where that is None."""
        return self._or_else(tangent, self.support.sink)

    def _or_else(self, tangent: Value, other: object) -> Value:
        """The tangent, or `other` where that is None; made once."""
        if isinstance(tangent, Const):
            return Const(other) if tangent.value is None else tangent
        if tangent in self.present:
            return tangent
        known = self.sinks.get((tangent, id(other)))
        if known is None:
            known = Instruction("call", [Const(intrinsics._or_else_), tangent, Const(other)])
            self.sinks[tangent, id(other)] = known
            insert_behind(self.graph, tangent, known)
        return known

    def _resume(self, call: Instruction, site: CallSite) -> None:
        iterator, values, index = site.arguments
        self.primal[call] = self.p(iterator)
        self.tangent[call] = self.builder.call(self.support.resumed_tangent, self.d(values), self.p(index))

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
        """The tangent of `value` as that of an element of a tuple."""
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
            tangent = self.builder.call(self.support.item_tangent, whole, index)
        out = self._copy_call(call)
        self._define(call, out, tangent, part if is_known and is_solid(known) else ANY)

    def _copy(self, call: Instruction, site: CallSite) -> None:
        source, wanted = site.arguments[0], type_of(call)
        if site.function is intrinsics._assume_:
            slot = self.slots.get(source)
            if slot is not None and is_number(wanted):
                get = intrinsics._getattr_ if slot[2] else operator.getitem
                tangent: Value = self.builder.call(get, self._sink(slot[0]), slot[1])
            else:
                tangent = self.d(source, wanted)
            self._define(call, self.p(source), tangent)
        elif site.function is intrinsics._unpack_ and is_solid(wanted):
            tangent = self.d(source, wanted)
            out = self._copy_call(call)
            self._define(call, out, self.builder.call(intrinsics._unpack_, tangent, site.arguments[1]))
        else:
            self._define(call, self._copy_call(call), self.d(source, wanted))

    def _contextual(self, call: Instruction, site: CallSite) -> None:
        function, support, builder = site.function, self.support, self.builder
        if function is intrinsics._freevar_:
            index = site.arguments[0]
            assert isinstance(index, Const) and isinstance(index.value, int)
            if self.captured is None or self.captured.block is not builder.block:
                whole = builder.call(support.captured, self.context, self.function, self.dfunction)
                self.captured = builder.call(intrinsics._unpack_, whole, 2 * len(self.free))
            cell, tangent = (
                builder.call(intrinsics._project_, self.captured, 2 * index.value + k) for k in (0, 1)
            )
            self._define(call, cell, tangent)
        elif function is intrinsics._store_global_:
            name, value = site.arguments
            where = builder.call(intrinsics._globals_)
            builder.call(support.store_global, self.context, where, name, self.p(value), self.d(value))
            self.primal[call] = Const(None)
        elif function is intrinsics._new_:
            made = self._copy_call(call)
            closure, defaults, kwdefaults = site.arguments[5], site.arguments[2], site.arguments[3]
            tangent = builder.call(
                support.function_tangent,
                self.context,
                made,
                self.d(closure),
                self.d(defaults),
                Const(None) if is_constant_dict(kwdefaults) else self.d(kwdefaults),
            )
            self._define(call, made, tangent)
        elif function is intrinsics._instance_:
            made = self._copy_call(call)
            self._define(call, made, builder.call(support.instance_tangent, self.context, made))
        else:
            out = self._copy_call(call)
            known = builder.call(support.known_tangent, self.context, out) if call in self.active else None
            self._define(call, out, known, ANY)

    def _formula(self, call: Instruction, site: CallSite) -> None:
        if not self._by_formulas(call, site):
            (self._dynamic if call.keywords else self._rule)(call, site)

    def _update(self, call: Instruction, site: CallSite) -> None:
        self._row(call, site)

    def _row(self, call: Instruction, site: CallSite) -> None:
        if not (
            self._by_formulas(call, site) or self._by_mirroring(call, site) or self._by_placing(call, site)
        ):
            self._rule(call, site)

    def _by_formulas(self, call: Instruction, site: CallSite) -> bool:
        """Write the tangent of `call` by formulas, if the tangents of its arguments are known to be there."""
        found = self.formulas.get(call)
        arguments = site.arguments
        active = [v for v in arguments if v in self.active]
        if found is None or not all(v in self.has_tangent or is_number(type_of(v)) for v in active):
            return False
        tangents = [self.d(v) if v in self.active else None for v in arguments]
        out = self._copy_call(call)
        tangent = write_formulas(
            self.builder, self.support, found, out, arguments, list(map(self.p, arguments)), tangents
        )
        if tangent is None and call in self.active:
            is_array = isinstance(type_of(call), ArrayType)
            tangent = self.builder.call(self.support.fresh_tangent, out) if is_array else Const(0.0)
        self._define(call, out, tangent)
        return True

    def _by_mirroring(self, call: Instruction, site: CallSite) -> bool:
        """Do with the tangents of lists what is done with the lists, if they are known to be there."""
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
        """Put the tangent of a list or array into that of a list, if both are known to be there."""
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

    def _rule(self, call: Instruction, site: CallSite) -> None:
        answer = self.builder.call(
            self.support.frule(site.row),
            self._pack(map(self.p, site.arguments)),
            self._pack(map(self.d, site.arguments)),
            self._options(site),
        )
        self._returned(call, answer)

    def _options(self, site: CallSite) -> Any:
        """What a rule is given by name."""
        if not site.options:
            return _NO_KEYWORDS
        parts = [part for name, v in site.options.items() for part in (Const(name), self.p(v))]
        return self.builder.call(intrinsics._new_, dict, *parts)

    def _dynamic(self, call: Instruction, site: CallSite) -> None:
        primals = self._pack(map(self.p, site.arguments))
        tangents = self._pack(map(self.d, site.arguments))
        handler = None if site.function is None or call.keywords else self.support.protocol(site.function)
        if handler is not None:
            answer = self.builder.call(handler, self.context, primals, tangents)
        else:
            answer = self.builder.call(
                self.support.call,
                self.context,
                call.keywords,
                self.p(site.callee),
                self.d(site.callee),
                primals,
                tangents,
            )
        self._returned(call, answer)

    def _pack(self, values: Any) -> Value:
        parts = list(values)
        if all(isinstance(v, Const) for v in parts):
            return Const(tuple(v.value for v in parts))
        return self.builder.call(intrinsics._new_, tuple, *parts)

    def _derived(self, call: Instruction, site: CallSite) -> None:
        assert site.binding is not None
        bound = [slot if isinstance(slot, Const) else site.arguments[slot] for slot in site.binding.slots]
        activities = [self._activity(v) for v in bound]
        entry = self.support.derived(site.binding, [type_of(v) for v in bound], activities)
        arguments: list[Value] = [self.context]
        if entry.takes_function:
            arguments += [self.p(site.callee), self.d(site.callee)]
        for value, is_active in zip(bound, activities, strict=True):
            arguments.append(self.p(value))
            if is_active:
                arguments.append(self.d(value))
        self._returned(call, self.builder.call(entry.forwards, *arguments), entry.result)

    def _activity(self, value: Value) -> int:
        if value not in self.active:
            return False
        if not is_told(value):
            return True
        return True if value in self.has_tangent and not is_list_of_lists(value) else PERHAPS

    def _returned(self, call: Instruction, answer: Value, known: AbstractType = ANY) -> None:
        self.builder.block = self.blocks[self.after]
        given = rule_tangent_type(type_of(call)) if known is ANY else tangent_type(known)
        answer.type = TupleType((type_of(call), given))
        parts = self.builder.call(intrinsics._unpack_, answer, 2)
        out = self.builder.call(intrinsics._project_, parts, 0, type=call.type, name=call.name)
        self._define(call, out, self.builder.call(intrinsics._project_, parts, 1), known)

    # -- terminators -----------------------------------------------------------------------------------

    def _terminator(self, block: Block) -> None:
        terminator, b = block.terminator, self.builder
        b.position = terminator.position
        match terminator:
            case Jump():
                b.jump(self.blocks[terminator.target])
            case Branch():
                b.branch(
                    self.p(terminator.condition), self.blocks[terminator.true], self.blocks[terminator.false]
                )
            case Switch():
                b.switch(
                    self.p(terminator.value),
                    {case: self.blocks[to] for case, to in terminator.cases.items()},
                    self.blocks[terminator.default],
                )
            case Raise():
                b.raise_(
                    None if terminator.exception is None else self.p(terminator.exception),
                    None if terminator.cause is None else self.p(terminator.cause),
                )
            case Return():
                value = terminator.value
                b.ret(b.call(intrinsics._new_, tuple, self.p(value), self.d(value, self.result)))


def _is_zero(tangent: Value) -> bool:
    """Whether a number's tangent is zero for all arguments."""
    return isinstance(tangent, Const) and tangent.value == 0.0
