"""What functions return is what their rows declare, or what an example has shown, for arguments of any kind.

A type that is wrong is worse than none: code is written inline for it.
"""

from __future__ import annotations

import collections
import faulthandler
import operator
import os
import random
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import special

import adbc
from adbc.errors import DebugError
from adbc.rules.table import ArrayLike, Known
from adbc.runtime import default_engine
from adbc.runtime.build.sampling import _type, with_large
from adbc.types import typeof
from adbc.types.lattice import ANY, AbstractType
from adbc.types.membership import is_member


class Stack(list):  # type: ignore[type-arg]  # a plain subclass
    pass


class Half(float):
    pass


class Table(dict):  # type: ignore[type-arg]  # a plain subclass
    pass


Pair = collections.namedtuple("Pair", "a b")  # this is what is to be tried

VALUES: list[Callable[[], Any]] = [
    lambda: 0.5, lambda: -1.5, lambda: 2, lambda: -1, lambda: 0, lambda: True, lambda: 2**70, lambda: 1 + 2j,
    lambda: Half(0.5), lambda: np.float64(-2.5), lambda: np.float32(0.5), lambda: np.int64(2),
    lambda: np.complex128(1j), lambda: np.bool_(True),
    lambda: np.array(0.5), lambda: np.array([0.5, -0.2, 1.0]), lambda: np.array([0.5, 0.2]),
    lambda: np.zeros(0), lambda: np.array([[1.0, 2.0], [-3.0, 0.5]]),
    lambda: np.arange(9.0).reshape(3, 3) - 4,
    lambda: np.array([1, 2]), lambda: np.array([0, -1, 1]), lambda: np.array([True, False]),
    lambda: np.array([1j, 2.0]), lambda: np.ones((2, 3), np.float32), lambda: np.zeros((2, 2, 2)),
    lambda: [0.5, 1.0], lambda: [1, 2], list, lambda: (0.5, 1.0), lambda: (1, 2), lambda: (),
    lambda: Stack([0.5]), lambda: Pair(1.0, 2.0), lambda: {"a": 1.0}, lambda: Table(a=1.0),
    lambda: collections.OrderedDict(a=1.0), lambda: collections.defaultdict(list, a=1.0),
    lambda: collections.Counter("ab"), lambda: collections.deque([1.0]), lambda: {1, 2},
    lambda: frozenset({1}), lambda: "a", lambda: b"x", lambda: None, lambda: slice(0, 1), lambda: range(3),
    lambda: [np.array([1.0, 2.0]), np.array([0.5, 1.0])], lambda: [[1.0, 2.0], [3.0, 4.0]], lambda: float,
]  # fmt: skip

NOT_CALLED = {
    "input", "print", "breakpoint", "exit", "open", "seed", "exec", "eval", "__import__",
    "obl_cv",  # does not come back from some numbers
    # They take as many steps as a number says, and 2**70 is among the numbers.
    "multigammaln", "diff", "jvp", "yvp", "kvp", "ivp", "h1vp", "h2vp",
}  # fmt: skip
CHUNKS = 4
ROOT = Path(__file__).parents[2]


def describe(x: Any) -> Any:
    """`x` as examples are described (`rules.numpy.sampling`); None if it cannot be."""
    if isinstance(x, np.ndarray):
        return ArrayLike(x.dtype.name, x.ndim)
    if type(x) in (tuple, list):
        parts = [describe(p) for p in x]
        return None if any(p is None for p in parts) else type(x)(parts)
    if type(x) in (bool, str, type(None), type):
        return Known(x)
    return type(x) if isinstance(x, np.generic) or type(x) in (int, float, complex, slice) else None


def expected(row: Any, function: Any, args: list[Any]) -> AbstractType | None:
    """The type that inference takes for that of ``function(*args)``, if the row says one."""
    if row.result is not None:
        found = default_engine().knowledge.oracle(function, [typeof(x) for x in args], ())
        if found is not ANY:
            return found
    described = [describe(x) for x in args]
    if row.sample is None or None in described:
        return None
    large = [i for i in row.numeric(len(args)) if described[i] is int]
    found = row.sample(function, described, {}, with_large(described, large))
    return None if found is None else _type(found)


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_functions_return_what_their_rows_say(chunk: int) -> None:
    """In a process of its own: functions in C are called with what they may not be made for."""
    code = f"from tests.rules.test_results import try_functions; try_functions({chunk})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    # Where the process ended too early, the last line is the call that it was at.
    assert done.returncode == 0, f"{done.stdout.splitlines()[-1:]}\n{done.stderr}"
    assert int(done.stdout.splitlines()[-1]) > 50


def try_functions(chunk: int) -> None:
    """Write each call before it is made, and at last how many there were."""
    faulthandler.enable()
    table = default_engine().table
    list(table)  # all sources are loaded
    functions = [f for f, rows in table.by_function() if any(r.result or r.sample for r in rows)]
    rng = random.Random(chunk)
    checked = 0
    for function in functions[chunk::CHUNKS]:
        name = getattr(function, "__name__", "")
        package = str(getattr(function, "__module__", "")).partition(".")[0]
        if name in NOT_CALLED or package in ("adbc", "tests"):
            continue  # functions of ours are called with what they are made for
        trials = [(x,) for x in VALUES] + [tuple(rng.choices(VALUES, k=2)) for _ in range(60)]
        trials += [tuple(rng.choices(VALUES, k=3)) for _ in range(20)]
        for trial in trials:
            args = [make() for make in trial]
            try:
                row = table.find(function, tuple(map(type, args)))
            except (TypeError, IndexError):  # as many as the function takes in no case
                continue
            if row is None:
                continue
            os.write(1, f"{function} {args!r:.300}".replace("\n", " ").encode() + b"\n")
            with np.errstate(all="ignore"), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                type_ = expected(row, function, args)
                if type_ is None:
                    continue
                try:
                    out = function(*args)
                except Exception:  # most functions take few of these
                    continue
            assert is_member(out, type_), f"{row} of {args!r:.120} is {out!r:.60}, not a {type_}"
            checked += 1
    os.write(1, f"{checked}\n".encode())


# -- the cases that were wrong -------------------------------------------------------------------------------


@pytest.mark.parametrize("cls", [np.int64, np.int32, np.uint8, np.bool_])
@pytest.mark.parametrize("speculation", ["never", "learn", "dynamic", "always"])
def test_a_class_of_integers_called_on_an_array_gives_an_array(cls: Any, speculation: str) -> None:
    def rows(w: Any) -> Any:
        return w[cls(w[:, -1])].sum()

    def slow(w: Any) -> Any:
        return w[w[:, -1].astype(cls)].sum()

    w = np.ones((3, 2))
    with adbc.use(adbc.Config(speculation=speculation)):
        for _ in range(2):
            np.testing.assert_array_equal(adbc.grad(rows)(w), adbc.grad(slow)(w))
            assert adbc.jvp(rows, (w,), (w,))[1] == adbc.jvp(slow, (w,), (w,))[1]


def test_a_large_int_makes_an_array_of_objects() -> None:
    sample = default_engine().table.find(np.dot, (int, np.ndarray))
    assert sample is not None and sample.sample is not None
    vector = ArrayLike("float64", 1)
    assert sample.sample(np.dot, [int, vector], {}) == vector
    assert sample.sample(np.dot, [int, vector], {}, with_large([int, vector], {0})) is None
    ufunc = default_engine().table.find(np.multiply, (int, np.ndarray))
    assert ufunc is not None and ufunc.sample is not None
    # A large step alone does, for there is no large start.
    arange = default_engine().table.find(np.arange, (int, int, int))
    assert arange is not None and arange.sample is not None
    three = [int, np.int64, int]
    assert arange.sample(np.arange, three, {}) == ArrayLike("int64", 1)
    assert arange.sample(np.arange, three, {}, with_large(three, {0, 2})) is None
    assert ufunc.sample(np.multiply, [int, vector], {}, with_large([int, vector], {0})) == vector


def test_a_function_of_numbers_only_is_not_tried_on_large_ints() -> None:
    """The series of this function has no end there."""

    def program(x: Any, k: int) -> Any:
        return special.hyp1f1(np.array([1.0, 2.0]), 0.5, k) * x

    with adbc.use(adbc.Config(speculation="always")):
        assert adbc.grad(lambda x: program(x, 2).sum())(0.4) == pytest.approx(program(1.0, 2).sum())


def test_a_function_that_returns_a_constant_below_zero_is_open() -> None:
    def program(x: float, exact: int) -> Any:
        return special.factorial(x, exact) * 1.5 + x

    with adbc.use(adbc.Config(speculation="always")):
        assert adbc.grad(program)(-2.5, 1) == 1.0
        assert adbc.grad(program)(-2.5, 0) == 1.0


def test_a_shape_that_is_an_array_leaves_the_axes_open() -> None:
    row = default_engine().table.find(np.broadcast_to, (np.ndarray, np.ndarray))
    assert row is not None and row.sample is not None
    assert row.sample(np.broadcast_to, [ArrayLike("bool", 1), ArrayLike("int64", 1)], {}) is None


def test_what_a_whole_number_decides_leaves_the_result_open() -> None:
    """Of dimension 0 the function is a number for all arrays, and arrays of bools have small squares."""
    for function, arguments in (
        (special.multigammaln, [ArrayLike("int64", 1), int]),
        (operator.pow, [ArrayLike("bool", 1), int]),
    ):
        row = default_engine().table.find(function, (np.ndarray, int))
        assert row is not None and row.sample is not None
        assert row.sample(function, arguments, {}) is None


# -- the check in debug mode --------------------------------------------------------------------------------


def narrow(x: Any) -> Any:
    return np.float32(x)


def narrow_too(x: Any) -> Any:
    return np.float32(x)


adbc.scalar_rule(narrow, result=float)(lambda out, x: 1.0)
adbc.scalar_rule(narrow_too, result=float)((lambda out, x: 1.0,))


@pytest.mark.parametrize("program", [lambda x: narrow(x) * x, lambda x: narrow_too(x) * x])
def test_debug_mode_compares_results_with_what_is_declared(program: Any) -> None:
    for differentiate in (adbc.grad(program), lambda x: adbc.jvp(program, (x,), (1.0,))):
        wrong = pytest.raises(DebugError, match=r"was taken for float, but is .* a float32")
        with adbc.use(adbc.Config(debug=True)), wrong:
            differentiate(0.5)


def test_debug_mode_finds_nothing_where_types_are_right() -> None:
    def program(x: Any, v: Any, k: int) -> Any:
        total = 0.0
        for i, part in enumerate(v):
            total += part * x if i < k else np.sqrt(part)
        pairs = [(x, i) for i in range(k)]
        w = np.outer(v, v)[1:, ::2].copy()
        w *= total
        return w.sum() + pairs[-1][0] + np.float64(k) + len(pairs) / 2

    arguments = (0.5, np.array([0.3, 0.4, 0.5]), 2)
    expected = adbc.grad(program, (0, 1))(*arguments)
    with adbc.use(adbc.Config(debug=True)):
        for found, wanted in zip(adbc.grad(program, (0, 1))(*arguments), expected, strict=True):
            np.testing.assert_allclose(found, wanted)
        adbc.jvp(program, arguments, (1.0, np.ones(3), None))
