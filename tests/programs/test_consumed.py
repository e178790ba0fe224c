"""Generators that are consumed where they are made, in both modes, with what happens when."""

from __future__ import annotations

import math
import types
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adbc
from adbc.ir.intrinsics import _foreigncall_, _new_
from adbc.passes.normal.dropped_generators import makes_generators
from adbc.passes.query import constant, target
from adbc.rules.consumers import product_of
from adbc.rules.producers import PRODUCERS
from adbc.runtime import default_engine
from adbc.testing import test_rule as check_rule
from tests.programs import consumed, consumed_collections, consumed_steps

assert consumed_steps and consumed_collections  # which have programs, too
X, XS = 0.7, [0.11, 0.45, 0.32, 0.83, 0.21]


def logged(run: Callable[[], Any]) -> tuple[Any, list[Any]]:
    consumed.LOG.clear()
    out = run()
    return out, list(consumed.LOG)


@pytest.mark.parametrize("function", consumed.PROGRAMS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("speculation", ["learn", "never", "interpret"])
def test_both_modes(function: Any, speculation: str, at_once: None) -> None:
    with adbc.use(adbc.Config(speculation=speculation)):
        expected, events = logged(lambda: function(X, list(XS)))
        for _ in range(2):
            found, happened = logged(lambda: adbc.vjp(function, X, list(XS))[0])
            assert found == pytest.approx(expected, rel=1e-14) if isinstance(found, float) else True
            assert happened == events
            (value, _), happened = logged(lambda: adbc.jvp(function, (X, list(XS)), (1.0, [0.5] * len(XS))))
            assert happened == events and repr(value) == repr(expected)
        check_rule(function, X, list(XS))


LOOPS = {
    "summed", "summed_lists", "with_conditions", "over_two", "nested", "of_another", "matrix_product",
    "made_tuples", "products", "lazily", "exhausted", "taken_apart", "late_names", "empty", "looped",
    "with_defaults", "only_once", "left_early", "from_nested_loops", "told_nothing", "shared_state",
    "in_a_try", "raised_by_the_body", "several_values", "made_in_a_loop", "made_here", "counted",
    "kept_behind_the_loop", "without_a_body", "through_chains", "through_pools", "of_objects",
    "summed_onto", "extremes", "added_one_by_one", "added_after_numbers", "multiplied_one_by_one",
    "compared_one_by_one", "ranked_one_by_one", "equals_among_the_largest", "in_sets", "unpacked_and_no_more",
    "of_numpy_numbers", "twice", "resumed_in_a_loop", "side_by_side", "through_itertools", "through_maps",
    "with_several_yields", "delegating", "asked_in_turn", "taken_up_again", "asked_by_hand", "raised_between",
    "merged", "shared_between_loops", "remembering", "changed_while_read", "from_an_iterator",
    "with_what_is_named", "spread", "joined", "made_collections",
    "given_to_functions", "given_to_what_is_made_here", "given_to_who_asks_twice", "given_to_classes",
    "given_to_statistics", "given_to_itself", "given_and_kept", "given_where_it_fails", "given_to_lists",
    "in_turns_with_a_tuple",
    "differences_of_a_list", "differences_of_a_generator", "a_pipe_of_generators", "a_pipe_made_here",
    "a_pipe_that_is_empty", "an_iterator_in_c", "in_chunks", "until_it_stops", "with_another_value",
    "with_a_look_at_the_exception", "with_other_clauses", "between_two_lists", "that_goes_on_behind_its_end",
    "objects_given_to_builtins", "several_steps_in_a_try", "iterators_of_a_class", "iterators_that_go_on",
    "iterators_in_step", "iterators_that_fail", "a_function_that_stops",
    "numbers_in_an_array", "an_array_from_an_iterator", "as_many_as_are_asked_for", "added_in_place",
    "added_to_one_of_two", "at_the_end_of_a_deque", "at_the_end_of_an_array",
}  # fmt: skip
"""The programs in which no generator is left."""


@pytest.mark.parametrize("function", consumed.PROGRAMS, ids=lambda f: f.__name__)
def test_generators_become_loops(function: Any) -> None:
    graph = default_engine().graphs.primal(function)
    left = [
        i for i in graph.instructions()
        if target(i) is _foreigncall_ and constant(i.operands[1]) in PRODUCERS
        or makes_generators(getattr(target(i), "__code__", function.__code__))
        or target(i) is _new_ and makes_generators(next(
            (c for c in map(constant, i.operands[2:]) if isinstance(c, types.CodeType)), function.__code__
        ))
    ]  # fmt: skip
    assert (not left) == (function.__name__ in LOOPS), left


def test_what_is_written_in_is_as_fast_as_the_loop() -> None:
    """Both take the same instructions."""

    def written(x: float, xs: list[float]) -> float:
        total = 0.0
        for v in (u * x for u in xs if u > 0.0):
            total += v * v
        return total

    def loop(x: float, xs: list[float]) -> float:
        total = 0.0
        for u in xs:
            if u > 0.0:
                v = u * x
                total += v * v
        return total

    sizes = [
        [len(block.instructions) for block in default_engine().graphs.primal(f).blocks]
        for f in (written, loop)
    ]
    assert sorted(filter(None, sizes[0])) == sorted(filter(None, sizes[1]))


def test_numbers_wait_until_all_are_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """Numbers of NumPy's too, so that there is one product and not one for each."""
    taken: list[int] = []

    def product(values: list[Any], start: Any = 1) -> float:
        taken.append(len(values))
        return 1.0

    monkeypatch.setattr(math, "prod", product)
    product_of(np.ones(5))
    assert taken == [5]


class Logging:
    """A number that logs by which of its methods it is multiplied."""

    log: list[str] = []  # noqa: RUF012

    def __init__(self, value: Any) -> None:
        self.value = value

    def __mul__(self, other: Any) -> Any:
        self.log.append("from the left")
        return Logging(self.value * getattr(other, "value", other))

    def __rmul__(self, other: Any) -> Any:
        self.log.append("from the right")
        return Logging(other * self.value)


@pytest.mark.parametrize("speculation", ["learn", "dynamic"])
def test_objects_are_multiplied_where_they_are_met(speculation: str) -> None:
    def product(x: Any) -> Any:
        Logging.log.clear()

        def factors() -> Any:
            for factor in (x, 2.0, Logging(x), 3.0, Logging(2.0), x):
                Logging.log.append("made")
                yield factor

        made = math.prod(factors()).value
        return made * sum(i for i, entry in enumerate(Logging.log) if entry == "made")

    expected = product(1.5)
    with adbc.use(adbc.Config(speculation=speculation)):
        value, gradient = adbc.value_and_grad(product)(1.5)
        assert value == expected and gradient == pytest.approx(3.0 * expected / 1.5)
        assert adbc.jvp(product, (1.5,), (1.0,)) == (value, pytest.approx(gradient))
