"""Functions that are given tuples of ever new forms: trees, and sequences of all lengths."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

import adbc
from adbc.runtime import default_engine
from adbc.runtime.calls.forms import SOME_TUPLE, Forms
from adbc.types import FLOAT, INT, AbstractType
from adbc.types.lattice import TupleType
from tests.programs.checks import check_gradient, check_second_derivative


def evaluate(tree: Any, x: Any) -> Any:
    match tree:
        case str():
            return x
        case float() | int():
            return tree
        case ("add", a, b):
            return evaluate(a, x) + evaluate(b, x)
        case ("mul", a, b):
            return evaluate(a, x) * evaluate(b, x)
        case ("sin", a):
            return math.sin(evaluate(a, x))
        case (first, *rest):
            return evaluate(first, x) + sum(evaluate(r, x) for r in rest)
    raise ValueError(tree)


def grown(depth: int) -> Any:
    """A tree in which no two branches have the same form."""
    tree: Any = "x"
    for k in range(depth):
        tree = ("add", ("mul", 0.5 * k, tree), "x") if k % 3 else ("sin", ("mul", tree, k))
    return tree


def of_a_tree(x: float) -> Any:
    return evaluate(grown(9), x)


def with_numbers_in_it(x: float) -> Any:
    """The numbers in the tree have derivatives."""
    tree: Any = ("mul", x, ("add", 2.0, x * x))
    for k in range(6):
        tree = ("add", tree, ("mul", x, float(k))) if k % 2 else (tree, x, ("sin", x), k)
    return evaluate(tree, x)


def total(values: tuple[Any, ...]) -> Any:
    return sum(v * v for v in values) + len(values)


def of_all_lengths(x: float) -> Any:
    return sum(total(tuple([x * k for k in range(n)])) for n in range(12))


def swapped(pair: Any) -> Any:
    a, b = pair
    return b, a


def of_all_classes(x: float) -> Any:
    found = 0.0
    for a in (x, 2, [x], (x, 1.0), {"k": x}, "s", None, (x, (x, 2))):
        for b in (1.5, [x, x]):
            one, other = swapped((a, b))
            found += x if one == 1.5 else one[0] * one[1]
            found += other[0] if isinstance(other, list | tuple) else 1.0
    return found


def kept_and_changed(x: float) -> Any:
    """Lists within tuples of many forms are changed by who is given the tuple."""

    def push(t: Any) -> Any:
        t[0].append(t[-1] if isinstance(t[-1], float) else 1.0)
        return t[0]

    row = [x]
    for k in range(9):
        row = push((row, *range(k), x * k))
    return sum(row) * row[-1]


def total_of(tree: Any) -> Any:
    return tree if isinstance(tree, float | int) else sum(map(total_of, tree))


def weighed(pair: Any, tree: Any, *more: Any, last: Any = ()) -> Any:
    """One tuple of a form that stays, one of many forms, others in ``*more`` and by keyword."""
    a, b = pair
    found = a * total_of(tree) * b
    for m in more:
        found += m[0] if isinstance(m, tuple) else m
    return found + (last[-1] if last else a)


def of_several_tuples(x: float) -> Any:
    tree: Any = x
    found = 0.0
    for k in range(9):
        tree = (tree, k, (x, 1.0)) if k % 2 else (1.0, tree)
        found += weighed((x, x * k), tree, (x, *range(k)), 1.0, last=(1.0,) * k + (x,))
    return found


PROGRAMS = [
    of_a_tree,
    of_several_tuples,
    with_numbers_in_it,
    of_all_lengths,
    of_all_classes,
    kept_and_changed,
]


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_gradients(f: Callable[[float], Any]) -> None:
    for _ in range(3):
        check_gradient(f, 0.7)


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_gradients_in_each_way(f: Callable[[float], Any], speculation: str) -> None:
    for _ in range(2):
        check_gradient(f, 0.7)


@pytest.mark.parametrize("f", [f for f in PROGRAMS if f is not of_several_tuples], ids=lambda f: f.__name__)
def test_second_derivatives(f: Callable[[float], Any]) -> None:
    check_second_derivative(f, 0.7, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("f, inner", [(of_a_tree, evaluate), (of_all_lengths, total)])
def test_there_are_few_rules(f: Callable[[float], Any], inner: Any, at_once: None) -> None:
    gradient = adbc.grad(f)
    for _ in range(5):
        gradient(0.7)
    rules = default_engine().rules.values()
    assert 0 < sum(rule.code is inner.__code__ and not rule.is_rest for rule in rules) <= 12


def test_what_keeps_its_form_is_no_data() -> None:
    forms = Forms()
    pair, number = TupleType((FLOAT, FLOAT)), FLOAT
    trees: list[AbstractType] = [FLOAT]
    for _ in range(12):
        trees.append(TupleType((INT, trees[-1])))
    for k in range(1, 13):
        found = forms.of([pair, trees[k], number])
        assert (found[0], found[2]) == (pair, number)
        assert found[1] == (trees[k] if k <= 3 else SOME_TUPLE)
    assert forms.of([pair, trees[1], number])[1] is SOME_TUPLE  # the class says all that is asked
    rows = [TupleType((FLOAT,) * n) for n in range(12)]
    assert [forms.of([row, trees[2], INT])[0] for row in rows][-1] is SOME_TUPLE
    assert forms.of([INT, FLOAT, pair]) == [INT, FLOAT, pair]
