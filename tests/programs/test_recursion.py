"""What recurses in plain Python has a derivative, and what recurses for ever ends in a RecursionError."""

from __future__ import annotations

import math
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any

import pytest

import adbc
from tests.programs.recursive import FACTOR, PROGRAMS, scaled

SPECULATIONS = ("learn", "never", "dynamic", "always")


@pytest.fixture(autouse=True)
def usual_limit() -> Any:
    """The tests run at Python's usual limit, above the frames of pytest."""
    before = sys.getrecursionlimit()
    limit = 1000 + depth_here()
    sys.setrecursionlimit(limit)
    yield
    assert sys.getrecursionlimit() == limit
    sys.setrecursionlimit(before)


def depth_here() -> int:
    frame: Any = sys._getframe(2)
    count = 0
    while frame is not None:
        count, frame = count + 1, frame.f_back
    return count


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("speculation", SPECULATIONS)
def test_deep_recursion(name: str, speculation: Any) -> None:
    function, count = PROGRAMS[name]
    if speculation == "always":
        count //= 4  # a guess that fails goes on in another frame

    def program(x: float) -> Any:
        return function(x, count)

    slope = FACTOR**count
    assert math.isclose(program(2.0), 2.0 * slope)
    with adbc.use(adbc.Config(speculation=speculation)):
        for _ in range(2 if speculation == "learn" else 1):  # the second finds what the first has learnt
            value, gradient = adbc.value_and_grad(program)(2.0)
            assert math.isclose(value, 2.0 * slope)
            assert math.isclose(gradient, slope)
            value, tangent = adbc.jvp(program, (2.0,), (1.0,))
            assert math.isclose(value, 2.0 * slope)
            assert math.isclose(tangent, slope)
            value, pullback = adbc.vjp(program, 2.0)
            assert math.isclose(pullback(3.0)[0], 3.0 * slope)


def endless_closure(x: float) -> float:
    def inner(n: int) -> float:
        return inner(n + 1) * x

    return inner(0)


def endless(n: int, x: float) -> float:
    return endless(n + 1, x) * x


def endless_function(x: float) -> float:
    return endless(0, x)


class Endless:
    def __init__(self, x: float) -> None:
        self.x = x

    def __getitem__(self, n: int) -> float:
        return self[n + 1] * self.x

    def __getattr__(self, name: str) -> Any:
        return getattr(self, name + "_") * self.x


def endless_subscript(x: float) -> float:
    return Endless(x)[0]


def endless_hook(x: float) -> Any:
    return Endless(x).a


@pytest.mark.parametrize("f", [endless_closure, endless_function, endless_subscript, endless_hook])
@pytest.mark.parametrize("speculation", ["learn", "dynamic"])
def test_endless_recursion(f: Callable[[float], float], speculation: Any) -> None:
    def caught(x: float) -> float:
        try:
            return f(x)
        except RecursionError:
            return 3.0 * x

    with adbc.use(adbc.Config(speculation=speculation)):
        for _ in range(2):
            with pytest.raises(RecursionError):
                adbc.grad(f)(2.0)
            with pytest.raises(RecursionError):
                adbc.jvp(f, (2.0,), (1.0,))
            assert adbc.value_and_grad(caught)(2.0) == (6.0, 3.0)
            assert adbc.jvp(caught, (2.0,), (1.0,)) == (6.0, 3.0)
    assert adbc.grad(scaled, argnums=1)(3, 2.0) == pytest.approx(FACTOR**3)  # nothing is left behind


def test_the_limit_is_the_same_for_every_way_out() -> None:
    limit = sys.getrecursionlimit()

    def program(x: float) -> Any:
        return PROGRAMS["a_closure_that_calls_itself"][0](x, 500)

    def failing(x: float) -> float:
        program(x)
        raise ValueError(x)

    adbc.grad(program)(2.0)
    assert sys.getrecursionlimit() == limit
    with pytest.raises(ValueError, match=r"2\.0"):
        adbc.grad(failing)(2.0)
    assert sys.getrecursionlimit() == limit
    _, pullback = adbc.vjp(program, 2.0)
    assert sys.getrecursionlimit() == limit
    pullback(1.0)
    assert sys.getrecursionlimit() == limit


def test_a_limit_that_is_set_in_the_function_stays() -> None:
    limit = sys.getrecursionlimit()

    def setting(x: float) -> float:
        def inner(n: int) -> float:
            return x if n == 0 else inner(n - 1)

        y = inner(10)
        sys.setrecursionlimit(limit + 500)
        return y * inner(10)

    try:
        assert adbc.grad(setting)(3.0) == 6.0
        assert sys.getrecursionlimit() == limit + 500
    finally:
        sys.setrecursionlimit(limit)


def test_recursion_in_many_threads() -> None:
    limit = sys.getrecursionlimit()
    found = []

    def take() -> None:
        for name in ("a_closure_that_calls_itself", "an_object_that_is_called"):
            program, count = PROGRAMS[name]
            found.append(math.isclose(adbc.grad(program)(2.0, count), FACTOR**count))

    threads = [threading.Thread(target=take) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [True] * 12
    assert sys.getrecursionlimit() == limit


SCRIPT = """
import sys, threading, adbc

def closure(x):
    def inner(n):
        return x if n == 0 else inner(n - 1) * 1.00001
    return inner(DEPTH)

def raising(x):
    def inner(n):
        if n == 0:
            raise ValueError(x)
        try:
            return inner(n - 1)
        except KeyError:
            return 0.0
    try:
        return inner(DEPTH)
    except ValueError as error:
        return error.args[0] * 2.0

def nested(x):
    made = lambda: x
    for _ in range(DEPTH):
        made = (lambda f: lambda: f() * 1.00001)(made)
    return made()

def take():
    for f in (closure, raising, nested):
        adbc.grad(f)(2.0)
        adbc.jvp(f, (2.0,), (1.0,))
    print("done")
"""


def in_a_process(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout.strip()


def test_a_limit_that_is_very_high() -> None:
    code = SCRIPT.replace("DEPTH", "3000") + "sys.setrecursionlimit(10**6)\ntake()\n"
    assert in_a_process(code) == "done"


def test_a_thread_with_a_small_stack() -> None:
    code = SCRIPT.replace("DEPTH", "100")
    code += "threading.stack_size(512 * 1024)\nthread = threading.Thread(target=take)\n"
    assert in_a_process(code + "thread.start()\nthread.join()\n") == "done"
