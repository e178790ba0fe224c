"""Functions and methods in C that are called with too few or too many arguments raise as in a plain run."""

from __future__ import annotations

import builtins
import collections
import functools
import itertools
import math
import operator
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import adbc
from adbc.cpython import arity
from adbc.errors import UnsupportedError
from adbc.runtime import default_engine
from tests.properties.checks import fresh_engine

OBJECTS: dict[str, Callable[[Any], Any]] = {
    "list": lambda x: [x],
    "dict": lambda x: {"a": x},
    "tuple": lambda x: (x,),
    "str": lambda x: "abc",
    "float": lambda x: x,
    "complex": lambda x: x * 1j,
    "deque": lambda x: collections.deque([x]),
    "OrderedDict": lambda x: collections.OrderedDict(a=x),
    "array": lambda x: x * np.ones(2),
}
NEVER = {"breakpoint", "exec", "eval", "help", "input", "open", "print", "vars", "locals", "globals", "dir"}
UNTOLD = {"anext", "bytearray", "bytes", "memoryview", "type", "log", "gcd", "lcm", "resize", "GenericAlias"}
"""Functions that nothing tells the arguments of: where one has a derivative, they are refused."""
NUMPY = (
    "array arange zeros ones linspace concatenate stack where dot exp add sum mean clip sort cumsum outer"
    " diff interp reshape take maximum arctan2 imag real"
)


def functions() -> Iterator[tuple[str, Any]]:
    for module in (builtins, math, operator, itertools, functools):
        for name, f in sorted(vars(module).items()):
            is_in_c = isinstance(f, types.BuiltinFunctionType)
            if is_in_c and not name.startswith("_") and name not in NEVER:
                yield name, f
    for name in NUMPY.split():
        yield f"np.{name}", getattr(np, name)


def methods() -> Iterator[tuple[str, str]]:
    for kind, make in OBJECTS.items():
        for name in dir(make(1.5)):
            if not name.startswith("_") and name not in (
                "mT",
                "dump",
                "dumps",
                "tofile",
                "ctypes",
                "maketrans",
            ):
                yield kind, name


def raised(call: Callable[[], Any]) -> type | None:
    try:
        call()
    except Exception as error:
        return type(error)
    return None


def check(f: Callable[[Any], Any], label: str) -> None:
    """The exception of `f` is the same plainly, and in both modes."""
    plainly = raised(lambda: f(1.5))
    if plainly is not None:
        assert raised(lambda: adbc.jvp(f, (1.5,), (1.0,))) is plainly, label
        assert raised(lambda: adbc.grad(f)(1.5)) is plainly, label


def called(f: Any, count: int, is_active: bool) -> Callable[[Any], Any]:
    def program(x: Any) -> Any:
        f(*[x if is_active else 1] * count)
        return 2.0 * x

    return program


def test_functions() -> None:
    for name, f in functions():
        check(called(f, 0, False), f"{name}()")
        check(called(f, 9, False), f"{name} of nine")
        if name not in UNTOLD:
            check(called(f, 9, True), f"{name} of nine with derivatives")


def test_methods() -> None:
    for kind, name in methods():
        make = OBJECTS[kind]
        if not callable(getattr(make(1.5), name)):
            continue
        for count in (0, 9, -9):
            if count == -9 and name in UNTOLD:
                continue

            def program(x: Any, make: Any = make, name: str = name, count: int = count) -> Any:
                getattr(make(x), name)(*[x if count < 0 else 1] * abs(count))
                return 2.0 * x

            check(program, f"{kind}.{name} of {count}")


SOURCES = [
    "len()", "next()", "getattr(x)", "sum()", "abs(x, x)", "round()", "np.array()", "np.concatenate()",
    "{}.get(1, 2, 3)", "{}.clear(1)", "[].append()", "[x].insert(0)", "[x].extend()", "[x].pop(0, 1)",
    "{}.setdefault()", "{}.pop()", "isinstance(x)", "np.exp()", "np.sum()", "min(1, 2, default=x)",
    "[x, 2].__getitem__()", "[x].__setitem__(0)", "sorted()", "x.__add__()", "(x,).index()", "enumerate()",
    "[x].sort(1)", "divmod(x)", "iter()",
]  # fmt: skip


@pytest.mark.parametrize("source", SOURCES)
def test_where_code_is_written(source: str) -> None:
    namespace: dict[str, Any] = {"np": np}
    exec(
        f"def f(x):\n    try:\n        {source}\n    except TypeError:\n        return 2.0 * x\n    return x",
        namespace,
    )
    f = namespace["f"]
    for _ in range(4):
        assert adbc.jvp(f, (1.5,), (1.0,)) == (3.0, 2.0)
        assert adbc.value_and_grad(f)(1.5) == (3.0, 2.0)


STAND_INS = {
    "map": lambda x: map(abs, [x]),
    "filter": lambda x: filter(None, [x]),
    "itertools.chain": lambda x: itertools.chain([x]),
    "functools.partial": lambda x: functools.partial(max, x),
}


@pytest.mark.parametrize("name", STAND_INS)
def test_messages_name_the_class_in_c(name: str) -> None:
    def f(x: Any) -> Any:
        return STAND_INS[name](x).foo

    for call in (f, adbc.grad(f), lambda x: adbc.jvp(f, (x,), (1.0,))):
        with pytest.raises(AttributeError, match=f"'{name}' object has no attribute 'foo'"):
            call(1.5)


def test_a_signature_that_is_not_true_is_refused_where_something_has_a_derivative(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It is called once, and its derivative is not lost."""
    monkeypatch.setitem(arity._known, list.append, (3, 3))
    decided = default_engine().table.decided  # it outlives an engine, for C functions take what they take
    monkeypatch.delitem(decided, (list.append, (list, float)), raising=False)

    def program(x: float) -> float:
        values = [x]
        values.append(x * x)
        return values[0] * values[1]

    with fresh_engine(), pytest.raises(UnsupportedError, match="takes another number of them"):
        adbc.jvp(program, (1.3,), (1.0,))
