"""Collections whose elements are now of this class, now of that: what is done to a collection does not depend
on the class of what is put there."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adbc
from adbc.inspect import explain
from adbc.testing import test_rule as check_rule

PROGRAM: list[tuple[Any, ...]] = [
    ("push", 2.0), ("push", 3), ("load", "x"), ("times",), ("plus",), ("store", "y"), ("load", "y"),
    ("push", "text"), ("drop",), ("load", "x"), ("times",), ("push", [1.5, 2.5]), ("total",), ("plus",),
]  # fmt: skip


def stack_machine(x: float, program: list[tuple[Any, ...]]) -> Any:
    stack: list[Any] = []
    memory: dict[str, Any] = {"x": x}
    for name, *rest in program:
        if name == "push":
            stack.append(rest[0])
        elif name == "load":
            stack.append(memory[rest[0]])
        elif name == "store":
            memory[rest[0]] = stack.pop()
        elif name == "drop":
            stack.pop()
        elif name == "total":
            stack.append(sum(stack.pop()))
        else:
            b, a = stack.pop(), stack.pop()
            stack.append(a * b if name == "times" else a + b)
    return stack[-1]


def matched(x: float, program: list[tuple[Any, ...]]) -> Any:
    stack: list[Any] = []
    memory: dict[str, Any] = {"x": x}
    for step in program:
        match step:
            case ("push", value):
                stack.append(value)
            case ("load", name):
                stack.append(memory[name])
            case ("store", name):
                memory[name] = stack.pop()
            case ("drop",):
                stack.pop()
            case ("total",):
                stack.append(sum(stack.pop()))
            case (name,):
                b, a = stack.pop(), stack.pop()
                stack.append(a * b if name == "times" else a + b)
    return stack[-1]


def mixed(x: float, things: list[Any]) -> Any:
    """Texts, lists, arrays, None and numbers go into lists, dicts and deques."""
    values: list[Any] = [None] * len(things)
    kept: dict[int, Any] = {}
    last: deque[Any] = deque(maxlen=4)
    for k, thing in enumerate(things):
        value = thing if isinstance(thing, str) or thing is None else thing * x
        values[k] = value
        kept[k % 3] = value
        kept.setdefault(k, value)
        last.append(value)
        last.appendleft(thing)
        values.insert(0, value)
    found = kept.get(1, x)
    total = x * len(kept) + (0.0 if found is None or isinstance(found, str) else np.sum(found))
    for value in [*values, *last, kept.pop(2, x), kept.pop(99, x)]:
        if isinstance(value, float):
            total = total + math.sin(value)
        elif isinstance(value, np.ndarray):
            total = total + value.sum()
    return total


def lists_of_what_comes(x: float, things: list[Any]) -> Any:
    """What a list holds is written by one function and read by another, both of which may see anything."""
    found = [double(thing, x) for thing in things]
    found[0] = double(found[0], x)
    found.append(double(things[-1], x))
    return sum(v for v in found if isinstance(v, float)) + sum(
        v.sum() for v in found if isinstance(v, np.ndarray)
    )


def double(thing: Any, x: float) -> Any:
    return thing if isinstance(thing, str) or thing is None else thing * x


CASES: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    (stack_machine, (0.7, PROGRAM)),
    (matched, (0.7, PROGRAM)),
    (mixed, (0.7, [1.5, "a", None, np.array([1.0, 2.0]), 2.5, 3.5])),
    (lists_of_what_comes, (0.7, [1.5, np.array([1.0, 2.0]), "b", None, 0.5])),
]


@pytest.mark.parametrize("speculation", ["learn", "always", "never", "dynamic", "interpret"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0].__name__)
def test_both_modes(case: tuple[Callable[..., Any], tuple[Any, ...]], speculation: str) -> None:
    function, args = case
    with adbc.use(adbc.Config(speculation=speculation)):
        for _ in range(4):
            check_rule(function, *args)


@pytest.mark.parametrize("function", [stack_machine, matched])
def test_nothing_is_decided_when_it_runs(function: Callable[..., Any]) -> None:
    gradient = adbc.grad(function)
    for _ in range(60):
        gradient(0.7, PROGRAM)
    sites = explain(function, 0.7, PROGRAM).sites
    kinds = {site.kind for site in sites if site.called == "list.append"}
    assert kinds == {"primitive", "inline"}


def texts(x: float, names: list[str]) -> float:
    total = x
    for name in names:
        if name == "a" or name > "m":
            total = total * x
        elif name != "b":
            total = total + 2.0 * x
        if (name, 1) == ("c", 1) or name in ("e", "f"):
            total = math.sin(total)
    return total


def test_comparisons_of_texts_give_bools() -> None:
    names = list("abcdefnop") * 2
    for _ in range(4):
        check_rule(texts, 0.7, names)
    assert not [site for site in explain(texts, 0.7, names).sites if site.kind == "dynamic"]


class Answers:
    """Compared with anything it gives a number, and with texts, too, from the right."""

    def __init__(self, value: float) -> None:
        self.value = value

    def __eq__(self, other: object) -> Any:
        return self.value

    def __gt__(self, other: object) -> Any:
        return self.value

    __hash__ = None  # type: ignore[assignment]


def test_objects_that_are_compared_with_texts_answer_for_themselves() -> None:
    def f(x: float, other: Any) -> Any:
        return ("text" == other) * 2.0 + ("text" < other) * 3.0 + x * 0.0

    def answering(x: float) -> Any:
        return f(x, Answers(x))

    for _ in range(4):
        check_rule(answering, 0.7)
        assert adbc.grad(answering)(0.7) == 5.0
        with pytest.raises(TypeError):
            f(0.7, 1.0)
        with pytest.raises(TypeError):
            adbc.grad(f)(0.7, 1.0)
