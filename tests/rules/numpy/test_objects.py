"""Structured arrays, their records, and arrays of objects, in both modes."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adbc
from adbc.errors import AdbcError, ConstWriteError
from adbc.testing import test_rule as check
from adbc.testing.values import assert_same

PARTICLE = np.dtype([("x", float), ("v", float, 3), ("id", int)])
NESTED = np.dtype([("p", [("a", float), ("b", np.float32)]), ("q", complex)])


def particles() -> Any:
    s = np.zeros(3, PARTICLE)
    s["x"], s["v"], s["id"] = [0.5, 0.7, 0.9], np.arange(9).reshape(3, 3) * 0.3, [4, 5, 6]
    return s


def nested() -> Any:
    s = np.zeros(2, NESTED)
    s["p"]["a"], s["p"]["b"], s["q"] = [0.5, 0.7], 0.25, [1.0 + 0.5j, 2.0]
    return s


def objects() -> Any:
    o = np.empty(4, object)
    o[0], o[1], o[2], o[3] = 1.5, np.array([1.0, 2.0]), [3.0, 4.0], Leaf(0.5)
    return o


def floats() -> Any:
    return np.array([1.0, 2.0, 3.5], object)


class Leaf:
    def __init__(self, w: Any) -> None:
        self.w = w

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Leaf) and bool(self.w == other.w)

    __hash__ = None  # type: ignore[assignment]  # it changes


# -- structured arrays ---------------------------------------------------------------------------------


def fields(s: Any, x: Any) -> Any:
    s["x"][1] += x * x
    s["v"][0] *= x
    s["x"] = s["x"] * x
    s["v"][:, 1] = x
    s["id"] += 1
    return s, s["x"] * x, s["v"].sum() * x, s["id"].sum() * x, s["v"].T[0]


def read(s: Any, x: Any) -> Any:
    r = s[1]
    return (
        r["x"] * x,
        r["v"] * x,
        r["id"] * x,
        r[0] * x,
        r[1][2] * x,
        s[-1]["v"][1] * x,
        len(r),
        r.dtype.names,
    )


def written(s: Any, x: Any) -> Any:
    s[1]["x"] = x
    r = s[2]
    r["v"][0] = x * r["x"]
    r["x"] *= x
    r["id"] = 3
    r[0] += x
    r["v"] = [x, 1.0, r["v"][0]]
    return s, r["x"] * x


def assigned(s: Any, x: Any) -> Any:
    s[1] = (x, [x, x * x, 1.0], 3)
    s[0] = s[2]
    s[1:] = s[:2].copy()
    s[::2] = s[:2]
    s[0] = (s["x"][1], s["v"][1], 1)
    return s, s["x"] * s["v"][:, 0]


def broadcast(s: Any, x: Any) -> Any:
    s[1:] = x
    s["v"][0] = s[2]["v"]
    return s


def iterated(s: Any, x: Any) -> Any:
    total = 0.0
    for r in s:
        r["x"] = r["x"] * x
        total = total + r["x"] * r["v"].sum() * x
    return total, [r["id"] * r["v"][0] for r in s], s


def views(s: Any, x: Any) -> Any:
    w, two = s[1:], s[["x", "v"]]
    w["x"][0] = x
    two["v"][2] *= x
    s[::-1]["x"][0] += x
    s.reshape(3, 1)["v"][1, 0, 2] = x
    return s, s[s["id"] > 4]["x"] * x, s[[0, 0, 2]]["v"] * x, w["x"]


def copies(s: Any, x: Any) -> Any:
    w, r = s.copy(), s[0].copy()
    w["x"] *= x
    c, d = copy.copy(s), copy.deepcopy(s)
    d["x"][0] = x
    r["x"] = x * r["x"]
    return (
        w,
        s["x"] * x,
        c["x"] * x,
        d,
        r["v"] * x,
        copy.deepcopy(s[1])["x"],
        np.concatenate([s.flatten(), w])["x"],
    )


def made(x: Any) -> Any:
    s = np.zeros(2, PARTICLE)
    s["x"][0] = x
    s[1]["v"] = x * x
    e = np.empty_like(s)
    e[:] = s
    return s, e["x"].sum() + e["v"].sum(), np.zeros((), PARTICLE)["x"] * x


def of_tuples(x: Any, v: Any, rows: Any) -> Any:
    s = np.array([(x, [x, x * x, 1.0], 1), (2.0, v, 2)], PARTICLE)
    t = np.array([((x, x * x), x * 1j), ((1.0, x), 2.0)], NESTED)
    one = np.array((x, v * x, 3), PARTICLE)
    r = np.rec.array(rows, dtype=[("a", float), ("b", int)])
    rows[0] = (x, 7)
    parts = s["x"] * x, s["v"][0] * s["v"][1], t["p"]["a"] * x, t["q"].imag, one["v"] * x
    return *parts, r.a * r.b, rows[0][0] * x


def of_nested(s: Any, x: Any) -> Any:
    s["p"]["a"] = x
    s["q"][0] = x * 1j
    s[1]["p"]["b"] *= 2.0
    s["p"][1] = (x, 2.0)
    return s, s["p"]["a"].sum() * x, s[0]["p"]["b"], s["q"].imag


def aliased(s: Any, a: Any, b: Any, r: Any, x: Any) -> Any:
    a[1] = x
    b["x"][0] *= x
    r["v"][1] = a[0] * x
    r["x"] += 1.0
    return s, s["v"][2] * x


def of_integers(s: Any, x: Any) -> Any:
    i = s["id"]
    product = i * s["x"]
    i[:] = np.array([x, 3.0, 1.5]) * s["x"] * 4.0
    i[1:] += 2
    np.add(i, 1, out=i)
    weight = np.exp(i * 0.1) * s["x"] + i
    weight[0] = x * i[1]
    return product, weight, s[["id", "x"]]["id"] * x, np.concatenate([i, s["x"]]), i.mean() * x, i @ s["v"]


STRUCTURED: dict[str, Callable[..., Any]] = {
    f.__name__: f for f in (fields, read, written, assigned, broadcast, iterated, views, copies, of_integers)
}


@pytest.mark.parametrize("name", STRUCTURED)
def test_structured_arrays(name: str) -> None:
    check(STRUCTURED[name], particles(), 0.8)


def test_structured_arrays_that_are_new_or_nested() -> None:
    check(made, 0.8)
    check(of_nested, nested(), 0.8)
    check(of_tuples, 0.8, np.array([0.5, 0.7, 0.9]), [(0.3, 2), (0.4, 3)])


def test_records_of_constants_stay_what_they_are_when_code_is_written() -> None:
    def f(k: float) -> Any:
        r = np.rec.array([(1.0, 2.0), (3.0, 4.0)], dtype=[("a", float), ("b", float)])
        r.a = r.a * k
        return (r.a * r.b).sum() + r[0].a

    for _ in range(60):
        assert adbc.grad(f)(1.2) == pytest.approx(15.0)


def test_structured_arrays_and_their_parts_as_arguments() -> None:
    s = particles()
    check(aliased, s, s["x"], s[1:], s[2], 0.8)


def test_the_gradient_is_structured() -> None:
    g = adbc.grad(lambda s: (s["x"] * s["v"][:, 0]).sum() + s[1]["x"])(particles())
    assert g.dtype == PARTICLE
    np.testing.assert_allclose(g["x"], [0.0, 1.9, 1.8])
    np.testing.assert_allclose(g["v"][:, 0], [0.5, 0.7, 0.9])
    assert not g["id"].any()


# -- arrays of objects ---------------------------------------------------------------------------------


def elements(o: Any, x: Any) -> Any:
    first = o[0] * x, o[1] * x, o[2][0] * x, o[3].w * x
    o[0] += x
    o[1][0] = x
    o[2].append(x)
    o[3].w *= x
    o[3], o[2] = o[2], o[3]
    return first, o


def replaced(o: Any, x: Any) -> Any:
    o[2] = x * x
    o[0] = [x]
    o[1] = (x, o[3])
    o[0][0] *= o[2]
    return o[1][0] * o[1][1].w, o


def computed(o: Any, x: Any) -> Any:
    out = np.empty(o.shape, object)
    for i in range(len(o)):
        out[i] = o[i] * x
    return [u * x for u in o], out, sum(o), max(o), list(o)


def parts(o: Any, x: Any) -> Any:
    w = o[1:]
    w[0] = x
    o[::-1][0] *= x
    o.reshape(3, 1)[1, 0] += x
    return o, w, o.copy()[1] * x, o[[0, 0, 2]][1] * x, copy.copy(o), copy.deepcopy(o), o.ravel()


def filled(o: Any, x: Any) -> Any:
    o[1:] = [x, x * x]
    o[[0, 2]] = o[[2, 2]]
    o[:2] = np.array([x, 1.0])
    o[2:] = x
    return o


def filled_with_one(o: Any, x: Any) -> Any:
    o[:] = x
    o[[0, 0]] = [x, 3.0 * x]
    o.fill(x) if o[0] < 0 else None
    return o


def of_two_axes(o: Any, x: Any) -> Any:
    o[0, 1] = x
    o[1][0] = x * 2.0
    o[:, 1] = [x, 1.0]
    return o.T[0, 1] * x, [r[0] * x for r in o], o


def new(x: Any) -> Any:
    o = np.empty(2, object)
    o[0], o[1] = x, [x * x]
    return o[0] * o[1][0], o


OBJECTS: dict[str, tuple[Callable[..., Any], Any]] = {
    "elements": (elements, objects()),
    "replaced": (replaced, objects()),
    "computed": (computed, floats()),
    "parts": (parts, floats()),
    "filled": (filled, floats()),
    "filled with one": (filled_with_one, floats()),
    "two axes": (of_two_axes, np.array([[1.0, 2.0], [3.0, 4.0]], object)),
}


@pytest.mark.parametrize("name", OBJECTS)
def test_arrays_of_objects(name: str) -> None:
    f, o = OBJECTS[name]
    check(f, o, 0.8)


def test_new_arrays_of_objects() -> None:
    check(new, 0.8)


def test_constants_stay_constant() -> None:
    def write(x: Any, o: Any) -> Any:
        o[0] = x

    def write_inside(x: Any, o: Any) -> Any:
        o[1][0] = x

    def write_record(x: Any, s: Any) -> Any:
        s[0]["x"] = x

    def write_field(x: Any, s: Any) -> Any:
        s["x"][0] = x

    for f, value in ((write, objects()), (write_inside, objects()), (write_record, particles()),
                     (write_field, particles())):  # fmt: skip
        before = copy.deepcopy(value)
        with pytest.raises(ConstWriteError):
            adbc.vjp(f, 0.8, adbc.Const(value))
        with pytest.raises(ConstWriteError):
            adbc.jvp(f, (0.8, adbc.Const(value)), (1.0, None))
        assert_same(before, value, "the constant")


def arrays() -> Any:
    o = np.empty(2, object)
    o[0], o[1] = np.array([1.0, 2.0]), np.array([3.0, 4.0])
    return o


def wrapped() -> Any:
    o = np.empty(1, object)
    o[0] = np.array(1.0)
    return o


REFUSED: dict[str, tuple[Callable[[Any, Any], Any], Callable[[], Any], str]] = {
    "operator": (lambda o, x: o * x, arrays, "loop over the elements"),
    "in place": (lambda o, x: o.__imul__(x), floats, "loop over the elements"),
    "ufunc": (lambda o, x: np.multiply(o, x), arrays, "loop over the elements"),
    "sum": (lambda o, x: o.sum() * x, arrays, "loop over the elements"),
    "dot": (lambda o, x: np.dot(o, o) * x, arrays, "loop over the elements"),
    "conversion": (lambda o, x: o[:1].astype(float) * x, wrapped, "loop over the elements"),
    "array of arrays": (lambda o, x: np.array([np.ones(2) * x, [x, x]], object), floats, "np.empty"),
    "sequences of sequences": (lambda o, x: o.__setitem__(slice(0, 2), [[x], [x]]), floats, "one by one"),
    "structured function": (lambda s, x: np.where(s["x"] > 1, s, s)["x"], particles, r"x\['name'\]"),
    "list of records": (lambda s, x: s.tolist()[0][0] * x, particles, r"x\['name'\]"),
    "item of records": (lambda s, x: s.item(1)[0] * x, particles, r"x\['name'\]"),
    "tuple of a record": (lambda s, x: s[1].item()[0] * x, particles, "item"),
    "record of a list": (lambda s, x: np.array([x, x], [("x", float)])["x"], particles, "np.empty"),
    "list written": (lambda s, x: s.__setitem__(slice(0, 1), [(x, 1.0, 2)]), particles, "fields one by one"),
    "reinterpreted": (lambda s, x: s.view(np.uint8), particles, "reinterpreted"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_arrays_of_objects_cannot_do_is_refused(name: str) -> None:
    f, make, match = REFUSED[name]
    with pytest.raises(AdbcError, match=match):
        adbc.vjp(f, make(), 0.8)
    value = make()
    with pytest.raises(AdbcError, match=match):
        adbc.jvp(f, (value, 0.8), (adbc.zero_tangent(value), 1.0))


# -- functions of NumPy on both: right, or refused -------------------------------------------------------


def put_first(s: Any) -> Any:
    np.put(s, [0], s[1:2])
    return s


def filled_by_own(s: Any) -> Any:
    s.fill(s[1])
    return s


def set_flat(s: Any) -> Any:
    s.flat[0] = s[1]
    return s


def set_reversed(s: Any) -> Any:
    s[:] = s[::-1]
    return s


def copied_to(s: Any) -> Any:
    t = np.empty_like(s)
    np.copyto(t, s)
    return t


ANYTHING: list[Callable[[Any], Any]] = [
    lambda s: np.concatenate([s, s]), lambda s: np.stack([s, s]), lambda s: np.vstack([s, s]),
    lambda s: np.take(s, [0, 1]), lambda s: s.take([1]), lambda s: np.repeat(s, 2), lambda s: np.tile(s, 2),
    lambda s: np.roll(s, 1), lambda s: np.where([True] * len(s), s, s),
    lambda s: np.compress([True] * len(s), s),
    lambda s: np.delete(s, 0), lambda s: np.insert(s, 0, s[0]), lambda s: np.append(s, s),
    lambda s: np.split(s, [1])[0], lambda s: np.flip(s), lambda s: np.array(s), lambda s: np.array([s, s]),
    lambda s: np.asarray(s), lambda s: s.ravel(), lambda s: s.flatten(), lambda s: s.T,
    lambda s: s[None].squeeze(), lambda s: np.broadcast_to(s, (2, len(s)))[1],
    lambda s: np.choose([0], [s[:1]]),
    lambda s: list(s.flat), lambda s: s.flat[1], lambda s: [u[()] for u in np.nditer(s, ["refs_ok"])],
    lambda s: [u for _, u in np.ndenumerate(s)], lambda s: s[np.array([True] * len(s))],
    lambda s: s[np.ix_([0, 1])], lambda s: s[0:1].item(), lambda s: s.astype(s.dtype), lambda s: s.copy("F"),
    lambda s: np.diag(s), lambda s: np.swapaxes(s[None], 0, 1), lambda s: np.full(2, s[0]),
    lambda s: np.full_like(s, s[0]), lambda s: np.resize(s, 4),
    lambda s: np.pad(s, 1), lambda s: np.atleast_2d(s), lambda s: s == s, lambda s: memoryview(s).ndim,
    lambda s: np.frombuffer(s, s.dtype), lambda s: s.sum(), lambda s: s @ s, lambda s: np.sort(s),
    lambda s: s.view(float), lambda s: s.tolist(), put_first, filled_by_own,
    set_flat, set_reversed, copied_to,
]  # fmt: skip


@pytest.mark.parametrize("make", [particles, floats, objects])
@pytest.mark.filterwarnings("ignore")
def test_every_function_is_right_or_refused(make: Callable[[], Any]) -> None:
    refused = 0
    for f in ANYTHING:
        try:
            f(make())
        except Exception:  # what NumPy itself does not do: the error is the user's
            continue
        try:
            check(lambda s, x, f=f: (f(s), x), make(), 0.8)
        except AdbcError:
            refused += 1
    assert 0 < refused < 35


def test_sequences_that_are_arrays_of_one_dtype_only() -> None:
    """Without a dtype NumPy makes no array of them."""
    nested = np.dtype([("a", int), ("b", [("p", float), ("q", (float, 2))])])

    def f(x: float) -> Any:
        s = np.array([(1, (2, [3.0, 30.0])), (4, (5, [6.0, 60.0]))], dtype=nested)
        o = np.array([(1,), (2, 1), 1], dtype=object)
        return s["b"]["q"].sum() * x + o[2] * x + len(o[1])

    assert adbc.value_and_grad(f)(2.0) == (202.0, 100.0)
    assert adbc.jvp(f, (2.0,), (1.0,)) == (202.0, 100.0)


class Scaled:
    """Has the operators of a number and is none."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __add__(self, other: Any) -> Scaled:
        return Scaled(self.value + other)

    def __mul__(self, other: Any) -> Scaled:
        return Scaled(self.value * other)

    __radd__, __rmul__ = __add__, __mul__


SCALED = Scaled(2.0)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.multiply(np.float64(3.0) * x, SCALED).value,
        lambda x: np.add(3.0 * x, SCALED).value,
        lambda x: np.dot(np.array([3.0]) * x, [SCALED]).value,
    ],
)
def test_objects_that_functions_make_by_methods_of_arguments_are_refused(f: Any) -> None:
    for derivative in (adbc.grad(f), lambda x: adbc.jvp(f, (x,), (1.0,))):
        with pytest.raises(AdbcError, match=r"Scaled|dtype object"):
            derivative(1.5)

    check(lambda x: (np.float64(3.0) * x * SCALED).value, 1.5)
