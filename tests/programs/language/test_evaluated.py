"""``eval``, ``exec`` and ``locals()``: code as text, and variables as a dict."""

from __future__ import annotations

import builtins
import sys
from typing import Any

import numpy as np
import pytest

import adbc
from adbc.errors import UnsupportedError
from adbc.testing import test_rule as check_rule

MODEL = compile("a * t ** 2 + b", "<model>", "eval")
STEPS = compile("y = x * 3\nz = y ** 2\n", "<steps>", "exec")
WEIGHTS = np.array([0.5, 2.0])


# -- locals() ----------------------------------------------------------------------------------------------


def reads_locals(x):
    y = 2 * x
    found = locals()
    return found["y"] * found["x"]


def reads_cells(x):
    z = 3.0

    def inner():
        return z * x

    return inner() * len(locals()) + vars()["z"] * locals()["x"]


def reads_what_is_bound(x):
    if x > 10:
        absent = 3.0
    names = [name for name in ("x", "absent") if name in locals()]
    del names
    return x * len(dir())


def formats_locals(x):
    n = 3
    return x * int("{n}".format(**locals()))


def passes_locals_on(x, rate=0.5):
    return call_with(x=x, **{k: v for k, v in locals().items() if k != "x"})


def call_with(x, rate):
    return x * rate + rate


def locals_in_a_loop(x):
    total = 0.0
    for i in range(3):
        total += locals()["x"] * i
    return total


# -- eval --------------------------------------------------------------------------------------------------


def of_variables(x):
    y = 2.0
    return eval("x * y + 1")


def of_a_namespace(x):
    return eval("x * x + k", {"x": x, "k": 2.0})


def of_compiled_code(x):
    return sum(eval(MODEL, {"a": x, "b": 2.0, "t": float(i)}) for i in range(4))


def of_two_namespaces(x):
    return eval("sin(t) * k", {"sin": np.sin, "k": 3.0}, {"t": x})


def without_builtins(x):
    try:
        return eval("abs(x)", {"__builtins__": {}}, {"x": x})
    except NameError:
        return eval("x ** 3", {"__builtins__": {}}, {"x": x})


def with_a_generator(x):
    values = [x, 2.0]
    return eval("sum(v * x for v in values if v > 0)", {"x": x, "values": values})


def with_a_lambda(x):
    f = eval("lambda t: t * x", {"x": x})
    return f(x)


def with_an_error(x):
    try:
        return eval("x +", {"x": x})
    except SyntaxError:
        return x * 3


def by_its_module(x):
    return builtins.eval("x * 2", {"x": x})


# -- exec --------------------------------------------------------------------------------------------------


def executes(x):
    space = {"x": x}
    exec(STEPS, space)
    space.pop("__builtins__")
    return space["z"] * len(space)


def executes_in_the_function(x):
    y = [1.0]
    exec("y.append(x * x); y = 3")
    return y[1]


def makes_functions(x):
    space: dict[str, Any] = {"n": 2}
    exec("from math import sin\ndef g(t):\n    return sin(t) * n", space)
    return space["g"](x)


def makes_classes(x):
    space: dict[str, Any] = {}
    exec("class A:\n  def __init__(self, v): self.v = v\n  def get(self): return self.v ** 2", space)
    return space["A"](x).get()


def reads_arrays(x):
    space: dict[str, Any] = {"a": np.array([x, 2.0])}
    exec("def g(t):\n    return (a * t).sum()\na[1] *= 3.0", space)
    return space["g"](x)


def of_other_locals(x):
    space: dict[str, Any] = {"a": x, "b": 2.0 * x}
    found: dict[str, Any] = {"b": 3.0}
    exec("c = a * b\na = c * x2\ndel b\nd = b", {**space, "x2": x}, found)
    return found["c"] * found["a"] * found["d"] + eval("a * len([b])", space, {"b": x})


PROGRAMS = [
    of_other_locals,
    reads_locals, reads_cells, reads_what_is_bound, formats_locals, passes_locals_on, locals_in_a_loop,
    of_variables, of_a_namespace, of_compiled_code, of_two_namespaces, without_builtins, with_a_generator,
    with_a_lambda, with_an_error, by_its_module, executes, executes_in_the_function, makes_functions,
    makes_classes, reads_arrays,
]  # fmt: skip


@pytest.mark.parametrize("f", PROGRAMS)
@pytest.mark.parametrize("speculation", ["learn", "dynamic"])
def test_programs(f: Any, speculation: str) -> None:
    with adbc.use(adbc.Config(speculation=speculation)):
        check_rule(f, 1.5)


@pytest.mark.parametrize("text", ["global c\nc = a", "c = [a * k for k in b]", "c = eval('a', globals())"])
def test_code_that_needs_its_globals_as_they_are(text: str) -> None:
    def f(x: float) -> Any:
        space: dict[str, Any] = {"a": x, "b": [1.0]}
        exec(text, space, {})
        return x

    if text.startswith("c = [") and sys.version_info >= (3, 12):
        pytest.skip("a comprehension is no function there")
    with pytest.raises(adbc.errors.UnsupportedError, match="with globals that hold a value"):
        adbc.grad(f)(1.5)


def test_a_global_array_by_its_name() -> None:
    def f(w):
        return eval("WEIGHTS.sum()") * w.sum()

    assert adbc.grad(f)(WEIGHTS).tolist() == [5.0, 5.0]


def test_what_is_derived_for_text_is_kept() -> None:
    engine = adbc.api.default_engine()
    gradient = adbc.grad(of_a_namespace)
    for _ in range(4):
        gradient(1.5)
    before = engine.builds
    for x in (1.5, 2.5):
        assert gradient(x) == 2 * x
    assert engine.builds == before


def test_namespaces_are_as_before() -> None:
    space = {"x": 1.0}

    def f(x):
        space["x"] = x
        exec("y = 2 * x", space)
        return space["y"]

    value, pullback = adbc.vjp(f, 3.0)
    assert value == 6.0
    assert space["y"] == 6.0
    assert pullback(1.0) == (2.0,)
    assert space == {"x": 1.0}


def reads_a_number(x):
    space: dict[str, Any] = {"k": x}
    exec("def g(t):\n    return k * t", space)
    return space["g"](2.0)


def looks_on_one_side(x):
    if x < 0:
        return sys._getframe().f_locals["x"] * x
    return x * x


def test_a_number_that_a_function_reads_as_a_global() -> None:
    for run in (lambda: adbc.grad(reads_a_number)(2.0), lambda: adbc.jvp(reads_a_number, (2.0,), (1.0,))):
        with pytest.raises(UnsupportedError, match="reads 'k', a number with a derivative"):
            run()


def test_a_look_that_is_not_reached() -> None:
    check_rule(looks_on_one_side, 1.5)
    with pytest.raises(UnsupportedError, match="is looked up in the frame of"):
        adbc.grad(looks_on_one_side)(-1.5)


def test_without_a_namespace_under_another_name() -> None:
    look = eval
    for f in (lambda x: look("x * 2"), lambda x: x * len(builtins.locals())):
        with pytest.raises(UnsupportedError, match="looks at the frame that it is called from"):
            adbc.grad(f)(2.0)
