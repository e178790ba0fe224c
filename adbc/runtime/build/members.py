"""What may be asked of the members of classes that are no ordinary methods, and of names."""

from __future__ import annotations

import abc
import functools
import types
from typing import Any

from adbc.passes.normal.dropped_generators import makes_generators
from adbc.rules.lookup import RuleTable
from adbc.runtime.build.facts import AnswerFact
from adbc.runtime.build.graphs import Graphs
from adbc.runtime.build.notes import Notes
from adbc.runtime.calls.classes import (
    asks_nothing,
    cached_function,
    certain_member,
    descriptor,
    is_made_in_a_call,
    lookup,
    name_of_class,
    presence,
    setting,
    unbound,
)
from adbc.runtime.calls.derived_classes import (
    allocator,
    attribute_hook,
    derived_from,
    filled_by,
    inherited_in_c,
    is_value,
    iterated_as,
    made_by,
)
from adbc.runtime.calls.fields import get_field, set_field
from adbc.runtime.calls.plain import is_of_library
from adbc.types.answers import iterators_seen
from adbc.types.attributes import by_cache, by_descriptor, by_hook
from adbc.types.callsites import Binding

__all__ = ["Members"]


class Members(abc.ABC):
    """A part of `knowledge.Knowledge`: each answer is noted as a fact."""

    table: RuleTable
    notes: Notes
    graphs: Graphs
    descriptors: dict[Any, types.FunctionType]
    iterating: dict[tuple[types.CodeType, int], frozenset[str] | None]
    """By code and address of the globals, what has to be so that a method returns iterators."""

    @abc.abstractmethod
    def special(self, cls: type, name: str) -> types.FunctionType | None:
        """The function that the special method `name` of instances of exactly `cls` is, without a rule."""

    @abc.abstractmethod
    def bind(self, function: object, count: int, keywords: tuple[str, ...]) -> Binding | None:
        """How arguments bind to `function` if it is written in Python and can be lifted."""

    def unbound(self, cls: type, name: str) -> tuple[types.FunctionType, bool] | None:
        """The function, without a rule, of the static or class method that attribute `name` of instances of
        exactly `cls` is, unless they have a field of that name, and whether it is given the class."""
        return self._of_class(cls, "unbound", name, unbound(cls, name))

    def certain_member(self, cls: type, name: str) -> tuple[types.FunctionType, bool] | None:
        """Like `unbound`, where instances can have no field of that name, or should have none."""
        return self._of_class(cls, "certain member", name, certain_member(cls, name))

    def _of_class(
        self, cls: type, question: str, name: str, found: tuple[types.FunctionType, bool] | None
    ) -> tuple[types.FunctionType, bool] | None:
        if found is None or self.table.rows(found[0]) or self.table.rows(getattr(cls, name, None)):
            return None
        self.notes.add((cls, f"{name}.{question}"), AnswerFact(cls, question, (name,), found))
        return found

    def has(self, cls: type, name: str) -> bool | None:
        """Whether all instances of exactly `cls`, or none, have an attribute `name`, and no code is asked for
        it; None if that is not known."""
        answer = presence(cls, name)
        if answer not in ("always", "never"):
            return None
        self.notes.add((cls, f"{name}.presence"), AnswerFact(cls, "presence", (name,), answer))
        return answer == "always"

    def asks_nothing(self, cls: type, name: str) -> bool:
        """Whether no code is asked for attribute `name` of instances of exactly `cls`."""
        answer = asks_nothing(cls, name)
        if answer:
            self.notes.add((cls, f"{name}.asked"), AnswerFact(cls, "asked", (name,), True))
        return answer

    def through_descriptor(self, cls: type, name: str, way: str) -> types.FunctionType | None:
        """The function that reads (`way` is "get") or writes ("set") attribute `name` of instances of exactly
        `cls` by an object in Python that stands there in the class."""
        if way == "get" and type(lookup(cls, name)) is functools.cached_property:
            return self._through_cache(cls, name)
        found = None if is_made_in_a_call(cls) else descriptor(cls, name, way)
        if found is None or self.table.rows(found[0]) or self.table.rows(type(found[1].value)):
            return None
        self.notes.add((cls, f"{name}.{way}"), AnswerFact(cls, "descriptor", (name, way), found))
        key = cls, way, *found
        known = self.descriptors.get(key)
        if known is None:
            known = self.descriptors[key] = by_descriptor(cls, way, found[0], found[1].value)
        return known

    def _through_cache(self, cls: type, name: str) -> types.FunctionType | None:
        """The function that reads the ``functools.cached_property`` `name` of instances of exactly `cls`."""
        found = None if is_made_in_a_call(cls) else cached_function(cls, name)
        if found is None or self.table.rows(found[0]):
            return None
        self.notes.add((cls, f"{name}.cached"), AnswerFact(cls, "cached", (name,), found))
        return by_cache(found[0], name, get_field, set_field)

    def name_of_class(self, cls: type) -> str | None:
        """What ``cls.__name__`` is, if that is known of a class which was not made in a call."""
        answer = None if is_made_in_a_call(cls) else name_of_class(cls)
        if answer is not None:
            self.notes.add((cls, "().name"), AnswerFact(cls, "name", (), answer))
        return answer

    def setting(self, cls: type, name: str) -> Any | None:
        """The number or text that ``cls.name`` is, if `cls` is a class of a library."""
        found = setting(cls, name) if is_of_library(cls) else None
        if found is None:
            return None
        self.notes.add((cls, f"{name}.setting"), AnswerFact(cls, "setting", (name,), found))
        return found.value

    def is_lasting(self, cls: type) -> bool:
        """Whether `cls` was not made in a call, so that it may stand in code."""
        return not is_made_in_a_call(cls)

    def derived_from(self, cls: type) -> Any:
        """The builtin class of which a call of `cls` makes an instance, but for its class, if neither has a
        rule for that."""
        base = None if self.table.rows(cls) else derived_from(cls)
        if base is not None:
            self.notes.add((cls, "().derived"), AnswerFact(cls, "derived", (), base))
        return base

    def filled_by(self, cls: type) -> Any:
        """The ``__init__``, without a rule, that a call of `cls` runs on a new and empty list or dict of that
        class, if it does nothing else."""
        return self._constructing(cls, "filled", filled_by(cls))

    def made_by(self, cls: type) -> Any:
        """The ``__new__``, without a rule, that a call of `cls`, derived from `tuple` or `float`, runs, if it
        does nothing else."""
        return self._constructing(cls, "made", made_by(cls))

    def _constructing(self, cls: type, question: str, found: Any) -> Any:
        if found is None or is_of_library(found) or self.table.rows(found) or self.table.rows(cls):
            return None  # a library's may run as it is, which fills the object where nobody sees it
        self.notes.add((cls, f"().{question}"), AnswerFact(cls, question, (), found))
        return found

    def inherited_in_c(self, cls: type, behind: type, name: str) -> Any:
        """The method with a rule, in C, that ``super(behind, x).name`` is for an `x` of exactly `cls`, which
        is derived from a builtin container or number."""
        found = inherited_in_c(cls, behind, name)
        if found is None or not self.table.rows(found):
            return None
        key = (cls, (behind, name, "in C"))
        self.notes.add(key, AnswerFact(cls, "inherited in C", (behind, name), found))
        return found

    def is_value(self, cls: type, base: type) -> bool:
        """Whether instances of `cls`, derived from `base`, `tuple` or `float`, are values like those."""
        answer = not self.table.rows(cls) and is_value(cls, base)
        if answer:
            self.notes.add((cls, (base, "value")), AnswerFact(cls, "value", (base,), True))
        return answer

    def allocator(self, cls: type, behind: type) -> Any:
        """The ``__new__`` in C of `tuple` or `float` that ``super(behind, cls).__new__`` is, if `cls` is
        derived from it."""
        found = allocator(cls, behind)
        if found is not None:
            self.notes.add((cls, (behind, "new")), AnswerFact(cls, "allocator", (behind,), found))
        return found

    def iterated_as(self, cls: type) -> type | None:
        """`list` or `tuple`, if that is what a loop over an instance of exactly `cls` goes over."""
        base: type | None = iterated_as(cls)
        if base is not None and cls is not base:
            self.notes.add((cls, "__iter__.base"), AnswerFact(cls, "iterated", (), base))
        return base

    def attribute_hook(self, cls: type, way: str, name: str) -> Any:
        """What asks the ``__getattr__`` of `cls` for attribute `name` of an instance of exactly `cls`, unless
        that has a field of this name; if `way` is "set", the ``__setattr__`` that is given its value.  One in
        Python has no rule, and one in C has one."""
        found = None if self.table.rows(cls) else attribute_hook(cls, way, name)
        if found is None or bool(self.table.rows(found)) is (type(found) is types.FunctionType):
            return None
        self.notes.add((cls, f"{name}.hook.{way}"), AnswerFact(cls, "hook", (way, name), found))
        return found if way == "set" else by_hook(found, get_field, bool(cls.__dictoffset__))

    # -- iterators ---------------------------------------------------------------------------------------

    def asked_for_iterator(self, cls: type) -> types.FunctionType | None:
        """The ``__iter__`` of instances of exactly `cls`, if it makes no generator and what it returns is
        seen to be an iterator."""
        found = self.special(cls, "__iter__")
        if found is None or makes_generators(found.__code__) or self.bind(found, 1, ()) is None:
            return None
        names = self.returns_iterators(found)
        return None if names is None or not all(self._gives_iterators(cls, name) for name in names) else found

    def returns_iterators(self, method: types.FunctionType) -> frozenset[str] | None:
        """What has to be so that `method` returns iterators (`types.answers.iterators_seen`); None if that is
        not seen."""
        key = method.__code__, id(method.__globals__)
        if key not in self.iterating:
            count = method.__code__.co_argcount
            is_lifted = count > 0 and self.bind(method, count, ()) is not None
            self.iterating[key] = iterators_seen(self.graphs.primal(method)) if is_lifted else None
        return self.iterating[key]

    def _gives_iterators(self, cls: type, name: str) -> bool:
        function = self.special(cls, name)
        return function is not None and (name == "__next__" or makes_generators(function.__code__))
