"""What code of libraries has made of constants is handed to libraries as it is, until the program writes an
active value there."""

from __future__ import annotations

import argparse
import collections
import logging
import math
import queue
import types
import urllib.parse
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adbc
from adbc.runtime.calls import foreign
from adbc.testing import test_rule as check_rule


def parsed(x: float) -> float:
    parser = argparse.ArgumentParser()
    parser.add_argument("--n", type=int, default=3)
    parser.add_argument("--k", type=float, default=2.0)
    options = parser.parse_args(["--n", "4"])
    return x**options.n * options.k


def written_field(x: float) -> float:
    options = argparse.ArgumentParser()
    options.add_argument("--k", type=float, default=2.0)
    found = options.parse_args([])
    found.k = x * 2.0
    again = argparse.Namespace(**vars(found))
    return again.k * math.sin(x)


def same_number(x: float) -> float:
    """The number that is written is the object that stands there."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--k", type=float, default=NUMBER)
    found = parser.parse_args([])
    found.k = x
    parser.set_defaults(k=found.k)
    return parser.get_default("k") * 3.0


def written_list(x: float) -> float:
    counter = collections.UserList([1.0, 2.0])
    inner = counter.copy()
    inner.data[1] = x
    return inner.copy().data[1] * x


def nested_list(x: float) -> float:
    found = collections.UserDict({"rates": [1.0, 2.0]}).copy()
    found["rates"].append(x * x)
    return sum(found.copy()["rates"]) * x


def in_a_namespace(x: float) -> float:
    found = argparse.Namespace(inner=types.SimpleNamespace(rate=1.0), scale=0.5)
    text = repr(found)
    found.inner.rate = x
    return argparse.Namespace(**vars(found)).inner.rate * len(text)


def only_read(x: float) -> float:
    parts = urllib.parse.urlsplit("http://host/path?rate=2.5")
    rates = urllib.parse.parse_qs(parts.query)
    record = logging.LogRecord("a", 10, "path", 1, "%s", ("text",), None)
    return x * float(rates["rate"][0]) * len(record.getMessage())


def array_inside(x: float) -> float:
    waiting: Any = queue.Queue()
    waiting.put((1.0, np.zeros(2)))
    time, found = waiting.get()
    found[0] = x * time
    waiting.put((2.0, found))
    return float(waiting.get()[1].sum() * x)


NUMBER = 1.7
PROGRAMS: list[Callable[[float], float]] = [
    parsed, written_field, same_number, written_list, nested_list, in_a_namespace, only_read, array_inside,
]  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS)
def test_what_is_written_there_is_followed(program: Callable[[float], float]) -> None:
    with adbc.use(adbc.Config(warm_after=40)):  # to write code for all of a parser takes long
        for _ in range(4):
            check_rule(program, NUMBER)
        check_rule(program, 0.9)
        for x in (NUMBER, 0.9, NUMBER):
            step = 1e-6
            slope = (program(x + step) - program(x - step)) / (2 * step)
            assert adbc.value_and_grad(program)(x) == (program(x), pytest.approx(slope))


def test_a_parser_with_numbers_is_called_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    made = []
    plainly = foreign.call_plainly

    def noted(context: Any, call: Any) -> Any:
        made.append(getattr(call.function, "__name__", ""))
        return plainly(context, call)

    monkeypatch.setattr(foreign, "call_plainly", noted)
    with adbc.use(adbc.Config(warm_after=40)):
        assert adbc.grad(parsed)(1.7) == pytest.approx(8 * 1.7**3)
    assert "parse_args" in made
