"""Text of objects whose special methods change what has a derivative: it is followed, or refused, wherever
the object stands, and what is guessed about the lists in question does not make it wrong."""

from __future__ import annotations

import collections
import functools
import types
from collections.abc import Callable
from typing import Any

import pytest

import adbc
from adbc.errors import UnsupportedError

A, B = 0.7, 1.3


class Sly:
    """Its text changes a list."""

    def __init__(self, values: list[float], way: str) -> None:
        self.values, self.way, self.asked = values, way, 0

    def __str__(self) -> str:
        self.asked += 1
        values = self.values
        if self.way == "pop":
            values.pop(0)
        elif self.way == "scale":
            values[0] = values[0] * 2.0 + values[1]
        else:
            self.kept = values[0] * 5.0
        return "sly"

    __repr__ = __str__

    def __format__(self, spec: str) -> str:
        return str(self)

    def __hash__(self) -> int:
        str(self)
        return 7

    kept = 1.0


def caught(o: Any) -> str:
    try:
        raise ValueError(o)
    except ValueError as error:
        return str(error)


FOLLOWED: dict[str, Callable[[Any], str]] = {
    "f": lambda o: f"{o}",
    "conversion": lambda o: f"{o!r:>5}",
    "str": str,
    "repr": repr,
    "format": format,
    "hash": lambda o: str(hash(o)),
    "join": lambda o: ",".join(map(str, [o])),
    "partial": lambda o: repr(functools.partial(max, o, key=1.0)),
}
WATCHED: dict[str, Callable[[Any], str]] = {
    "modulo": lambda o: "%s" % o,  # noqa: UP031
    "method format": lambda o: "{0}".format(o),  # noqa: UP030, UP032
    "list": lambda o: str([o]),
    "dict": lambda o: f"{ {'a': o} }",
    "tuple": lambda o: repr((o, 1.0)),
    "deque": lambda o: str(collections.deque([o])),
    "exception": caught,
    "namespace": lambda o: f"{types.SimpleNamespace(a=o)}",
    "slice": lambda o: str(slice(o)),
    "view": lambda o: repr({1: o}.values()),
    "method": lambda o: repr(o.__str__),
}


def program(spell: Callable[[Any], str], way: str) -> Callable[[float, float], float]:
    def function(a: float, b: float) -> float:
        values = [a * b, b, 1.0 + a]
        o = Sly(values, way)
        total = values[0] + values[1]
        total += 0.0 * len(spell(o))
        for v in values:
            total = total * 0.5 + v * v
        return total + values[0] * 3.0 + o.kept * values[-1] + o.asked

    return function


def expected(function: Callable[[float, float], float]) -> tuple[float, float]:
    h = 1e-6
    return (
        (function(A + h, B) - function(A - h, B)) / (2 * h),
        (function(A, B + h) - function(A, B - h)) / (2 * h),
    )


@pytest.mark.parametrize("way", ["pop", "scale", "keep"])
@pytest.mark.parametrize("name", [*FOLLOWED, *WATCHED])
@pytest.mark.parametrize("speculation", ["learn", "always", "never"])
def test_both_modes(name: str, way: str, speculation: str, at_once: None) -> None:
    function = program({**FOLLOWED, **WATCHED}[name], way)
    wanted = pytest.approx(expected(function), rel=1e-6)
    with adbc.use(adbc.Config(speculation=speculation, warm_after=0)):
        if name in WATCHED:
            for _ in range(2):
                with pytest.raises(UnsupportedError, match=r"makes text.* changes a (list|Sly)"):
                    adbc.grad(function, argnums=(0, 1))(A, B)
                with pytest.raises(UnsupportedError, match=r"makes text.* changes a (list|Sly)"):
                    adbc.jvp(function, (A, B), (1.0, 0.0))
            return
        for _ in range(3):
            assert adbc.grad(function, argnums=(0, 1))(A, B) == wanted
            tangents = [adbc.jvp(function, (A, B), along)[1] for along in ((1.0, 0.0), (0.0, 1.0))]
            assert tuple(tangents) == wanted


def test_the_text_of_a_partial_application(capsys: pytest.CaptureFixture[str]) -> None:
    def function(x: float) -> float:
        first = functools.partial(pow, x, mod=None)
        print(f"{first!r} {functools.partial(first, 2)}")
        return x * x

    function(2.0)
    adbc.grad(function)(2.0)
    adbc.jvp(function, (2.0,), (1.0,))
    texts = capsys.readouterr().out.splitlines()
    assert len(texts) == 3 and len(set(texts)) == 1 and "(<built-in function pow>, 2.0, 2, mod" in texts[0]


def test_text_is_no_reason_not_to_guess(at_once: None) -> None:
    def function(x: float, values: list[float]) -> float:
        total, place = 0.0, None
        for v in values:
            total += v * x
            texts = f"{place}: {total}"
        return total + 0.0 * len(texts)

    for _ in range(4):
        adbc.grad(function)(A, [A, B])
    sites = adbc.inspect.explain(function, A, [A, B]).sections[0].sites
    assert {site.kind for site in sites if site.source == "v * x"} == {"inline"}
