"""What code of a library reaches by names is looked through once; whatever changes there is seen by the next
call, and what is gone from there is let go."""

from __future__ import annotations

import gc
import types
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import adbc
from adbc.runtime.calls.library_memory import depend
from adbc.runtime.calls.reach import Reach, reach_of
from tests.installed import installed

SOURCE = """
import weakref

ROWS = []
TABLE = {"of": {"tables": {}}}
LATE = None
NUMBER = 2.0
WEAK = weakref.WeakValueDictionary()


class Box:
    def __init__(self, value):
        self.value = value
        self.hits = 0


class Registry:
    known = {}
    single = None

    @classmethod
    def total(cls, factor):
        return factor * sum(box.value for box in cls.known.values())

    @staticmethod
    def of_single(factor):
        return factor * Registry.single.value


BOX = Box(1.5)


def make_cell():
    held = None

    def put(x):
        nonlocal held
        held = x

    def of_held(factor):
        return factor * float(held[0])

    return put, of_held


put, of_held = make_cell()


def total(factor):
    return factor * sum(float(row[0]) for row in ROWS)


def of_tables(factor):
    return factor * sum(float(x[0]) for x in TABLE["of"]["tables"].values())


def of_late(factor):
    return factor * float(LATE[0])


def make_late():
    global UNHEARD_OF
    UNHEARD_OF = []


def of_unheard(factor):
    return factor * sum(float(x[0]) for x in UNHEARD_OF)


def of_default(factor, rows=[]):
    return factor * sum(float(x[0]) for x in rows)


def of_attribute(factor):
    return factor * sum(float(x[0]) for x in of_attribute.rows)


of_attribute.rows = []


def of_weak(factor):
    return factor * sum(float(x.value[0]) for x in WEAK.values())


def count(factor):
    BOX.hits += 1
    return factor * BOX.value
"""

library: Any = None


@pytest.fixture(autouse=True)
def at_hand(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    global library
    with installed(tmp_path_factory, "reaching_things", SOURCE) as library:
        yield


def rows(x: Any) -> None:
    library.ROWS.append(x)


def tables(x: Any) -> None:
    library.TABLE["of"]["tables"]["x"] = x


def late(x: Any) -> None:
    library.LATE = [x[0]] if isinstance(x, list) else x


def unheard(x: Any) -> None:
    library.make_late()
    library.UNHEARD_OF.append(x)


def default(x: Any) -> None:
    library.of_default.__defaults__[0].append(x)


def other_default(x: Any) -> None:
    library.of_default.__defaults__ = ([x],)


def attribute(x: Any) -> None:
    library.of_attribute.rows.append(x)


def cell(x: Any) -> None:
    library.put(x)


def weak(x: Any) -> None:
    x.flags.writeable = True
    box = library.Box(x)
    library.WEAK["x"] = box
    library.Registry.kept = box


WAYS: list[tuple[str, Callable[[Any], None]]] = [
    ("total", rows),
    ("of_tables", tables),
    ("of_late", late),
    ("of_unheard", unheard),
    ("of_default", default),
    ("of_default", other_default),
    ("of_attribute", attribute),
    ("of_held", cell),
    ("of_weak", weak),
]


@pytest.mark.parametrize(("name", "register"), WAYS, ids=[register.__name__ for _, register in WAYS])
def test_what_was_registered_between_two_calls_is_seen(name: str, register: Callable[[Any], None]) -> None:
    x = np.array([3.0, 1.0])
    other = np.array([5.0])
    if name in ("of_late", "of_held"):
        late([5.0])
        cell([5.0])

    def of_constants(x: Any) -> Any:
        try:
            found = getattr(library, name)(2.0)
        except NameError:
            found = 0.0
        return found + 0.0 * x[0]

    for _ in range(3):  # what is found is kept
        assert np.array_equal(adbc.grad(of_constants)(x), np.zeros(2))
        assert np.array_equal(adbc.grad(of_constants)(other), np.zeros(1))
    register(x)
    for _ in range(2):
        assert np.array_equal(adbc.grad(of_constants)(x), [2.0, 0.0])
        tangent = adbc.jvp(of_constants, (x,), (np.array([1.0, 0.5]),))[1]
        assert tangent == 2.0


def test_classes_are_compared_too() -> None:
    x = np.array([3.0, 1.0])

    def total(x: Any) -> Any:
        return library.Registry.total(2.0) + 0.0 * x[0]

    def single(x: Any) -> Any:
        return library.Registry.of_single(2.0) + 0.0 * x[0]

    library.Registry.single = library.Box(1.0)
    assert np.array_equal(adbc.grad(total)(x), np.zeros(2))
    assert np.array_equal(adbc.grad(single)(x), np.zeros(2))
    box = library.Box(x[:1])
    library.Registry.known["x"] = box
    library.Registry.single = box
    bar = np.ones(1)
    assert np.array_equal(adbc.vjp(total, x)[1](bar)[0], [2.0, 0.0])
    assert np.array_equal(adbc.vjp(single, x)[1](bar)[0], [2.0, 0.0])


def test_a_counter_does_not_make_the_look_begin_again() -> None:
    reach = Reach(library.count, "reaching_things")
    before = library.BOX.hits
    assert reach.stands()
    library.count(2.0)
    assert library.BOX.hits == before + 1
    assert reach.stands()
    library.BOX.more = [1.0]
    assert not reach.stands()


def test_equal_memory_in_its_place_is_seen() -> None:
    library.Registry.known = {}
    reach = Reach(library.Registry, "reaching_things")
    assert reach.stands()
    library.Registry.known = {}
    assert not reach.stands()
    reach = Reach(library.Registry, "reaching_things")
    library.Registry.total = library.of_late  # code in the place of code
    assert not reach.stands()
    reach = Reach(library.Registry, "reaching_things")
    library.Registry.number = 2.0
    assert not reach.stands()


def test_code_and_defaults_of_functions_are_compared() -> None:
    reach = Reach(library.total, "reaching_things")
    assert reach.stands()
    library.total.__defaults__ = (2.0,)
    assert not reach.stands()
    reach = Reach(library.of_default, "reaching_things")
    assert reach.stands()
    library.of_default.__defaults__ = ([],)
    assert not reach.stands()


def test_what_is_noted_is_what_stands_there_now() -> None:
    library.TABLE["array"] = np.array([1.0, 2.0])
    reach = Reach(library.of_tables, "reaching_things")
    content, arrays = reach.noted()
    assert any(x is library.TABLE for x, _ in content)
    assert [old.tolist() for _, old in arrays] == [[1.0, 2.0]]
    library.TABLE["array"][0] = 5.0
    assert reach.stands()
    _, arrays = reach.noted()
    assert [old.tolist() for _, old in arrays] == [[5.0, 2.0]]
    library.TABLE["count"] = 1
    reach = Reach(library.of_tables, "reaching_things")
    reach.noted()
    library.TABLE["count"] = 2
    assert reach.stands()
    content, _ = reach.noted()
    assert dict(next(old for x, old in content if x is library.TABLE))["count"] == 2


def test_a_look_is_used_again_until_something_has_changed() -> None:
    first = reach_of(library.total, "reaching_things", {})
    assert reach_of(library.total, "reaching_things", {}) is first
    library.ROWS.append([1.0])
    second = reach_of(library.total, "reaching_things", {})
    assert second is not first
    assert any(x is library.ROWS[0] for x in second.found)


def test_what_a_library_no_longer_keeps_is_let_go() -> None:
    x = np.array([3.0, 1.0])

    class Row(list[float]):
        pass

    def f(x: Any) -> Any:
        return library.total(2.0) * x[0]

    row = Row([4.0])
    library.ROWS.append(row)
    assert np.array_equal(adbc.grad(f)(x), [8.0, 0.0])
    reference = weakref.ref(row)
    library.ROWS.clear()
    del row
    gc.collect()
    assert reference() is None


def test_what_many_objects_lead_to_is_looked_at_once() -> None:
    asked: list[Any] = []
    shadows = {k: [0.0] for k in range(20)}
    context: Any = types.SimpleNamespace(
        shadows=types.SimpleNamespace(behind=shadows.get),
        is_active=lambda shadow: asked.append(shadow),  # nothing is
        kept=None,
    )
    assert not depend(context, shadows)
    assert asked == [[*shadows.values()]]


def test_a_look_is_compared_once_for_a_call(monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[Reach] = []
    stands = Reach.stands
    monkeypatch.setattr(Reach, "stands", lambda reach: (compared.append(reach), stands(reach))[1])

    def f(x: Any) -> Any:
        held = [x]
        return sum([library.count(2.0) for _ in range(10)]) * held[0]

    assert adbc.grad(f)(3.0) == 30.0
    assert 0 < len(compared) <= 11
    compared.clear()
    assert adbc.jvp(f, (3.0,), (1.0,)) == (90.0, 30.0)
    assert 0 < len(compared) <= 11


def hits_after(f: Callable[[float], float], slope: float) -> list[int]:
    """How many hits the library has counted after each of several gradients of `f`."""
    library.BOX.hits = 0
    found = []
    for _ in range(4):
        assert adbc.grad(f)(1.5) == pytest.approx(slope)
        found.append(library.BOX.hits)
    return found


def test_what_a_function_that_is_known_changes() -> None:
    def only_counted(x: float) -> float:
        total = 0.0
        for _ in range(3):
            total += x * library.count(factor=2.0) + x * library.count(1.0)
        return total

    def written_between(x: float) -> float:
        total = 0.0
        for _ in range(3):
            total += x * library.count(2.0)
            library.BOX.hits = library.BOX.hits + 100
            library.BOX.value = x  # from here on it has a derivative
        return total

    assert hits_after(only_counted, 13.5) == [6, 12, 18, 24]  # it stays, as what is in a cache does
    value = library.BOX.value
    for _ in range(3):
        assert hits_after(written_between, 3.0 + 2 * 2.0 * 1.5 * 2) == [0] * 4
        assert library.BOX.value == value


def test_classes_are_known_too() -> None:
    def f(x: float) -> float:
        total = 0.0
        for _ in range(5):
            box, other = library.Box(2.0), library.Box(value=3.0)
            box.value = box.value * x
            total += box.value + other.value * x + box.hits
        return total

    for _ in range(4):
        assert adbc.grad(f)(1.5) == 25.0
        assert adbc.jvp(f, (1.5,), (1.0,)) == (37.5, 25.0)
    library.Box.__init__ = lambda self, value: vars(self).update(value=10.0, hits=0)
    assert adbc.grad(f)(1.5) == 100.0
