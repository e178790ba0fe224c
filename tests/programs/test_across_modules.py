"""Functions, generators, classes and managers of other modules are written in like those of the same one."""

from __future__ import annotations

import builtins
import math
import sys
import traceback
import types
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Any

import pytest

import adbc
from benchmarks.instructions import executed
from tests.installed import installed
from tests.programs.checks import check_five_calls, check_once_warm, check_second_derivative
from tests.programs.elsewhere import settings, streams
from tests.programs.elsewhere.geometry import Segment, Vector
from tests.programs.elsewhere.streams import (
    Canvas,
    counted,
    decaying,
    doubled,
    firsts,
    gained,
    halved,
    inverse,
    scaler,
    weighted,
)


def sums(x: float) -> float:
    total = 0.0
    for v in decaying(x, 4):
        total += v * v
    return total + sum(decaying(2.0 * x, 3))


def pipeline(x: float) -> float:
    return sum(gained(halved(weighted(decaying(x, 5))), "high")) * x


def listed(x: float) -> float:
    values = list(halved([x, x * x, 3.0]))
    return max(weighted(values)) + values[0]


def vectors(x: float) -> float:
    v = Vector(x, 1.0) + Vector(2.0, x) * x
    a, b = v
    return v.norm + a * b


def segments(x: float) -> float:
    s = Segment(Vector(0.0, x), Vector(1.0, x * x))
    return sum(p.norm for p in s.points(3)) + sum(s.heights(2))


def managed(x: float) -> float:
    canvas, total = Canvas(), 0.0
    for k in range(3):
        with canvas.scaled(x) as inner:
            total += inner.scale * k
            with doubled(canvas) as scale:
                total += scale * x
    return total


def made(x: float) -> float:
    scale, other = scaler(x), scaler(2.0)
    return scale(x) + other(x) + sum(map(scale, (1.0, x)))


def kept(x: float) -> float:
    parts = [decaying(x, 3), decaying(x * x, 3)]
    return sum(next(p) * k for k, p in enumerate(parts, 1)) + next(parts[0])


PROGRAMS = [sums, pipeline, listed, vectors, segments, managed, made, kept]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
@pytest.mark.parametrize("warm_after", [0, 1, 64])
def test_other_modules(program: Callable[[float], float], warm_after: int) -> None:
    check_five_calls(program, warm_after, rel=1e-6)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_other_modules_warm(program: Callable[[float], float]) -> None:
    check_once_warm(program)


@pytest.mark.parametrize("program", [sums, pipeline, vectors, managed, made], ids=lambda p: p.__name__)
def test_second_derivatives(program: Callable[[float], float]) -> None:
    check_second_derivative(program, 1.3, rtol=1e-5)


def own_decaying(x: float, count: int) -> Iterator[float]:
    for _ in range(count):
        yield x
        x = x * 0.9


def own_sums(x: float) -> float:
    return sum(v * v for v in own_decaying(x, 20))


def other_sums(x: float) -> float:
    return sum(v * v for v in decaying(x, 20))


def test_a_generator_of_another_module_costs_what_one_of_the_same_costs() -> None:
    own, other = adbc.grad(own_sums), adbc.grad(other_sums)
    for _ in range(80):
        assert own(1.5) == pytest.approx(other(1.5), rel=1e-12)
    assert executed(lambda: other(1.5)) < 1.3 * executed(lambda: own(1.5))


def warm(f: Callable[[float], float]) -> Callable[[float], float]:
    """The gradient of `f`, after sixty calls."""
    gradient = adbc.grad(f)
    for k in range(60):
        gradient(1.5 + 0.01 * k)
    return gradient


def test_data_of_the_module_is_read_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    gradient = warm(pipeline)
    monkeypatch.setattr(streams, "RATE", 0.5)
    monkeypatch.setattr(streams, "LEVELS", [3.0])
    monkeypatch.setattr(settings, "OFFSET", 2.0)
    h = 1e-5
    assert gradient(1.5) == pytest.approx((pipeline(1.5 + h) - pipeline(1.5 - h)) / (2 * h), rel=1e-6)


def test_a_function_of_the_module_is_another_one(monkeypatch: pytest.MonkeyPatch) -> None:
    gradient = warm(listed)
    before = gradient(1.5)
    monkeypatch.setattr(streams, "half", lambda v: v * v)
    h = 1e-5
    assert gradient(1.5) == pytest.approx((listed(1.5 + h) - listed(1.5 - h)) / (2 * h), rel=1e-6)
    assert gradient(1.5) != pytest.approx(before)
    monkeypatch.undo()
    assert gradient(1.5) == before


def test_a_builtin_gets_another_meaning_in_the_module(monkeypatch: pytest.MonkeyPatch) -> None:
    gradient = warm(pipeline)
    before = gradient(1.5)
    monkeypatch.setattr(streams, "enumerate", lambda xs: builtins.enumerate(xs, 1), raising=False)
    h = 1e-5
    assert gradient(1.5) == pytest.approx((pipeline(1.5 + h) - pipeline(1.5 - h)) / (2 * h), rel=1e-6)
    assert gradient(1.5) != pytest.approx(before)


def test_a_method_of_the_other_module_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    gradient = warm(vectors)
    monkeypatch.setattr(Vector, "__mul__", lambda self, k: Vector(self.x * k * k, self.y))
    h = 1e-5
    assert gradient(1.5) == pytest.approx((vectors(1.5 + h) - vectors(1.5 - h)) / (2 * h), rel=1e-6)


def counting(x: float) -> float:
    return sum(counted([x, x * x]))


def test_a_generator_that_sets_a_global_of_its_module() -> None:
    before = streams.seen
    gradient = adbc.grad(counting)
    for k in range(1, 61):
        assert gradient(1.5) == pytest.approx(4.0)
        assert streams.seen in (before, before + 2 * k)


def stopping(x: float) -> float:
    return sum(firsts([[x], [x * x], []]))


def test_what_stops_inside_a_generator_is_an_error() -> None:
    for _ in range(60):
        with pytest.raises(RuntimeError, match="generator raised StopIteration"):
            adbc.grad(stopping)(1.5)


def dividing(x: float) -> float:
    return sum(inverse([x, x - 1.0]))


def test_tracebacks_name_the_line_of_the_other_module() -> None:
    gradient = warm(dividing)
    with pytest.raises(ZeroDivisionError) as info:
        gradient(1.0)
    last = traceback.extract_tb(info.value.__traceback__)[-1]
    assert last.filename == streams.__file__
    assert last.line == "yield 1.0 / v"
    assert last.name == "inverse"


SOURCE = """
    TABLE = {"a": 2.0}
    STEP = 0.25

    def walk(x, count):
        for k in range(count):
            yield x * STEP * k

    def looked_up(x):
        return TABLE["a"] * x

    class Box:
        def __init__(self, v):
            self.v = v

        def __mul__(self, k):
            return Box(self.v * k)

        def parts(self, count):
            for k in range(count):
                yield self.v / (k + 1)
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[types.ModuleType]:
    with installed(tmp_path_factory, "adbc_tests_walks", SOURCE) as module:
        yield module


def test_an_installed_package(library: Any) -> None:
    def program(x: float) -> float:
        box = library.Box(x) * x
        return sum(library.walk(x, 4)) + library.looked_up(x) + sum(box.parts(3)) + math.sin(box.v)

    check_once_warm(program)
    gradient = warm(program)
    library.STEP, library.TABLE["a"] = 0.5, 3.0
    h = 1e-5
    assert gradient(1.5) == pytest.approx((program(1.5 + h) - program(1.5 - h)) / (2 * h), rel=1e-6)


def test_a_module_that_is_not_found_under_its_name() -> None:
    """What is executed under a name that is none of a module, or that of another, is called."""
    source = "SCALE = 2.0\ndef walk(x):\n    yield x * SCALE\n    yield x * x * SCALE\n"
    for name in ("nowhere", "math"):
        space: dict[str, Any] = {"__name__": name}
        exec(source, space)

        def program(x: float, walk: Any = space["walk"]) -> float:
            return sum(walk(x))

        assert name == "math" or name not in sys.modules
        assert warm(program)(1.5) == pytest.approx(8.0)


def managed_by(x: float, manager: Callable[[Canvas], AbstractContextManager[float]] = doubled) -> float:
    canvas, total = Canvas(), 0.0
    for _ in range(3):
        with manager(canvas) as scale:
            total += scale * x
            if total > 100.0:
                raise ValueError(total)
    return total


def test_an_exception_in_the_body_of_a_manager_of_another_module() -> None:
    gradient = warm(managed_by)
    with pytest.raises(ValueError, match="180"):
        gradient(100.0)
    assert gradient(1.5) == pytest.approx(1.8 * 3)
