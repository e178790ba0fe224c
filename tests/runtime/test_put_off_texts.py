"""Numbers are read from text of numbers of which reverse mode does not know whether they depend on the input:
what comes back to these tells."""

from __future__ import annotations

import contextlib
import io
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import adbc
from adbc.errors import UnsupportedError

Program = Callable[[Any], Any]
KNOTS = [0.0, 0.25, 1.75]
SPECULATIONS = ["dynamic", "learn", "always"]
GRID = np.array([0.5, 1.5])


class Holder:
    at: Any = None
    text = ""


@pytest.fixture(autouse=True, params=[(s, w) for s in SPECULATIONS for w in (0, 3)], ids=str)
def _speculation(request: pytest.FixtureRequest) -> Iterator[None]:
    speculation, warm_after = request.param
    with adbc.use(adbc.Config(speculation=speculation, warm_after=warm_after)):
        yield


# -- of constants --------------------------------------------------------------------------------------------


def _normalised(x: Any) -> Any:
    width = KNOTS[-1] - KNOTS[0]
    knots = [float(("{:." + str(18) + "f}").format((float(v) - KNOTS[0]) / width)) for v in KNOTS]
    return x * x * sum(knots)


def _in_an_object(x: Any) -> Any:
    holder = Holder()
    holder.at = [0.25, x]
    holder.text = f"{holder.at[0]:.5f}"
    return x * float(holder.text)


def _by_a_percent_sign(x: Any) -> Any:
    found = {}
    for v in KNOTS:
        found["%.3f" % (v * 2.0)] = v  # the older way
    return x * sum(float(k) for k in found)


def _digits(x: Any) -> Any:
    return x * int(f"{KNOTS[1] * 100.0}"[:2])


def _of_an_array(x: Any) -> Any:
    return x * float(str(GRID)[1:-1].split()[1]) * float(f"{GRID[0]}")


def _from_a_stream(x: Any) -> Any:
    stream = io.StringIO()
    print(KNOTS[1], file=stream)
    return x * float(stream.getvalue())


def _below_a_handler(x: Any) -> Any:
    text = ""

    def write(v: Any) -> None:
        nonlocal text
        text = f"{v * 2.0}"
        raise ValueError

    with contextlib.suppress(ValueError):
        write(KNOTS[1])
    return x * float(text)


def _of_what_was_set(x: Any) -> Any:
    values = [x, 2.0]
    values[0] = 1.5
    return x * float(repr(values[0]))


CONSTANT: list[Program] = [
    _normalised, _in_an_object, _by_a_percent_sign, _digits, _of_an_array, _from_a_stream, _below_a_handler,
    _of_what_was_set,
]  # fmt: skip


@pytest.mark.parametrize("program", CONSTANT)
def test_numbers_are_read_from_text_of_constants(program: Program) -> None:
    x = 1.3
    slope = (program(x + 1e-6) - program(x - 1e-6)) / 2e-6
    for _ in range(5):
        assert adbc.value_and_grad(program)(x) == pytest.approx((program(x), slope))
    assert adbc.vjp(program, x)[1](1.0) == pytest.approx((slope,))
    assert adbc.jvp(program, (x,), (1.0,))[1] == pytest.approx(slope)
    found = adbc.jacrev(lambda y: np.array([program(y[0]), y[1]]))(np.array([x, 1.0]))
    assert found == pytest.approx(np.array([[slope, 0.0], [0.0, 1.0]]))
    assert adbc.grad(adbc.checkpoint(program))(x) == pytest.approx(slope)


# -- of what depends on the input ----------------------------------------------------------------------------


def _read(x: Any) -> Any:
    return x * float(f"{x * 2.0:.5f}")


def _of_both(x: Any) -> Any:
    values = [KNOTS[1], x]
    return x * sum([float(f"{v:.6f}") for v in values])


def _put_together(x: Any) -> Any:
    text = f"{KNOTS[1]}" + f" {x}"
    return x * float(text.split()[1])


def _through_a_handler(x: Any) -> Any:
    text = ""

    def write(v: Any) -> None:
        nonlocal text
        text = f"{v * 2.0}"
        raise ValueError

    with contextlib.suppress(ValueError):
        write(x)
    return float(text) * x


def _from_a_generator(x: Any) -> Any:
    def texts() -> Iterator[str]:
        for v in KNOTS[1], x:
            yield f"{v}"

    return x + sum([float(text) for text in texts()])


def _kept(x: Any) -> Any:
    holder = Holder()
    holder.at = x
    holder.text = str(holder.at)
    holder.at = 0.0
    return x * int(holder.text[2:4])


def _of_a_list(x: Any) -> Any:
    return float(str([x, 1.0])[1:-1].split(",")[0]) * x


def _from_an_array(x: Any) -> Any:
    v = np.array([x, 2.0])
    return float(f"{v[0]}") * x


def _from_a_dict(x: Any) -> Any:
    return float(repr({"a": x})[6:-1]) * x


def _written_to_a_stream(x: Any) -> Any:
    stream = io.StringIO()
    print(x, file=stream)
    return float(stream.getvalue()) * x


def _of_a_loop(x: Any) -> Any:
    t = 0.0
    for _ in range(3):
        t = t * 0.5 + float(f"{t + x}")
    return t


ACTIVE: list[Program] = [
    _read, _of_both, _put_together, _through_a_handler, _from_a_generator, _kept, _of_a_list, _from_an_array,
    _from_a_dict, _written_to_a_stream, _of_a_loop,
]  # fmt: skip


@pytest.mark.parametrize("program", ACTIVE)
def test_and_not_of_what_depends_on_the_input(program: Program) -> None:
    for _ in range(5):
        with pytest.raises(UnsupportedError, match=r"reads a number from .*test_put_off_texts\.py"):
            adbc.grad(program)(1.3)
    with pytest.raises(UnsupportedError, match="reads a number from"):
        adbc.vjp(program, 1.3)[1](1.0)
    with pytest.raises(UnsupportedError, match="reads a number from"):
        adbc.jvp(program, (1.3,), (1.0,))
    with pytest.raises(UnsupportedError, match="reads a number from"):
        adbc.jacrev(lambda y: np.array([program(y), y]))(1.3)
    with pytest.raises(UnsupportedError, match="reads a number from"):
        adbc.grad(adbc.checkpoint(program))(1.3)


@pytest.mark.parametrize("program", ACTIVE[:4])
def test_a_derivative_inside_is_refused(program: Program) -> None:
    with pytest.raises(UnsupportedError, match="reads a number from"):
        adbc.grad(lambda x: adbc.grad(program)(x) * x)(1.3)


def test_what_the_text_was_made_of_has_its_derivative() -> None:
    def program(x: Any) -> Any:
        values = [x, x * x]
        print(values[0], f"{values[1]}", file=sys.stderr)
        return values[0] * values[1]

    for _ in range(5):
        assert adbc.grad(program)(2.0) == pytest.approx(12.0)
        assert adbc.jvp(program, (2.0,), (1.0,))[1] == pytest.approx(12.0)


def test_the_second_derivative_is_that_or_refused() -> None:
    def program(x: Any) -> Any:
        return x**3 * sum([float(f"{v:.6f}") for v in [0.5, 1.5]])

    for run in (
        adbc.grad(adbc.grad(program)),
        lambda x: adbc.jvp(adbc.grad(program), (x,), (1.0,))[1],
        adbc.grad(lambda y: adbc.jvp(program, (y,), (1.0,))[1]),
    ):
        try:
            found = run(1.5)
        except UnsupportedError:
            continue
        assert found == pytest.approx(18.0)
