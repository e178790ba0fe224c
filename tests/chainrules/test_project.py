"""`ProjectTo`: what a rule computed becomes a tangent of the argument, or an error."""

from __future__ import annotations

import collections
import dataclasses
import gc
import weakref
from typing import Any

import numpy as np
import pytest

from adbc import chainrules as cr
from adbc.errors import InvalidTangentError

NO, ZERO = cr.NoTangent(), cr.ZeroTangent()
Point = collections.namedtuple("Point", "x y")


@dataclasses.dataclass
class Spring:
    k: float
    name: str


def array(*numbers: Any, dtype: Any = float) -> Any:
    return np.array(numbers, dtype)


CASES: list[tuple[Any, Any, Any]] = [
    (1.0, 2, 2.0),
    (1.0, 2 + 3j, 2.0),
    (1.0, np.array(2.0), 2.0),
    (1.0, np.float32(0.5), 0.5),
    (1.0, array(1.0, 2.0), 3.0),  # a number that was repeated
    (1j, 2.0, 2 + 0j),
    (3, 2.0, NO),
    (True, 2.0, NO),
    ("text", 2.0, NO),
    (None, ZERO, NO),
    (np.int64(3), 2.0, NO),
    (array(1, 2, dtype=int), array(1.0, 2.0), NO),
    (1.0, ZERO, ZERO),
    (1.0, NO, NO),
    (np.float32(1.0), 2.0, np.float32(2.0)),
    (np.array(1.0), 2.0, np.array(2.0)),
    (array(1.0, 2.0), array(1j, 2 + 1j, dtype=complex), array(0.0, 2.0)),
    (array(1.0, 2.0), np.ones((3, 2)), array(3.0, 3.0)),
    (np.ones((2, 1)), np.ones((2, 3)), np.full((2, 1), 3.0)),
    (np.ones((1, 3)), np.ones((2, 3)), np.full((1, 3), 2.0)),
    ((1.0, 2), (3, 4.0), cr.Tangent(tuple, 3.0, NO)),
    ((1.0, 2.0), cr.Tangent(tuple, 3, ZERO), cr.Tangent(tuple, 3.0, ZERO)),
    ((1, 2), (3.0, 4.0), NO),
    (Point(1.0, 2.0), (1, 2), cr.Tangent(Point, 1.0, 2.0)),
    ({"a": 1.0}, {"a": 2}, cr.Tangent(dict, {"a": 2.0})),
    ([1.0, [2.0]], [1.0, [2.0]], cr.Tangent(list, 1.0, cr.Tangent(list, 2.0))),
    (Spring(1.0, "a"), cr.Tangent(Spring, k=2), cr.Tangent(Spring, k=2.0, name=NO)),
]


@pytest.mark.parametrize(("x", "dx", "expected"), CASES, ids=str)
def test_projections(x: Any, dx: Any, expected: Any) -> None:
    found = cr.ProjectTo(x)(dx)
    if isinstance(expected, np.ndarray | np.generic):
        assert type(found) is type(expected)
        assert found.dtype == expected.dtype
        assert np.array_equal(found, expected)
        assert found.shape == expected.shape
    else:
        assert type(found) is type(expected)
        assert found == expected
    again = cr.ProjectTo(x)(found)
    assert np.array_equal(again, found) if isinstance(found, np.ndarray) else again == found


@pytest.mark.parametrize(
    ("x", "dx"),
    [
        (array(1.0, 2.0), array(1.0, 2.0, 3.0)),
        (array(1.0, 2.0), 1.0),  # it may be what should have been an array
        (array(1.0, 2.0), array(1.0)),
        (array(1.0, 2.0), None),
        (array(1.0), "text"),
        (1.0, None),
        (1.0, "text"),
        ((1.0, 2.0), (1.0,)),
        ((1.0, 2.0), 1.0),
        (Spring(1.0, "a"), cr.Tangent(Point, 1.0, 2.0)),
        (Spring(1.0, "a"), 3.0),
        ({"a": 1.0}, {"b": 1.0}),
    ],
    ids=str,
)
def test_what_is_no_tangent_is_an_error(x: Any, dx: Any) -> None:
    with pytest.raises(InvalidTangentError):
        cr.ProjectTo(x)(dx)


def test_thunks_are_projected_when_they_are_computed() -> None:
    calls = []
    t = cr.ProjectTo(np.ones(2, np.float32))(cr.Thunk(lambda: calls.append(1) or np.ones((3, 2))))  # type: ignore[func-returns-value]
    assert not calls
    assert cr.unthunk(t).dtype == np.float32
    assert calls == [1]


def test_an_object_that_holds_itself_is_refused() -> None:
    x: list[Any] = [1.0]
    x.append(x)
    with pytest.raises(InvalidTangentError, match="holds itself"):
        cr.ProjectTo(x)
    twice = [1.0]
    assert cr.ProjectTo([twice, twice]).is_differentiable


def test_it_keeps_no_reference() -> None:
    x = np.ones(1000)
    gone = weakref.ref(x)
    project = cr.ProjectTo((x, 1.0))
    del x
    gc.collect()
    assert gone() is None
    assert project((np.ones(1000), 1.0))[1] == 1.0


def test_a_sparse_array_keeps_its_pattern() -> None:
    sparse = pytest.importorskip("scipy.sparse")
    x = sparse.csr_array(np.array([[1.0, 0.0], [0.0, 2.0]]))
    found = cr.ProjectTo(x)(np.full((2, 2), 3.0))
    assert found.format == "csr"
    assert found.nnz == 2
    assert found.toarray().tolist() == [[3.0, 0.0], [0.0, 3.0]]
    assert cr.ProjectTo(x)(found + found).toarray().tolist() == [[6.0, 0.0], [0.0, 6.0]]
