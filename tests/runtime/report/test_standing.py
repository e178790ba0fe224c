"""What looks at the frames that it is called from sees the user's: warnings, records of logging, classes."""

from __future__ import annotations

import collections
import enum
import logging
import math
import re
import sys
import typing
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import adbc
from adbc.config import SPECULATION

X = 0.75
MODES: dict[str, Callable[[Any], Any]] = {
    "grad": lambda f: adbc.grad(f)(X),
    "jvp": lambda f: adbc.jvp(f, (X,), (1.0,)),
    "vjp": lambda f: adbc.vjp(f, X)[1](1.0),
}


@pytest.fixture(params=SPECULATION)
def speculation(request: pytest.FixtureRequest) -> Iterator[str]:
    with adbc.use(adbc.Config(speculation=request.param)):
        yield request.param


def said(run: Callable[[], Any]) -> list[tuple[Any, ...]]:
    """The warnings that `run` gives: text, class, file and line."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        run()
    return [(str(w.message), w.category, w.filename, w.lineno) for w in found]


def warn_about_caller(n: Any, level: int = 2) -> Any:
    warnings.warn("the caller", DeprecationWarning, stacklevel=level)
    return n


def warns_here(x: float) -> float:
    warnings.warn("here", stacklevel=1)
    y = x * x
    warnings.warn(RuntimeWarning("here, as an instance"))  # noqa: B028  # the default is tested
    return y


def warns_of_caller(x: float) -> float:
    warn_about_caller(3)
    return x * warn_about_caller(x)


def warns_of_callers_caller(x: float) -> float:
    def inner(y: float) -> float:
        return warn_about_caller(y, level=3) * y

    return inner(x)


def warns_in_a_method(x: float) -> float:
    class Model:
        @property
        def rate(self) -> float:
            return warn_about_caller(2.0)

        def __mul__(self, other: float) -> float:
            return warn_about_caller(other) * self.rate

    return Model() * x


def warns_in_a_loop(x: float) -> float:
    for i in range(3):
        if i:
            warn_about_caller(i)
        x = x * 1.5
    return x


def warns_in_a_handler(x: float) -> float:
    try:
        return x * {}["missing"]
    except KeyError:
        warnings.warn("missing", stacklevel=1)
        return x


def warns_in_a_generator(x: float) -> float:
    def powers() -> Iterator[float]:
        yield x
        warnings.warn("going on", stacklevel=1)
        yield warn_about_caller(x * x)

    return sum(powers())


def warns_in_a_callback(x: float) -> float:
    return x * sorted([3, 1, 2], key=warn_about_caller)[0]


WARNING = [
    warns_here, warns_of_caller, warns_of_callers_caller, warns_in_a_method, warns_in_a_loop,
    warns_in_a_handler, warns_in_a_generator, warns_in_a_callback,
]  # fmt: skip


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("function", WARNING, ids=lambda f: f.__name__)
def test_warnings_are_about_the_line_that_they_are_about_in_a_plain_call(
    function: Any, mode: str, speculation: str
) -> None:
    assert said(lambda: MODES[mode](function)) == said(lambda: function(X))


@pytest.mark.parametrize("mode", MODES)
def test_filters_by_module_and_once_per_line(mode: str) -> None:
    def twice(x: float) -> float:
        for _ in range(2):
            warnings.warn("twice", stacklevel=1)
        return x

    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("ignore")
        warnings.filterwarnings("default", module=__name__.replace(".", r"\."))
        MODES[mode](twice)
    assert [w.filename for w in found] == [__file__]


@pytest.mark.parametrize("mode", MODES)
def test_a_warning_that_is_an_error_can_be_handled(mode: str) -> None:
    def handled(x: float) -> float:
        try:
            warnings.warn("an error", stacklevel=1)
        except UserWarning:
            return 3.0 * x
        return x

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        answer = MODES[mode](handled)
    assert answer in (3.0, (3.0,), (3.0 * X, 3.0))


def test_a_warning_that_holds_a_value_with_a_derivative_is_refused() -> None:
    class Close(UserWarning):
        pass

    def kept(x: float) -> Any:
        with warnings.catch_warnings(record=True) as found:
            warnings.warn(Close(x), stacklevel=1)
        return found[0].message.args[0]  # type: ignore[union-attr]

    with pytest.raises(adbc.AdbcError):
        adbc.grad(kept)(X)


# -- logging -----------------------------------------------------------------------------------------------


class Places(logging.Handler):
    """Keeps where records come from."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[Any, ...]] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.found.append((record.funcName, record.lineno, record.pathname, record.levelname))


LOGGER = logging.getLogger("tests.standing")


def logged(run: Callable[[], Any]) -> list[tuple[Any, ...]]:
    handler = Places()
    LOGGER.addHandler(handler)
    LOGGER.setLevel(logging.INFO)
    LOGGER.propagate = False
    try:
        run()
    finally:
        LOGGER.removeHandler(handler)
    return handler.found


def report(text: str) -> None:
    LOGGER.info(text, stacklevel=2)


def logs(x: float) -> float:
    LOGGER.info("starting")
    y = x * x
    LOGGER.warning("at %s", "a place")
    report("squared")
    return y


@pytest.mark.parametrize("mode", MODES)
def test_records_come_from_the_function_that_they_come_from_in_a_plain_call(
    mode: str, speculation: str
) -> None:
    expected = logged(lambda: logs(X))
    assert [name for name, *_ in expected] == ["logs"] * 3
    assert logged(lambda: MODES[mode](logs)) == expected


# -- others ------------------------------------------------------------------------------------------------


def note_caller(found: re.Match[str]) -> str:
    frame = sys._getframe(1)
    CALLERS.append((frame.f_code.co_name, frame.f_lineno))
    return found[0]


CALLERS: list[tuple[str, int]] = []
LETTER = re.compile("[a-z]")


def calls_back(x: float) -> float:
    return x * len(LETTER.sub(note_caller, "ab"))


@pytest.mark.parametrize("mode", MODES)
def test_what_c_code_calls_back_sees_the_line_that_called_the_c_function(mode: str) -> None:
    CALLERS.clear()
    calls_back(X)
    expected = list(CALLERS)
    CALLERS.clear()
    MODES[mode](calls_back)
    assert expected
    assert expected == CALLERS


@pytest.mark.parametrize("mode", MODES)
def test_a_named_tuple_is_of_the_module_that_makes_it(mode: str) -> None:
    made = []

    def makes(x: float) -> float:
        cls = collections.namedtuple("cls", "a b")  # the factory is what is tested
        made.append(cls.__module__)
        return x

    adbc.jvp(makes, (X,), (1.0,))
    assert made == [__name__]


def of_type(x: float) -> Any:
    return type("Made", (), {"weight": x})


def of_type_of_a_base_with_a_hook(x: float) -> Any:
    class Base:
        def __init_subclass__(cls) -> None:
            cls.weight = x  # type: ignore[attr-defined]

    return type("Made", (Base,), {})


def of_enums(x: float) -> Any:
    return enum.Enum("Made", "a b") if x > 0.0 else None  # type: ignore[misc]  # which is to be one name


def of_type_variables(x: float) -> Any:
    return typing.TypeVar("Made")  # type: ignore[misc]  # that is to be assigned


MAKING = [of_type, of_type_of_a_base_with_a_hook, of_enums]
if sys.version_info < (3, 12):  # later C code makes them, which is not asked to look at the user's frames
    MAKING.append(of_type_variables)


@pytest.mark.parametrize("make", MAKING)
@pytest.mark.parametrize("mode", MODES)
def test_what_is_made_is_of_the_module_that_makes_it(make: Callable[[float], Any], mode: str) -> None:
    modules = []

    def makes(x: float) -> float:
        modules.append(make(x).__module__)
        modules.append(make(x).__module__)
        return x

    makes(X)
    MODES[mode](makes)
    adbc.jvp(makes, (X,), (1.0,))
    assert set(modules) == {__name__}


# -- NumPy -------------------------------------------------------------------------------------------------


def root(v: Any) -> Any:
    return np.sqrt(v).sum()


def logarithm(v: Any) -> Any:
    return (np.log(v) * 2.0).sum()


def quiet_inside(v: Any) -> Any:
    with np.errstate(divide="ignore"):
        return (np.log(v) * 2.0).sum()


@pytest.mark.parametrize("times", [1, 3])  # the first call, and those that take a short way
def test_a_derivative_that_is_infinite_is_no_reason_to_warn(times: int, speculation: str) -> None:
    v = np.array([0.0, 4.0])
    with warnings.catch_warnings(), np.errstate(all="raise"):
        warnings.simplefilter("error")
        for _ in range(times):
            assert adbc.grad(root)(v).tolist() == [math.inf, 0.25]
            assert adbc.vjp(root, v)[1](1.0)[0].tolist() == [math.inf, 0.25]


@pytest.mark.parametrize("mode", ["grad", "vjp"])
def test_what_the_function_itself_warns_of_is_said_once_and_about_its_line(mode: str) -> None:
    v = np.array([0.0, 4.0])
    runs = {"grad": lambda: adbc.grad(logarithm)(v), "vjp": lambda: adbc.vjp(logarithm, v)[1](1.0)}
    with np.errstate(divide="warn"):
        expected = said(lambda: logarithm(v))
        assert len(expected) == 1
        for _ in range(3):
            assert said(runs[mode]) == expected
        assert said(lambda: adbc.grad(quiet_inside)(v)) == []
    with np.errstate(divide="raise"), pytest.raises(FloatingPointError):
        adbc.grad(logarithm)(v)
