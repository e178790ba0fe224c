"""Tracebacks have the frames of a plain call, wherever they are looked at, and all frames if that is asked
for."""

from __future__ import annotations

import contextlib
import gc
import pickle
import re
import struct
import subprocess
import sys
import traceback
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import adbc
from adbc.config import FOLDER, SPECULATION

X = 0.75
MODES: dict[str, Callable[[Any], Any]] = {
    "grad": lambda f: adbc.grad(f)(X),
    "jvp": lambda f: adbc.jvp(f, (X,), (1.0,)),
    "vjp": lambda f: adbc.vjp(f, X)[1](1.0),
}
SEEN: list[str] = []


@pytest.fixture(params=SPECULATION)
def speculation(request: pytest.FixtureRequest) -> Iterator[str]:
    with adbc.use(adbc.Config(speculation=request.param)):
        yield request.param


def looked_up(table: dict[Any, Any], key: Any) -> Any:
    return table[key]


class Price:
    def __init__(self, value: float) -> None:
        self.value = value

    @property
    def broken(self) -> float:
        raise ValueError("broken")

    def __mul__(self, other: float) -> Any:
        return looked_up({}, "missing")

    def __enter__(self) -> Price:
        return self

    def __exit__(self, *exception: Any) -> None:
        SEEN.append("".join(traceback.format_exception(*exception)))


# -- exceptions that leave the function --------------------------------------------------------------------


def by_an_operator(x: float) -> Any:
    return Price(x) * x


def by_a_property(x: float) -> float:
    return x * Price(x).broken


def from_another(x: float) -> Any:
    try:
        return Price(x) * x
    except KeyError as error:
        raise RuntimeError("no price") from error


def while_handling(x: float) -> Any:
    try:
        return Price(x) * x
    except KeyError:
        return x * Price(x).broken


def in_a_group(x: float) -> float:
    found = []
    for price in (Price(x), Price(2.0 * x)):
        try:
            x = price * x
        except KeyError as error:
            found.append(error)
    raise ExceptionGroup("no prices", found)


def raised_again(x: float) -> Any:
    try:
        return Price(x) * x
    except KeyError:
        raise


def in_a_generator(x: float) -> Any:
    def prices() -> Iterator[Any]:
        yield x
        yield Price(x) * x

    return sum(prices())


def in_a_callback(x: float) -> Any:
    return max([x, 2.0 * x], key=lambda v: Price(v) * v)


def through_a_generator(x: float) -> Any:
    def inner() -> Iterator[Any]:
        try:
            yield x
        except ValueError as error:
            raise LookupError("inside") from error

    def outer() -> Iterator[Any]:
        yield from inner()

    made = outer()
    return next(made) + made.throw(ValueError("outside"))


LEAVING = [
    by_an_operator, by_a_property, from_another, while_handling, in_a_group, raised_again, in_a_generator,
    in_a_callback, through_a_generator,
]  # fmt: skip


def text_of(run: Callable[[], Any]) -> str:
    """The traceback of what `run` raises, as Python shows it."""
    try:
        run()
    except Exception as error:  # any exception is an outcome to compare
        return "".join(traceback.format_exception(error))
    raise AssertionError("nothing was raised")


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("function", LEAVING, ids=lambda f: f.__name__)
def test_an_exception_that_leaves_reads_as_that_of_a_plain_call(
    function: Any, mode: str, speculation: str
) -> None:
    def run_mode() -> None:
        MODES[mode](function)

    def run_plain() -> None:
        function(X)

    found = text_of(run_mode)
    assert FOLDER not in found
    assert frames_in(found) == frames_in(text_of(run_plain))


def frames_in(text: str) -> list[str]:
    """Function and line of each frame of this module below the test itself, and the texts of exceptions."""
    found = re.findall(rf'File "{re.escape(__file__)}", line (\d+), in (\S+)|(\w+(?:Error|Group): .*)', text)
    return [" ".join(parts) for parts in found if parts[1] not in ("run_mode", "run_plain", "<lambda>")]


# -- exceptions that the function looks at -----------------------------------------------------------------


def by_format_exc(x: float) -> Any:
    try:
        return Price(x) * x
    except KeyError:
        SEEN.append(traceback.format_exc())
        return x


def by_the_exception(x: float) -> Any:
    try:
        return Price(x) * x
    except KeyError as error:
        SEEN.append("".join(traceback.format_tb(error.__traceback__)))
        return x


def by_exc_info(x: float) -> Any:
    try:
        return Price(x) * x
    except KeyError:
        SEEN.append("".join(traceback.format_exception(*sys.exc_info())))
        return x


def by_a_manager(x: float) -> Any:
    try:
        with Price(x) as price:
            return price * x
    except KeyError:
        return x


def by_walking(x: float) -> Any:
    try:
        return Price(x) * x
    except KeyError as error:
        entry = error.__traceback__
        while entry is not None:
            SEEN.append(f"{entry.tb_frame.f_code.co_name} {entry.tb_lineno}")
            entry = entry.tb_next
        return x


@pytest.mark.parametrize("mode", ["jvp", "grad"])
@pytest.mark.parametrize(
    "function",
    [by_format_exc, by_the_exception, by_exc_info, by_a_manager, by_walking],
    ids=lambda f: f.__name__,
)
def test_a_traceback_that_the_function_looks_at_reads_as_in_a_plain_call(
    function: Any, mode: str, speculation: str
) -> None:
    def seen(run: Callable[[], Any]) -> list[str]:
        SEEN.clear()
        run()
        return list(SEEN)

    expected = seen(lambda: function(X))
    if mode == "jvp":
        assert seen(lambda: MODES["jvp"](function)) == expected
    else:  # the pullback takes back what was appended: look before it runs
        SEEN.clear()
        _, pullback = adbc.vjp(function, X)
        assert expected == SEEN
        pullback(1.0)
    assert expected


# -- refusals ----------------------------------------------------------------------------------------------


def packed(x: float) -> Any:
    return struct.unpack("d", struct.pack("d", x))[0]


def packs(x: float) -> Any:
    return Price(x).value * packed(x)


@pytest.mark.parametrize("mode", MODES)
def test_a_refusal_ends_in_the_line_of_the_user(mode: str, speculation: str) -> None:
    with pytest.raises(adbc.MissingRuleError) as caught:
        MODES[mode](packs)
    names = [entry.name for entry in traceback.extract_tb(caught.value.__traceback__)]
    files = [entry.filename for entry in traceback.extract_tb(caught.value.__traceback__)]
    assert names[-2:] == ["packs", "packed"]
    assert not [name for name in files if name.startswith(FOLDER)]


def test_a_refusal_that_meets_a_handler_names_each_frame_once() -> None:
    def handled(x: float) -> Any:
        try:
            return packed(x)
        except Exception:  # refusals are not for it
            return x

    with pytest.raises(adbc.MissingRuleError) as caught:
        adbc.jvp(handled, (X,), (1.0,))
    names = [entry.name for entry in traceback.extract_tb(caught.value.__traceback__)]
    assert names.count("handled") == 1


def test_all_frames_are_shown_if_that_is_asked_for() -> None:
    with adbc.use(adbc.Config(hide_frames=False)):
        for function, error in ((packs, adbc.MissingRuleError), (by_an_operator, KeyError)):
            with pytest.raises(error) as caught:
                adbc.grad(function)(X)
            files = {entry.filename for entry in traceback.extract_tb(caught.value.__traceback__)}
            assert any("runtime" in name for name in files if name.startswith(FOLDER))


@pytest.mark.parametrize(("value", "shown"), [("0", True), ("1", False), (None, False)])
def test_the_environment_shows_all_frames(value: str | None, shown: bool) -> None:
    program = "import adbc\ndef f(x):\n    raise ValueError(x)\nadbc.grad(f)(1.0)"
    environment = {} if value is None else {"ADBC_HIDE_FRAMES": value}
    run = subprocess.run(
        [sys.executable, "-c", program], env=environment, cwd=FOLDER + "..", capture_output=True, text=True
    )
    assert "ValueError: 1.0" in run.stderr
    assert ("driver.py" in run.stderr) is shown


def test_an_error_is_pickled_with_its_place() -> None:
    with pytest.raises(adbc.MissingRuleError) as caught:
        adbc.grad(packed)(X)
    copy = pickle.loads(pickle.dumps(caught.value))  # made here
    assert str(copy) == str(caught.value)
    assert "in packed (" in str(copy)


class Held:
    value: Any = None


class Own(Exception):
    pass


def fails(x: Any, held: Held) -> Any:
    held.value = x * x
    if x > 0.0:
        raise Own(held.value > 0.5)
    return held.value


def of_a_caller(x: Any) -> Any:
    return fails(x, Held()) * 2.0


def in_a_generator(x: Any) -> Any:
    def values() -> Iterator[Any]:
        yield fails(x, Held())

    return sum(values())


def in_a_comprehension(x: Any) -> Any:
    return [fails(y, Held()) for y in (x, 2.0 * x)]


def is_refused(x: Any) -> Any:
    held = Held()
    held.value = struct.pack("d", x)
    return x


def behind_a_handler(x: Any) -> Any:
    held = Held()
    try:
        return fails(x, held)
    finally:
        held.value = 3.0


@pytest.mark.parametrize("warm_after", [0, 3])
@pytest.mark.parametrize(
    ("f", "modes"),
    [
        (of_a_caller, MODES),
        (in_a_generator, MODES),
        (in_a_comprehension, MODES),
        (is_refused, MODES),
        (behind_a_handler, ["jvp"]),
    ],
    ids=lambda f: getattr(f, "__name__", ""),
)
def test_what_a_call_has_made_dies_with_its_exception(f: Any, modes: Any, warm_after: int) -> None:
    """As it does behind a plain call: frames of adbc's hold no exception."""

    def left() -> int:
        return sum(type(x) is Held for x in gc.get_objects())

    with adbc.use(adbc.Config(warm_after=warm_after)):
        for mode in modes:
            for _ in range(5):  # what is met at first may be kept with what is known of it
                with pytest.raises((Own, adbc.MissingRuleError)):
                    MODES[mode](f)
            gc.collect()
            gc.disable()
            try:
                before = left()
                for _ in range(3):
                    with contextlib.suppress(Own, adbc.MissingRuleError):
                        MODES[mode](f)
                assert left() == before
            finally:
                gc.enable()
