"""Ways to walk through an array: right in both modes, or refused with a word on what to do instead."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.lib.stride_tricks import as_strided, sliding_window_view

import adbc
from adbc.errors import AdbcError, UnsupportedError
from adbc.testing import test_rule as check
from adbc.testing import test_rule as check_rule


def vectorized_with_effects(v: Any, x: Any) -> Any:
    log = [x]

    def step(u: Any) -> Any:
        log.append(log[-1] * u)
        return log[-1]

    return np.vectorize(step)(v), log


def flat_assigned(v: Any, x: Any) -> Any:
    v.flat[0] = x
    return v


def all_flat_assigned(v: Any, x: Any) -> Any:
    v.flat = x
    return v


def flat_everywhere(v: Any, x: Any) -> Any:
    v.flat[1] = x
    v.T.flat[-1] = x * v.flat[0]
    v.flat[[0, 1, 0]] = [x, x * x, 3.0 * x]
    v.flat[2:4] += v.flat[[1, 1]]
    v.flat[(v > 1.0).ravel()] *= x
    v.flat = [x, *v.flat[1:3]]
    return v, v.flat[...], v.flat[()]


def flat_stored(v: Any, x: Any) -> Any:
    it = v.flat
    first = next(it) * next(it)
    v[0, 2] = x
    rest = [u * x for u in it]
    return first, rest, it.index, it.coords, len(it), it.base, it.copy()


def flat_in_step(v: Any, x: Any) -> Any:
    pairs = [a * b * x for a, b in zip(v.flat, v.T.flat, strict=True)]
    return (
        pairs,
        [i * a for i, a in enumerate(v.flat)],
        sum(v.flat),
        max(v.flat),
        sorted(v.flat),
        list(v.flat),
    )


def flat_given(it: Any, v: Any, x: Any) -> Any:
    v[1] *= x
    seen = [u * x for u in it]
    it[0] = seen[0]
    return seen, it[-1] * x, v


def parts_set(c: Any, x: Any) -> Any:
    c.real = x
    c.imag = c.real * 2.0
    c.real[0, 1] *= x
    c[0].imag = [x, 1.0, x]
    return c


def strided_written(v: Any, x: Any) -> Any:
    w = as_strided(v, shape=(2,), strides=(16,))
    w[1] = x
    v[0] *= x
    return v, w, as_strided(v[:1], (3,), (8,)) * x, as_strided(v[2:], (3,), (-8,)) * x


def nditer_written(v: Any, x: Any) -> Any:
    with np.nditer(v, op_flags=["readwrite"]) as it:
        for u in it:
            u[...] = u * x
    return v


def nditer_ways(v: Any, x: Any) -> Any:
    row = np.array([x, 1.0, x * x])
    orders = [[float(u) * x for u in np.nditer(v, order=order)] for order in ("C", "F", "A", "K")]
    pairs = [a * b * x for a, b in np.nditer([v, row])]
    transposed = [u * x for u in np.nditer(v.T)]
    it = np.nditer(v, flags=["multi_index"])
    weighted = [u * x * (it.multi_index[0] + 1) for u in it]
    return orders, pairs, transposed, weighted, it.finished, it.itersize, it.nop, np.nditer(x)[0] * 2.0


def nditer_subscripts(v: Any, x: Any) -> Any:
    it = np.nditer([v, v * x], op_flags=[["readwrite"], ["readonly"]])
    with it:
        while not it.finished:
            it[0] = it[0] * it[1]
            it[0] += x
            it.iternext()
        it.reset()
        first = it.value[0] * x
    return v, first


def nditer_allocated(v: Any, x: Any) -> Any:
    it = np.nditer([v, None], op_flags=[["readonly"], ["writeonly", "allocate"]])
    with it:
        for a, b in it:
            b[...] = a * a * x
        return it.operands[1]


def nditer_read_only(v: Any, x: Any) -> Any:
    try:
        for u in np.nditer(v):
            u[...] = x
    except ValueError as error:
        return v * x, str(error)


MADE = np.frompyfunc(lambda u, w: u * w + u, 2, 1)


def broadcast_twice(v: Any, x: Any) -> Any:
    both = np.broadcast(v, x)
    first = next(both)
    place = both.index
    both.reset()
    return [first, place * x, both.size, both.shape, both.numiter, *both]


RIGHT: dict[str, Callable[[Any, Any], Any]] = {
    "vectorize with two results": lambda v, x: np.vectorize(lambda u: (u, u * x))(v),
    "ndindex": lambda v, x: sum([v[i] * x * (i[0] + 1) for i in np.ndindex(*v.shape)]),
    "ndindex of shape": lambda v, x: sum([v[i] * x for i in np.ndindex(v.shape)]),
    "ndenumerate": lambda v, x: [i[0] * u * x for i, u in np.ndenumerate(v)],
    "vectorize": lambda v, x: np.vectorize(lambda u: u * u * x)(v),
    "vectorize with otypes": lambda v, x: np.vectorize(lambda u: u * x, otypes=[float])(v),
    "vectorize of a matrix": lambda v, x: np.vectorize(lambda u, w: u * w * x)(np.stack([v, v]), v),
    "vectorize with effects": lambda v, x: vectorized_with_effects(v, x),
    "vectorize two": lambda v, x: np.vectorize(lambda u, w: u * w if u > 1.0 else u + w)(v, x),
    "sliding windows": lambda v, x: sliding_window_view(v, 2) * x,
    "sliding windows reduced": lambda v, x: sliding_window_view(v * x, 2).sum(axis=1),
    "iterate": lambda v, x: [u * x for u in v],
    "iterate rows": lambda v, x: [row.sum() * x for row in np.stack([v, v * x])],
    "tolist": lambda v, x: [u * x for u in v.tolist()],
    "apply along": lambda v, x: np.apply_along_axis(lambda r: r * r.sum(), 0, v * x),
    "nditer": lambda v, x: sum([float(u) * x for u in np.nditer(v)]),
    "nditer written": nditer_written,
    "flat": lambda v, x: [u * x for u in v.flat],
    "flat subscript": lambda v, x: v.flat[1] * x,
    "flat assigned": flat_assigned,
    "all flat assigned": all_flat_assigned,
    "as_strided": lambda v, x: as_strided(v, (2, 2), (8, 8)) * x,
    "as_strided of a result": lambda v, x: as_strided(v * x, (2, 2), (8, 8)).sum(axis=0),
    "as_strided without writing": lambda v, x: as_strided(v, (2, 2), (8, 8), writeable=False) * x,
    "as_strided written": strided_written,
    "fromiter": lambda v, x: np.fromiter((u * x for u in v), float),
    "frompyfunc": lambda v, x: np.frompyfunc(lambda u: u * x, 1, 1)(v).astype(float),
    "frompyfunc broadcast": lambda v, x: np.frompyfunc(lambda u, w: u * w, 2, 1)(v, v[:, None] * x).astype(
        float
    ),
    "frompyfunc of numbers": lambda v, x: np.frompyfunc(lambda u, w: (u * w, u + w), 2, 2)(float(v[0]), x),
    "frompyfunc of objects": lambda v, x: (MADE(v.astype(object), v) * x).astype(float),
    "frompyfunc scanned": lambda v, x: MADE.reduce(v * x) + MADE.accumulate(v * x).astype(float),
    "frompyfunc outer": lambda v, x: MADE.outer(v, v * x).astype(float),
    "frompyfunc made and scanned": lambda v, x: np.frompyfunc(lambda u, w: u * w + x, 2, 1).reduce(v),
    "frompyfunc of texts": lambda v, x: v * len(np.frompyfunc(str, 1, 1)(np.arange(3))) * x,
    "broadcast": lambda v, x: [a * b for a, b in np.broadcast(v, v[:, None] * x)],
    "broadcast twice": broadcast_twice,
    "vectorize by name": lambda v, x: np.vectorize(lambda u, k: u * k)(v, k=x),
    "vectorize with exclusions": lambda v, x: np.vectorize(lambda u, k: u * k.sum(), excluded={1})(v, v * x),
    "vectorize with a signature": lambda v, x: (
        1.0 * np.vectorize(lambda r: r @ r * x, signature="(n)->()")(v)
    ),
    "vectorize with a cache": lambda v, x: np.vectorize(lambda u: u * x, cache=True)(v),
    "piecewise": lambda v, x: np.piecewise(v * x, [v > 1.0], [lambda u: u * u, 0.0]),
}


def assigned_itself(x: Any, v: Any) -> Any:
    v[0] *= x
    before = v * v
    v.flat = v
    v.T.flat[:] = v.T
    return before * v


def masked(x: Any, v: Any) -> Any:
    m = np.ma.masked_outside(v * x, -10.0, 1.5)
    m.mask |= v > 2.0  # which assigns the flat mask itself
    return m.filled(x).sum() + m.mean()


@pytest.mark.parametrize("f", [assigned_itself, masked])
def test_what_is_assigned_itself(f: Any) -> None:
    for _ in range(3):
        check_rule(f, 0.7, np.array([[1.0, 2.5, 3.0], [0.4, 1.9, 0.3]]))


def test_numbers_that_change_while_they_are_assigned_are_refused() -> None:
    def f(v: Any) -> Any:
        v.flat = v[::-1]
        return v.sum()

    for run in (lambda: adbc.grad(f)(np.ones(3)), lambda: adbc.jvp(f, (np.ones(3),), (np.ones(3),))):
        with pytest.raises(UnsupportedError, match="Assign a copy of them"):
            run()


@pytest.mark.parametrize("name", RIGHT)
def test_walks_through_arrays_are_right(name: str) -> None:
    check(RIGHT[name], np.array([0.5, 1.5, 0.7]), 0.8)


MATRIX = np.array([[0.5, 1.5, 0.7], [2.0, 0.1, 0.9]])


@pytest.mark.parametrize("f", [flat_everywhere, flat_stored, flat_in_step])
def test_flat(f: Any) -> None:
    check(f, MATRIX, 0.8)
    check(f, MATRIX[:, ::-1], 0.8)


@pytest.mark.parametrize("f", [nditer_ways, nditer_subscripts, nditer_allocated, nditer_written])
def test_nditer(f: Any) -> None:
    check(f, MATRIX, 0.8)
    check(f, MATRIX[:, ::-1], 0.8)
    check(f, np.asfortranarray(MATRIX), 0.8)


def test_nditer_gives_views_that_cannot_be_written_through() -> None:
    check(nditer_read_only, MATRIX, 0.8)


def test_parts_of_complex_arrays_are_set() -> None:
    check(parts_set, MATRIX + 0.5j, 0.8)


def test_flat_iterators_as_arguments() -> None:
    v = np.array([0.5, 1.5, 0.7])
    it = v.flat
    next(it)
    check(flat_given, it, v, 0.8)


class Plain(np.ndarray):
    pass


class Told(np.ndarray):
    def __array_finalize__(self, obj: Any) -> None:
        self.unit = getattr(obj, "unit", 1)


def vectorized_by_decorators(v: Any, x: Any) -> Any:
    @np.vectorize
    def square(u: Any) -> Any:
        """What it does."""
        return u * u * x

    @np.vectorize(otypes=[float], doc="Another")
    def half(u: Any) -> Any:
        return u * x / 2

    assert isinstance(square, np.vectorize) and isinstance(half, np.vectorize)
    assert (square.__name__, square.__doc__) == ("square", "What it does.")
    assert (half.__name__, half.__doc__) == ("half", "Another")
    return square(v), half(v), square.pyfunc(x), square.signature, square.excluded


def vectorized_over_instances(v: Any, x: Any) -> Any:
    instance = (v * x).view(Plain)
    product = np.vectorize(lambda a, b: a * b)(v, instance)
    pair = np.vectorize(lambda a: (a, a * x))(instance)
    assert type(product) is type(pair[0]) is type(pair[1]) is Plain
    return np.asarray(product), [np.asarray(p) for p in pair]


def test_vectorize_as_a_decorator() -> None:
    check(vectorized_by_decorators, np.array([0.5, 1.5, 0.7]), 0.8)


def test_vectorize_keeps_the_class_of_instances() -> None:
    check(vectorized_over_instances, np.array([0.5, 1.5, 0.7]), 0.8)


def test_vectorize_without_arguments() -> None:
    check(lambda x: np.vectorize(lambda: x * x, otypes=[float])(), 0.8)


REFUSED: dict[str, Callable[[Any, Any], Any]] = {
    "vectorize of an instance that is told": lambda v, x: np.vectorize(lambda u: u * x)(v.view(Told)),
    "flat assigned its own elements": lambda v, x: v.flat.__setitem__(slice(None), v[::-1]),
    "shape set": lambda v, x: setattr(v * x, "shape", (3, 1)),
    "overlapping elements written": lambda v, x: as_strided(v, (2, 2), (8, 8)).fill(x),
    "overlapping elements sorted": lambda v, x: as_strided(v, (2, 2), (8, 8)).sort(),
    "nditer with a buffer": lambda v, x: sum([u * x for u in np.nditer(v, flags=["buffered"])]),
    "nditer with a dtype": lambda v, x: [u * x for u in np.nditer(v, op_dtypes=[complex], casting="safe")],
    "nditer writing to a broadcast": lambda v, x: np.nditer(
        [v, np.zeros((2, 3))], flags=["reduce_ok"], op_flags=[["readwrite"], ["readonly"]]
    ),
    "frompyfunc of other objects": lambda v, x: np.frompyfunc(lambda u: (u * x, u), 1, 1)(v),
    "frompyfunc with a target": lambda v, x: np.frompyfunc(lambda u: u * x, 1, 1)(v, out=v.astype(object)),
    "reduceat of frompyfunc": lambda v, x: np.frompyfunc(lambda u, w: u * w * x, 2, 1).reduceat(v, [0, 1]),
    "iterators of a broadcast": lambda v, x: np.broadcast(v, v * x).iters[0],
}


@pytest.mark.parametrize("name", REFUSED)
def test_walks_that_cannot_be_followed_are_refused(name: str) -> None:
    v = np.array([0.5, 1.5, 0.7])
    for run in (
        lambda: adbc.jvp(REFUSED[name], (v.copy(), 0.8), (np.ones(3), 1.0)),
        lambda: adbc.vjp(REFUSED[name], v.copy(), 0.8),
    ):
        with pytest.raises(AdbcError):
            run()


def flat_without_an_axis(v: Any, x: Any) -> Any:
    v.flat[0] = x * x
    first = v.flat[0] * x
    v.flat[np.array([0])] = [x * 3.0]
    v.flat[[0]] *= v.flat[np.array([0])]
    return v, first, v.flat[:], v.flat[np.array([0, 0])]


@pytest.mark.parametrize("v", [np.array(1.5), np.arange(8.0)[3:4].reshape(())])
def test_flat_arrays_without_an_axis(v: Any) -> None:
    check(flat_without_an_axis, v, 0.7)


def chunks_read(v: Any, x: Any) -> Any:
    chunks = np.nditer(v, flags=["external_loop"], order="F")
    return sum([(u * np.arange(u.size)).sum() * x for u in chunks])


def chunks_written(v: Any, x: Any) -> Any:
    with np.nditer(v, flags=["external_loop"], op_flags=[["readwrite"]]) as chunks:
        for u in chunks:
            u[...] = u * u * x
            u[1] = u[0] * x
    return v.sum() * x


def chunks_of_two(v: Any, x: Any) -> Any:
    return sum([(u * w).sum() for u, w in np.nditer([v, v * x], flags=["external_loop"])])


@pytest.mark.parametrize("function", [chunks_read, chunks_written, chunks_of_two])
def test_nditer_in_chunks(function: Any) -> None:
    six = np.arange(6.0).reshape(2, 3) + 0.5
    for v in (six[0], six, np.arange(12.0).reshape(3, 4)[:, ::2], six.T):
        check_rule(function, v, 0.8)
