"""What is unpacked from a list is read from its slots, and calls are made with the elements of tuples."""

from __future__ import annotations

import collections
import dataclasses
import math
import operator
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import adbc
from adbc.errors import ConstWriteError
from adbc.inspect import explain
from adbc.runtime import default_engine
from adbc.testing import test_rule as check_rule
from adbc.testing.values import assert_same


@pytest.fixture(params=["learn", "never", "always", "dynamic"], autouse=True)
def speculation(request: pytest.FixtureRequest) -> Iterator[str]:
    with adbc.use(adbc.Config(speculation=request.param, verify=True)):
        default_engine().clear()
        yield request.param
        default_engine().clear()


def agree(f: Any, *args: Any) -> None:
    check_rule(f, *args, step=1e-3)
    with adbc.use(adbc.Config(speculation="dynamic", verify=True)):
        expected = adbc.value_and_grad(f)(*args)
    for _ in range(4):
        assert_same(expected, adbc.value_and_grad(f)(*args), "gradient", rtol=1e-12)
    check_rule(f, *args, step=1e-3)


# -- unpacking ---------------------------------------------------------------------------------------


def norm(rows: list[Any]) -> Any:
    total = 0.0
    for row in rows:
        x, y, z = row
        total += x * x + y * math.sin(z)
    return total


def test_lists_of_numbers() -> None:
    agree(norm, [[0.3, -0.7, 1.1], [0.1, 0.2, 0.3]])
    row = [0.3, -0.7, 1.1]
    agree(norm, [row, row])


@pytest.mark.parametrize(
    "row",
    [[1, 0.5, 0.25], [0.5, 1, 0.25], [0.5, 0.25, 1], [2, 1, 0.5], (0.5, 0.25, 1.5), [True, 0.5, 0.25]],
)
def test_wrong_guesses(row: Any) -> None:
    for _ in range(4):
        adbc.grad(norm)([[0.3, -0.7, 1.1], [0.1, 0.2, 0.3]])
    agree(norm, [[0.3, -0.7, 1.1], row, [0.1, 0.2, 0.3]])
    agree(norm, [row, [0.3, -0.7, 1.1]])


class Doubled:
    def __init__(self, values: list[Any]) -> None:
        self.values = values

    def __iter__(self) -> Iterator[Any]:
        return iter([2.0 * x for x in self.values])


def test_other_iterables() -> None:
    agree(lambda x: norm([Doubled([x, 2.0 * x, x])]), 0.7)
    agree(lambda x: norm([collections.deque([x, 2.0 * x, x])]), 0.7)
    agree(lambda x: norm([(k * x for k in range(3))]), 0.7)


def swapped(u: list[float]) -> Any:
    a, b = u
    u[0] = b * a
    u[1], u[0] = u
    c, u[1] = u
    return a * c + u[1] * b


def test_what_is_written_behind() -> None:
    agree(swapped, [0.3, -0.7])


def held(rows: list[list[float]]) -> Any:
    p, q = rows
    p[0] = q[1] * p[1]
    rows[0], rows[1] = q, p
    (a, b), (c, d) = rows
    rows.append([a * d])
    return a * p[0] + b * c + d + rows[2][0]


def test_elements_that_are_lists() -> None:
    agree(held, [[0.3, -0.7], [1.1, 0.5]])
    row = [0.3, 0.7]
    agree(held, [row, row])


def kept(u: list[float], index: int) -> Any:
    """Somebody sees the tuple that the values go through."""
    values = (a, b, c) = u[0], u[1], u[2]
    x, *rest, y = u
    u[2] = a * b
    return values[index] * x + rest[0] * y * c + u[2]


def test_other_unpackings() -> None:
    agree(kept, [0.3, -0.7, 1.1], 1)


def attempted(u: list[float]) -> Any:
    total = 0.0
    for n in (2, 3):
        part = u[:n]
        try:
            a, b = part
            total += a * b
        except ValueError:
            a, b, c = part
            total += c * a
    return total + b


def test_the_wrong_number() -> None:
    agree(attempted, [0.3, -0.7, 1.1])
    for _ in range(3):
        for count in (2, 4):
            with pytest.raises(ValueError) as plain:
                norm([[1.0] * count])
            with pytest.raises(ValueError) as derived:
                adbc.grad(norm)([[1.0] * count])
            assert str(plain.value) == str(derived.value)


def constant(k: float, u: list[float]) -> Any:
    a, b = u
    u[0] = k
    return a * b * k


def test_constants() -> None:
    for _ in range(3):
        u = [0.5, 3.0]
        assert adbc.grad(lambda k, u: k * norm([u]))(2.0, adbc.Const([0.5, 3.0, 0.0])) == 0.25
        with pytest.raises(ConstWriteError):
            adbc.grad(constant)(2.0, adbc.Const(u))


# -- calls with the elements of a tuple ----------------------------------------------------------------


def product(x: Any, y: Any, z: Any = 2.0) -> Any:
    return x * y * z + x


@dataclasses.dataclass
class Point:
    x: Any
    y: Any = 0.5

    def dot(self, x: Any, y: Any) -> Any:
        self.x += x
        return self.x * x + self.y * y


class Pair(collections.namedtuple("Pair", "a b")):
    pass


class Meta(type):
    def __call__(cls, *args: Any) -> Any:
        made = super().__call__(*args)
        made.x = made.x * 2.0
        return made


class Made(metaclass=Meta):
    def __init__(self, x: Any, y: Any) -> None:
        self.x, self.y = x, y


class Other:
    def __new__(cls, *args: Any) -> Any:
        return Point(*args)


def passing_on(*args: Any) -> Any:
    return product(*args) * product(*args[:2])


def spread(xs: list[float], ys: list[float]) -> Any:
    total = 0.0
    for given in zip(xs, ys):  # noqa: B905
        point = Point(*given)
        total += point.x * product(*given) + math.hypot(*given) + max(*given)
        total += point.dot(*given) + Made(*given).x * Other(*given).y
        pair = Pair(*given)
        total += pair.a * product(*pair) * passing_on(*given) + operator.mul(*given)
    return total


def test_what_is_zipped() -> None:
    agree(spread, [0.3, 0.7, -1.1], [0.4, 0.2, 0.9])


def around(x: float, y: float) -> Any:
    both = x * y, y
    first = product(*both) * product(*(x, y), *(y,)) * product(x, *both)
    named = {"z": y}
    second = product(*both, z=x) + product(*both, **named) + product(*[x, y]) + product(*(), x, y)
    functions = {"p": product, "h": math.hypot}
    third = functions["p"](*both) + functions["h"](*both)
    return first + second * third


def test_other_spreads() -> None:
    agree(around, 0.7, -0.3)
    agree(passing_on, 0.3, 0.7)
    agree(lambda args: product(*args), (0.3, 0.5, 0.7))
    agree(lambda args: Point(*args).dot(*args), (0.3, 0.5))


def gathered(*args: Any) -> Any:
    total = 0.0
    for k, v in enumerate(args):
        total = total * args[0] + (k + 1) * v
    return total


class Held:
    def __init__(self, **held: Any) -> None:
        self.__dict__.update(held)

    @property
    def both(self) -> Any:
        return self.pair


def read_behind_a_tuple(d: Any, x: float) -> Any:
    both = x, 2.0 * x
    return gathered(1.0, *both, d["a"], d["a"])


def read_twice(d: Any, x: float) -> Any:
    return gathered(x, 2.0, *d["t"], x, d["a"]) + gathered(1.0, x, *d["t"], len(d["t"]), *d["t"], d["a"])


def read_from_an_object(d: Any, x: float) -> Any:
    held = Held(pair=d["t"], a=d["a"])
    return gathered(x, x * x, *held.both, held.a, *held.both, held.a * x, d["a"])


def chosen(d: Any, x: float) -> Any:
    first = gathered(x, *(d["t"] if x > 0.0 else d["u"]), d["a"], 2.0 if d["a"] else x, d["a"])
    return first + gathered(x, *d["t"], *[v * x for v in d["t"]], d["a"])


@pytest.mark.parametrize("f", [read_behind_a_tuple, read_twice, read_from_an_object, chosen])
@pytest.mark.parametrize("order", ["aabcab", "eedcabd"])
def test_guesses_beside_what_is_spread(f: Any, order: str) -> None:
    """What stands behind a tuple in a call is of another type the next time, or the tuple of another form."""
    kinds: dict[str, Callable[[float], tuple[Any, Any]]] = {
        "a": lambda x: (x, (x, x * x)),
        "b": lambda x: (2, (x, 3.0 * x)),
        "c": lambda x: (x * x, (x, 1, 2.0)),
        "d": lambda x: (np.float64(x), (1, x)),
        "e": lambda x: (True, ()),
    }

    def run(x: float, kind: str) -> Any:
        a, t = kinds[kind](x)
        return f({"a": a, "t": t, "u": (a, a)}, x)

    for kind in order:
        for x in (0.7, -0.3):
            slope = (run(x + 1e-6, kind) - run(x - 1e-6, kind)) / 2e-6
            value, found = adbc.value_and_grad(run)(x, kind)
            assert value == pytest.approx(run(x, kind), rel=1e-12)
            assert found == pytest.approx(slope, rel=1e-6, abs=1e-6)
            assert adbc.jvp(run, (x, kind), (1.0, None))[1] == pytest.approx(found, rel=1e-12)


def test_the_number_of_arguments_does_not_fit() -> None:
    def too_many(x: float) -> Any:
        given = (x, x, x)
        return Point(*given).x

    def too_few(x: float) -> Any:
        given = (x,)
        return product(*given)

    for function in (too_many, too_few):
        for _ in range(3):
            with pytest.raises(TypeError) as plain:
                function(1.0)
            with pytest.raises(TypeError) as derived:
                adbc.grad(function)(1.0)
            assert str(plain.value) == str(derived.value)


def test_nothing_is_left_to_dispatch(speculation: str) -> None:
    def made(xs: list[float], ys: list[float]) -> Any:
        total = 0.0
        for given in zip(xs, ys):  # noqa: B905
            point = Plain(*given)
            total += point.x * product(*given)
        return total

    for _ in range(4):
        adbc.grad(made)([0.3, 0.7], [0.4, 0.2])
    if speculation == "learn":
        found = str(explain(made, [0.3, 0.7], [0.4, 0.2]))
        assert "dynamic" not in found, found


class Plain:
    def __init__(self, x: Any, y: Any) -> None:
        self.x = x
        self.y = y
