"""What is refused says so in plain words, with the place and a way forward; the rest is not refused."""

from __future__ import annotations

import sys
import types
from typing import Any

import pytest

from adbc.errors import LiftError
from adbc.lift import lift

SOURCES = {
    "asynchronous code": "async def f(x):\n    await x",
    "asynchronous code ": "async def f(x):\n    yield x",
    "locals()": "def f(x):\n    return locals()",
    "locals() ": "def f(x):\n    return vars()",
    "eval or exec": "def f(x):\n    return eval('x')",
    "its own frame": "import sys\ndef f(x):\n    return sys._getframe()",
}


def made(source: str) -> types.FunctionType:
    space: dict[str, Any] = {"__name__": "example"}
    exec(compile(source, "example.py", "exec"), space)
    return space["f"]


@pytest.mark.parametrize("words", SOURCES)
def test_what_cannot_be_lifted_is_refused_with_words_and_line(words: str) -> None:
    with pytest.raises(LiftError) as caught:
        lift(made(SOURCES[words]))
    message = str(caught.value)
    assert words.strip() in message
    assert 'f (file "example.py", line ' in message
    assert "that cannot be differentiated. " in message


def test_line_is_that_of_the_construct() -> None:
    with pytest.raises(LiftError, match="line 3"):
        lift(made("def f(x):\n    y = x\n    return vars()"))


@pytest.mark.parametrize(
    "source",
    [
        "def f(x):\n    return x\n    with x:\n        pass",
        "def f(x):\n    if False:\n        yield_ = x\n    return [y for y in x if y]",
        "def locals():\n    return 1\ndef f(x):\n    return locals()",
        "def f(x):\n    return vars(x), dir(x), globals()",
        "class sys:\n    _getframe = 1\ndef f(x):\n    return sys._getframe",
        "def f(x):\n    def g():\n        yield x\n    return list(g())",
        "def f(x):\n    match x:\n        case 1 | 2:\n            return 3",
        "def f(x):\n    return [[z for z in y] for y in x] + [lambda: w for w in x]",
    ],
)
def test_what_only_looks_like_it_is_lifted(source: str) -> None:
    assert lift(made(source)).name == "f"


def test_code_without_a_function_is_refused() -> None:
    code = compile("x = 1\nclass A:\n    y = 2", "example.py", "exec")
    with pytest.raises(LiftError, match="code of a module"):
        lift(code)
    with pytest.raises(LiftError, match="body of a class"):
        lift(next(c for c in code.co_consts if isinstance(c, types.CodeType)))


@pytest.mark.parametrize("value", [len, int, 3, sys])
def test_what_has_no_bytecode_is_refused(value: Any) -> None:
    with pytest.raises(LiftError, match="no bytecode"):
        lift(value)


def test_methods_and_code_objects_are_lifted() -> None:
    class A:
        def method(self, x: int) -> int:
            return x

    assert lift(A().method).qualname.endswith("A.method")
    assert [a.name for a in lift(A.method.__code__).arguments] == ["self", "x"]
