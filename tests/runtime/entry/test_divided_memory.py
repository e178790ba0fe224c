"""One object at several places of a value has one tangent and one cotangent.

Several are refused, as only one of them would count.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adbc
from adbc.config import SPECULATION
from adbc.errors import InvalidTangentError


class Pair:
    def __init__(self, left: Any, right: Any) -> None:
        self.left, self.right = left, right


SHARED: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "list": (lambda y: [y, y], lambda c: [c, 5 * c]),
    "dict": (lambda y: {"a": y, "b": y}, lambda c: {"a": c, "b": 5 * c}),
    "list in a tuple": (lambda y: ([y, y], 1.0), lambda c: ([c, 5 * c], 1.0)),
    "one list twice": (lambda y: [[y]] * 2, lambda c: [[c], [5 * c]]),
    "views": (lambda y: [y[1:], y], lambda c: [c[1:].copy(), c]),
    "overlap": (lambda y: [y[1:], y[:-1]], lambda c: [c[1:].copy(), c[:-1].copy()]),
    "shapes": (lambda y: [y, y.reshape(3, 1)], lambda c: [c, c.reshape(3, 1).copy()]),
    "object": (lambda y: Pair(y, y), lambda c: adbc.zero_tangent(Pair(c, c.copy()))),
}


@pytest.mark.parametrize("speculation", SPECULATION)
@pytest.mark.parametrize("name", SHARED)
def test_several_cotangents_of_one_object_are_refused(name: str, speculation: str) -> None:
    make, cotangents = SHARED[name]
    with adbc.use(adbc.Config(speculation=speculation)):
        for _ in range(2):
            _, pullback = adbc.vjp(lambda x: make(x * 2.0), np.ones(3))
            with pytest.raises(InvalidTangentError, match="give the sum of both"):
                pullback(cotangents(np.ones(3)))
            (g,) = pullback(adbc.zero_tangent(make(np.ones(3))))  # nothing was done, so it still can run
            np.testing.assert_array_equal(g, np.zeros(3))


def test_a_cotangent_that_is_shared_as_the_value_is_counts_once() -> None:
    c = np.array([1.0, 2.0, 3.0])
    for share in (lambda y: [y, y], lambda y: [y[1:], y, y.reshape(3, 1)], lambda y: {"a": y, "b": [y]}):
        _, pullback = adbc.vjp(lambda x, share=share: share(x * 2.0), np.ones(3))
        np.testing.assert_array_equal(pullback(share(c))[0], 2.0 * c)


def test_parts_that_only_lie_side_by_side_have_cotangents_of_their_own() -> None:
    _, pullback = adbc.vjp(lambda x: list((x * 2.0).reshape(2, 3)), np.ones(6))
    np.testing.assert_array_equal(pullback([np.ones(3), np.full(3, 5.0)])[0], [2.0] * 3 + [10.0] * 3)
    _, pullback = adbc.vjp(lambda x: [(x * 2.0)[::2], x * 3.0], np.ones(4))
    c = np.ones(4)
    np.testing.assert_array_equal(pullback([c[:2], c])[0], [5.0, 3.0, 5.0, 3.0])


def test_cotangents_of_the_parts_of_a_tuple_add_up() -> None:
    _, pullback = adbc.vjp(lambda x: (x, x[1:], x), np.ones(3))
    np.testing.assert_array_equal(pullback((np.ones(3), np.ones(2), 5 * np.ones(3)))[0], [6.0, 7.0, 7.0])


def doubled(d: Any) -> Any:
    d["a"] *= 2.0
    return d["b"].sum()


@pytest.mark.parametrize("speculation", SPECULATION)
def test_several_tangents_of_one_array_are_refused(speculation: str) -> None:
    with adbc.use(adbc.Config(speculation=speculation)):
        for _ in range(2):
            w, t = np.ones(3), np.array([1.0, 2.0, 3.0])
            for value, tangent in (
                ({"a": w, "b": w}, {"a": t, "b": 2.0 * t}),
                ({"a": w, "b": w[1:]}, {"a": t, "b": t[1:].copy()}),
            ):
                with pytest.raises(InvalidTangentError, match="several tangents"):
                    adbc.jvp(doubled, (value,), (tangent,))
            _, dy = adbc.jvp(doubled, ({"a": w, "b": w[1:]},), ({"a": t, "b": t[1:]},))
            assert dy == 10.0


def test_memory_of_which_only_the_address_is_known() -> None:
    w, t = np.from_dlpack(np.ones(3)), np.array([1.0, 2.0, 3.0])  # a capsule holds the memory
    _, dy = adbc.jvp(doubled, ({"a": w, "b": w[1:]},), ({"a": t, "b": t[1:]},))
    assert dy == 10.0
    with pytest.raises(InvalidTangentError, match="several tangents"):
        adbc.jvp(doubled, ({"a": w, "b": w[1:]},), ({"a": t, "b": t[1:].copy()},))
    w, t = np.from_dlpack(np.ones(3)), np.array([1.0, 2.0, 3.0])  # they have been doubled
    _, pullback = adbc.vjp(lambda d: [d["b"], d["a"], 3.0 * d["a"][::-1]], {"a": w, "b": w[1:]})
    with pytest.raises(InvalidTangentError, match="give the sum of both"):
        pullback([t[1:].copy(), t, t])
    (gradient,) = pullback([t[1:], t, t])
    np.testing.assert_array_equal(gradient["a"], [10.0, 8.0, 6.0])
    np.testing.assert_array_equal(gradient["b"], [8.0, 6.0])
