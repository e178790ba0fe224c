"""Forty ways to be silently wrong: each is right in both modes, or refused.

The number in a test's name is its line in ``docs/silent-wrongness.md``.  What is right is compared
with the derivative worked out by hand; a function with state must find it as before the reverse
pass, so that a second gradient is the first.
"""

from __future__ import annotations

import contextvars
import copy
import ctypes
import dataclasses
import decimal
import fractions
import functools
import gc
import json
import math
import operator
import pathlib
import pickle
import queue
import random
import re
import statistics
import struct
import sys
import types
import weakref
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

import adbc
from adbc.errors import (
    AdbcError,
    ArgumentError,
    InvalidTangentError,
    LiftError,
    MissingRuleError,
    PullbackConsumedError,
    UnsupportedError,
)
from adbc.testing import test_rule as check_rule

X = 1.3


def right(f: Callable[[Any], Any], expected: Any, x: Any = X, state: Any = None) -> None:
    """The derivative of `f` at `x` is `expected` in both modes; `state` is as before the reverse pass."""
    before = repr(state)
    value, gradient = adbc.value_and_grad(f)(x)
    assert gradient == pytest.approx(expected, rel=1e-11, abs=1e-12)
    assert repr(state) == before
    assert adbc.grad(f)(x) == gradient
    assert repr(state) == before
    out, tangent = adbc.jvp(f, (x,), (1.0,))
    assert out == pytest.approx(value, rel=1e-14)
    assert tangent == pytest.approx(expected, rel=1e-11, abs=1e-12)


def refused(f: Callable[[Any], Any], error: type[AdbcError], match: str, x: Any = X) -> None:
    """Both modes raise."""
    with pytest.raises(error, match=match):
        adbc.grad(f)(x)
    with pytest.raises(error, match=match):
        adbc.jvp(f, (x,), (1.0,))


# -- 1: global mutation ----------------------------------------------------------------------------

GLOBAL_LIST = [0.0, 1.0]
GLOBAL_DICT: dict[str, Any] = {"a": 1.0}
GLOBAL_ARRAY = np.ones(3)
NUMBER = 1.0
ESCAPED: Any = None


def test_01_global_mutation() -> None:
    def f(x: float) -> float:
        GLOBAL_LIST[0] = x * x
        GLOBAL_DICT["b"] = GLOBAL_LIST[0] * x
        GLOBAL_ARRAY[1] = x
        GLOBAL_ARRAY[:] *= x
        return GLOBAL_LIST[0] * GLOBAL_DICT["b"] + GLOBAL_ARRAY[1]

    state = (GLOBAL_LIST, GLOBAL_DICT, GLOBAL_ARRAY)
    saved = copy.deepcopy(state)
    right(f, 5 * X**4 + 2 * X, state=state)
    GLOBAL_LIST[:], GLOBAL_ARRAY[:] = saved[0], saved[2]
    del GLOBAL_DICT["b"]


def test_01_rebinding_a_global_to_an_active_value() -> None:
    def f(x: float) -> float:
        global NUMBER
        NUMBER = x
        return NUMBER * x

    refused(f, UnsupportedError, "global 'NUMBER'")


def test_01_an_empty_list_becomes_a_global_and_is_filled_later() -> None:
    def f(x: float) -> Any:
        global ESCAPED
        inner: list[float] = []
        ESCAPED = inner
        inner.append(x * x)
        return ESCAPED[0]

    right(f, 2 * X)


# -- 2: rebinding between calls and during a call --------------------------------------------------


def square(x: float) -> float:
    return x * x


def helper(x: float) -> float:
    return square(x)


def scaled(x: float, k: float = 2.0) -> float:
    return x * k


def test_02_rebinding(monkeypatch: pytest.MonkeyPatch) -> None:
    def f(x: float) -> Any:
        return helper(x) * NUMBER + scaled(x)

    right(f, 2 * X + 2.0)
    monkeypatch.setitem(globals(), "square", lambda x: x * x * x)
    right(f, 3 * X * X + 2.0)
    monkeypatch.setitem(globals(), "NUMBER", 3)
    right(f, 9 * X * X + 2.0)
    monkeypatch.setattr(scaled, "__defaults__", (5.0,))
    right(f, 9 * X * X + 5.0)
    monkeypatch.setitem(globals(), "abs", lambda x: x * 7.0)
    right(lambda x: abs(x), 7.0)


def test_02_new_code_for_a_function_that_is_an_argument_or_a_default() -> None:
    def g(x: float) -> float:
        return x * x

    g = types.FunctionType(g.__code__, globals(), "g")

    def apply(x: float, h: Any) -> Any:
        return h(x)

    def default(x: float, h: Any = g) -> Any:
        return h(x)

    default = types.FunctionType(default.__code__, globals(), "default", (g,))
    assert adbc.grad(apply)(X, g) == adbc.grad(default)(X) == 2 * X
    g.__code__ = (lambda x: x * 7.0).__code__
    assert adbc.grad(apply)(X, g) == adbc.grad(default)(X) == 7.0
    assert adbc.jvp(default, (X,), (1.0,))[1] == 7.0


def test_02_a_function_is_replaced_while_it_is_in_use() -> None:
    namespace: dict[str, Any] = {}
    exec(
        "def p(x): return x * 2\n"
        "def q(x): return x * x\n"
        "def swap():\n    global p\n    p = q\n"
        "def f(x):\n    a = p(x)\n    swap()\n    return a + p(x)\n",
        namespace,
    )
    refused(namespace["f"], UnsupportedError, "global 'p'")


def test_02_closure_cells_and_class_attributes() -> None:
    k: Any = 2.0

    class Model:
        z = 2.0

        def loss(self, x: float) -> float:
            return x * self.z

    def f(x: float) -> Any:
        return k * Model().loss(x)

    right(f, 4.0)
    k = 3
    right(f, 6.0)
    Model.z = np.float32(4.0)  # type: ignore[assignment]
    right(f, 12.0)
    Model.loss = lambda self, x: x * x  # type: ignore[method-assign, assignment]
    right(f, 6 * X)


# -- 3: cells --------------------------------------------------------------------------------------


def test_03_nonlocal_and_shared_cells() -> None:
    def f(x: float) -> float:
        acc = x

        def multiply() -> None:
            nonlocal acc
            acc *= x

        def read() -> float:
            return acc

        multiply()
        multiply()
        return read()

    right(f, 3 * X * X)


def test_03_late_binding_in_a_loop() -> None:
    def f(x: float) -> float:
        functions = []
        for i in range(3):
            y = x * i
            functions.append(lambda: y * y)  # noqa: B023  # late binding is the point
        return sum([g() for g in functions])

    right(f, 3 * 4 * 2 * X)


def test_03_a_cell_of_the_function_itself_is_restored() -> None:
    acc = 1.0

    def f(x: float) -> float:
        nonlocal acc
        acc = acc * x
        return acc * x

    assert adbc.grad(f)(X) == adbc.grad(f)(X) == 2 * X
    assert acc == 1.0


# -- 4: defaults -----------------------------------------------------------------------------------


def test_04_mutable_default() -> None:
    def g(x: float, buffer: list[float] = []) -> float:  # noqa: B006
        buffer.append(x)
        return buffer[0] * buffer[-1]

    def f(x: float) -> float:
        return g(x) * g(x * x)

    right(f, 5 * X**4, state=g.__defaults__)


def test_04_a_default_is_an_empty_list_that_is_filled_later() -> None:
    def f(x: float) -> float:
        inner: list[float] = []

        def g(y: float, b: list[float] = inner) -> float:
            return b[0] * y

        inner.append(x)
        return g(x)

    right(f, 2 * X)


def test_04_an_active_number_as_default() -> None:
    def f(x: float) -> float:
        def g(y: float, z: float = x) -> float:
            return y * z

        return g(x)

    right(f, 2 * X)


def test_04_constant_keyword_defaults() -> None:
    def f(x: float) -> float:
        g = lambda *ts, k=0.5: k * sum(ts)  # noqa: E731

        def h(y: float, *, s: float = 2.0) -> float:
            return s * y

        try:
            inside = (lambda *ts, k=0.25: k * sum(ts))(x, h(x))
        finally:
            x = x * x
        return g(x, 1.0) + inside

    right(f, X + 0.75)


def test_04_an_active_number_as_keyword_default() -> None:
    def f(x: float) -> float:
        def g(y: float, *, z: float = x) -> float:
            return y * z

        return g(x)

    right(f, 2 * X)


# -- 5: class attributes, caches -------------------------------------------------------------------


class Holder:
    items: list[float] = []  # noqa: RUF012
    count = 0


def test_05_class_attributes() -> None:
    def f(x: float) -> float:
        Holder.items.append(x * x)
        Holder.count += 1
        return Holder.items[-1] * x * Holder.count

    before = Holder.count
    assert adbc.grad(f)(X) == adbc.grad(f)(X) == pytest.approx(3 * X * X * (before + 1))
    assert Holder.items == [] and Holder.count == before


def test_05_setting_a_class_attribute_to_an_active_value() -> None:
    def f(x: float) -> Any:
        Holder.value = x  # type: ignore[attr-defined]
        return Holder.value * x  # type: ignore[attr-defined]

    refused(f, UnsupportedError, "global state")


def test_05_lru_cache_is_passed_by() -> None:
    @functools.lru_cache
    def g(x: float) -> float:
        return x * x

    right(lambda x: g(x) * g(x), 4 * X**3)
    assert g.cache_info().currsize == 0


# -- 6: aliased arguments --------------------------------------------------------------------------


def test_06_aliased_arguments() -> None:
    def g(a: list[float], b: list[float]) -> float:
        a[0] = b[1] * 2
        return a[0] * b[0]

    def f(x: float) -> float:
        a = [x, x * x]
        return g(a, a)

    right(f, 16 * X**3)
    a = np.array([2.0])
    assert adbc.grad(lambda x, y: (x * y).sum(), argnums=(0, 1))(a, a)[0] == [4.0]


def test_06_aliased_arguments_with_tangents_that_are_not() -> None:
    a = np.array([2.0, 3.0, 4.0])

    def f(x: Any, y: Any) -> Any:
        x *= 2.0
        return y.sum()

    with pytest.raises(InvalidTangentError, match="share memory"):
        adbc.jvp(f, (a, a), (np.ones(3), np.zeros(3)))
    with pytest.raises(InvalidTangentError, match="share memory"):
        adbc.jvp(f, (a[:2], a[1:]), (np.ones(2), np.zeros(2)))
    da = np.ones(3)
    assert adbc.jvp(f, (a[:2], a[1:]), (da[:2], da[1:]))[1] == 3.0


# -- 7: views --------------------------------------------------------------------------------------


def test_07_views() -> None:
    def f(x: float) -> Any:
        a = np.array([x, 2 * x, x * x, 1.0])
        b = a.reshape(2, 2).T[::-1]
        b[0, 0] = x * 3
        b *= x
        wide = np.broadcast_to(a[:1], (3,))
        a[0] = a[0] * x
        return a @ np.arange(4.0) + wide.sum()

    # a = [x^3, 3x^2, x^3, x]
    right(f, 6 * X + 2 * 3 * X**2 + 3.0 + 3 * 3 * X**2)


def test_07_parts_of_complex_arrays_are_views() -> None:
    def f(x: float) -> Any:
        a = np.zeros(2, complex)
        a.real[0] = x
        a.view(float)[3] = x
        return (a[0] * a[1]).imag

    right(f, 2 * X)


def test_07_reshape_may_copy() -> None:
    def f(x: float) -> Any:
        a = np.array([[x, x * x], [1.0, 2.0]])
        copied = a.T.reshape(-1)
        copied[0] = 7.0
        view = a.reshape(-1)
        view[1] *= x
        return a.sum() + copied.sum()

    right(f, 1 + 3 * X**2 + 2 * X)


def test_07_memory_out_of_sight() -> None:
    right(lambda x: np.frombuffer(np.array([x * x]))[0], 2 * X)
    right(lambda x: memoryview(np.array([x * x]))[0], 2 * X)
    refused(lambda x: np.frombuffer(memoryview(np.array([x])).tobytes())[0], MissingRuleError, "tobytes")
    right(lambda x: np.frombuffer(np.array([x * x]).data)[0], 2 * X)


# -- 8: arrays inside containers -------------------------------------------------------------------


def test_08_arrays_in_containers_of_any_type() -> None:
    @dataclasses.dataclass
    class Model:
        weights: Any

    def f(model: Any) -> Any:
        return (model.weights["w"][0] * model.weights["b"]).sum()

    model = Model({"w": [np.array([1.0, 2.0])], "b": np.array([3.0, 4.0])})
    gradient = adbc.grad(f)(model)
    assert gradient.weights["w"][0].tolist() == [3.0, 4.0]
    assert gradient.weights["b"].tolist() == [1.0, 2.0]


def test_08_arrays_of_objects() -> None:
    def f(x: float) -> Any:
        a = np.empty(2, object)
        a[0], a[1] = x, [x]
        a[1].append(a[0] * x)
        return sum(a[1]) * a[0]

    right(f, 2 * X + 3 * X * X)
    right(lambda x: np.array([x, None], object)[0] * x, 2 * X)
    right(lambda x: (np.array([x, x]).astype(object) * x)[0], 2 * X)

    def of_arrays(x: float) -> Any:
        a = np.empty(1, object)
        a[0] = np.array([x, x])
        return (a * a)[0][1]

    refused(of_arrays, UnsupportedError, "dtype object that holds a ndarray")


# -- 9, 10: buffers and cotangents of other calls --------------------------------------------------


def test_09_gradients_are_not_overwritten_by_the_next() -> None:
    buffer = np.zeros(2)

    def f(x: Any) -> Any:
        buffer[:] = x * x
        return (buffer * x).sum()

    gradient = adbc.grad(f)
    first = gradient(np.array([1.0, 2.0]))
    kept = first.copy()
    gradient(np.array([5.0, 6.0]))
    assert first.tolist() == kept.tolist() == [3.0, 12.0]
    assert buffer.tolist() == [0.0, 0.0]


def test_10_stale_cotangents() -> None:
    _, pullback = adbc.vjp(lambda a: (a * a).sum(), np.array([1.0, 2.0]))
    assert pullback(1.0)[0].tolist() == [2.0, 4.0]
    with pytest.raises(PullbackConsumedError):
        pullback(1.0)
    weights = [1.0, 2.0]
    assert adbc.grad(lambda x: x * weights[0])(X) == adbc.grad(lambda x: x * weights[0])(X) == 1.0


# -- 11, 12: rules ---------------------------------------------------------------------------------


def test_11_a_rule_that_overwrites_is_found() -> None:
    def f(a: Any) -> Any:
        return a * 2.0

    f = types.FunctionType(f.__code__, {"__name__": "m"}, "overwriting")

    def rrule(ff: Any, a: Any) -> Any:
        out = adbc.CoDual(a.primal * 2.0, np.zeros_like(a.primal))

        def pullback(_: Any) -> Any:
            a.fdata[...] = 2.0 * out.fdata
            return adbc.NoRData(), adbc.NoRData()

        return out, pullback

    from adbc.rules.declare import primitive

    primitive(f, frule=lambda ff, a: adbc.Dual(a.primal * 2.0, a.tangent * 2.0), rrule=rrule)
    with pytest.raises(AssertionError):
        check_rule(f, np.array([1.0, 2.0]))


def test_12_functions_that_may_alias_their_argument() -> None:
    def f(x: float) -> Any:
        a = np.array([x, 1.0])
        np.asarray(a)[0] *= x
        np.atleast_1d(a)[1] = x
        np.ravel(a)[:] *= x
        b = a.astype(float, copy=False)
        b += x
        return a.sum()

    right(f, 3 * X * X + 2 * X + 2)


# -- 13, 14, 15: shapes and control flow -----------------------------------------------------------


def test_13_broadcasting_and_repeated_use() -> None:
    def f(a: Any, b: Any, c: float) -> Any:
        return (a * b + a * c).sum()

    a, b = np.array([[1.0], [2.0]]), np.array([3.0, 4.0, 5.0])
    da, db, dc = adbc.grad(f, argnums=(0, 1, 2))(a, b, 2.0)
    assert da.tolist() == [[18.0], [18.0]] and db.tolist() == [3.0, 3.0, 3.0] and dc == 9.0
    assert adbc.jvp(f, (a, b, 2.0), (np.ones((2, 1)), np.zeros(3), 1.0))[1] == 36.0 + 9.0


def test_14_swap() -> None:
    def f(x: float) -> float:
        a, b = x, 1.0
        for _ in range(3):
            a, b = b * x, a
        return a + 10 * b

    right(f, 2 * X + 20 * X)


def test_15_loop_else_and_dead_code() -> None:
    def f(x: float) -> float:
        for _ in range(3):
            if x > 10:
                break
            x = x * 2
        else:
            x = x * 3
        return x
        return 0.0

    right(f, 24.0)
    right(f, 2.0, 9.0)


# -- 16, 17, 18, 19: containers, copies, exceptions ------------------------------------------------


def test_16_methods_of_containers() -> None:
    def f(x: float) -> float:
        a = [x, x * x, 3.0]
        a += [x]
        a.insert(1, 5 * x)
        del a[0]
        a[1:3] = [x, x, x]
        a.reverse()
        last, first = a.pop(), a.pop(0)
        d: dict[str, float] = {}
        d.setdefault("a", x)
        d.update(b=x * x)
        return last * first + d.pop("a") * d["b"] + sum(a)

    # a = [5x, x, x, x, x] reversed; last = 5x, first = x, 3 of x are left
    right(f, 10 * X + 3 * X**2 + 3)


def test_16_iterators_are_consumed_once() -> None:
    def f(x: float) -> float:
        it = iter([x, x * x, x**3])
        a = next(it)
        b = list(it)
        return a * b[0] * b[1] + len(list(it))

    right(f, 6 * X**5)


def test_16_floats_in_sets_and_keys() -> None:
    refused(lambda x: sum({x, 2.0 * x}), UnsupportedError, "element of a set")
    refused(lambda x: next(iter({x: 1.0})), UnsupportedError, "key of a dict")


def test_16_c_functions_change_containers() -> None:
    def f(x: float, order: Any, data: bytearray) -> Any:
        a = np.array([x, x * x, x**3])
        picked = a[order] * data[0]
        np.random.default_rng(3).shuffle(order)
        data.extend(b"abc")
        data[0] = 9
        return picked[0] * x

    order, data = np.array([2, 0, 1]), bytearray(b"\x03")
    assert adbc.grad(f)(X, order, data) == pytest.approx(12 * X**3)
    assert order.tolist() == [2, 0, 1] and data == b"\x03"


def test_17_copies_keep_the_link() -> None:
    def f(x: float) -> Any:
        a = [x, [x * x], np.array([x])]
        b = copy.deepcopy(a)
        b[1][0] *= x
        shallow = copy.copy(a)
        shallow[1].append(x)
        shallow[0] = 9.0
        c = a[2].copy()
        c *= x
        return b[1][0] * a[1][1] + a[0] + c[0] + b[2][0]

    right(f, 4 * X**3 + 1 + 2 * X + 1)


def test_18_an_exception_half_way() -> None:
    def f(a: list[float], x: float) -> float:
        a.append(x)
        a[0] *= x
        if x > 1:
            raise ValueError("half way")
        return a[0] * a[1]

    a = [1.0, 2.0]
    with pytest.raises(ValueError, match="half way"):
        adbc.grad(f, argnums=1)(a, 2.0)
    assert a == [2.0, 2.0, 2.0]
    b = [1.0, 2.0]
    assert adbc.grad(f, argnums=1)(b, 0.5) == 2.0
    assert b == [1.0, 2.0]


def test_19_state_is_restored() -> None:
    state: Any = {"b": 1.0, "a": [1.0, 2.0], "n": 0}

    def f(x: float) -> Any:
        state["c"] = state.pop("b") * x
        state["n"] += 1
        state["a"].insert(0, x)
        return state["c"] * state["a"][0]

    assert adbc.grad(f)(X) == adbc.grad(f)(X) == 2 * X
    assert list(state.items()) == [("b", 1.0), ("a", [1.0, 2.0]), ("n", 0)]


def test_19_random_numbers_are_drawn_once_and_the_generator_stays_advanced() -> None:
    generator = random.Random(0)
    assert adbc.grad(lambda x: x * generator.random())(X) == random.Random(0).random()
    assert generator.random() != random.Random(0).random()


# -- 20, 21: integers, and ways out of the numbers -------------------------------------------------


@pytest.mark.parametrize("x", [2, True, np.array([1, 2]), [1, 2], (1, (2, 3)), "a", None])
def test_20_integers_have_no_gradient(x: Any) -> None:
    with pytest.raises(ArgumentError, match="no derivative"):
        adbc.grad(lambda x: 1.0)(x)


@pytest.mark.parametrize("cotangent", [np.ones(2), 1j, "a"])
def test_20_cotangents_are_checked(cotangent: Any) -> None:
    with pytest.raises(InvalidTangentError):
        adbc.vjp(lambda x: x * x, X)[1](cotangent)


@pytest.mark.parametrize(
    "x, t",
    [
        (2, 1.0), (X, 1j), (np.ones(2), 1.0), (np.ones(2), np.ones(2, np.float32)),
        (np.ones(2), np.ones(2, int)),
        ([1.0, 2.0], [1.0]), ([1.0, 2.0], [1.0, None]), ({"a": 1.0}, {"b": 1.0}), ((1.0, 2.0), (1.0,)),
    ],
)  # fmt: skip
def test_20_tangents_are_checked(x: Any, t: Any) -> None:
    with pytest.raises(InvalidTangentError):
        adbc.jvp(lambda x: 1.0, (x,), (t,))


def test_21_truncation_has_a_zero_derivative() -> None:
    right(lambda x: x * int(3 * x) + round(10 * x) * x + x // 0.4 + math.floor(x) * x, 3 + 13 + 1.0)
    right(lambda x: np.array([x]).astype(int)[0] * x, 1.0)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: pickle.loads(pickle.dumps(x)),
        lambda x: struct.unpack("d", struct.pack("d", x))[0],
        lambda x: json.loads(json.dumps([x]))[0],
        lambda x: np.frombuffer(np.array([x]).tobytes())[0],
        lambda x: float(decimal.Decimal(x)),
        lambda x: float(fractions.Fraction(x)),
        lambda x: operator.truediv(*x.as_integer_ratio()),
        lambda x: float.fromhex(x.hex()),
        lambda x: np.array([x]).view(np.int64).view(np.float64)[0],
        lambda x: eval(repr(x)),
    ],
)
def test_21_ways_round_are_refused(f: Any) -> None:
    with pytest.raises(AdbcError):
        adbc.grad(f)(X)
    with pytest.raises(AdbcError):
        adbc.jvp(f, (X,), (1.0,))


def test_21_exact_means_of_statistics_are_right() -> None:
    assert adbc.grad(lambda x: statistics.mean([x, 2 * x]))(X) == 1.5


def test_21_text_has_no_derivative() -> None:
    # by declaration, as that of int(); a number that is read from it would be a constant, and is refused
    right(lambda x: x * len(f"{x}") + x * int(f"{10 * x:.0f}"), 3 + 10 * X)
    refused(lambda x: x * float(str(x)), UnsupportedError, "reads a number from a str")


def test_21_methods_that_keep_the_link() -> None:
    right(lambda x: np.array([x]).tolist()[0] * np.array([x]).item() * np.array(x)[()], 3 * X * X)


# -- 22, 23: widths, complex numbers ---------------------------------------------------------------


def test_22_the_gradient_has_the_type_of_the_argument() -> None:
    single = np.ones(2, np.float32)
    gradient = adbc.grad(lambda x: (x * np.float64(2)).sum() + (x @ np.ones((2, 2))).sum())(single)
    assert gradient.dtype == np.float32 and gradient.tolist() == [4.0, 4.0]
    assert type(adbc.grad(lambda x: x * 2.0)(np.float32(2))) is np.float32
    assert type(adbc.grad(lambda x: (np.array([x]) * 2.0).sum())(2.0)) is float
    assert adbc.grad(lambda x: (np.array([x]) * np.array([1 + 2j])).imag.sum())(2.0) == 2.0


def test_22_structured_arrays() -> None:
    def f(x: float) -> Any:
        a = np.zeros(2, dtype=[("a", float), ("b", int)])
        a["a"][0] = x
        a[1] = (a[0]["a"] * x, 3)
        return a["a"].sum() * x

    right(f, 2 * X + 3 * X * X)
    right(lambda x: np.array([(x, 1)], [("a", float), ("b", int)])["a"][0], 1.0)
    refused(lambda x: np.array([x], [("a", float), ("b", int)])["a"][0], UnsupportedError, "np.empty")


def test_23_complex_convention() -> None:
    assert adbc.grad(lambda z: abs(z) ** 2)(1 + 2j) == pytest.approx(2 + 4j)
    assert adbc.grad(lambda z: (z * z).real)(1 + 2j) == pytest.approx(2 - 4j)
    assert adbc.grad(lambda x: (x * (1 + 2j) * 1j).real)(2.0) == -2.0
    with pytest.raises(ArgumentError, match="real scalar"):
        adbc.grad(lambda x: x * 1j)(2.0)


# -- 24, 25, 26: kinks, branches, control flow -----------------------------------------------------


@pytest.mark.parametrize(
    "f, x, expected",
    [
        (abs, 0.0, 0.0), (math.sqrt, 0.0, math.inf), (lambda x: x**0, 0.0, 0.0), (lambda x: x**1, 0.0, 1.0),
        (lambda x: 0.0**x, 2.0, 0.0), (lambda x: (-x) ** 2.0, 2.0, 4.0),
        (lambda x: math.hypot(x, 0.0), 0.0, 0.0),
        (lambda x: max(x, 1.0), 1.0, 1.0), (lambda x: max(x, x), 1.0, 1.0), (lambda x: x % 1.0, 2.0, 1.0),
        (lambda x: math.prod([x, 2.0, 3.0]), 0.0, 6.0), (math.acos, 1.0, -math.inf),
        (lambda x: np.abs(np.array([x]))[0], 0.0, 0.0), (lambda x: np.sqrt(np.array([x]))[0], 0.0, math.inf),
        (lambda x: np.linalg.norm(np.array([x, 0.0])), 0.0, 0.0),
        (lambda x: np.max(np.array([x, x])), 1.0, 1.0),
        (lambda x: np.where(x > 0, np.sqrt(np.array([x])), 0.0)[0], 0.0, 0.0),
        (lambda x: np.prod(np.array([x, 2.0, 3.0])), 0.0, 6.0),
        (lambda x: np.std(np.array([x, x])), 1.0, 0.0),
        (lambda x: np.cumprod(np.array([x, 2.0, 3.0])).sum(), 0.0, 9.0),
        (lambda x: np.linalg.det(np.array([[x, 0.0], [0.0, 0.0]])), 1.0, 0.0),
    ],
)  # fmt: skip
def test_24_kinks(f: Any, x: float, expected: float) -> None:
    right(f, expected, x)


def test_25_branches_follow_the_value() -> None:
    def f(x: float) -> float:
        return x * x if x > 1.0 else -x

    right(f, 2 * X)
    right(f, -1.0, 1.0)


def test_26_the_number_of_turns_changes_between_calls() -> None:
    def f(x: float, n: int) -> float:
        r = x
        for _ in range(n):
            r = r * x
        return r

    gradient = adbc.grad(f)
    assert [gradient(2.0, n) for n in (0, 1, 3, 1, 0)] == [1.0, 4.0, 32.0, 4.0, 1.0]


# -- 27, 28: rules and nesting ---------------------------------------------------------------------


def test_27_a_rule_is_added_after_a_call() -> None:
    namespace: dict[str, Any] = {}
    exec("def g(x): return x * x\ndef f(x): return g(x)\n", namespace)
    f, g = namespace["f"], namespace["g"]
    right(f, 2 * X)
    from adbc.rules.declare import scalar_rule

    scalar_rule(g)(lambda out, x: 100.0)
    right(f, 100.0)
    f.__code__ = (lambda x: x * 3.0).__code__
    right(f, 3.0)


def cube(y: float) -> float:
    return y * y * y


gradient_of_cube = adbc.grad(cube)


def through_global(y: float) -> float:
    return y * GLOBAL_LIST[0]


gradient_through_global = adbc.grad(through_global)


def _sets_a_global(x: float) -> Any:
    GLOBAL_LIST[0] = x
    return gradient_through_global(1.0)


@pytest.mark.parametrize(
    ("f", "expected"),
    [
        (lambda x: x * adbc.jvp(lambda y: x + y, (1.0,), (1.0,))[1], 1.0),
        (lambda x: x * adbc.grad(lambda y: x + y)(x), 1.0),
        (lambda x: gradient_of_cube(x), 6 * X),
        (lambda x: adbc.vjp(cube, x)[1](1.0)[0], 6 * X),
        (lambda x: next(map(gradient_of_cube, [x])), 6 * X),
        (lambda x: functools.reduce(lambda a, b: gradient_of_cube(a), [x, x]), 6 * X),
        (_sets_a_global, 1.0),
    ],
)
def test_28_nested_derivatives(f: Any, expected: float) -> None:
    right(f, expected)


def test_28_an_inner_derivative_of_constants() -> None:
    right(lambda x: x * gradient_of_cube(2.0), 12.0)


# -- 29: callbacks, re-entrancy (threads: test_threads) --------------------------------------------


def test_29_functions_that_call_back_have_bodies() -> None:
    def f(x: float) -> Any:
        a = [x, -2 * x, x * x]
        a.sort(key=lambda v: -v)
        r = functools.reduce(lambda p, q: p + q * x, a, 0.0)
        return r + max(a, key=abs) + sum(map(operator.mul, a, a)) + list(filter(lambda v: v > 0, a))[0]  # noqa: RUF015  # the list is what is tested

    # sorted: x^2, x, -2x
    right(f, 3 * X**2 - 2 * X - 2 + (4 * X**3 + 2 * X + 8 * X) + 2 * X)


def read_global(y: float) -> float:
    return y * GLOBAL_LIST[0]


POINTER_MADE_BEFORE = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)(read_global)
UFUNC_MADE_BEFORE = np.frompyfunc(read_global, 1, 1)


def test_29_c_code_calls_back_into_active_state() -> None:
    def f(x: float) -> Any:
        GLOBAL_LIST[0] = x
        return float(np.frompyfunc(read_global, 1, 1)(2.0))

    right(f, 2.0, state=GLOBAL_LIST)
    GLOBAL_LIST[0] = 0.0


def test_29_c_code_that_was_made_before_calls_back_into_active_state() -> None:
    def f(x: float) -> Any:
        GLOBAL_LIST[0] = x
        return float(UFUNC_MADE_BEFORE(2.0))

    def by_pointer(x: float) -> Any:
        GLOBAL_LIST[0] = x
        return POINTER_MADE_BEFORE(2.0)

    right(f, 2.0, state=GLOBAL_LIST)
    refused(by_pointer, MissingRuleError, "GLOBAL_LIST")
    GLOBAL_LIST[0] = 0.0


class Loud:
    def __repr__(self) -> str:
        GLOBAL_LIST.append(2.0)
        return "loud"


def test_29_special_methods_that_change_active_state_unseen() -> None:
    def f(x: float) -> float:
        GLOBAL_LIST[0] = x
        f"{Loud()}"
        return GLOBAL_LIST[0] * GLOBAL_LIST[-1]

    try:
        right(f, 2.0, state=GLOBAL_LIST)
    finally:
        GLOBAL_LIST[:] = [0.0, 1.0]


def test_29_a_gradient_inside_a_comparison_function() -> None:
    # re-entry from a call that has no derivative of its own
    inner = sorted([3.0, 1.0, 2.0], key=adbc.grad(lambda y: -y * y))
    assert inner == [3.0, 2.0, 1.0]


# -- 30, 31, 32: the protocols of Python -----------------------------------------------------------


class Dictionary:
    def __init__(self, x: float) -> None:
        self.__dict__.update(q=x, r=x * x)


class Hooked:
    def __init__(self, x: float) -> None:
        object.__setattr__(self, "q", x)

    def __getattribute__(self, name: str) -> Any:
        return object.__getattribute__(self, name) * 2.0

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value * value)


class Descriptor:
    def __set_name__(self, owner: type, name: str) -> None:
        self.name = "_" + name

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return instance.__dict__[self.name] * 2.0

    def __set__(self, instance: Any, value: Any) -> None:
        instance.__dict__[self.name] = value * value


class Described:
    v = Descriptor()


class Meta(type):
    def __call__(cls, *args: Any) -> Any:
        made = super().__call__(*args)
        made.z = made.x * 2
        return made


class Made(metaclass=Meta):
    z: float

    def __init__(self, x: float) -> None:
        self.x = x


def test_30_attribute_dictionaries() -> None:
    def f(x: float) -> float:
        d = Dictionary(x)
        vars(d)["s"] = d.r  # type: ignore[attr-defined]
        return d.q * d.r * d.s + sum(vars(d).values())  # type: ignore[attr-defined]

    right(f, 5 * X**4 + 1 + 4 * X)


def test_30_hooks_descriptors_and_metaclasses() -> None:
    def f(x: float) -> Any:
        h = Hooked(x)
        h.s = x
        d = Described()
        d.v = x
        d.v += x
        m = Made(x)
        return h.q * h.s + d.v + m.x * m.z

    # 4 x^3 + 2 (2 x^2 + x)^2 + 2 x^2
    right(f, 12 * X**2 + 4 * (2 * X**2 + X) * (4 * X + 1) + 4 * X)


class A:
    def __init__(self, v: float) -> None:
        self.v = v

    def __add__(self, other: Any) -> Any:
        return self.v + other.v if isinstance(other, A) else NotImplemented

    def __radd__(self, other: float) -> float:
        return self.v * 100.0

    def __iadd__(self, other: float) -> A:
        self.v *= other
        return self


class B(A):
    def __radd__(self, other: Any) -> Any:
        return self.v * other.v if isinstance(other, A) else self.v


def test_30_operators() -> None:
    def f(x: float) -> float:
        a = A(x)
        b = a
        a += x
        return (A(x) + B(x)) + (B(x) + A(x)) + (x + A(x)) + b.v

    right(f, 2 * X + 2 + 100 + 2 * X)


def test_30_numpy_hands_over_to_user_classes() -> None:
    class V:
        __array_ufunc__ = None

        def __init__(self, v: float) -> None:
            self.v = v

        def __rmul__(self, other: Any) -> Any:
            return other.sum() * self.v

    right(lambda x: np.array([x, x]) * V(x), 4 * X)


def test_30_attributes_of_containers_are_not_lost() -> None:
    class Namespace(dict):  # type: ignore[type-arg]
        def __init__(self) -> None:
            super().__init__()
            self.__dict__ = self

    namespace = Namespace()

    def f(x: float) -> Any:
        namespace["a"] = x
        return namespace.a * x

    refused(f, UnsupportedError, "its __dict__ is itself")

    class Weights(list):  # type: ignore[type-arg]
        scale = 1.0

    weights = Weights([2.0])
    weights.scale = 3.0
    gradient = adbc.grad(lambda w: w.scale * w[0])(weights)
    assert gradient[0] == 3.0 and gradient.scale == 2.0


def test_30_two_objects_with_one_dictionary() -> None:
    shared: dict[str, Any] = {"v": 1.0}

    class Shared:
        def __init__(self) -> None:
            self.__dict__ = shared

    a, b = Shared(), Shared()

    def f(x: float) -> Any:
        a.v = x  # type: ignore[attr-defined]
        return b.v * x  # type: ignore[attr-defined]

    right(f, 2 * X)


def test_31_identity_and_type_see_the_true_value() -> None:
    def f(x: float) -> float:
        y = x
        a = [x]
        assert type(x) is float and isinstance(x, float) and y is x and a[0] is x
        return x * x

    right(f, 2 * X)


def test_32_in_place_operators() -> None:
    def f(x: float) -> Any:
        a = np.array([x])
        b = a
        a += x
        p = [x]
        q = p
        p += [x]
        s = x
        t = s
        s += 1.0
        u: tuple[float, ...] = (x,)
        w = u
        u += (x,)
        return b[0] * len(q) * t * len(w)

    right(f, 8 * X)


# -- 33, 34, 35: identity, memory, zeros -----------------------------------------------------------


def test_33_addresses_are_used_again() -> None:
    class Box:
        v: float

    def f(x: float) -> float:
        total = 0.0
        for i in range(500):
            box = Box()
            box.v = x * i
            y = [box.v]
            total += y[0]
            del box, y
            if i % 100 == 0:
                gc.collect()
        return total

    right(f, float(sum(range(500))))


def test_33_two_variables_may_be_one_float() -> None:
    def f(x: float, y: float) -> float:
        return x * x * y

    assert adbc.grad(f, argnums=(0, 1))(X, X) == pytest.approx((2 * X * X, X * X))


def test_34_out_where_at_and_repeated_indices() -> None:
    def f(x: float) -> Any:
        a = np.array([x, -x, 2 * x])
        out = np.ones(3) * x
        np.multiply(a, a, out=out, where=a > 0)
        np.add(out, a, out=a)
        b = np.zeros(2)
        np.add.at(b, [0, 0, 1], a)
        b[[0, 0]] += x
        return b @ np.array([1.0, 3.0])

    # a = [x^2 + x, 0, 4x^2 + 2x]; b = [x^2 + 2x, 4x^2 + 2x]
    right(f, 2 * X + 2 + 3 * (8 * X + 2))


def test_34_empty_memory_and_masks() -> None:
    def f(x: float) -> Any:
        a = np.empty(2)
        a[...] = x
        a[1] = 1.0
        return a.sum()

    right(f, 1.0)
    right(lambda x: np.ma.array([x, 3 * x], mask=[0, 1]).sum() * 2.0, 2.0)


def test_35_what_is_singular_stays_so() -> None:
    assert math.isnan(adbc.grad(lambda x: (x * math.inf) ** 2 - (x * math.inf) ** 2)(1.0))
    assert adbc.grad(lambda x: math.sqrt(x) * 2.0)(0.0) == math.inf
    # a cotangent that is exactly zero stays zero: what np.where does not select does not count
    right(lambda x: np.where(np.array([x]) > 0, 3.0 * np.sqrt(np.array([x])), x)[0], 1.0, 0.0)


# -- 36 to 40 --------------------------------------------------------------------------------------


def test_36_a_wrong_rule_is_found() -> None:
    from adbc.rules.declare import scalar_rule

    def logistic(x: float) -> float:
        return 1.0 / (1.0 + math.exp(-x))

    scalar_rule(logistic)(lambda out, x: 0.25 + 0.0 * x)  # right at zero only
    with pytest.raises(AssertionError):
        check_rule(logistic, X)


class Point(NamedTuple):
    a: float
    b: float = 2.0


@dataclasses.dataclass(frozen=True)
class Frozen:
    a: float
    items: list[float] = dataclasses.field(default_factory=list)


def test_37_gradients_are_plain_containers() -> None:
    gradient = adbc.grad(lambda t: t["a"][0] * t["b"][1].sum())({"a": (2.0, 1), "b": [1.0, np.ones(2)]})
    assert type(gradient) is dict and type(gradient["a"]) is tuple and type(gradient["b"]) is list
    assert gradient["a"][0] == 2.0 and gradient["b"][1].tolist() == [2.0, 2.0]


def test_37_every_field_of_a_record_counts() -> None:
    def f(x: float) -> float:
        p = Point(x, x)
        q = Frozen(x)
        q.items.append(x)
        return p.a * p.b * q.a * q.items[0] * Point(x).b

    right(f, 8 * X**3)
    gradient = adbc.grad(lambda p: p.a * p.b * p.b)(Point(2.0, 3.0))
    assert (gradient.a, gradient.b) == (9.0, 12.0)


def test_38_values_hidden_in_functions_and_classes() -> None:
    def f(x: float) -> float:
        inner: list[float] = []
        p = functools.partial(lambda b, y: b[0] * y, inner)
        inner.append(x)
        return p(x)

    right(f, 2 * X)
    right(lambda x: type("C", (), {"x": x}).x, 1.0)
    right(lambda x: eval("x"), 1.0)


def test_38_values_hidden_in_objects_made_in_c() -> None:
    def proxy(x: float) -> Any:
        d: dict[str, float] = {}
        view = types.MappingProxyType(d)
        d["a"] = x
        return view["a"] * x

    def weak(x: float) -> Any:
        box = Holder()
        view = weakref.proxy(box)
        box.v = x  # type: ignore[attr-defined]
        return view.v * x

    def context(x: float) -> Any:
        variable: Any = contextvars.ContextVar("variable")
        inner: list[float] = []
        variable.set(inner)
        inner.append(x)
        return variable.get()[0] * x

    right(proxy, 2 * X)
    refused(weak, MissingRuleError, "ProxyType")
    right(context, 2 * X)


def test_38_a_queue_and_a_getter_hand_back_what_they_were_given() -> None:
    def f(x: float) -> Any:
        q: Any = queue.SimpleQueue()
        inner: list[float] = []
        q.put(operator.itemgetter(0)([inner]))
        inner.append(x)
        return inner[0] * x

    right(f, 2 * X)


def test_39_with_and_generators() -> None:
    def stateful(x: float) -> Any:
        with np.errstate(all="ignore"):
            return x * x

    right(stateful, 2 * X)


def test_39_a_generator_is_closed_where_it_is_dropped() -> None:
    def terms(values: list[float], x: float) -> Any:
        try:
            yield values[0] * x
            yield x
        finally:
            values[0] *= x

    def left(x: float) -> Any:
        values = [1.0]
        for y in terms(values, x):
            values[0] += y
            break
        return values[0] + x  # (1 + x) x + x

    def stored(x: float) -> Any:
        values = [1.0]
        kept = [terms(values, x)]
        y = next(kept[0])
        kept.clear()
        return values[0] * y

    right(left, 2 * X + 2)
    refused(stored, UnsupportedError, "left suspended inside a try or with")


def test_40_what_cannot_be_lifted_is_refused() -> None:
    def coroutine(x: float) -> Any:
        async def g() -> float:
            return x

        return g()

    refused(coroutine, LiftError, "async|coroutine")
    right(lambda x: locals()["x"], 1.0)
    refused(lambda x: x * sys._getframe().f_locals["x"], UnsupportedError, "frame")


# -- the document ----------------------------------------------------------------------------------

TABLE = pathlib.Path(__file__).parent.parent / "docs" / "silent-wrongness.md"


def test_the_document_names_these_tests() -> None:
    text = TABLE.read_text(encoding="utf-8")
    rows = re.findall(r"^\| (\d+) \| .* \| (right|refused|both) \| (.*) \|$", text, re.MULTILINE)
    first = [row for row in rows if "::" not in row[2]]
    assert [int(number) for number, _, _ in first] == list(range(1, 41))
    named = {name for _, _, names in first for name in re.findall(r"`(test_\w+)`", names)}
    here = {name for name in globals() if re.match(r"test_\d\d_", name)}
    assert named - {"test_threads"} == here
    for number, _, names in first:
        for name in re.findall(r"`test_(\d\d)_", names):
            assert int(name) == int(number)
    seen = [int(number) for number, _, names in rows if "::" in names]
    assert seen == sorted(set(seen)) and seen[0] == 41
    for number, _, names in rows[len(first) :]:
        tests = re.findall(r"`(tests/[\w/]+\.py)::(test_\w+)`", names)
        assert tests, f"line {number} names no test"
        for file, name in tests:
            source = (TABLE.parent.parent / file).read_text(encoding="utf-8")
            assert f"\ndef {name}(" in source, f"{file} has no {name}"
