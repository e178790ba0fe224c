"""What library code changes while it runs as it is, and what it is given: companions go with values."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import adbc
from adbc.errors import MissingRuleError, UnsupportedError
from adbc.testing import test_rule as check_rule
from tests.installed import installed

X = 1.3
SOURCE = """
class Reordered:
    def __init__(self, value):
        self.d = {"x": 0.0, "k": 1.0}
        self.move()
        self.d["x"] = value
        self.first, self.second = self.d.values()

    def move(self):
        self.d["x"] = self.d.pop("x")


class Filled:
    def __init__(self, value):
        self.parts = {}
        self.inner = {"a": {}}
        self.add("n", 3.0)
        self.inner["a"]["value"] = value
        self.value = value

    def add(self, name, number):
        self.parts[name] = number
        self.inner["a"][name] = number
        self.inner["b"] = [number]


class Replaced:
    def __init__(self, value):
        self.state = {"rows": [1.0, 2.0], "table": {"u": 1.0}}
        self.reset()
        self.state["table"]["v"] = value
        self.state["rows"].append(value)

    def reset(self):
        self.state["table"] = {"w": 5.0}
        self.state["rows"] = [7.0]
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with installed(tmp_path_factory, "changing_things", SOURCE) as module:
        yield module


def reordered(library: Any) -> Callable[[Any], Any]:
    def f(x: Any) -> Any:
        made = library.Reordered(x)
        return made.second * x + made.first

    return f


def filled(library: Any) -> Callable[[Any], Any]:
    def f(x: Any) -> Any:
        made = library.Filled(x)
        inner = made.inner["a"]
        return made.parts["n"] * made.value + inner["value"] * inner["n"] + made.inner["b"][0] * x

    return f


def replaced(library: Any) -> Callable[[Any], Any]:
    def f(x: Any) -> Any:
        state = library.Replaced(x).state
        return state["table"]["v"] * state["table"]["w"] + state["rows"][1] * state["rows"][0] * x

    return f


@pytest.mark.parametrize("guess", adbc.config.SPECULATION)
@pytest.mark.parametrize("make", [reordered, filled, replaced])
def test_dicts_of_objects(library: Any, make: Callable[[Any], Any], guess: str) -> None:
    f = make(library)
    with adbc.use(adbc.Config(speculation=guess)):
        for _ in range(2):
            check_rule(f, 1.5)


class Asking:
    nothing = None
    two = 2.0

    def __init__(self, x: Any) -> None:
        self.x = x

    def __getattr__(self, name: str) -> float:
        return 3.0


class Lazy(Asking):
    @property
    def size(self) -> Any:
        if self.nothing is None:
            self.nothing = {"l": self.x}
        return self.nothing["l"]


@pytest.mark.parametrize("guess", adbc.config.SPECULATION)
def test_an_attribute_that_is_none_in_the_class_is_there(guess: str) -> None:
    def f(x: Any) -> Any:
        a = Asking(x)
        return x * a.two if a.nothing is None else 5.0 * x

    def g(x: Any) -> Any:
        a = Asking(x)
        return x * a.missing * a.x

    with adbc.use(adbc.Config(speculation=guess)):
        check_rule(f, 2.5)
        check_rule(g, 2.5)
        check_rule(lambda x: x * Lazy(x).size, 2.5)


TURNING = """
import numpy as np


def conjugate(q):
    return np.array(q) * np.array([1.0, -1.0])


def doubled(q):
    return np.asarray(q) * 2.0


def product(a, b):
    x, y = a
    u, v = b
    return np.array([x * u - y * v, x * v + y * u])


def norm(q):
    return np.sqrt(np.dot(q, q))


def rotated(v, q):
    w = np.zeros(2)
    w[:] = v
    return product(q, product(w, conjugate(q)))
"""


def _installed(paths: pytest.TempPathFactory, name: str, text: str) -> Iterator[Any]:
    """The module `name` with this text, for as long as a fixture lasts: a library's, by where it stands."""
    folder = paths.mktemp("installed") / "site-packages"
    folder.mkdir()
    (folder / f"{name}.py").write_text(text)
    sys.path.insert(0, str(folder))
    yield importlib.import_module(name)
    sys.path.remove(str(folder))
    del sys.modules[name]


@pytest.fixture(scope="module")
def turning(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    yield from _installed(tmp_path_factory, "turning_things", TURNING)


@pytest.mark.parametrize("warm_after", [0, 1, 40])
def test_new_arrays_given_to_libraries_have_shadows(turning: Any, warm_after: int) -> None:
    programs = [
        lambda q: turning.conjugate(q / 2.0) * q,
        lambda q: turning.doubled(q / 2.0).sum() * q[0],
        lambda q: turning.rotated([1.0, 2.0], q / 2.0),
        lambda q: turning.product(q, turning.conjugate(q / turning.norm(q))),
    ]
    with adbc.use(adbc.Config(warm_after=warm_after)):
        for f in programs:
            for _ in range(3):
                check_rule(f, np.array([0.7, 0.2]))


LAZY = """
import numpy as np


class Lazy:
    def __init__(self):
        self.v = 1.0
        self.a = np.ones(4)

    def expressions(self, count):
        return (self.v * i for i in range(count))

    def mapped(self, count):
        return map(lambda i: self.v * i, range(count))

    def of_array(self, count):
        return (self.a[i] * i for i in range(count))
"""


@pytest.fixture(scope="module")
def lazy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    yield from _installed(tmp_path_factory, "lazy_things", LAZY)


@pytest.mark.parametrize("name", ["expressions", "mapped", "of_array"])
def test_a_lazy_iterator_of_a_library_reads_what_was_set_since(lazy: Any, name: str) -> None:
    def made(x: Any) -> Any:
        box = lazy.Lazy()
        given = getattr(box, name)(4)
        box.v = x
        box.a[:] = x
        return given

    def summed(x: Any) -> Any:
        return sum(made(x)) * x

    def unpacked(x: Any) -> Any:
        _, second, *_ = made(x)
        return second * x

    def looped(x: Any) -> Any:
        total = 0.0
        for v in made(x):
            total += v * x
        return total

    def untouched(x: Any) -> Any:
        return sum(v * x for v in getattr(lazy.Lazy(), name)(4))

    for f, slope in ((summed, 12.0 * X), (unpacked, 2.0 * X), (looped, 12.0 * X)):
        for _ in range(3):
            for derivative in (adbc.grad(f), lambda x, f=f: adbc.jvp(f, (x,), (1.0,))[1]):
                try:
                    found = derivative(X)
                except (MissingRuleError, UnsupportedError):
                    continue
                assert found == pytest.approx(slope)
    check_rule(untouched, X)
