"""One call in one mode, in a process of its own: ``python -m libraries.trial``.

The process tells how far it has come, a line of JSON each time in the file it is given, so that of one that
is killed it is known what it was at.
"""

from __future__ import annotations

import copy
import dataclasses
import importlib
import json
import os
import pathlib
import statistics
import sys
import threading
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from libraries import judge, sources
from libraries.differences import jacobian
from libraries.package import Call
from libraries.vectors import Vector, filled, vector

__all__ = ["LEAST", "MODES", "Plain", "attempt", "derivative", "fault_of", "plain", "refusal"]

MODES = ("reverse", "forward")

ROUNDS = 60
"""How often the derivative is formed in all, unless that takes longer than `PATIENCE`: often enough that what
is interpreted at first has become code."""
LEAST = 6
"""How often it is formed however long that takes: code is written for what is called a third time, and what
is wrong there is met later still."""
PATIENCE = 1.5
"""Seconds of CPU time that repeating may take, of the derivative as of the plain call."""

Report = dict[str, Any]
Derivative = Callable[[], tuple[Any, Vector]]
"""Gives the value, and the numbers of the derivative."""


def called(call: Call) -> Any:
    return call.function(*copy.deepcopy(call.arguments))


def seconds_of(call: Call) -> float:
    """CPU seconds of the plain call, the median of several."""
    times: list[float] = []
    begin = time.process_time()
    while len(times) < 3 or (len(times) < 200 and time.process_time() - begin < PATIENCE / 8):
        arguments = copy.deepcopy(call.arguments)
        start = time.process_time()
        call.function(*arguments)
        times.append(time.process_time() - start)
    return statistics.median(times)


@dataclasses.dataclass(frozen=True)
class Plain:
    """What the plain call shows, before adbc is asked.

    weights, direction: at random, what the derivative is formed with.  expected: by mode.
    """

    value: Any
    weights: Vector
    direction: Vector
    expected: dict[str, judge.Expected]

    def fault(self, mode: str) -> str | None:
        """Why this call proves nothing, or None."""
        expected = self.expected[mode]
        if not np.all(np.isfinite(vector(self.value))):
            return "the value is not finite"
        if not expected.settled:
            return "differences do not settle"
        return "the derivative is zero" if expected.flat else None


def plain(call: Call) -> Plain:
    value = called(call)
    differences = jacobian(call.function, call.arguments)
    random = np.random.default_rng(7)
    weights = random.uniform(0.5, 1.5, differences.value.size)
    direction = differences.scales * random.uniform(0.5, 1.5, differences.scales.size)
    expected = {
        "reverse": judge.backwards(differences, weights),
        "forward": judge.forwards(differences, direction),
    }
    return Plain(value, weights, direction, expected)


def derivative(call: Call, mode: str, of: Plain) -> Derivative:
    import adbc  # not where only plain calls are looked at

    def forwards() -> tuple[Any, Vector]:
        arguments = copy.deepcopy(call.arguments)
        direction = iter(of.direction.tolist())
        tangents = tuple(filled(x, direction) if vector(x).size else None for x in arguments)
        value, tangent = adbc.jvp(call.function, arguments, tangents)
        return value, vector(tangent, value)

    def backwards() -> tuple[Any, Vector]:
        arguments = copy.deepcopy(call.arguments)
        value, pullback = adbc.vjp(call.function, *arguments)
        kept = copy.deepcopy(value)  # the pullback undoes what the call has written
        gradients = pullback(filled(adbc.zero_tangent(value), iter(of.weights.tolist())))
        return kept, vector(gradients, arguments)

    return forwards if mode == "forward" else backwards


def attempt(call: Call, mode: str, tell: Callable[..., None]) -> None:
    """Try a call in a mode, and tell what is found as it is found."""
    tell(stage="plain")
    of = plain(call)
    if vector(called(call)).tolist() != vector(of.value).tolist():
        tell(outcome="broken", detail="two plain calls differ")
        return
    if fault := of.fault(mode):
        tell(outcome="unsettled", detail=fault)
        return
    tell(plain=seconds_of(call), compile=sources.compiled(lambda: called(call)), stage="derivative")
    form = derivative(call, mode, of)
    times: list[float] = []
    while len(times) < LEAST or (len(times) < ROUNDS and sum(times[1:]) < PATIENCE):
        start = time.process_time()
        try:
            value, found = form()
        except Exception as error:  # whatever it is, it is what the user would see
            tell(**refusal(error, len(times)), after=time.process_time() - start)
            return
        times.append(time.process_time() - start)
        if len(times) == 1:
            tell(first=times[0])
        tell(formed=len(times))
        if fault := fault_of(value, found, of, mode):
            tell(outcome="wrong", detail=f"in call {len(times)}: {fault}")
            return
    tell(outcome="right", second=times[1], steady=statistics.median(times[-4:]))


def fault_of(value: Any, found: Vector, of: Plain, mode: str) -> str | None:
    """What is wrong with a value and its derivative."""
    given, wanted = vector(value), vector(of.value)
    if given.shape != wanted.shape or not np.allclose(given, wanted, rtol=1e-12, atol=0.0):
        return f"the value is {given.tolist()!r:.200}, plainly {wanted.tolist()!r:.200}"
    return of.expected[mode].says_of(found)


def refusal(error: Exception, before: int) -> Report:
    """What an exception says; `before` derivatives were formed before."""
    import adbc

    refused = isinstance(error, adbc.AdbcError)
    found: Report = {
        "outcome": "refused" if refused else "raised",
        "error": type(error).__name__,
        "detail": str(error) if not before else f"in call {before + 1}: {error}",
    }
    if isinstance(error, adbc.AdbcError):
        found |= {"met": error.met, "why": error.why}
    return found


def watch(limit: float, tell: Callable[..., None]) -> None:
    """End this process when it has used up its CPU time.

    A limit set by the system would do, but where there is one Linux counts the time that we measure in ticks.
    """
    while time.process_time() < limit:
        time.sleep(1.0)
    tell(outcome="too long", detail=f"more than {limit:g} s")
    os._exit(1)


def main(module: str, name: str, mode: str, path: str, limit: str) -> None:
    report = pathlib.Path(path)

    def tell(**found: Any) -> None:
        with report.open("a", encoding="utf-8") as file:
            print(json.dumps(found), file=file)

    warnings.simplefilter("ignore")
    threading.Thread(target=watch, args=(float(limit), tell), daemon=True).start()
    tell(stage="import")
    call: Call = importlib.import_module(module).package.calls[name]
    try:
        attempt(call, mode, tell)
    except Exception as error:  # of the plain call: those of the derivative have been told
        tell(outcome="broken", error=type(error).__name__, detail=str(error))


if __name__ == "__main__":
    main(*sys.argv[1:])
