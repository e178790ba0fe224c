"""``copy.deepcopy``: of plain structures by a rule, of others by following the code of `copy`."""

from __future__ import annotations

import copy
import dataclasses
import enum
import functools
import math
import pickle
from collections import deque
from typing import Any

import numpy as np
import pytest

import adbc
from adbc.rules.deep_copies import is_plain_structure
from adbc.testing import test_rule as check_rule


class Phase(enum.Enum):
    SOLID = 1
    LIQUID = 2


class Body:
    def __init__(self, pos: Any, mass: Any, **more: Any) -> None:
        self.pos, self.mass = pos, mass
        self.__dict__.update(more)


@dataclasses.dataclass
class Grid:
    cells: Any
    phase: Phase = Phase.SOLID
    next: Any = None


class Counted(Body):
    """Says itself how it is copied."""

    def __deepcopy__(self, memo: Any) -> Counted:
        return Counted([2.0 * p for p in self.pos], self.mass)


class Slotted:
    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value


class Wide(Slotted):
    """Slots, one of them without a value, beside a dictionary."""

    __slots__ = ("__dict__", "other", "unset")

    def __init__(self, value: Any, other: Any) -> None:
        super().__init__(value)
        self.other = other
        self.more = [other]


class Setting(Slotted):
    """Is asked to set what the copy gets."""

    __slots__ = ("scale",)

    def __init__(self, value: Any) -> None:
        object.__setattr__(self, "value", value)
        object.__setattr__(self, "scale", 2.0)

    def __setattr__(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, [2.0 * v for v in value] if name == "value" else value)


class Shading(Slotted):
    """A property stands in front of a slot."""

    __slots__ = ()
    value = property(lambda self: [3.0])  # type: ignore[assignment]

    def __init__(self) -> None:
        pass


def of_lists(x: float, xs: list[float]) -> Any:
    before = [[x, 2.0], xs, (x, [x * x]), {"a": [x], 3: x}]
    after = copy.deepcopy(before)
    after[0][0] *= 3.0  # type: ignore[index]
    after[2][1].append(x)  # type: ignore[index, union-attr]
    after[3]["a"][0] += xs[1]  # type: ignore[index, call-overload]
    xs[0] *= 2.0
    return (
        after[0][0] * before[0][0] + sum(after[1]) * xs[0] + after[2][0] * sum(after[2][1])  # type: ignore[index, arg-type]
        + after[3]["a"][0] * before[3]["a"][0] + after[3][3]  # type: ignore[index, call-overload]
    )  # fmt: skip


def of_objects(x: float, xs: list[float]) -> Any:
    bodies = [Body([x, v], v * x, phase=Phase.LIQUID, log=None) for v in xs]
    total = 0.0
    for k in range(3):
        trial = copy.deepcopy(bodies)
        for b in trial:
            b.pos[0] += b.mass * b.pos[1] * k
            b.mass *= x
        total += sum(b.pos[0] * b.mass for b in trial) - bodies[0].mass
        if k == 1:
            bodies = trial
    return total


def of_slots(x: float, xs: list[float]) -> Any:
    row = [x, xs[0]]
    before: list[Any] = [Slotted(row), Wide(x, x * x), Wide(row, xs)]
    total = 0.0
    for _ in range(3):
        after = copy.deepcopy(before)
        after[0].value[0] *= x
        after[1].other += after[1].value * after[1].more[0]
        after[2].more[0][1] *= before[2].other[0]
        total += sum(after[2].value) * after[1].other + sum(after[2].other)
        total += hasattr(after[1], "unset") + row[0]
        before = after
    setting = copy.deepcopy(Setting([x]))
    return total + setting.value[0] * setting.scale


def of_shared_parts(x: float, xs: list[float]) -> Any:
    shared = [x, x * x]
    pair = {"a": shared, "b": shared, "own": xs}
    copied = copy.deepcopy(pair)
    copied["a"].append(x)
    copied["b"][0] *= x
    return sum(copied["a"]) * sum(shared) + (copied["a"] is copied["b"]) + sum(copied["own"])


def of_cycles(x: float, xs: list[float]) -> Any:
    first, second = Grid([x]), Grid(xs)
    first.next, second.next = second, first
    copied = copy.deepcopy(first)
    copied.next.next.cells[0] *= x
    copied.next.cells[1] *= first.cells[0]
    return copied.cells[0] + sum(copied.next.cells) * first.cells[0]


def of_constants(x: float, xs: list[float]) -> Any:
    """What was constant is written to in the copy."""
    state = {"pos": [0.0, 1.0], "steps": 3, "name": "a", "box": Body([1.0], 2.0)}
    copied: Any = copy.deepcopy(state)
    copied["pos"][0] = x * x
    copied["box"].mass *= x
    copied["box"].pos.append(xs[0])
    return copied["pos"][0] * copied["box"].mass + sum(copied["box"].pos)


def of_other_classes(x: float, xs: list[float]) -> Any:
    """Nothing of this is plain."""
    parts = [
        Counted([x, xs[0]], x), deque([x, xs[1]], 3), Setting([x]), math.sin, lambda y: x * y,
    ]  # fmt: skip
    copied: Any = copy.deepcopy(parts)
    copied[0].pos[0] *= x
    copied[1].append(x * x)
    copied[2].value[0] *= 2.0
    return sum(copied[0].pos) + sum(copied[1]) + copied[2].value[0] * copied[3](x) + copied[4](xs[0])


def with_a_hidden_method(x: float, xs: list[float]) -> Any:
    body: Any = Body([x], x)
    body.__deepcopy__ = lambda memo: Body([x * x], xs[0])
    copied = copy.deepcopy(body)
    return copied.pos[0] * copied.mass


def of_atoms(x: float, xs: list[float]) -> Any:
    return copy.deepcopy(x) * copy.deepcopy((x, 2.0))[0] + copy.deepcopy("a").count("a") * xs[0]


PROGRAMS = [
    of_lists, of_objects, of_slots, of_shared_parts,
    of_cycles, of_constants, of_other_classes, with_a_hidden_method,
    of_atoms,
]  # fmt: skip


@pytest.mark.parametrize("function", PROGRAMS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("warm_after", [0, 40])
def test_both_modes(function: Any, warm_after: int) -> None:
    with adbc.use(adbc.Config(warm_after=warm_after)):
        check_rule(function, 0.7, [0.3, -1.1])


@pytest.mark.parametrize("function", PROGRAMS, ids=lambda f: f.__name__)
def test_second_derivatives(function: Any) -> None:
    slope = adbc.grad(lambda x: function(x, [0.3, -1.1]))
    h = 1e-5
    wanted = (slope(0.7 + h) - slope(0.7 - h)) / (2.0 * h)
    assert adbc.grad(slope)(0.7) == pytest.approx(wanted, rel=1e-6, abs=1e-7)
    assert adbc.jvp(slope, (0.7,), (1.0,))[1] == pytest.approx(wanted, rel=1e-6, abs=1e-7)


def test_arrays() -> None:
    def program(v: Any, w: Any) -> Any:
        grid = Grid(
            {"u": v, "half": v[1:], "n": np.arange(3), "names": np.array(["a"])}, next=[w, np.float64(2.0)]
        )
        copied = copy.deepcopy(grid)
        copied.cells["u"] *= copied.next[1]
        copied.cells["half"][0] = w[0, 1] * v[0]
        copied.next[0][:, 0] += v[:2]
        v[0] = 5.0
        total = copied.cells["u"] @ v + copied.cells["half"].sum() * w.sum() + (copied.next[0] ** 2).sum()
        return total + copied.cells["n"].sum()

    for order in "CF":
        check_rule(program, np.array([0.3, 0.5, -0.2]), np.array([[0.7, 0.2], [0.1, -0.4]], order=order))  # type: ignore[call-overload]
    check_rule(program, np.array([0.3, 9.0, 0.5, 9.0, -0.2, 9.0])[::2], np.ones((2, 4))[:, ::2])


def test_the_pullback_may_be_called_twice() -> None:
    for function in PROGRAMS:
        _, pullback = adbc.vjp(function, 0.7, [0.3, -1.1])
        first = pullback(1.0)
        try:
            again = pullback(1.0)
        except adbc.AdbcError:  # it says that it has been used
            continue
        assert again == first


def test_what_is_plain() -> None:
    plain: list[Any] = [
        1.0, "a", None, [1.0, [2.0]], ((1.0, []), 3), {"a": 1.0, (1, "b"): [2.0], Phase.SOLID: 1.0},
        np.ones(3), np.float64(2.0), Body([1.0], {}), Grid([1.0]), Phase.SOLID,
        Slotted(1.0), Wide([1.0], 2.0),
    ]  # fmt: skip
    assert all(map(is_plain_structure, plain))
    function = lambda: None  # noqa: E731
    other: list[Any] = [
        function, Counted([1.0], 2.0), Setting([1.0]), Shading(),
        deque([1.0]), {1.0}, Body, copy, {Body(1.0, 2.0): 1.0},
        np.array([1.0, None]), np.ma.masked_array([1.0]), math.sin, Body([1.0], function), object(),
        ValueError(1.0), iter([1.0]), float, np.random.default_rng(0), Body(1.0, 2.0, __deepcopy__=function),
    ]  # fmt: skip
    assert not any(map(is_plain_structure, other))
    circle: list[Any] = [1.0]
    circle.append(circle)
    assert is_plain_structure(circle)


def test_a_class_that_changes() -> None:
    class Own:
        def __init__(self, value: float) -> None:
            self.value = [value]

    def program(x: float) -> Any:
        own = Own(x * x)
        copied = copy.deepcopy(own)
        copied.value[0] *= x
        return copied.value[0] + own.value[0]

    gradient = adbc.grad(program)
    for _ in range(3):
        assert gradient(0.5) == pytest.approx(3 * 0.25 + 1.0)
    Own.__deepcopy__ = lambda self, memo: Own(3.0 * self.value[0])  # type: ignore[attr-defined]
    for _ in range(3):
        assert gradient(0.5) == pytest.approx(9 * 0.25 + 1.0)
    del Own.__deepcopy__  # type: ignore[attr-defined]
    assert gradient(0.5) == pytest.approx(3 * 0.25 + 1.0)


def test_batches_of_tangents() -> None:
    def program(v: Any) -> Any:
        copied = copy.deepcopy({"v": v, "more": [v[1:], float(v[0])], "own": Grid([v * v])})
        copied["more"][0][0] *= v[2]
        copied["own"].cells[0] *= copied["more"][1]
        return copied["v"] * v + copied["own"].cells[0] + copied["more"][0].sum()

    x = np.array([0.5, 1.5, -0.3])
    rows = adbc.jacrev(program)(x)
    np.testing.assert_allclose(adbc.jacfwd(program)(x), rows, rtol=1e-12)
    cube = lambda v: (v * v * v).sum()  # noqa: E731
    np.testing.assert_allclose(adbc.jacfwd(adbc.jacfwd(cube))(x), np.diag(6.0 * x), atol=1e-12)


def product(a: Any, b: Any, c: Any = 1.0) -> Any:
    return a * b * c


class Layer:
    def __init__(self, w: Any) -> None:
        self.w = w
        self.scale = functools.partial(product, 2.0, c=[w][0])
        self.own = functools.partial(self.times, w)

    def times(self, a: Any, b: Any) -> Any:
        return self.w * a * b


def shallow_partial(x: Any) -> Any:
    p = functools.partial(product, x)
    p.note = x  # type: ignore[attr-defined]
    q = copy.copy(p)
    assert type(q) is functools.partial
    assert q is not p
    return q(3.0) * q.args[0] * q.note  # type: ignore[attr-defined]


def deep_partial(x: Any) -> Any:
    values = [x, x * x]
    p = functools.partial(math.fsum, values)
    q = copy.deepcopy({"at": p})["at"]
    values[0] = 7.0
    return q() + p()


def layer(x: Any) -> Any:
    one = Layer(x)
    other = copy.deepcopy(one)
    other.w = 3.0
    return one.scale(x) * other.scale(x) + other.own(2.0) + one.own(2.0)


@pytest.mark.parametrize("f", [shallow_partial, deep_partial, layer])
def test_partial_applications_are_copied(f: Any) -> None:
    check_rule(f, 1.5)


def pickled_partial(x: Any) -> Any:
    return pickle.loads(pickle.dumps(functools.partial(product, 2.0)))(x)


def test_a_partial_application_of_constants_is_pickled() -> None:
    assert adbc.jvp(pickled_partial, (1.5,), (1.0,)) == (3.0, 2.0)
