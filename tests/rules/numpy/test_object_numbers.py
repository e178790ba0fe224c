"""Arrays of objects that are numbers: how they are made, computed with, and made arrays of numbers again; and
functions that `np.vectorize` made beforehand, which NumPy runs over such arrays."""

from __future__ import annotations

import datetime
import math
from typing import Any

import numpy as np
import pytest

import adbc
from adbc.errors import UnsupportedError
from adbc.testing import test_rule as check_rule

SQUARE = np.vectorize(lambda u: u * u, otypes=[float])
SCALED = np.vectorize(lambda u, v=2.0: u * u * v)
NAMED = np.vectorize(lambda a, b, c=1.0: a * b + c if a > 1 else b, otypes="d")
EXCLUDED = np.vectorize(lambda a, k: a * k[0], excluded=["k"])
SEVERAL = np.vectorize(lambda a: (a, a * a))
CACHED = np.vectorize(lambda a: math.sin(a), cache=True)


def made(x):
    return np.array([x, 2.0 * x, 3.0], dtype=object)


def arithmetic(x):
    a = made(x)
    return (a * a + 2.0 * a - a / 3.0 + (-a) ** 2).sum()


def with_numbers(x):
    b = made(x) * np.array([1.0, 2.0, 3.0])
    return b.astype(float).sum() * b[0]


def in_rows(x):
    a = np.array([[x, 1], [2.0, x * x]], dtype=object)
    return a.dot(np.array([1.0, 2.0]))[1] * a[0, 0]


def as_a_list(x):
    a = made(x)
    return sum(a.tolist()) * a[1] + in_lists(x).tolist()[1][0]


def in_lists(x):
    return np.array([[1.0, x], [x * x, 2]], dtype=object)


def assigned(x):
    a = made(x)
    a[2] = x * x
    return sum(v * v for v in a)


def ragged(x):
    a = np.array([x, [1.0, x]], dtype=object)
    return a[0] * a[1][1]


def from_numbers(x):
    v = np.array([1.0, 2.0]) * x
    a = v.astype(object)
    a[0] = a[0] * x
    return (a / 3.0).sum() + np.asarray(v, dtype=object).astype(float)[1]


def of_tuples(x):
    return np.sum(np.asarray([(x, 1), (2, x)], dtype=object) * x)


def reduced(x):
    a = made(x)
    return (
        np.dot(a, a) + a.mean() + (a @ a) * a.reshape(3, 1)[1, 0] + np.sort(-a)[1] * np.cumsum(a)[1] * a.max()
    )


def items(x):
    a = np.array([[x, [x, 2.0]], [x * x, 1]], dtype=object)
    a.item(0, 1)[1] = x
    return a.item(2) * a.item((0, 0)) + sum(a.item(1)) + a[:1, :1].item()


def constant(x):
    a = np.array([1.0, 2.0], dtype=object)
    return (a * x).sum() * a[1]


def compared(x):
    a = np.array([1, 2, x], dtype=object)
    return (a * a)[2] + (a > 1).sum() * x


def complex_numbers(x):
    a = np.array([x, 1j * x], dtype=object)
    return ((a * a)[1] * (1.0 + 2j)).real + a.astype(complex).imag.sum()


def vectorised(x):
    v = np.array([[x, 2.0], [x, x]])
    return SQUARE(v).sum() + SCALED(v[0], x).sum() + SQUARE(x) * 1.0 + SQUARE(made(x)).sum()


def vectorised_by_name(x):
    return NAMED(np.array([x, 0.5]), b=x, c=x * x).sum() + EXCLUDED(np.array([x, 2.0]), k=[x]).sum()


def vectorised_results(x):
    first, second = SEVERAL(np.array([x, 2.0]))
    return (first * second).sum() + CACHED(np.array([x, x * x])).sum()


def of_arrays(x):
    blocks = np.asarray([[np.array([x, x]), np.array([x * x])]], dtype=object)
    again = np.asarray([blocks[0, :], [blocks[0, 1], x]], dtype=object)
    return again[0, 0].sum() * again[1, 0][0] * again[1, 1]


def beside_dates(x):
    rows = [(datetime.date(2020, 1, 1), x), (datetime.date(2020, 1, 3), x * x)]
    table = np.zeros(2, dtype=[("day", "M8[D]"), ("value", float)])
    table["day"] = [day for day, _ in rows]
    table["value"] = [value for _, value in rows]
    days = np.array([day for day, _ in rows], dtype="M8[D]")
    return table["value"][table["day"] > days[0]].sum() * (days[1] - days[0]).astype(float)


PROGRAMS = [
    arithmetic, with_numbers, in_rows, as_a_list, assigned, ragged, from_numbers, of_tuples, reduced,
    items, constant, compared, complex_numbers, vectorised, vectorised_by_name, vectorised_results,
    of_arrays, beside_dates,
]  # fmt: skip
MODES = [{}, {"speculation": "interpret"}, {"speculation": "never"}, {"warm_after": 0}]


@pytest.mark.parametrize("f", PROGRAMS)
@pytest.mark.parametrize("options", MODES, ids=str)
def test_programs(f: Any, options: dict[str, Any]) -> None:
    step = 1e-3
    expected = (8 * (f(1.4 + step) - f(1.4 - step)) - f(1.4 + 2 * step) + f(1.4 - 2 * step)) / (12 * step)
    with adbc.use(adbc.Config(**options)):
        for _ in range(2):
            assert adbc.grad(f)(1.4) == pytest.approx(expected, rel=1e-8)
            assert adbc.jvp(f, (1.4,), (1.0,))[1] == pytest.approx(expected, rel=1e-8)


def of_an_array(v):
    a = v.astype(object)
    a[0] = a[0] * a[1]
    return (a**2).astype(float)


def of_a_list(values):
    a = np.array(values, dtype=object)
    values.append(a[0] * 2.0)
    return a * a


def of_a_tuple(pair):
    return np.array([pair, (1.0, 2.0)], dtype=object).sum()


def of_objects(a):
    return a * a[0] + 2.0


def of_two(a, v):
    return a * v, (v - a).sum()


@pytest.mark.parametrize(
    ("f", "args"),
    [
        (of_an_array, (np.array([1.5, 0.5]),)),
        (of_a_list, ([1.5, 0.5],)),
        (of_a_tuple, ((1.5, 0.5),)),
        (of_objects, (np.array([1.5, 0.5], dtype=object),)),
        (of_two, (np.array([[1.5, 2], [0.5, 0.25]], dtype=object), np.array([3.0, 0.5]))),
        (lambda v: v.tolist(), (np.array([[1.5, 0.5]], dtype=object),)),
    ],
)
def test_by_the_tester(f: Any, args: Any) -> None:
    adbc.testing.test_rule(f, *args)


# -- what is refused -----------------------------------------------------------------------------


def other_objects(x):
    a = np.empty(2, object)
    a[0], a[1] = np.array([x, x]), np.array([1.0, x])
    return (a * a)[1].sum()


def in_place(x):
    a = made(x)
    a += x
    return a.sum()


def into(x):
    a = made(x)
    return np.add(a, x, out=np.empty(3, object)).sum()


def joined(x):
    return np.concatenate([made(x), made(x)]).sum()


def nested_arrays(x):
    return np.array([np.array([x, 1.0]), [2.0, 3.0]], dtype=object)[0, 0]


@pytest.mark.parametrize("f", [other_objects, in_place, into, joined, nested_arrays])
def test_refused(f: Any) -> None:
    for run in (lambda: adbc.grad(f)(1.4), lambda: adbc.jvp(f, (1.4,), (1.0,))):
        with pytest.raises(UnsupportedError, match=r"object|out="):
            run()


def written_from_objects(x: Any) -> Any:
    """Objects that are numbers, of which only some have a derivative, are written where numbers are."""
    given = np.empty(3, object)
    given[0], given[1], given[2] = x, 2, x * x
    u, w, z = np.ones(3), np.ones(3), np.ones(3)
    u[1:] = given[1:]
    u[[True, False, False]] = np.ones(1, object)
    w.flat[:] = given
    np.copyto(z, given, casting="unsafe")
    return (u * np.arange(1.0, 4.0) + w * z).sum()


def test_objects_are_written_where_numbers_are() -> None:
    check_rule(written_from_objects, 1.5)
