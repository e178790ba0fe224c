"""What may be asked of the members of classes that are no ordinary methods, and of names."""

from __future__ import annotations

import types

from adbc.rules.lookup import RuleTable
from adbc.runtime.build.facts import AnswerFact
from adbc.runtime.build.notes import Notes
from adbc.runtime.calls.classes import (
    asks_nothing,
    certain_member,
    is_made_in_a_call,
    name_of_class,
    presence,
    unbound,
)

__all__ = ["Members"]


class Members:
    """A part of `knowledge.Knowledge`: each answer is noted as a fact."""

    table: RuleTable
    notes: Notes

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

    def name_of_class(self, cls: type) -> str | None:
        """What ``cls.__name__`` is, if that is known of a class which was not made in a call."""
        answer = None if is_made_in_a_call(cls) else name_of_class(cls)
        if answer is not None:
            self.notes.add((cls, "().name"), AnswerFact(cls, "name", (), answer))
        return answer

    def is_lasting(self, cls: type) -> bool:
        """Whether `cls` was not made in a call, so that it may stand in code."""
        return not is_made_in_a_call(cls)
