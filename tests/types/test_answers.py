"""What is seen of the results of methods."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import pytest

from adbc.runtime import default_engine
from adbc.types.answers import iterators_seen


class Counted(zip):  # type: ignore[type-arg]
    def __new__(cls, *given: Any) -> Any:
        return list(given)


class Walks:
    items: list[float]

    def by_iter(self) -> Iterator[float]:
        return iter(self.items)

    def by_expression(self) -> Iterator[float]:
        return (2 * x for x in self.items)

    def in_c(self) -> Any:
        return zip(self.items, itertools.count()) if self.items else map(abs, self.items)

    def itself(self) -> Any:
        self.at = 0
        return self

    def either(self) -> Any:
        return self if self.items else self.by_expression()

    def a_list(self) -> list[float]:
        return self.items

    def a_new_list(self) -> list[float]:
        return [2 * x for x in self.items]

    def another(self, other: Any) -> Any:
        return other

    def by_a_field_of_another(self, other: Walks) -> Any:
        return other.by_expression()

    def by_a_class_with_a_say(self) -> Any:
        return Counted(self.items)

    def nothing(self) -> None:
        pass


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("by_iter", set()),
        ("by_expression", set()),
        ("in_c", set()),
        ("itself", {"__next__"}),
        ("either", {"__next__", "by_expression"}),
        ("a_list", None),
        ("a_new_list", None),
        ("another", None),
        ("by_a_field_of_another", None),
        ("by_a_class_with_a_say", None),
        ("nothing", None),
    ],
)
def test_iterators_seen(name: str, expected: set[str] | None) -> None:
    graph = default_engine().primal(getattr(Walks, name))
    assert iterators_seen(graph) == expected
