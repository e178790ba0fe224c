"""What is found again in a container, an object or a closure is as active as what was put there."""

from __future__ import annotations

import collections
import contextvars
import copy
import dataclasses
import functools
import heapq
import itertools
import operator
import queue
import types
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adbc
from adbc.errors import AdbcError
from tests.runtime.opaque import binned

X, STEP = 1.3, 1e-6
VARIABLE: contextvars.ContextVar[Any] = contextvars.ContextVar("VARIABLE")
Pair = collections.namedtuple("Pair", "a b")


@dataclasses.dataclass
class Box:
    a: Any


@dataclasses.dataclass(frozen=True)
class Frozen:
    a: Any


class Slotted:
    __slots__ = ("a",)

    def __init__(self, a: Any) -> None:
        self.a = a


class Hidden:
    def __init__(self, a: Any) -> None:
        self._a = a

    @property
    def a(self) -> Any:
        return self._a

    @functools.cached_property
    def cached(self) -> Any:
        return self._a

    def __getattr__(self, name: str) -> Any:
        return self.__dict__["_a"]

    def __getitem__(self, i: int) -> Any:
        return self._a

    def __call__(self) -> Any:
        return self._a


def variable(a: Any) -> Any:
    VARIABLE.set(a)
    return VARIABLE.get()


def items(a: Any) -> Any:
    for _, value in {"a": a}.items():  # noqa: PERF102  # that is the point
        return value


def in_a_queue(a: Any) -> Any:
    waiting: Any = queue.Queue()
    waiting.put(a)
    return waiting.get()


def in_a_heap(a: Any) -> Any:
    heap = [(1, 0, a)]
    heapq.heappush(heap, (2, 1, None))
    return heapq.heappop(heap)[2]


def zipped(a: Any) -> Any:
    for value, _ in zip([a], [1], strict=True):
        return value


def generated(a: Any) -> Any:
    def values() -> Any:
        while True:
            yield a

    return next(values())


def raised(a: Any) -> Any:
    try:
        raise ValueError(a)
    except ValueError as error:
        return error.args[0]


def nonlocal_(a: Any) -> Any:
    kept = None

    def keep() -> None:
        nonlocal kept
        kept = a

    keep()
    return kept


def default(a: Any) -> Any:
    def f(b: Any = a) -> Any:
        return b

    return f()


def of_a_class(a: Any) -> Any:
    class Own:
        pass

    Own.a = a  # type: ignore[attr-defined]  # just now
    return Own().a  # type: ignore[attr-defined]


def appended(a: Any) -> Any:
    values: list[Any] = []
    values.append(a)
    return values[0]


def popped(a: Any) -> Any:
    values = [1]
    values.insert(0, a)
    return values.pop(0)


def popped_left(a: Any) -> Any:
    return collections.deque([a]).popleft()


def matched(a: Any) -> Any:
    match {"a": a}:
        case {"a": value}:
            return value


def replaced(a: Any) -> Any:
    values = [a, 1]
    a, values[0] = values[0], 2
    values.clear()
    return a


WAYS: dict[str, Callable[[Any], Any]] = {
    **{
        f.__name__: f
        for f in (
            variable, items, in_a_queue, in_a_heap, zipped, generated, raised, nonlocal_, default, of_a_class,
            appended, popped, popped_left, matched, replaced,
        )
    },
    "namespace": lambda a: types.SimpleNamespace(a=a).a,
    "dataclass": lambda a: Box(a).a,
    "frozen dataclass": lambda a: Frozen(a).a,
    "named tuple": lambda a: Pair(a, 1).a,
    "element of a named tuple": lambda a: Pair(a, 1)[0],
    "slot": lambda a: Slotted(a).a,
    "property": lambda a: Hidden(a).a,
    "cached property": lambda a: Hidden(a).cached,
    "__getattr__": lambda a: Hidden(a).other,
    "__getitem__": lambda a: Hidden(a)[0],
    "__call__": lambda a: Hidden(a)(),
    "vars": lambda a: vars(Box(a))["a"],
    "__dict__": lambda a: Box(a).__dict__["a"],
    "attrgetter": lambda a: operator.attrgetter("a")(Box(a)),
    "itemgetter": lambda a: operator.itemgetter(0)([a]),
    "dict": lambda a: {"a": a}["a"],
    "get": lambda a: {"a": a}.get("a"),
    "setdefault": lambda a: dict[str, Any]().setdefault("a", a),
    "pop of a dict": lambda a: {"a": a}.pop("a"),
    "values": lambda a: list({"a": a}.values())[0],  # noqa: RUF015  # that is the point
    "deque": lambda a: collections.deque([a])[0],
    "next": lambda a: next(iter([a])),
    "chain": lambda a: next(itertools.chain([a])),
    "repeat": lambda a: next(itertools.repeat(a)),
    "map": lambda a: next(map(lambda b: b, [a])),  # noqa: C417  # that is the point
    "reduce": lambda a: functools.reduce(lambda b, _: b, [a, 1]),
    "closure": lambda a: (lambda: a)(),
    "function in a list": lambda a: [lambda: a][0](),
    "keyword": lambda a: (lambda **named: named["a"])(a=a),
    "partial": lambda a: functools.partial(lambda b: b, a)(),
    "lru_cache": lambda a: functools.lru_cache(lambda: a)(),
    "sorted": lambda a: sorted([(2, a), (1, a)], key=lambda pair: pair[0])[0][1],
    "ChainMap": lambda a: collections.ChainMap({"a": a})["a"],
    "UserDict": lambda a: collections.UserDict(a=a)["a"],
    "mapping proxy": lambda a: types.MappingProxyType({"a": a})["a"],
    "tuple": lambda a: (1, a)[1],
    "copy": copy.copy,
    "deepcopy of a list": lambda a: copy.deepcopy([a])[0],
    "asarray": np.asarray,
    "view": lambda a: a.view(),
    "broadcast": lambda a: np.broadcast_to(a, (3, 2)),
    "squeeze": lambda a: np.squeeze(a[None]),
    "rows": lambda a: np.array([*a]),
    "where": lambda a: np.where(a > 0, a, 0),
    "stacked": lambda a: np.stack([a, a])[1],
}  # fmt: skip


def weigh(a: Any) -> Any:
    """A function in C without a rule, of the numbers in `a`."""
    return binned(np.arange(np.size(a)) % 2, np.ravel(a))[1]


def active(way: Any, x: Any) -> Any:
    return weigh(way(np.array([x, 2.0 * x])))


def differentiated(way: Any, x: Any) -> Any:
    return way(np.array([x, 2.0 * x]) * 1.0).sum()


def constant(way: Any, x: Any) -> Any:
    return x * way(np.array([0.5, 2.0]) * np.array([1.0, 2.0])).sum()


def written_later(way: Any, x: Any) -> Any:
    a = np.array([0.5, 2.0]) * 2.0
    b = way(a)
    before = weigh(a)
    if b.flags.writeable:
        b[0] = x
    return before + weigh(a) + b.sum()


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("speculation", ["learn", "dynamic"])
def test_what_is_found_again(way: str, speculation: Any) -> None:
    """The derivative is right, or the function in C refuses what is active."""
    with adbc.use(adbc.Config(speculation=speculation)):
        for use in (active, differentiated, constant, written_later):

            def f(x: Any, use: Any = use) -> Any:
                return use(WAYS[way], x)

            expected = (f(X + STEP) - f(X - STEP)) / (2.0 * STEP)
            for derivative in (adbc.grad(f), lambda x, f=f: adbc.jvp(f, (x,), (1.0,))[1]) * 2:
                try:
                    found = derivative(X)
                except AdbcError:
                    assert use is not constant, "a constant is refused"
                else:
                    assert use is not active, "what is active is not refused"
                    found = 0.0 if isinstance(found, adbc.NoTangent) else found
                    np.testing.assert_allclose(found, expected, rtol=1e-5)
