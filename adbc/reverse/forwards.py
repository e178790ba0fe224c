"""The forwards pass: the primal, a shadow beside each value that has one, and a step per statement.

The control flow is that of the primal.  Per value there are up to two values in the forwards pass,
`primal[v]` and `shadow[v]`.  A shadow that the type alone determines is a constant: nothing stands
for an inactive value (None), a float has no memory (`NO_FDATA`), a tuple of floats is a tuple of
those.  Only values that are or hold memory cost anything here.
"""

from __future__ import annotations

import dataclasses
import operator
import types
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from adbc.ir import intrinsics
from adbc.ir.builder import Builder, insert_behind
from adbc.ir.dominators import Dominators
from adbc.ir.graph import Block, Graph
from adbc.ir.terminators import Branch, Jump, Raise, Return, Switch, Unreachable
from adbc.ir.values import Argument, Const, Instruction, Phi, Undef, Value
from adbc.passes.normal.protected import is_isolated
from adbc.reverse.formulas import FormulaStep, FormulaUses, code_of, values_read
from adbc.reverse.steps import (
    AppendStep,
    CallStep,
    CopyStep,
    DerivedStep,
    LoadStep,
    MoveStep,
    OverwriteStep,
    OwnStep,
    PartStep,
    ProjectStep,
    ScalarStep,
    SlotStep,
    SlotStoreStep,
    Step,
    StoreStep,
    TupleStep,
    UndoStep,
)
from adbc.reverse.support import Support
from adbc.reverse.unrestored import unrestored_updates
from adbc.reverse.updates import UpdateStep
from adbc.types.callsites import CallSite, formula_call, is_constant_dict, name_of
from adbc.types.derived import (
    CONTEXT,
    FUNCTION,
    UNDO,
    CallableType,
    CotangentOf,
    SavedOf,
    rule_cotangent_type,
    shadow_type,
)
from adbc.types.inference import type_of
from adbc.types.kinds import Kind
from adbc.types.lattice import (
    ANY,
    FLOAT,
    AbstractType,
    ArrayType,
    Exact,
    TupleType,
    ValueArrayType,
    has_cotangent,
    has_shadow,
    is_memory,
    memory_type,
)

__all__ = ["ForwardsPass", "constant_shadow"]


_NO_KEYWORDS: Mapping[str, Any] = types.MappingProxyType({})


def constant_shadow(type: AbstractType, no_fdata: object) -> Any:
    """The shadow of an active value whose type has no memory: `no_fdata`, or a tuple of such."""
    if isinstance(type, TupleType):
        return tuple(constant_shadow(t, no_fdata) for t in type.elements)
    return no_fdata if has_cotangent(type) else None


@dataclasses.dataclass
class _Method:
    """What is probably a method: `name` of `instance`, the shadow of which is `shadow`."""

    instance: Value
    shadow: Value
    name: Value


@dataclasses.dataclass
class _Slot:
    """A slot of a container, as far as the forwards pass knows it: index or name `key` of `shadow`."""

    shadow: Value
    key: Value
    is_field: bool


def _values(graph: Graph) -> Iterator[Value]:
    yield from graph.arguments
    for block in graph.blocks:
        yield from block.phis
        yield from block.instructions


def _is_numpy(value: Value) -> bool:
    type = type_of(value)
    return isinstance(type, ArrayType) or (isinstance(type, Exact) and type.cls.__module__ == "numpy")


class ForwardsPass:
    """Writes the forwards pass of `primal_graph` (typed, in canonical form) except for what is saved.

    `order` is a reverse postorder of its blocks.  Afterwards `steps` has, per block of the primal,
    the reverses of its statements in order.
    """

    def __init__(
        self,
        primal_graph: Graph,
        order: Sequence[Block],
        active: set[Value],
        active_arguments: Sequence[bool],
        sites: Mapping[Instruction, CallSite],
        support: Support,
    ) -> None:
        self.source = primal_graph
        self.active = active
        self.sites = sites
        self.support = support
        self.primal: dict[Value, Value] = {}
        self.shadow: dict[Value, Value] = {}
        self.steps: dict[Block, list[Step]] = {block: [] for block in order}
        self.methods: dict[Value, _Method] = {}
        """Bound methods that are tested right behind, and their instances."""
        self.slots: dict[Value, _Slot] = {}
        """Values read from slots and tested right behind, by where they were read from."""
        self.sinks: dict[Value, Instruction] = {}
        self.checked: dict[Value, list[Block]] = {}
        """Where shadows were seen not to be those of constants."""
        self._dominators: Dominators | None = None
        self.own_shadows: set[Value] = set()
        """The shadows of owned parameters, and views of these."""
        self.formulas = FormulaUses(primal_graph, active, sites)
        self.unrestored: set[Instruction] = set()
        self.put_back: dict[Instruction, Any] = {}
        if support.values:
            self.unrestored, self.put_back = unrestored_updates(primal_graph, sites, self.formulas)
        self.guarded = {
            call.operands[1]
            for call in primal_graph.instructions()
            if call.op == "call"
            and isinstance(call.operands[0], Const)
            and call.operands[0].value in (intrinsics._assume_, intrinsics._method_is_)
        }
        self.is_plain = not any(map(_is_numpy, _values(primal_graph)))
        """No number in sight is NumPy's, so that sums of floats are floats."""
        self.parameters: list[Argument] = []
        """The parameters of the primal that get a cotangent back, in order."""

        graph = self.graph = Graph(primal_graph.name)
        graph.qualname = primal_graph.qualname
        graph.filename = primal_graph.filename
        graph.first_line = primal_graph.first_line
        self.shapes: dict[tuple[Block, Value], Value] = {}
        self.context = graph.add_argument("context", CONTEXT)
        self.function: Value | None = None
        self.function_shadow: Value | None = None
        if primal_graph.free:
            self.function = graph.add_argument("function", FUNCTION)
            self.function_shadow = graph.add_argument("function_shadow", shadow_type(FUNCTION))
        for argument, is_active in zip(primal_graph.arguments, active_arguments, strict=True):
            self._argument(argument, is_active)

        self.blocks = {block: graph.add_block(block.label) for block in order}
        self.builder = Builder(graph, self.blocks[primal_graph.entry])
        for block in order:
            for phi in block.phis:
                self._new_phi(phi)
        for block, copy in self.blocks.items():
            if block.handler is not None:
                copy.handler = self.blocks[block.handler]
        for block in order:
            self.builder.block = self.blocks[block]
            # What may raise into a handler stands alone: what belongs behind it goes where it has not
            # raised, and so does its reverse.
            self.after = block.terminator.successors[0] if is_isolated(block) else block
            steps = self.steps[self.after]
            for instruction in block.instructions:
                self.builder.position = instruction.position
                before = len(steps)
                self._instruction(instruction, steps)
                for step in steps[before:]:
                    step.position = instruction.position
            self.builder.block = self.blocks[block]
            self._terminator(block)
        for block in order:
            for phi in block.phis:
                self._fill_phi(phi)

    # -- values ----------------------------------------------------------------------------------------

    def _argument(self, argument: Argument, is_active: bool) -> None:
        self.primal[argument] = self.graph.add_argument(argument.name, argument.type)
        type = type_of(argument)
        if not is_active:
            return
        if has_shadow(type):
            self.shadow[argument] = self.graph.add_argument(f"{argument.name}_shadow", shadow_type(type))
        if has_cotangent(type):
            self.parameters.append(argument)

    def p(self, value: Value) -> Value:
        """The value in the forwards pass."""
        return value if isinstance(value, (Const, Undef)) else self.primal[value]

    def s(self, value: Value) -> Value:
        """Its shadow there."""
        known = self.shadow.get(value)
        if known is not None:
            return known
        slot = self.slots.get(value)
        if slot is not None:
            return self._slot_shadow(slot)
        if value in self.methods:
            return self._method_shadow(value, self.methods[value])
        if value not in self.active:
            return Const(None)
        return Const(constant_shadow(type_of(value), self.support.no_fdata))

    def _define(self, source: Instruction, primal: Value, shadow: Value | None = None) -> None:
        if isinstance(primal, Instruction):
            primal.name = primal.name or source.name
        if primal.type is None:
            primal.type = source.type
        self.primal[source] = primal
        if shadow is not None and has_shadow(type_of(source)):
            self.shadow[source] = shadow
            if shadow.type is None and not isinstance(shadow, Const):
                shadow.type = shadow_type(type_of(source))

    # -- phis ------------------------------------------------------------------------------------------

    def _new_phi(self, phi: Phi) -> None:
        block = self.blocks[phi.block]
        primal = Phi(block, phi.type, phi.name)
        block.phis.append(primal)
        self.primal[phi] = primal
        if phi in self.active and has_shadow(type_of(phi)):
            shadow = Phi(block, shadow_type(type_of(phi)), f"{phi.name}_shadow" if phi.name else None)
            block.phis.append(shadow)
            self.shadow[phi] = shadow

    def _fill_phi(self, phi: Phi) -> None:
        primal, shadow = self.primal[phi], self.shadow.get(phi)
        assert isinstance(primal, Phi)
        for source, operand in phi.operands.items():
            if source not in self.blocks:
                continue
            primal.operands[self.blocks[source]] = self.p(operand)
            if isinstance(shadow, Phi):
                shadow.operands[self.blocks[source]] = (
                    operand if isinstance(operand, Undef) else self.s(operand)
                )

    # -- instructions ------------------------------------------------------------------------------------

    def _instruction(self, instruction: Instruction, steps: list[Step]) -> None:
        if instruction.op == "catch":
            caught = self.builder.emit("catch", name=instruction.name)
            shadow = None
            if instruction in self.active:
                shadow = self.builder.call(self.support.caught_shadow, self.context, caught)
            self._define(instruction, caught, shadow)
            return
        site = self.sites[instruction]
        if site.kind is not Kind.PRIMAL and site.function is not intrinsics._assume_:
            # The rest of the function is left for: it takes what is tested as it is, whichever test failed.
            for value in dict.fromkeys(instruction.operands):
                slot = self.slots.get(value)
                if slot is not None:
                    steps.append(SlotStep(value, slot.shadow, slot.key, slot.is_field))
        getattr(self, f"_{site.kind}")(instruction, site, steps)

    def _copy_call(self, call: Instruction) -> Instruction:
        """The primal call itself."""
        copy = self.builder.emit(
            "call",
            *(self.p(v) for v in call.operands),
            keywords=call.keywords,
            type=call.type,
            name=call.name,
        )
        self.builder.block = self.blocks[self.after]
        return copy

    def _primal(self, call: Instruction, site: CallSite, steps: list[Step]) -> None:
        if site.function is intrinsics._assume_ or site.function is intrinsics._own_:
            self.primal[call] = self.p(site.arguments[0])
            return
        if site.function is intrinsics._resume_iterator_:
            self.primal[call] = self.p(site.arguments[0])
            return
        if site.function is intrinsics._observe_ and site.arguments[1] in self.methods:
            found = self.methods[site.arguments[1]]
            steps.append(SlotStep(site.arguments[1], found.shadow, found.name, True))
        self._define(call, self._copy_call(call))

    def _fresh(self, call: Instruction, site: CallSite, steps: list[Step]) -> None:
        if self.support.checks_aliases and site.row.kind == "zero" and not call.keywords:
            self._row(call, site, steps)
            return
        out = self._copy_call(call)
        self._define(call, out, self.builder.call(self.support.fresh_shadow, out, False))

    def _scalar(self, call: Instruction, site: CallSite, steps: list[Step]) -> None:
        out = self._copy_call(call)
        self._define(call, out)
        partials = [
            self.support.partial(site.row, i) if a in self.active else None
            for i, a in enumerate(site.arguments)
        ]
        values = [out, *map(self.p, site.arguments)]
        name = name_of(site.function)
        steps.append(ScalarStep(call, site.arguments, partials, values, name, site.row.is_quotient))

    def _load(self, call: Instruction, site: CallSite, steps: list[Step]) -> None:
        container, index = site.arguments
        self._define(call, self._copy_call(call))
        steps.append(LoadStep(call, self.s(container), self.p(index)))

    def _store(self, call: Instruction, site: CallSite, steps: list[Step]) -> None:
        container, index, value = site.arguments
        u, fu, i = self.p(container), self.s(container), self.p(index)
        if value in self.active:
            self.builder.call(intrinsics._require_, fu, self.support.check_slot, u)
        old = self.builder.call(operator.getitem, u, i)
        self._define(call, self._copy_call(call))
        steps.append(StoreStep(value, u, fu, i, old))

    # -- slots of lists and dicts, fields of instances

    def _slot_load(self, call: Instruction, site: CallSite, steps: list[Step]) -> None:
        self._read_slot(call, site.arguments[0], self.p(site.arguments[1]), False, steps)

    def _field_load(self, call: Instruction, site: CallSite, steps: list[Step]) -> None:
        self._read_slot(call, site.arguments[0], site.arguments[1], True, steps)

    def _cell_load(self, call: Instruction, site: CallSite, steps: list[Step]) -> None:
        self._read_slot(call, site.arguments[0], Const("cell_contents"), True, steps)

    def _next(self, call: Instruction, site: CallSite, steps: list[Step]) -> None:
        out = self.builder.call(intrinsics._next_, self.p(site.arguments[0]), type=call.type, name=call.name)
        self._read_slot(call, site.arguments[1], self.p(site.arguments[2]), False, steps, out)

    def _element(self, call: Instruction, site: CallSite, steps: list[Step]) -> None:
        unpacked, container, key = site.arguments
        out = self.builder.call(intrinsics._project_, self.p(unpacked), key, type=call.type, name=call.name)
        self._read_slot(call, container, key, False, steps, out)

    def _read_slot(
        self,
        call: Instruction,
        container: Value,
        key: Value,
        is_field: bool,
        steps: list[Step],
        out: Value | None = None,
    ) -> None:
        self._define(call, self._copy_call(call) if out is None else out)
        slot = _Slot(self.s(container), key, is_field)
        if call in self.guarded:
            # Whoever uses it knows more: its shadow and its reverse are written there.
            self.slots[call] = slot
            return
        if has_shadow(type_of(call)):
            if out is None:
                self.shadow[call] = self._slot_shadow(slot)
            else:  # an index that is out of range where the loop ends
                self.shadow[call] = self.builder.call(
                    self.support.item_slot_shadow, slot.shadow, slot.key, out
                )
        steps.append(SlotStep(call, slot.shadow, slot.key, slot.is_field))

    def _method(self, call: Instruction, site: CallSite, steps: list[Step]) -> None:
        """The instance is identified by its address, so nothing comes back for it from the bound method; but
        it may have a field of that name."""
        self._define(call, self._copy_call(call))
        obj, name = site.arguments
        found = _Method(self.p(obj), self.s(obj), name)
        if call in self.guarded:
            self.methods[call] = found  # mostly it is only tested and then by-passed
        else:
            self.shadow[call] = self._method_shadow(call, found)
            steps.append(SlotStep(call, found.shadow, name, True))

    def _method_shadow(self, value: Value, found: _Method) -> Value:
        return self.builder.call(
            self.support.bound_shadow, self.p(value), found.instance, found.shadow, found.name
        )

    def _slot_shadow(self, slot: _Slot) -> Value:
        support = self.support
        get = support.field_slot_shadow if slot.is_field else support.item_slot_shadow
        return self.builder.call(get, slot.shadow, slot.key)

    def _memory(self, slot: _Slot) -> Value:
        """The shadow of what stands in the slot of a container, and is identified by its address."""
        return self.builder.call(intrinsics._slot_, slot.shadow, slot.key, self.support.no_tangent)

    def _sink(self, slot: _Slot) -> Value:
        """The shadow, or something that takes what is added to it where that is None; made once."""
        shadow = slot.shadow
        known = self.sinks.get(shadow)
        if known is None:
            known = self.sinks[shadow] = Instruction(
                "call", [Const(intrinsics._or_else_), shadow, Const(self.support.sink)]
            )
            insert_behind(self.graph, shadow, known)
        return known

    def _slot_store(self, call: Instruction, site: CallSite, steps: list[Step]) -> None:
        self._write_slot(call, site, site.row.rrule, False, steps)

    def _slot_append(self, call: Instruction, site: CallSite, steps: list[Step]) -> None:
        container, value = site.arguments
        u, fu = self.p(container), self.s(container)
        self.builder.call(self.support.append_item, u, fu, self.p(value), value in self.active)
        self.primal[call] = Const(None)
        steps.append(AppendStep(value, u, fu))

    def _empty_list(self, call: Instruction, site: CallSite, steps: list[Step]) -> None:
        self._define(call, self._copy_call(call), self.builder.call(intrinsics._new_, list))

    def _field_store(self, call: Instruction, site: CallSite, steps: list[Step]) -> None:
        self._write_slot(call, site, self.support.set_field, True, steps)

    def _write_slot(
        self, call: Instruction, site: CallSite, rrule: Any, is_field: bool, steps: list[Step]
    ) -> None:
        container, key, value = site.arguments
        u, fu, i = self.p(container), self.s(container), self.p(key)
        store = self.support.store_field if is_field else self.support.store_item
        old = self.builder.call(store, rrule, u, fu, i, self.p(value), value in self.active)
        self.primal[call] = Const(None)
        steps.append(SlotStoreStep(value, u, fu, i, old, is_field))

    def _overwrite_item(self, call: Instruction, site: CallSite, steps: list[Step]) -> None:
        self._overwrite(call, site, site.row.rrule, False, steps)

    def _overwrite_field(self, call: Instruction, site: CallSite, steps: list[Step]) -> None:
        self._overwrite(call, site, self.support.set_field, True, steps)

    def _overwrite(
        self, call: Instruction, site: CallSite, rrule: Any, is_field: bool, steps: list[Step]
    ) -> None:
        """A float in place of a float: the shadow has a number there and keeps it."""
        container, key, value, old = site.arguments
        shadow = self.s(container)
        if container not in self.active or isinstance(shadow, Const) or not self.is_plain:
            written = dataclasses.replace(site, arguments=site.arguments[:3])
            self._write_slot(call, written, rrule, is_field, steps)
            return
        u, i = self.p(container), key if is_field else self.p(key)
        if value in self.active:
            self._check_slot(u, shadow)
        self.builder.call(intrinsics._setattr_ if is_field else operator.setitem, u, i, self.p(value))
        self.primal[call] = Const(None)
        sink = self._sink(_Slot(shadow, i, is_field))
        steps.append(OverwriteStep(value, u, sink, i, self.p(old), is_field))

    def _check_slot(self, container: Value, shadow: Value) -> None:
        """Refuse to write into a constant; a shadow seen here or before needs no second look."""
        if self._dominators is None:
            self._dominators = Dominators(self.source)
        here = self.after
        if any(self._dominators.dominates(block, here) for block in self.checked.get(shadow, ())):
            return
        self.checked.setdefault(shadow, []).append(here)
        self.builder.call(intrinsics._require_, shadow, self.support.check_slot, container)

    def _resume(self, call: Instruction, site: CallSite, steps: list[Step]) -> None:
        iterator, values, index = site.arguments
        self.primal[call] = self.p(iterator)
        self.shadow[call] = self.builder.call(self.support.resumed_shadow, self.s(values), self.p(index))

    def _tuple(self, call: Instruction, site: CallSite, steps: list[Step]) -> None:
        elements = site.arguments[1:]
        shadow = None
        if has_shadow(type_of(call)):
            shadow = self.builder.call(intrinsics._new_, tuple, *map(self.s, elements))
        self._define(call, self._copy_call(call), shadow)
        steps.append(TupleStep(call, elements))

    def _project(self, call: Instruction, site: CallSite, steps: list[Step]) -> None:
        container, index = site.arguments[0], site.arguments[1].value  # type: ignore[attr-defined]  # a Const
        shadow = None
        if has_shadow(type_of(call)):
            shadow = self.builder.call(self.support.item_shadow, self.s(container), index)
        self._define(call, self._copy_call(call), shadow)
        steps.append(ProjectStep(call, container, index))

    def _copy(self, call: Instruction, site: CallSite, steps: list[Step]) -> None:
        source = site.arguments[0]
        if site.function is intrinsics._assume_:
            self.primal[call] = self.p(source)
            slot = self.slots.get(source)
            if has_shadow(type_of(call)):
                at_once = slot is not None and not slot.is_field and is_memory(type_of(call))
                self.shadow[call] = self._memory(slot) if slot is not None and at_once else self.s(source)
            if slot is not None:
                if has_cotangent(type_of(call)):
                    inline = self.is_plain and type_of(call) == FLOAT and not isinstance(slot.shadow, Const)
                    sink = self._sink(slot) if inline else None
                    steps.append(SlotStep(call, slot.shadow, slot.key, slot.is_field, sink))
                return
        else:
            self._define(call, self._copy_call(call), self.s(source))
        steps.append(CopyStep(call, source))

    def _contextual(self, call: Instruction, site: CallSite, steps: list[Step]) -> None:
        function, support = site.function, self.support
        if function is intrinsics._freevar_:
            index = site.arguments[0]
            cell = self.builder.call(support.freevar, self.function, index)
            self._define(
                call,
                cell,
                self.builder.call(
                    support.freevar_shadow, self.context, self.function, self.function_shadow, index
                ),
            )
        elif function is intrinsics._store_global_:
            name, value = site.arguments
            where = self.builder.call(intrinsics._globals_)
            undo = self.builder.call(
                support.store_global, self.context, where, name, self.p(value), self.s(value)
            )
            self.primal[call] = Const(None)
            steps.append(UndoStep(undo))
        elif function is intrinsics._new_:
            made = self._copy_call(call)
            closure, defaults, kwdefaults = site.arguments[5], site.arguments[2], site.arguments[3]
            self._define(
                call,
                made,
                self.builder.call(
                    support.function_shadow,
                    self.context,
                    made,
                    self.s(closure),
                    self.s(defaults),
                    Const(None) if is_constant_dict(kwdefaults) else self.s(kwdefaults),
                ),
            )
            if defaults in self.active:
                collected = self.builder.call(support.defaults_pullback, self.shadow[call])
                steps.append(CallStep(call, collected, [defaults]))
        elif function is intrinsics._instance_:
            made = self._copy_call(call)
            self._define(call, made, self.builder.call(support.instance_shadow, self.context, made))
        else:
            out = self._copy_call(call)
            shadow = None
            if has_shadow(type_of(call)):
                shadow = self.builder.call(support.known_shadow, self.context, out)
            self._define(call, out, shadow)

    def _view(self, call: Instruction, site: CallSite, steps: list[Step]) -> None:
        array, index = site.arguments
        out = self._copy_call(call)
        shadow = self.s(array)
        # That of memory of our own is there, and so are its views, writable.
        view = operator.getitem if shadow in self.own_shadows else self.support.view
        viewed = self.builder.call(view, shadow, self.p(index))
        if shadow in self.own_shadows:
            self.own_shadows.add(viewed)
        self._define(call, out, viewed)

    def _part(self, call: Instruction, site: CallSite, steps: list[Step]) -> None:
        array, index = site.arguments
        self._define(call, self._copy_call(call))
        shape = self._shape(self.p(array))
        steps.append(PartStep(call, array, self.p(index), shape, code_of(type_of(array))))

    def _move(self, call: Instruction, site: CallSite, steps: list[Step]) -> None:
        array = site.arguments[0]
        self._define(call, self._copy_call(call))
        shape = None if site.row.moves == "transpose" else self._shape(self.p(array))
        steps.append(MoveStep(call, array, shape))

    def _own(self, call: Instruction, site: CallSite, steps: list[Step]) -> None:
        (argument,) = site.arguments
        self.primal[call] = self.p(argument)
        shadow = self.shadow[call] = self.builder.call(self.support.fresh_shadow, self.p(argument), False)
        self.own_shadows.add(shadow)
        row = self.put_back.get(call)
        old = None if row is None else self.builder.call(row.save, self.p(argument), shadow, True, type=UNDO)
        steps.append(OwnStep(argument, shadow, self.p(argument), old))

    def _formula(self, call: Instruction, site: CallSite, steps: list[Step]) -> None:
        if not self.support.values:
            (self._dynamic if call.keywords and not site.options else self._row)(call, site, steps)
            return
        out = self._copy_call(call)
        shadow = None
        if type(type_of(call)) is ArrayType:
            shadow = self.builder.call(self.support.fresh_shadow, out, False)
            self.own_shadows.add(shadow)
        self._define(call, out, shadow)
        found = formula_call(site.row, [type_of(a) for a in site.arguments], call.keywords, type_of(call))
        assert found is not None
        arguments = [site.arguments[i] for i in found.arrays]
        others = {name: self.p(site.arguments[i]) for name, i in found.others}
        parts = self.formulas.parts(call)
        values = list(map(self.p, arguments))
        shadows = [self.s(a) if type(type_of(a)) is ArrayType else None for a in arguments]
        kept: list[tuple[Value, Value, bool]] = []
        """Arrays of which the value or the shape is needed, in the forwards pass and in the primal, and
        whether it must be the shape."""
        is_number = self.formulas.may_get_number(call)
        together = found.together if len(parts) > 1 and None not in parts else None
        if isinstance(type_of(call), ValueArrayType):
            needs_whole = together is not None or any(p is not None and p.needs_whole for p in parts)
            grows = is_number and needs_whole
            if grows or not self.formulas.are_all_users_of(call):
                kept.append((out, call, grows))
        for argument, value, part in zip(arguments, values, parts, strict=True):
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
        read = values_read(parts, out, values, together)
        shapes = {
            value: (self._shape(value), code_of(type_of(of)))
            for value, of, is_shape in kept
            if is_shape or value not in read
        }
        keeps = [value for value, _, _ in kept]
        steps.append(
            FormulaStep(
                call,
                arguments,
                parts,
                out,
                values,
                shadows,
                shapes,
                others,
                keeps,
                together,
                self.own_shadows,
                shadow,
            )
        )

    def _update(self, call: Instruction, site: CallSite, steps: list[Step]) -> None:
        if not self.support.values:
            self._row(call, site, steps)
            return
        target, value = site.arguments
        u, fu = self.p(target), self.s(target)
        is_active = value in self.active
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
        last = steps[-1] if steps else None
        is_passed = (
            isinstance(last, FormulaStep)
            and last.result is value
            and last.copies()
            and isinstance(value, Instruction)
            and value.block is call.block
            and self.formulas.users.get(value) == [call]
        )
        steps.append(UpdateStep(value, self.p(value), shadow, shape, u, fu, old, site.row.sign, is_passed))

    def _shape(self, array: Value) -> Value:
        """The shape of `array`, read once per block."""
        key = self.builder.block, array
        if key not in self.shapes:
            self.shapes[key] = self.builder.call(intrinsics._getattr_, array, "shape")
        return self.shapes[key]

    def _row(self, call: Instruction, site: CallSite, steps: list[Step]) -> None:
        answer = self.builder.call(
            self.support.rrule(site.row),
            self._pack(map(self.p, site.arguments)),
            self._pack(map(self.s, site.arguments)),
            self._options(site),
        )
        self._returned(call, answer, site.arguments, steps)

    def _options(self, site: CallSite) -> Value | Mapping[str, Any]:
        """What a rule is given by name."""
        if not site.options:
            return _NO_KEYWORDS
        parts = [part for name, v in site.options.items() for part in (Const(name), self.p(v))]
        return self.builder.call(intrinsics._new_, dict, *parts)

    def _dynamic(self, call: Instruction, site: CallSite, steps: list[Step]) -> None:
        primals = self._pack(map(self.p, site.arguments))
        shadows = self._pack(map(self.s, site.arguments))
        handler = None if site.function is None or call.keywords else self.support.protocol(site.function)
        if handler is not None:
            answer = self.builder.call(handler, self.context, primals, shadows)
            self._returned(call, answer, site.arguments, steps)
        else:
            answer = self.builder.call(
                self.support.call,
                self.context,
                call.keywords,
                self.p(site.callee),
                self.s(site.callee),
                primals,
                shadows,
            )
            self._returned(call, answer, [site.callee, *site.arguments], steps)

    def _attempt(self, call: Instruction, site: CallSite, steps: list[Step]) -> None:
        answer = self.builder.call(
            self.support.attempt,
            self.context,
            call.keywords,
            self.p(site.callee),
            self.s(site.callee),
            self._pack(map(self.p, site.arguments)),
            self._pack(map(self.s, site.arguments)),
        )
        self._returned(call, answer, [site.callee, *site.arguments], steps)

    def _pack(self, values: Any) -> Value:
        parts = list(values)
        if all(isinstance(v, Const) for v in parts):
            return Const(tuple(v.value for v in parts))
        return self.builder.call(intrinsics._new_, tuple, *parts)

    def _returned(
        self, call: Instruction, answer: Value, targets: Sequence[Value | None], steps: list[Step]
    ) -> None:
        known = type_of(call)
        gives = [CotangentOf(ANY) if t is None else rule_cotangent_type(type_of(t)) for t in targets]
        answer.type = TupleType((known, shadow_type(known), CallableType(TupleType(tuple(gives)))))
        parts = self.builder.call(intrinsics._unpack_, answer, 3)
        out = self.builder.call(intrinsics._project_, parts, 0, type=call.type, name=call.name)
        shadow = None
        if has_shadow(known):
            shadow = self.builder.call(intrinsics._project_, parts, 1)
        pullback = self.builder.call(intrinsics._project_, parts, 2)
        self._define(call, out, shadow)
        steps.append(CallStep(call, pullback, targets))

    def _derived(self, call: Instruction, site: CallSite, steps: list[Step]) -> None:
        assert site.binding is not None
        bound = [slot if isinstance(slot, Const) else site.arguments[slot] for slot in site.binding.slots]
        activities = [v in self.active for v in bound]
        types_ = [type_of(v) if v in self.active else memory_type(type_of(v)) for v in bound]
        entry = self.support.derived(site.binding, types_, activities)
        arguments: list[Value] = [self.context]
        if entry.takes_function:
            arguments += [self.p(site.callee), self.s(site.callee)]
        targets: list[tuple[Value | None, AbstractType]] = []
        for value, type, is_active in zip(bound, types_, activities, strict=True):
            arguments.append(self.p(value))
            if is_active and has_shadow(type):
                arguments.append(self.s(value))
            if is_active and has_cotangent(type):
                targets.append((value, type))
        answer = self.builder.call(entry.forwards, *arguments)
        with_shadow = has_shadow(entry.result)
        answered = [entry.result, *([shadow_type(entry.result)] if with_shadow else [])]
        answer.type = TupleType((*answered, SavedOf(entry.forwards.__name__)))
        parts = self.builder.call(intrinsics._unpack_, answer, 2 + with_shadow)
        out = self.builder.call(intrinsics._project_, parts, 0, type=call.type, name=call.name)
        shadow = self.builder.call(intrinsics._project_, parts, 1) if with_shadow else None
        saved = self.builder.call(intrinsics._project_, parts, 1 + with_shadow)
        self._define(call, out, shadow)
        steps.append(DerivedStep(call, entry.result, entry.pullback, saved, targets))

    # -- terminators -----------------------------------------------------------------------------------

    def _terminator(self, block: Block) -> None:
        terminator, b = block.terminator, self.builder
        b.position = terminator.position
        match terminator:
            case Jump(target=target):
                b.jump(self.blocks[target])
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
            case Return() | Unreachable():
                pass  # what a return returns is written once it is known what must be saved
