"""Memory of a library that code which is followed and code which is run as it is both change is put back by
the pullback, in whatever order they do."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import adbc
from tests.installed import installed

SOURCE = """
from collections import deque

LIST = []
QUEUE = deque()
TABLE = {}
NAMES = set()
CACHE = {}


class State:
    pass


STATE = State()


class Box:
    def __init__(self, value):
        self.value = value


class Token:
    __slots__ = ()
    live = {}

    def __init__(self, x):
        self.live[self] = 1

    def end(self):
        return self.live.pop(self)


def content():
    return list(LIST), list(QUEUE), dict(TABLE), sorted(NAMES), dict(vars(STATE)), len(Token.live)


def push(x):
    LIST.append(2.0)
    return x


def pop():
    return LIST.pop()


def queue(x):
    QUEUE.append("a")
    return x


def take():
    return QUEUE.popleft()


def put(x):
    TABLE["w"] = "a"
    return x


def drop():
    del TABLE["w"]


def enter(x):
    STATE.mode = "on"
    return x


def leave():
    del STATE.mode


def mark(x):
    NAMES.add("m")
    return x


def unmark():
    NAMES.remove("m")


def fill(key):
    CACHE[key] = Box(len(CACHE))


def count(x):
    return x * len(CACHE)
"""

library: Any = None


@pytest.fixture(scope="module", autouse=True)
def at_hand(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    global library
    with installed(tmp_path_factory, "changing_things", SOURCE) as library:
        yield


def list_followed_first(x: Any) -> Any:
    y = library.push(x)
    return y * library.pop() * x


def queue_followed_first(x: Any) -> Any:
    y = library.queue(x)
    return y * len(library.take()) * x


def table_followed_first(x: Any) -> Any:
    y = library.put(x)
    library.drop()
    return y * x


def state_followed_first(x: Any) -> Any:
    y = library.enter(x)
    library.leave()
    return y * x


def names_followed_first(x: Any) -> Any:
    y = library.mark(x)
    library.unmark()
    return y * x


def token_followed_first(x: Any) -> Any:
    return x * x * library.Token(x).end()


def list_run_first(x: Any) -> Any:
    library.push(3.0)
    return library.LIST.pop() * x * x * (1 + len(library.LIST))


def queue_run_first(x: Any) -> Any:
    library.queue(3.0)
    y = len(library.QUEUE.popleft()) * x
    return y * x * (1 + len(library.QUEUE))


def table_run_first(x: Any) -> Any:
    library.put(3.0)
    y = len(library.TABLE.pop("w")) * x
    return y * x * (1 + len(library.TABLE))


def state_run_first(x: Any) -> Any:
    library.enter(3.0)
    del library.STATE.mode
    return x * x * (1 + len(vars(library.STATE)))


def names_run_first(x: Any) -> Any:
    library.mark(3.0)
    library.NAMES.discard("m")
    return x * x * (1 + len(library.NAMES))


def token_run_first(x: Any) -> Any:
    library.Token.live.pop(library.Token(2.0))
    return x * x * (1 + len(library.Token.live))


def both_in_turn(x: Any) -> Any:
    y = x
    for _ in range(3):
        y = library.push(y) * x
        library.push(1.0)
        y = y * library.pop()
        y = y * library.LIST.pop()
    return y * (1 + len(library.LIST))


def by_own_name(x: Any) -> Any:
    own = library.LIST
    own.append(5.0)
    library.push(2.0)
    y = own.pop() * x
    return y * library.pop() * (1 + len(own))


BOTH = [
    list_followed_first, queue_followed_first, table_followed_first, state_followed_first,
    names_followed_first, token_followed_first, list_run_first, queue_run_first, table_run_first,
    state_run_first, names_run_first, token_run_first, both_in_turn, by_own_name,
]  # fmt: skip


@pytest.mark.parametrize("speculation", ["learn", "dynamic"])
@pytest.mark.parametrize("f", BOTH)
def test_both_are_undone(f: Callable[[Any], Any], speculation: str) -> None:
    before = library.content()
    value, slope = f(1.5), (f(1.5 + 1e-6) - f(1.5 - 1e-6)) / 2e-6
    with adbc.use(adbc.Config(speculation=speculation)):
        for _ in range(3):
            assert adbc.jvp(f, (1.5,), (1.0,)) == (value, pytest.approx(slope, rel=1e-8))
            assert library.content() == before
            assert adbc.value_and_grad(f)(1.5) == (value, pytest.approx(slope, rel=1e-8))
            assert library.content() == before


def test_what_is_run_as_it_is_alone_stays() -> None:
    def f(x: Any) -> Any:
        library.fill("k")
        return library.count(x)

    library.CACHE.clear()
    assert adbc.grad(f)(2.0) == 1.0
    first = library.CACHE.pop("k")
    assert adbc.grad(f)(2.0) == 1.0
    assert library.CACHE["k"] is not first


class Owner:
    def __init__(self, value: Any) -> None:
        self.value = value


OWNERS: list[Owner] = []
LOG: list[Any] = []


def detached(x: Any) -> Any:
    owner = Owner(x)
    OWNERS.append(owner)
    end = weakref.finalize(owner, LOG.append, 3.0)
    alive = end.alive
    found = end.detach()
    OWNERS.pop()
    return owner.value * x * alive * found[2][0] * (1 + end.alive)


def called(x: Any) -> Any:
    owner = Owner(x)
    OWNERS.append(owner)
    end = weakref.finalize(owner, LOG.append, x)
    end()
    end()
    OWNERS.pop()
    return owner.value * LOG.pop() * (1 + len(LOG))


def called_on_a_constant(x: Any) -> Any:
    owner = Owner(2.0)
    end = weakref.finalize(owner, LOG.append, 3.0)
    end()
    return owner.value * x * LOG[-1] * len(LOG)


@pytest.mark.parametrize("speculation", ["learn", "dynamic"])
@pytest.mark.parametrize("f", [detached, called, called_on_a_constant])
def test_finalisers_may_be_detached_and_called(f: Callable[[Any], Any], speculation: str) -> None:
    weakref.finalize(Owner(0.0), len, "")  # the first of a process is registered with atexit
    registered = len(weakref.finalize._registry)
    LOG.clear()
    value = f(1.5)
    LOG.clear()
    above = f(1.5 + 1e-6)
    LOG.clear()
    slope = (above - value) / 1e-6
    with adbc.use(adbc.Config(speculation=speculation)):
        for _ in range(3):
            LOG.clear()
            assert adbc.jvp(f, (1.5,), (1.0,)) == (value, pytest.approx(slope, rel=1e-5))
            LOG.clear()
            assert adbc.value_and_grad(f)(1.5) == (value, pytest.approx(slope, rel=1e-5))
            assert (LOG, len(weakref.finalize._registry)) == ([], registered)
