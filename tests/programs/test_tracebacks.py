"""A traceback through what adbc makes of a function reads like one through the function.

File, function, line, last line and columns of every frame are compared, and the exception itself; for the
round trip, for the forward rule and for the forwards pass of the reverse rule.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adbc
from tests.emit.checking import checked_roundtrip
from tests.programs.failing import CASES

Frame = tuple[str, str, tuple[Any, ...]]
X = 0.75


def frames(run: Callable[[], Any]) -> tuple[list[Frame], BaseException]:
    """Where the exception came through, below this function and `run`, and the exception."""
    try:
        run()
    except Exception as error:  # any exception is an outcome to compare
        found: list[Frame] = []
        entry = error.__traceback__
        while entry is not None:
            code = entry.tb_frame.f_code
            position = next(itertools.islice(code.co_positions(), entry.tb_lasti // 2, None))
            assert entry.tb_lineno == position[0]
            found.append((code.co_filename, code.co_qualname, position))
            entry = entry.tb_next
        return found[2:], error
    raise AssertionError("nothing was raised")


def inlined(found: list[Frame]) -> list[Frame]:
    """As if comprehensions were no functions: on 3.11 adbc makes loops of them, as 3.12 does."""
    result: list[Frame] = []
    for filename, name, position in found:
        if name.endswith((".<listcomp>", ".<dictcomp>", ".<setcomp>")):
            _, name, _ = result.pop()
        result.append((filename, name, position))
    return result


def same(expected: tuple[list[Frame], BaseException], found: tuple[list[Frame], BaseException]) -> None:
    assert found[0] == expected[0]
    assert type(found[1]) is type(expected[1])
    assert str(found[1]) == str(expected[1])
    for attribute in ("__cause__", "__context__"):
        assert repr(getattr(found[1], attribute)) == repr(getattr(expected[1], attribute))


@pytest.mark.parametrize("normal", [False, True], ids=["raw", "normal"])
@pytest.mark.parametrize("function", CASES, ids=lambda f: f.__name__)
def test_roundtrip(function: Any, normal: bool) -> None:
    copy = checked_roundtrip(function, normal=normal)
    same(frames(lambda: function(X)), frames(lambda: copy(X)))


def expected_of(function: Any) -> tuple[list[Frame], BaseException]:
    found, error = frames(lambda: function(X))
    if function.__name__ == "next_of_a_generator":  # which is asked twice: the first place stands for both
        filename, name, (line, end, *columns) = found[0]
        found[0] = filename, name, (line - 1, end - 1, columns[0] - 7, columns[1] - 7)
    return (inlined(found) if sys.version_info < (3, 12) else found), error


def of_an_array(x: Any) -> Any:
    u = np.zeros(3)
    u[0] = x
    u[4] = x * x
    return u[0]


DIFFERENTIATED = [*CASES, of_an_array]


@pytest.mark.parametrize("warm_after", [0, 3])
@pytest.mark.parametrize("function", DIFFERENTIATED, ids=lambda f: f.__name__)
def test_forward(function: Any, warm_after: int) -> None:
    with adbc.use(adbc.Config(warm_after=warm_after)):
        same(expected_of(function), frames(lambda: adbc.jvp(function, (X,), (1.0,))))


@pytest.mark.parametrize("warm_after", [0, 3])
@pytest.mark.parametrize("function", DIFFERENTIATED, ids=lambda f: f.__name__)
def test_reverse(function: Any, warm_after: int) -> None:
    with adbc.use(adbc.Config(warm_after=warm_after)):
        same(expected_of(function), frames(lambda: adbc.value_and_grad(function)(X)))
