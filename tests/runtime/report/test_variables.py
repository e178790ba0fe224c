"""Who looks for a variable in the frame that called it finds no other number in its place."""

from __future__ import annotations

import inspect
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import adbc
from adbc.config import SPECULATION
from adbc.errors import UnsupportedError
from tests.installed import installed

X = 0.75
SOURCE = """
    import sys

    def evaluate(name, depth=1):
        frame = sys._getframe(depth)
        try:
            return 2.0 * frame.f_locals[name]
        except KeyError:
            return 2.0 * frame.f_globals[name]

    def every(depth=1):
        return dict(sys._getframe(depth).f_locals)

    def scope(depth=1):
        return sys._getframe(depth).f_locals.copy()

    def holds(name):
        return name in sys._getframe(1).f_locals

    def fails(box):
        box.append(1)
        return evaluate("k", 2)
"""
k = 0.1
CONSTANT = 3.0


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with installed(tmp_path_factory, "lookslib", SOURCE) as module:
        yield module


@pytest.fixture(params=SPECULATION)
def speculation(request: pytest.FixtureRequest) -> Iterator[str]:
    with adbc.use(adbc.Config(speculation=request.param)):
        yield request.param


def derivatives(f: Callable[[float], Any]) -> list[Callable[[], Any]]:
    return [lambda: adbc.grad(f)(X), lambda: adbc.jvp(f, (X,), (1.0,))[1]]


def refused(f: Callable[[float], Any], match: str) -> None:
    for derivative in derivatives(f):
        for _ in range(4):
            with pytest.raises(UnsupportedError, match=match):
                derivative()


def right(f: Callable[[float], Any], slope: float) -> None:
    for derivative in derivatives(f):
        for _ in range(4):
            assert derivative() == pytest.approx(slope)


def test_a_variable_that_hides_a_global_is_not_taken_for_it(library: Any, speculation: str) -> None:
    def once(x: float) -> Any:
        k = x * x  # noqa: F841  # found by its name
        return library.evaluate("k") * x

    def often(x: float) -> Any:
        total = 0.0
        for i in range(60):
            k = x * i  # noqa: F841  # found by its name
            total += library.evaluate("k") * x
        return total

    def with_a_constant(x: float) -> Any:
        k = 5.0  # noqa: F841  # found by its name
        return library.evaluate("k") * x

    def of_a_caller(x: float) -> Any:
        def inner(y: float) -> Any:
            return library.evaluate("k", 2) * y

        k = x  # noqa: F841  # found by its name
        return inner(x)

    for f in (once, often, with_a_constant, of_a_caller):
        refused(f, rf"k is looked up in the frame of .*{f.__name__}.*as arguments")


def test_what_is_no_variable_is_found_as_in_a_plain_call(library: Any, speculation: str) -> None:
    def once(x: float) -> Any:
        return library.evaluate("CONSTANT") * x

    def often(x: float) -> Any:
        total = 0.0
        for _ in range(60):
            total += library.evaluate("k") * x
        return total

    right(once, 6.0)
    right(often, 60 * 0.2)
    right(lambda x: x if library.holds("nothing") else 2.0 * x, 2.0)
    right(lambda x: x * len(library.scope().get("nothing", "ab")), 2.0)


def test_all_variables_at_once(library: Any) -> None:
    def f(x: float) -> Any:
        return x * len(library.every())

    def g(x: float) -> Any:
        return x if library.holds("x") else 2.0 * x

    refused(f, "a variable is looked up in the frame of")
    refused(g, "x is looked up in the frame of")


def test_a_refusal_goes_before_what_a_library_has_changed(library: Any) -> None:
    def f(x: float) -> Any:
        k = x  # noqa: F841  # found by its name
        return library.fails([]) * x

    refused(f, "k is looked up in the frame of")


def whole_numbers(x: float) -> Any:
    return x * sys._getframe().f_lineno


def name_of_caller() -> str:
    frame = inspect.currentframe()
    assert frame is not None
    assert frame.f_back is not None
    return frame.f_back.f_code.co_name


def named(x: float) -> Any:
    return x * len(name_of_caller())


def of_module(x: float) -> Any:
    return x * sys._getframe(0).f_globals["CONSTANT"]


def by_another_name(x: float, look: Any = sys._getframe) -> Any:
    y = x * len(look(0).f_code.co_name)
    return y if look() else x


def with_code(x: float) -> Any:
    code = sys._getframe(0).f_code
    return x * len(code.co_varnames) if code is with_code.__code__ else x


def absent(x: float) -> Any:
    y = 2.0 * x
    frame: Any = inspect.currentframe()
    return y * frame.f_locals.get("nothing", x)


def test_what_a_frame_says_of_its_function(speculation: str) -> None:
    right(whole_numbers, whole_numbers.__code__.co_firstlineno + 1)
    right(named, len("named"))
    right(of_module, CONSTANT)
    right(by_another_name, len("by_another_name"))
    right(with_code, 2.0)
    right(absent, 4.0 * X)


def test_a_frame_outside_of_what_is_differentiated_has_its_variables(library: Any) -> None:
    outside = 4.0

    def f(x: float) -> Any:
        here: Any = sys._getframe(0)
        while "outside" not in here.f_code.co_cellvars + here.f_code.co_varnames:
            here = here.f_back
        return x * here.f_locals["outside"]

    assert adbc.grad(f)(X) == outside


PROGRAM = """
import sys, adbc

def walks(x, name):
    frame = sys._getframe(1)
    while frame is not None:
        if name in frame.f_locals:
            return frame.f_locals[name]
        frame = frame.f_back
    return x

def f(x):
    return walks(x, "context") * x + walks(x, "mode") + walks(x, "fs") + walks(x, "outside")

outside = 7.0
print(adbc.grad(f)(0.75), adbc.jvp(f, (0.75,), (1.0,))[1], adbc.grad(f)(0.75))
try:
    adbc.grad(lambda x: x * len(sys._getframe(4).f_locals))(0.75)
except adbc.AdbcError as error:
    print("far out" in str(error))
"""


def test_a_walk_ends_with_the_program() -> None:
    """The variables of adbc's own functions, which have such names, are not seen."""
    ran = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    assert ran.stdout.split() == ["3.5", "3.5", "3.5", "True"]
