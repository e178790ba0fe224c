"""Second derivatives of single calls, in the four ways to nest the modes.

A call is made into a function of one number: its arguments move along a parabola through their values, and
all that it gives and leaves in its arguments is added up with weights, and squared.  So the second derivative
of that function has parts in which the rule's own derivative is differentiated, and others in which it stands
twice.  The function is written for its call, in straight lines: nothing in it has a derivative but what the
call makes of it.
"""

from __future__ import annotations

import dataclasses
import math
import warnings
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

import adbc
from adbc.errors import AdbcError, ConstWriteError, LiftError, MissingRuleError, UnsupportedError

__all__ = ["WAYS", "Verdict", "judge"]

REFUSALS = (ConstWriteError, LiftError, MissingRuleError, UnsupportedError)
"""What a call may be refused by: the other errors of adbc's say that something is broken."""

AT = 0.37
"""Where the arguments have their own values: no factor is 0 or 1 there."""

Function = Callable[[float], Any]


def forward(f: Function) -> Function:
    return lambda t: adbc.jvp(f, (t,), (1.0,))[1]


MODES: dict[str, Callable[[Function], Function]] = {"forward": forward, "reverse": adbc.grad}
WAYS = {f"{outer} over {inner}": (outer, inner) for outer in MODES for inner in MODES}


@dataclasses.dataclass(frozen=True)
class Verdict:
    """What became of a call: "right", "refused", "wrong" or "error", or why nothing can be said of it, which
    begins with "no"; what was found; and in which way."""

    status: str
    message: str = ""


class _Unsuitable(Exception):
    """The call cannot be made into a function of one number."""


class _Writer:
    """Writes the function: statements that make the arguments, and an expression for what comes of them."""

    def __init__(self) -> None:
        self.scope: dict[str, Any] = {"__name__": __name__, "np": np, "deque": deque}
        self.lines: list[str] = []
        self.known: dict[int, str] = {}
        self.kept: list[Any] = []
        self.is_single = False
        self.moves = False
        self.rng = np.random.default_rng(7)

    def constant(self, x: Any) -> str:
        name = f"c{len(self.scope)}"
        self.scope[name] = x
        return name

    def assigned(self, x: Any, text: str) -> str:
        name = f"x{len(self.lines)}"
        self.lines.append(f"{name} = {text}")
        self.known[id(x)] = name
        self.kept.append(x)
        return name

    # -- arguments ---------------------------------------------------------------------------------------

    def moved(self, x: Any) -> str:
        """An expression for what is `x` where the number is `AT`."""
        if id(x) in self.known and not isinstance(x, (float, complex)):
            return self.known[id(x)]
        if isinstance(x, np.ndarray):
            return self.array(x)
        if isinstance(x, (float, complex, np.inexact)):
            return self.number(x)
        if type(x) in (list, tuple):
            inside = "".join(f"{self.moved(v)}, " for v in x)
            return self.assigned(x, f"[{inside}]" if type(x) is list else f"({inside})")
        if type(x) is deque:
            return self.assigned(x, f"deque([{''.join(f'{self.moved(v)}, ' for v in x)}], {x.maxlen})")
        if type(x) is dict:
            return self.assigned(
                x, f"{{{', '.join(f'{self.constant(k)}: {self.moved(v)}' for k, v in x.items())}}}"
            )
        if isinstance(x, tuple) and hasattr(x, "_make"):
            inside = "".join(f"{self.moved(v)}, " for v in x)
            return self.assigned(x, f"{self.constant(type(x))}._make(({inside}))")
        if hasattr(x, "__next__"):
            raise _Unsuitable("no copy of an iterator")
        if type(x) in (set, bytearray):
            return self.assigned(x, f"{type(x).__name__}({self.constant(type(x)(x))})")
        if _is_object(x):
            name = self.assigned(x, f"{self.constant(type(x))}.__new__({self.constant(type(x))})")
            for key, v in vars(x).items():
                self.lines.append(f"{name}.{key} = {self.moved(v)}")
            return name
        return self.constant(x)

    def number(self, x: Any) -> str:
        if not np.isfinite(x):
            return self.constant(x)
        self.moves = True
        d, e = self.rng.uniform(0.3, 1.0, 2)
        self.is_single |= isinstance(x, (np.float32, np.complex64, np.float16))
        if isinstance(x, (complex, np.complexfloating)):
            d, e = d * np.exp(1j * d), e * np.exp(2j * e)
        d, e = (complex if isinstance(d, complex) else float)(d), 0.3 * e
        text = f"{self.constant(x)} + s * {self.constant(d)} + s2 * {self.constant(type(d)(e))}"
        return f"{self.constant(type(x))}({text})" if isinstance(x, np.generic) else f"({text})"

    def array(self, x: Any) -> str:
        if x.dtype.kind not in "fc" or not x.size:
            copied = self.constant(np.array(x, subok=True))
            if x.dtype.kind == "O":
                raise _Unsuitable("no numbers in an array of objects")
            return self.assigned(x, f"{copied}.copy()" if x.flags.writeable else copied)
        self.moves = True
        self.is_single |= x.dtype.itemsize < (8 if x.dtype.kind == "f" else 16)
        finite = np.isfinite(np.asarray(x))
        parts = []
        for size in (1.0, 0.3):
            d = self.rng.uniform(0.3, 1.0, x.shape) * np.where(self.rng.random(x.shape) < 0.5, -1.0, 1.0)
            d = np.where(finite, d * size, 0.0).astype(x.dtype)
            parts.append(d * (1 + 0.5j) if x.dtype.kind == "c" else d)
        a = np.array(np.asarray(x))
        order = "T" if x.ndim > 1 and x.T.flags.c_contiguous and not x.flags.c_contiguous else ""
        a, d, e = (np.array(v.T if order else v).astype(x.dtype) for v in (a, *parts))
        text = f"{self.constant(a)} + s * {self.constant(d)} + s2 * {self.constant(e)}"
        text = f"np.array({text})" if not x.ndim else f"({text})"
        if order:
            text += ".T"
        if type(x) is not np.ndarray:
            text += f".view({self.constant(type(x))})"
        return self.assigned(x, text)

    # -- results -----------------------------------------------------------------------------------------

    def parts(self, path: str, x: Any, weight: float, depth: int = 0) -> Iterator[str]:
        """Expressions for the numbers in `x`, which is at `path`, with weights."""
        if depth > 6:
            return
        if isinstance(x, np.ndarray):
            if x.dtype.kind in "fc" and x.size:
                w = weight * np.cos(1.0 + np.arange(x.size)).reshape(x.shape).astype(x.dtype)
                if x.dtype.kind == "c":
                    w = w * (1.0 - 0.6j)
                real = ".real" if x.dtype.kind == "c" else ""
                yield f"np.asarray({path} * {self.constant(w)}).sum(){real}"
            elif x.dtype.kind == "O":
                for i in np.ndindex(*x.shape):
                    yield from self.parts(f"{path}[{i!r}]", x[i], weight * math.cos(1.0 + sum(i)), depth + 1)
        elif isinstance(x, (float, np.floating)):
            yield f"{path} * {weight!r}"
        elif isinstance(x, (complex, np.complexfloating)):
            yield f"({path} * {complex(weight, -0.6 * weight)!r}).real"
        elif isinstance(x, (list, tuple, deque)):
            for i, v in enumerate(x):
                yield from self.parts(f"{path}[{i}]", v, weight * math.cos(1.0 + i), depth + 1)
        elif isinstance(x, dict):
            for i, (k, v) in enumerate(x.items()):
                yield from self.parts(f"{path}[{self.constant(k)}]", v, weight * math.cos(1.0 + i), depth + 1)
        elif _is_object(x):
            for i, (k, v) in enumerate(vars(x).items()):
                yield from self.parts(f"{path}.{k}", v, weight * math.cos(1.0 + i), depth + 1)

    def source(self, end: str) -> str:
        body = "".join(f"    {line}\n" for line in self.lines)
        return f"def f(t):\n    s = t - {AT!r}\n    s2 = s * s\n{body}{end}"

    def made(self, end: str) -> Any:
        exec(self.source(end), self.scope)
        return self.scope["f"]


def _is_single(x: Any) -> bool:
    """Whether there are numbers of single precision in a result."""
    if isinstance(x, tuple | list):
        return any(map(_is_single, x))
    return getattr(getattr(x, "dtype", None), "char", "") in ("e", "f", "F")


def _is_object(x: Any) -> bool:
    cls = type(x)
    return (
        hasattr(x, "__dict__") and not isinstance(x, type) and cls.__module__.startswith(("tests", "test_"))
    )


def written(function: Callable[..., Any], args: Sequence[Any]) -> tuple[Function, bool, str]:
    """The function of one number, whether it is of single precision, and its text."""
    writer = _Writer()
    given = [writer.moved(x) for x in args]
    if not writer.moves:
        raise _Unsuitable("no number among the arguments")
    names = [f"a{i}" for i in range(len(given))]
    writer.lines += [f"{name} = {text}" for name, text in zip(names, given, strict=True)]
    writer.lines.append(f"out = {writer.constant(function)}({', '.join(names)})")
    seen = writer.made(f"    return (out, {''.join(f'{n}, ' for n in names)})\n")
    first = seen(AT)
    if hasattr(first[0], "__next__"):
        writer.lines.append("out = list(out)")
        first = writer.made(f"    return (out, {''.join(f'{n}, ' for n in names)})\n")(AT)
    writer.is_single |= any(_is_single(x) for x in first)
    parts = [
        text
        for k, (name, x) in enumerate(zip(["out", *names], first, strict=True))
        if not (k and isinstance(x, (float, complex, np.inexact)))
        for text in writer.parts(name, x, 1.0 if k == 0 else 0.37 / k)
    ]
    if not parts:
        raise _Unsuitable("no number in the result")
    end = "".join(f"    r = r + {text}\n" for text in parts)
    end = f"    r = 0.0\n{end}    r = float(r)\n    return r + 0.3 * r * r\n"
    return writer.made(end), writer.is_single, writer.source(end)


def _slope(g: Function, h: float) -> float:
    return float((g(AT + h) - g(AT - h)) / (2.0 * h))


def judge(function: Callable[..., Any], args: Sequence[Any], ways: Sequence[str] = tuple(WAYS)) -> Verdict:
    """What becomes of the second derivative of ``function(*args)``, in all `ways`."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            f, is_single, text = written(function, args)
            values = f(AT), f(AT)
        except _Unsuitable as error:
            return Verdict(str(error))
        except Exception as error:  # whatever the function says of arguments that were made anew
            return Verdict("no value", f"{type(error).__name__}: {error}")
        if not all(map(math.isfinite, values)) or values[0] != values[1]:
            return Verdict("no value that is finite and stays the same")
        return _judged(f, is_single, text, ways)


def _judged(f: Function, is_single: bool, text: str, ways: Sequence[str]) -> Verdict:
    first = forward(f)
    try:
        if not math.isfinite(first(AT)):
            return Verdict("no first derivative that is finite")
        h = 1e-2 if is_single else 1e-3
        slopes = [_slope(first, h), _slope(first, h / 2), _slope(first, h / 4)]
    except AdbcError as error:
        return Verdict("no first derivative", f"{type(error).__name__}: {error}")
    wanted = (4.0 * slopes[2] - slopes[1]) / 3.0
    size = max(1.0, abs(wanted), abs(first(AT)))
    rough, tight = (3e-2, 1e-3) if is_single else (1e-5, 1e-8)
    if not math.isfinite(wanted) or abs(wanted - (4.0 * slopes[1] - slopes[0]) / 3.0) > rough * size:
        wanted = math.nan
    found: dict[str, float] = {}
    for way in ways:
        outer, inner = WAYS[way]
        try:
            found[way] = float(MODES[outer](MODES[inner](f))(AT))
        except REFUSALS as error:
            return Verdict("refused", f"{way}: {type(error).__name__}: {error}")
        except Exception as error:  # a second derivative that ends otherwise is broken
            return Verdict("error", f"{way}: {type(error).__name__}: {error}\n{text}")
    numbers = list(found.values())
    if any(not abs(x - numbers[0]) <= tight * size for x in numbers):
        return Verdict("wrong", f"{found}, differences {wanted}\n{text}")
    if math.isnan(wanted):
        return Verdict("no slope of the first derivative", f"{found}, {slopes}")
    if abs(numbers[0] - wanted) > rough * size:
        return Verdict("wrong", f"{found}, differences {wanted}\n{text}")
    return Verdict("right")
