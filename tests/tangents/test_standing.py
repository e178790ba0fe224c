"""Whether nothing has changed in objects is seen as `differs` sees it of each."""

from __future__ import annotations

import collections
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from adbc.tangents.contents import contents
from adbc.tangents.standing import Standing, is_alike, same_row


class Plain:
    def __init__(self) -> None:
        self.value = 1.5
        self.other = [2.0]


class Slotted:
    __slots__ = ("late", "value")

    def __init__(self) -> None:
        self.value = 1.5


class Full(Slotted):
    __slots__ = ("__dict__",)

    def __init__(self) -> None:
        super().__init__()
        self.late, self.more = 2.5, 3.5


class Titled:
    __slots__ = ("title",)


class Hiding(Titled):
    """One whose class hides the slot by an attribute, so that what is assigned stands in its dictionary."""

    title = None

    def __init__(self) -> None:
        self.title = 1.5


class Asking(Plain):
    def __getattribute__(self, name: str) -> Any:
        raise AssertionError("nobody may be asked")


class Named(dict):
    def __iter__(self) -> Any:
        raise AssertionError("nobody may be asked")


def _of_thread() -> Any:
    local = threading.local()
    local.value = 1.0
    return local


def _replace(x: Any) -> None:
    vars(x)["value"] = float("2.5")


CHANGES: dict[str, tuple[Callable[[], Any], Callable[[Any], object]]] = {
    "attribute": (Plain, _replace),
    "new attribute": (Plain, lambda x: setattr(x, "new", 1.0)),
    "attribute gone": (Plain, lambda x: delattr(x, "value")),
    "within": (Plain, lambda x: x.other.append(1.0)),
    "dictionary": (Plain, lambda x: setattr(x, "__dict__", dict(vars(x)))),
    "slot": (Full, lambda x: setattr(x, "value", 7.0)),
    "slot beside": (Full, lambda x: setattr(x, "more", 7.0)),
    "slot emptied": (Full, lambda x: delattr(x, "late")),
    "slot filled": (Slotted, lambda x: setattr(x, "late", 7.0)),
    "slot hidden": (Hiding, lambda x: setattr(x, "title", 7.0)),
    "list": (lambda: [1.0, [2.0]], lambda x: x.__setitem__(0, float("3.0"))),
    "longer list": (lambda: [1.0], lambda x: x.append(1.0)),
    "dict": (lambda: {"a": 1.0}, lambda x: x.update(a=float("3.0"))),
    "keys": (lambda: {"a": None, "b": None}, lambda x: (x.pop("a"), x.update(c=None))),
    "texts": (lambda: ["a", "b", 1], lambda x: x.__setitem__(1, "c")),
    "a text replaced by a list": (lambda: ["a", "b"], lambda x: x.__setitem__(1, [1.0])),
    "a text replaced by an array": (lambda: ["a", "b"], lambda x: x.__setitem__(1, np.zeros(2))),
    "texts by name": (lambda: {"a": "b", "c": None}, lambda x: x.update(c="d")),
    "an equal number": (lambda: {"a": 1.0, "b": "c"}, lambda x: x.update(a=float("1.0"))),
    "a whole number replaced by an equal float": (lambda: {"a": 1, "b": "c"}, lambda x: x.update(a=1.0)),
    "a whole number in a row": (lambda: [1, 2], lambda x: x.__setitem__(0, 1.0)),
    "a whole number in a table": (lambda: [[1, 2], [3]], lambda x: x[0].__setitem__(0, 1.0)),
    "a whole number in a field": (lambda: Plain(), lambda x: setattr(x, "count", 1.0)),
    "an equal list": (lambda: ["a", [1.0]], lambda x: x.__setitem__(1, [1.0])),
    "other keys": (lambda: {1: "a", (2, 3): "b"}, lambda x: (x.pop(1), x.update({4: "a"}))),
    "own dict": (lambda: Named(a=1.0), lambda x: dict.update(x, a=float("3.0"))),
    "queue": (lambda: collections.deque([1.0]), lambda x: x.rotate() or x.append(2.0)),
    "set": (lambda: {1.0}, lambda x: x.add(2.0)),
    "asking": (Asking, lambda x: object.__setattr__(x, "value", 4.0)),
    "of a thread": (_of_thread, lambda x: setattr(x, "value", 4.0)),
    "of an array": (
        lambda: np.zeros(2).view(type("Own", (np.ndarray,), {})),
        lambda x: setattr(x, "info", 4.0),
    ),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_is_seen(name: str) -> None:
    make, change = CHANGES[name]
    x = make()
    others = [Plain(), Full(), {"k": [1.0]}]
    standing = Standing(contents([x, *others], with_arrays=False))
    assert standing.stands()
    change(x)
    assert not standing.stands()


def test_what_is_equal_is_the_same_where_it_leads_nowhere() -> None:
    x = {"name": "".join(["a", "b"]), "count": 1000}
    standing = Standing(contents([x]))
    x.update(name="".join(["a", "b"]), count=int("1000"))
    assert standing.stands()


@pytest.mark.parametrize("x", ["a", 1, None, list, Plain, np, test_a_change_is_seen, property()])
def test_what_is_alike(x: Any) -> None:
    assert is_alike(x)
    assert same_row([x], [x])
    assert not same_row([np.zeros(2)], [x])
    assert not same_row([x, x], [x])


class AnswersToAll(type):
    def __eq__(cls, other: object) -> bool:
        return True

    __hash__ = type.__hash__


@pytest.mark.parametrize("x", [1.0, [1.0], (1.0,), np.zeros(2), Plain(), AnswersToAll("Answering", (), {})])
def test_what_is_not_alike(x: Any) -> None:
    assert not is_alike(x)
