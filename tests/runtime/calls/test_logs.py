"""Lines of a log: they go out as in a plain call, and cost next to nothing where nobody keeps them."""

import contextlib
import io
import logging
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import adbc
from adbc.errors import AdbcError
from adbc.runtime.calls.logs import is_quiet
from benchmarks.instructions import executed

LOG = logging.getLogger("tests.logs")
STREAM = io.StringIO()
KEPT: list[Any] = []


class Keeping(logging.Handler):
    def emit(self, record):
        KEPT.append(record.args)


@contextlib.contextmanager
def logger() -> Iterator[logging.Logger]:
    """A logger with one handler, which writes to `STREAM`, without those that pytest adds to a test."""
    log = logging.getLogger("tests.logs")
    log.propagate = False
    log.setLevel("INFO")
    handler = logging.StreamHandler(STREAM)
    handler.setFormatter(logging.Formatter("%(funcName)s %(levelname)s %(message)s"))
    log.handlers[:] = [handler]
    STREAM.seek(0)
    STREAM.truncate()
    KEPT.clear()
    try:
        yield log
    finally:
        log.handlers.clear()


def says(x):
    logging.getLogger("tests.logs").info("x is %.2f after %d", x, 3)
    return x * x


def says_nothing(x):
    logging.getLogger("tests.logs").debug("x is %.2f", x)
    return x * x


def says_arrays(x):
    logging.getLogger("tests.logs").warning("v is %s of %r", x * np.ones(2), [x, ("a", x)])
    return x * x


def reads_back(x):
    logging.getLogger("tests.logs").info("%r", x)
    return x * float(STREAM.getvalue().split()[-1])


def reads_text_back(x):
    logging.getLogger("tests.logs").info(f"{x!r}")
    return x * float(STREAM.getvalue().split()[-1])


def reads_what_is_kept(x):
    logging.getLogger("tests.logs").info("%r", x)
    return x * KEPT[-1][0]


def forward(f: Callable[..., Any]) -> Any:
    return adbc.jvp(f, (1.5,), (1.0,))[1]


def reverse(f: Callable[..., Any]) -> Any:
    return adbc.grad(f)(1.5)


@pytest.mark.parametrize("derivative", [forward, reverse])
@pytest.mark.parametrize(
    ("f", "lines"),
    [
        (says, ["says INFO x is 1.50 after 3"]),
        (says_nothing, []),
        (says_arrays, ["says_arrays WARNING v is [1.5 1.5] of [1.5, ('a', 1.5)]"]),
    ],
)
def test_lines_come_from_the_function(derivative: Any, f: Any, lines: list[str]) -> None:
    with logger():
        assert derivative(f) == 3.0
        assert STREAM.getvalue().splitlines() == lines


@pytest.mark.parametrize("derivative", [forward, reverse])
@pytest.mark.parametrize("f", [reads_back, reads_text_back])
def test_no_number_is_read_from_a_line(derivative: Any, f: Any) -> None:
    with logger(), pytest.raises(AdbcError, match="holds text"):
        derivative(f)


@pytest.mark.parametrize("derivative", [forward, reverse])
def test_a_handler_that_keeps_something_is_followed(derivative: Any) -> None:
    with logger() as log:
        log.addHandler(Keeping())
        assert derivative(reads_what_is_kept) == 3.0


class Spoken:
    def __repr__(self):
        KEPT.append("asked")
        return "spoken"


def says_an_object(x):
    logging.getLogger("tests.logs").info("%r", Spoken())
    return x * x


class Loud(logging.Formatter):
    def format(self, record):
        KEPT.append("formatted")
        return super().format(record)


@pytest.mark.parametrize("f", [says, says_nothing])
def test_nothing_is_watched_where_nobody_can_tell(f: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with logger():

        def watched(*args: Any, **options: Any) -> Any:
            raise AssertionError("is watched")

        monkeypatch.setattr("adbc.runtime.calls.library_classes.watched", watched)
        assert reverse(f) == 3.0


@pytest.mark.parametrize("change", [
    "handler", "filter", "formatter", "stream", "factory", "instance", "class",
])  # fmt: skip
def test_code_of_the_users_is_seen(change: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with logger() as log:
        assert is_quiet("Logger.info", (log, "x", 1.0)) and is_quiet("Logger.debug", (log, Spoken()))
        assert not is_quiet("Logger.info", (log, "x", Spoken()))
        handler = log.handlers[0]
        if change == "handler":
            log.addHandler(Keeping())
        elif change == "filter":
            log.addFilter(lambda record: True)
        elif change == "formatter":
            handler.setFormatter(Loud())
        elif change == "stream":
            handler.setStream(type("Mine", (io.StringIO,), {})())
        elif change == "factory":
            monkeypatch.setattr(logging, "_logRecordFactory", type("Mine", (logging.LogRecord,), {}))
        elif change == "instance":
            log.handle = KEPT.append
        else:
            log.__class__ = type("Mine", (logging.Logger,), {})
        try:
            assert not is_quiet("Logger.info", (log, "x", 1.0))
        finally:
            log.filters.clear()
            vars(log).pop("handle", None)
            log.__class__ = logging.Logger


def test_a_text_of_the_users_is_asked_once() -> None:
    with logger():
        assert reverse(says_an_object) == 3.0
        assert KEPT == ["asked"]


def says_in_a_loop(x):
    total = 0.0
    for i in range(20):
        total += x * i
        LOG.debug("step %d", i)
        LOG.debug("total is %.3f", total)
    return total


def says_text_in_a_loop(x):
    total = 0.0
    for i in range(20):
        total += x * i
        LOG.debug(f"total is {total:.3f} after {i}")
    return total


def makes_text_in_a_loop(x):
    total = 0.0
    lines = []
    for i in range(20):
        total += x * i
        lines.append(f"total is {total:.3f}")
    return total * len(lines)


@pytest.mark.parametrize("f", [says_in_a_loop, says_text_in_a_loop, makes_text_in_a_loop])
def test_lines_that_go_nowhere_cost_little(f: Any) -> None:
    with logger():
        for derivative, slope in (
            (lambda: adbc.grad(f)(1.5), adbc.grad(f)(1.5)),
            (lambda: adbc.jvp(f, (1.5,), (1.0,)), adbc.jvp(f, (1.5,), (1.0,))[1]),
        ):
            assert slope == pytest.approx(f(2.5) - f(1.5))
            for _ in range(5):
                derivative()
            assert executed(derivative) < 40 * executed(lambda: f(1.5))


class Shown(logging.Logger):
    def isEnabledFor(self, level):
        return True


def test_a_level_that_is_asked_by_code_of_the_users_is_followed() -> None:
    with logger() as log:
        log.__class__ = Shown
        try:
            assert reverse(says_nothing) == 3.0
            assert STREAM.getvalue().splitlines() == ["says_nothing DEBUG x is 1.50"]
        finally:
            log.__class__ = logging.Logger


def asks_first(x):
    log, y = logging.getLogger("tests.logs"), x
    for _ in range(10):
        y = y * x
        if log.isEnabledFor(logging.DEBUG) or log.getEffectiveLevel() < 20 or not log.hasHandlers():
            log.debug("y is %s", y)
    return y


class Answering(logging.Logger):
    """It answers with a count, on which the value depends."""

    asked = 0

    def isEnabledFor(self, level):
        self.asked += 1
        return self.asked


def asks_another(x):
    log = Answering("another")
    log.level = x
    return x * log.isEnabledFor(10) * log.isEnabledFor(10) + log.getEffectiveLevel()


def test_questions_about_levels_cost_little():
    with logger():
        for _ in range(60):
            assert forward(asks_first) == reverse(asks_first) == pytest.approx(11 * 1.5**10)
        gradient = adbc.grad(asks_first)
        gradient(1.5)
        assert executed(lambda: gradient(1.5)) < 200 * executed(lambda: asks_first(1.5))


def test_a_logger_of_the_programs_may_answer_otherwise():
    for _ in range(3):
        assert forward(asks_another) == reverse(asks_another) == 3.0
