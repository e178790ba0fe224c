"""Special methods called by name, and keys that say by ``__index__`` which position they are."""

from __future__ import annotations

import operator
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adbc
from adbc.testing import test_rule as check


class At:
    """A position, with a number that has a derivative beside it."""

    def __init__(self, place: int, weight: float = 1.0) -> None:
        self.place, self.weight = place, weight

    def __index__(self) -> int:
        self.weight = self.weight * 2.0
        return self.place


def of_lists(a: Any, x: Any) -> Any:
    a.__setitem__(1, x)
    a.__iadd__([x])
    list.__setitem__(a, 0, x * x)
    operator.setitem(a, 2, x)
    a.__imul__(2)
    a.__delitem__(0)
    a.__setitem__(slice(0, 1), [x, x])
    read = a.__getitem__(0) * x, list.__getitem__(a, 1), operator.getitem(a, 2)
    made = a.__add__([x]), a.__mul__(2), a.__rmul__(2), list(a.__iter__()), list(a.__reversed__())
    asked = a.__len__(), a.__contains__(2.0), a.__eq__([x]), a.__eq__(3)
    return read, made, asked


def of_dicts(d: Any, x: Any) -> Any:
    d.__setitem__("b", x)
    dict.__setitem__(d, "a", x * x)
    d.__ior__({"c": x})
    operator.setitem(d, "e", x)
    d.__delitem__("c")
    read = d.__getitem__("a") * x, dict.__getitem__(d, "b"), dict.get(d, "a")
    return read, d.__or__({"z": x}), d.__ror__({"q": x}), d.__contains__("a"), d.__len__(), list(d.__iter__())


def of_arrays(a: Any, x: Any) -> Any:
    a.__setitem__(1, x)
    a.__iadd__(x)
    a.__imul__(a)
    a.__isub__(x)
    a.__itruediv__(2.0)
    np.ndarray.__setitem__(a, 0, x)
    operator.setitem(a, slice(0, 1), x)
    read = a.__getitem__(1) * x, np.ndarray.__getitem__(a, 0), a.__len__(), list(a.__iter__())
    made = a.__add__(x), a.__rmul__(x), a.__neg__(), a.__matmul__(a), a.__pow__(2), a.__truediv__(x)
    return read, made, a.__rtruediv__(x), a.__rsub__(x), a.__abs__(), a.__lt__(x)


def of_numbers(a: Any, x: Any) -> Any:
    sums = a.__add__(x), a.__sub__(x), a.__rsub__(x), a.__radd__(2), float.__add__(a, x), a.__pos__()
    products = a.__mul__(x), a.__rmul__(x), a.__truediv__(x), a.__rtruediv__(x), a.__pow__(x), a.__rpow__(x)
    others = a.__neg__(), a.__abs__(), a.__float__(), a.__mod__(x), a.__floordiv__(x), a.__divmod__(x)
    return sums, products, others, a.__add__("a"), a.__lt__(x), a.__round__(1), (2).__add__(a)


def of_complex_numbers(a: Any, x: Any) -> Any:
    return a.__add__(x), a.__mul__(x), a.__rsub__(x), a.conjugate(), a.real * x, a.__abs__()


def of_tuples(t: Any, x: Any) -> Any:
    return (
        t.__getitem__(0) * x,
        t.__add__((x,)),
        t.__mul__(2),
        list(t.__iter__()),
        t.__len__(),
        t.__contains__(2.0),
    )


def of_deques(d: Any, x: Any) -> Any:
    d.__setitem__(0, x)
    d.__iadd__([x])
    d.append(x)
    d.__delitem__(1)
    d.__imul__(2)
    return d, d.__getitem__(0) * x, d.__add__(deque([x])), d.__mul__(2)


def bound_and_kept(a: Any, x: Any) -> Any:
    put, add = a.append, a.__iadd__
    put(x)
    add([x * x])
    list.append(a, x)
    return list(map(a.append, [x, x * x])), a


def positions_of_lists(a: Any, x: Any) -> Any:
    i = At(1, x)
    a[i] = x * a[i]
    a[At(0) : At(2)] = [x, *a[At(0) : At(1)]]
    a[np.int64(0)] = a[np.int64(1)] * i.weight
    del a[At(2)]
    return a, i.weight


def positions_of_arrays(a: Any, x: Any) -> Any:
    i = At(1, x)
    a[i] = x * a[i]
    a[At(0) : At(2)] *= i.weight
    return a, a[At(2)] * x, a[At(0) : At(2)], i


def positions_of_a_matrix(a: Any, x: Any) -> Any:
    a[At(1), At(0)] = x
    a[At(0)] *= x
    return a, a[At(1), 1:]


CASES: dict[str, tuple[Callable[..., Any], Any, Any]] = {
    "lists": (of_lists, [1.0, 2.0, 3.0], 0.8),
    "dicts": (of_dicts, {"a": 1.0}, 0.8),
    "arrays": (of_arrays, np.array([0.5, 1.5, 0.7]), 0.8),
    "floats": (of_numbers, 1.3, 0.8),
    "NumPy floats": (of_complex_numbers, np.float64(1.3), 0.8),
    "complex": (of_complex_numbers, 1.3 + 0.2j, 0.8),
    "tuples": (of_tuples, (1.0, 2.0), 0.8),
    "deques": (of_deques, deque([1.0, 2.0]), 0.8),
    "bound": (bound_and_kept, [1.0], 0.8),
    "positions in lists": (positions_of_lists, [1.0, 2.0, 3.0], 0.8),
    "positions in deques": (lambda d, x: d[At(1)] * x, deque([1.0, 2.0]), 0.8),
    "positions in tuples": (
        lambda t, x: (t[At(1, x)] * x, t[At(0) : At(2)], t[np.int8(1)]),
        (1.0, 2.0, 3.0),
        0.8,
    ),
    "positions in arrays": (positions_of_arrays, np.array([0.5, 1.5, 0.7]), 0.8),
    "positions in matrices": (positions_of_a_matrix, np.array([[0.5, 1.5], [0.7, 0.2]]), 0.8),
}


@pytest.mark.parametrize("name", CASES)
def test_special_methods_called_by_name_are_right(name: str) -> None:
    f, *args = CASES[name]
    check(f, *args)


def test_a_key_of_a_dict_is_no_position() -> None:
    def f(x: float) -> Any:
        key = At(1)
        d = {key: x, 1: 7.0}
        return d[key] * x

    assert adbc.grad(f)(0.5) == pytest.approx(1.0)


def test_the_bound_of_a_slice_is_no_float() -> None:
    with pytest.raises(TypeError, match="slice indices must be integers"):
        adbc.grad(lambda x: [x][At:2][0])(1.0)  # type: ignore[misc]  # not a position


class Told:
    """Its text is whatever it is told."""

    def __init__(self, text: Any) -> None:
        self.text = text

    def __str__(self) -> Any:
        return self.text

    def __repr__(self) -> Any:
        return self.text

    def __format__(self, spec: str) -> Any:
        return self.text


def by_percent(told: Told) -> str:
    return "%s" % told  # noqa: UP031  # that is what is asked


@pytest.mark.parametrize(
    "ask", [str, repr, ascii, format, print, "{}".format, by_percent, lambda told: f"{told!r}"]
)
def test_text_that_is_none_is_the_error_of_a_plain_call(ask: Callable[[Any], Any]) -> None:
    def f(x: float) -> float:
        try:
            ask(Told(x))
        except TypeError:
            return x * x
        return x

    assert f(3.0) == 9.0
    assert adbc.jvp(f, (3.0,), (1.0,)) == (9.0, 6.0)
    assert adbc.value_and_grad(f)(3.0) == (9.0, 6.0)


class Hashed:
    """Its hash is whatever it is told."""

    def __init__(self, told: Any) -> None:
        self.told = told

    def __hash__(self) -> Any:
        return self.told


class Own(int):
    """An integer that is its own hash, and means another number where it is asked."""

    def __hash__(self) -> Any:
        return self

    def __index__(self) -> int:
        return 7

    def __int__(self) -> int:
        return 7


TOLD = (0, -1, -2, 2**61 - 1, 2**61, 2**62, 2**63 - 1, -(2**63), 2**63, -(2**63) - 1, 10**30, True)
"""Answers that are the hash as they stand, and others, which are folded."""


def hashes(x: Any) -> Any:
    keys = [*map(Hashed, TOLD), Own(42), Own(-1), Hashed(Own(2**62)), Hashed(hash(("a", 2.5)))]
    total = 0.0
    for place, key in enumerate(keys):
        total += hash(key) % 1009 * (place + 1) * x
    return total


def test_the_hash_that_a_method_tells_is_that_of_a_plain_call() -> None:
    check(hashes, 1.5)
    assert adbc.jvp(hashes, (1.5,), (1.0,))[0] == hashes(1.5)
    assert adbc.value_and_grad(hashes)(1.5)[0] == hashes(1.5)


class Doubled(float):
    """A number that says it is a float, and is none of the very class."""

    def __new__(cls, value: Any) -> Doubled:
        return float.__new__(cls, 2.0 * value)

    def __float__(self) -> Any:
        return self


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_float_of_another_class_that_a_method_gives() -> None:
    check(lambda x: float(Doubled(x)) * x * (type(float(Doubled(x))) is float), 1.5)
