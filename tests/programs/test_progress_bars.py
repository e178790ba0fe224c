"""Loops with a progress bar around them, as scripts have them: tqdm, with and without a log beside it."""

from __future__ import annotations

import gc
import io
import logging
import math
import pathlib
from collections.abc import Callable
from typing import Any

import pytest
from tqdm import tqdm, trange

import adbc

SINK = io.StringIO()
LINES = io.StringIO()
TIMES = [0.1 * k for k in range(12)]
DATA = [2.0 * math.exp(-0.7 * t) for t in TIMES]
LOG = logging.Logger("progress", logging.INFO)  # not of those at which pytest has handlers of its own
LOG.addHandler(logging.StreamHandler(LINES))

Program = Callable[[float], Any]


def over_constants(x: float) -> float:
    total = 0.0
    for t in tqdm(TIMES, file=SINK):
        total += math.sin(x * t)
    return total


def over_what_depends(x: float) -> float:
    total = 0.0
    for t in tqdm([1.0, 2.0 * x, x * x], file=SINK, desc="parts"):
        total += t * x
    return total


def over_pairs(x: float) -> float:
    total = 0.0
    for t, d in tqdm(list(zip(TIMES, DATA, strict=True)), file=SINK):
        total += (1.8 * math.exp(-x * t) - d) ** 2
    return total


def over_pairs_with_a_log(x: float) -> float:
    total = 0.0
    for t, d in tqdm(list(zip(TIMES, DATA, strict=True)), file=SINK):
        residual = 1.8 * math.exp(-x * t) - d
        total += residual * residual
        LOG.info("residual at %g: %g", t, residual)
    return total


def with_what_it_has_come_to(x: float) -> float:
    bar, total = trange(5, file=SINK), 0.0
    for k in bar:
        total += math.cos(k * x)
        bar.set_postfix(total=f"{total:.3g}")
        bar.set_description(f"step {k}")
    return total


def by_hand(x: float) -> float:
    with tqdm(total=100, file=SINK, unit="step") as bar:
        while x < 10.0:
            x = x * x + 0.5
            bar.update(10)
    return x


def switched_off(x: float) -> float:
    total = 0.0
    for i in trange(3, file=SINK, disable=True):
        for t in tqdm([x * i, 2.0], file=SINK, disable=True):
            total += t * x
    return total


PROGRAMS: list[Program] = [
    over_constants, over_what_depends, over_pairs, over_pairs_with_a_log, with_what_it_has_come_to, by_hand,
    switched_off,
]  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_a_bar_is_beside_the_mathematics(program: Program) -> None:
    x, h = 1.3, 1e-5
    value = program(x)
    expected = (program(x + h) - program(x - h)) / (2.0 * h)
    for _ in range(4):
        assert adbc.value_and_grad(program)(x) == pytest.approx((value, expected), rel=1e-6)
        assert adbc.jvp(program, (x,), (1.0,)) == pytest.approx((value, expected), rel=1e-6)


def test_a_stream_of_text_need_not_have_a_buffer(tmp_path: pathlib.Path) -> None:
    # As `sys.stdout` and `sys.stderr` are under ``python -u``.
    with io.TextIOWrapper(io.FileIO(tmp_path / "out", "w"), write_through=True) as stream:

        def program(x: float) -> float:
            for t in tqdm([x, 2.0], file=stream):
                print(f"{t:.3f}", file=stream)
                x = x * t
            return x

        assert adbc.grad(program)(1.5) == pytest.approx(6.0)
        assert adbc.jvp(program, (1.5,), (1.0,))[1] == pytest.approx(6.0)
    assert "1.500" in (tmp_path / "out").read_text()


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # of bars that were not begun
def test_bars_that_look_for_each_other_are_refused() -> None:
    # Each is found by a weak reference, of which nobody can say whether it would be dead by now.
    def one_in_another(x: float) -> float:
        total = 0.0
        for i in trange(3, file=SINK):
            for t in tqdm([x * i, 2.0], file=SINK):
                total += t * x
        return total

    with pytest.raises(adbc.errors.UnsupportedError, match="a weak reference is asked for a tqdm"):
        adbc.grad(one_in_another)(1.5)
    gc.collect()
