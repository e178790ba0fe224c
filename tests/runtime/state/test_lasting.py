"""Shadows of constant memory that serve in several calls: right whatever becomes of the memory in between."""

from __future__ import annotations

import dataclasses
import functools
import gc
import threading
import weakref
from collections import namedtuple
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adbc
from adbc.runtime.state import lasting, shadows

CALLS = 6
"""Shadows are kept in the third call, and serve in those behind it."""


@dataclasses.dataclass
class Point:
    x: float
    y: float
    label: Any = 1


@dataclasses.dataclass(frozen=True)
class Fixed:
    x: float
    y: float


class Slotted:
    __slots__ = ("x", "y")

    def __init__(self, x: float, y: float) -> None:
        self.x, self.y = x, y


class Holder:
    def __init__(self, data: Any) -> None:
        self.data = data

    def loss(self, k: Any) -> Any:
        return sum([(k * p.x - p.y) ** 2 for p in self.data])


Pair = namedtuple("Pair", "x y")  # as programs write it
NUMBERS = [(0.01 * i, 1.0 / (i + 1)) for i in range(160)]


def by_name(k: Any, data: Any) -> Any:
    return sum([(k * p.x - p.y) ** 2 for p in data])


def by_place(k: Any, data: Any) -> Any:
    return sum([(k * p[0] - p[1]) ** 2 for p in data])


def by_key(k: Any, data: Any) -> Any:
    return sum([(k * p["x"] - p["y"]) ** 2 for p in data])


def by_number(k: Any, data: Any) -> Any:
    return sum([(k * data[i][0] - data[i][1]) ** 2 for i in range(160)])


FORMS: dict[str, tuple[Callable[..., Any], Callable[[], Any]]] = {
    "objects": (by_name, lambda: [Point(*p) for p in NUMBERS]),
    "frozen": (by_name, lambda: [Fixed(*p) for p in NUMBERS]),
    "slotted": (by_name, lambda: [Slotted(*p) for p in NUMBERS]),
    "named": (by_name, lambda: [Pair(*p) for p in NUMBERS]),
    "tuples": (by_place, lambda: [*NUMBERS]),
    "lists": (by_place, lambda: [[*p] for p in NUMBERS]),
    "arrays": (by_place, lambda: [np.array(p) for p in NUMBERS]),
    "views": (by_place, lambda: [*np.array(NUMBERS)]),
    "dicts": (by_key, lambda: [{"x": x, "y": y, "name": "p"} for x, y in NUMBERS]),
    "by number": (by_number, lambda: dict(enumerate(map(list, NUMBERS)))),
    "with arrays": (by_place, lambda: [(x, np.array(y)) for x, y in NUMBERS]),
}


def check_repeatedly(f: Callable[[float], Any], expected: float | None = None) -> None:
    """Both derivatives of `f` agree with differences in call after call."""
    k = 0.7
    if expected is None:
        expected = float((f(k + 1e-6) - f(k - 1e-6)) / 2e-6)
    for _ in range(CALLS):
        assert adbc.grad(f)(k) == pytest.approx(expected, rel=1e-6)
        assert adbc.jvp(f, (k,), (1.0,))[1] == pytest.approx(expected, rel=1e-6)


def walks(monkeypatch: pytest.MonkeyPatch, f: Callable[[], Any]) -> int:
    """How many objects are walked over in a call of `f` to make shadows."""
    made: list[int] = []
    zero_tangent = shadows.zero_tangent

    def counted(x: Any, memo: Any, is_found: bool = False) -> Any:
        before = len(memo)
        found = zero_tangent(x, memo, is_found)
        made.append(len(memo) - before)
        return found

    with monkeypatch.context() as patched:
        patched.setattr(shadows, "zero_tangent", counted)
        f()
    return sum(made)


@pytest.mark.parametrize("form", FORMS)
def test_data_of_all_forms(form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    f, make = FORMS[form]
    data = make()
    check_repeatedly(lambda k: f(k, data))
    holder = Holder(data)
    check_repeatedly(lambda k: f(k, holder.data))
    of_globals = {"data": data}
    exec("def g(k, f):\n    return f(k, data)", of_globals)
    check_repeatedly(lambda k: of_globals["g"](k, f))
    assert walks(monkeypatch, lambda: adbc.grad(lambda k: f(k, data))(0.7)) < 10


@pytest.mark.parametrize("form", FORMS)
def test_data_as_an_argument_that_is_not_asked_for(form: str) -> None:
    f, make = FORMS[form]
    data = make()
    expected = (f(0.7 + 1e-6, data) - f(0.7 - 1e-6, data)) / 2e-6
    for _ in range(CALLS):
        assert adbc.grad(f)(0.7, data) == pytest.approx(expected, rel=1e-6)
        assert adbc.jvp(f, (0.7, data), (1.0, None))[1] == pytest.approx(expected, rel=1e-6)


def test_partial_applications_and_tuples(monkeypatch: pytest.MonkeyPatch) -> None:
    data = [Point(*p) for p in NUMBERS]
    both = (data, [[*p] for p in NUMBERS])
    check_repeatedly(functools.partial(by_name, data=data))
    check_repeatedly(lambda k: by_name(k, both[0]) + by_place(k, both[1]))
    assert walks(monkeypatch, lambda: adbc.grad(functools.partial(by_name, data=data))(0.7)) < 10


def test_a_method_of_an_object_with_data() -> None:
    check_repeatedly(Holder([Point(*p) for p in NUMBERS]).loss)


def test_an_object_that_has_many_tuples() -> None:
    holder = Holder([*NUMBERS])

    def f(k: float) -> Any:
        return by_place(k, holder.data)

    check_repeatedly(f)
    assert lasting._kept[id(holder)].uses > 0
    holder.data[3] = (5.0, 1.0)
    check_repeatedly(f)
    holder.data = [(x, 2.0 * y) for x, y in NUMBERS]
    check_repeatedly(f)


def replace_element(data: list[Any]) -> None:
    data[3] = Point(5.0, 1.0)


def append(data: list[Any]) -> None:
    data.append(Point(2.0, 3.0))


def set_field(data: list[Any]) -> None:
    data[5].x = 9.0


def add_field(data: list[Any]) -> None:
    data[5].z = [1.0]


def change_class(data: list[Any]) -> None:
    data[5].__class__ = Moved


def put_an_object(data: list[Any]) -> None:
    data[7].label = [Point(1.0, 2.0)]


class Moved(Point):
    @property
    def shifted(self) -> float:
        return self.x + 1.0


@pytest.mark.parametrize(
    "change", [replace_element, append, set_field, add_field, change_class, put_an_object]
)
def test_data_that_is_changed_between_calls(change: Callable[[list[Any]], None]) -> None:
    data = [Point(*p) for p in NUMBERS]
    f = lambda k: by_name(k, data) + len(data)  # noqa: E731
    check_repeatedly(f)
    change(data)
    check_repeatedly(f)


def test_a_whole_number_that_becomes_a_float() -> None:
    data = [Point(float(i), 1.0, 1) for i in range(160)]

    def f(k: Any) -> Any:
        data[3].label = k * data[3].label
        total = data[3].label ** 2 * data[3].x
        data[3].label = 1
        return total

    for _ in range(CALLS):
        assert adbc.grad(f)(1.0) == pytest.approx(6.0)
    for p in data:
        p.label = 1.0
    for _ in range(CALLS):
        assert adbc.grad(f)(1.0) == pytest.approx(6.0)
        assert type(data[3].label) is float


def test_what_is_written_into_the_data() -> None:
    data = [Point(*p) for p in NUMBERS]
    rows = [[*p] for p in NUMBERS]
    arrays = [np.array(p) for p in NUMBERS]

    def f(k: Any) -> Any:
        old = data[4].x, rows[4][1], arrays[4][0]
        data[4].x = k * k
        rows[4][1] = 2.0 * k
        arrays[4][0] = k
        data.append(Point(k, 3.0))
        total = by_name(1.0, data) + by_place(1.0, rows) + by_place(1.0, arrays) + data[-1].x * k
        data.pop()
        data[4].x, rows[4][1], arrays[4][0] = old
        return total

    check_repeatedly(f)
    assert [(p.x, p.y) for p in data] == NUMBERS


def test_what_is_written_there_and_stays() -> None:
    data = [Point(*p) for p in NUMBERS]

    def f(k: Any) -> Any:
        data[4].x = k * data[4].y
        return by_name(1.0, data)

    for k in (0.5, 0.7, 0.9):
        expected = 2.0 * (k * data[4].y - data[4].y) * data[4].y
        for _ in range(3):
            before = data[4].x
            assert adbc.grad(f)(k) == pytest.approx(expected)
            assert data[4].x == before
            assert adbc.jvp(f, (k,), (1.0,))[1] == pytest.approx(expected)
            assert data[4].x == pytest.approx(k * data[4].y)


def test_shadows_that_somebody_holds_are_left_alone() -> None:
    data = [Point(*p) for p in NUMBERS]

    def f(k: Any) -> Any:
        data[2].x = k * 3.0
        return k * k, data

    tangents = [adbc.jvp(f, (0.7,), (1.0 + i,))[1] for i in range(CALLS)]
    for i, (_, tangent) in enumerate(tangents):
        assert tangent[2].x == pytest.approx(3.0 * (1.0 + i))
        assert tangent[3].x == 0.0


def test_pullbacks_that_wait() -> None:
    data = [[*p] for p in NUMBERS]

    def f(k: Any) -> Any:
        return by_place(k, data)

    expected = adbc.grad(f)(0.7)
    waiting = [adbc.vjp(f, 0.7)[1] for _ in range(CALLS)]
    for pullback in waiting[::-1]:
        assert pullback(1.0)[0] == pytest.approx(expected)


def test_gradients_by_the_same_data_stay_what_they_are() -> None:
    data = [Point(*p) for p in NUMBERS]

    def f(points: Any, k: float) -> Any:
        return by_name(k, points) + by_name(2.0 * k, data)

    found = [adbc.grad(f)(data, 0.7 + 0.1 * i) for i in range(CALLS)]
    texts = [[(p.x, p.y) for p in gradient] for gradient in found]
    for _ in range(CALLS):
        check_repeatedly(lambda k: by_name(k, data))
    assert [[(p.x, p.y) for p in gradient] for gradient in found] == texts
    for i, gradient in enumerate(found):
        again = adbc.grad(f)(data, 0.7 + 0.1 * i)
        assert [(p.x, p.y) for p in again] == [(p.x, p.y) for p in gradient]


def test_derivatives_of_derivatives() -> None:
    data = [Point(*p) for p in NUMBERS]

    def f(k: Any) -> Any:
        return sum([(k * p.x - p.y) ** 4 for p in data])

    expected = sum([12.0 * (0.7 * x - y) ** 2 * x * x for x, y in NUMBERS])
    for _ in range(CALLS):
        assert adbc.grad(adbc.grad(f))(0.7) == pytest.approx(expected)
        assert adbc.hessian(f)(0.7) == pytest.approx(expected)
        assert adbc.jvp(adbc.grad(f), (0.7,), (1.0,))[1] == pytest.approx(expected)


def test_threads() -> None:
    data = [Point(*p) for p in NUMBERS]
    gradient = adbc.grad(lambda k: by_name(k, data))
    expected = gradient(0.7)
    found: list[float] = []

    def run() -> None:
        found.extend([gradient(0.7) for _ in range(40)])

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == pytest.approx([expected] * 160)


def test_memory_is_let_go(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lasting._trials, "wasted", 0)  # by other tests
    data = [Point(*p) for p in NUMBERS]

    def f(k: Any, points: Any) -> Any:
        return by_name(k, points)

    for _ in range(CALLS):
        adbc.grad(f)(0.7, data)
    assert any(kept.root is data for kept in lasting._kept.values())
    observed = weakref.ref(data[0])
    del data
    gc.collect()
    gc.collect()
    assert observed() is None


def test_objects_that_say_when_they_go_are_not_held() -> None:
    class Noticed(Point):
        def __del__(self) -> None:
            gone.append(self.x)

    gone: list[float] = []
    data = [Noticed(*p) for p in NUMBERS]

    def loss(k: Any, points: Any) -> Any:
        return by_name(k, points)

    for _ in range(CALLS):
        adbc.jvp(loss, (0.7, data), (1.0, None))
    assert not any(kept.root is data for kept in lasting._kept.values())


def test_new_data_in_each_call_is_not_kept_for_ever() -> None:
    def f(k: Any, points: Any) -> Any:
        return by_name(k, points)

    for i in range(60):
        data = [Point(x + i, y) for x, y in NUMBERS]
        for _ in range(3):
            adbc.grad(f)(0.7, data)
    unused = [kept for kept in lasting._kept.values() if not kept.uses]
    assert len(unused) <= 2 * lasting._TRIALS


def test_an_object_and_its_dictionary_have_one_shadow() -> None:
    holder = Holder([Point(*p) for p in NUMBERS])
    holder.scale = 2.0  # type: ignore[attr-defined]  # as programs do

    def by_dictionary(k: Any, fields: Any) -> Any:
        return by_name(k, fields["data"]) * fields["scale"]

    def both(k: Any, fields: Any, h: Any) -> Any:
        fields["scale"] = fields["scale"] * k
        return h.scale * h.data[3].x

    for _ in range(CALLS):
        adbc.grad(by_dictionary)(0.7, vars(holder))
        adbc.jvp(by_dictionary, (0.7, vars(holder)), (1.0, None))
    for _ in range(CALLS):
        assert adbc.grad(both)(0.7, vars(holder), holder) == pytest.approx(2.0 * 0.03)
        by_object = adbc.grad(both, 2)(0.7, vars(holder), holder)
        assert by_object.scale == pytest.approx(0.7 * 0.03)
        assert by_object.data[3].x == pytest.approx(0.7 * 2.0)
