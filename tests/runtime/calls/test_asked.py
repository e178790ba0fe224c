"""Special methods with effects are run as often as in a plain call, or the program is refused."""

from __future__ import annotations

import collections
import io
import itertools
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adbc
from adbc.errors import UnsupportedError
from adbc.testing import test_rule as check

WAYS = ["learn", "never", "dynamic", "always"]


class Counted:
    def __init__(self) -> None:
        self.count = 0

    def __hash__(self) -> int:
        self.count += 1
        return 7


class Drawing:
    def __init__(self) -> None:
        self.numbers = iter(range(100))

    def __hash__(self) -> int:
        return next(self.numbers) * 0 + 3


class CountedDict(dict):  # type: ignore[type-arg]
    count = 0

    def __hash__(self) -> int:
        vars(self)["count"] = self.count + 1
        return 5


class Kept:
    def __init__(self) -> None:
        self.hash: int | None = None

    def __hash__(self) -> int:
        if self.hash is None:
            self.hash = 5
        return self.hash


class Logged:
    def __init__(self, log: list[float], x: float) -> None:
        self.log, self.x = log, x

    def __eq__(self, other: object) -> bool:
        self.log.append(self.x)
        return self.x == getattr(other, "x", other)

    def __lt__(self, other: Any) -> bool:
        self.log.append(self.x)
        return bool(self.x < other.x)

    __hash__ = None  # type: ignore[assignment]


def stored(key: Any, x: float) -> Any:
    d = {key: x}
    d[key] = x
    return d[key]


def of_keys(make: Callable[[], Any]) -> list[Callable[[float], Any]]:
    return [
        lambda x: stored(make(), x),
        lambda x: stored((1, make()), x),
        lambda x: {}.setdefault(make(), x),
    ]


def attempt(f: Callable[[float], Any], way: str) -> None:
    with adbc.use(adbc.Config(speculation=way)):
        with pytest.raises(UnsupportedError, match=r"__hash__ or __eq__|the interpreter"):
            adbc.grad(f)(1.3)
        with pytest.raises(UnsupportedError, match=r"__hash__ or __eq__|the interpreter"):
            adbc.jvp(f, (1.3,), (1.0,))


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("make", [Counted, Drawing, CountedDict])
def test_keys_that_count_are_refused(make: Callable[[], Any], way: str) -> None:
    for f in of_keys(make):
        attempt(f, way)


NUMBERS = random.Random(1)


def asking(ask: Callable[[], Any]) -> Any:
    """A key that asks when it is hashed."""

    class Key:
        def __hash__(self) -> int:
            ask()
            return 3

    return Key()


def from_a_cell() -> Any:
    it = iter(range(100))
    return asking(lambda: next(it))


def from_one_that_ends() -> Any:
    it = iter(range(3))
    return asking(lambda: next(it))


def from_a_loop() -> Any:
    it = iter(range(100))

    def ask() -> int:
        for v in it:
            return v
        return 0

    return asking(ask)


def from_a_default() -> Any:
    numbers = itertools.count()
    return asking(lambda it=numbers: next(it))  # type: ignore[misc]


def from_pairs() -> Any:
    it = zip(range(100), range(100), strict=True)
    return asking(lambda: next(it))


def from_another_object() -> Any:
    class Ticket:
        numbers = enumerate("abc" * 30)

        def next(self) -> Any:
            return next(self.numbers)

    return asking(Ticket().next)


def from_a_module() -> Any:
    return asking(lambda: random.random())


def from_random_numbers() -> Any:
    return asking(lambda: NUMBERS.random())


def from_random_numbers_of_numpy() -> Any:
    numbers = np.random.default_rng(1)
    return asking(lambda: numbers.random())


def from_a_stream() -> Any:
    stream = io.StringIO("digits" * 30)
    return asking(lambda: stream.read(1))


def from_an_attribute_of_a_function() -> Any:
    def ask() -> None:
        vars(ask)["n"] = vars(ask).get("n", 0) + 1

    return asking(ask)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    "make",
    [
        from_a_cell, from_one_that_ends, from_a_loop, from_a_default, from_pairs, from_another_object,
        from_a_module, from_random_numbers, from_random_numbers_of_numpy, from_a_stream,
        from_an_attribute_of_a_function,
    ],
)  # fmt: skip
def test_keys_that_draw_are_refused_wherever_they_draw_from(make: Callable[[], Any], way: str) -> None:
    for f in of_keys(make):
        attempt(f, way)


class Numbered:
    """It draws when it is made, and a number of its own when it is asked for one: not when it is hashed."""

    numbers = itertools.count()
    random = random.Random(3)

    def __init__(self) -> None:
        self.number = next(self.numbers)

    def __hash__(self) -> int:
        return hash(repr(self.number))

    def draw(self) -> float:
        return self.random.random()


@pytest.mark.parametrize("way", WAYS)
def test_keys_that_draw_elsewhere_are_right(way: str) -> None:
    f = of_keys(Numbered)[0]
    with adbc.use(adbc.Config(speculation=way)):
        assert adbc.grad(f)(1.3) == 1.0
        assert adbc.jvp(f, (1.3,), (1.0,))[1] == 1.0


@pytest.mark.parametrize("way", WAYS)
def test_a_hash_that_is_kept_is_right(way: str) -> None:
    def f(x: float) -> Any:
        key = Kept()
        return stored(key, x) * x + len({key}) * x * hash(key)

    with adbc.use(adbc.Config(speculation=way)):
        assert adbc.grad(f)(1.3) == pytest.approx(2.6 + 5.0)
        assert adbc.jvp(f, (1.3,), (1.0,))[1] == pytest.approx(2.6 + 5.0)


@pytest.mark.parametrize("way", WAYS)
def test_comparisons_in_c_that_write_numbers_are_refused(way: str) -> None:
    log: list[float] = []
    attempt(lambda x: ({1: Logged(log, x)} == {1: Logged(log, 2.0)}) + x, way)
    with adbc.use(adbc.Config(speculation=way)):  # what is found out about these numbers is of these only
        assert adbc.grad(lambda x: ((1, x) in {1: 2.0}.items()) + x)(1.3) == 1.0
    attempt(lambda x: ((1, Logged(log, x)) in {1: Logged(log, 2.0)}.items()) + x, way)


@pytest.mark.parametrize("way", WAYS)
def test_comparisons_of_a_sort_that_write_numbers_are_followed(way: str) -> None:
    def of_objects(x: float) -> Any:
        return sum(sorted([Logged([], x), Logged([], 2.0)])[0].log, x)

    def of_tuples(x: float) -> Any:
        log: list[float] = []
        first, _ = sorted([(1, Logged(log, x * x)), (1, Logged(log, 2.0))])
        return sum(log, x) * len(first)

    for f in (of_objects, of_tuples):
        expected = pytest.approx((f(1.3 + 1e-6) - f(1.3 - 1e-6)) / 2e-6, rel=1e-6)
        with adbc.use(adbc.Config(speculation=way)):
            assert adbc.grad(f)(1.3) == expected
            assert adbc.jvp(f, (1.3,), (1.0,))[1] == expected


def searched(x: float) -> Any:
    log: list[float] = []
    a, b = Logged(log, x), Logged(log, 2.0 * x)
    found = [a, a, b].index(b) + [a, b].count(b) + (a, b).index(b) + (b in [a, b, a]) + ((5.0 in [a]) + 1)
    values = [a, b]
    values.remove(b)
    same = ([a, b] == [a, a]) + ((1, a) != (1, b)) + ((1, a) in [(1, b), (1, a)]) + ([a, 5] == [5])
    best = min([a, b, a]).x + max(Logged(log, y) for y in (x, 3.0, 4.0 * x)).x
    return sum(log) * (found + same + len(values)) * best


@pytest.mark.parametrize("way", WAYS)
def test_comparisons_of_elements_are_followed(way: str) -> None:
    step = 1e-6
    difference = (searched(1.3 + step) - searched(1.3 - step)) / (2 * step)
    with adbc.use(adbc.Config(speculation=way)):
        for _ in range(2):
            value, gradient = adbc.value_and_grad(searched)(1.3)
            assert value == pytest.approx(searched(1.3)) and gradient == pytest.approx(difference, rel=1e-6)
        assert adbc.jvp(searched, (1.3,), (1.0,))[1] == pytest.approx(difference, rel=1e-6)


def test_counters_of_comparisons_in_c_are_put_back() -> None:
    class Key:
        count = 0

        def __init__(self, tally: list[int], x: float) -> None:
            self.tally, self.x = tally, x

        def __lt__(self, other: Any) -> bool:
            self.tally[0] += 1
            return bool(self.x < other.x)

    tally = [0]

    def f(x: float) -> Any:
        first = sorted([Key(tally, x * k % 1.1) for k in range(5)])[1]
        return first.x * x * tally[0]

    plain = f(1.3)
    count, tally[0] = tally[0], 0
    assert count > 3
    value, _ = adbc.value_and_grad(f)(1.3)
    assert value == pytest.approx(plain) and tally == [0]
    assert adbc.jvp(f, (1.3,), (1.0,))[0] == pytest.approx(plain) and tally == [count]


class Unit:
    """Is equal and hashed by its name, and has arrays of all kinds besides."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.one, self.many = np.array(1.0), np.arange(3)
        self.names = np.empty(2, dtype=object)

    def __hash__(self) -> int:
        return hash(self.name)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Unit) and self.name == other.name


@pytest.mark.parametrize("way", WAYS)
def test_keys_that_hold_arrays(way: str) -> None:
    with adbc.use(adbc.Config(speculation=way)):
        check(lambda x: {Unit("m"): x, Unit("s"): x * x}[Unit("s")] * x, 1.5)


BUILTIN = [
    object, str, int, float, complex, bytes, tuple, list, dict, collections.OrderedDict,
    collections.defaultdict, Exception,
]  # fmt: skip


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("base", BUILTIN)
def test_an_object_is_asked_for_nothing_else(base: Any, way: str) -> None:
    """Its class is known without ``__class__``, and what C code does to it without its methods."""

    def f(x: Any) -> Any:
        count = [0.0]

        class Asked(base):
            w = 2.0

            def __getattribute__(self, name: str) -> Any:
                count[0] += x
                return object.__getattribute__(self, name)

            def times(self) -> float:
                return 3.0

        asked = Asked()
        asked.w = x
        y = x * asked.w * asked.times() + [asked][0].w + {"a": asked}["a"].w
        other, x = (asked, 2.0 * x)
        y = y + sum([z.w for z in [other]]) + (1.0 if asked == 3 else x) + getattr(asked, "missing", x)
        if base not in (object, int, float, complex, Exception):
            y = y + len(asked) + sum([1 for _ in asked])
        if base is list:
            asked.extend([x])
            asked.reverse()
            y = y + asked.pop()
            asked.clear()
        return y + count[0]

    slope = (f(0.7 + 1e-6) - f(0.7 - 1e-6)) / 2e-6
    with adbc.use(adbc.Config(speculation=way)):
        for _ in range(2):
            assert adbc.jvp(f, (0.7,), (1.0,)) == (pytest.approx(f(0.7)), pytest.approx(slope, rel=1e-6))
            assert adbc.value_and_grad(f)(0.7) == (pytest.approx(f(0.7)), pytest.approx(slope, rel=1e-6))


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("base", [object, str, float, list, Exception])
def test_an_object_that_is_handed_on_is_asked_for_nothing_else(base: Any, way: str) -> None:
    """What a call in a ``try`` gives is told from an exception, and what `super` binds, unasked."""

    def f(x: Any) -> Any:
        count = [0.0]

        class Asked(base):
            def __init__(self, *args: Any) -> None:
                pass

            def __getattribute__(self, name: str) -> Any:
                count[0] = count[0] * 1.5 + x
                return object.__getattribute__(self, name)

            def times(self, y: Any) -> Any:
                return x * y

        class Derived(Asked):
            def __getattr__(self, name: str) -> Any:
                count[0] += x * x
                return 2.0

        def attempt(g: Any) -> Any:
            try:
                return g()
            except ValueError:
                return None

        asked = attempt(lambda: attempt(Derived))
        super(Derived, asked).__init__()
        attempt(lambda: asked)
        return super(Derived, asked).times(x) + asked.missing + count[0]

    slope = (f(0.7 + 1e-6) - f(0.7 - 1e-6)) / 2e-6
    for warm in (0, 40):
        with adbc.use(adbc.Config(speculation=way, warm_after=warm)):
            assert adbc.jvp(f, (0.7,), (1.0,)) == (pytest.approx(f(0.7)), pytest.approx(slope, rel=1e-6))
            assert adbc.value_and_grad(f)(0.7) == (pytest.approx(f(0.7)), pytest.approx(slope, rel=1e-6))


WITHOUT_A_MODULE = """
def f(x):
    count = [0.0]
    class Asked(list):
        def __getattribute__(self, name):
            count[0] += x
            return object.__getattribute__(self, name)
    asked = Asked()
    y = x + len(asked)
    asked.append(2.0 * x)
    return y * sum([1.0 for _ in asked]) + count[0]
"""


def test_an_object_of_a_function_without_a_module_is_asked_for_nothing_else() -> None:
    space: dict[str, Any] = {}
    exec(WITHOUT_A_MODULE, space)
    f = space["f"]
    for _ in range(2):
        assert adbc.value_and_grad(f)(0.5) == (f(0.5), 2.0)
        assert adbc.jvp(f, (0.5,), (1.0,)) == (f(0.5), 2.0)


class OfElements:
    def __init__(self, log: list[Any], x: Any) -> None:
        self.log, self.x = log, x

    def __getitem__(self, key: Any) -> str:
        self.log.append(self.x)
        return "ab"

    @property
    def field(self) -> str:
        self.log.append(self.x)
        return "ab"


def _with_default(log: list[Any], x: Any) -> dict[Any, Any]:
    class WithDefault(dict):  # type: ignore[type-arg]
        def __missing__(self, key: Any) -> str:
            log.append(x)
            return "ab"

    return WithDefault()


TEXTS: list[Callable[[list[Any], Any], str]] = [
    lambda log, x: "%(a)s" % OfElements(log, x),  # noqa: UP031
    lambda log, x: "{[a]}".format(OfElements(log, x)),  # noqa: UP032
    lambda log, x: "{.field}".format(OfElements(log, x)),  # noqa: UP032
    lambda log, x: "%(a)s" % _with_default(log, x),  # noqa: UP031
    lambda log, x: "{a}".format_map(_with_default(log, x)),
    lambda log, x: "c".translate(_with_default(log, x)),
]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("text", TEXTS)
def test_elements_that_are_read_for_text_and_write_numbers_are_refused(text: Any, way: str) -> None:
    def f(x: Any) -> Any:
        log: list[Any] = []
        made = text(log, x)
        return x * len(made) + sum(log)

    with adbc.use(adbc.Config(speculation=way)):
        for _ in range(2):
            with pytest.raises(UnsupportedError, match="makes text"):
                adbc.value_and_grad(f)(0.7)
            with pytest.raises(UnsupportedError, match="makes text"):
                adbc.jvp(f, (0.7,), (1.0,))


@pytest.mark.parametrize("way", WAYS)
def test_complex_reads_text_without_its_methods(way: str) -> None:
    def f(x: Any) -> Any:
        log: list[Any] = []

        class Text(str):
            def __complex__(self) -> complex:
                log.append(x)
                return 1j

        y = complex(Text("3+2j")).real
        try:
            complex(Text("w"))
        except ValueError:
            y = y + 2.0
        return y * x + sum(log)

    with adbc.use(adbc.Config(speculation=way)):
        assert adbc.value_and_grad(f)(0.5) == (2.5, 5.0)
        assert adbc.jvp(f, (0.5,), (1.0,)) == (2.5, 5.0)
