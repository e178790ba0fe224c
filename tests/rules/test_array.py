"""`array.array`, `memoryview` and ``np.frombuffer``: memory with several names, in both modes."""

from __future__ import annotations

import copy
import operator
from array import array
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adbc
from adbc.errors import AdbcError, ConstWriteError, UnsupportedError
from adbc.testing import test_rule as check


def made(x: Any) -> Any:
    a = array("d", [x, x * x])
    a.append(x)
    a.extend([x, 1.0])
    a.extend(array("d", (x * 2.0,)))
    a[0] = x * 3.0
    a[-1] += x
    read = a[0] * a[1], a.tolist(), [u * x for u in a], list(reversed(a)), sum(a), max(a)
    return (
        read,
        a,
        len(a),
        a.typecode,
        a.count(x),
        array("d", (u * x for u in a)),
        array("d", a),
        array("i", [1]),
    )


def changed(a: Any, x: Any) -> Any:
    part = a[1:]
    a[:2] = array("d", [x, 2.0 * x, x * x])
    a.insert(0, x)
    a.insert(-1, a[1] * x)
    last, second = a.pop(), a.pop(1)
    a.reverse()
    a.fromlist([x, 1.5])
    a.remove(1.5)
    del a[0]
    del a[::3]
    joined = a + part, a * 2, 2 * a
    a += part
    a *= 2
    return part, last, second, a, joined, a == part, a < part, a.index(a[0])


def copied(a: Any, x: Any) -> Any:
    b, c = copy.copy(a), copy.deepcopy([a, a])
    b[0] = x
    c[0][1] = x * a[1]
    it = iter(a)
    first = next(it) * x
    a[1] = x * x
    return b, c[1], first, list(it), [operator.getitem(a, 0), *a]


def seen_by_numpy(a: Any, x: Any) -> Any:
    n = np.asarray(a)
    n[0] = x * 2.0
    a[1] *= x
    whole = n * x
    m = np.frombuffer(a, count=2, offset=8)
    m[0] += x
    c = np.array(a)
    c[0] = 7.0 * x
    return a[0] * x, whole, a, m.sum(), c


def aliased(a: Any, n: Any, v: Any, x: Any) -> Any:
    n[1] = x * a[0]
    a[2] += x
    v[0] = n[1] * 2.0
    return a, n * x, v.tolist()


def windows(a: Any, x: Any) -> Any:
    m = memoryview(a)
    m[0] = x * m[1]
    part = m[1:]
    part[0] *= x
    m[::2] = memoryview(np.array([x, x * x]))
    shown = np.asarray(part)
    shown[1] += x
    read = m[-1] * x, m.tolist(), [u * x for u in m], list(part), len(m), m.shape, m.format, sum(m)
    return read, a, np.frombuffer(m) * x, np.array(m), m == part


def stored(a: Any, x: Any) -> Any:
    """Windows and iterators in containers, fields, generators; methods that are kept."""
    box = [memoryview(a), iter(a)]
    box[0][1] = x
    first = next(box[1]) * x
    kept = {"a": a, "append": memoryview(a).tolist}
    total = sum(u * x for u in a) + sum(u * w for u, w in zip(memoryview(a), kept["a"], strict=True))
    target = np.zeros(len(a))
    target[:] = a
    target[1:] *= memoryview(a)[0]
    return first, list(box[1]), total, kept["append"](), target, [u * w for u in a for w in box[0]]


def grown(x: Any) -> Any:
    a = array("d", [x])
    put = [a.append]
    put[0](x * x)
    holder = {"array": a, "walk": iter(a)}
    holder["array"].append(3.0 * x)
    p, *rest = a
    return p, rest, [*a, x], list(holder["walk"]), dict(enumerate(a)), sorted(a), min(a)


def released(a: Any, x: Any) -> Any:
    with memoryview(a) as m:
        m[1] = x * m[0]
        kept = m[1] * x
    return a, kept


def of_two_axes(a: Any, x: Any) -> Any:
    m = memoryview(a)
    m[0, 1] = x * m[1, 0]
    return a, m.tolist(), m.ndim


def buffers(a: Any, x: Any) -> Any:
    w = np.frombuffer(a)
    a[1] = x
    part = np.frombuffer(a, count=2, offset=8)
    part[0] *= x
    return w * x, part, a


def three() -> Any:
    return np.array([0.5, 1.5, 0.7])


def typed() -> Any:
    return array("d", [0.5, 1.5, 0.7])


CASES: dict[str, tuple[Any, ...]] = {
    "made": (made, 0.8),
    "changed": (changed, typed(), 0.8),
    "copied": (copied, typed(), 0.8),
    "seen by NumPy": (seen_by_numpy, typed(), 0.8),
    "memoryview": (windows, three(), 0.8),
    "memoryview of a typed array": (windows, typed(), 0.8),
    "memoryview of a view": (released, three()[::-1], 0.8),
    "stored": (stored, three(), 0.8),
    "stored typed array": (stored, typed(), 0.8),
    "grown": (grown, 0.8),
    "memoryview released": (released, three(), 0.8),
    "memoryview of a matrix": (of_two_axes, np.array([[0.5, 1.5], [0.7, 0.1]]), 0.8),
    "memoryview given": (lambda m, x: (m.__setitem__(0, x * m[1]), m[0] * x, m), memoryview(three()), 0.8),
    "frombuffer": (buffers, three(), 0.8),
    "complex": (lambda a, x: (memoryview(a).format, np.frombuffer(a, complex) * x), three() * 1j, 0.8),
}


@pytest.mark.parametrize("name", CASES)
def test_memory_with_several_names_is_right(name: str) -> None:
    f, *args = CASES[name]
    check(f, *args)


def test_names_of_one_memory_as_arguments() -> None:
    a = typed()
    check(aliased, a, np.asarray(a), memoryview(a), 0.8)
    n = three()
    check(aliased, n, n[:], memoryview(n), 0.8)


def test_an_array_of_single_precision_keeps_its_type() -> None:
    def f(a: Any, x: Any) -> Any:
        a[0] = x * a[0]
        return a[0] * a[1]

    assert adbc.grad(f, (0, 1))(array("f", [0.5, 0.25]), 2.0) == (array("f", [0.5, 1.0]), 0.125)


def test_the_gradient_is_an_array_of_the_same_type() -> None:
    g = adbc.grad(lambda a: a[0] * a[1])(array("d", [2.0, 3.0]))
    assert type(g) is array and g == array("d", [3.0, 2.0])


def test_integers_have_no_derivative() -> None:
    def f(x: float, a: Any) -> Any:
        a[0] += 1
        a.append(3)
        return x * a[0] + a.tolist()[-1]

    a = array("i", [1, 2])
    assert adbc.value_and_grad(f)(2.0, a) == (7.0, 2.0)
    assert a == array("i", [1, 2])


def test_constants_are_not_written_to() -> None:
    def f(x: float, a: Any) -> Any:
        a[0] = x

    def g(x: float, a: Any) -> Any:
        a.append(x)

    def h(x: float, a: Any) -> Any:
        memoryview(a)[0] = x

    for function in (f, g, h):
        a = typed()
        with pytest.raises(ConstWriteError):
            adbc.vjp(function, 2.0, adbc.Const(a))
        with pytest.raises(ConstWriteError):
            adbc.jvp(function, (2.0, adbc.Const(a)), (1.0, None))
        assert a == typed()


REFUSED: dict[str, tuple[Callable[[Any, Any], Any], Callable[[], Any], str]] = {
    "bytes": (lambda a, x: a.tobytes(), typed, "tobytes"),
    "bytes of a memoryview": (lambda a, x: memoryview(a).tobytes(), three, "tobytes"),
    "cast": (lambda a, x: memoryview(a).cast("B"), three, "cast"),
    "reinterpreted": (lambda a, x: np.frombuffer(a, np.int64), three, "astype"),
    "of bytes": (lambda a, x: a.frombytes(b"12345678"), typed, "frombytes"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_arrays_cannot_hand_out_is_refused(name: str) -> None:
    f, make, match = REFUSED[name]
    value = make()
    with pytest.raises(AdbcError, match=match):
        adbc.grad(lambda a, x: (f(a, x), x)[1])(value, 0.8)
    assert value.tolist() == make().tolist()
    with pytest.raises(AdbcError, match=match):
        adbc.jvp(f, (value, 0.8), (make(), 1.0))


def seen_after_it_grew(x: float) -> Any:
    a = array("d", [x, 2.0])
    a.append(x * a[1])
    shown = memoryview(a)
    return sum(a) + shown[2]


def seen_after_it_shrank(x: float) -> Any:
    a = array("d", [x, 2.0])
    last = a.pop()
    shown = np.asarray(a)
    return shown[0] * last


@pytest.mark.parametrize("f", [seen_after_it_grew, seen_after_it_shrank])
def test_lengths_that_cannot_be_restored_while_memory_is_seen_are_refused(f: Any) -> None:
    for _ in range(3):
        with pytest.raises(UnsupportedError, match=f"seen through .* in {f.__name__}"):
            adbc.grad(f)(1.5)
    assert adbc.jvp(f, (1.5,), (1.0,))[0] == f(1.5)
