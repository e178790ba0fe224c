"""Lowered graphs, run by the interpreter of low programs, give what bytecode gives, to the last bit."""

from __future__ import annotations

import math
import os
from typing import Any

import pytest

import adbc
from adbc.low.interpret import BailedOut, interpret
from adbc.low.reasons import NotNative
from adbc.low.text import read, write
from adbc.low.verify import verify
from benchmarks.workload import duplicate
from benchmarks.workloads import GROUPS
from tests.low.lowering import arguments, bits, is_shadow, leaves, lowered
from tests.low.programs import PROGRAMS
from tests.low.scalar_functions import function, inputs, source

WORKLOADS = {
    w.name: w for group in ("typed", "guarded") for w in GROUPS[group]
}  # fmt: skip
NATIVE = {
    "logistic map, 1000 iterations", "logistic map with a sine, 1000", "Newton's square root, 500",
    "Newton, Kepler's equation, 20", "Lorenz, Heun, 100 steps", "Lorenz, Runge-Kutta, tuples, 30 steps",
    "Black-Scholes, 40 options", "inner product, lists of 1000", "Horner, list of 1000",
    "oscillator, attributes, 300 steps",
}  # fmt: skip
"""The benchmark programs that have a low form."""
COUNT = int(os.environ.get("ADBC_RANDOM_FUNCTIONS", "200"))


def run(program: Any, args: tuple[Any, ...], f: Any = None) -> Any:
    given = arguments(program, args, f)
    results = interpret(program, *given)
    shadows = [x for x, register in zip(given, program.parameters, strict=True) if is_shadow(register)]
    return bits((*results, *[number for shadow in shadows for number in shadow]))


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_give_what_bytecode_gives(name: str) -> None:
    f, args, argnums = PROGRAMS[name]
    program = verify(lowered(f, args, argnums))
    value, gradients = adbc.value_and_grad(f, argnums)(*args)
    order = [argnums] if isinstance(argnums, int) else list(argnums)
    found = dict(zip(order, [gradients] if isinstance(argnums, int) else gradients, strict=True))
    floats = [found[i] for i in sorted(order) if type(args[i]) is float]
    lists = [found[i] for i in sorted(order) if type(args[i]) is list]
    assert run(program, args, f) == bits(leaves((value, *floats, *lists)))


@pytest.mark.parametrize("name", WORKLOADS)
def test_benchmark_programs_give_what_bytecode_gives(name: str) -> None:
    workload = WORKLOADS[name]
    args = duplicate(workload.small)
    try:
        program = verify(lowered(workload.function, args, workload.argnums))
    except NotNative:
        assert name not in NATIVE
        return
    assert name in NATIVE
    expected = adbc.value_and_grad(workload.function, workload.argnums)(*args)
    assert run(program, args) == bits(leaves(expected))
    text = write(program)
    assert write(read(text)) == text
    assert run(read(text), args) == bits(leaves(expected))


@pytest.mark.parametrize("first", range(0, COUNT, 20))
def test_random_functions_give_what_bytecode_gives(first: int) -> None:
    for seed in range(first, min(first + 20, COUNT)):
        f = function(seed)
        for number in range(2):
            args = inputs(seed, number)
            args = (*args[:2], args[2] % 8)
            try:
                expected = adbc.value_and_grad(f, (0, 1))(*args)
                program = verify(lowered(f, args, (0, 1)))
            except (NotNative, ArithmeticError, ValueError, TypeError, adbc.AdbcError):
                continue  # what raises is a matter of the way in
            try:
                found = run(program, args, f)
            except BailedOut:
                continue
            assert found == bits(leaves(expected)), f"{seed} {args}\n{source(seed)}"


def tree(x: float, n: int) -> float:
    return x if n == 0 else tree(x * 0.5, n - 1) * tree(x + 1.0, n - 1)


def refused(f: Any, *args: Any) -> str:
    with pytest.raises(NotNative) as caught:
        lowered(f, args)
    return str(caught.value)


def test_what_has_no_row_is_refused_by_line() -> None:
    def f(x: float) -> float:
        y = math.gamma(x)
        z = math.ldexp(x, 3)
        return y * z

    first, found = f.__code__.co_firstlineno, refused(f, 1.5)
    assert f"line {first + 1}: gamma: there is no native form of this call" in found
    assert f"line {first + 2}: ldexp: there is no native form of this call" in found


def test_a_variable_of_two_classes_is_refused() -> None:
    def f(x: float, n: int) -> float:
        y: Any = 1
        for _ in range(n):
            y = y * x
        return x * y

    assert "a value of two kinds: a float here, an int elsewhere" in refused(f, 1.5, 3)


def test_a_recursion_is_refused() -> None:
    assert "a recursion" in refused(tree, 1.5, 3)


@pytest.mark.parametrize(
    ("args", "why"),
    [((0.0, 3), "division by zero"), ((1e-3, 2**62), "more than 61 bits")],
)
def test_what_python_would_raise_bails_out(args: tuple[Any, ...], why: str) -> None:
    def f(x: float, n: int) -> float:
        s = 0.0
        for _ in range(n):
            s += 1.0 / x
        return s * x

    program = lowered(f, (1.0, 3))
    with pytest.raises(BailedOut, match=why):
        interpret(program, *args)


def test_ints_of_more_than_64_bits_bail_out() -> None:
    def f(x: float, n: int) -> float:
        k = 3
        for _ in range(n):
            k = k * k
        return x * k

    program = lowered(f, (1.0, 3))
    assert interpret(program, 1.0, 3)[0] == 6561.0
    with pytest.raises(BailedOut, match="64 bits"):
        interpret(program, 1.0, 9)
