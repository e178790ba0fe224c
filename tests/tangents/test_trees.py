"""Tangents of objects are vectors; the numbers in any value are mapped, listed and flattened, each once."""

from __future__ import annotations

import array
import collections
import copy
import dataclasses
import functools
import random
from typing import Any, NamedTuple

import numpy as np
import pytest

import adbc
from adbc.errors import InvalidTangentError, UnsupportedError
from adbc.tangents import coordinates, random_tangent, with_coordinates
from adbc.tangents.aliasing import address_map


class Point(NamedTuple):
    x: Any
    y: Any


@dataclasses.dataclass
class Layer:
    w: Any
    b: Any = 0.0
    name: str = "layer"
    below: Any = None

    def __post_init__(self) -> None:
        self.calls = getattr(self, "calls", 0) + 1


@dataclasses.dataclass(frozen=True)
class Frozen:
    a: float
    b: Any


class Slotted:
    __slots__ = ("k", "missing", "steps")

    def __init__(self, k: Any) -> None:
        self.k, self.steps = k, 3


class Named(dict[str, Any]):
    pass


class Row(list[float]):
    pass


def network() -> Layer:
    shared = np.array([1.0, 2.0])
    below = Layer(shared, 0.25)
    top = Layer(np.arange(6.0).reshape(2, 3), 0.5, "top", below)
    top.shared, top.row, top.itself = shared, top.w[1], top  # type: ignore[attr-defined]
    return top


def deep(n: int) -> Any:
    node: Any = None
    for k in range(n):
        node = Layer(float(k), float(k), "node", node)
    return node


VALUES: dict[str, Any] = {
    "a float": 2.0,
    "a complex number": 1.0 + 2.0j,
    "a NumPy number": np.float32(1.5),
    "an array": np.arange(6.0).reshape(2, 3),
    "a Fortran array": np.asfortranarray(np.arange(6.0).reshape(2, 3)),
    "a strided array": np.arange(12.0)[::2],
    "a single array": np.arange(3, dtype=np.float32),
    "a complex array": np.arange(3) * (1.0 + 2.0j),
    "an array of no elements": np.zeros((0, 3)),
    "a 0-d array": np.array(3.0),
    "a list": [1.0, [2.0, 3.0], 4, "text", None],
    "a tuple": (1.0, (2.0, [3.0]), 5),
    "a named tuple": Point(1.0, [2.0]),
    "a dict": {"b": 1.0, "a": {"c": np.arange(2.0)}, "n": 2},
    "subclasses": [Named(a=1.0), Row([2.0]), collections.OrderedDict(z=3.0), collections.deque([4.0], 3)],
    "an array.array": [array.array("d", [1.0, 2.0]), array.array("i", [1])],
    "a frozen dataclass": Frozen(1.0, [2.0, Frozen(3.0, None)]),
    "slots": Slotted(2.0),
    "objects": network(),
    "views": (lambda w: [w[1:], w, w[:2], w.reshape(2, 2)])(np.arange(4.0)),
    "an array of objects": np.array([1.0, [2.0], None], object),
    "a partial function": functools.partial(max, 2.0, key=[3.0]),
    "no numbers": [1, "text", len],
}


def copied(x: Any) -> Any:
    return with_coordinates(x, coordinates(x))


@pytest.mark.parametrize("name", VALUES)
def test_ravel_and_back(name: str) -> None:
    tree = VALUES[name]
    vector, back = adbc.ravel(tree)
    leaves = adbc.tree_leaves(tree)
    assert vector.ndim == 1
    if name != "views" and name != "objects":
        assert vector.tolist() == [n for leaf in leaves for n in np.asarray(leaf).reshape(-1).tolist()]
    same, vector2 = back(vector), adbc.ravel(back(vector + 1.0))[0]
    np.testing.assert_array_equal(adbc.ravel(same)[0], vector)
    np.testing.assert_array_equal(vector2, vector + 1.0)
    np.testing.assert_array_equal(adbc.ravel(tree)[0], vector)  # which was left alone
    assert type(same) is type(tree)
    addresses = [len({a for _, a in address_map(x, coordinates(x))}) for x in (tree, same)]
    assert addresses[0] == addresses[1]


@pytest.mark.parametrize("name", VALUES)
def test_a_map_is_that_of_the_vector(name: str) -> None:
    tree = VALUES[name]
    vector, _ = adbc.ravel(tree)
    doubled = adbc.tree_map(lambda a: 2 * a, tree)
    np.testing.assert_array_equal(adbc.ravel(doubled)[0], 2 * vector)
    tangent = random_tangent(random.Random(7), tree)
    moved = adbc.tree_map(lambda a, t, b: a - 0.5 * t + b, tree, tangent, copied(tree))
    of_tangent = adbc.ravel(tangent)[0]
    np.testing.assert_allclose(adbc.ravel(moved)[0], 2 * vector - 0.5 * of_tangent, rtol=1e-6)


def test_shared_memory_counts_once_and_stays_shared() -> None:
    net = network()
    vector, back = adbc.ravel(net)
    assert vector.size == 6 + 2 + 2
    new = back(np.arange(10.0))
    assert new.itself is new and new.shared is new.below.w and new.calls == 1
    assert np.shares_memory(new.row, new.w) and new.name == "top"
    new.w[1, 0] = -5.0
    assert new.row[0] == -5.0
    called = []
    adbc.tree_map(lambda a: called.append(a) or a, [net.shared, net.shared, net.below, net.below])
    assert len(called) == 2  # the array, and the number beside it


def test_a_gradient_step_on_objects() -> None:
    def loss(net: Layer, x: Any) -> Any:
        return np.sum((net.w @ x + net.b) ** 2) + net.below.b * np.sum(net.shared * net.below.w)

    net, x = network(), np.array([1.0, -1.0, 2.0])
    value, g = adbc.value_and_grad(loss)(net, x)
    new = net - 1e-3 * g
    assert type(new) is Layer and new is not net and new.shared is new.below.w and new.itself is new
    assert loss(new, x) < value
    np.testing.assert_allclose(new.w, net.w - 1e-3 * g.w)
    np.testing.assert_allclose(new.shared, net.shared - 1e-3 * g.shared)
    assert adbc.norm(g) ** 2 == pytest.approx(adbc.dot(g, g))
    vector, _ = adbc.ravel(g)
    assert adbc.dot(g, g) == pytest.approx(float(vector @ vector))


@pytest.mark.parametrize("make", [network, lambda: Slotted(2.0), lambda: Frozen(1.0, [2.0])])
def test_vectors(make: Any) -> None:
    x = make()
    g, h = (random_tangent(random.Random(seed), x) for seed in (1, 2))
    vg, vh = adbc.ravel(g)[0], adbc.ravel(h)[0]
    before = [vg.copy(), vh.copy()]
    cases = [
        (g + h, vg + vh), (g - h, vg - vh), (2 * g, 2 * vg), (g * 0.5, 0.5 * vg), (-g, -vg), (+g, vg),
        (g / 4, vg / 4), (np.float64(3.0) * g, 3.0 * vg), (g * np.float32(2.0), 2.0 * vg), (g + g, 2 * vg),
        (True * g, vg), (g - g, 0.0 * vg),
    ]  # fmt: skip
    for made, wanted in cases:
        assert type(made) is type(g) and made is not g
        np.testing.assert_allclose(adbc.ravel(made)[0], wanted)
    np.testing.assert_array_equal([adbc.ravel(g)[0], adbc.ravel(h)[0]], before)
    numbers = adbc.ravel(x)[0]
    for moved, wanted in [(x + g, numbers + vg), (g + x, numbers + vg), (x - 2 * g, numbers - 2 * vg)]:
        assert type(moved) is type(x)
        np.testing.assert_allclose(adbc.ravel(moved)[0], wanted)
    np.testing.assert_array_equal(adbc.ravel(x)[0], numbers)


def test_what_is_no_vector_is_an_error() -> None:
    g = adbc.zero_tangent(Slotted(2.0))
    for wrong in (
        lambda: g * 1j, lambda: g + 1.0, lambda: 1.0 - g, lambda: g * g, lambda: g / g, lambda: 1.0 / g,
        lambda: g + [1.0], lambda: g * "a", lambda: np.ones(2) * g, lambda: Layer(1.0) + g,
        lambda: g - Slotted(1.0),
    ):  # fmt: skip
        with pytest.raises(TypeError):
            wrong()
    with pytest.raises(InvalidTangentError):
        g + adbc.zero_tangent(Layer(1.0))


def test_what_does_not_fit_is_an_error() -> None:
    tree = {"a": np.ones(3), "b": 1.0}
    for function in (np.sum, lambda a: None, lambda a: a * 1j, lambda a: "x"):
        with pytest.raises(InvalidTangentError, match="tree_map needs"):
            adbc.tree_map(function, tree)
    for other in ({"a": np.ones(3)}, {"a": np.ones(2), "b": 1.0}, [1.0], None):
        with pytest.raises(InvalidTangentError):
            adbc.tree_map(lambda a, b: a, tree, other)
    _, back = adbc.ravel(tree)
    for vector in (np.ones(3), np.ones((4, 1)), np.ones(4) * 1j, ["a"] * 4):
        with pytest.raises(InvalidTangentError, match="the vector has shape"):
            back(vector)
    memory = np.zeros(2)
    with pytest.raises(UnsupportedError, match="share memory"):
        adbc.ravel([memory, memory.view(np.complex128)])


def test_classes_and_dtypes_are_kept() -> None:
    tree = [np.float32(1.5), 2.0, np.arange(2, dtype=np.float32), 1j]
    vector, back = adbc.ravel(tree)
    assert vector.dtype == np.complex128
    assert list(map(type, back(vector))) == list(map(type, tree))
    assert back(vector)[2].dtype == np.float32
    single, _ = adbc.ravel([np.float32(1.5), np.arange(2, dtype=np.float32)])
    assert single.dtype == np.float32


def test_long_chains_need_no_deep_recursion() -> None:
    chain = deep(20_000)
    vector, back = adbc.ravel(chain)
    assert vector.size == 40_000
    assert back(vector).below.below.w == 19_997.0
    assert adbc.tree_map(lambda a: -a, chain).below.w == -19_998.0
    assert (chain - adbc.zero_tangent(chain)).below.w == 19_998.0


def test_a_copy_that_was_mapped_has_its_own_memory() -> None:
    tree = VALUES["objects"]
    same = adbc.tree_map(lambda a: a, tree)
    assert not np.shares_memory(same.w, tree.w)
    assert copy.deepcopy(tree).name == same.name
