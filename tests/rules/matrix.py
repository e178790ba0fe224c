"""Each kind of rules on each kind of arguments: what is tried, and what is asked of it.

The functions are chosen from the table of rules itself: of each class of rows, for each library, some that
stand far apart.  So a new class of rows is tried without being named here.  An argument is made from a number
in one of the `KINDS` of ways; the function is called with it once or twice, and with numbers behind it, as
it takes them; and a number to which all contribute, the arguments included, is differentiated.
"""

from __future__ import annotations

import collections
import contextlib
import dataclasses
import io
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

import adbc
from adbc.errors import AdbcError, ConstWriteError, LiftError, MissingRuleError, UnsupportedError
from adbc.rules import default_table
from tests.properties.numpy_calls import quiet, total

__all__ = ["KINDS", "Representative", "check", "representatives"]

REFUSALS = (ConstWriteError, LiftError, MissingRuleError, UnsupportedError)
"""What a function may be refused by: the other errors of adbc's say that something is broken."""


class Float(float):
    """A number of a class of the user's."""


class Array(np.ndarray):
    """An array of a class of the user's."""


class WithFloat:
    """What can be made a number."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __float__(self) -> Any:
        return float(self.value * 1.0)


class WithArray:
    """What can be made an array."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.array([self.value, 0.7 * self.value])


def locked(x: Any) -> Any:
    """`x`, which cannot be written to any more."""
    x.flags.writeable = False
    return x


def vector(s: Any) -> Any:
    """Four numbers apart from each other."""
    return np.array([s, 0.3 * s, 1.7, 0.9 * s])


def square(s: Any) -> Any:
    """A matrix that is far from singular."""
    return np.array([[2.0 + s, 0.3], [0.4 * s, 1.5]])


KINDS: dict[str, Callable[[Any], Any]] = {
    "float": lambda s: s * 1.0,
    "NumPy number": lambda s: np.float64(s) * 1.0,
    "no dimensions": lambda s: np.array(s),
    "array": vector,
    "matrix": square,
    "strided": lambda s: np.array([s, 0.0, 0.3 * s, 0.0, 1.7, 0.0])[::2],
    "reversed": lambda s: vector(s)[::-1],
    "read-only": lambda s: locked(vector(s)),
    "Fortran order": lambda s: np.asfortranarray(square(s)),
    "empty": lambda s: vector(s)[:0],
    "repeated": lambda s: np.broadcast_to(np.array(s), (3,)),
    "list": lambda s: [s, 0.3 * s, 1.7],
    "tuple": lambda s: (s, 0.3 * s, 1.7),
    "nested list": lambda s: [[2.0 + s, 0.3], [0.4 * s, 1.5]],
    "list of arrays": lambda s: [vector(s), 0.5 * vector(s)],
    "with __float__": WithFloat,
    "with __array__": WithArray,
    "class of floats": lambda s: Float(s),  # the call is what is differentiated
    "class of arrays": lambda s: vector(s).view(Array),
    "float32": lambda s: np.float32(s),
    "array of float32": lambda s: vector(s).astype(np.float32),
    "int": lambda s: 2,
    "array of int": lambda s: np.array([2, 1, 3]),
    "bool": lambda s: True,
    "complex": lambda s: s + 0.4j,
    "array of complex": lambda s: vector(s) + 0.4j,
    "array of objects": lambda s: np.array([s, 0.3 * s, 1.7], dtype=object),
}  # fmt: skip
"""The ways to make an argument of a number."""

OTHERS: list[tuple[Any, ...]] = [(), (0.6,), (1,), (0,), (0.6, 1.3)]
"""What may stand behind the argument, besides itself again."""

EACH = 3
"""How many functions stand for each kind of rules."""

LEFT_OUT: frozenset[Any] = frozenset(
    {time.sleep, print, np.ndarray.getfield, np.frombuffer, np.lib.stride_tricks.as_strided, id, hash}
)
"""Functions that must not be called with just anything, as some of them read memory that is nobody's; and
those that give something else each time, or jump everywhere."""


@dataclasses.dataclass(frozen=True)
class Representative:
    """A function that stands for a kind of rules."""

    kind: str
    name: str
    function: Any = dataclasses.field(compare=False)

    def __str__(self) -> str:
        return f"{self.kind}: {self.name}"


def _name(function: Any) -> str:
    owner = getattr(function, "__objclass__", None) or getattr(function, "__self__", None)
    prefix = f"{owner.__name__}." if isinstance(owner, type) else ""
    return f"{prefix}{getattr(function, '__name__', type(function).__name__)}"


def representatives() -> Iterator[Representative]:
    """Some functions for each class of rows and each library, always the same."""
    table = default_table()
    table.load()
    kinds: dict[str, dict[str, Any]] = collections.defaultdict(dict)
    for function, rows in list(table._rows.items()):
        module = str(getattr(function, "__module__", None) or "builtins")
        if module.startswith("numpy.random"):  # no two draws are the same, and no argument is checked
            continue
        if module.partition(".")[0] in ("tests", "adbc") or module == "__main__" or not callable(function):
            continue
        if module.endswith("_rotation_cy"):  # the compiled code behind a class gives no arrays
            continue
        if function in LEFT_OUT or getattr(function, "__name__", "") == "__hash__":
            continue
        if getattr(function, "__name__", "_").startswith("_") and module != "builtins":
            continue
        for row in rows:
            library = "scipy" if module.startswith("scipy") else "numpy" if "numpy" in module else "python"
            kinds[f"{type(row).__name__} of {library}"].setdefault(_name(function), function)
    for kind, found in sorted(kinds.items()):
        names = sorted(found)
        for k in range(min(EACH, len(names))):
            name = names[(2 * k + 1) * len(names) // (2 * EACH) if len(names) > EACH else k]
            yield Representative(kind, name, found[name])


def program(function: Any, make: Callable[[Any], Any], others: Sequence[Any], times: int) -> Any:
    """A function of a number that calls `function` with an argument, so many `times`, and `others`."""

    def call(s: Any) -> Any:
        x = make(s)
        out = function(*([x] * times), *others)
        return total((out, x)) + 0.1 * s

    return call


def _plain(f: Callable[[float], Any], s: float) -> Any:
    with quiet(), contextlib.redirect_stdout(io.StringIO()):
        return f(s)


def holds_single(out: Any) -> bool:
    """Whether there are numbers of single precision in a result."""
    if isinstance(out, tuple | list):
        return any(map(holds_single, out))
    return getattr(getattr(out, "dtype", None), "char", "") in ("e", "f", "F")


def callable_forms(function: Any, make: Callable[[Any], Any], s: float) -> Iterator[Any]:
    """The programs that call `function` in a form that it takes, and give the same number twice, each with
    whether its result is of single precision."""
    for times in (1, 2):
        for others in OTHERS[: 4 if times == 1 else 1]:
            f = program(function, make, others, times)
            try:
                values = [_plain(f, s), _plain(f, s)]
                with quiet():
                    is_single = holds_single(function(*([make(s)] * times), *others))
            except Exception:  # what a function does not take is not what is tested
                continue
            if isinstance(values[0], float) and values[0] == values[1] and np.isfinite(values[0]):
                yield f, is_single
                break


def _slope(f: Callable[[float], Any], s: float, h: float) -> float:
    return float((_plain(f, s + h) - _plain(f, s - h)) / (2.0 * h))


def check(function: Any, kind: str, found: collections.Counter[str]) -> None:
    """Compare both modes with differences, for all forms of call that are possible; what came of each is
    counted."""
    make, s = KINDS[kind], 0.8137
    for f, of_singles in callable_forms(function, make, s):
        is_single = of_singles or "float32" in kind
        slopes = [_slope(f, s, h) for h in ((2e-2, 1e-2) if is_single else (1e-4, 2e-5))]
        rough = 3e-2 if is_single else 1e-4
        if not np.isfinite(slopes).all() or abs(slopes[0] - slopes[1]) > rough * max(1.0, abs(slopes[1])):
            found["without a slope"] += 1
            continue
        wanted = _plain(f, s)
        try:
            with quiet(), contextlib.redirect_stdout(io.StringIO()):
                value, tangent = adbc.jvp(f, (s,), (1.0,))
                back, gradient = adbc.value_and_grad(f)(s)
        except AdbcError as error:
            assert isinstance(error, REFUSALS), f"{type(error).__name__}: {error}"
            found["refused"] += 1
            continue
        tight = 1e-5 if is_single else 1e-11
        assert abs(value - wanted) <= tight * max(1.0, abs(wanted)), f"forward mode: {value}, not {wanted}"
        assert abs(back - wanted) <= tight * max(1.0, abs(wanted)), f"reverse mode: {back}, not {wanted}"
        size = max(1.0, abs(slopes[1]))
        assert abs(tangent - slopes[1]) <= rough * size, f"forward {tangent}, differences {slopes[1]}"
        assert abs(gradient - tangent) <= (1e-4 if is_single else 1e-9) * size, (
            f"reverse {gradient}, {tangent}"
        )
        found["right"] += 1
