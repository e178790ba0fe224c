"""The stages from a primal graph to a typed one: inference, guesses, and what needs types."""

from __future__ import annotations

import dataclasses
from typing import Any

from adbc.ir.graph import Graph
from adbc.ir.traverse import copy_graph
from adbc.ir.values import Const, Instruction, Value
from adbc.passes.normal.foreigncall_to_call import normal_call
from adbc.passes.normal.spread_mappings import spread_mappings
from adbc.passes.normal.spread_sequences import Signature
from adbc.passes.query import constant, target
from adbc.passes.stages import Group, Stage, in_place
from adbc.passes.typed.array_loops import index_array_loops
from adbc.passes.typed.built_tuples import built_tuples
from adbc.passes.typed.builtin_methods import drop_method_reads
from adbc.passes.typed.copied_containers import copied_containers
from adbc.passes.typed.decided_branches import drop_idle_tests
from adbc.passes.typed.direct_calls import direct_calls
from adbc.passes.typed.displays import spread_displays
from adbc.passes.typed.first_reads import first_reads
from adbc.passes.typed.guards import insert_guards, watch_results
from adbc.passes.typed.known_attributes import is_known_read, read_function
from adbc.passes.typed.known_elements import iterate_over_tuples, unread_displays
from adbc.passes.typed.list_elements import drop_proved_tests
from adbc.passes.typed.list_loops import count_list_loops
from adbc.passes.typed.list_walks import count_list_walks
from adbc.passes.typed.object_values import object_values
from adbc.passes.typed.polymorphic_calls import split_calls, split_methods, split_names
from adbc.passes.typed.polymorphic_operations import split_operations
from adbc.passes.typed.present_items import read_present_items
from adbc.passes.typed.quiet_steps import quiet_steps
from adbc.passes.typed.real_powers import real_powers
from adbc.passes.typed.record_values import record_values, with_methods
from adbc.passes.typed.self_writes import drop_self_writes
from adbc.passes.typed.separate_writes import separate_writes
from adbc.passes.typed.spreads import spread_calls
from adbc.passes.typed.unrolled_loops import unrolled_loops
from adbc.passes.typed.view_loops import view_loops
from adbc.records import record
from adbc.runtime.build.calling import signature_of
from adbc.runtime.build.inferred import SETTLING
from adbc.runtime.build.knowledge import Knowledge
from adbc.runtime.build.policies import Policy, Watching
from adbc.runtime.build.speculation import Base, Guesses, Site
from adbc.types import AbstractType
from adbc.types.inference import type_of
from adbc.types.lattice import Exact, ValueArrayType, inferred_type
from adbc.types.records import made_record

__all__ = ["DIRECT", "TYPED", "Typing"]

_DEPTH = {"learn": 0, "always": 3}
"""By mode, at how many sites guesses may have gone wrong in a function that is still guessed at."""


@record(eq=False)
class Typing:
    """What the stages of this module work with: a copy of one function for arguments of some types."""

    knowledge: Knowledge
    guesses: Guesses
    base: Base
    key: tuple[Any, ...]
    globals: dict[str, Any]
    parameters: tuple[AbstractType, ...]
    limit: int
    """How many values are guessed at most, and how many tests are written besides
    (`passes.typed.guards.LIMIT`)."""
    copies: dict[Any, Any] = dataclasses.field(default_factory=dict)
    """The values of the copy, by those of the base."""
    policy: Policy | None = None
    """What is guessed in the copy; None if nothing is."""
    watching: Watching | None = None
    """What is only watched in the copy, if nothing is guessed."""

    @property
    def sites(self) -> list[Site]:
        """The places where the type of a value was guessed."""
        return [] if self.policy is None else self.policy.sites

    def signature(self, function: Value) -> Signature | None:
        """What a known function takes, or the method that is known to be read."""
        bindings, bound, known = self.knowledge.graphs.bindings, 0, constant(function)
        if isinstance(function, Instruction):
            found = None if self.policy is None else self.policy.bound.get(function)
            found = found or read_function(function, self.knowledge)
            if found is not None:
                known, bound = constant(found[0]), len(found) - 1
        signature = signature_of(known, bindings, bound)
        return signature and signature._replace(function=Const(known), bound=bound)

    def infer(self, graph: Graph) -> None:
        """Write types into the graph, and what follows from them at once."""
        self.knowledge.infer(graph, tuple(map(inferred_type, self.parameters)))

    def choose(self, graph: Graph) -> None:
        """Decide whether anything is guessed in the typed graph, or watched."""
        mode = self.guesses.mode
        if mode in ("never", "dynamic", "interpret"):
            return
        originals = {copy: value for value, copy in self.copies.items()}
        if len(self.base.excluded) <= _DEPTH[mode]:
            self.policy = Policy(self, graph, originals)
        elif mode == "learn":
            self.watching = Watching(self, graph, originals)


def _copied(base: Base, typing: Typing) -> Graph:
    graph, typing.copies, _ = copy_graph(base.graph)
    return graph


def _typed(graph: Graph, typing: Typing) -> Graph:
    typing.infer(graph)
    typing.choose(graph)
    return graph


def _with_first_reads(graph: Graph, typing: Typing) -> Graph:
    if typing.guesses.mode != "dynamic" and first_reads(graph, typing.parameters):
        typing.infer(graph)
    return graph


def _guarded(graph: Graph, typing: Typing) -> Graph:
    policy = typing.policy
    changed = policy is not None and insert_guards(graph, lambda: typing.infer(graph), policy, typing.limit)
    changed |= spread_mappings(graph, typing.signature, normal_call, _is_dict)
    changed |= spread_calls(graph, normal_call)
    for call in graph.instructions():
        if typing.policy is not None and call.operands and call.operands[0] in typing.policy.bound:
            # What had been given to `_apply_` when the test for the method was put in.
            call.operands[:1] = typing.policy.bound[call.operands[0]]
            changed = True
    if changed:
        typing.infer(graph)
    return graph


def _is_dict(value: Value) -> bool:
    return type_of(value) == Exact(dict)


def _with_real_powers(graph: Graph, typing: Typing) -> Graph:
    if typing.policy is not None and real_powers(graph):
        typing.infer(graph)
    return graph


def _with_split_calls(graph: Graph, typing: Typing) -> Graph:
    policy = typing.policy
    if policy is not None and split_calls(graph, policy.seen, policy.method_of):
        typing.infer(graph)
    return graph


def _with_split_operations(graph: Graph, typing: Typing) -> Graph:
    policy = typing.policy
    if policy is not None and split_operations(graph, policy.seen, policy.is_scalar, typing.limit):
        typing.infer(graph)
    return graph


def _with_present_items(graph: Graph, typing: Typing) -> Graph:
    if read_present_items(graph):
        typing.infer(graph)
    return graph


def _with_copied_containers(graph: Graph, typing: Typing) -> Graph:
    if copied_containers(graph):
        typing.infer(graph)
    return graph


def _with_record_values(graph: Graph, typing: Typing) -> Graph:
    knowledge = typing.knowledge
    drop_idle_tests(graph)
    if not any(target(call) is made_record for call in graph.instructions()):
        return graph
    if knowledge.graphs.inlines:
        with_methods(graph, knowledge.graphs.small_callee, knowledge.infer)
    if record_values(graph):
        typing.infer(graph)
    return graph


def _with_object_values(graph: Graph, typing: Typing) -> Graph:
    knowledge = typing.knowledge

    def drop_reads(graph: Graph) -> None:
        drop_method_reads(graph, lambda read: is_known_read(read, knowledge))

    if knowledge.graphs.inlines:
        small = knowledge.graphs.small_callee
        object_values(graph, knowledge, small, knowledge.infer_with, drop_reads)
    return graph


def _watched(graph: Graph, typing: Typing) -> Graph:
    if typing.watching is not None:
        watch_results(graph, typing.watching)
    return graph


def _with_cell_reads(graph: Graph, typing: Typing) -> Graph:
    if typing.policy is not None:
        typing.policy.hoist_cell_reads(graph)
    return graph


def _with_known_slots(graph: Graph, typing: Typing) -> Graph:
    while typing.policy is not None and typing.policy.known_slots(graph):
        typing.infer(graph)
    return graph


def _with_quiet_steps(graph: Graph, typing: Typing) -> Graph:
    quiet_steps(graph)
    return graph


def _with_unrolled_loops(graph: Graph, typing: Typing) -> Graph:
    lists = iterate_over_tuples(graph, typing.knowledge)
    policy = typing.policy
    while unrolled_loops(graph):
        built_tuples(graph)
        typing.infer(graph)
    for call, source in lists.items():
        call.operands[1] = source  # where the loop is still there, it is one over a list
    if policy is not None and split_names(graph, policy.names):
        typing.infer(graph)
    if policy is not None and split_methods(graph, policy.method_of):  # what is named may be called
        typing.infer(graph)
    return graph


def _with_counted_loops(graph: Graph, typing: Typing) -> Graph:
    if typing.policy is not None and count_list_loops(graph, typing.knowledge):
        typing.infer(graph)
    return graph


def _with_counted_walks(graph: Graph, typing: Typing) -> Graph:
    if typing.policy is not None and count_list_walks(graph):
        typing.infer(graph)
    return graph


def _with_indexed_arrays(graph: Graph, typing: Typing) -> Graph:
    if index_array_loops(graph):
        typing.infer(graph)
    return graph


def _with_walked_views(graph: Graph, typing: Typing) -> Graph:
    if typing.policy is not None and view_loops(graph):
        typing.infer(graph)
    return graph


def _without_method_reads(graph: Graph, typing: Typing) -> Graph:
    drop_method_reads(graph, lambda read: is_known_read(read, typing.knowledge))
    return graph


def _with_separate_writes(graph: Graph, typing: Typing) -> Graph:
    separate_writes(graph, typing.knowledge)
    return graph


def _with_proved_tests(graph: Graph, typing: Typing) -> Graph:
    if typing.guesses.mode != "dynamic":
        drop_proved_tests(graph, typing.parameters, typing.knowledge)
    return graph


def _with_spread_displays(graph: Graph, typing: Typing) -> Graph:
    unread_displays(graph, typing.knowledge)
    spread_displays(graph, typing.knowledge)
    return graph


def _with_value_arrays(graph: Graph, typing: Typing) -> Graph:
    for argument, passed in zip(graph.arguments, typing.parameters, strict=True):
        if isinstance(passed, ValueArrayType):
            argument.type = passed
    return graph


TYPED: Group[Typing] = Group(
    "typed",
    (
        Stage("copy", _copied, ("primal",), ("own copy",),
              "the primal graph is shared, and rests of functions behind wrong guesses are made from it"),
        Stage("infer", _typed, ("own copy",), ("types",), "all that follows needs types", parts=SETTLING),
        Stage("first_reads", _with_first_reads, ("types",), (),
              "what the caller has seen need not be guessed"),
        Stage("quiet_steps", _with_quiet_steps, ("types",), (),
              "guesses at elements then stand where the body of a loop begins, in a `try` statement, too"),
        Stage("guards", _guarded, ("types",), ("guarded types",),
              "what is still unknown is guessed at, before anything is decided by types that are known"),
        Stage("guarded_steps", _with_quiet_steps, ("guarded types",), ("quiet steps",),
              "that something is a list may be a guess; before loops are unrolled or counted"),
        Stage("real_powers", _with_real_powers, ("guarded types",), ("real powers",),
              "what a power is tested for is written by a guard"),
        Stage("polymorphic_calls", _with_split_calls, ("guarded types",), ("split calls",),
              "what no guess says is called may be one of a few functions; before fields are followed"),
        Stage("polymorphic_operations", _with_split_operations, ("guarded types",), ("split operations",),
              "what no guess says anything of may be of one of a few classes; before fields are followed"),
        Stage("present_items", _with_present_items, ("guarded types",), ("present items",),
              "that something is a defaultdict may be a guess"),
        Stage("copied_containers", _with_copied_containers, ("guarded types",), (),
              "that something is a dict or a list may be a guess"),
        Stage("record_values", _with_record_values, ("guarded types",), ("values of records",),
              "the rest behind a guess is given what the function has, so that guesses know the records"),
        Stage("object_values", _with_object_values, ("values of records",), ("values of objects",),
              "fields of objects may be records, and the other way round"),
        Stage("watch_results", _watched, ("types",), ("watched results",),
              "instead of guards where nothing may be guessed, so that the next version knows more"),
        Stage("cell_reads", _with_cell_reads, ("guarded types",), ("cell reads in front of loops",),
              "what is read is tested at once for what is guessed; before loops are unrolled"),
        Stage("known_slots", _with_known_slots, ("guarded types",), ("known slots",),
              "store-to-load forwarding: behind a test the class is known whose attributes are fields"),
        Stage("unrolled_loops", _with_unrolled_loops, ("guarded types",), ("unrolled loops",),
              "the form of a tuple may be a guess; before loops over tuples become loops over lists"),
        Stage("list_loops", _with_counted_loops, ("guarded types",), ("counted loops",),
              "that something is a list may be a guess"),
        Stage("list_walks", _with_counted_walks, ("counted loops",), (),
              "a loop with a counter of its own needs no other"),
        Stage("array_loops", _with_indexed_arrays, ("guarded types",), ("indexed loops",),
              "that something is an array may be a guess"),
        Stage("view_loops", _with_walked_views, ("guarded types",), ("walked views",),
              "that something is a dict may be a guess"),
        Stage("method_reads", _without_method_reads, ("guarded types",), ("read methods",),
              "methods that are called by their functions need not be read; guards have read them"),
        Stage("self_writes", in_place(drop_self_writes), ("guarded types",), ("no self writes",),
              "an array is one by inference or by a guess"),
        Stage("separate_writes", _with_separate_writes, ("no self writes",), ("separate writes",),
              "a view that is updated in place and written onto itself is to be seen first"),
        Stage("proved_tests", _with_proved_tests, ("guarded types", "read methods", "counted loops"),
              ("proved tests",), "tests that guards have inserted fall where elements of lists are known"),
        Stage("displays", _with_spread_displays, ("proved tests",), ("displays",),
              "lists that nobody needs as lists, which tests would have needed"),
        Stage("value_arrays", _with_value_arrays, ("types",), ("typed",),
              "last: inference knows arrays, however their cotangents are passed"),
    ),
)  # fmt: skip
"""The stages from a base to the typed graph that the builders are given."""


def _with_direct_calls(graph: Graph, knowledge: Knowledge) -> Graph:
    direct_calls(graph, knowledge)
    return graph


DIRECT: Group[Knowledge] = Group(
    "direct",
    (
        Stage("direct_calls", _with_direct_calls, ("normal form",), ("direct calls",),
              "rules are found by the functions that users call: only when none is looked for any more"),
    ),
)  # fmt: skip
"""The stages that need the types of a derived graph."""
