"""What cleans up runs when a derivative is refused, and the refusal stays."""

from __future__ import annotations

import contextlib
import decimal
import io
import struct
import threading
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import adbc
from adbc.errors import MissingRuleError
from adbc.runtime import default_engine

log: list[str] = []


class Number(Exception):
    """A number in an exception: what it holds is refused at once, in each mode."""

    def __float__(self) -> float:
        return float(self.args[0])


def refuses(x: Any) -> Any:
    """A number of `x` by way of C code without a rule."""
    return x * struct.unpack("d", struct.pack("d", Number(x)))[0]


class Manager:
    """Notes what happens to it, and answers as it is told."""

    def __init__(self, name: str, answer: Any = None) -> None:
        self.name, self.answer = name, answer

    def __enter__(self) -> Any:
        log.append(f"enter {self.name}")
        return self

    def __exit__(self, kind: Any, error: Any, traceback: Any) -> Any:
        log.append(f"exit {self.name} {kind.__name__ if kind else None}")
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


def in_with(x: Any) -> Any:
    with Manager("a"):
        y = refuses(x)
    log.append("behind")
    return y


def swallowed(x: Any) -> Any:
    with Manager("a", True):
        return refuses(x)
    log.append("behind")
    return x


def swallowed_by_a_number(x: Any) -> Any:
    with Manager("a", x):
        return refuses(x)
    log.append("behind")
    return x


def raising_exit(x: Any) -> Any:
    try:
        with Manager("a", ValueError("from exit")):
            return refuses(x)
    except ValueError:
        return x * 3.0


def in_try(x: Any) -> Any:
    try:
        return refuses(x)
    finally:
        log.append("finally")


def raising_finally(x: Any) -> Any:
    try:
        try:
            return refuses(x)
        finally:
            log.append("finally")
            raise KeyError("finally")
    except KeyError:
        return x


def between_handlers(x: Any) -> Any:
    try:
        try:
            with Manager("a"), Manager("b"):
                return refuses(x)
        except Exception:
            log.append("behind")
            return x
        finally:
            log.append("finally")
    except BaseException:
        log.append("behind")
        return -x


def raised_again(x: Any) -> Any:
    try:
        return refuses(x)
    except Exception:
        log.append("finally")
        raise


def raised_as_another(x: Any) -> Any:
    try:
        try:
            return refuses(x)
        except Exception as error:
            log.append("finally")
            raise RuntimeError("not that") from error
    except RuntimeError:
        return x


def in_a_loop(x: Any) -> Any:
    total = x
    for k in range(3):
        try:
            total = total + (refuses(x) if k == 1 else x)
        except ValueError:
            continue
        finally:
            log.append(f"finally {k}")
    return total


@contextlib.contextmanager
def managed(name: str) -> Iterator[float]:
    log.append(f"enter {name}")
    try:
        yield 2.0
    finally:
        log.append(f"finally {name}")


def in_generator(x: Any) -> Any:
    with managed("a") as k, managed("b"):
        return refuses(x * k)


def in_stack(x: Any) -> Any:
    with contextlib.ExitStack() as stack:
        stack.enter_context(Manager("a"))
        stack.callback(log.append, "finally")
        return refuses(x)


def suppressed(x: Any) -> Any:
    with contextlib.suppress(Exception), Manager("a"):
        return refuses(x)
    return x


def in_class(x: Any) -> Any:
    with Manager("a"):

        class Body:
            try:
                y = refuses(x)
            finally:
                log.append("finally")

    return Body.y


def by_a_method(x: Any) -> Any:
    return Held(x).run()


class Held:
    def __init__(self, x: Any) -> None:
        self.x = x

    def run(self) -> Any:
        with Manager("a"):
            for _ in range(2):
                self.x = self.inner(self.x)
        return self.x

    def inner(self, x: Any) -> Any:
        try:
            self.x = x + 1.0
            return refuses(self.x)
        finally:
            self.x = x
            log.append("finally")


EXIT = "exit {} MissingRuleError"
CASES: list[tuple[Callable[..., Any], list[str]]] = [
    (in_with, ["enter a", EXIT.format("a")]),
    (swallowed, ["enter a", EXIT.format("a")]),
    (swallowed_by_a_number, ["enter a", EXIT.format("a")]),
    (raising_exit, ["enter a", EXIT.format("a")]),
    (in_try, ["finally"]),
    (raising_finally, ["finally"]),
    (between_handlers, ["enter a", "enter b", EXIT.format("b"), EXIT.format("a"), "finally"]),
    (raised_again, ["finally"]),
    (raised_as_another, ["finally"]),
    (in_a_loop, ["finally 0", "finally 1"]),
    (in_generator, ["enter a", "enter b", "finally b", "finally a"]),
    (in_stack, ["enter a", "finally", EXIT.format("a")]),
    (suppressed, ["enter a", EXIT.format("a")]),
    (in_class, ["enter a", "finally", EXIT.format("a")]),
    (by_a_method, ["enter a", "finally", EXIT.format("a")]),
]

MODES: dict[str, Callable[[Callable[..., Any]], Any]] = {
    "grad": lambda f: adbc.grad(f)(1.5),
    "vjp": lambda f: adbc.vjp(f, 1.5),
    "jvp": lambda f: adbc.jvp(f, (1.5,), (1.0,)),
}


@pytest.fixture(params=["learn", "never", "dynamic", "always"])
def guess(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    engine = default_engine()
    engine.clear()
    monkeypatch.setattr(engine.guesses, "mode", request.param)
    yield request.param
    engine.clear()


@pytest.mark.parametrize("mode", ["grad", "jvp"])
@pytest.mark.parametrize(("f", "expected"), CASES, ids=[f.__name__ for f, _ in CASES])
def test_what_cleans_up_runs(guess: str, f: Any, expected: list[str], mode: str) -> None:
    for _ in range(2):  # what is guessed is learned by calls
        log.clear()
        with pytest.raises(MissingRuleError, match=r"struct\.pack"):
            MODES[mode](f)
        assert log == expected


lock = threading.Lock()


def locked(x: Any) -> Any:
    with lock:
        return refuses(x)


def quiet(x: Any) -> Any:
    with np.errstate(all="ignore"):
        return refuses(x)


def with_digits(x: Any) -> Any:
    with decimal.localcontext() as context:
        context.prec = 3
        return refuses(x)


def without_warnings(x: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return refuses(x)


class Setting:
    value = 0


@contextlib.contextmanager
def setting(value: int) -> Iterator[None]:
    old = Setting.value
    Setting.value = value
    try:
        yield
    finally:
        Setting.value = old


def with_setting(x: Any) -> Any:
    with setting(1):
        return refuses(x)


streams: list[Any] = []


def with_a_stream(x: Any) -> Any:
    """What C code is given of the refusal leads to text that was made of a number: the local variables."""
    shown = f"{x}"
    with io.StringIO("1.5") as stream:
        streams.append(stream)
        return x * eval(shown)


@pytest.mark.parametrize("run", MODES.values(), ids=MODES)
def test_a_stream_is_closed_where_text_is_not_read(run: Any) -> None:
    streams.clear()
    with pytest.raises(adbc.AdbcError):
        run(with_a_stream)
    assert streams[-1].closed


@pytest.mark.parametrize("run", MODES.values(), ids=MODES)
@pytest.mark.parametrize("f", [locked, quiet, with_digits, without_warnings, with_setting])
def test_states_are_as_before(f: Any, run: Any) -> None:
    def state() -> Any:
        return lock.locked(), np.geterr(), decimal.getcontext().prec, warnings.filters[:], Setting.value

    before = state()
    with pytest.raises(adbc.AdbcError):
        run(f)
    after = state()
    if lock.locked():
        lock.release()
    assert after == before


@pytest.mark.parametrize("run", MODES.values(), ids=MODES)
def test_a_refusal_in_what_cleans_up_does_not_hide_the_first(run: Any) -> None:
    def f(x: Any) -> Any:
        try:
            return refuses(x)
        finally:
            np.array([x]).tobytes()

    with pytest.raises(MissingRuleError, match=r"struct\.pack"):
        run(f)


@pytest.mark.parametrize("run", MODES.values(), ids=MODES)
def test_interrupts_are_not_replaced(run: Any) -> None:
    def f(x: Any) -> Any:
        try:
            return refuses(x)
        finally:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(f)


def test_errors_of_the_users_are_handled_as_before() -> None:
    def f(x: Any) -> Any:
        with contextlib.suppress(ValueError), managed("a"):
            x = x * 2.0
            raise ValueError
        try:
            with Manager("b", True):
                x = x * x
                raise KeyError
        finally:
            x = x * 3.0
        return x

    assert adbc.value_and_grad(f)(1.5) == (27.0, 36.0)
    assert adbc.jvp(f, (1.5,), (1.0,)) == (27.0, 36.0)
