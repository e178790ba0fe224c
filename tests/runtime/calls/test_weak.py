"""Weak references and finalisers: an object that may have died in Python is not handed on."""

from __future__ import annotations

import os
import tempfile
import weakref
from collections.abc import Callable
from typing import Any

import pytest

import adbc
from adbc.errors import UnsupportedError

pytestmark = pytest.mark.filterwarnings("ignore:Implicitly cleaning up:ResourceWarning")

LOG: list[int] = []


class Box:
    def __init__(self, v: Any = None) -> None:
        self.v = v


class Node:
    def __init__(self, v: Any, parent: Any = None) -> None:
        self.v = v
        self.children: list[Any] = []
        self.parent = None if parent is None else weakref.ref(parent)
        if parent is not None:
            parent.children.append(self)

    def total(self) -> Any:
        above = None if self.parent is None else self.parent()
        return self.v if above is None else self.v * above.total()


class Finalised:
    def __init__(self, v: Any) -> None:
        self.v = v

    def __del__(self) -> None:
        LOG.append(1)


class Resetting:
    """Its finaliser is not noticed: nobody sees the object any more."""

    def __init__(self, v: Any) -> None:
        self.v = v

    def __del__(self) -> None:
        self.v = None


class ResettingWithASetter(Resetting):
    def __setattr__(self, name: str, value: Any) -> None:
        LOG.append(name)
        super().__setattr__(name, value)


HELD = Box(2.0)
CACHE: Any = weakref.WeakKeyDictionary()
weakref.finalize(HELD, int).detach()  # the first one says that the process is to wait for all of them
NAMED: Any = weakref.WeakValueDictionary({"held": HELD})


# -- held ----------------------------------------------------------------------------------------------------


def by_a_variable(x: Any) -> Any:
    box = Box(x)
    seen = weakref.ref(box)
    return seen().v * box.v  # type: ignore[union-attr]  # it lives


def by_variables_of_callers(x: Any) -> Any:
    root = Node(x)
    child = Node(2.0 * x, root)
    leaf = Node(x + 1.0, parent=child)
    return leaf.total() * child.v


def by_a_module(x: Any) -> Any:
    if HELD not in CACHE:
        CACHE[HELD] = 3.0
    return x * CACHE[HELD] * len(CACHE) * NAMED["held"].v * x


def by_an_argument(x: Any) -> Any:
    def inside(box: Any) -> Any:
        box.v = box.v * x
        return REFERENCES[0]().v * x

    return inside(HELD)


REFERENCES = [weakref.ref(HELD)]


# -- not held ------------------------------------------------------------------------------------------------


def deleted(x: Any) -> Any:
    box = Box()
    seen = weakref.ref(box)
    del box
    return x if seen() is None else 2.0 * x


def active_and_deleted(x: Any) -> Any:
    box = Box(x)
    seen = weakref.ref(box)
    y = box.v * 3.0
    box.v = y * x
    del box
    return y if seen() is None else 2.0 * y


def rebound(x: Any) -> Any:
    box = Box(x)
    seen = weakref.ref(box)
    box = Box(2.0 * x)
    return box.v if seen() is None else 2.0 * box.v


def made(x: Any) -> Any:
    box = Box(x)
    return weakref.ref(box), box.v


def left_with_its_function(x: Any) -> Any:
    seen, y = made(x)
    return y if seen() is None else 2.0 * y


def never_bound(x: Any) -> Any:
    seen = weakref.ref(Box(x))
    return x if seen() is None else 2.0 * x


def popped(x: Any) -> Any:
    boxes = [Box(x), Box(2.0 * x)]
    seen = [weakref.ref(box) for box in boxes]
    boxes.pop()
    return sum([x for r in seen if r() is not None])


def of_a_loop(x: Any) -> Any:
    seen = []
    for k in range(3):
        box = Box(x * k)
        seen.append(weakref.ref(box))
    return sum([x for r in seen if r() is not None])


def counted_in_a_set(x: Any) -> Any:
    boxes: Any = weakref.WeakSet()
    box = Box(x)
    boxes.add(box)
    y = box.v
    del box
    return y * (1.0 + len(boxes))


def counted_as_keys(x: Any) -> Any:
    boxes: Any = weakref.WeakKeyDictionary()
    box = Box(x)
    boxes[box] = 1.0
    y = box.v
    del box
    return y * (1.0 + len(boxes))


def got_by_name(x: Any) -> Any:
    boxes: Any = weakref.WeakValueDictionary()
    box = Box(x)
    boxes["a"] = box
    y = box.v
    del box
    return y if boxes.get("a") is None else 2.0 * y


def with_a_callback(x: Any) -> Any:
    done: list[int] = []
    box = Box(x)
    seen = weakref.ref(box, lambda _: done.append(1))
    y = box.v
    del box
    return y * (1.0 + len(done)) if seen else x


def finalised(x: Any) -> Any:
    del LOG[:]
    box = Finalised(x)
    y = box.v
    del box
    return y * (1.0 + len(LOG))


def finalised_by_a_setter(x: Any) -> Any:
    return ResettingWithASetter(x).v * (1.0 + len(LOG))


def reset_when_it_dies(x: Any) -> Any:
    box = Resetting(x)
    y = box.v
    box = Resetting(y * x)
    return box.v * y


def references_counted(x: Any) -> Any:
    box = Box(x)
    seen = [weakref.ref(box)]
    return box.v * weakref.getweakrefcount(box) * len(seen)


def with_a_finaliser(x: Any) -> Any:
    done: list[Any] = []
    box = Box(x)
    weakref.finalize(box, done.append, x)
    y = box.v
    del box
    return y + sum(done)


def with_a_finaliser_of_constants(x: Any) -> Any:
    done: list[int] = []
    box = Box()
    weakref.finalize(box, done.append, 1)
    del box
    return x * (1.0 + len(done))


def with_a_finaliser_that_is_asked(x: Any) -> Any:
    box = Box()
    finaliser = weakref.finalize(box, int)
    del box
    return x * (2.0 + finaliser.alive)


def with_a_finaliser_of_a_library(x: Any) -> Any:
    folder = tempfile.TemporaryDirectory()
    name = folder.name
    del folder
    return x * (2.0 + os.path.exists(name))


class Closed:
    """What it has is given back by its method, or when it dies."""

    def __init__(self, v: Any) -> None:
        self.v = v
        self.log: list[Any] = []
        self._finaliser = weakref.finalize(self, self.log.append, v)

    def close(self) -> None:
        if self._finaliser.alive:
            self._finaliser()

    def leave(self) -> Any:
        return self._finaliser.detach()


def closed_by_a_finaliser(x: Any) -> Any:
    closed = Closed(2.0 * x)
    y = closed.v * x
    closed.close()
    return y * sum(closed.log)


def left_by_a_finaliser(x: Any) -> Any:
    closed = Closed(x)
    left = closed.leave()
    return closed.v * (1.0 + len(closed.log) + len(left)) * x


def in_a_folder(x: Any) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        count = len(os.listdir(folder))
    return x * (2.0 + count + os.path.exists(folder)) * x


DEAD = [
    deleted, active_and_deleted, rebound, left_with_its_function, never_bound, popped, of_a_loop,
    counted_in_a_set, counted_as_keys, got_by_name, with_a_callback, finalised, finalised_by_a_setter,
    references_counted, with_a_finaliser, with_a_finaliser_of_constants, with_a_finaliser_that_is_asked,
    with_a_finaliser_of_a_library,
]  # fmt: skip
ALIVE = [
    by_a_variable, by_variables_of_callers, by_a_module, by_an_argument, reset_when_it_dies,
    closed_by_a_finaliser, left_by_a_finaliser, in_a_folder,
]  # fmt: skip
MODES = ["learn", "never", "dynamic", "interpret"]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("f", DEAD, ids=lambda f: f.__name__)
def test_what_may_have_died_is_refused(f: Callable[[float], Any], mode: Any) -> None:
    with adbc.use(adbc.Config(speculation=mode)):
        for _ in range(2):
            with pytest.raises(UnsupportedError, match=r"dies|seen to hold|counted"):
                adbc.value_and_grad(f)(1.5)
            with pytest.raises(UnsupportedError, match=r"dies|seen to hold|counted"):
                adbc.jvp(f, (1.5,), (1.0,))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("f", ALIVE, ids=lambda f: f.__name__)
def test_what_the_program_holds_is_given(f: Callable[[float], Any], mode: Any) -> None:
    HELD.v = 2.0
    h = 1e-6
    wanted = f(1.5)
    HELD.v = 2.0
    ahead = f(1.5 + h)
    HELD.v = 2.0
    slope = (ahead - f(1.5 - h)) / (2.0 * h)
    with adbc.use(adbc.Config(speculation=mode)):
        for _ in range(2):
            HELD.v = 2.0
            value, gradient = adbc.value_and_grad(f)(1.5)
            assert (value, gradient) == (pytest.approx(wanted), pytest.approx(slope, rel=1e-6))
            HELD.v = 2.0
            assert adbc.jvp(f, (1.5,), (1.0,)) == (pytest.approx(wanted), pytest.approx(gradient))


def test_what_a_caller_holds_does_not_hide_what_the_program_holds() -> None:
    """More objects than are looked at, in a variable of the caller."""
    many = [[k] for k in range(250_000)]
    assert adbc.value_and_grad(by_a_variable)(1.5) == (2.25, 3.0)
    assert len(many) == 250_000


class Listener:
    def __init__(self, weight: Any) -> None:
        self.weight = weight
        self.heard: Any = 0.0

    def hear(self, x: Any) -> None:
        self.heard = self.heard + self.weight * x

    @staticmethod
    def echo(x: Any) -> Any:
        return x * x


def published(x: float, listeners: list[Listener]) -> Any:
    methods = [weakref.WeakMethod(listener.hear) for listener in listeners]
    echo = weakref.ref(Listener.echo)
    for _ in range(3):
        for reference in methods:
            method = reference()
            if method is not None:
                method(x * echo()(x))  # type: ignore[misc]
    return sum(listener.heard for listener in listeners)


def test_functions_of_classes_are_found_by_their_names(monkeypatch: pytest.MonkeyPatch) -> None:
    """To look for who holds something takes as long as the process has objects, each time."""

    def looked(obj: object) -> bool:
        raise AssertionError(f"holders of {obj!r} are looked for")

    monkeypatch.setattr("adbc.runtime.calls.weak._is_global", looked)
    expected = pytest.approx(7.5 * 1.5**3), pytest.approx(50.625)
    given = [Listener(2.0), Listener(0.5)]
    assert adbc.value_and_grad(published)(1.5, given) == expected
    given = [Listener(2.0), Listener(0.5)]
    assert adbc.jvp(published, (1.5, given), (1.0, None)) == expected


def impostor() -> Any:
    def inner(y: float) -> float:
        return y * y

    inner.__qualname__ = "Listener.hear"
    return inner


def of_impostor(x: float) -> Any:
    kept = [impostor()]
    reference = weakref.ref(kept[0])
    kept.pop()
    return reference()(x)


def test_a_function_that_only_says_it_stands_somewhere_may_be_dead() -> None:
    with pytest.raises(UnsupportedError, match="nothing in the program is seen to hold"):
        adbc.grad(of_impostor)(1.0)
    with pytest.raises(UnsupportedError, match="nothing in the program is seen to hold"):
        adbc.jvp(of_impostor, (1.0,), (1.0,))
