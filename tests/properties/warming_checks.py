"""What is asked of a program with loops that are left for code: each call, pullbacks out of order, and
gradients in several threads."""

from __future__ import annotations

import copy
import math
import random
import threading
from typing import Any

import adbc
from adbc.errors import ConstWriteError, LiftError, MissingRuleError, UnsupportedError
from tests.properties.warming_programs import WarmingProgram

__all__ = ["check_threads", "check_warming"]

STEP = 1e-6
REFUSALS = (ConstWriteError, LiftError, MissingRuleError, UnsupportedError)
ERRORS = (ArithmeticError, IndexError, TypeError, ValueError)
Outcome = tuple[Any, ...]


def outcome(program: WarmingProgram, args: list[Any]) -> Outcome:
    """What a plain call gives or raises, and the list behind it."""
    args = copy.deepcopy(args)
    stop = program.module.Stop  # type: ignore[attr-defined]
    try:
        return "value", program.function(*args), args[4]
    except (stop, *ERRORS) as error:
        return type(error), None, args[4]


def moved(args: list[Any], by: list[Any], step: float) -> list[Any]:
    x, t, k, n, values = args
    return [
        x + step * by[0], tuple([e + step * d for e, d in zip(t, by[1], strict=True)]), k, n,
        [e + step * d for e, d in zip(values, by[4], strict=True)],
    ]  # fmt: skip


def near(a: Any, b: Any, tolerance: float) -> bool:
    return math.isfinite(a) and abs(a - b) <= tolerance * max(1.0, abs(a), abs(b))


def all_near(a: Any, b: Any) -> bool:
    return len(a) == len(b) and all(near(p, q, 1e-11) for p, q in zip(a, b, strict=True))


def along(gradient: Any, by: list[Any]) -> float:
    """The derivative in the direction `by` by a gradient with respect to number, tuple and list."""
    gx, gt, gl = gradient
    parts = zip((gx, *_numbers(gt, by[1]), *gl), (by[0], *by[1], *by[4]), strict=True)
    return sum(g * d for g, d in parts)


def _numbers(g: Any, like: Any) -> Any:
    return [0.0] * len(like) if isinstance(g, adbc.NoTangent) else g


def check_warming(program: WarmingProgram, calls: int) -> str:
    """Check some calls in both modes; their pullbacks are run at the end, in any order."""
    f = program.function
    pullbacks = []
    for call in range(calls):
        args = program.arguments(call)
        by = moved([0.0, (0.0,) * len(args[1]), 0, 0, [0.0] * 3], direction(args), 1.0)
        expected = outcome(program, args)
        if expected[0] == "value" and not math.isfinite(expected[1]):
            return "no finite value"
        given, tangents = copy.deepcopy(args), [by[0], by[1], None, None, list(by[4])]
        try:
            if expected[0] != "value":
                for run in (lambda: adbc.jvp(f, given, tangents), lambda: adbc.vjp(f, *copy.deepcopy(args))):  # noqa: B023
                    try:
                        run()
                    except expected[0]:
                        continue
                    raise AssertionError(f"call {call}: {expected[0]} expected")
                continue
            ahead, behind = (outcome(program, moved(args, by, s)) for s in (STEP, -STEP))
            slope = (ahead[1] - behind[1]) / (2.0 * STEP)
            value, tangent = adbc.jvp(f, given, tangents)
            assert near(value, expected[1], 1e-11), f"call {call}: forward value {value}, not {expected}"
            assert all_near(given[4], expected[2]), f"call {call}: list {given[4]}, not {expected}"
            assert near(tangent, slope, 2e-5), f"call {call}: forward {tangent}, difference {slope}"
            given = copy.deepcopy(args)
            if call % 2:
                value, gradient = adbc.value_and_grad(f, (0, 1, 4))(*given)
                assert given == args, f"call {call}: arguments {given}, were {args}"
                reverse = along(gradient, by)
                assert near(reverse, tangent, 1e-9), f"call {call}: reverse {reverse}, forward {tangent}"
            else:
                value, pullback = adbc.vjp(f, *given)
                assert all_near(given[4], expected[2]), f"call {call}: list {given[4]}, not {expected}"
                pullbacks.append((call, pullback, args, given, by, tangent))
            assert near(value, expected[1], 1e-11), f"call {call}: reverse value {value}, not {expected}"
        except REFUSALS as error:
            return f"{type(error).__name__}: {str(error)[:150]}"
    random.Random(program.seed).shuffle(pullbacks)
    for call, pullback, args, given, by, tangent in pullbacks:
        gx, gt, _, _, gl = pullback(1.0)
        assert given == args, f"call {call}: arguments {given}, were {args}"
        reverse = along((gx, gt, gl), by)
        assert near(reverse, tangent, 1e-9), f"call {call}: reverse {reverse}, forward {tangent}, late"
    return "right"


def direction(args: list[Any]) -> list[Any]:
    choose = random.Random(3)
    return [
        choose.uniform(-1.0, 1.0), tuple([choose.uniform(-1.0, 1.0) for _ in args[1]]), None, None,
        [choose.uniform(-1.0, 1.0) for _ in args[4]],
    ]  # fmt: skip


def check_threads(program: WarmingProgram, count: int, calls: int) -> str:
    """Check that several threads at once get the gradients that one gets."""
    f = program.function
    wanted: list[Any] = []
    for call in range(calls):
        args = program.arguments(call)
        expected = outcome(program, args)
        if expected[0] == "value":
            by = direction(args)
            ahead, behind = (outcome(program, moved(args, by, s)) for s in (STEP, -STEP))
            wanted.append((args, by, expected[1], (ahead[1] - behind[1]) / (2.0 * STEP)))
    failures: list[BaseException] = []
    start = threading.Barrier(count)

    def run() -> None:
        start.wait()
        try:
            for args, by, value, slope in wanted:
                found, gradient = adbc.value_and_grad(f, (0, 1, 4))(*copy.deepcopy(args))
                assert near(found, value, 1e-11), f"value {found}, not {value}"
                assert near(along(gradient, by), slope, 2e-5), f"{along(gradient, by)}, difference {slope}"
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=run) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for error in failures:
        if not isinstance(error, REFUSALS):
            raise error
    return f"{type(failures[0]).__name__}: {str(failures[0])[:150]}" if failures else "right"
