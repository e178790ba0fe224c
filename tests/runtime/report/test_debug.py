"""Debug mode finds rules that do not keep their contract; the tracer finds where a NaN comes in."""

from __future__ import annotations

import collections
import functools
import inspect
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pytest

import adbc
import adbc.inspect
from adbc.errors import DebugError, NotFiniteError
from adbc.rules import default_table
from adbc.rules.table import Primitive, Rule, ZeroRule
from adbc.runtime import default_engine
from adbc.runtime.build.engine import Engine
from adbc.tangents import NO_FDATA
from adbc.tangents.contents import glance, seems_moved
from adbc.testing import test_rule as check_rule

DEBUG = adbc.Config(debug=True)
TRACE = adbc.Config(trace_nan=True)


def library(u: Any) -> Any:
    """Stands for a function in C: what a rule is declared for."""
    return u


Answer = tuple[Any, Any, Callable[[Any], Sequence[Any]]]


@pytest.fixture
def declare() -> Iterator[Callable[[Rule], None]]:
    """Add a row for this test only."""
    table = default_table()
    added: list[Rule] = []

    def add(row: Rule) -> None:
        added.append(row)
        table.add([row], first=True)

    yield add
    for row in added:
        table.rows(row.function).remove(row)
    table.add([], first=True)
    table.found.clear()
    table.decided.clear()


def reverse_row(rrule: Callable[[Any, Any], Answer]) -> Primitive:
    return Primitive(
        library,
        frule=lambda args, dargs, kwargs: (args[0], dargs[0]),
        rrule=lambda args, fargs, kwargs: rrule(args[0], fargs[0]),
        is_fitted=True,
    )


def forward_row(frule: Callable[[Any, Any], Any]) -> Primitive:
    return Primitive(
        library,
        frule=lambda args, dargs, kwargs: frule(args[0], dargs[0]),
        rrule=lambda args, fargs, kwargs: (args[0], fargs[0], lambda bout: (bout,)),
    )


def on_float(x: float) -> Any:
    return library(x) * 2.0


def first_of(x: float) -> Any:
    return library(x)[0]


def on_list(u: list[float]) -> Any:
    v = library(u)
    return v[0] * u[0]


def on_array(u: Any) -> Any:
    v = library(u)
    return v[0] * u[0]


def changed(u: list[float]) -> Any:
    library(u)
    return u[0] * 2.0


def swap_first(u: list[float], fu: Any) -> Answer:
    u[0] = 5.0
    return None, None, lambda bout: (None,)


REVERSE: dict[str, tuple[Any, Any, Any, str]] = {
    "not an answer": (lambda x, f: (x, f), on_float, 1.0, "not (result, shadow, pullback)"),
    "a shadow of a float": (lambda x, f: (x, 0.0, lambda b: (b,)), on_float, 1.0, "shadow 0.0 of a float"),
    "a shadow of an int": (lambda x, f: (1, [], lambda b: (b,)), on_float, 1.0, "of a int, which has none"),
    "a shadow by value": (lambda x, f: ([x], NO_FDATA, lambda b: (b,)), first_of, 1.0, "by value"),
    "another length": (lambda x, f: ([x], [], lambda b: (b,)), first_of, 1.0, "list of 1 has"),
    "another shape": (
        lambda x, f: (np.ones(2), np.ones(3), lambda b: (b,)), first_of, 1.0, "array of shape (2,)",
    ),
    "another dtype": (
        lambda x, f: (np.ones(2), np.ones(2, "f4"), lambda b: (b,)), first_of, 1.0, "dtype float64",
    ),
    "another class": (lambda x, f: ([x], {}, lambda b: (b,)), first_of, 1.0, "is a list, not {}"),
    "a shadow of its own": (
        lambda u, f: (u, [0.0], lambda b: (None,)), on_list, [1.0], "has a shadow of its own",
    ),
    "a view with a shadow of its own": (
        lambda u, f: (u[1:], np.zeros(2), lambda b: (None,)), on_array, np.ones(3), "do not share memory",
    ),
    "a copy with the shadow of the argument": (
        lambda u, f: (u.copy(), f, lambda b: (None,)), on_array, np.ones(3), "do not share memory",
    ),
    "too few rdata": (lambda x, f: (x, f, lambda b: ()), on_float, 1.0, "gives 0 rdata for 1"),
    "too many rdata": (lambda x, f: (x, f, lambda b: (b, b)), on_float, 1.0, "gives 2 rdata for 1"),
    "complex rdata": (lambda x, f: (x, f, lambda b: (1j * b,)), on_float, 1.0, "rdata 2j for a float"),
    "rdata of an object": (lambda u, f: (u, f, lambda b: ([1.0],)), on_list, [1.0], "rdata [1.0] for a list"),
    "not restored": (swap_first, changed, [1.0], "does not restore a list"),
}  # fmt: skip


@pytest.mark.parametrize("name", REVERSE)
def test_wrong_reverse_rules(name: str, declare: Any) -> None:
    rrule, f, x, problem = REVERSE[name]
    declare(reverse_row(rrule))
    with adbc.use(DEBUG), pytest.raises(DebugError) as caught:
        adbc.grad(f)(x)
    text = str(caught.value)
    assert problem in text and "library" in text
    line = inspect.getsourcelines(f)[1]
    assert any(f"test_debug.py:{n})" in text for n in range(line, line + 3))


FORWARD: dict[str, tuple[Any, Any, Any, Any, str]] = {
    "not an answer": (lambda x, d: x, on_float, 1.0, 1.0, "not a pair"),
    "a tangent of an int": (lambda x, d: (1, 2.0), on_float, 1.0, 1.0, "of a int, which has none"),
    "a complex tangent": (lambda x, d: (x, 1j), on_float, 1.0, 1.0, "the tangent 1j of a float"),
    "another length": (lambda x, d: ([x], []), first_of, 1.0, 1.0, "list of 1 has"),
    "another shape": (
        lambda x, d: (np.ones(2), np.ones(3)), first_of, 1.0, 1.0, "array of shape (2,)",
    ),
    "another dtype": (
        lambda x, d: (np.ones(2), np.ones(2, "f4")), first_of, 1.0, 1.0, "dtype float64",
    ),
    "a tangent of its own": (lambda u, d: (u, [0.0]), on_list, [1.0], [1.0], "has a shadow of its own"),
    "a view with a tangent of its own": (
        lambda u, d: (u[1:], np.zeros(2)), on_array, np.ones(3), np.ones(3), "do not share memory",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FORWARD)
def test_wrong_forward_rules(name: str, declare: Any) -> None:
    frule, f, x, dx, problem = FORWARD[name]
    declare(forward_row(frule))
    with adbc.use(DEBUG), pytest.raises(DebugError) as caught:
        adbc.jvp(f, (x,), (dx,))
    assert problem in str(caught.value) and "test_debug.py:" in str(caught.value)


@pytest.mark.parametrize(("f", "x"), [(on_list, [2.0]), (on_array, np.array([2.0, 1.0]))])
def test_a_zero_derivative_of_what_is_the_argument(f: Any, x: Any, declare: Any) -> None:
    declare(ZeroRule(library))
    assert adbc.grad(f)(x)[0] == 2.0  # half of what is right: this is what debug mode is for
    with adbc.use(DEBUG):
        with pytest.raises(DebugError, match="declared zero, but its result is argument 0"):
            adbc.grad(f)(x)
        with pytest.raises(DebugError, match="declared zero, but its result is argument 0"):
            adbc.jvp(f, (x,), (x,))


def test_a_pullback_that_is_run_twice(declare: Any) -> None:
    kept: list[Any] = []

    def keeps(x: float, f: Any) -> Answer:
        out, fout, pullback = x, f, lambda b: (b,)
        return out, fout, pullback

    declare(reverse_row(keeps))
    with adbc.use(DEBUG):
        rule = default_engine().reverse.rule(default_table().find(library, (float,)))
        _, _, pullback = rule((1.0,), (NO_FDATA,), {})
        kept.append(pullback(1.0))
        with pytest.raises(DebugError, match="second time"):
            pullback(1.0)


class Node:
    weight = 2.0

    def __init__(self, x: float, below: Node | None = None) -> None:
        self.x = x
        self.below = below

    def total(self) -> float:
        return self.x * self.weight + (self.below.total() if self.below is not None else 0.0)


def program(x: float, values: list[float], v: Any) -> Any:
    node = Node(x, Node(x * values[0]))
    node.weight = x
    names = {"a": x, "b": math.sin(x)}
    names["a"] *= values[1]
    values.append(x)
    v[1:] *= x
    values.sort()
    total = 0.0
    for i, y in enumerate(values):
        total += y * i
    return total + node.total() + names["a"] + np.sum(v[::2]) + max(values)


def test_right_rules_pass() -> None:
    arguments = (1.5, [0.5, 2.0, 0.25], np.arange(4.0))
    expected = adbc.value_and_grad(program, (0, 1))(*arguments)
    with adbc.use(adbc.Config(debug=True, trace_nan=True, verify=True)):
        assert adbc.value_and_grad(program, (0, 1))(*arguments) == expected
        check_rule(program, *arguments)


def test_setting_what_the_class_has_a_default_for_is_undone() -> None:
    node = Node(1.0)

    def f(x: float) -> float:
        node.weight = x
        return node.total()

    assert adbc.grad(f)(3.0) == 1.0
    assert vars(node) == {"x": 1.0, "below": None}


def test_off_is_off() -> None:
    """The code that is generated is that of an engine that has never heard of it."""

    def f(x: float) -> float:
        return math.sin(x) * library(x)

    adbc.grad(f)(1.0)
    names = str(adbc.inspect.fwd_ir((f, float))) + str(adbc.inspect.rvs_ir((f, float)))
    assert "watch" not in names
    with adbc.use(adbc.Config(debug=True, trace_nan=True)):
        assert default_engine().reverse.watch is not None
    engine: Engine = default_engine()
    assert engine.reverse.watch is None and engine.forward.watch is None
    assert engine.reverse_calls.call.__func__ is type(engine.reverse_calls).call  # type: ignore[attr-defined]


def test_use_is_left_again_after_an_error() -> None:
    outside = default_engine()
    with pytest.raises(ZeroDivisionError), adbc.use(DEBUG):
        assert default_engine() is not outside
        adbc.grad(lambda x: x / 0.0)(1.0)
    assert default_engine() is outside


# -- numbers that are not finite -------------------------------------------------------------------


def inner(y: float) -> float:
    return math.sqrt(y)  # here


def scalars(x: float) -> float:
    y = x - x
    return 3.0 * inner(y)


def elements(v: Any) -> Any:
    r = np.sqrt(v)  # here
    return np.sum(r)


def unknown(x: float) -> Any:
    functions = [math.sqrt, math.sin]
    return functions[0](x - x) * 2.0  # here


class Scale:
    def __init__(self, k: float) -> None:
        self.k = k

    def __call__(self, x: float) -> Any:
        return x * self.k**0.5  # here


def objects(x: float) -> Any:
    scale = Scale(x - x)
    return scale(x) + x


def in_a_loop(x: float) -> float:
    total = 0.0
    for n in range(3):
        total += math.log(x * n + 1.0) + (x - 0.75 * n) ** 0.5  # here
    return total


def cubes(x: float) -> float:
    return np.cbrt(x - x) + math.atan(x)  # here


NAN: list[tuple[Any, Any, Any, str]] = [
    (scalars, 2.0, 1.0, "inner"),
    (elements, np.zeros(3), np.ones(3), "elements"),
    (unknown, 2.0, 1.0, "unknown"),
    (objects, 4.0, 1.0, "__call__"),
    (in_a_loop, 1.5, 1.0, "in_a_loop"),
    (cubes, 1.5, 1.0, "cubes"),
]


def where(f: Any, function: str) -> str:
    owner = {"inner": inner, "__call__": Scale.__call__}.get(function, f)
    lines, first = inspect.getsourcelines(owner)
    return f"test_debug.py:{first + next(i for i, line in enumerate(lines) if '# here' in line)})"


@pytest.mark.parametrize(
    ("f", "x", "dx", "function"), NAN, ids=lambda value: getattr(value, "__name__", None)
)
def test_where_a_number_that_is_not_finite_comes_in(f: Any, x: Any, dx: Any, function: str) -> None:
    gradient = adbc.grad(f)(x)
    assert not np.all(np.isfinite(gradient))
    with adbc.use(TRACE):
        with pytest.raises(NotFiniteError) as caught:
            adbc.grad(f)(x)
        assert function in str(caught.value) and where(f, function) in str(caught.value)


@pytest.mark.parametrize(
    ("f", "x", "dx", "function"), NAN, ids=lambda value: getattr(value, "__name__", None)
)
def test_the_same_in_forward_mode(f: Any, x: Any, dx: Any, function: str) -> None:
    _, tangent = adbc.jvp(f, (x,), (dx,))
    with adbc.use(TRACE):
        if np.all(np.isfinite(tangent)):  # zero times infinity is zero in this order
            assert adbc.jvp(f, (x,), (dx,))[1] == tangent
            return
        with pytest.raises(NotFiniteError) as caught:
            adbc.jvp(f, (x,), (dx,))
        assert function in str(caught.value) and where(f, function) in str(caught.value)


def test_forward_mode_at_a_point_where_the_tangent_is_not_zero() -> None:
    def f(x: float, functions: Any) -> Any:
        return math.sqrt(x) + functions[0](x)

    with adbc.use(TRACE):
        with pytest.raises(NotFiniteError, match=r"math\.sqrt"):
            adbc.jvp(f, (0.0, [math.sin]), (1.0, None))
        with pytest.raises(NotFiniteError, match=r"math\.sqrt"):
            adbc.jvp(lambda x, functions: functions[0](x), (0.0, [math.sqrt]), (1.0, None))
        with pytest.raises(NotFiniteError, match="is given the tangent nan of argument 0"):
            adbc.jvp(f, (1.0, [math.sin]), (math.nan, None))


def test_a_cotangent_from_outside_that_is_not_finite() -> None:
    with adbc.use(TRACE):
        _, pullback = adbc.vjp(lambda x: x * x, 2.0)
        with pytest.raises(NotFiniteError, match="is given a cotangent that is inf"):
            pullback(math.inf)


def test_data_that_is_not_finite_is_no_derivative() -> None:
    v = np.array([1.0, np.nan, 3.0])
    with adbc.use(TRACE):
        assert list(adbc.grad(lambda v: np.sum(v[~np.isnan(v)] ** 2))(v)) == [2.0, 0.0, 6.0]
        assert adbc.grad(lambda x: math.inf if x > 5.0 else x * x)(1.0) == 2.0


class Sealed(type):
    """A metaclass, whose instances are not of `type` itself."""


class WithMetaclass(metaclass=Sealed):
    def __init__(self, x: Any) -> None:
        self.x = x


class Marked(np.ndarray):
    """An array with attributes."""


def fails_in_a_try(x: Any) -> Any:
    try:
        return math.sqrt(x)
    except ValueError:
        return x


class Chooses:
    """A method that is chosen by the class of its argument; its descriptor has a property `__module__`."""

    @functools.singledispatchmethod
    def __init__(self, x: Any) -> None:
        self.x = x * x

    @__init__.register
    def _(self, x: float) -> None:
        self.x = 2.0 * x


class Calls(type):
    """A metaclass that makes classes and instances by Python code."""

    def __new__(cls, *args: Any) -> Any:
        return super().__new__(cls, *args)

    def __call__(cls, *args: Any) -> Any:
        return super().__call__(*args)


def makes_a_class(x: Any) -> Any:
    class Made(metaclass=Calls):
        @functools.cached_property
        def squared(self) -> Any:
            return x * x

    made = Made()
    return made.squared * made.squared


RIGHT: list[tuple[Callable[[Any], Any], Any]] = [
    (lambda x: type(WithMetaclass(x))(x * x).x, 1.5),
    (lambda x: float((np.array([x, 2.0]).view(Marked) * x).sum()) * x, 1.5),
    (fails_in_a_try, 2.0),
    (lambda x: Chooses(x).x * x, 1.5),
    (makes_a_class, 1.5),
]


@pytest.mark.parametrize("speculation", ["learn", "dynamic"])
@pytest.mark.parametrize("number", range(len(RIGHT)))
def test_no_alarm_without_a_fire(number: int, speculation: str) -> None:
    f, x = RIGHT[number]
    expected = adbc.value_and_grad(f)(x)
    with adbc.use(adbc.Config(debug=True, speculation=speculation)):
        assert adbc.value_and_grad(f)(x) == expected
        assert adbc.jvp(f, (x,), (1.0,)) == expected


# -- what is noted ------------------------------------------------------------------------------------------


def changes_below(u: Any, fu: Any) -> Answer:
    u[0][0] = 5.0
    return None, None, lambda bout: (None,)


def on_nested(u: list[list[float]]) -> Any:
    library(u)
    return u[1][0] * 2.0


@pytest.mark.parametrize("warm", [0, 40])
def test_what_is_reached_through_an_argument_is_compared(warm: int, declare: Any) -> None:
    declare(reverse_row(changes_below))
    with (
        adbc.use(adbc.Config(debug=True, warm_after=warm)),
        pytest.raises(DebugError, match="not restore a list"),
    ):
        adbc.grad(on_nested)([[1.0], [2.0]])


class Holder:
    def __init__(self, x: Any) -> None:
        self.x = x


@pytest.mark.parametrize(
    ("x", "change"),
    [
        ([1.0] * 100, lambda x: x.__setitem__(-1, 2.0)),
        ([1.0, 2.0], lambda x: x.append(3.0)),
        (collections.deque([1.0, 2.0]), lambda x: x.rotate(1)),
        ({1: 2.0}, lambda x: x.update({1: 3.0})),
        ({k: 1.0 * k for k in range(100)}, lambda x: x.popitem()),
        (np.ones(10_000), lambda x: x.__imul__(2.0)),
        (np.array([1.0, 2.0], dtype=object), lambda x: x.__setitem__(0, 3.0)),
        (Holder(1.0), lambda x: setattr(x, "x", 2.0)),
    ],
)
def test_a_glance_sees_numbers_that_move(x: Any, change: Any) -> None:
    seen = glance(x)
    assert seen is not None and not seems_moved(x, seen)
    change(x)
    assert seems_moved(x, seen)


@pytest.mark.parametrize("x", [[1, 2], {1: "a"}, [None] * 200])
def test_a_glance_does_not_mind_what_has_no_derivative(x: Any) -> None:
    seen = glance(x)
    assert seen is not None
    x.clear()
    assert not seems_moved(x, seen)
    assert glance(np.arange(3)) is None


def declares(x: Any) -> Any:
    """Stands for a function in C."""
    return [x]


def test_declared_results_are_compared_where_nothing_is_written(declare: Any) -> None:
    row = Primitive(
        declares,
        frule=lambda args, dargs, kwargs: ([args[0]], [dargs[0]]),
        rrule=lambda args, fargs, kwargs: ([args[0]], [0.0], lambda bout: (1.0,)),
        result=tuple,
    )
    declare(row)
    for run in (lambda f: adbc.grad(f)(1.0), lambda f: adbc.jvp(f, (1.0,), (1.0,))):
        with adbc.use(adbc.Config(debug=True)), pytest.raises(DebugError, match="was taken for tuple"):
            run(lambda x: declares(x)[0] * x)
