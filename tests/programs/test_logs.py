"""Functions that write to a log what they compute, under handlers of all kinds."""

from __future__ import annotations

import io
import logging

import pytest

import adbc
from adbc.errors import UnsupportedError

LOG = logging.getLogger(__name__)


class Keeping(logging.Handler):
    """Keeps what it is given, as a handler of a test or of a window does."""

    def __init__(self) -> None:
        super().__init__()
        self.records: list[logging.LogRecord] = []
        self.latest: object = None

    def emit(self, record: logging.LogRecord) -> None:
        self.records.append(record)
        self.latest = record.args[0] if isinstance(record.args, tuple) else None


class Said:
    """A value that says what it is."""

    def __init__(self, value: float) -> None:
        self.value = value

    def __str__(self) -> str:
        return f"about {self.value:.1f}"


ALONE = logging.Logger("alone")
"""A logger that pytest does not know, which has handlers of its own at all others."""
LINES = io.StringIO()
ALONE.addHandler(logging.StreamHandler(LINES))


def logged(x: float) -> float:
    y = x * x
    LOG.warning("y is %g", y)
    return y * x


def test_the_handlers_of_pytest_may_keep_what_is_logged() -> None:
    for _ in range(50):
        assert adbc.value_and_grad(logged)(2.0) == (8.0, 12.0)
        assert adbc.jvp(logged, (2.0,), (1.0,)) == (8.0, 12.0)


def test_a_handler_may_keep_what_is_logged_and_give_it_back() -> None:
    handler = Keeping()

    def program(x: float) -> float:
        LOG.warning("%g", x * x)
        return handler.latest * x  # type: ignore[operator]  # a float

    LOG.addHandler(handler)
    try:
        for _ in range(5):
            assert adbc.value_and_grad(program)(2.0) == (8.0, 12.0)
            assert adbc.jvp(program, (2.0,), (1.0,)) == (8.0, 12.0)
    finally:
        LOG.removeHandler(handler)


def test_objects_are_logged() -> None:
    def program(x: float) -> float:
        ALONE.warning("it is %s", Said(x * x))
        print(Said(x * x), file=LINES)
        return x * x * x

    for _ in range(3):
        assert adbc.grad(program)(2.0) == 12.0
        assert adbc.jvp(program, (2.0,), (1.0,))[1] == 12.0
    assert "it is about 4.0" in LINES.getvalue()


def test_numbers_that_are_read_from_what_was_logged_are_refused() -> None:
    def program(x: float) -> float:
        before = len(LINES.getvalue())
        ALONE.warning("%.17g", x * x)
        return float(LINES.getvalue()[before:]) * x

    for run in (lambda: adbc.grad(program)(1.5), lambda: adbc.jvp(program, (1.5,), (1.0,))):
        with pytest.raises(UnsupportedError, match="reads a number from"):
            run()


def test_numbers_of_other_text_may_be_read_beside_a_log() -> None:
    settings = {"scale": 2.0}

    def program(x: float) -> float:
        ALONE.warning("x is %.3f", x)
        said = "scale = %s" % settings["scale"]  # noqa: UP031  # a style of many
        return float(said.partition("=")[2]) * x

    for _ in range(3):
        assert adbc.grad(program)(1.5) == 2.0
        assert adbc.jvp(program, (1.5,), (1.0,))[1] == 2.0
