"""Facts that answers about functions rest on, which are kept with the answers.

What a function returns, or does to its arguments, may follow from what its classes and global names are.  So
a rule that was built on such an answer depends on the same facts, also if the answer had been given before,
to somebody else; and an answer whose facts do not hold any more is no answer.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

from adbc.ir.graph import Graph
from adbc.runtime.build.derived import Derived
from adbc.runtime.build.facts import Fact, NameFact

__all__ = ["Notes"]

Key = tuple[Any, ...]


class Notes:
    """The facts behind the answers of one `knowledge.Knowledge`."""

    def __init__(self, building: Sequence[Derived]) -> None:
        self.building = building
        """The rules that are being built, the innermost last: that depends on what is noted."""
        self.kept: dict[Key, dict[Key, Fact]] = {}
        """By answer, the facts that it rests on."""
        self._open: list[dict[Key, Fact]] = []
        """The facts of the answers that are being looked for, the innermost last."""
        self._good: set[Key] = set()
        """Answers whose facts have been looked at since the building of a rule began."""

    def add(self, key: Key, fact: Fact) -> None:
        """Note `fact`; facts with the same key are the same."""
        if self._open:
            self._open[-1][key] = fact
        elif self.building:
            self.building[-1].note(key, fact)

    def add_names(self, graph: Graph, globals: dict[str, Any]) -> None:
        """Note what names lead to in the function of `graph`."""
        for guard in graph.guards:
            self.add(("name", id(globals), guard.path), NameFact(globals, guard.path, guard.value))

    @contextlib.contextmanager
    def collected(self) -> Iterator[dict[Key, Fact]]:
        """The facts that are noted in the block, which are not noted elsewhere."""
        facts: dict[Key, Fact] = {}
        self._open.append(facts)
        try:
            yield facts
        finally:
            self._open.pop()

    @contextlib.contextmanager
    def behind(self, answer: Key) -> Iterator[None]:
        """Keep the facts that are noted in the block as those that `answer` rests on."""
        with self.collected() as facts:
            yield
        self.kept[answer] = facts
        if self.building:
            self._good.add(answer)
        self._pass_on(facts)

    def recall(self, answer: Key) -> bool:
        """Whether the facts that `answer`, given before, rests on still hold; if so, they are noted."""
        facts = self.kept.get(answer)
        if not facts:
            return True
        if answer not in self._good or not self.building:
            if not all(fact.holds() for fact in facts.values()):
                return False
            if self.building:
                self._good.add(answer)
        self._pass_on(facts)
        return True

    def end(self) -> None:
        """A rule has been built that no other is waiting for: facts may change before the next."""
        self._good.clear()

    def _pass_on(self, facts: dict[Key, Fact]) -> None:
        for key, fact in facts.items():
            self.add(key, fact)
