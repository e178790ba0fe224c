"""What cannot be followed is refused by a message with the construct, the place, and a remedy."""

from __future__ import annotations

import asyncio
import builtins
import collections
import enum
import inspect
import sys
import types
from collections.abc import Callable
from inspect import currentframe
from sys import _getframe as frame_of
from typing import Any

import pytest

import adbc
from adbc.config import SPECULATION
from adbc.errors import AdbcError, LiftError, MissingRuleError, UnsupportedError


def refused(f: Callable[..., Any], error: type[AdbcError], *words: object, arguments: Any = (1.5,)) -> None:
    """Both modes refuse `f` in these words."""
    tangents = tuple(1.0 if isinstance(a, float) else [1.0] * len(a) for a in arguments)
    for run in (lambda: adbc.grad(f)(*arguments), lambda: adbc.jvp(f, arguments, tangents)):
        with pytest.raises(error) as caught:
            run()
        missing = [word for word in words if str(word) not in str(caught.value)]
        assert not missing, f"the message lacks {missing}: {caught.value}"


def place(f: Callable[..., Any], text: str) -> tuple[str, str, str]:
    """Function, file and line, and columns of `text` in the source of `f`, as messages name them."""
    lines, first = inspect.getsourcelines(f)
    at = next(i for i, line in enumerate(lines) if text in line and i)
    column = lines[at].index(text)
    return f.__qualname__, f'{__file__}", line {first + at}', f"columns {column + 1} to {column + len(text)}"


def with_locals_of_builtins(x):
    y = x * 2.0
    return builtins.locals()["y"]


def with_getframe(x):
    y = x * 2.0
    return sys._getframe().f_locals["y"]


def with_getframe_by_name(x):
    y = x * 2.0
    return frame_of().f_locals["y"]


def with_currentframe(x):
    y = x * 2.0
    return inspect.currentframe().f_locals["y"]


def with_currentframe_by_name(x):
    y = x * 2.0
    return currentframe().f_locals["y"]


def with_stack(x):
    return x * len(inspect.stack())


def with_settrace(x):
    sys.settrace(None)
    return x * 2.0


def with_setprofile(x):
    sys.setprofile(None)
    return x * 2.0


@pytest.mark.parametrize(
    ("f", "text", "words"),
    [
        (with_getframe, "sys._getframe", ["sys._getframe", "as arguments"]),
        (with_getframe_by_name, "frame_of", ["sys._getframe", "as arguments"]),
        (with_currentframe, "inspect.currentframe", ["inspect.currentframe", "as arguments"]),
        (with_currentframe_by_name, "currentframe", ["inspect.currentframe", "as arguments"]),
        (with_stack, "inspect.stack", ["inspect.stack", "as arguments"]),
        (with_settrace, "sys.settrace", ["sys.settrace", "without differentiating"]),
        (with_setprofile, "sys.setprofile", ["sys.setprofile", "without differentiating"]),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_a_look_at_the_frame(f: Callable[..., Any], text: str, words: list[str]) -> None:
    name, line, _ = place(f, text)
    refused(f, UnsupportedError, *words, name, line.replace('", line ', ":"))


@pytest.mark.parametrize(
    ("look", "argument"),
    [
        *((look, ()) for look in (locals, vars, dir)),
        *((look, (None,)) for look in (sys.settrace, sys.setprofile)),
    ],
)
def test_a_look_at_the_frame_under_another_name(look: Any, argument: tuple[Any, ...]) -> None:
    def looks(x):
        y = x * 2.0
        found = look(*argument)
        return y if found else x

    refused(looks, UnsupportedError, look.__name__, "looks", __file__, "as arguments")


names, variables, own = dir, vars, locals


def with_names(x):
    y = x * 2.0
    return y if names() else x


def with_names_spread(x):
    y = x * 2.0
    return y if names(*()) else x


def with_variables(x):
    y = x * 2.0
    return y if variables() else x


def with_own(x):
    y = x * 2.0
    return y if own(*()) else x


@pytest.mark.parametrize("speculation", SPECULATION)
@pytest.mark.parametrize("f", [with_names, with_names_spread, with_variables, with_own])
def test_a_look_at_the_frame_under_a_global_name(f: Callable[..., Any], speculation: str) -> None:
    with adbc.use(adbc.Config(speculation=speculation, warm_after=0)):
        refused(f, UnsupportedError, f.__name__, __file__)


def test_locals_of_builtins() -> None:
    refused(with_locals_of_builtins, UnsupportedError, "locals", "with_locals_of_builtins", __file__)


async def awaited(x):
    return x * 2.0


async def awaits(x):
    return await awaited(x)


async def async_for(x):
    total = x
    async for y in several(x):
        total += y
    return total


async def async_with(x, manager=None):
    async with manager as y:
        return x * y


async def several(x):
    yield x


@types.coroutine
def old_coroutine(x):
    yield x


@pytest.mark.parametrize("f", [awaited, awaits, async_for, async_with, several, old_coroutine])
def test_asynchronous_functions(f: Callable[..., Any]) -> None:
    line = inspect.getsourcelines(f)[1]
    words = "asynchronous", "synchronous functions"
    refused(f, LiftError, f.__qualname__, f'{__file__}", line {line}', *words)


def test_asynchronous_functions_that_are_called() -> None:
    def runs(x):
        return asyncio.run(awaits(x))

    def drives(x):
        coroutine = awaits(x)
        try:
            coroutine.send(None)
        except StopIteration as stop:
            return stop.value

    async def comprehends(x):
        return [y async for y in several(x)]

    def drives_a_comprehension(x):
        return comprehends(x).send(None)

    for f in (runs, drives):
        refused(f, LiftError, "awaits", __file__, "asynchronous")
    refused(drives_a_comprehension, LiftError, "comprehends", "asynchronous")


def test_a_metaclass_that_sees_every_look_at_its_classes() -> None:
    class Meta(type):
        def __getattribute__(cls, name):
            return super().__getattribute__(name)

    def f(x):
        class C(metaclass=Meta):
            scale = x * 2.0

        return C.scale

    refused(f, UnsupportedError, "metaclass 'Meta'", "__getattribute__", "property")


def test_an_enumeration_of_active_values() -> None:
    def f(x):
        class E(enum.Enum):
            A = x

        return E.A.value

    refused(f, UnsupportedError, "attribute 'A' of class 'E'", "EnumType", "on the instances")


def test_an_attribute_of_a_class_that_outlives_the_call() -> None:
    def f(x):
        Field.scale = x
        return Field.scale

    refused(f, UnsupportedError, "attribute 'scale'", "global state")


class Field:
    def __init__(self, u, x):
        self.u, self.x = u, x

    def __lt__(self, other):
        self.u[0] *= self.x
        return True

    def __repr__(self):
        self.u[0] *= self.x
        return "field"


def changing_comparison(x, u):
    return sorted([Field(u, x), Field(u, x)])[0].u[0]


def changing_text(x, u):
    text = "%(k)r" % {"k": Field(u, x)}
    return u[0] * len(text)


def changing_text_deep_inside(x, u):
    text = "{}".format([{"k": (Field(u, x),)}])
    return u[0] * len(text)


def changing_enumeration(x, u):
    class C(enum.Enum):
        A = 1

        def __init__(self, value):
            u[0] *= x

    return u[0]


@pytest.mark.parametrize(
    "f",
    [
        changing_text,
        changing_text_deep_inside,
        changing_enumeration,
    ],
)
def test_python_code_run_by_the_interpreter_that_changes_active_state(f: Callable[..., Any]) -> None:
    words = "changes a list that has a derivative", "called plainly"
    refused(f, UnsupportedError, *words, arguments=(1.5, [2.0]))


def test_a_comparison_that_changes_active_state_is_followed() -> None:
    def f(x):
        return changing_comparison(x, [2.0])

    value, slope = f(1.5), (f(1.5 + 1e-6) - f(1.5 - 1e-6)) / 2e-6
    assert adbc.value_and_grad(f)(1.5) == pytest.approx((value, slope), rel=1e-6)
    assert adbc.jvp(f, (1.5,), (1.0,)) == pytest.approx((value, slope), rel=1e-6)


def test_classes_made_by_the_library_inside_the_function() -> None:
    def f(x):
        Pair = collections.namedtuple("Pair", "left right")
        p = Pair(x, x * x)
        return p.left * p.right

    assert adbc.grad(f)(2.0) == pytest.approx(12.0)
    assert adbc.jvp(f, (2.0,), (1.0,)) == (8.0, pytest.approx(12.0))


def test_an_exception_from_c_that_carries_an_active_number() -> None:
    def f(x):
        try:
            return {}[x * 2.0]
        except KeyError as error:
            return error.args[0]

    refused(f, UnsupportedError, "'args'", "is not known")


def test_an_exception_class_in_c_that_keeps_something_else() -> None:
    def f(x):
        try:
            raise OSError(1, x, "name")
        except OSError as error:
            return error.args[1]

    refused(f, UnsupportedError, "PermissionError", "does not keep them", "a field")


def test_refusals_are_not_caught() -> None:
    def f(x):
        try:
            return sys.intern(x)
        except Exception:
            return x

    refused(f, MissingRuleError, "intern")


class WritingHash:
    def __init__(self, u, x):
        self.u, self.x = u, x

    def __hash__(self):
        self.u[0] *= self.x
        return 1

    def __eq__(self, other):
        return True


class CountingHash(WritingHash):
    count = 0

    def __hash__(self):
        global HASHED
        HASHED += 1
        return 1


HASHED = 0


def test_a_hash_that_changes_something() -> None:
    def f(x, u):
        return {WritingHash(u, x): 2.0}[WritingHash(u, x)] * u[0]

    words = "looks for a key", "changes a list that has a derivative", "the change in a function"
    refused(f, UnsupportedError, *words, arguments=(1.5, [2.0]))

    def g(x, u):
        return {CountingHash(u, x): x}[CountingHash(u, x)] * HASHED

    words = "__hash__ of class CountingHash", "as often as they like", "without changing anything"
    refused(g, UnsupportedError, *words, arguments=(1.5, [2.0]))


def test_a_class_whose_hash_changes_something_may_be_used() -> None:
    def f(x, u):
        return CountingHash(u, x).x * WritingHash(u, x).u[0]

    assert adbc.grad(f)(1.5, [2.0]) == 2.0


def scaled_by(k=2.0):
    return k


def with_other_code(x):
    def f(a):
        return a

    f.__code__ = (lambda a: 3.0 * a).__code__
    return f(x)


def with_other_defaults(x):
    scaled_by.__defaults__ = (3.0,)
    return scaled_by() * x


@pytest.mark.parametrize("f", [with_other_code, with_other_defaults])
def test_what_a_function_does_is_not_replaced(f: Any) -> None:
    refused(f, UnsupportedError, "replaced", "Make another function", f.__qualname__)
    assert scaled_by() == 2.0
