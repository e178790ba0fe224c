"""What was done before an exception was raised counts in second derivatives, whatever raises it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

import adbc

X = 0.7


def cleaning(throwing: bool, x: Any, found: list[Any]) -> None:
    try:
        if throwing:
            raise KeyError(1)
    finally:
        found[0] += x * x * x


def raised_again(throwing: bool, x: Any, found: list[Any]) -> None:
    try:
        raise KeyError(throwing)
    except KeyError as error:
        found[0] += x * x * x
        raise LookupError("again") from error


class Own:
    def __init__(self, x: Any, found: list[Any]) -> None:
        self.x, self.found = x, found
        if x > 10.0:
            cleaning(True, x, found)

    def __add__(self, other: Any) -> Any:
        cleaning(True, self.x, self.found)

    def __neg__(self) -> Any:
        raised_again(True, self.x, self.found)

    def __iter__(self) -> Own:
        return self

    def __next__(self) -> Any:
        cleaning(True, self.x, self.found)


class Strict(Own):
    def __init__(self, x: Any, found: list[Any]) -> None:
        cleaning(True, x, found)


def spread(x: Any, found: list[Any]) -> None:
    {"run": cleaning}["run"](*(True, x, found))


def spread_list(x: Any, found: list[Any]) -> None:
    {"run": raised_again}["run"](*[True, x], found=found)


def operator_method(x: Any, found: list[Any]) -> None:
    {"a": Own(x, found)}["a"] + 1.0


def unary_method(x: Any, found: list[Any]) -> None:
    -{"a": Own(x, found)}["a"]


def iterated(x: Any, found: list[Any]) -> None:
    for _ in {"a": Own(x, found)}["a"]:
        pass


def constructed(x: Any, found: list[Any]) -> None:
    {"a": Strict}["a"](x, found)


def steps(x: Any, found: list[Any]) -> Iterator[int]:
    try:
        yield 1
    finally:
        found[0] += x * x * x


def closed(x: Any, found: list[Any]) -> None:
    it: Any = steps(x, found)
    next(it)
    it.close()


def thrown(x: Any, found: list[Any]) -> None:
    it: Any = steps(x, found)
    next(it)
    it.throw(KeyError(1))


WAYS = [spread, spread_list, operator_method, unary_method, iterated, constructed, closed, thrown]
MODES: dict[str, Callable[[Any], Any]] = {
    "forward": lambda f: lambda x: adbc.jvp(f, (x,), (1.0,))[1],
    "reverse": adbc.grad,
}


@pytest.mark.parametrize("inner", MODES)
@pytest.mark.parametrize("outer", MODES)
@pytest.mark.parametrize(
    "config", [{"speculation": "never", "warm_after": 0}, {"speculation": "dynamic"}, {"warm_after": 0}, {}]
)
@pytest.mark.parametrize("way", WAYS)
def test_second_derivatives(way: Any, config: Any, outer: str, inner: str) -> None:
    def f(x: Any) -> Any:  # x^5
        found = [0.0]
        try:
            way(x, found)
        except LookupError:
            found[0] *= 1.0
        return x * x * found[0]

    with adbc.use(adbc.Config(**config)):
        first = MODES[inner](f)
        assert first(X) == pytest.approx(5.0 * X**4, rel=1e-12)
        for _ in range(2):
            assert MODES[outer](first)(X) == pytest.approx(20.0 * X**3, rel=1e-12)
