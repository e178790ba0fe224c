"""What is kept of functions that are called as they are is used while it is true, and no longer."""

from __future__ import annotations

import collections
import functools
import gc
import json
import re
import textwrap
import types
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import adbc
from adbc.errors import UnsupportedError
from adbc.runtime import default_engine
from adbc.runtime.calls.plain_functions import PlainFunction

Known = dict[int, PlainFunction]


@pytest.fixture(autouse=True, params=["learn", "dynamic", "always"])
def known(request: pytest.FixtureRequest) -> Iterator[Known]:
    with adbc.use(adbc.Config(speculation=request.param)):
        yield default_engine().table.plain_functions


def slopes(program: Callable[[float], Any], x: float) -> tuple[float, float]:
    """The derivative of `program` at `x` in both modes."""
    return adbc.grad(program)(x), adbc.jvp(program, (x,), (1.0,))[1]


RATE: Any = 2


@functools.cache
def rated(k: int) -> Any:
    return k * RATE


def by_rate(x: float) -> Any:
    return rated(3) * x


def test_a_global_that_is_bound_anew_is_seen(known: Known) -> None:
    global RATE
    rated.cache_clear()
    assert slopes(by_rate, 1.5) == (6, 6)
    assert id(rated) in known
    try:
        RATE = 5
        rated.cache_clear()
        assert slopes(by_rate, 1.5) == (15, 15)
    finally:
        RATE = 2


def test_a_global_that_depends_on_the_input_is_never_a_constant(known: Known) -> None:
    def program(x: float) -> Any:
        global RATE
        RATE = x
        rated.cache_clear()
        try:
            return rated(3) * x
        finally:
            RATE = 2

    rated.cache_clear()
    assert slopes(by_rate, 1.5) == (6, 6)
    assert id(rated) in known
    for differentiate in (adbc.grad(program), lambda x: adbc.jvp(program, (x,), (1.0,))):
        with pytest.raises(UnsupportedError, match="global 'RATE' is set"):
            differentiate(1.5)
    assert RATE == 2


def test_code_and_what_is_captured_are_compared() -> None:
    def make(k: Any) -> Any:
        return lambda n: n * k

    function, other = make(2), make(3)
    function.__code__ = other.__code__.replace(co_filename=re.__file__)  # as that of a library
    function.__qualname__ = "function"
    kept = PlainFunction(function, [function], lambda _: None)
    assert kept.holds(function)
    assert not kept.holds(other)
    function.__closure__[0].cell_contents = 7
    assert not kept.holds(function)
    kept = PlainFunction(function, [function], lambda _: None)
    assert kept.holds(function)
    function.__code__ = function.__code__.replace(co_name="another")
    assert not kept.holds(function)


def test_functions_are_not_kept_alive(known: Known) -> None:
    namespace: dict[str, Any] = {"functools": functools}
    exec("@functools.lru_cache\ndef square(k):\n    return k * k\n", namespace)
    square = namespace["square"]
    program = functools.partial(lambda f, x: f(3) * x, square)

    assert slopes(program, 0.5) == (9, 9)
    at = id(square)
    assert at in known
    gone = weakref.ref(square.__wrapped__)
    namespace.clear()
    del square, program
    default_engine().clear()
    gc.collect()
    assert gone() is None
    assert at not in known


def test_a_rule_that_is_declared_later_is_used() -> None:
    module = types.ModuleType("json")  # of a library, by its name
    exec("def doubled(k):\n    return 2.0 * k\n", module.__dict__)
    doubled = module.doubled

    def program(x: float) -> Any:
        return doubled(3) * doubled(x)

    with adbc.use(adbc.Config(speculation="dynamic")):
        known = default_engine().table.plain_functions
        assert slopes(program, 0.5) == (12, 12)
        assert id(doubled) in known
        adbc.scalar_rule(doubled)(lambda out, k: 100.0)
        assert not known
        assert slopes(program, 0.5) == (600, 600)


def parsed(x: float) -> float:
    total = 0.0
    for text in ("[1, 2]", "[1", "[0.5]"):
        try:
            total += sum(json.loads(text)) * x
        except ValueError as error:
            total += len(str(error).split(":")[0]) * x * x
    return total


def matched(x: float) -> float:
    words = [m.group() for m in re.finditer(r"\d+", "3 tall trees, 15 feet")]
    return sum(float(w) for w in words) * x + len(textwrap.dedent("  a"))


def appended(x: float) -> Any:
    rates = json.loads("[1.5, 2]")
    rates.append(x)
    rates[0] *= x
    return sum(rates[i] * (i + 1) for i in range(3))


def named(x: float) -> Any:
    pair = collections.namedtuple("pair", "a b")
    assert pair.__module__ == __name__
    return pair(x, 2.0).a * 3.0


@pytest.mark.parametrize("program", [parsed, matched, appended, named])
def test_the_second_call_is_as_the_first(program: Any) -> None:
    x = 0.7
    step = 1e-6
    slope = (program(x + step) - program(x - step)) / (2 * step)
    for _ in range(3):
        assert slopes(program, x) == pytest.approx((slope, slope))
