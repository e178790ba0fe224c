"""Kinds of arguments for functions that have rules, each made of a number: for `test_argument_kinds`."""

from __future__ import annotations

import builtins
import cmath
import math
import operator
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import adbc
from adbc.rules.numpy.ufuncs import UFUNC_ROWS
from tests.rules.numpy.harness import ROWS

__all__ = ["FORMS", "KINDS", "check", "functions"]

BASE = np.array([0.31, 0.52, 0.77])
DIRECTION = np.array([0.6, -0.4, 0.9])
SQUARE = np.array([[2.1, 0.3, 0.4], [0.2, 1.7, -0.3], [0.5, 0.1, 2.6]])
ALONG = np.array([[0.3, -0.2, 0.5], [0.1, 0.4, 0.2], [-0.3, 0.6, 0.2]])


class Number:
    """An object that is a number to whoever asks."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __float__(self) -> Any:
        return self.value

    def __add__(self, other: Any) -> Any:
        return self.value + other

    __radd__ = __add__

    def __mul__(self, other: Any) -> Any:
        return self.value * other

    __rmul__ = __mul__

    def __lt__(self, other: Any) -> Any:
        return self.value < other


class Arraylike:
    """An object that is an array to NumPy."""

    def __init__(self, values: Any) -> None:
        self.values = values

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return self.values


def _read_only(a: Any) -> Any:
    a.setflags(write=False)
    return a


def _strided(a: Any) -> Any:
    return np.repeat(a, 2)[::2]


KINDS: dict[str, Callable[[Any], Any]] = {
    "float": lambda t: 0.31 + 0.6 * t,
    "number of NumPy": lambda t: np.float64(0.31) + 0.6 * t,
    "complex number of NumPy": lambda t: np.complex128(complex(0.31 + 0.6 * t, 0.2 - 0.1 * t)),
    "complex": lambda t: complex(0.31 + 0.6 * t, 0.2 - 0.1 * t),
    "0-d array": lambda t: np.array(0.31 + 0.6 * t),
    "array": lambda t: BASE + t * DIRECTION,
    "complex array": lambda t: BASE + t * DIRECTION + 1j * (0.2 - 0.3 * t),
    "strided view": lambda t: _strided(BASE + t * DIRECTION),
    "backwards": lambda t: (BASE + t * DIRECTION)[::-1],
    "read-only array": lambda t: _read_only(BASE + t * DIRECTION),
    "broadcast": lambda t: np.broadcast_to(0.31 + 0.6 * t, (3,)),
    "matrix": lambda t: SQUARE + t * ALONG,
    "transposed matrix": lambda t: (SQUARE + t * ALONG).T,
    "list": lambda t: [0.31 + 0.6 * t, 0.52, 0.77 + t * t],
    "list of lists": lambda t: [[2.1 + t, 0.3], [0.2 * t, 1.7]],
    "tuple": lambda t: (0.31 + 0.6 * t, 0.52 - t, 0.77),
    "list of 0-d arrays": lambda t: [np.array(0.31 + t), np.array(0.52)],
    "object": lambda t: Number(0.31 + 0.6 * t),
    "like an array": lambda t: Arraylike(BASE + t * DIRECTION),
}
"""By name, what makes an argument of the kind of a number: its derivative is not zero."""

FORMS: dict[str, Callable[[Any, Any], tuple[Any, ...]]] = {
    "f(a)": lambda a, b: (a,),
    "f(a, 0.7)": lambda a, b: (a, 0.7),
    "f(0.7, a)": lambda a, b: (0.7, a),
    "f(a, b)": lambda a, b: (a, b),
    "f(a, 2)": lambda a, b: (a, 2),
    "f([a, b])": lambda a, b: ([a, b],),
    "f(a, 0.2, 0.6)": lambda a, b: (a, 0.2, 0.6),
    "f(0.2, a, 0.6)": lambda a, b: (0.2, a, 0.6),
}

_LEFT_OUT = {
    "empty", "empty_like", "save", "savez", "savez_compressed", "savetxt", "load", "loadtxt", "genfromtxt",
    "fromfile", "frombuffer", "memmap", "input", "print", "exec", "eval", "open", "breakpoint", "id", "hash",
    "info", "source", "show_config", "may_share_memory", "shares_memory", "_empty_like", "help", "compile",
    "nextafter", "spacing",
}  # fmt: skip
"""What reads memory that holds anything, or files, or writes; and what differences say nothing about."""
_MODULES = ("math", "cmath", "_operator", "numpy", "builtins")


def functions() -> dict[str, Any]:
    """The functions with rules of `math`, `cmath`, `operator`, NumPy and the numeric ones of `builtins`."""
    found: dict[str, Any] = {}
    for module in (math, cmath, operator):
        for name, function in vars(module).items():
            if callable(function) and not name.startswith("_"):
                found[f"{module.__name__}.{name}"] = function
    for name in ("abs", "round", "sum", "min", "max", "pow", "divmod", "float", "complex", "sorted", "bool"):
        found[f"builtins.{name}"] = getattr(builtins, name)
    for row in [*ROWS, *UFUNC_ROWS]:
        function = row.function
        module = getattr(function, "__module__", None) or ""
        name = getattr(function, "__name__", "")
        if type(function) is type or not (isinstance(function, np.ufunc) or module.startswith("numpy")):
            continue
        if "random" not in module and not name.startswith("_"):
            found[f"{module if module else 'numpy'}.{name}"] = function
    return {name: f for name, f in sorted(found.items()) if name.rpartition(".")[2] not in _LEFT_OUT}


def total(out: Any) -> Any:
    """A number that depends on all numbers in `out`, on each in its own way."""
    if isinstance(out, (tuple, list)):
        result = 0.0
        for k, part in enumerate(out):
            result = result + (k + 1.0) * total(part)
        return result
    if isinstance(out, np.ndarray):
        if out.dtype.kind not in "fc":
            return 0.0
        weighed = np.sum(out * (1.0 + 0.3 * np.arange(float(out.size)).reshape(out.shape)))
        return weighed.real + 0.7 * weighed.imag if out.dtype.kind == "c" else weighed
    if isinstance(out, (complex, np.complexfloating)):
        return out.real + 0.7 * out.imag
    return out if isinstance(out, (float, np.floating)) else 0.0


def check(function: Any) -> Iterator[tuple[str, str]]:
    """The calls of `function` in which a mode is not right, and what it says; those that raise plainly, or
    that differences say nothing of, are passed over."""
    for kind, make in KINDS.items():
        for form, arrange in FORMS.items():

            def f(t: Any, make: Any = make, arrange: Any = arrange) -> Any:
                return total(function(*arrange(make(t), make(0.5 * t))))

            for problem in _problems(f):
                yield f"{form} of {kind}", problem


def _problems(f: Any, t: float = 0.05) -> Iterator[str]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            value = float(f(t))
            slopes = [(float(f(t + h)) - float(f(t - h))) / (2.0 * h) for h in (1e-5, 3e-6)]
        except Exception:  # the call is none
            return
        if not all(map(math.isfinite, [value, *slopes])) or not _near(slopes[0], slopes[1], 1e-5):
            return
        for mode, take in (
            ("forward", lambda: adbc.jvp(f, (t,), (1.0,))),
            ("reverse", lambda: adbc.value_and_grad(f)(t)),
        ):
            try:
                found, slope = take()
            except adbc.AdbcError:
                continue
            except Exception as error:  # an error of the engine's own
                yield f"{mode}: {type(error).__name__}: {error}"
                continue
            if not (_near(float(found), value, 1e-9) and _near(float(slope), slopes[1], 1e-5)):
                yield f"{mode}: {found}, {slope}, not {value}, {slopes[1]}"


def _near(a: float, b: float, tolerance: float) -> bool:
    return abs(a - b) <= tolerance * max(1.0, abs(a), abs(b))
