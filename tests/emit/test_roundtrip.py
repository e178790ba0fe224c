"""The lifter's corpus, lifted and emitted, does what the originals do."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable
from typing import Any

import pytest

from tests.emit.checking import checked_roundtrip
from tests.lift.judge import run_function
from tests.lift.raising import CASES
from tests.programs.replacing import Replacer

FUNCTIONS = list(dict.fromkeys(function for function, _ in CASES))


def lines(function: Callable[..., Any], arguments: tuple[Any, ...]) -> list[tuple[str, int | None]]:
    """Function names and lines of the traceback of a call; empty if nothing is raised."""
    try:
        function(*arguments)
    except BaseException as error:  # any exception is an outcome to compare
        return [(f.name, f.lineno) for f in traceback.extract_tb(error.__traceback__)[1:]]
    return []


def full_positions(function: Callable[..., Any], arguments: tuple[Any, ...]) -> list[tuple[Any, ...]]:
    try:
        function(*arguments)
    except BaseException as error:  # any exception is an outcome to compare
        found = traceback.extract_tb(error.__traceback__)[1:2]
        return [(f.lineno, f.end_lineno, f.colno, f.end_colno) for f in found]
    return []


@pytest.mark.parametrize("normal", [False, True], ids=["raw", "normal"])
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_corpus(function: Any, normal: bool) -> None:
    copy = checked_roundtrip(function, normal=normal)
    for candidate, arguments in CASES:
        if candidate is function:
            assert run_function(copy, arguments) == run_function(function, arguments)


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_tracebacks(function: Any) -> None:
    copy = checked_roundtrip(function)
    for candidate, arguments in CASES:
        if candidate is function:
            assert lines(copy, arguments) == lines(function, arguments)
            assert full_positions(copy, arguments) == full_positions(function, arguments)


NAMES_IN_CLASSES = """
import enum, typing
X = "global X"
def outer(Y):
    class Odd(dict):
        def __missing__(self, name):
            if name == "Z":
                return "missing Z"
            raise KeyError(name)
    class Meta(type):
        @classmethod
        def __prepare__(cls, name, bases):
            return Odd()
        def __new__(cls, name, bases, space):
            return super().__new__(cls, name, bases, dict(space))
    class A[T](metaclass=Meta):
        X = "X of the class"
        def m[U: (X, Y)](self, a: X, b: Y, c: T, d: U, e: Z, *, f: len = 3) -> "A":
            return a
        type Alias[V] = tuple[X, Y, T, V, Z, len]
        Y = "Y of the class"
        y: Y
        unknown: Unknown
    class B[T]:
        type Alias = later
    bad = B.Alias
    if Y == "never":
        later = 1
    return A, bad
A, bad = outer("free Y")
def outcome(f):
    try:
        return repr(f())
    except Exception as error:
        return type(error), str(error)
U, = A.m.__type_params__
result = [
    outcome(lambda: A.Alias.__value__),
    outcome(lambda: U.__constraints__),
    outcome(lambda: A.m.__annotations__),
    outcome(lambda: A.__annotations__),
    outcome(lambda: bad.__value__),
    A.m(1, 2, 3, 4, 5, 6),
]
"""


@pytest.mark.skipif(sys.version_info < (3, 12), reason="type parameters are syntax from 3.12")
def test_names_in_classes() -> None:
    """The functions that evaluate annotations, bounds and aliases look into the class as well."""
    source = NAMES_IN_CLASSES
    if sys.version_info < (3, 14):  # annotations are evaluated at once
        source = source.replace("        unknown: Unknown\n", "")
    code = compile(source, "m", "exec")
    replacer = Replacer()
    spaces: list[dict[str, Any]] = [{"__name__": "m"}, {"__name__": "m"}]
    exec(code, spaces[0])
    exec(replacer.code(code, spaces[1]), spaces[1])
    assert not replacer.refused
    assert spaces[1]["result"] == spaces[0]["result"]
