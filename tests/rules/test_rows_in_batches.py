"""Rows of the table with batches of tangents: in each lane is what that tangent gives alone.

Rows that are written by hand are met by the functions below, one or several in each, and `test_rows_are_met`
says which are not; those of public functions also by the calls that these are judged by
(`adbc.testing.coverage`).
"""

from __future__ import annotations

import collections
import contextvars
import copy
import heapq
import itertools
import math
import operator
import types
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import adbc
from adbc.errors import AdbcError, BatchError
from adbc.rules import default_table
from adbc.rules.numpy.ufuncs import UFUNC_ROWS
from adbc.rules.table import Primitive
from adbc.testing import test_rule as check_rule
from adbc.testing.coverage import Case
from adbc.testing.coverage.entries import entries_of
from adbc.testing.coverage.generated import OF_METHODS, cases_of
from adbc.testing.coverage.tables import CALLS
from adbc.testing.values import precision

X, Y, Z = 1.3, 0.6, 2.1
V = np.array([1.4, -0.7, 2.2, 0.9])
M = np.outer(V, V) + np.diag([2.0, 3.0, 4.0, 5.0])


# -- lists, tuples, sets -------------------------------------------------------------------------------------


def lists(x: float, y: float, z: float) -> Any:
    a = [x, y * z, 2.0]
    a[0] = a[1] * x
    a[1:2] = [y, x * y]
    operator.setitem(a, -1, z)
    list.__setitem__(a, 2, x * x)
    a += [x * z]
    a.__iadd__((y,))
    operator.iconcat(a, [z])
    del a[0]
    operator.delitem(a, slice(0, 1))
    list.__delitem__(a, -1)
    a *= 2
    a.__imul__(1)
    b = a + [x]
    c = operator.concat(b, a) + b.__add__([y]) + [z] * 2 + b.__mul__(2)
    d = c.copy()
    d.extend(a)
    d.extend(v * x for v in b)
    d.insert(1, x)
    d.append(z)
    last, first = d.pop(), d.pop(0)
    d.remove(d[2])
    d.reverse()
    a.clear()
    a.append(first * last)
    return a, b, c, d, d[1:4], d.__getitem__(2), d.index(d[3]), list.__getitem__(b, 1)


def lists_that_are_sorted(x: float, y: float, z: float) -> Any:
    a = [z, x, y * y, x * z]
    b = sorted(a, key=lambda v: -v)
    a.sort()
    pairs = [(x, 1), (y, 0), (z, 2)]
    pairs.sort(key=operator.itemgetter(1))
    heap = [x * y, z, x]
    heapq.heapify(heap)
    heapq.heappush(heap, y)
    least = heapq.heappop(heap), heapq.heappushpop(heap, x * x), heapq.heapreplace(heap, z * z)
    return a, b, pairs, heap, least, max(a), min(x, y, z), max(a, key=lambda v: -v)


def tuples(x: float, y: float, z: float) -> Any:
    a = (x, y * z)
    b = a + (z,) + a * 2
    c = a.__add__((z,)) + b.__mul__(2)
    return (
        b,
        c,
        b[1:],
        b.__getitem__(0),
        a.__getitem__(slice(1)),
        operator.concat(a, b),
        operator.getitem(b, 2),
    )


def sets(x: float, y: float, z: float) -> Any:
    a = {1, 2, 3}
    a.add(4)
    a.update({5, 6}, (7,))
    a.discard(1)
    a.remove(2)
    a |= {8}
    a &= {3, 4, 5, 8}
    a ^= {9}
    a -= {3}
    a.difference_update({4})
    a.intersection_update({5, 8, 9})
    a.symmetric_difference_update({5, 11})
    b = a | {1} | a.union({2}), a & {8}, a.intersection({9}), a - {8}, a.difference({9}), a ^ {8}
    c = frozenset(a) | {1}, frozenset(a).union({3}), frozenset(a), a.copy(), {*a, 1}
    d = set(a)
    first = {3}.pop() * x
    d.clear()
    return sum(map(len, b)) * x + sum(map(len, c)) * y + len(d) * z + len(a) * x * y, first


class Weighed:
    """Is found in sets by what it is, and holds a number."""

    def __init__(self, weight: Any) -> None:
        self.weight = weight


def sets_of_objects(x: float, y: float, z: float) -> Any:
    a, b, c = Weighed(x), Weighed(y * z), Weighed(z)
    one, other = {a, b}, {b, c}
    one.add(c)
    one.discard(a)
    both = one & other, one | {a}, one - {b}, one ^ {a}, one.union({a}), one.intersection(other)
    more = one.difference({c}), one.symmetric_difference({a}), frozenset(one), one.copy(), {*one, a}
    more += frozenset(one).union({a}), frozenset(one).intersection({b}), frozenset(one).difference({b})
    more += (frozenset(one).symmetric_difference({a}),)
    other.update({a})
    other.difference_update({b})
    other.intersection_update({a, c})
    other.symmetric_difference_update({b})
    other.remove(b)
    last = {c}.pop()
    last.weight *= x
    total = [sorted(v.weight for v in part) for part in (*both, *more, one, other)]  # sets have no order
    other.clear()
    return total, c.weight, [operator.sub({a}, set()), operator.and_({a}, {a}), operator.or_({b}, {b})] and x


# -- dicts ---------------------------------------------------------------------------------------------------


def _of_dict(d: Any, x: float, y: float, z: float) -> Any:
    d["a"] = x
    d["b"] = y * z
    d.update({"c": z, "d": [x, y]})
    d.__setitem__("e", x * z)
    found = d["a"], d.get("b"), d.get("none", x), d.__getitem__("c"), "a" in d
    d.setdefault("f", y)
    d.setdefault("a", y)
    keys, values, items = list(d.keys()), [v for v in d.values() if type(v) is float], list(d.items())
    del d["b"]
    d.__delitem__("c")
    taken = d.pop("e"), d.pop("none", y), d.popitem()
    d["d"][0] = x * x
    other = d.copy()
    more = d | {"g": x * y}
    d |= {"h": z}
    seen = [k + k for k in reversed(d)], [k + k for k in d]
    whole = dict(d), {**d, "i": z}, type(d)(d)
    other.clear()
    return found, keys, values, len(items), taken, len(other), more["g"], seen, d["h"], d["d"], whole[1]["i"]


def dicts(x: float, y: float, z: float) -> Any:
    return (
        _of_dict({}, x, y, z),
        dict.fromkeys("ab", x),
        {"a": x, "b": y},
        dict(zip("ab", (y, z), strict=True)),
    )


def ordered_dicts(x: float, y: float, z: float) -> Any:
    d = collections.OrderedDict(p=x, q=y, r=z)
    d.move_to_end("p")
    d.move_to_end("r", last=False)
    first = d.popitem(last=False)
    found = _of_dict(collections.OrderedDict(), x, y, z)
    return first, list(d.items()), found, list(reversed(d.keys())), [*d.values()], list(d)


def default_dicts(x: float, y: float, z: float) -> Any:
    d: Any = collections.defaultdict(list)
    d["a"].append(x)
    d["a"].append(d["b"])
    d["b"] += [y, x * z]
    count = collections.Counter(a=2)
    chain = collections.ChainMap({"a": x}, {"b": z})
    chain["c"] = x * y
    proxy = types.MappingProxyType({"a": x, "b": y})
    return d["a"][0] * d["b"][1], count["a"] * x, chain["b"] * chain["c"], proxy["a"], dict(proxy)


# -- deques, iterators, arrays of the library ----------------------------------------------------------------


def deques(x: float, y: float, z: float) -> Any:
    d: Any = collections.deque([x, y, z], 4)
    d.append(x * y)
    d.appendleft(z)
    d.extend([x, z * z])
    d.extendleft((y,))
    d.rotate(1)
    d[1] = x * z
    d.insert  # noqa: B018
    ends = d.pop(), d.popleft()
    d += [y, z]
    whole = d + d, d * 2, d.copy(), list(reversed(d)), [v * x for v in d], d[0], len(d)
    d.reverse()
    del d[0]
    d.insert(1, x)
    d.remove(d[0])
    e: Any = collections.deque()
    e.append(x)
    e.clear()
    return d, ends, whole, e


def iterators(x: float, y: float, z: float) -> Any:
    a = [x, y * z, z]
    i = iter(a)
    first = next(i) + next(i, x)
    a[2] = x * x
    rest, none = next(i), next(i, y)
    j = a.__iter__()
    k = reversed(a)
    d = {"a": x, "b": y}
    e: Any = collections.deque(a)
    found = [
        next(j),
        next(k),
        next(reversed((x, y))),
        next(iter((z, y))),
        d[next(iter(d))],
        d[next(reversed(d))],
    ]
    found += [next(iter(d.values())), next(iter(d.items()))[1], next(e.__iter__()), next(reversed(e))]
    pairs = list(enumerate(a)), list(zip(a, (z, y), strict=False)), list(map(operator.mul, a, a))
    loops = (
        list(itertools.chain(a, (z,))),
        list(itertools.accumulate(a)),
        list(itertools.islice(a, 1, 3)),
    )
    more = list(filter(None, a)), [u * v for u, v in itertools.product(a, a)], next(itertools.count(x, y))
    ends = (
        list(itertools.takewhile(lambda v: v < 1.5, a)),
        itertools.repeat(x, 2),
        list(itertools.pairwise(a)),
    )
    last = list(itertools.zip_longest(a, [y], fillvalue=z)), list(itertools.batched(a, 2)) if _BATCHED else 0
    return first, rest, none, found, pairs, loops, more, list(ends[1]), ends[0], ends[2], last


_BATCHED = hasattr(itertools, "batched")


def generators(x: float, y: float, z: float) -> Any:
    def ask(start: float) -> Iterator[float]:
        total = start
        try:
            while True:
                got: Any = yield total * y
                total = total * x + got
        finally:
            ended.append(total * z)

    ended: list[float] = []
    g: Any = ask(x)
    found = [next(g), g.send(y), g.send(z * x)]
    g.close()
    return found, ended, sum(v * x for v in found), [*(v * v for v in found)]


# -- cells, variables, copies, objects -----------------------------------------------------------------------


def cells(x: float, y: float, z: float) -> Any:
    total = x

    def add(v: float) -> float:
        nonlocal total
        total = total * y + v
        return total

    first = add(z) * add(x)
    before = total
    del total
    total = before * y
    return first, total, before, add(y)


VARIABLE: Any = contextvars.ContextVar("VARIABLE", default=1.0)


def variables(x: float, y: float, z: float) -> Any:
    token = VARIABLE.set(x * y)
    inside = VARIABLE.get()
    second = VARIABLE.set(inside * z)
    old = VARIABLE.get()
    VARIABLE.reset(second)
    again = VARIABLE.get()
    VARIABLE.reset(token)
    return inside, old, again, VARIABLE.get()


def copies(x: float, y: float, z: float) -> Any:
    shared = [x, y * z]
    a = [shared, shared, {"a": shared, "b": (x, z)}, Weighed([y, shared])]
    a[3].more = a[3]  # type: ignore[attr-defined]
    b: Any = copy.deepcopy(a)
    b[0][0] *= z
    b[2]["a"].append(b[3].more.weight[0])
    c: Any = copy.copy(a)
    c[0] = x
    return b[1], b[3].weight[1], a[1], c[0], b[2]["b"]


def copies_of_arrays(v: Any) -> Any:
    part = v[1:] * v[0]
    body = Weighed(part)
    whole = [v, part, body, v]
    made: Any = copy.deepcopy(whole)
    made[2].weight *= v[0]
    made[0][1] = 3.0 * v[1]
    return made[1], made[3], made[2].weight, whole[1] * 2.0


def objects(x: float, y: float, z: float) -> Any:
    a = Weighed(x)
    setattr(a, "other", y * a.weight)  # noqa: B010
    vars(a)["third"] = z
    a.__dict__.update(fourth=x * z)
    found = a.other, getattr(a, "third"), getattr(a, "none", y), vars(a)["fourth"]  # type: ignore[attr-defined]  # noqa: B009
    del a.other  # type: ignore[attr-defined]
    return found, a.weight, sorted(vars(a)), [v * x for v in vars(a).values()]


def matched(x: float, y: float, z: float) -> Any:
    found: Any = []
    for thing in ([x, y], (x, [y, z]), {"a": x, "b": z}, Weighed(y), x):
        match thing:
            case [p, [q, r]]:
                found.append(p * q * r)
            case [p, *rest]:
                found.append((p, rest))
            case {"a": p, **others}:
                found.append((p * p, others))
            case Weighed(weight=p):
                found.append(p * x)
            case p:
                found.append(p)
    return found


def formatted(x: float, y: float, z: float) -> Any:
    return (
        abs(-x),
        divmod(x * 9.0, y),
        pow(x, y),
        round(x, 1),
        complex(x, y),
        float(x) * int(z),
        sum([x, y], z),
        -x,
    )


# -- arrays --------------------------------------------------------------------------------------------------


def written(v: Any) -> Any:
    a = v.copy()
    a[1] = a[0] * v[2]
    a[[0, 3]] = v[[3, 0]]
    a[a > 1.0] *= 2.0
    a[1:3] += v[:2]
    np.put(a, [0], v[1])
    a.put([1], v[2] * v[3])
    np.putmask(a, np.array([False, True, False, False]), v * v)
    np.copyto(a[:2], v[2:] * v[0])
    np.place(a, np.array([False, False, True, False]), v[:1] * 3.0)
    b = np.outer(v, v)
    np.fill_diagonal(b, v[0])
    np.put_along_axis(b, np.array([[1], [0], [2], [3]]), v[:, None], 1)
    np.add.at(a, [0, 0, 1], v[:3])
    a.setflags(write=True)
    c = v * 2.0
    c.fill(v[1])
    c.sort()
    d = v.copy()
    d.partition(2)
    return a, b, c, d, a.item(2), a.tolist(), b.flat[3], [row[0] for row in b], list(b.flat)[2]


def shaped(m: Any) -> Any:
    a = m.copy()
    b = a.reshape(2, 8), a.ravel(), a.T, a[::2, 1:], np.transpose(a, [1, 0]), a.swapaxes(0, 1), a.view()
    c = np.hsplit(a, 2)[1], np.vsplit(a, 2)[0], np.dsplit(a.reshape(2, 2, 4), 2)[1], np.split(a, [1, 3])[1]
    d = (
        np.atleast_3d(a),
        np.asarray(a),
        np.asanyarray(a),
        np.moveaxis(a, 0, 1),
        np.squeeze(a[:1]),
        a.diagonal(),
    )
    a[0, 1] = 7.0 * a[2, 2]
    e = a[a[:, 0] > 1.0].ravel(), a[:, [2, 1]].ravel(), a.flat[[1, 2]], a.astype(complex), a.take([1, 2])
    f = (
        np.frombuffer(memoryview(a.ravel())),
        memoryview(a).tolist(),
        a.real,
        (a + 1j * a).imag,
        a.flatten("F"),
    )
    return b, c, d, e, f


def solved(m: Any) -> Any:
    values, vectors = np.linalg.eigh(m + m.T)
    q, r = np.linalg.qr(m)
    a = m.copy()
    a @= m
    found = np.linalg.inv(m), np.linalg.det(m), np.linalg.solve(m, m[0]), np.linalg.svd(m, compute_uv=False)
    more = (
        np.linalg.cholesky(m @ m.T),
        np.linalg.norm(m),
        np.linalg.slogdet(m)[1],
        np.kron(m[:2, :2], m[:2, :1]),
    )
    return values, abs(vectors), q @ r, a, found, more


def of_the_library(x: float, y: float, z: float) -> Any:
    return (
        math.dist((x, y), (z, x)),
        math.hypot(x, y, z),
        math.fsum([x, y * z]),
        math.prod([x, y, z]),
        math.atan2(x, y),
    )


NUMBERS = (
    lists, lists_that_are_sorted, tuples, sets, sets_of_objects, dicts, ordered_dicts, default_dicts, deques,
    iterators, generators, cells, variables, copies, objects, matched, formatted, of_the_library,
)  # fmt: skip
CASES: dict[str, tuple[Any, ...]] = {
    **{f.__name__: (f, X, Y, Z) for f in NUMBERS},
    "copies_of_arrays": (copies_of_arrays, V),
    "written": (written, V),
    "shaped": (shaped, M),
    "solved": (solved, M),
}


@pytest.mark.parametrize("name", CASES)
def test_rows_by_hand_that_are_chosen_late(name: str) -> None:
    with adbc.use(adbc.Config(speculation="dynamic", warm_after=0)):
        check_rule(*CASES[name], width=3, mode="forward")


def _methods_of_ufuncs() -> Iterator[Any]:
    for f in dict.fromkeys(row.function for row in UFUNC_ROWS):
        for name in ("at", "outer")[: f.nin]:
            row = default_table().find(getattr(f, name), (np.ndarray, list, np.ndarray))
            if isinstance(row, Primitive):
                yield f, name


@pytest.mark.parametrize("f, name", [*_methods_of_ufuncs()])
def test_methods_of_ufuncs(f: Any, name: str) -> None:
    method = getattr(f, name)
    start = 1.5 if f.__name__ in ("arccosh", "acosh") else 0.3
    v = start + np.array([0.05, 0.35, 0.2, 0.45])
    if name == "outer":
        if f is np.ldexp:
            method = lambda x, y: np.ldexp.outer(x, [1, 2]) + y[0]  # noqa: E731  # of floats and ints
        check_rule(method, v[:3], v[::-1] * 0.9, width=3, mode="forward")
    elif f.nin == 1:
        check_rule(lambda x: method(x, [0, 2]), v, width=3, mode="forward")
    elif f is np.ldexp:
        check_rule(lambda x: np.ldexp.at(x, [0, 2], [1, 3]), v, width=3, mode="forward")
    else:
        check_rule(lambda x, y: method(x, [0, 2, 3], y), v, v[1:] * 0.9, width=3, mode="forward")


@pytest.mark.parametrize("warm_after", [0, 1, None])
@pytest.mark.parametrize("name", CASES)
def test_rows_by_hand(name: str, warm_after: int | None) -> None:
    with adbc.use(adbc.Config() if warm_after is None else adbc.Config(warm_after=warm_after)):
        check_rule(*CASES[name], width=3, mode="forward")


# -- public functions ----------------------------------------------------------------------------------------

LIBRARY = (
    "math", "cmath", "statistics", "operator", "bisect", "heapq", "itertools", "functools", "collections",
    "copy", "random", "array",
)  # fmt: skip
SCIPY = tuple(
    f"scipy.{name}"
    for name in (
        "special", "linalg", "fft", "integrate", "interpolate", "ndimage", "optimize", "signal",
        "sparse", "spatial",
    )
)  # fmt: skip
OF_OBJECTS = {
    "array.array": "its memory is that of the library",
    "numpy.frompyfunc": "it makes arrays of objects",
    "numpy.float64.flat": "an iterator is the result",
    "numpy.float64.__array_interface__": "addresses are in the result",
    "scipy.sparse.lil_array": "its rows are an array of objects",
    "scipy.sparse.lil_matrix": "its rows are an array of objects",
}
"""The functions that no batch goes through, and why."""


def entries(*modules: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for module in modules:
        for group in entries_of(module).values():
            found.update(group)
    return found


def calls(entry: str, function: Any) -> Iterator[Case]:
    """The calls that a function is judged by; of those that were made from its signature the first."""
    is_guess = entry not in CALLS and entry.rpartition(".")[2] not in OF_METHODS
    text = ""
    for case in cases_of(entry, function):
        if case.primary and case.domain == "unit" and (not text or not is_guess or case.text == text):
            try:
                case.function()(*case.values())
            except Exception:  # whatever the function says of arguments that were made up
                continue
            text = case.text
            yield case


def agrees(entry: str, function: Any) -> None:
    """Assert that each call with a batch gives in each lane what that tangent gives, where it gives any."""
    from adbc.testing.rule import _Tester, _Tolerances

    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for case in calls(entry, function):
            call, values = case.function(), case.values()
            signature = adbc.Signature.of(call, *values)
            rule = adbc.build_frule(signature)
            bundle = [call, *values]
            tolerances = _Tolerances(1e-6, 1e-9, 1e-11, 1e-12, 1e-2).widened(precision(bundle))
            tester = _Tester(bundle, np.random.default_rng(1), tolerances)
            try:
                tester.forward(rule, tester.direction)
            except (AdbcError, TypeError):  # or the result has operators of its own
                continue  # it is refused with a single tangent too
            try:
                tester.check_batches(rule, signature, 3)
            except (BatchError, ValueError, AssertionError) as error:
                if entry not in OF_OBJECTS:
                    raise AssertionError(f"{case.program()}: {error}") from error


@pytest.mark.parametrize("entry", entries(*LIBRARY))
def test_functions_of_the_library(entry: str) -> None:
    agrees(entry, entries(*LIBRARY)[entry])


@pytest.mark.parametrize("entry", entries("numpy"))
def test_functions_of_numpy(entry: str) -> None:
    agrees(entry, entries("numpy")[entry])


@pytest.mark.parametrize("entry", entries(*SCIPY))
def test_functions_of_scipy(entry: str) -> None:
    agrees(entry, entries(*SCIPY)[entry])
