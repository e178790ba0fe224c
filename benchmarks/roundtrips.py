"""What a round trip costs: each workload as CPython compiled it, beside the same compiled by adbc from that.

All functions of the workloads are replaced, also those that a workload calls; nothing is differentiated.
A ratio is that of the shortest times: the two differ by little, and what else runs on the machine adds
to either at random.
"""

from __future__ import annotations

import gc
import importlib.util
import platform
import sys
import types
from collections.abc import Callable, Sequence
from typing import Any

from adbc.inspect.round_trip import roundtrip_code
from benchmarks import measure
from benchmarks.workload import Workload, duplicate
from benchmarks.workloads import MODULES

__all__ = ["ratios", "report"]


def replaced_copy(module: types.ModuleType) -> Any:
    """The module once more, with a round trip in the place of each of its functions."""
    assert module.__file__ is not None
    spec = importlib.util.spec_from_file_location(f"{module.__name__}_copy", module.__file__)
    assert spec is not None and spec.loader is not None
    copy = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = copy  # where dataclasses look for what annotations mean
    spec.loader.exec_module(copy)
    for function in gc.get_objects():
        if type(function) is types.FunctionType and function.__globals__ is vars(copy):
            function.__code__ = roundtrip_code(function.__code__, function.__globals__)
    return copy


def ratios(wanted: Sequence[Workload], rounds: int) -> list[dict[str, Any]]:
    """Times of the workloads, and of their round trips relative to them."""
    copies = {w.name: w for module in MODULES.values() for w in replaced_copy(module).WORKLOADS}
    results = []
    for workload in wanted:
        calls = {
            "plain": _call(workload.function, workload.arguments),
            "roundtrip": _call(copies[workload.name].function, copies[workload.name].arguments),
        }
        times = measure.fastest(calls, rounds)
        ratio = times["roundtrip"] / times["plain"]
        results.append({"name": workload.name, "plain": times["plain"], "roundtrip": ratio})
    return results


def _call(function: Callable[..., Any], arguments: tuple[Any, ...]) -> measure.Call:
    own = duplicate(arguments)  # some work in place
    return lambda: function(*own)


def report(results: Sequence[dict[str, Any]]) -> None:
    """Print a table."""
    width = max(len(result["name"]) for result in results)
    print(f"Python {platform.python_version()}, the round trip relative to the plain function\n")
    for result in results:
        print(f"{result['name']:{width}}{1e6 * result['plain']:>9.1f} us{result['roundtrip']:>8.2f}x")
