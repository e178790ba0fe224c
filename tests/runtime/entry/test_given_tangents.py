"""Tangents, cotangents, fdata and rdata given from outside: what does not fit is refused at once."""

from __future__ import annotations

import copy
import dataclasses
from collections import OrderedDict, deque
from typing import Any, NamedTuple

import numpy as np
import pytest

import adbc
from adbc import CoDual, Dual, MutableTangent, NoFData, NoRData, NoTangent, Tangent
from adbc.errors import InvalidTangentError, PullbackConsumedError
from adbc.testing.values import assert_same


class Point(NamedTuple):
    x: float
    y: Any


@dataclasses.dataclass(frozen=True)
class Frozen:
    a: float
    n: int


class Box:
    def __init__(self, w: Any) -> None:
        self.w = w


class Words(list[Any]):
    pass


RAN: list[str] = []


def changes(x: Any) -> Any:
    """Leaves a trace, so that it is seen if it was called."""
    RAN.append("ran")
    return x


ARRAY = np.ones((2, 3))
WRONG: dict[str, tuple[Any, Any, str]] = {
    "a string for a float": (1.0, "a", "a float"),
    "a bool for a float": (1.0, True, "a float"),
    "a list for a float": (1.0, [1.0], "a float"),
    "complex for a float": (1.0, 1j, "not complex"),
    "complex for float32": (np.float32(1), np.complex64(1j), "float32"),
    "an array for a float": (1.0, np.ones(2), "one of shape"),
    "a float for an int": (1, 1.0, "a int (1) has no tangent"),
    "a float for a string": ("a", 1.0, "has no tangent"),
    "a list for an array": (ARRAY, [[1.0] * 3] * 2, "of shape (2, 3) and dtype float64"),
    "another shape": (ARRAY, np.ones((3, 2)), "one of shape (3, 2)"),
    "another number of axes": (ARRAY, np.ones(6), "one of shape (6,)"),
    "a number for an array": (ARRAY, 1.0, "a ndarray"),
    "another dtype": (ARRAY, np.ones((2, 3), "f4"), "dtype float32"),
    "complex for real": (ARRAY, 1j * ARRAY, "dtype complex128"),
    "0-d of another dtype": (np.array(1.0), np.array(1.0, "f4"), "ndarray"),
    "an array of ints": (np.arange(2), np.ones(2), "has no tangent"),
    "a tuple for a list": ([1.0, 2.0], (1.0, 2.0), "a list"),
    "too short": ([1.0, 2.0], [1.0], "the same 2 parts"),
    "too long": ([1.0], [1.0, 2.0], "the same 1 part;"),
    "inside a list": ([1.0, [2.0, 3.0]], [1.0, [1.0, "a"]], "(at [1][1])"),
    "a float for an int in a list": ([1.0, 2], [1.0, 2.0], "(at [1])"),
    "none in a list": ([1.0], [None], "(at [0])"),
    "nothing for a float in a list": ([1.0], [NoTangent()], "(at [0])"),
    "a list for a tuple": ((1.0, 2.0), [1.0, 2.0], "a tuple"),
    "a short tuple": ((1.0, 2.0), (1.0,), "the same 2 parts"),
    "other keys": ({"a": 1.0}, {"b": 1.0}, "a dict with the same 1 part"),
    "missing keys": ({"a": 1.0, "b": 2.0}, {"a": 1.0}, "a dict with the same 2 parts"),
    "inside a dict": ({"a": {"b": [1.0]}}, {"a": {"b": [1j]}}, "(at ['a']['b'][0])"),
    "a dict for an OrderedDict": (OrderedDict(a=1.0), {"a": 1.0}, "a DictTangent"),
    "a tuple for a record": (Point(1.0, [2.0]), (1.0, [2.0]), "a Tangent"),
    "other fields": (Frozen(1.0, 2), Tangent(a=1.0, m=NoTangent()), "a Tangent with the same 2 parts"),
    "inside a record": (Point(1.0, [2.0]), Tangent(x=1.0, y=["a"]), "(at y[0])"),
    "a dict for an object": (Box(1.0), {"w": 1.0}, "a MutableTangent"),
    "an object for an object": (Box(1.0), Box(1.0), "a MutableTangent"),
    "a missing field": (Box(1.0), MutableTangent(), "a MutableTangent with the same 1 part"),
    "inside an object": (Box([1.0, Box(2.0)]), MutableTangent(w=[1.0, MutableTangent(w="2")]), "(at w[1].w)"),
    "a list for a deque": (deque([1.0]), [1.0], "a deque"),
    "a list for a subclass": (Words([1.0]), [1.0], "a ListTangent"),
    "inside an array of objects": (
        np.array([1.0, None], object), np.array(["a", NoTangent()], object), "(at [0])",
    ),
}  # fmt: skip
FITS: dict[str, tuple[Any, Any, Any]] = {
    "an int for a float": (1.0, 2, 2.0),
    "float64 for a float": (1.0, np.float64(2.0), 2.0),
    "float32 for a float": (1.0, np.float32(2.0), 2.0),
    "a float for float64": (np.float64(1.0), 2.0, np.float64(2.0)),
    "a float for float32": (np.float32(1.0), 2.0, np.float32(2.0)),
    "0-d for a float": (1.0, np.array(2.0), 2.0),
    "a float for complex": (1j, 2.0, 2.0 + 0j),
    "floats for a list of float64": ([np.float64(1.0)], [2.0], [2.0]),
    "float64 for a list of floats": ([1.0], [np.float64(2.0)], [2.0]),
    "ints for a list of floats": ([1.0, 2.0], [1, 0], [1, 0]),
    "a tuple of mixed numbers": (
        (1.0, np.float32(2.0), "a"), (2, 2.0, NoTangent()), (2.0, np.float32(2.0), NoTangent()),
    ),
    "None": ([1.0], None, [0.0]),
    "nothing": ([1.0], NoTangent(), [0.0]),
    "nothing for an int": (1, NoTangent(), NoTangent()),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_a_tangent_that_does_not_fit(name: str) -> None:
    x, t, problem = WRONG[name]
    before = copy.deepcopy((x, t))
    RAN.clear()
    with pytest.raises(InvalidTangentError) as caught:
        adbc.jvp(changes, (x,), (t,))
    text = str(caught.value)
    assert problem in text and "argument 0 of changes" in text
    assert_same(before, (x, t), name)
    if type(t) is not NoTangent:
        with pytest.raises(InvalidTangentError, match="does not hold together"):
            adbc.build_frule((changes, type(x)))(Dual(changes, NoTangent()), Dual(x, t))
    assert not RAN


@pytest.mark.parametrize("name", WRONG)
def test_a_cotangent_that_does_not_fit_leaves_the_pullback_to_be_run(name: str) -> None:
    x, t, problem = WRONG[name]
    before = copy.deepcopy((x, t))
    if name in ("a float for an int", "none in a list"):
        return  # a zero, and a value without a derivative that takes any number
    _, pullback = adbc.vjp(lambda x: [x], x)
    with pytest.raises(InvalidTangentError) as caught:
        pullback([t])
    inside = problem.replace("(at ", "(at [0]").replace("[0]y", "[0].y").replace("[0]w", "[0].w")
    assert inside in str(caught.value)
    assert_same(before, (x, t), name)
    zero = adbc.zero_tangent(x)
    (gradient,) = pullback([zero])
    assert_same(zero, gradient, name)
    with pytest.raises(PullbackConsumedError):
        pullback([zero])


@pytest.mark.parametrize("name", FITS)
def test_a_tangent_that_is_unambiguous(name: str) -> None:
    x, t, expected = FITS[name]
    before = copy.deepcopy((x, t))
    _, tangent = adbc.jvp(lambda x: x, (x,), (t,))
    assert tangent == expected and type(tangent) is type(expected)
    assert_same(before, (x, t), name)


@pytest.mark.parametrize("name", FITS)
def test_a_cotangent_that_is_unambiguous(name: str) -> None:
    x, t, expected = FITS[name]
    _, pullback = adbc.vjp(lambda x: x, x)
    (gradient,) = pullback(t)
    assert gradient == expected
    assert type(gradient) is type(expected)


def test_numbers_of_other_classes_in_a_calculation() -> None:
    def f(values: Any) -> Any:
        values[0] *= values[1]
        return values[0] * values[1]

    values = [np.float64(2.0), np.float64(3.0)]
    assert adbc.jvp(f, (values,), ([1.0, 0.5],)) == (18.0, 1.0 * 9.0 + 0.5 * 12.0)
    _, pullback = adbc.vjp(lambda v: [v[0] * v[1], v[1]], [np.float64(2.0), np.float64(3.0)])
    assert pullback([1.0, 2.0]) == ([3.0, 4.0],)


def test_nothing_is_done_when_one_of_several_does_not_fit() -> None:
    u, v = [1.0, 2.0], np.ones(2)
    du, dv = [1.0, 1.0], np.ones(3)
    with pytest.raises(InvalidTangentError, match="argument 1 "):
        adbc.jvp(lambda u, v: u.append(v[0]), (u, v), (du, dv))
    assert (u, du, list(v), list(dv)) == ([1.0, 2.0], [1.0, 1.0], [1.0, 1.0], [1.0, 1.0, 1.0])
    fu = [0.0, 0.0]
    rule = adbc.build_rrule((lambda u, v: u.append(v[0]), list, np.ndarray))
    f = rule.signature.function
    with pytest.raises(InvalidTangentError, match="CoDual of argument 1"):
        rule(CoDual(f, NoFData()), CoDual(u, fu), CoDual(v, np.zeros(3)))
    assert (u, fu) == ([1.0, 2.0], [0.0, 0.0])


def test_half_of_a_cotangent_that_fits_is_not_added() -> None:
    u, v = [1.0], [2.0]
    _, pullback = adbc.vjp(lambda u, v: (u, v, u[0] * v[0]), u, v)
    with pytest.raises(InvalidTangentError, match=r"\(at \[1\]\[0\]\)"):
        pullback(([5.0], ["a"], 1.0))
    assert pullback(([5.0], [7.0], 1.0)) == ([7.0], [8.0])


CODUALS: list[tuple[Any, Any, str]] = [
    (1.0, 1.0, "the fdata of a float is NoFData()"),
    (1, 0, "the fdata of a int is NoFData()"),
    ([1.0, 2.0], [0.0], "a list with the same 2 parts"),
    ([1.0, 2.0], (0.0, 0.0), "a list; not (0.0, 0.0)"),
    (np.ones(2), np.zeros(3), "of shape (2,)"),
    (np.ones(2), np.zeros(2, "f4"), "dtype float32"),
    ((1.0, [2.0]), (NoFData(), [0.0, 0.0]), "(at [1])"),
    ((1.0, [2.0]), [NoFData(), [0.0]], "of 2 parts has the same parts"),
    ((1.0, [2.0]), (0.0, [0.0]), "(at [0])"),
    (Box(1.0), MutableTangent(v=0.0), "a MutableTangent with the same 1 part"),
]


@pytest.mark.parametrize(("x", "f", "problem"), CODUALS)
def test_a_codual_that_does_not_hold_together(x: Any, f: Any, problem: str) -> None:
    rule = adbc.build_rrule((changes, type(x)))
    RAN.clear()
    with pytest.raises(InvalidTangentError) as caught:
        rule(CoDual(changes, NoFData()), CoDual(x, f))
    assert problem in str(caught.value) and "argument 0" in str(caught.value)
    assert not RAN


def test_rdata_that_does_not_fit_leaves_the_pullback_to_be_run() -> None:
    def f(x: float, u: Any) -> Any:
        u[0] = u[0] * x
        return (x * u[0], 1, u)

    u, fu = [3.0], [0.0]
    rule = adbc.build_rrule((f, float, list))
    nothing = NoRData()
    _, pullback = rule(CoDual(f, NoFData()), CoDual(2.0, NoFData()), CoDual(u, fu))
    for wrong in (
        1.0,
        (1.0,),
        (1.0, 2.0, nothing),
        (1.0, nothing, [1.0]),
        ("a", nothing, nothing),
        (1j, nothing, nothing),
    ):
        with pytest.raises(InvalidTangentError, match="not rdata of the value"):
            pullback(wrong)
        assert (u, fu) == ([6.0], [0.0])
    assert pullback((1.0, nothing, nothing)) == (nothing, 12.0, nothing)
    assert (u, fu) == ([3.0], [4.0])
    with pytest.raises(PullbackConsumedError, match="run already"):
        pullback((1.0, nothing, nothing))
    assert (u, fu) == ([3.0], [4.0])


def test_a_pullback_run_twice_changes_nothing() -> None:
    v = np.array([1.0, 2.0])

    def f(v: Any) -> Any:
        v *= v
        return v

    value, pullback = adbc.vjp(f, v)
    assert value is v
    (gradient,) = pullback(np.ones(2))
    assert list(gradient) == [2.0, 4.0] and list(v) == [1.0, 2.0]
    with pytest.raises(PullbackConsumedError, match=r"run already.*adbc\.vjp again"):
        pullback(np.ones(2))
    assert list(gradient) == [2.0, 4.0] and list(v) == [1.0, 2.0]


def test_wrong_numbers_of_things() -> None:
    with pytest.raises(adbc.errors.ArgumentError, match="2 arguments, 1 tangents"):
        adbc.jvp(lambda x, y: x, (1.0, 2.0), (1.0,))
    rule = adbc.build_rrule((changes, float))
    with pytest.raises(InvalidTangentError, match="takes 2 duals"):
        rule(CoDual(changes, NoFData()))
    with pytest.raises(InvalidTangentError, match="not Dual"):
        rule(CoDual(changes, NoFData()), Dual(1.0, 1.0))  # type: ignore[arg-type]  # what is tested


def doubling_rows(a: list[list[float]]) -> float:
    total = 0.0
    for row in a:
        row[0] = row[0] * 2.0
        for x in row:
            total += x * x
    return total


def test_one_object_inside_an_argument_has_one_tangent() -> None:
    row, along = [1.0, 2.0], [1.0, 0.5]
    with pytest.raises(InvalidTangentError, match="one object in the arguments has several tangents"):
        adbc.jvp(doubling_rows, ([row, row],), ([[1.0, 0.0], [0.0, 1.0]],))
    assert adbc.jvp(doubling_rows, ([row, row],), ([along, along],)) == (28.0, 44.0)
    with pytest.raises(InvalidTangentError, match="or several objects have one"):
        adbc.jvp(doubling_rows, ([[1.0, 2.0], [3.0, 4.0]],), ([along, along],))
