"""What may be asked of the members of classes that are no ordinary methods, and of names."""

from __future__ import annotations

import types
from typing import Any

from adbc.rules.lookup import RuleTable
from adbc.runtime.build.facts import AnswerFact
from adbc.runtime.build.notes import Notes
from adbc.runtime.calls.classes import (
    asks_nothing,
    certain_member,
    descriptor,
    is_made_in_a_call,
    name_of_class,
    presence,
    setting,
    unbound,
)
from adbc.runtime.calls.plain import is_of_library
from adbc.types.attributes import by_descriptor

__all__ = ["Members"]


class Members:
    """A part of `knowledge.Knowledge`: each answer is noted as a fact."""

    table: RuleTable
    notes: Notes
    descriptors: dict[Any, types.FunctionType]

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
        found = None if is_made_in_a_call(cls) else descriptor(cls, name, way)
        if found is None or self.table.rows(found[0]) or self.table.rows(type(found[1].value)):
            return None
        self.notes.add((cls, f"{name}.{way}"), AnswerFact(cls, "descriptor", (name, way), found))
        key = cls, way, *found
        known = self.descriptors.get(key)
        if known is None:
            known = self.descriptors[key] = by_descriptor(cls, way, found[0], found[1].value)
        return known

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
