"""What programs around NumPy's functions see, beside numbers: the dtype of a result, the class of what a
function is called with, which memory is written to.

Found by the families of `tests.properties.numpy_families`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adbc
from adbc.errors import UnsupportedError
from adbc.testing import test_rule as check_rule

V = np.array([0.7, 1.3, 0.4, 1.1])


def selected(v: Any, s: float) -> tuple[Any, Any]:
    x = v.astype(np.float32)
    r = np.select([x > 1.0, x > 0.5], [x * s, s])
    q = np.select([x > 1.0, x > 0.5], [x, np.float64(s)], default=s)
    return np.sum(r) + np.sum(q), (r.dtype, q.dtype)


def rows_written(v: Any, s: float) -> tuple[Any, Any]:
    x = np.array([v, v * s])

    def scale(row: Any) -> Any:
        row *= s
        return row.sum()

    r = np.apply_along_axis(scale, 0, x)
    return np.sum(r * x), None


def rows_of_the_first_dtype(v: Any, s: float) -> tuple[Any, Any]:
    x = np.array([v, v * s])
    r = np.apply_along_axis(lambda row: 1 if row[0] == x[0, 0] else row.sum(), 1, x)
    return np.sum(r * s), r.dtype


class Instance(np.ndarray):
    pass


def rows_of_instances(v: Any, s: float) -> tuple[Any, Any]:
    """The class of the first result is that of all, but for matrices."""
    x = np.array([v, v * s])
    r = np.apply_along_axis(lambda row: (row[::-1] * row[1:, None]).view(Instance), 1, x)
    q = np.apply_along_axis(lambda row: np.ma.masked_where(row > 1.0, row * s), 1, x)
    t = np.apply_along_axis(lambda row: np.matrix(row * s), 1, x)
    total = np.sum(np.asarray(r) * s) + q.sum() + np.sum(t * t)
    return total, str([type(r), type(q), type(t), q.mask.tolist(), r.shape, t.shape])


def different_words(v: Any, s: float) -> tuple[Any, Any]:
    """What holds no numbers has no derivative, and any order that NumPy leaves it in."""
    words = np.array(["b", "a", "b"])
    found, counts = np.unique(words, return_counts=True)
    return np.sum(v * s), str(
        [sorted(np.unique(words, **UNSORTED).tolist()), found.tolist(), counts.tolist()]
    )


UNSORTED: dict[str, Any] = {"sorted": False} if "sorted" in inspect.signature(np.unique).parameters else {}


def vectorized_over_elements_as_they_are(v: Any, s: float) -> tuple[Any, Any]:
    seen: list[str] = []

    def product(t: Any, w: Any) -> Any:
        seen.append(f"{type(t).__name__} {type(w).__name__}")
        return t * w

    r = np.vectorize(product)([s, 2, np.float64(s)], np.float32(s))
    q = np.vectorize(product, otypes=[float])((v[0], True, s), v[:3])
    return np.sum(r) + np.sum(q), str(seen)


def accumulated_by_a_function(v: Any, s: float) -> tuple[Any, Any]:
    step = np.frompyfunc(lambda t, w: t * 0.5 + w * s, 2, 1)
    r = step.accumulate(v)
    q = step.accumulate([v, v * s], axis=1)
    return sum(r) + q[0, 3] * q[1, 2], str([r.dtype, q.dtype, [type(x) for x in r]])


def made_of(v: Any) -> Any:
    x = np.zeros(4, dtype=[("p", "f8"), ("k", "i4")])
    x["p"] = v
    x["k"] = [1, 2, 0, 3]
    return x


def whole_numbers_in_a_field(v: Any, s: float) -> tuple[Any, Any]:
    x = made_of(v).view(np.recarray)
    x.p *= s
    return np.sum(x.p * x.k), None


def records_into_records(v: Any, s: float) -> tuple[Any, Any]:
    x = made_of(v).view(np.recarray)
    r = np.zeros(4, x.dtype)
    r["p"] = s
    r[:2] = x[2:]
    x.p = 0.0
    return np.sum(r["p"] * V), None


def no_records(v: Any, s: float) -> tuple[Any, Any]:
    x = made_of(v)
    y, z = x[x["p"] > 5.0], x.view(np.recarray)[v > 5.0]
    return np.sum(y["p"]) + np.sum(z.p) + s * x["p"][0], None


def a_constant_matrix_becomes_active(v: Any, s: float) -> tuple[Any, Any]:
    m = np.asmatrix([[1.0, 2.0]])
    m.flat[0] = s * v[1]
    return np.sum(np.asarray(m)) * s, None


def pieces_walked(v: Any, s: float) -> tuple[Any, Any]:
    total, sizes = 0.0, []
    for x in (np.array([v, v * s]), np.array([v, v * s]).T[::2], np.array(s)):
        for order in ("K", "F"):
            for piece in np.nditer(x, flags=["external_loop"], order=order):
                total = total + np.sum(piece * np.arange(1.0, len(piece) + 1.0))
                sizes.append(len(piece))
    return total, str(sizes)


def pieces_written(v: Any, s: float) -> tuple[Any, Any]:
    x = np.array([v, v * s]).T[::-1]
    y = np.ones(x.shape)
    flags = [["readwrite"], ["readonly"], ["writeonly"]]
    for p, q, r in np.nditer([x, v[:2], y], flags=["external_loop"], op_flags=flags, order="C"):
        p[...] = p * q
        r[...] = p * s
    return np.sum(x * x) + np.sum(y), None


def numbers_of_elements(v: Any, s: float) -> tuple[Any, Any]:
    x, total = np.array([v, v * s]), 0.0
    for flag in ("c_index", "f_index"):
        it = np.nditer(x, flags=[flag], op_flags=["readwrite"])
        for t in it:
            t[...] = t * (1 + it.index)
            total = total + t * s
    return total, None


PROGRAMS: list[Callable[..., tuple[Any, Any]]] = [
    selected,
    rows_written,
    rows_of_the_first_dtype,
    rows_of_instances,
    different_words,
    vectorized_over_elements_as_they_are,
    accumulated_by_a_function,
    whole_numbers_in_a_field,
    records_into_records,
    no_records,
    a_constant_matrix_becomes_active,
    pieces_walked,
    pieces_written,
    numbers_of_elements,
]


@pytest.mark.parametrize("f", PROGRAMS, ids=[f.__name__ for f in PROGRAMS])
@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")  # matrices
def test_programs(f: Callable[..., tuple[Any, Any]], speculation: str) -> None:
    check(f, adbc.Config(speculation=speculation, warm_after=0))


@pytest.mark.parametrize("f", PROGRAMS, ids=[f.__name__ for f in PROGRAMS])
@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
def test_programs_that_are_interpreted(f: Callable[..., tuple[Any, Any]]) -> None:
    check(f, adbc.Config(warm_after=40))


def check(f: Callable[..., tuple[Any, Any]], config: adbc.Config) -> None:
    value, facts = f(V.copy(), 1.2)
    short = "float32" in str(facts)
    direction = np.array([0.3, -0.2, 0.5, 0.1])

    def along(t: float) -> float:
        return float(f(V + t * direction, 1.2 + t)[0])

    step = 1e-2 if short else 1e-5
    difference = (along(step) - along(-step)) / (2 * step)
    with adbc.use(config):
        for _ in range(2):  # what is learnt changes the code
            v = V.copy()
            (out, seen), (tangent, _) = adbc.jvp(f, (v, 1.2), (direction, 1.0))
            assert seen == facts and out == pytest.approx(value, rel=1e-12)
            assert tangent == pytest.approx(difference, rel=1e-4 if short else 1e-8)
            (out, seen), pullback = adbc.vjp(f, v, 1.2)
            assert seen == facts and out == pytest.approx(value, rel=1e-12)
            by_v, by_s = pullback((1.0, adbc.NoTangent()))
            assert by_v @ direction + by_s == pytest.approx(tangent, rel=1e-5 if short else 1e-12)
            np.testing.assert_array_equal(v, V)


def test_no_rows_are_refused_as_by_numpy() -> None:
    with pytest.raises(ValueError, match="iteration dimensions"):
        adbc.jvp(lambda x: np.apply_along_axis(np.sum, 0, x), (np.ones((2, 0)),), (np.ones((2, 0)),))


@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
@pytest.mark.parametrize("read", [lambda it: it.base[0, 0], lambda it: it[0:2][0, 0]])
def test_a_matrix_from_its_iterator_is_refused(read: Callable[[Any], Any]) -> None:
    def f(x: Any) -> Any:
        it = np.asmatrix([[1.0, 2.0]]).flat
        it[0] = x
        return next(it) * read(it)

    for differentiate in (adbc.grad(f), lambda x: adbc.jvp(f, (x,), (1.0,))):
        with pytest.raises(UnsupportedError, match="of a matrix"):
            differentiate(3.0)


@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
def test_the_elements_of_a_matrix_one_by_one() -> None:
    def f(x: Any) -> Any:
        m = np.asmatrix([[x, 1.0], [2.0, x * x]])
        m.flat[1] = 3.0 * x
        return max(m.flat) * m.flat[0] + sum(v * v for v in m.flat)

    check_rule(f, 1.5)


def ravelled_sequence(x: Any) -> Any:
    def held(y: Any) -> Any:
        made = np.empty(1, object)
        made[0] = y
        return made

    return np.sum(np.ravel((held(x), held(x * x))))


def added_to_a_sequence(x: Any) -> Any:
    one = np.array([x, 2.0], dtype=object)
    return ((one, one) + one)[0, 0]


def gathered_sequence(x: Any) -> Any:
    one = np.array([x], dtype=object)
    return np.sum(np.array([one, one * x], dtype=object))


def test_a_sequence_of_arrays_of_objects_becomes_one() -> None:
    assert adbc.value_and_grad(gathered_sequence)(3.0) == (12.0, 7.0)
    assert adbc.jvp(gathered_sequence, (3.0,), (1.0,)) == (12.0, 7.0)


@pytest.mark.parametrize("f", [ravelled_sequence, added_to_a_sequence])
def test_sequences_of_arrays_of_objects_are_refused(f: Callable[[Any], Any]) -> None:
    for differentiate in (adbc.grad(f), lambda x: adbc.jvp(f, (x,), (1.0,))):
        with pytest.raises(UnsupportedError):
            differentiate(3.0)
