"""What derived code keeps of types, as text."""

from __future__ import annotations

import numpy as np
import pytest

from adbc.types.lattice import (
    ANY,
    BOOL,
    FLOAT,
    INT,
    LIST,
    STR,
    AbstractType,
    ArrayType,
    Exact,
    ListType,
    TupleType,
)
from adbc.types.promises import kept, promise, promise_of_several, promises

MATRIX = ArrayType("float64", 2, np.ndarray)


@pytest.mark.parametrize(
    "known",
    [
        FLOAT,
        INT,
        STR,
        LIST,
        Exact(dict),
        Exact(range),
        MATRIX,
        TupleType((FLOAT, TupleType((INT, MATRIX)), LIST)),
    ],
    ids=str,
)
def test_types_are_read_as_they_were_written(known: AbstractType) -> None:
    assert promises([None, kept([(6, promise(FLOAT)), (14, promise(known))])]) == {6: FLOAT, 14: known}


def test_of_several_values_each_is_told() -> None:
    text = promise_of_several([FLOAT, None, TupleType((INT, ANY))])
    assert promises([kept([(2, text)])]) == {2: (FLOAT, ANY, TupleType((INT, ANY)))}


def test_a_list_is_only_said_to_be_a_list() -> None:
    assert promise(ListType(list, FLOAT)) == promise(LIST)


def test_no_layout_of_memory_is_promised() -> None:
    known = ArrayType("float64", 1, np.ndarray, "C", True)
    assert promises([kept([(2, promise(known))])]) == {2: ArrayType("float64", 1, np.ndarray)}


@pytest.mark.parametrize(
    "known",
    [
        None,
        ANY,
        BOOL,  # NumPy's tests have one of their own
        Exact(int.__class__),
        ArrayType("float64", None, np.ndarray),
        ArrayType("float32", 1, np.ndarray),
        TupleType(()),
        TupleType((ANY, BOOL)),
    ],
    ids=str,
)
def test_of_others_nothing_is_said(known: AbstractType | None) -> None:
    assert promise(known) == ""


@pytest.mark.parametrize(
    "constants", [[], [None], [None, 2.0], ["a text"], ["adbc types 2 f"], [kept([(2, "f")]), 1]]
)
def test_other_constants_say_nothing(constants: list[object]) -> None:
    assert promises(constants) == {}
