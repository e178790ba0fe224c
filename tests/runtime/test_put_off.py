"""Numbers that may have a derivative are used where it would be lost: what comes back from there tells, and
the call ends with a refusal, or with what is right."""

from __future__ import annotations

import ctypes
import datetime
import decimal
import fractions
import marshal
import math
import pickle
import struct
import zlib
from collections import Counter, OrderedDict, defaultdict, namedtuple
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import adbc
from adbc.errors import MissingRuleError, UnsupportedError

Program = Callable[[Any], Any]
Bar = namedtuple("Bar", "kind length")
TIMES = [0.5, 1.5, 2.5]
BARS = [Bar("a", 0.5), Bar("b", 1.5)]
GRID = np.array([0.5, 1.5])


@dataclass(frozen=True)
class Site:
    at: float
    name: str


class Holder:
    at: Any = None


@pytest.fixture(autouse=True, params=["dynamic", "learn", "always"])
def _speculation(request: pytest.FixtureRequest) -> Iterator[None]:
    with adbc.use(adbc.Config(speculation=request.param)):
        yield


# -- keys that depend on the input ---------------------------------------------------------------------------


def _scaled(x: Any) -> Any:
    d = {}
    d[x * 2] = x
    return d[x * 2] * x


def _in_a_list(x: Any) -> Any:
    d = {}
    for v in [x, 2 * x, 3.0]:
        d[v] = x * x
    return sum(d.values())


def _summed(x: Any) -> Any:
    d, t = {}, 0.0
    for _ in range(3):
        t += x
        d[t] = 1.0
    return x * x


def _of_an_object(x: Any) -> Any:
    holder, d = Holder(), {}
    holder.at = x
    d[holder.at] = 1.0
    return x * x


def _captured(x: Any) -> Any:
    d = {}

    def put(v: Any) -> None:
        d[v] = 1.0

    put(x * 1.5)
    return x * x


def _from_an_array(x: Any) -> Any:
    d = {}
    d[np.array([x, 2.0])[0]] = 1.0
    return x * x


def _from_a_generator(x: Any) -> Any:
    def values() -> Iterator[Any]:
        yield x
        yield 2 * x

    return len(set(values())) * x


def _below_a_handler(x: Any) -> Any:
    d = {}
    try:
        d[x] = 1.0
        raise ValueError
    except ValueError:
        pass
    return x * x


def _of_default(x: Any) -> Any:
    d: Any = defaultdict(float)
    d[x] += 1.0
    return x * x


def _counted(x: Any) -> Any:
    c: Any = Counter()
    c[x] += 1
    return x * x


def _added(x: Any) -> Any:
    s = set()
    s.add(x)
    return len(s) * x


def _united(x: Any) -> Any:
    s = {1.0}
    s |= set([x])  # noqa: C405
    return len(s) * x


ACTIVE: list[Program] = [
    _scaled, _in_a_list, _summed, _of_an_object, _captured, _from_an_array, _from_a_generator,
    _below_a_handler, _of_default, _counted, _added, _united,
    lambda x: sum({(x, 1): x * x}.values()),
    lambda x: len({(("a", (x, 2)), 3): 1}) * x,
    lambda x: len({Bar("a", x): 1}) * x,
    lambda x: len({Site(x, "a"): 1}) * x,
    lambda x: len({complex(x, 1.0): 1}) * x,
    lambda x: len({x, 2.0}) * x,
    lambda x: len(frozenset((x, 1.0))) * x,
    lambda x: len({v * 1.5 for v in [x, 2 * x]}) * x,
    lambda x: len(dict(zip([x], [1.0], strict=True))) * x,
    lambda x: len(dict.fromkeys([x, 2.0], 1.0)) * x,
    lambda x: len(OrderedDict([(x, 1.0)])) * x,
    lambda x: {}.setdefault(x, 1.0) * x,
]  # fmt: skip


@pytest.mark.parametrize("program", ACTIVE)
def test_keys_that_depend_on_the_input_are_refused(program: Program) -> None:
    for _ in range(3):
        with pytest.raises(UnsupportedError, match=r"an active .* becomes .*test_put_off\.py"):
            adbc.grad(program)(1.3)
    pullback = None
    with pytest.raises(UnsupportedError, match=r"an active .* becomes"):
        pullback = adbc.vjp(program, 1.3)[1]
        pullback(1.0)
    with pytest.raises(UnsupportedError, match=r"an active .* becomes"):
        adbc.jvp(program, (1.3,), (1.0,))
    with pytest.raises(UnsupportedError, match=r"an active .* becomes"):
        adbc.jacrev(lambda x: np.array([program(x), x]))(1.3)
    with pytest.raises(UnsupportedError, match=r"an active .* becomes"):
        adbc.grad(adbc.checkpoint(program))(1.3)


@pytest.mark.parametrize("program", ACTIVE[:4])
def test_a_derivative_inside_is_refused_at_once(program: Program) -> None:
    with pytest.raises(UnsupportedError, match=r"(an active .*|with a derivative) becomes"):
        adbc.grad(lambda x: adbc.grad(program)(x) * x)(1.3)


def test_what_the_function_has_done_is_undone() -> None:
    def program(x: Any, values: Any) -> Any:
        values[0] = x
        return len({values[0]: 1}) * values[0]

    values = [1.0, 2.0]
    with pytest.raises(UnsupportedError, match="becomes the key"):
        adbc.grad(program)(1.3, values)


# -- keys that do not ----------------------------------------------------------------------------------------


def _by_time(x: Any) -> Any:
    found = {}
    for t in TIMES:
        found[t] = math.exp(-x * t)
    return sum(t * y for t, y in found.items())


def _by_bar(x: Any) -> Any:
    worth = {bar: x * bar.length for bar in sorted(BARS, reverse=True)}
    return sum(worth.values()) + max(worth, key=lambda bar: bar.length).length * x


def _by_text(x: Any) -> Any:
    worth: Any = defaultdict(float)
    for line in ["0.5,a", "1.5,b", "0.5,c"]:
        at, _ = line.split(",")
        worth[float(at)] += x * float(at)
    return worth[0.5] * worth[1.5]


def _by_grid(x: Any) -> Any:
    seen = {}
    for g in GRID:
        seen[g, "cell"] = x * g
    return sum(seen.values()) + len({*GRID.tolist()}) * x


def _by_site(x: Any) -> Any:
    holder = Holder()
    holder.at = [0.5, 1.5]
    sites = {Site(at, "n"): x**2 * at for at in holder.at}
    return sum(v * site.at for site, v in sites.items())


def _unique(x: Any) -> Any:
    rounded = {round(t, 0) for t in TIMES} | set([t * 2 for t in TIMES])  # noqa: C403
    return sum(sorted(rounded)) * x


CONSTANT: list[Program] = [_by_time, _by_bar, _by_text, _by_grid, _by_site, _unique]


@pytest.mark.parametrize("program", CONSTANT)
def test_constants_are_keys(program: Program) -> None:
    x, step = 0.7, 1e-6
    slope = (program(x + step) - program(x - step)) / (2 * step)
    for _ in range(3):
        assert adbc.grad(program)(x) == pytest.approx(slope)
    assert adbc.vjp(program, x)[1](1.0) == pytest.approx((slope,))
    assert adbc.jvp(program, (x,), (1.0,))[1] == pytest.approx(slope)


def test_keys_among_arguments_that_nobody_asks_about_are_constants() -> None:
    def program(x: Any, times: Any, scale: float) -> Any:
        found = {scale: x}
        for t in times:
            found[t] = x * t
        return sum(found.values())

    assert adbc.grad(program)(2.0, [0.5, 1.5], 3.0) == pytest.approx(3.0)
    assert adbc.grad(program)(2.0, np.array([0.5, 1.5]), 3.0) == pytest.approx(3.0)
    for asked in (1, 2):
        with pytest.raises(UnsupportedError, match="an active float becomes the key"):
            adbc.grad(program, asked)(2.0, [0.5, 1.5], 3.0)


# -- functions in C without a rule ---------------------------------------------------------------------------


def _through_bytes(x: Any) -> Any:
    return struct.unpack("d", struct.pack("d", x))[0] * x


CALLS: list[Program] = [
    _through_bytes,
    lambda x: datetime.timedelta(hours=x).seconds * x,
    lambda x: float(decimal.Decimal(x)) * x,
    lambda x: float(fractions.Fraction(x)),
    lambda x: datetime.datetime.fromtimestamp(x * 2.0).second + 3.0,
    lambda x: np.linalg.norm(np.array([x, 0.7, -2.0]), ord=x),
    lambda x: np.linalg.norm(np.array([0.3, 0.7, -2.0]), keepdims=False, ord=x),
]


@pytest.mark.parametrize("program", CALLS)
def test_numbers_that_depend_on_the_input_are_refused(program: Program) -> None:
    for _ in range(3):
        with pytest.raises(MissingRuleError, match=r"cannot be differentiated.*test_put_off\.py"):
            adbc.grad(program)(1.25)
    with pytest.raises(MissingRuleError, match="cannot be differentiated"):
        adbc.vjp(program, 1.25)[1](1.0)
    with pytest.raises(MissingRuleError, match="cannot be differentiated"):
        adbc.jvp(program, (1.25,), (1.0,))


@pytest.mark.parametrize("program", CALLS)
def test_numbers_of_constants_are_constants(program: Program) -> None:
    holder = Holder()
    holder.at = {"it": [1.25]}

    def scaled(x: Any) -> Any:
        return program(holder.at["it"][0]) * x

    for _ in range(3):
        assert adbc.grad(scaled)(2.0) == pytest.approx(program(1.25))
    assert adbc.vjp(scaled, 2.0)[1](1.0) == pytest.approx((program(1.25),))
    assert adbc.jvp(scaled, (2.0,), (1.0,))[1] == pytest.approx(program(1.25))


ON_ARRAYS: list[Program] = [
    lambda v: np.frombuffer(v.tobytes())[0],
    lambda v: pickle.loads(pickle.dumps(v))[0],
    lambda v: np.frombuffer(zlib.decompress(zlib.compress(v)))[1],
    lambda v: marshal.loads(marshal.dumps(v.tolist()))[1],
    lambda v: marshal.loads(marshal.dumps({"v": [(float(v[0]), float(v[1]))]}))["v"][0][0],
    lambda v: struct.unpack("dd", struct.pack("dd", *v))[0],
]


@pytest.mark.parametrize("program", ON_ARRAYS)
def test_memory_is_lost_like_numbers(program: Program) -> None:
    v, values = np.array([0.7, 1.9]), [0.7, 1.9]

    def scaled(x: Any) -> Any:
        return program(np.array(values)) * x

    assert adbc.grad(scaled)(2.0) == pytest.approx(program(v))
    assert adbc.grad(lambda x, u: program(u) * x)(2.0, v) == pytest.approx(program(v))
    for _ in range(2):
        with pytest.raises(MissingRuleError, match="cannot be differentiated"):
            adbc.grad(lambda u: program(u) * u[1])(v)
    assert v.tolist() == values


class Packed:
    """A number in an object, beside others that lead back to it."""

    def __init__(self, value: Any) -> None:
        self.value = value
        self.parts = {"values": [value, 2.0], "whole": self}

    def __float__(self) -> float:
        return float(self.value)

    def __format__(self, spec: str) -> str:
        return format(self.parts["values"][0], spec)


class Slotted:
    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __float__(self) -> float:
        return float(self.value)


ON_OBJECTS: list[Program] = [
    lambda x: struct.unpack("d", struct.pack("d", Packed(x)))[0],
    lambda x: struct.unpack("d", struct.pack("d", Slotted(x)))[0],
    lambda x: float("{:.17g}".format(Packed(x))),  # noqa: UP032  # called as a method
    lambda x: float(f"{Packed(x):.17g}"),
]


@pytest.mark.parametrize("program", ON_OBJECTS)
def test_objects_are_lost_like_what_they_hold(program: Program) -> None:
    values = [0.7, 1.9]
    for _ in range(3):
        assert adbc.grad(lambda x: program(values[1]) * x)(2.0) == pytest.approx(1.9)
        assert adbc.grad(lambda x, u: program(u[0]) * x)(2.0, values) == pytest.approx(0.7)
        with pytest.raises((MissingRuleError, UnsupportedError)):
            adbc.grad(lambda x: program(x * x) * x)(2.3)
    assert values == [0.7, 1.9]


def test_a_chain_of_objects_is_lost_as_long_as_it_is() -> None:
    def program(x: Any, y: Any) -> Any:
        last = None
        for _ in range(5000):
            node = Slotted(y)
            node.value = (y, last)
            last = node
        return len("{}".format(Chain(last))) * x  # noqa: UP032  # called as a method

    class Chain:
        def __init__(self, last: Any) -> None:
            self.last = last

        def __format__(self, spec: str) -> str:
            return "chain"

    assert adbc.grad(program)(2.0, 3.0) == 5.0


def test_a_function_that_writes_into_such_memory_is_refused_at_once() -> None:
    def program(v: Any) -> Any:
        w = v * 2.0
        w.byteswap(inplace=True)
        return w[0] * 0.0 + v[1]

    with pytest.raises(MissingRuleError, match="byteswap"):
        adbc.grad(program)(np.array([0.7, 1.9]))


def test_a_buffer_that_is_seen_through_an_object_in_c_is_refused() -> None:
    def program(x: Any) -> Any:
        buffer = np.zeros(2)
        window = ctypes.c_double.from_buffer(buffer)
        buffer[0] = x
        return window.value * x

    for differentiate in (adbc.grad(program), lambda x: adbc.jvp(program, (x,), (1.0,))):
        with pytest.raises(MissingRuleError, match="a value with a derivative is behind a c_double"):
            differentiate(1.5)


def test_the_imaginary_part_is_lost_too() -> None:
    def program(x: Any, z: Any) -> Any:
        z.imag[1] = x
        return len(pickle.dumps(z)) * x

    with pytest.raises(MissingRuleError, match="cannot be differentiated"):
        adbc.grad(program)(1.5, np.array([1.0, 2.0 + 1j]))
    with pytest.raises(UnsupportedError, match="an active complex becomes the key"):
        adbc.grad(lambda x: len({complex(1.0, x): 1}) * x)(1.5)


def test_the_refusal_is_that_of_the_place_from_which_nan_has_come() -> None:
    def program(x: Any) -> Any:
        constants = dict.fromkeys(TIMES, 1)
        hours = datetime.timedelta(hours=TIMES[0]).seconds
        return (len(constants) + hours + float(fractions.Fraction(x))) * x + len({TIMES[1]: 1})

    with pytest.raises(MissingRuleError, match=r"fractions\.Fraction, called from .*test_put_off"):
        adbc.grad(program)(1.5)


def test_an_exception_may_hold_what_was_lost() -> None:
    def program(x: Any) -> Any:
        try:
            return struct.pack("d", x, 1.0)
        except struct.error:
            return x

    with pytest.raises(MissingRuleError, match=r"struct\.pack"):
        adbc.grad(program)(1.5)


def test_a_number_that_is_nan_for_itself_is_no_refusal_without_such_keys() -> None:
    assert math.isnan(adbc.grad(lambda x: x * math.nan)(1.0))
    with adbc.use(adbc.Config(trace_nan=True)), pytest.raises(UnsupportedError, match="becomes the key"):
        adbc.grad(_by_time)(0.7)


# -- globals -------------------------------------------------------------------------------------------------

SETTING: Any = 1.0


def _set_from_a_list(x: Any) -> Any:
    global SETTING
    values = [2.0, x]
    SETTING = values[0]
    return SETTING * values[1]


def _set_from_a_global(x: Any) -> Any:
    global SETTING
    for SETTING in TIMES:
        x = x * SETTING
    return x


def _set_from_a_dict(x: Any) -> Any:
    global SETTING
    settings = {"a": (2.0, "b"), "x": (x, "c")}
    SETTING = settings["a"]
    return SETTING[0] * x


def _set_to_an_argument(x: Any) -> Any:
    global SETTING
    SETTING = [x * x, 2.0][0]
    return SETTING * 3.0


def _set_to_a_number(x: Any) -> Any:
    global SETTING
    SETTING = x * x
    return x


@pytest.mark.parametrize("program", [_set_from_a_list, _set_from_a_global, _set_from_a_dict])
def test_globals_may_be_set_to_constants(program: Program) -> None:
    slope = (program(1.5 + 1e-6) - program(1.5 - 1e-6)) / 2e-6
    before = SETTING
    for _ in range(3):
        assert adbc.grad(program)(1.5) == pytest.approx(slope, rel=1e-8)
        assert SETTING is before


@pytest.mark.parametrize("program", [_set_to_an_argument, _set_to_a_number])
def test_globals_may_not_be_set_to_what_depends_on_the_input(program: Program) -> None:
    with pytest.raises(UnsupportedError, match="global 'SETTING' is set to a value that has a derivative"):
        adbc.jvp(program, (1.5,), (1.0,))
    with pytest.raises(UnsupportedError, match="global 'SETTING' is set to a value that has a derivative"):
        adbc.grad(program)(1.5)
