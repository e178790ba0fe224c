"""Gradients of single functions, beside HIPS autograd's: each function that autograd has a derivative of.

``python -m benchmarks functions`` prints, for each: the time of a plain call with the sum over what it gives,
the two gradients over that, and adbc's over autograd's; at the end, of how many adbc's is the faster one, and
how much memory a chain of functions of elements takes.  Values and gradients are compared, too.

Times are the shortest ones of some rounds in which the calls take turns, in one process.
"""

from __future__ import annotations

import dataclasses
import types
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

import adbc
from benchmarks import measure
from benchmarks.aims import geometric_mean
from benchmarks.function_rows import DIFFERENT, ROWS, Row
from benchmarks.run import peak_memory
from benchmarks.settle import settle

__all__ = ["Found", "arrays_of_a_chain", "differences", "found", "report", "selected", "theirs"]

AIM = 0.95
"""The share of functions whose gradient is to be the faster one."""

CHAINS = (1, 4, 16, 64)


@dataclasses.dataclass(frozen=True)
class Found:
    """Of one function: seconds of a plain call, and of the gradient by adbc and by autograd; what the two do
    not agree about."""

    name: str
    plain: float
    ours: float
    theirs: float
    differences: Sequence[str] = ()

    @property
    def is_ahead(self) -> bool:
        return self.ours < self.theirs


def theirs(row: Row) -> Callable[..., Any]:
    """The function of a row as autograd differentiates it: with its own modules in the place of others."""
    import autograd.numpy
    import autograd.scipy.integrate
    import autograd.scipy.linalg
    import autograd.scipy.signal
    import autograd.scipy.special
    import autograd.scipy.stats

    modules = autograd.scipy
    names = {
        "np": autograd.numpy,
        **{name: getattr(modules, name) for name in ("integrate", "linalg", "signal", "special", "stats")},
    }
    # A code object of its own: what the interpreter remembers of globals stands in that.
    code = row.function.__code__.replace()
    return types.FunctionType(code, {**row.function.__globals__, **names})


def differences(row: Row) -> list[str]:
    """In what autograd does not agree with adbc: "value" and "gradient"."""
    import autograd

    other = theirs(row)
    value, gradient = adbc.value_and_grad(row.function)(*row.arguments)
    pairs = {
        "value": (other(*row.arguments), value),
        "gradient": (autograd.grad(other)(*row.arguments), gradient),
    }
    return [what for what, (a, b) in pairs.items() if not _is_close(a, b)]


def _is_close(a: Any, b: Any) -> bool:
    a, b = np.asarray(a), np.asarray(b)
    size = float(np.max(np.abs(b), initial=0.0))
    return a.shape == b.shape and bool(np.allclose(a, b, rtol=1e-6, atol=1e-9 * size))


def found(row: Row, rounds: int) -> Found:
    """Time one function."""
    import autograd

    other, arguments = theirs(row), row.arguments
    our_gradient, their_gradient = adbc.grad(row.function), autograd.grad(other)
    calls: dict[str, measure.Call] = {
        "plain": lambda: row.function(*arguments),
        "ours": lambda: our_gradient(*arguments),
        "theirs": lambda: their_gradient(*arguments),
    }
    settle(calls["ours"])
    times = measure.fastest(calls, rounds)
    return Found(row.name, times["plain"], times["ours"], times["theirs"], differences(row))


def chain(x: Any, k: int) -> Any:
    for _ in range(k):
        x = np.sin(x)
    return np.sum(x)


def arrays_of_a_chain(k: int, size: int = 20_000) -> float:
    """How many arrays the gradient of the sum of `k` nested sines holds at most, but for its argument."""
    x = np.linspace(0.1, 0.9, size)
    gradient = adbc.grad(chain)
    settle(lambda: gradient(x, k))
    return peak_memory(lambda: gradient(x, k)) / x.nbytes


def selected(only: str) -> dict[str, list[Row]]:
    """The rows with `only` in their group or name."""
    groups = {
        group: [row for row in rows if only.lower() in f"{group} {row.name}".lower()]
        for group, rows in ROWS.items()
    }
    return {group: rows for group, rows in groups.items() if rows}


def report(groups: Mapping[str, Sequence[Row]], rounds: int) -> list[Found]:
    """Print a table, and return what is in it."""
    width = (
        max(len(text) for group, rows in groups.items() for text in (group, *(row.name for row in rows))) + 2
    )
    everything = []
    measure.keep_memory()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what NumPy says of autograd's own calls
        for group, rows in groups.items():
            print(
                f"{group:{width}}{'plain':>11}{'adbc':>9}{'autograd':>10}{'adbc / autograd':>17}", flush=True
            )
            for row in rows:
                everything.append(found(row, rounds))
                print(_line(everything[-1], width), flush=True)
            print()
    print("\n".join(_summary(everything)))
    for k in CHAINS:
        print(f"chain of {k} functions: {arrays_of_a_chain(k):.2f} arrays of at most {k + 3}")
    return everything


def _line(of: Found, width: int) -> str:
    ratio = of.ours / of.theirs
    notes = "" if of.is_ahead else "  behind"
    if of.differences:
        notes += f"  another {' and '.join(of.differences)}: {DIFFERENT.get(of.name, 'nobody knows why')}"
    return (
        f"{of.name:{width}}{of.plain * 1e6:>8.1f} us{of.ours / of.plain:>9.2f}{of.theirs / of.plain:>10.2f}"
        f"{ratio:>17.2f}{notes}"
    )


def _summary(rows: Sequence[Found]) -> list[str]:
    ahead, count = sum(of.is_ahead for of in rows), len(rows)
    mean = geometric_mean([of.ours / of.theirs for of in rows])
    different = sum(bool(of.differences) for of in rows)
    return [
        f"adbc / autograd, geometric mean {mean:.2f}; {different} of {count} with another value or gradient",
        f"ahead on {ahead} of {count}, {ahead / count:.0%}; to be {AIM:.0%}",
    ]
