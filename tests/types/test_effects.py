"""What calls do with the memory of their arguments: of the interpreter's functions, of rules, of Python."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adbc
from adbc.ir.values import Instruction
from adbc.rules.effects import ANYTHING, HANDS_ON, KEEPS, READS, RETURNS, WRITES, Use
from adbc.runtime import default_engine
from adbc.types.callsites import called
from adbc.types.effects import SUMMARIES, exposed, is_harmless, uses
from adbc.types.readers import only_reads

ARRAY, TABLE, NUMBERS = np.ones(3), np.ones((3, 3)), [1.0, 2.0]


def last_call(function: Callable[..., Any], *arguments: Any) -> Instruction:
    """The last call of the typed graph of `function` for arguments like these."""
    graph = adbc.inspect.primal_ir(adbc.Signature.of(function, *arguments))
    return [call for call in graph.instructions() if call.op == "call"][-1]


def uses_of(function: Callable[..., Any], *arguments: Any, is_list: bool = False) -> list[Use] | None:
    found = uses(last_call(function, *arguments), default_engine().knowledge, is_list=is_list)
    return None if found is None else list(found)


def returned(x: Any) -> Any:
    return x


def written(x: Any, y: Any) -> None:
    x[0] = y


def read(x: Any) -> Any:
    return x[0] + len(x)


def store(x: Any, y: Any) -> None:
    x[0] = y


def grow(x: Any, y: Any) -> Any:
    x += y
    return x


@pytest.mark.parametrize(
    ("function", "arguments", "expected"),
    [
        (lambda x: len(x), (ARRAY,), [READS]),
        (lambda x: x.shape, (ARRAY,), [READS, READS]),
        (lambda x: x[0], (ARRAY,), [READS, READS]),
        (lambda x: x[0], (TABLE,), [HANDS_ON, HANDS_ON]),
        (lambda x, y: x + y, (ARRAY, ARRAY), [READS, READS]),
        (store, (ARRAY, 2.0), [WRITES, READS, READS]),
        (grow, (ARRAY, ARRAY), [WRITES | RETURNS, READS]),
        (lambda x: np.sin(x), (ARRAY,), [READS]),
        (lambda x: np.reshape(x, (3, 1)), (ARRAY,), [RETURNS | HANDS_ON, ANYTHING]),
        (lambda x: np.fill_diagonal(x, 2.0), (TABLE,), [WRITES | RETURNS | HANDS_ON, ANYTHING]),
    ],
    ids=["len", "shape", "number", "row", "add", "setitem", "iadd", "ufunc", "view", "fill"],
)
def test_uses_of_arrays(function: Any, arguments: tuple[Any, ...], expected: list[Use]) -> None:
    assert uses_of(function, *arguments) == expected


@pytest.mark.parametrize(
    ("function", "arguments", "expected"),
    [
        (lambda x: x[0], (NUMBERS,), [READS, READS]),
        (lambda x: sum(x), (NUMBERS,), [READS]),
        (lambda x, y: min(x, y), (NUMBERS, NUMBERS), [RETURNS, RETURNS]),
        (lambda x: np.array(x), (NUMBERS,), [READS]),
        (store, (NUMBERS, 2.0), [WRITES, READS, KEEPS]),
        (grow, (NUMBERS, NUMBERS), [WRITES | RETURNS, KEEPS]),
    ],
    ids=["element", "sum", "min", "array", "setitem", "iadd"],
)
def test_uses_of_lists_of_numbers(function: Any, arguments: tuple[Any, ...], expected: list[Use]) -> None:
    assert uses_of(function, *arguments, is_list=True) == expected


def test_what_calls_a_parameter_may_do_anything() -> None:
    assert uses_of(lambda f, x: f(x), abs, ARRAY) is None


def test_an_array_that_is_put_into_a_list_is_kept() -> None:
    found = uses_of(store, [ARRAY], ARRAY)
    assert found is not None
    assert found[2] & KEEPS


def test_the_other_operand_of_an_unknown_class_decides_what_is_kept() -> None:
    class Collects:
        def __iadd__(self, other: Any) -> Any:
            self.kept = other
            return self

    assert uses_of(grow, Collects(), ARRAY) == [ANYTHING, ANYTHING]


@pytest.mark.parametrize(
    ("function", "arguments", "expected"),
    [(returned, (ARRAY,), [False]), (written, (ARRAY, 1.0), [False, True]), (read, (ARRAY,), [True])],
)
def test_a_function_written_in_python_is_known_by_what_it_does(
    function: Any, arguments: tuple[Any, ...], expected: list[bool]
) -> None:
    graph = adbc.inspect.primal_ir(adbc.Signature.of(function, *arguments))
    assert [
        only_reads(graph, argument, default_engine().knowledge) for argument in graph.arguments
    ] == expected


def test_a_rule_may_declare_its_effects() -> None:
    class Kept(adbc.rules.table.Rule):
        effects = (KEEPS, READS)

    assert list(Kept(operator.add).uses(3, ())) == [KEEPS, READS, READS]


def test_a_call_is_exposed_to_what_its_rule_wants_companions_of() -> None:
    call = last_call(lambda x, y: np.fill_diagonal(x, y), TABLE, 2.0)
    row = default_engine().knowledge.row(np.fill_diagonal, [v.type for v in called(call).arguments])  # type: ignore[union-attr]
    assert list(exposed(call, row, None)) == list(called(call).arguments)  # type: ignore[union-attr]


def test_asking_for_the_shape_exposes_nothing() -> None:
    call = last_call(lambda x: x.shape, ARRAY)
    assert is_harmless(call)
    assert list(exposed(call, None, None)) == []


def test_an_unknown_call_exposes_all() -> None:
    call = last_call(lambda f, x: f(x), abs, ARRAY)
    assert list(exposed(call, None, None)) == list(call.operands)


def test_each_summary_says_something_of_the_first_argument() -> None:
    assert all(uses and all(isinstance(use, Use) for use in uses) for uses in SUMMARIES.values())
