"""One address, one shadow: `Shadows` and the geometry of shadows of arrays."""

from __future__ import annotations

import subprocess
import sys
import types
from typing import Any

import numpy as np
import pytest

from adbc import tangents as t
from adbc.errors import UnsupportedError
from adbc.runtime.state.shadows import Shadows
from adbc.tangents import NO_TANGENT, MutableTangent
from adbc.tangents.array_memory import add_into
from adbc.testing.compare import difference_of, has_equal_data


def test_aliased_arguments_share() -> None:
    shadows = Shadows()
    a = [1.0]
    assert shadows.tangent(a) is shadows.tangent(a)
    assert shadows.tangent([a])[0] is shadows.tangent(a)
    assert shadows.lookup([1.0]) is None
    assert shadows.lookup(a) is shadows.tangent(a)
    assert shadows.known((1.0, a, 2))[1] is shadows.tangent(a)


def test_numbers_are_never_keys() -> None:
    shadows = Shadows()
    x, y = 1.5, np.float32(2)
    shadows.tangent((x, y, "a"))
    assert shadows.lookup(x) is None
    assert shadows.lookup(y) is None


def test_objects_are_kept_alive() -> None:
    shadows = Shadows()
    seen = [shadows.tangent([1.0]) for _ in range(100)]
    assert len({id(s) for s in seen}) == 100


def test_views_of_different_arguments_share() -> None:
    shadows = Shadows()
    a = np.arange(6.0)
    tail, head = shadows.tangent(a[2:]), shadows.tangent(a[:4])
    tail += 1.0
    np.testing.assert_array_equal(head, [0, 0, 1, 1])
    whole = shadows.tangent(a)
    np.testing.assert_array_equal(whole, [0, 0, 1, 1, 1, 1])
    assert whole.flags.owndata


def test_registered_arrays_bring_their_memory() -> None:
    shadows = Shadows()
    a = np.arange(6.0)
    mine = np.ones(6)
    shadows.register(a, mine)
    assert shadows.tangent(a) is mine
    assert np.shares_memory(shadows.tangent(a[2:]), mine)
    b = np.arange(6.0)
    view = b[2:]
    shadow = t.fresh_shadow(view)
    shadows.register(view, shadow)
    assert np.shares_memory(shadows.tangent(b), shadow)


def test_closures_share_cells() -> None:
    total: Any = 0

    def add(x: float) -> None:
        nonlocal total
        total += x

    def get() -> Any:
        return total

    shadows = Shadows()
    first, second = shadows.tangent(add), shadows.tangent(get)
    assert first.total is second.total
    assert first.total.cell_contents is NO_TANGENT
    moved = t.add_to_primal((add, get), (first, second))
    moved[0](2.5)
    assert moved[1]() == 2.5
    assert get() == 0


def test_functions_with_nothing_to_hold_are_inactive() -> None:
    def plain(x: float, y: float = 2.0, *, z: str = "a") -> float:
        return x

    def recursive(n: int) -> Any:
        return recursive(n - 1) if n else plain

    def holds(x: float, buffer: list[float] = []) -> None:  # noqa: B006
        buffer.append(x)

    assert t.zero_tangent(plain) is NO_TANGENT
    assert t.zero_tangent(recursive) is NO_TANGENT
    assert t.zero_tangent(holds).__defaults__ == ([],)


def test_absent_fields_are_absent() -> None:
    class Slots:
        __slots__ = ("a", "b")

    x = Slots()
    x.b = 2.0  # type: ignore[attr-defined]
    assert vars(t.zero_tangent(x)) == {"b": 0.0}
    assert vars(t.zero_tangent(types.CellType())) == {}


def test_constructors_and_setters_are_not_run() -> None:
    class Guarded:
        def __init__(self) -> None:
            self.__dict__["w"] = 1.0

        def __setattr__(self, name: str, value: Any) -> None:
            raise RuntimeError

        def __getattr__(self, name: str) -> Any:
            raise RuntimeError

    moved = t.add_to_primal(Guarded(), MutableTangent(w=2.0))
    assert moved.w == 3.0


def test_long_chains_do_not_overflow() -> None:
    node: Any = None
    for i in range(20_000):
        node = [float(i), node]
    z = t.zero_tangent(node)
    t.increment(z, t.scale(2.0, z))
    assert t.dot(z, z) == 0.0
    assert has_equal_data(t.add_to_primal(node, z), node)


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (np.zeros(1, [("a", "f8"), ("n", object)]), "a field of objects"),
        ({1.0, 2.0}, "sets find"),
        (frozenset([(1, 2.0)]), "sets find"),
    ],
)
def test_refusals_say_why(value: Any, reason: str) -> None:
    with pytest.raises(UnsupportedError, match=reason):
        t.zero_tangent([value])


def test_values_with_attributes_are_refused() -> None:
    class Weighted(float):
        pass

    class Named(str):
        pass

    class Pair(tuple[Any, ...]):
        pass

    for x in (Weighted(1.0), Named("a"), Pair((1.0, 2.0))):
        t.zero_tangent(x)
        x.weight = 2.0  # type: ignore[union-attr]
        with pytest.raises(UnsupportedError, match="weight"):
            t.zero_tangent(x)


GEOMETRIES = [
    lambda a: a,
    lambda a: a.T,
    lambda a: a[::-1, 1:],
    lambda a: a[1],
    lambda a: a[:, None, ::2],
    lambda a: np.broadcast_to(a, (2, *a.shape)),
    lambda a: a.reshape(-1)[3:],
    lambda a: a.real,
    lambda a: a.view(a.dtype),
    lambda a: a.diagonal(),
    lambda a: np.lib.stride_tricks.sliding_window_view(a, (2, 2)),
]


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", ["f4", "f8", "c16", "O"])
@pytest.mark.parametrize("view", GEOMETRIES)
def test_the_shadow_of_a_view_is_the_view_of_the_shadow(view: Any, dtype: str, order: Any) -> None:
    a = np.asarray(np.arange(20.0).reshape(4, 5), dtype=dtype, order=order)
    if dtype == "O" and view(a).base is None:
        return
    shadows = Shadows()
    v = view(a)
    fv = shadows.tangent(v)
    fa = shadows.tangent(a)
    assert (fv.shape, fv.strides, fv.dtype) == (v.shape, v.strides, v.dtype)
    if np.shares_memory(a, v):
        fa[...] = np.arange(20.0).reshape(4, 5) + 1
        np.testing.assert_array_equal(fv, view(fa))
        start = fv.__array_interface__["data"][0] - fa.__array_interface__["data"][0]
        assert start == v.__array_interface__["data"][0] - a.__array_interface__["data"][0]


def test_cotangents_of_shared_elements_add_up() -> None:
    f = np.zeros(4)
    windows = np.lib.stride_tricks.sliding_window_view(f, 2, writeable=True)
    add_into(windows, np.ones((3, 2)))
    np.testing.assert_array_equal(f, [1, 2, 2, 1])
    g = np.zeros((2, 3), complex)
    wide = np.lib.stride_tricks.as_strided(g, (4, 2, 3), (0, *g.strides))
    add_into(wide, np.full((4, 2, 3), 1j))
    np.testing.assert_array_equal(g, np.full((2, 3), 4j))


def test_overlapping_views_are_incremented_once() -> None:
    a = np.arange(6.0)
    x = [a[:4], a[2:], a]
    one, two = t.zero_tangent(x), t.zero_tangent(x)
    two[2][...] = 1.0
    t.increment(one, two)
    np.testing.assert_array_equal(one[2], np.ones(6))
    assert t.dot(one, one) == 6.0
    z = np.ones(3, complex)
    part = t.zero_tangent([z.real, z])
    part[1][...] = 1 + 2j
    assert t.dot(part, part) == 15.0


def test_comparison() -> None:
    a = [1.0]
    assert has_equal_data([a, a], [a, a])
    assert "shared" in (difference_of([a, a], [[1.0], [1.0]]) or "")
    assert has_equal_data([a, a], [[1.0], [1.0]], sharing=False)
    assert has_equal_data(float("nan"), float("nan"))
    assert has_equal_data(1.0, 1.0 + 1e-12)
    assert not has_equal_data(1.0, 1.0 + 1e-12, exact=True)
    assert not has_equal_data(1.0, np.float64(1.0))
    assert not has_equal_data(np.ones(2), np.ones(3))
    assert not has_equal_data({"a": 1.0}, {"b": 1.0})
    assert not has_equal_data([1], [2])
    one: list[Any] = [1.0]
    one.append(one)
    other: list[Any] = [1.0]
    other.append(other)
    assert has_equal_data(one, other)
    other[0] = 2.0
    assert difference_of(one, other) == "at [0]: 1.0 and 2.0"


def test_import_does_not_load_numpy() -> None:
    code = (
        "import sys, adbc.tangents as t, adbc.runtime.state.shadows as s\n"
        "s.Shadows().tangent([1.0, (2.0, {'a': 1j})])\n"
        "assert 'numpy' not in sys.modules\n"
        "import numpy\n"
        "a = numpy.ones(2)\n"
        "assert t.slot_shadow(a) is a\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("make", ["numpy.array(v, float)", "array.array('d', v)"])
def test_what_is_made_before_anything_was_asked_is_iterated_over(make: str) -> None:
    code = (
        "import array, numpy, adbc\n"
        "def made(v):\n"
        "    if isinstance(v, (int, float)): v = [v]\n"
        f"    return {make}\n"
        "def f(x):\n"
        "    return [y * y for y in made(x)][0]\n"
        "assert adbc.grad(f)(1.5) == 3.0\n"
        "assert adbc.jvp(f, (1.5,), (1.0,)) == (2.25, 3.0)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
