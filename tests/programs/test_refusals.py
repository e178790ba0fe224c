"""What adbc refuses, it refuses by name: function, line, the construct, and what to do about it."""

from __future__ import annotations

import ctypes
import functools
import inspect
import struct
import sys
import zlib
from typing import Any

import numpy as np
import pytest

import adbc
from adbc.errors import AdbcError, ArgumentError, LiftError, MissingRuleError, UnsupportedError
from adbc.testing.values import assert_same


def line_of(f: Any, text: str) -> int:
    """The line of the first line of `f` that contains `text`."""
    lines, first = inspect.getsourcelines(f)
    return first + next(i for i, line in enumerate(lines) if text in line and i > 0)


def mentions(error: BaseException, *words: Any) -> bool:
    text = str(error)
    missing = [word for word in words if str(word) not in text]
    assert not missing, f"the message lacks {missing}: {text}"
    return True


def calls_foreign(x):
    y = x * x
    (z,) = struct.unpack("d", struct.pack("d", y))
    return z + 1.0


def test_a_c_function_without_a_rule() -> None:
    with pytest.raises(MissingRuleError) as caught:
        adbc.grad(calls_foreign)(0.5)
    line = line_of(calls_foreign, "struct.pack")
    mentions(caught.value, "pack", "calls_foreign", "test_refusals.py", line, "float", "rule")


def test_the_same_in_forward_mode() -> None:
    with pytest.raises(MissingRuleError) as caught:
        adbc.jvp(calls_foreign, (0.5,), (1.0,))
    mentions(caught.value, "pack", "calls_foreign", line_of(calls_foreign, "struct.pack"))


def foreign_on_bytes(x, data):
    return x * zlib.crc32(data)


def test_a_c_function_without_a_rule_on_inactive_values_is_called() -> None:
    checksum = zlib.crc32(b"abc")
    assert adbc.value_and_grad(foreign_on_bytes)(2.0, b"abc") == (2.0 * checksum, float(checksum))


def active_inside_a_container(x):
    box = [x, 1.0]
    return ctypes.c_double(box[0]).value * x


def test_an_active_value_does_not_slip_through_a_foreign_class() -> None:
    with pytest.raises(AdbcError) as caught:
        adbc.grad(active_inside_a_container)(3.0)
    mentions(caught.value, "c_double", line_of(active_inside_a_container, "ctypes"))


def test_the_gradient_by_an_int() -> None:
    with pytest.raises(ArgumentError) as caught:
        adbc.grad(lambda x: x * x)(3)
    mentions(caught.value, "int", "float")


def power(x, n):
    return x**n


def test_the_gradient_by_one_of_several_arguments_is_an_int() -> None:
    assert adbc.grad(power)(2.0, 3) == 12.0
    with pytest.raises(ArgumentError) as caught:
        adbc.grad(power, argnums=(0, 1))(2.0, 3)
    mentions(caught.value, "int", "float", "1")


def test_a_position_that_is_not_there() -> None:
    with pytest.raises(ArgumentError) as caught:
        adbc.grad(power, argnums=2)(2.0, 3)
    mentions(caught.value, "2")


@pytest.mark.parametrize(
    ("f", "word"),
    [
        (lambda x: [x], "list"),
        (lambda x: (x, x), "tuple"),
        (lambda x: np.array([x, x]), "array"),
        (lambda x: None, "None"),
        (lambda x: "text", "str"),
        (lambda x: x * 1j, "complex"),
    ],
    ids=["list", "tuple", "array", "None", "str", "complex"],
)
def test_an_output_that_is_not_a_real_scalar(f: Any, word: str) -> None:
    with pytest.raises(ArgumentError) as caught:
        adbc.grad(f)(2.0)
    mentions(caught.value, word, "real")


async def coroutine(x):
    return x


def test_a_function_that_is_not_lifted_at_all() -> None:
    with pytest.raises(LiftError) as caught:
        adbc.build_rrule(adbc.Signature.of(coroutine, 2.0))
    mentions(caught.value, "coroutine", "test_refusals.py", "async")


def looks_at_its_frame(x):
    return x * sys._getframe().f_locals["x"]


def test_a_function_that_looks_at_its_own_frame() -> None:
    with pytest.raises(AdbcError) as caught:
        adbc.grad(looks_at_its_frame)(2.0)
    mentions(caught.value, "looks_at_its_frame", "frame", line_of(looks_at_its_frame, "_getframe"))


def never_looks(x):
    if x < 0.0:
        return looks_at_its_frame(x) + sys._getframe().f_locals["x"]
    return x * x


def test_what_is_never_called_is_never_refused() -> None:
    assert adbc.grad(never_looks)(3.0) == 6.0


def spoils(u):
    u *= 2.0
    u[0] = len(struct.pack("d", u[1]))
    return np.sum(u)


def fails(u):
    u *= 2.0
    return u[10]


def test_exceptions_of_the_function_pass_through() -> None:
    u = np.array([1.0, 2.0])
    with pytest.raises(IndexError) as caught:
        adbc.grad(fails)(u)
    assert caught.type is IndexError
    entries = [entry for entry in caught.traceback if entry.path.name == "test_refusals.py"]
    assert (entries[-1].name, entries[-1].lineno + 1) == ("fails", line_of(fails, "u[10]"))


def test_a_refusal_leaves_arguments_as_a_plain_failed_call_would() -> None:
    u = np.array([1.0, 2.0])
    with pytest.raises(MissingRuleError):
        adbc.jvp(spoils, (u,), (u.copy(),))
    assert_same(np.array([2.0, 4.0]), u, "u")


def test_a_refusal_that_was_put_off_leaves_arguments_as_they_were() -> None:
    u = np.array([1.0, 2.0])
    with pytest.raises(MissingRuleError):
        adbc.grad(spoils)(u)
    assert_same(np.array([1.0, 2.0]), u, "u")


def test_a_pullback_runs_once() -> None:
    _, pullback = adbc.vjp(power, 2.0, 3)
    pullback(1.0)
    with pytest.raises(adbc.errors.PullbackConsumedError):
        pullback(1.0)


three_times = functools.partial(lambda x, y, k: x * y * k, k=3.0)


def looks_into_a_partial(x):
    joined = functools.partial(three_times, x)
    return joined(2.0) * joined.args[0]


def test_what_a_partial_of_a_partial_holds() -> None:
    f = looks_into_a_partial
    for derivative in (lambda: adbc.grad(f)(2.0), lambda: adbc.jvp(f, (2.0,), (1.0,))):
        with pytest.raises(UnsupportedError) as caught:
            derivative()
        assert mentions(caught.value, "looks_into_a_partial", "Make it in the function")
