"""What a library keeps is looked at once, and compared in later calls: a number that stands there is known
again even where the program puts the very object there that stood there before."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import adbc
from tests.installed import installed

SOURCE = """
class State:
    pass


STATE = State()
STATE.factor = 1.5
STATE.table = {"rows": [[0.5, 2.0], [3.0, 4.0]], "name": "a"}


def keep(value):
    STATE.factor = value


def keep_in_row(i, value):
    STATE.table["rows"][i][0] = value


def scaled(by):
    return STATE.factor * by


def total(by):
    return sum(row[0] for row in STATE.table["rows"]) * by


class Box:
    def __init__(self, value):
        self.value = value


PARTS = {"first": Box(0.5)}


def hold(name, box):
    PARTS[name] = box


def reading(by):
    return sum(box.value for box in PARTS.values()) * by


def replaced(row):
    STATE.table["rows"].append(row)
"""

library: Any = None


@pytest.fixture(autouse=True)
def at_hand(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    global library
    with installed(tmp_path_factory, "kept_things", SOURCE) as library:
        yield


def through_an_attribute(x: Any) -> Any:
    library.keep(x)
    return library.scaled(3.0)


def through_a_table(x: Any) -> Any:
    library.keep_in_row(1, x)
    return library.total(2.0)


def of_a_list(xs: Any) -> Any:
    x = xs[0]
    xs[0] = 0.0
    library.keep(x)
    return library.scaled(3.0)


def both_ways(f: Any, x: Any, expected: Any) -> None:
    for _ in range(3):
        assert adbc.grad(f)(x) == expected
        assert adbc.jvp(f, (x,), (1.0,))[1] == expected


def test_the_number_that_stands_there_is_the_argument() -> None:
    for _ in range(3):
        both_ways(through_an_attribute, library.STATE.factor, 3.0)
        both_ways(through_a_table, library.STATE.table["rows"][1][0], 2.0)


def test_the_program_was_run_plainly_before() -> None:
    x = 0.25
    both_ways(through_an_attribute, x, 3.0)
    through_an_attribute(x)
    assert library.STATE.factor is x
    both_ways(through_an_attribute, x, 3.0)
    through_a_table(x)
    both_ways(through_a_table, x, 2.0)


def test_the_argument_is_an_element_of_a_list() -> None:
    xs = [library.STATE.factor]
    for _ in range(3):
        assert adbc.grad(of_a_list)(xs) == [3.0]
        of_a_list(xs)
        xs[0] = library.STATE.factor


def test_numbers_of_numpy_and_elements_of_arrays() -> None:
    x = np.float64(0.75)
    through_an_attribute(x)
    both_ways(through_an_attribute, x, 3.0)
    v = np.array([0.5, 1.0])
    assert adbc.grad(lambda v: through_an_attribute(v[0]))(v).tolist() == [3.0, 0.0]
    library.keep(v[0])
    assert adbc.grad(lambda v: through_an_attribute(v[0]))(v).tolist() == [3.0, 0.0]


def test_what_was_changed_between_two_calls_is_seen() -> None:
    both_ways(through_a_table, 1.0, 2.0)
    library.replaced([7.0, 1.0])
    value, gradient = adbc.value_and_grad(through_a_table)(1.0)
    assert (value, gradient) == ((0.5 + 1.0 + 7.0) * 2.0, 2.0)
    library.STATE.table = {"rows": [[1.0], [2.0], [4.0]]}
    value, gradient = adbc.value_and_grad(through_a_table)(3.0)
    assert (value, gradient) == (16.0, 2.0)
    assert library.STATE.table == {"rows": [[1.0], [2.0], [4.0]]}


def test_an_argument_that_was_registered_between_two_calls_is_seen() -> None:
    row = [2.0, 1.0]

    def f(row: Any) -> Any:
        row[0] *= 2.0
        return library.total(3.0)

    assert adbc.grad(f)(row) == [0.0, 0.0]
    library.replaced(row)
    assert adbc.grad(f)(row) == [6.0, 0.0]
    assert row == [2.0, 1.0]


def test_what_a_library_has_let_go_is_let_go() -> None:
    library.STATE.held = held = library.State()
    both_ways(through_an_attribute, 1.0, 3.0)
    gone = weakref.ref(held)
    del library.STATE.held, held
    gc.collect()
    gc.collect()
    assert gone() is None


def test_an_object_that_is_filled_when_the_library_has_it() -> None:
    def f(x: Any) -> Any:
        box = library.Box(1.0)
        y = library.PARTS["first"].value * x
        library.hold("a", box)
        y += library.reading(2.0)
        box.value = x
        y += library.reading(3.0)
        library.PARTS["first"].value = x * x
        return y + library.reading(5.0)

    for _ in range(3):
        assert adbc.value_and_grad(f)(2.0) == (1.0 + 3.0 + 7.5 + 30.0, 0.5 + 3.0 + 5.0 * (1.0 + 4.0))
        assert adbc.jvp(f, (2.0,), (1.0,)) == (41.5, 28.5)
        library.PARTS["first"].value = 0.5
        library.PARTS.pop("a", None)
