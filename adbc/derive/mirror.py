"""The copy of a function's graph that a derivative is written into.

Control flow stays as it is: each block has a copy, with the same edges, handler and position, and each value
of the primal has a copy too.  Beside a value stands its companion, where it has one.  What a companion is,
and what is written for a call, a builder says: it has a handler per kind of call.  The handlers that are the
same in both modes are here.

Where an exception of a call leads to a handler, the call stands alone in its block
(`passes.normal.protected`), and what the derivative adds goes behind it, to the block that is entered if it
has not raised::

    b0:  (handler b9)                       b0:  (handler b9)
        %1 = call f(%x)                         %answer = call <rule of f>(...)
        jump b1                                 jump b1
    b1:                                     b1:
                                                %1, %c1 = %answer
"""

from __future__ import annotations

import abc
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from adbc.derive.assumed import Assumed, renames
from adbc.derive.late_reads import readable_late
from adbc.derive.support import CommonSupport
from adbc.ir import intrinsics
from adbc.ir.builder import Builder, insert_behind
from adbc.ir.dominators import Dominators
from adbc.ir.graph import Block, Graph
from adbc.ir.terminators import Branch, Jump, Raise, Return, Switch
from adbc.ir.values import Argument, Const, Instruction, Phi, Undef, Value
from adbc.passes.normal.protected import is_isolated
from adbc.passes.query import target
from adbc.records import record
from adbc.rules.kinds import RowKind
from adbc.rules.table import NO_KWARGS
from adbc.types.callsites import CallSite, name_of
from adbc.types.decisions import Decisions
from adbc.types.derived import CONTEXT, FUNCTION
from adbc.types.displays import is_constant_dict, is_constant_display, keeps_no_list
from adbc.types.inference import type_of
from adbc.types.kinds import Kind
from adbc.types.lattice import ANY, NONE, AbstractType, TupleType
from adbc.types.library_calls import gives_kept
from adbc.types.number_calls import limit_of
from adbc.types.places import is_beside, is_default, is_kept

__all__ = ["Mirror", "ReadMethod", "ReadSlot"]


@record(frozen=True, slots=True)
class ReadSlot:
    """The place that a value was read from: the index or name `key` of a container, whose companion is
    `companion`."""

    companion: Value
    key: Value
    is_field: bool
    may_lack: bool = False
    """Whether what was read may not have been there: an attribute of the class was read, or an empty cell."""
    record: Value | None = None
    """The container, as a value of the primal, if it is a record: its cotangent is a value, and grows by that
    of the field."""


@record(frozen=True, slots=True)
class ReadMethod:
    """The place that a value, probably a method, was read from: `name` of `instance`, whose companion is
    `companion`."""

    instance: Value
    companion: Value
    name: Value


_OF_GLOBALS = (intrinsics._global_, intrinsics._globals_, intrinsics._delete_global_)


class Mirror(abc.ABC):
    """Copies a graph that is typed and in normal form, and writes a derivative beside it.

    decisions: the graph that is copied, and what becomes of its calls.  order: a reverse postorder of its
    blocks.
    """

    def __init__(self, decisions: Decisions, order: Sequence[Block], support: CommonSupport) -> None:
        source = self.source = decisions.graph
        self.order = order
        self.active = decisions.active
        self.sites = decisions.sites
        self.support = support
        self.primal: dict[Value, Value] = {}
        """By value of the primal, its copy."""
        self.companions: dict[Value, Value] = {}
        self.methods: dict[Value, ReadMethod] = {}
        """Bound methods that are tested in front of their use: who uses one knows more, and mostly has no
        use for its companion."""
        self.slots: dict[Value, ReadSlot] = {}
        """Values that were read from slots and are tested in front of their use: their companions are read
        where more is known."""
        self.met: dict[Value, Any] = {}
        """Values that came through no argument and are tested in front of their use: the function by which
        their companions are found where they are needed, which may be behind a wrong guess only."""
        self.sinks: dict[Value, Instruction] = {}
        self.checked: dict[Value, list[Block]] = {}
        """By companion of a container, the blocks in which it has been checked that an active number may be
        written there."""
        self._dominators: Dominators | None = None
        self._users: dict[Value, list[Any]] | None = None
        self.assumed = Assumed(source)
        guarded = {call.operands[1] for call in source.instructions() if target(call) in _GUARDS}
        self.guarded = readable_late(source, guarded, self.sites, self.users)
        """Values about which a guess is tested before anything is written."""
        self.after: Block = source.entry
        """The block of the primal whose copy takes what is written behind the current call."""
        graph = self.graph = Graph(source.name)
        graph.qualname, graph.filename, graph.first_line = source.qualname, source.filename, source.first_line
        self.context = graph.add_argument("context", CONTEXT)
        self.function: Value | None = None
        self.function_companion: Value | None = None
        if source.free:
            self.function = graph.add_argument("function", FUNCTION)
            self.function_companion = graph.add_argument(
                self.companion_name("function"), self.companion_type(FUNCTION)
            )
        self.blocks = {block: graph.add_block(block.label) for block in order}
        self.builder = Builder(graph, self.blocks[source.entry])

    def write(self, active_arguments: Sequence[int]) -> None:
        """Fill the graph with the copy of the primal and the derivative beside it."""
        for argument, is_active in zip(self.source.arguments, active_arguments, strict=True):
            self.primal[argument] = self.graph.add_argument(argument.name, argument.type)
            if is_active:
                self._active_argument(argument)
        for block, copy in self.blocks.items():
            if block.handler is not None:
                copy.handler = self.blocks[block.handler]
            for phi in block.phis:
                self._new_phi(phi)
        handlers = self.handlers()
        for block in self.order:
            self.builder.block = self.blocks[block]
            self.after = block.terminator.successors[0] if is_isolated(block) else block
            for instruction in block.instructions:
                self.builder.position = instruction.position
                if instruction.op == "catch":
                    caught = self.builder.emit("catch", name=instruction.name)
                    of_caught = self.support.caught if self._is_seen(instruction) else self.support.passed
                    companion = self.builder.call(of_caught, self.context, caught)
                    self._define(instruction, caught, companion)
                else:
                    site = self.sites[instruction]
                    self._meet(instruction, site)
                    handlers[site.kind](instruction, site)
                    if self.support.check_type is not None:
                        self._check_type(instruction, site, self.support.check_type)
            self.builder.block = self.blocks[block]
            self._terminator(block)
        for block in self.order:
            for phi in block.phis:
                self._fill_phi(phi)

    def handlers(self) -> dict[Kind, Callable[[Instruction, CallSite], None]]:
        """The function that writes each kind of call; a builder adds its own."""
        return {
            Kind.PRIMAL: self._primal, Kind.FRESH: self._fresh, Kind.STEP: self._step,
            Kind.SLOT_LOAD: self._slot_load, Kind.FIELD_LOAD: self._field_load,
            Kind.RECORD_LOAD: self._record_load,
            Kind.CELL_LOAD: self._cell_load, Kind.NEXT: self._next, Kind.ELEMENT: self._element,
            Kind.KEY: self._key, Kind.METHOD: self._method, Kind.EMPTY_LIST: self._empty_list,
            Kind.RESUME: self._resume, Kind.TEXT: self._text,
            Kind.CONTEXTUAL: self._contextual, Kind.ROW: self._row, Kind.DYNAMIC: self._dynamic,
        }  # fmt: skip

    def _check_type(self, call: Instruction, site: CallSite, check: Callable[..., object]) -> None:
        """Write a check that the result of `call` has the type that inference, an example or a declaration
        gives it."""
        known = type_of(call)
        if site.function is intrinsics._assume_ and type_of(site.arguments[0]) is not ANY:
            return  # a dict of a class of its own that is read as any dict is
        if known is not ANY and not isinstance(self.primal[call], Const):
            self.builder.call(check, self.primal[call], Const(known), name_of(site.function), type=NONE)

    # -- what a mode is ----------------------------------------------------------------------------------

    @staticmethod
    @abc.abstractmethod
    def companion_name(name: str) -> str:
        """The name of the companion of a variable called `name`."""

    @abc.abstractmethod
    def companion(self, value: Value) -> Value:
        """The companion of `value`, as a value of the copy."""

    @abc.abstractmethod
    def has_companion(self, value: Value) -> bool:
        """Whether `value` has a companion that is not the same for all values of its type."""

    @staticmethod
    @abc.abstractmethod
    def companion_type(type: AbstractType) -> AbstractType:
        """The type of the companions of active values of `type`."""

    @abc.abstractmethod
    def _incoming(self, operand: Value, phi: Phi) -> Value:
        """The companion of `operand`, as what the companion of `phi` gets on an edge."""

    @abc.abstractmethod
    def _active_argument(self, argument: Argument) -> None:
        """Add the parameter that the derivative has for the companion of an active argument."""

    @abc.abstractmethod
    def _define(self, source: Instruction, primal: Value, companion: Value | None = None) -> None:
        """Let `primal` be the copy of `source`, and `companion` its companion if it has one."""

    @abc.abstractmethod
    def _zero(self, value: Value) -> Value:
        """The companion of a new object, all zeros."""

    def _define_loosely(self, source: Instruction, primal: Value, companion: Value | None) -> None:
        """Let `primal` be the copy of `source`, and `companion` its companion, in a form that the type of
        `source` does not tell."""
        self._define(source, primal, companion)

    @abc.abstractmethod
    def _meet(self, call: Instruction, site: CallSite) -> None:
        """Do what is to be done before `call` is written."""

    @abc.abstractmethod
    def _returned(self, call: Instruction, answer: Value, arguments: Sequence[Value]) -> None:
        """Take apart `answer`, what the rule of `call` has returned; its pullback gives a cotangent for
        each of `arguments`."""

    @abc.abstractmethod
    def _return(self, terminator: Return) -> None:
        """End the current block, where the primal returns."""

    # -- values ------------------------------------------------------------------------------------------

    def p(self, value: Value) -> Value:
        """The copy of `value`, of the primal."""
        return value if isinstance(value, Const | Undef) else self.primal[value]

    def _new_phi(self, phi: Phi) -> None:
        block = self.blocks[phi.block]
        copy = self.primal[phi] = Phi(block, phi.type, phi.name)
        block.phis.append(copy)
        if self.has_companion(phi):
            name = None if phi.name is None else self.companion_name(phi.name)
            companion = self.companions[phi] = Phi(block, self.companion_type(type_of(phi)), name)
            block.phis.append(companion)

    def _fill_phi(self, phi: Phi) -> None:
        copy, companion = self.primal[phi], self.companions.get(phi)
        assert isinstance(copy, Phi)
        for source, operand in phi.operands.items():
            block = self.blocks.get(source)
            if block is None:
                continue
            copy.operands[block] = self.p(operand)
            if isinstance(companion, Phi):
                self.builder.block = block
                companion.operands[block] = (
                    operand if isinstance(operand, Undef) else self._incoming(operand, phi)
                )

    def _slot_companion(self, slot: ReadSlot, out: Value | None = None) -> Value:
        """The companion of what stands in `slot`.  A loop reads `out`, which may be its end and then has no
        companion."""
        if slot.record is not None:
            return self.builder.call(self.support.record_slot, slot.companion, slot.key)
        if slot.is_field:
            return self.builder.call(self.support.field_slot, slot.companion, slot.key)
        more = () if out is None else (out,)
        return self.builder.call(self.support.item_slot, slot.companion, slot.key, *more)

    def _method_companion(self, value: Value, method: ReadMethod) -> Value:
        return self.builder.call(
            self.support.bound, self.p(value), method.instance, method.companion, method.name
        )

    def _late_companion(self, value: Value) -> Value | None:
        """The companion of `value`, if that is only found where it is needed: here."""
        if value in self.slots:
            return self._slot_companion(self.slots[value])
        if value in self.methods:
            return self._method_companion(value, self.methods[value])
        if value in self.met:
            found = self.builder.call(self.met[value], self.context, self.p(value))
            found.type = self.companion_type(type_of(value))
            return found
        return None

    def _sink(self, companion: Value) -> Value:
        """`companion`, or where that is None something to read zeros from and to write to; it is made
        once."""
        if isinstance(companion, Const):
            return companion  # that of keys
        known = self.sinks.get(companion)
        if known is None:
            known = Instruction("call", [Const(intrinsics._or_else_), companion, Const(self.support.sink)])
            self.sinks[companion] = known
            insert_behind(self.graph, companion, known)
        return known

    def _check_slot(self, container: Value, companion: Value) -> None:
        """Refuse to write an active number into a constant; a check that was made on every way here is not
        made again."""
        if self._dominators is None:
            self._dominators = Dominators(self.source)
        here = self.after
        if any(self._dominators.dominates(block, here) for block in self.checked.get(companion, ())):
            return
        self.checked.setdefault(companion, []).append(here)
        self.builder.call(intrinsics._require_, companion, self.support.check_slot, container)

    # -- calls -------------------------------------------------------------------------------------------

    def _copy_call(self, call: Instruction) -> Instruction:
        """The copy of `call`, written into the current block; what is written next goes behind it."""
        copy = self.builder.emit(
            "call",
            *(self.p(v) for v in call.operands),
            keywords=call.keywords,
            type=call.type,
            name=call.name,
        )
        self.builder.block = self.blocks[self.after]
        return copy

    def _rename(self, call: Instruction, source: Value) -> None:
        """Let `call` be `source` by another name."""
        self.primal[call] = self.p(source)
        self.assumed.tell(call, source, self.primal[call])

    def _primal(self, call: Instruction, site: CallSite) -> None:
        function = site.function
        if renames(function):
            self._rename(call, site.arguments[0])
            return
        copy = self._copy_call(call)
        if function is isinstance and type_of(site.arguments[0]) == ANY:
            copy.operands = [Const(self.support.is_instance), *map(self.p, site.arguments)]
        self._define(call, copy)

    def _fresh(self, call: Instruction, site: CallSite) -> None:
        if site.function is intrinsics._expose_:
            out = self.p(site.arguments[0])
            self._define_loosely(call, out, self._zero(out))
            return
        if self.support.checks_aliases and site.row.kind is RowKind.ZERO and not call.keywords:
            self._row(call, site)
            return
        out = self._copy_call(call)
        self._define_loosely(call, out, self._zero(out))

    def _step(self, call: Instruction, site: CallSite) -> None:
        """Write a function that rounds: what it gives has no derivative, unless nothing was rounded."""
        self._check_step(call, site)

    def _check_step(
        self, call: Instruction, site: CallSite, *tangents: Value, is_checked: bool = True
    ) -> None:
        out = self._copy_call(call)
        self._define(call, out)
        limit = limit_of(site.row, site.arguments)
        if is_checked and limit != math.inf:
            self.builder.call(intrinsics._within_, out, limit, site.row.complain, *tangents, type=NONE)

    def _text(self, call: Instruction, site: CallSite) -> None:
        out = self.builder.call(
            self.support.text,
            self.context,
            self.p(site.callee),
            self._pack(map(self.p, site.arguments)),
            self._pack(map(self._handed, site.arguments)),
            type=call.type,
            name=call.name,
        )
        self.builder.block = self.blocks[self.after]
        self._define_loosely(call, out, self._zero(out) if self.has_companion(call) else None)

    # -- slots of lists and dicts, fields of instances, cells

    def _slot_load(self, call: Instruction, site: CallSite) -> None:
        container, index = site.arguments
        self._read_slot(call, container, self.p(index))

    def _field_load(self, call: Instruction, site: CallSite) -> None:
        obj, name = site.arguments
        may_lack = is_kept(call, self.support.knowledge)
        if may_lack:
            self.builder.call(self.support.check_kept, self.p(obj), self.companion(obj), name)
        elif is_beside(call, self.support.knowledge):
            self.builder.call(self.support.check_kept, self.p(obj), self.companion(obj), name)
            out = self._copy_call(call)
            self._define_loosely(call, out, self._zero(out))
            return
        elif is_default(call, self.support.knowledge):
            fields = self.builder.call(
                self.support.default_fields, self.context, self.p(obj), self.companion(obj), name
            )
            self._define(call, self._copy_call(call))
            self._read(call, ReadSlot(fields, name, True), None)
            return
        self._read_slot(call, obj, name, is_field=True, may_lack=may_lack)

    def _record_load(self, call: Instruction, site: CallSite) -> None:
        record, name = site.arguments
        self._define(call, self._copy_call(call))
        self._read(call, ReadSlot(self.companion(record), name, True, record=record), None)

    def _cell_load(self, call: Instruction, site: CallSite) -> None:
        may_lack = site.function is intrinsics._cell_peek_
        self._read_slot(call, site.arguments[0], Const("cell_contents"), is_field=True, may_lack=may_lack)

    def _next(self, call: Instruction, site: CallSite) -> None:
        iterator, values, index = site.arguments
        step = next if site.function is intrinsics._take_at_ else intrinsics._next_
        out = self.builder.call(step, self.p(iterator), type=call.type, name=call.name)
        self._read_slot(call, values, self.p(index), out=out)

    def _element(self, call: Instruction, site: CallSite) -> None:
        unpacked, container, index = site.arguments
        place = Const(1) if site.function is intrinsics._entry_value_ else index
        out = self.builder.call(intrinsics._project_, self.p(unpacked), place, type=call.type, name=call.name)
        self._read_slot(call, container, self.p(index), out=out)

    def _key(self, call: Instruction, site: CallSite) -> None:
        source = self.p(site.arguments[0])
        if site.function is intrinsics._next_key_:
            out = self.builder.call(intrinsics._next_, source, type=call.type, name=call.name)
        else:
            out = self.builder.call(intrinsics._project_, source, Const(0), type=call.type, name=call.name)
        self._define(call, out)
        self._read(call, ReadSlot(Const(self.support.keys), out, False), out)

    def _read_slot(
        self,
        call: Instruction,
        container: Value,
        key: Value,
        *,
        is_field: bool = False,
        may_lack: bool = False,
        out: Value | None = None,
    ) -> None:
        """Write the reading of `key` of `container`, and its derivative.

        out: what was read, if that is not what the call itself gives.
        """
        self._define(call, self._copy_call(call) if out is None else out)
        self._read(call, ReadSlot(self.companion(container), key, is_field, may_lack), out)

    def _read(self, call: Instruction, slot: ReadSlot, out: Value | None) -> None:
        """Have `slot` be what `call` reads: its derivative is written where it is known to be needed."""
        if call in self.guarded:
            self.slots[call] = slot
        else:
            self._take_slot(call, slot, out)

    @abc.abstractmethod
    def _take_slot(self, call: Instruction, slot: ReadSlot, out: Value | None) -> None:
        """Write the derivative of reading `slot`; for `out` see `_slot_companion`."""

    def _is_seen(self, caught: Value) -> bool:
        """Whether anything is done with `caught`, an exception, but to hand it to the caller."""
        waiting, met = [caught], {caught}
        while waiting:
            for user in self.users(waiting.pop()):
                if isinstance(user, Phi):
                    if user not in met:
                        met.add(user)
                        waiting.append(user)
                elif not isinstance(user, Instruction) or target(user) is not intrinsics._raised_:
                    return True
        return False

    def _method(self, call: Instruction, site: CallSite) -> None:
        self._define(call, self._copy_call(call))
        obj, name = site.arguments
        method = ReadMethod(self.p(obj), self.companion(obj), name)
        if call in self.guarded:
            self.methods[call] = method
        else:
            self._take_method(call, method)

    def _take_method(self, call: Instruction, method: ReadMethod) -> None:
        """Write the derivative of reading `method`."""
        self.companions[call] = self._method_companion(call, method)

    def _empty_list(self, call: Instruction, site: CallSite) -> None:
        self._define(call, self._copy_call(call), self.builder.call(intrinsics._new_, list))

    def _resume(self, call: Instruction, site: CallSite) -> None:
        iterator, values, *index = site.arguments
        place = self.primal[call] = self.p(iterator)
        resumed = self.support.resumed_view
        if index:
            place, resumed = self.p(index[0]), self.support.resumed
        self.companions[call] = self.builder.call(resumed, self.companion(values), place, *index[1:])

    # -- what depends on the context

    def _contextual(self, call: Instruction, site: CallSite) -> None:
        function, support, builder = site.function, self.support, self.builder
        if function is intrinsics._freevar_:
            self._freevar(call, site.arguments[0])
        elif function is intrinsics._store_global_:
            (name, value), where = site.arguments, builder.call(intrinsics._globals_)
            given = self.context, where, name, self.p(value), self.companion(value)
            self.primal[call] = Const(None)
            self._stored_global(call, builder.call(support.store_global, *given), value)
        elif function is intrinsics._setattr_:
            undo = builder.call(support.store_attribute, self.context, *map(self.p, site.arguments))
            self.primal[call] = Const(None)
            self._stored_global(call, undo, site.arguments[2])
        elif function is intrinsics._new_:
            self._new_function(call, site.arguments[5], site.arguments[2], site.arguments[3])
        elif function is intrinsics._instance_:
            made = self._copy_call(call)
            self._define(call, made, builder.call(support.instance, self.context, made))
        else:
            out = self._copy_call(call)
            if function is intrinsics._global_ and self._is_made_space():
                where = builder.call(intrinsics._globals_)
                builder.call(support.check_global, self.context, where, site.arguments[0])
            # An iterator that was met may stand anywhere; one that library code has just made is constant.
            find = support.given
            if function is intrinsics._getattr_ or function in _OF_GLOBALS:
                find = support.kept if gives_kept(call) else support.known
            is_late = call in self.guarded and function not in (_OF_GLOBALS[1:])
            if is_late and self.has_companion(call):
                self.met[call] = find
                self._define_loosely(call, out, None)
                return
            known = builder.call(find, self.context, out) if self.has_companion(call) else None
            self._define_loosely(call, out, known)

    def _is_made_space(self) -> bool:
        """Whether the globals are no module's, but a dict that code was executed in."""
        namespace = self.source.namespace
        return namespace is not None and "__spec__" not in namespace

    @abc.abstractmethod
    def _freevar(self, call: Instruction, index: Value) -> None:
        """Write the reading of cell number `index` of the function's closure."""

    @abc.abstractmethod
    def _stored_global(self, call: Instruction, undo: Value, value: Value) -> None:
        """Take care of `undo`, which puts back what a global was before `call` has set it to `value`."""

    def _new_function(self, call: Instruction, closure: Value, defaults: Value, kwdefaults: Value) -> None:
        made = self._copy_call(call)
        companions = [
            self.companion(closure),
            self.companion(defaults),
            Const(None) if is_constant_dict(kwdefaults) else self.companion(kwdefaults),
        ]
        self._define(call, made, self.builder.call(self.support.function, self.context, made, *companions))

    def _without_formulas(self, call: Instruction, site: CallSite) -> None:
        """Call the rule of `call`, whose formulas are not written inline."""
        (self._dynamic if call.keywords and not site.options else self._rule)(call, site)

    # -- rules that are called

    def _row(self, call: Instruction, site: CallSite) -> None:
        self._rule(call, site)

    def _rule(self, call: Instruction, site: CallSite) -> None:
        """Write a call of the rule in place of `call`."""
        answer = self.builder.call(
            self.support.rule(site.row.at_site()),
            self._pack(map(self.p, site.arguments)),
            self._pack(map(self.companion, site.arguments)),
            self._options(site),
        )
        self._returned(call, answer, site.arguments)

    def _options(self, site: CallSite) -> Value | Mapping[str, Any]:
        """The arguments that a rule is given by keyword."""
        if not site.options:
            return NO_KWARGS
        parts = [part for name, v in site.options.items() for part in (Const(name), self.p(v))]
        return self.builder.call(intrinsics._new_, dict, *parts)

    def _pack(self, values: Iterable[Value]) -> Value:
        """A tuple of `values`, in the copy."""
        parts = list(values)
        if all(isinstance(v, Const) for v in parts):
            return Const(tuple(v.value for v in parts if isinstance(v, Const)))
        return self.builder.call(intrinsics._new_, tuple, *parts)

    def _bound(self, site: CallSite) -> list[Value]:
        """What the parameters of the known Python function that is called are bound to."""
        assert site.binding is not None
        return [slot if isinstance(slot, Const) else site.arguments[slot] for slot in site.binding.slots]

    def _leading(self, site: CallSite, entry: Any) -> list[Value]:
        """The operands that a derived rule is given in front of the arguments."""
        if not entry.takes_function:
            return [self.context]
        return [self.context, self.p(site.callee), self.companion(site.callee)]

    def _dynamic(self, call: Instruction, site: CallSite) -> None:
        protocol = None
        if site.function is not None and not call.keywords:
            protocol = self.support.protocol(site.function)
            if protocol is None and not self._constant_displays(site):
                protocol = self.support.row_handler(site.function)
        if protocol is None:
            self._call_at_run_time(self.support.call, call, site)
            return
        primals = self._pack(map(self.p, site.arguments))
        companions = self._pack(map(self._handed, site.arguments))
        answer = self.builder.call(protocol, self.context, primals, companions)
        self._returned(call, answer, site.arguments)

    def _handed(self, value: Value) -> Value:
        """The companion of `value`, an argument of a call that is decided at run time."""
        return self.companion(value)

    def _constant_displays(self, site: CallSite) -> list[Value]:
        """The arguments of a call that are displays of constants, which nobody else has."""
        return [a for a in site.arguments if is_constant_display(a, self.users)]

    def users(self, value: Value) -> Sequence[Any]:
        """The instructions, phis and terminators that have `value` as an operand."""
        if self._users is None:
            self._users = {}
            for block in self.source.blocks:
                for phi in block.phis:
                    for operand in phi.operands.values():
                        self._users.setdefault(operand, []).append(phi)
                for user in block.instructions:
                    for operand in user.operands:
                        self._users.setdefault(operand, []).append(user)
                for operand in block.terminator.values:
                    self._users.setdefault(operand, []).append(block.terminator)
        return self._users.get(value, ())

    def _call_at_run_time(self, function: Callable[..., Any], call: Instruction, site: CallSite) -> None:
        """Write a call of `function`, which finds out at run time what is called."""
        primals = self._pack(map(self.p, site.arguments))
        displays = self._constant_displays(site)
        is_free = bool(displays) and keeps_no_list(site.function)
        companions = self._pack(
            Const(None) if is_free and a in displays else self._handed(a) for a in site.arguments
        )
        operands = [self.context, call.keywords, self.p(site.callee), self.companion(site.callee), primals]
        if displays and not is_free and function is self.support.call:
            places = tuple(i for i, a in enumerate(site.arguments) if a in displays)
            answer = self.builder.call(self.support.call_with_displays, *operands, companions, places)
        else:
            answer = self.builder.call(function, *operands, companions)
        self._returned(call, answer, [site.callee, *site.arguments])

    def take_apart(
        self, call: Instruction, answer: Value, *types: AbstractType
    ) -> tuple[Instruction, Instruction]:
        """The parts of `answer`, a tuple of values of these types, and the first part, which is the copy of
        `call`."""
        answer.type = TupleType(types)
        self.builder.block = self.blocks[self.after]
        parts = self.builder.call(intrinsics._unpack_, answer, len(types))
        return parts, self.builder.call(intrinsics._project_, parts, 0, type=call.type, name=call.name)

    # -- terminators -------------------------------------------------------------------------------------

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
                self._return(terminator)


_GUARDS = (intrinsics._assume_, intrinsics._method_is_)
