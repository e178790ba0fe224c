"""Types are written into a graph, and what follows from them at once is done, until nothing more follows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

from adbc.ir.graph import Graph
from adbc.ir.values import Value
from adbc.passes.normal.foreigncall_to_call import normal_call
from adbc.passes.stages import Stage, repeat
from adbc.passes.typed.builtin_methods import builtin_methods, drop_method_reads
from adbc.passes.typed.constructions import ConstructionKnowledge, constructions
from adbc.passes.typed.container_calls import container_calls
from adbc.passes.typed.decided_branches import BranchKnowledge, decided_branches
from adbc.passes.typed.dicts_of_classes import dicts_of_classes
from adbc.passes.typed.known_attributes import AttributeKnowledge, is_known_read, known_attributes
from adbc.passes.typed.known_elements import ElementKnowledge, known_elements
from adbc.passes.typed.known_names import NameKnowledge, known_names
from adbc.passes.typed.list_elements import kept_lists
from adbc.passes.typed.object_values import Result
from adbc.passes.typed.replacements import replacements
from adbc.passes.typed.special_methods import SpecialKnowledge, special_methods
from adbc.passes.typed.spreads import spread_calls
from adbc.passes.typed.unpackings import list_unpackings
from adbc.types import AbstractType, infer
from adbc.types.lattice import memory_type

if TYPE_CHECKING:
    from adbc.runtime.build.knowledge import Knowledge

__all__ = ["SETTLING", "Informed", "Sources", "infer_types", "kept_lists_of"]


class Sources(
    ConstructionKnowledge,
    SpecialKnowledge,
    AttributeKnowledge,
    BranchKnowledge,
    ElementKnowledge,
    NameKnowledge,
    Protocol,
):
    """Where the types of results come from: `knowledge.Knowledge`."""

    def oracle(
        self, function: object, types_: Sequence[AbstractType], keywords: tuple[str, ...]
    ) -> AbstractType: ...

    def sample(
        self, function: object, values: Sequence[Value], keywords: tuple[str, ...]
    ) -> AbstractType | None: ...


class Informed:
    """`Sources` of which another function is asked first what results of calls are."""

    def __init__(self, sources: Sources, result: Result) -> None:
        self.sources = sources
        self.result = result

    def __getattr__(self, name: str) -> Any:
        return getattr(self.sources, name)

    def oracle(
        self, function: object, types_: Sequence[AbstractType], keywords: tuple[str, ...]
    ) -> AbstractType:
        found = self.result(function, types_, keywords)
        return self.sources.oracle(function, types_, keywords) if found is None else found


SETTLING: tuple[Stage[Sources], ...] = (
    Stage("dicts_of_classes", lambda graph, sources: dicts_of_classes(graph), ("types",), (),
          "gives dicts, whose methods have rules, where objects are that are treated like any dict"),
    Stage("builtin_methods", lambda graph, sources: builtin_methods(graph), ("types",), (),
          "gives calls of what classes of C define, which have rules, and these types"),
    Stage("known_elements", lambda graph, sources: known_elements(graph, sources), ("types",), (),
          "gives numbers where sequences are read of which the elements are known"),
    Stage("list_unpackings", lambda graph, sources: list_unpackings(graph), ("types",), (),
          "gives elements of lists, which have the type that is known of all of them"),
    Stage("spread_calls", lambda graph, sources: spread_calls(graph, normal_call, is_guarded=False),
          ("types",), (), "gives calls of which all arguments are seen, and with them the types of results"),
    Stage("known_names", lambda graph, sources: known_names(graph, sources), ("types",), (),
          "gives classes that are called, and attributes that are named, by constants"),
    Stage("known_attributes", lambda graph, sources: known_attributes(graph, sources), ("types",), (),
          "gives calls of known functions and classes, where they are called through a class or an instance"),
    Stage("replacements", lambda graph, sources: replacements(graph, sources), ("types",), (),
          "gives calls of known classes"),
    Stage("container_calls", lambda graph, sources: container_calls(graph), ("types",), (),
          "gives displays, copies and slices, which have types, where classes of containers are called"),
    Stage("constructions", lambda graph, sources: constructions(graph, sources, sources.oracle),
          ("types",), (), "gives instances of known classes, whose methods are known then"),
    Stage("special_methods", lambda graph, sources: special_methods(graph, sources), ("types",), (),
          "gives calls of functions that are known, where operators and properties ask known classes"),
    Stage("decided_branches", lambda graph, sources: decided_branches(graph, sources), ("types",), (),
          "leaves out what is not gone to, so that what comes together is of one type more often"),
)  # fmt: skip
"""The passes that types make possible, and that make more types known."""


def infer_types(graph: Graph, parameters: Sequence[AbstractType], sources: Sources) -> AbstractType:
    """Write types into `graph`, of which the parameters have these types, and what follows from them; returns
    that of the result."""
    found = infer(graph, parameters, sources.oracle, sources.sample)
    while repeat(SETTLING, graph, sources):
        found = infer(graph, parameters, sources.oracle, sources.sample)
    return found


def kept_lists_of(graph: Graph, parameters: Sequence[AbstractType], knowledge: Knowledge) -> tuple[bool, ...]:
    """Whether nobody else writes into lists while the function of `graph`, of which the parameters have these
    types, runs, and which of the lists among these it keeps as they are; `graph` is changed."""
    knowledge.infer(graph, tuple(map(memory_type, parameters)))
    drop_method_reads(graph, lambda read: is_known_read(read, knowledge))
    return kept_lists(graph, parameters, knowledge)
