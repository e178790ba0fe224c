"""How each pass is run on the graph of a file: with what it asks the rest of the system answered here.

A runner takes the graph, and by name what the lines ``; with name = expression`` say.  It returns the graph
that the pass leaves, or several, or lines of text.
"""

from __future__ import annotations

import dataclasses
import math
import operator
import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from adbc.emit.early_records import early_records
from adbc.emit.gather import gather
from adbc.ir.constants import named_constant
from adbc.ir.graph import Graph, Guard
from adbc.ir.printer import Names
from adbc.ir.terminators import Return
from adbc.ir.values import Instruction, Value
from adbc.lift import lift
from adbc.passes import normalise
from adbc.passes.derived.cotangent_sums import cotangent_sums
from adbc.passes.derived.partials import needed, taken_apart
from adbc.passes.derived.shadow_slots import shadow_slots
from adbc.passes.derived.strong_runs import look_at_runs
from adbc.passes.derived.strong_zeros import Strong, strong_zeros
from adbc.passes.derived.uncounted_loops import uncounted_loops
from adbc.passes.normal.asked_methods import as_generator
from adbc.passes.normal.caught_stops import caught_stops
from adbc.passes.normal.class_tests import class_tests
from adbc.passes.normal.closed_cells import closed_cells
from adbc.passes.normal.consumed_generators import consumed_generators
from adbc.passes.normal.copy_propagation import copy_propagation
from adbc.passes.normal.dead_code import dead_code
from adbc.passes.normal.delegations import are_loops, without_delegations
from adbc.passes.normal.dropped_generators import Made, ask_before_holders, drop_generators
from adbc.passes.normal.enumerations import enumerations
from adbc.passes.normal.fold_constants import fold_constants
from adbc.passes.normal.foreign_names import foreign_names
from adbc.passes.normal.foreigncall_to_call import foreigncall_to_call, normal_call
from adbc.passes.normal.getters import getters
from adbc.passes.normal.handler_ends import handler_ends
from adbc.passes.normal.idle_handlers import idle_handlers
from adbc.passes.normal.inline_calls import inline_calls, is_small
from adbc.passes.normal.inner_displays import inner_displays
from adbc.passes.normal.known_calls import known_calls
from adbc.passes.normal.managers import managers
from adbc.passes.normal.merge_blocks import merge_blocks
from adbc.passes.normal.misfits import misfits
from adbc.passes.normal.named_attributes import named_attributes
from adbc.passes.normal.named_tuples import named_tuples
from adbc.passes.normal.needed_releases import needed_releases
from adbc.passes.normal.new_to_call import new_to_call
from adbc.passes.normal.operators_to_call import operators_to_call
from adbc.passes.normal.promote_cells import promote_cells
from adbc.passes.normal.protected import isolate, landing_pads
from adbc.passes.normal.recollections import recollections
from adbc.passes.normal.reducible import reducible
from adbc.passes.normal.refusals import pass_by_handlers
from adbc.passes.normal.resolve_globals import resolve_globals
from adbc.passes.normal.scalar_replacement import scalar_replacement
from adbc.passes.normal.segments import segments
from adbc.passes.normal.spread_mappings import spread_mappings
from adbc.passes.normal.spread_sequences import Signature, spread_sequences
from adbc.passes.normal.step_edges import step_edges
from adbc.passes.normal.stopping_nexts import stopping_nexts
from adbc.passes.normal.straight_generators import given_at_once
from adbc.passes.normal.trivial_phis import trivial_phis
from adbc.passes.normal.truth import truth
from adbc.passes.normal.unreachable import unreachable
from adbc.passes.normal.zipped_loops import zipped_loops
from adbc.passes.query import constant, target
from adbc.passes.typed.array_loops import index_array_loops
from adbc.passes.typed.built_tuples import built_tuples
from adbc.passes.typed.builtin_methods import builtin_methods, drop_method_reads
from adbc.passes.typed.cell_reads import hoist_cell_reads
from adbc.passes.typed.constructions import constructions
from adbc.passes.typed.container_calls import container_calls
from adbc.passes.typed.copied_containers import copied_containers
from adbc.passes.typed.decided_branches import decided_branches
from adbc.passes.typed.dicts_of_classes import dicts_of_classes
from adbc.passes.typed.direct_calls import direct_calls
from adbc.passes.typed.displays import spread_displays
from adbc.passes.typed.first_reads import first_reads
from adbc.passes.typed.guards import insert_guards
from adbc.passes.typed.known_attributes import is_known_read, known_attributes
from adbc.passes.typed.known_elements import known_elements
from adbc.passes.typed.known_names import known_names
from adbc.passes.typed.known_slots import known_slots
from adbc.passes.typed.list_elements import drop_proved_tests
from adbc.passes.typed.list_loops import count_list_loops
from adbc.passes.typed.list_walks import count_list_walks
from adbc.passes.typed.object_values import object_values
from adbc.passes.typed.polymorphic_calls import split_calls
from adbc.passes.typed.polymorphic_operations import split_operations
from adbc.passes.typed.present_items import read_present_items
from adbc.passes.typed.quiet_steps import quiet_steps
from adbc.passes.typed.real_powers import real_powers
from adbc.passes.typed.record_values import record_values
from adbc.passes.typed.replacements import replacements
from adbc.passes.typed.self_writes import drop_self_writes
from adbc.passes.typed.separate_writes import separate_writes
from adbc.passes.typed.special_methods import special_methods
from adbc.passes.typed.spreads import spread_calls
from adbc.passes.typed.unpackings import list_unpackings
from adbc.passes.typed.unrolled_loops import unrolled_loops
from adbc.passes.typed.view_loops import view_loops
from adbc.rules import default_table
from adbc.rules.builtins.getters import getter_function
from adbc.rules.classes import stands_for
from adbc.rules.consumers import taken
from adbc.runtime import default_engine
from adbc.runtime.build.bindings import Bindings
from adbc.runtime.build.calling import signature_of
from adbc.runtime.build.consuming import Consuming
from adbc.runtime.build.inferred import Informed, infer_types
from adbc.runtime.build.managing import Managing
from adbc.runtime.calls import derived_classes
from adbc.runtime.calls.classes import (
    certain_member,
    certain_method,
    class_member,
    entered,
    inherited,
    is_bare,
    is_beside,
    is_default,
    is_field,
    is_instance,
    is_kept,
    presence,
    record_names,
    unbound,
)
from adbc.tangents import divide, multiply
from adbc.types.answers import is_seen_to_answer, iterators_seen
from adbc.types.callables import BoundType, Callables
from adbc.types.callsites import Binding
from adbc.types.inference import type_of
from adbc.types.lattice import ANY, FLOAT, INT, NONE, AbstractType, ArrayType, ConstType, Exact, class_of
from adbc.types.places import method_front
from tests.filetests import names
from tests.filetests.types_in_text import type_from

__all__ = ["RUNNERS"]

Outcome = Graph | str | Iterable[Graph]


def _in_place(run: Callable[[Graph], object]) -> Callable[[Graph], Graph]:
    def runner(graph: Graph) -> Graph:
        run(graph)
        return graph

    return runner


class Answers:
    """What passes ask about functions and classes, answered from those of `names` and from the rows."""

    def row(self, function: object, types_: Sequence[AbstractType]) -> Any | None:
        classes = [class_of(t) for t in types_]
        return None if None in classes else default_table().find(function, tuple(classes))

    def rows(self, function: object) -> Sequence[Any]:
        return default_table().rows(function)

    def bind(self, function: object, count: int, keywords: tuple[str, ...]) -> Binding | None:
        if not isinstance(function, types.FunctionType) or keywords or self.rows(function):
            return None
        return Binding(function, tuple(range(count))) if count == function.__code__.co_argcount else None

    def result(
        self, function: object, types_: Sequence[AbstractType], keywords: tuple[str, ...]
    ) -> AbstractType:
        """What `function` is annotated to return."""
        return NONE if getattr(function, "__annotations__", {}).get("return") == "None" else ANY

    def constructor(self, cls: type, facts: object = None) -> types.FunctionType | None:
        is_plain = cls.__module__ == names.__name__ and "__new__" not in vars(cls)
        return vars(cls).get("__init__") if is_plain else None

    def method(self, cls: type, name: str, facts: object = None) -> types.FunctionType | None:
        found = vars(cls).get(name)
        return found if isinstance(found, types.FunctionType) else None

    def is_field(self, cls: type, name: str) -> bool:
        return is_field(cls, name)

    def keeps(self, cls: type, name: str, facts: object = None) -> bool:
        return self.is_field(cls, name)

    def accessor(self, cls: type, name: str, way: str) -> types.FunctionType | None:
        found: types.FunctionType | None = getattr(vars(cls).get(name), f"f{way}", None)
        return found

    def lacks(self, cls: type, name: str) -> bool:
        return cls.__module__ == names.__name__ and name not in vars(cls)

    def answers(self, function: types.FunctionType) -> bool:
        return is_seen_to_answer(normalise(lift(function), function.__globals__))

    def special(self, cls: type, name: str) -> types.FunctionType | None:
        return self.method(cls, name)

    def given_at_once(self, cls: type, count: int) -> types.FunctionType | None:
        return None

    def asked_for_iterator(self, cls: type) -> types.FunctionType | None:
        function = self.method(cls, "__iter__")
        seen = None if function is None else iterators_seen(normalise(lift(function), function.__globals__))
        return None if seen else function

    def entered(self, cls: type, name: str) -> object | None:
        found = entered(cls, name)
        return found if self.rows(found) else None

    def called(self, cls: type) -> types.FunctionType | None:
        return self.method(cls, "__call__")

    def record_names(self, cls: type) -> tuple[str, ...] | None:
        return record_names(cls)

    def is_kept(self, cls: type, name: str) -> bool:
        return is_kept(cls, name)

    def is_default(self, cls: type, name: str) -> bool:
        return is_default(cls, name)

    def is_variable(self, cls: type, name: str) -> bool:
        return is_default(cls, name)

    def is_beside(self, cls: type, name: str) -> bool:
        return is_beside(cls, name)

    def is_bare(self, cls: type) -> bool:
        return is_bare(cls)

    def derived_from(self, cls: type) -> Any:
        return derived_classes.derived_from(cls)

    def filled_by(self, cls: type) -> Any:
        return derived_classes.filled_by(cls)

    def made_by(self, cls: type) -> Any:
        return derived_classes.made_by(cls)

    def is_value(self, cls: type, base: type) -> bool:
        return derived_classes.is_value(cls, base)

    def allocator(self, cls: type, behind: type) -> Any:
        return derived_classes.allocator(cls, behind)

    def inherited_in_c(self, cls: type, behind: type, name: str) -> Any:
        return derived_classes.inherited_in_c(cls, behind, name)

    def iterated_as(self, cls: type) -> type | None:
        return derived_classes.iterated_as(cls)

    def attribute_hook(self, cls: type, way: str, name: str) -> Any:
        return derived_classes.attribute_hook(cls, way, name)

    def class_told(self, cls: type) -> type:
        return stands_for(cls) or cls

    def is_instance(self, cls: type, asked: type) -> bool | None:
        return is_instance(cls, asked)

    def class_member(self, cls: type, name: str) -> tuple[types.FunctionType, bool] | None:
        return class_member(cls, name)

    def wrapped(self, function: object, given: Sequence[AbstractType]) -> types.FunctionType | None:
        return None

    def inherited(self, cls: type, behind: type, name: str) -> types.FunctionType | None:
        found: types.FunctionType | None = inherited(cls, behind, name)
        return found

    def certain_method(self, cls: type, name: str) -> types.FunctionType | None:
        found: types.FunctionType | None = certain_method(cls, name)
        return found

    def certain_member(self, cls: type, name: str) -> tuple[types.FunctionType, bool] | None:
        return certain_member(cls, name)

    def unbound(self, cls: type, name: str) -> tuple[types.FunctionType, bool] | None:
        return unbound(cls, name)

    def has(self, cls: type, name: str) -> bool | None:
        return {"always": True, "never": False}.get(presence(cls, name) or "")

    def asks_nothing(self, cls: type, name: str) -> bool:
        return presence(cls, name) is not None

    def name_of_class(self, cls: type) -> str | None:
        return cls.__name__

    def setting(self, cls: type, name: str) -> Any | None:
        return None

    def is_lasting(self, cls: type) -> bool:
        return True

    def body(self, function: types.FunctionType) -> Graph:
        return normalise(lift(function), function.__globals__)

    def oracle(
        self, function: object, types_: Sequence[AbstractType], keywords: tuple[str, ...]
    ) -> AbstractType:
        said = getattr(function, "__annotations__", {}).get("return")
        return {"int": INT, "None": NONE}.get(said, ANY)

    def sample(
        self, function: object, values: Sequence[Value], keywords: tuple[str, ...]
    ) -> AbstractType | None:
        return FLOAT if function is operator.mul else None

    def only_reads(
        self, function: types.FunctionType, parameters: tuple[AbstractType, ...]
    ) -> Sequence[bool]:
        return [False] * len(parameters)

    def is_closed(self, function: types.FunctionType, parameters: tuple[AbstractType, ...]) -> bool:
        return False

    def kept_lists(
        self, function: types.FunctionType, parameters: tuple[AbstractType, ...]
    ) -> Sequence[bool]:
        return [False] * (len(parameters) + 1)


def _with_values_of_objects(graph: Graph) -> Graph:
    """With types as inference finds them, and small functions of `names` written in."""

    def inferred(typed: Graph, parameters: Sequence[AbstractType], result: Any) -> AbstractType:
        return infer_types(typed, parameters, Informed(_ANSWERS, result or (lambda *call: None)))  # type: ignore[arg-type]  # it has what is asked for here

    graph.namespace = vars(names)
    object_values(graph, _ANSWERS, lambda _, call: _small_callee(call), inferred, lambda _: None)
    return graph


def _signature(function: Value) -> Signature | None:
    called = constant(function)
    is_class = isinstance(called, type)
    return signature_of(called.__init__ if is_class else called, Bindings(default_table()), int(is_class))


def _given_at_once(graph: Graph) -> Graph:
    found = given_at_once(graph)
    return graph if found is None else found[0]


def _small_callee(call: Instruction) -> tuple[Graph, list[Value]] | None:
    """A function of `names` that is called, if it is small."""
    function = target(call)
    if not isinstance(function, types.FunctionType) or function.__module__ != names.__name__:
        return None
    graph = normalise(lift(function), function.__globals__)
    return (graph, call.operands[1:]) if is_small(graph) else None


def _with_generators(graph: Graph) -> Graph:
    """With the generators written in that the functions of `names` make."""
    graph.namespace = vars(names)
    consumed_generators(graph, Consuming(default_engine().graphs))
    return graph


def _with_functions_for_getters(graph: Graph) -> Graph:
    known: Any = {operator.itemgetter: names.scaled, operator.attrgetter: names.chosen}
    getters(graph, lambda kind, args, named: getter_function(kind, args, named) and known[kind])
    return graph


def _with_managers(graph: Graph) -> Graph:
    graph.namespace = vars(names)
    graph.guards.append(Guard(("doubled",), names.doubled))
    managers(graph, Managing(default_engine().graphs, graph).manager)
    graph.guards.clear()
    return graph


def _without_delegations(graph: Graph) -> Graph:
    if are_loops(graph):
        without_delegations(graph)
    return graph


def _separated(graph: Graph) -> Graph:
    """With the results of operators from the rows that the engine has."""
    separate_writes(graph, default_engine().knowledge)
    return graph


def _with_arrays_inside(graph: Graph) -> None:
    table = default_table()
    inner_displays(graph, lambda f: next((r.joined_array for r in table.rows(f) if r.joined_array), None))


def _stopping(graph: Graph) -> Graph:
    stopping_nexts(graph, lambda: normalise(lift(taken), taken.__globals__))
    return graph


class Generators:
    """Those made by `names.guarded` have something to do when they are closed, and so may those have that
    an object is asked for by its ``__iter__``, those of `names.walk` among them."""

    def must_be_closed(self, made: Made, /) -> bool:
        return made is names.guarded or isinstance(made, Instruction)

    def makes_walked_by_closed(self, maker: object, /) -> bool:
        return maker is names.walk

    def only_consumes(self, function: Any, index: int, /) -> bool:
        return function is names.consumed


def _drop_generators(graph: Graph) -> Graph:
    ask_before_holders(graph, Generators())
    return drop_generators(graph, Generators())


@dataclasses.dataclass
class Guesses:
    """Every call is guessed to give what `guess` says of its function; the rest of a function is `rest`."""

    guess_of: dict[str, str]

    def guess(self, call: Instruction) -> Exact | ArrayType | None:
        found = self.guess_of.get(getattr(target(call), "__name__", ""))
        known = None if found is None else type_from(found)
        assert known is None or isinstance(known, Exact | ArrayType)
        return known

    def method(self, call: Instruction) -> object | None:
        return None

    def watch(self, call: Instruction) -> bool:
        return "watch" in self.guess_of

    def site(self, call: Instruction) -> object:
        return "site"

    def rest(self, call: Instruction) -> tuple[object, Sequence[Value]]:
        return names.rest, [call]

    def known_slots(self, graph: Graph) -> dict[Value, Value]:
        return {}


class Called:
    """What was seen of a value that is called."""

    gave_up = True

    guess = None
    reals = ()

    def __init__(self, kinds: list[AbstractType], is_open: bool) -> None:
        self.callables = Callables()
        self.callables.kinds, self.callables.is_open = kinds, is_open

    def __repr__(self) -> str:
        return f"Called({self.callables.kinds}, is_open={self.callables.is_open})"


def _calls_split(graph: Graph, open: str = "False", **seen: str) -> Graph:
    """What functions of the names in `seen` give is of one class, or the function of one name, or of two that
    stand with a slash between them, or a method of that name with brackets behind it, bound to an object of
    the class; it may be something else if that is "True"."""
    split_calls(graph, _seen_of(seen, open), lambda read: method_front(read, _ANSWERS))
    return graph


def _operations_split(graph: Graph, open: str = "False", **seen: str) -> Graph:
    """`seen` and `open` mean what they mean for `_calls_split`."""
    split_operations(graph, _seen_of(seen, open), lambda function: False)
    return graph


def _seen_of(seen: Mapping[str, str], open: str) -> Callable[[Value], Called | None]:
    def kind(text: str) -> AbstractType:
        if text.endswith("()"):
            return BoundType(named_constant(text[:-2]), named_constant(text.rpartition(".")[0]))
        found = named_constant(text)
        return Exact(found) if isinstance(found, type) else ConstType(found)

    def seen_of(value: Value) -> Called | None:
        text = seen.get(getattr(target(value), "__name__", ""))
        return None if text is None else Called([*map(kind, text.split("/"))], open == "True")

    return seen_of


def _globals_resolved(graph: Graph, **given: str) -> Graph:
    """`given` are the globals: literals, or objects by their qualified names."""
    space = {name: eval(text) if text[0].isdigit() else named_constant(text) for name, text in given.items()}
    return resolve_globals(graph, space)


def _guarded(graph: Graph, **guess_of: str) -> Graph:
    def infer() -> None:
        """Types are those of the text, and of assumptions; nothing follows from these here."""

    insert_guards(graph, infer, Guesses(guess_of))
    return graph


def _apart(graph: Graph, quotient: str = "False") -> str:
    """What the graph of a partial derivative gives, taken apart, and what of the graph that needs."""
    end = graph.blocks[-1].terminator
    assert isinstance(end, Return)
    texts = Names(graph)
    negative, factor, divisor = taken_apart(end.value, quotient == "True")
    parts = [part for part in (factor, divisor) if part is not None]
    return "\n".join(
        [
            f"sign: {'-' if negative else '+'}",
            f"factor: {'1' if factor is None else texts.value(factor)}",
            f"divisor: {'1' if divisor is None else texts.value(divisor)}",
            "needed: " + ", ".join(texts.value(i) for i in graph.instructions() if i in needed(parts)),
        ]
    )


def _runs_looked_at(graph: Graph) -> Graph:
    """All products are looked at."""
    products = [i for i in graph.instructions() if target(i) is operator.mul]
    assert not look_at_runs(graph, products, frozenset(), lambda careful: names.again)
    return graph


def _zero_wins(graph: Graph, later: str = "no") -> Graph:
    strong = Strong(multiply, multiply, multiply, divide, frozenset())
    return strong_zeros(graph, strong, None if later == "no" else lambda careful: names.again)


_ANSWERS = Answers()

RUNNERS: dict[str, Callable[..., Outcome]] = {
    # normal
    "closed_cells": _in_place(lambda graph: closed_cells(graph, [names.Vector, names.scaled])),
    "copy_propagation": copy_propagation,
    "dead_code": dead_code,
    "dropped_generators": _drop_generators,
    "consumed_generators": _with_generators,
    "generator_states": _with_generators,
    "foreign_names": lambda graph: foreign_names(graph, math) or "a call",
    "sendings": _with_generators,
    "delegations": _without_delegations,
    "caught_stops": caught_stops,
    "asked_methods": lambda graph: as_generator(graph) or graph,
    "inner_displays": _in_place(_with_arrays_inside),
    "stopping_nexts": _stopping,
    "class_tests": class_tests,
    "enumerations": enumerations,
    "fold_constants": fold_constants,
    "foreigncall_to_call": foreigncall_to_call,
    "handler_ends": _in_place(handler_ends),
    "idle_handlers": idle_handlers,
    "named_tuples": _in_place(lambda graph: named_tuples(graph, lambda cls: True)),
    "named_attributes": named_attributes,
    "getters": _with_functions_for_getters,
    "managers": _with_managers,
    "spread_mappings": _in_place(lambda graph: spread_mappings(graph, _signature, normal_call)),
    "spread_sequences": _in_place(lambda graph: spread_sequences(graph, _signature, normal_call)),
    "known_calls": _in_place(lambda graph: known_calls(graph, normal_call)),
    "inline_calls": _in_place(lambda graph: inline_calls(graph, _small_callee)),
    "merge_blocks": merge_blocks,
    "needed_releases": _in_place(needed_releases),
    "misfits": misfits,
    "new_to_call": new_to_call,
    "operators_to_call": operators_to_call,
    "promote_cells": promote_cells,
    "protected": lambda graph: landing_pads(isolate(graph)),
    "recollections": _in_place(recollections),
    "reducible": reducible,
    "refusals": pass_by_handlers,
    "resolve_globals": _globals_resolved,
    "scalar_replacement": lambda graph: scalar_replacement(
        graph, _ANSWERS, lambda _, call: _small_callee(call)
    ),
    "segments": segments,
    "straight_generators": _given_at_once,
    "step_edges": step_edges,
    "trivial_phis": trivial_phis,
    "truth": truth,
    "unreachable": unreachable,
    "zipped_loops": zipped_loops,
    # typed
    "builtin_methods": _in_place(
        lambda graph: (builtin_methods(graph), drop_method_reads(graph, lambda read: False))
    ),
    "decided_branches": _in_place(lambda graph: decided_branches(graph, _ANSWERS)),
    "known_names": _in_place(lambda graph: known_names(graph, _ANSWERS)),
    "known_attributes": _in_place(
        lambda graph: (
            known_attributes(graph, _ANSWERS),
            drop_method_reads(graph, lambda read: is_known_read(read, _ANSWERS)),
        )
    ),
    "constructions": _in_place(lambda graph: constructions(graph, _ANSWERS, _ANSWERS.result)),
    "direct_calls": _in_place(lambda graph: direct_calls(graph, _ANSWERS)),
    "known_elements": _in_place(lambda graph: known_elements(graph, _ANSWERS)),
    "displays": _in_place(lambda graph: spread_displays(graph, _ANSWERS)),
    "guards": _guarded,
    "polymorphic_calls": _calls_split,
    "polymorphic_operations": _operations_split,
    "known_slots": _in_place(
        lambda graph: known_slots(
            graph, _ANSWERS.is_field, _ANSWERS.is_field, lambda call: method_front(call, _ANSWERS)
        )
    ),
    "record_values": _in_place(record_values),
    "object_values": _with_values_of_objects,
    "first_reads": _in_place(lambda graph: first_reads(graph, [type_of(a) for a in graph.arguments])),
    "list_elements": _in_place(
        lambda graph: drop_proved_tests(graph, [type_of(a) for a in graph.arguments], _ANSWERS)
    ),
    "array_loops": _in_place(index_array_loops),
    "separate_writes": _separated,
    "list_loops": _in_place(lambda graph: count_list_loops(graph, Answers())),
    "list_walks": _in_place(count_list_walks),
    "copied_containers": _in_place(copied_containers),
    "built_tuples": _in_place(built_tuples),
    "unrolled_loops": _in_place(unrolled_loops),
    "view_loops": _in_place(view_loops),
    "cell_reads": _in_place(lambda graph: hoist_cell_reads(graph, _ANSWERS.is_field)),
    "container_calls": _in_place(container_calls),
    "replacements": _in_place(lambda graph: replacements(graph, _ANSWERS)),
    "dicts_of_classes": _in_place(dicts_of_classes),
    "present_items": _in_place(read_present_items),
    "quiet_steps": _in_place(quiet_steps),
    "real_powers": _in_place(real_powers),
    "self_writes": _in_place(drop_self_writes),
    "spreads": _in_place(lambda graph: spread_calls(graph, normal_call)),
    "unpackings": _in_place(list_unpackings),
    "special_methods": _in_place(lambda graph: special_methods(graph, _ANSWERS)),
    # derived
    "cotangent_sums": cotangent_sums,
    "partials": _apart,
    "shadow_slots": shadow_slots,
    "strong_runs": _runs_looked_at,
    "strong_zeros": _zero_wins,
    "uncounted_loops": uncounted_loops,
    # of the backend that writes bytecode
    "early_records": early_records,
    "gather": gather,
}
"""Pass, as its file is called -> how it is run."""
