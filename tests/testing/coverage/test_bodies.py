"""Functions in Python that stand in for those of libraries, made wrong on purpose, are found to be."""

from __future__ import annotations

import math
import types
from typing import Any

import numpy as np
import pytest

import adbc
from adbc.rules.scipy import distances, trees
from adbc.testing.coverage import Case
from adbc.testing.coverage.bodies import _word, mutations_in, survey_of_bodies, wrong
from adbc.testing.coverage.met import HOME, HOMES, Met, met_in_calls
from adbc.testing.coverage.tables.survivors import OF_BODIES


def scaled(x: Any, n: int) -> Any:
    """Of each kind of expression there is one."""
    if n - 1 < 0:
        raise ValueError(f"{n + 1}")

    def inner(y: Any) -> Any:
        return -y * n

    return np.sum(inner(x).T) - x[n - 1]


def test_expressions_are_changed_one_by_one() -> None:
    found = {mutation.what: mutation for mutation in mutations_in(scaled)}
    assert set(found) == {
        "np.sum(inner(x).T) - x[n - 1], the other sign",
        "np.sum(inner(x).T) - x[n - 1], a term dropped",
        "inner(x).T, not transposed",
        "-y * n, a hundredth more",
        "-y, the other sign",
    }
    assert all(mutation.entry == f"{__name__}.scaled" for mutation in found.values())
    x = np.array([1.0, 2.0])
    other = types.FunctionType(found["-y, the other sign"].codes[scaled.__code__], globals())
    assert (scaled(x, 2), other(x, 2)) == (-8.0, 4.0)


def made(factor: float) -> Any:
    """What makes a function is no part of it."""
    name = "body" + str(factor * 2.0)

    def body(x: Any) -> Any:
        return x * factor

    body.__name__ = name
    return body


def test_what_makes_a_function_is_passed_over() -> None:
    inside = made(2.0).__code__
    words = [
        [mutation.what for mutation, _ in survey_of_bodies(Met({made: []}, {}, frozenset(entered)))]
        for entered in ((inside,), (made.__code__,), (made.__code__, inside), ())
    ]
    outside = ["factor * 2.0, a hundredth more"]
    assert words[0] == ["x * factor, a hundredth more"]
    assert set(outside) <= set(words[1]) and not set(words[0]) & set(words[1])
    assert set(words[2]) == {*words[0], *words[1]} and words[3] == []


def test_a_function_is_wrong_in_a_block() -> None:
    spatial = pytest.importorskip("scipy.spatial")
    x, y = np.array([[0.3, 0.4]]), np.array([[0.0, 1.0]])

    def distance(x: Any) -> Any:
        return spatial.distance.cdist(x, y)[0, 0]

    gradient = adbc.grad(distance)
    expected = (x - y) / math.sqrt(0.45)
    np.testing.assert_allclose(gradient(x), expected)
    (mutation,) = [m for m in mutations_in(trees._length) if m.what.startswith("np.max")]
    with wrong(mutation):
        np.testing.assert_allclose(gradient(x), expected)  # another function
    (mutation,) = [m for m in mutations_in(distances._sqeuclidean) if m.what == "w * d * d, a hundredth more"]
    case = Case(
        "scipy.spatial.distance.cdist", "scipy.spatial.distance.cdist(A, C, 'sqeuclidean', w=v[:3])", "plain"
    )
    assert _word(mutation, [case], 20) == "found"
    unweighted = Case(case.entry, "scipy.spatial.distance.cdist(A, C, 'cityblock')", "plain")
    assert _word(mutation, [unweighted], 20) == "survives"


def test_functions_are_found_in_calls() -> None:
    pytest.importorskip("scipy.spatial")
    found = met_in_calls("scipy.spatial", "ConvexHull", 20).bodies
    assert trees.Hull.__init__ in found
    assert {f.__module__ for f in found} <= {HOME + name for name in HOMES["scipy.spatial"].split()}


def test_survivors_name_functions_and_have_reasons() -> None:
    assert all(OF_BODIES.values())
    homes = {f"{HOME}{name}" for names in HOMES.values() for name in names.split()}
    assert all(any(name.startswith(f"{home}.") for home in homes) for name in OF_BODIES)
