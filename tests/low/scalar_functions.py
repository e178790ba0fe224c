"""Random functions of floats and ints that have native code, as source text.

Values are not kept in any range: a function may divide by zero, leave the domain of a logarithm, or make ints
of more than 64 bits.  What it does then is what has to be the same.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from typing import Any

__all__ = ["function", "inputs", "source"]

PRELUDE = """
import math

def wave(t, s=0.5):
    return s * math.sin(t) + 0.25

def branchy(t, u):
    if t > u:
        return t * u
    if u > 0.5:
        return u - t
    return 0.5 * t

def total(t, k):
    s = 0.0
    for i in range(k):
        s = s + t / (1.0 + i)
    return s
"""

FLOATS = ("x", "y", "z")


class Writer:
    """Writes one function."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.lines: list[str] = []
        self.floats = ["x", "y"]
        self.ints = ["n"]
        self.names = 0
        self.size = 0
        self.limit = self.random.choice((3, 5, 8, 12))

    def pick(self, *choices: Any) -> Any:
        return self.random.choice(choices)

    def line(self, depth: int, text: str) -> None:
        self.lines.append("    " * depth + text)

    def name(self, stem: str) -> str:
        self.names += 1
        return f"{stem}{self.names}"

    def integer(self, depth: int = 1) -> str:
        if depth == 0 or self.random.random() < 0.5:
            return str(self.pick(*self.ints, *self.ints, "2", "3", "-1"))
        a, b = self.integer(depth - 1), self.integer(depth - 1)
        return str(
            self.pick(
                f"({a} + {b})",
                f"({a} - {b})",
                f"({a} * {b})",
                f"abs({a})",
                f"({a} % 3)",
                f"({a} // 2)",
                f"max({a}, {b})",
                f"-({a})",
                f"int({self.pick(*self.floats)})",
            )
        )

    def condition(self) -> str:
        a, b = self.value(1), self.value(1)
        test = self.pick("<", ">", "<=", ">=", "==", "!=")
        simple = self.pick(f"{a} {test} {b}", f"{self.integer()} {test} {self.integer()}", f"{a} {test} 0.5")
        return str(
            self.pick(
                simple, simple, f"not {simple}", f"({simple} and {a} > 0.0)", f"({simple} or {b} < 1.0)"
            )
        )

    def value(self, depth: int = 2) -> str:
        if depth == 0 or self.random.random() < 0.2:
            return str(self.pick(*self.floats, *self.floats, "0.5", "1.5", "-0.3", "2.0"))
        a, b = self.value(depth - 1), self.value(depth - 1)
        return str(
            self.pick(
                f"({a} + {b})",
                f"({a} - {b})",
                f"({a} * {b})",
                f"({a} / {b})",
                f"-({a})",
                f"({a} * {self.integer()})",
                f"({a} + {self.integer()})",
                f"({a}) ** 2",
                f"({a}) ** 3",
                f"abs({a}) ** 0.5",
                f"({a}) ** {self.integer(0)}",
                f"abs({a}) ** ({b})",
                f"math.sin({a})",
                f"math.cos({a})",
                f"math.exp({a})",
                f"math.log({a})",
                f"math.sqrt({a})",
                f"math.tanh({a})",
                f"math.atan2({a}, {b})",
                f"math.log(abs({a}) + 1.0)",
                f"math.exp(-({a}) ** 2)",
                f"abs({a})",
                f"max({a}, {b})",
                f"min({a}, {b})",
                f"({a} % {self.pick('0.7', b)})",
                f"math.erf({a})",
                f"math.atan({a})",
                f"math.sqrt(abs({a}))",
                f"float({self.integer()})",
                f"math.pow(abs({a}), {b})",
                f"({a} if {self.simple()} else {b})",
                f"wave({a})",
                f"wave({a}, {b})",
                f"branchy({a}, {b})",
                f"total({a}, {self.pick('2', '3')})",
                f"({a}, {b})[{self.pick(0, 1)}]",
                f"math.hypot({a}, {b})",
                f"math.fabs({a})",
                f"math.copysign({a}, {b})",
                f"({a} // 0.5)",
                f"math.asin({a})",
                f"math.degrees({a})",
            )
        )

    def simple(self) -> str:
        return f"{self.pick(*self.floats)} {self.pick('<', '>')} {self.pick('0.5', *self.floats)}"

    def statement(self, depth: int, in_loop: bool) -> None:
        self.size += 1
        kind = self.pick(*["set"] * 6, "new", "int", "if", "for", "while", "pair", "break", "return", "list")
        if kind == "new":
            made, value = self.name("v"), self.value()
            self.line(depth, f"{made} = {value}")
            if depth == 1:
                self.floats.append(made)
        elif kind == "int":
            made, value = self.name("k"), self.integer(2)
            self.line(depth, f"{made} = {value}")
            if depth == 1:
                self.ints.append(made)
        elif kind == "pair" and len(self.floats) > 1:
            a, b = self.random.sample(self.floats, 2)
            self.line(depth, f"{a}, {b} = {self.value(1)}, {self.value(1)}")
        elif kind == "if" and depth < 4:
            self.line(depth, f"if {self.condition()}:")
            self.body(depth + 1, in_loop)
            if self.random.random() < 0.5:
                self.line(depth, "else:")
                self.body(depth + 1, in_loop)
        elif kind == "for" and depth < 4:
            index = self.name("i")
            bounds = self.pick("3", "n", "2, 5", "5, 0, -2", f"{self.integer(0)} % 4")
            self.line(depth, f"for {index} in range({bounds}):")
            self.ints.append(index)
            self.body(depth + 1, True)
            self.ints.remove(index)
        elif kind == "while" and depth < 4:
            counter = self.name("w")
            self.line(depth, f"{counter} = 0")
            self.line(depth, f"while {counter} < {self.pick(2, 4)} and {self.simple()}:")
            self.line(depth + 1, f"{counter} += 1")
            self.body(depth + 1, True)
        elif kind == "break" and in_loop:
            self.line(depth, f"if {self.simple()}:")
            self.line(depth + 1, self.pick("break", "continue"))
        elif kind == "return" and depth > 1:
            self.line(depth, f"return {self.value()}")
        else:
            self.line(
                depth, f"{self.pick(*self.floats)} {self.pick('=', '=', '+=', '*=', '-=')} {self.value()}"
            )

    def body(self, depth: int, in_loop: bool) -> None:
        before = len(self.floats), len(self.ints)
        for _ in range(self.pick(1, 1, 2, 3)):
            self.statement(depth, in_loop)
        del self.floats[before[0] :], self.ints[before[1] :]


def source(seed: int) -> str:
    """The source of function number `seed`, which is called ``f``."""
    writer = Writer(seed)
    default = ", z=0.75" if writer.random.random() < 0.3 else ""
    writer.line(0, f"def f(x, y, n{default}):")
    if default:
        writer.floats.append("z")
    while writer.size < writer.limit:
        writer.statement(1, False)
    writer.line(1, f"return {' + '.join(writer.floats)}")
    return "\n".join(writer.lines) + "\n"


def function(seed: int) -> Callable[..., Any]:
    """Function number `seed`."""
    space: dict[str, Any] = {}
    exec(compile(PRELUDE, "<prelude>", "exec"), space)
    exec(compile(source(seed), f"<function {seed}>", "exec"), space)
    found: Callable[..., Any] = space["f"]
    return found


_SPECIAL = (0.0, -0.0, 1.0, -1.0, 0.5, 2.0, 1e-320, 1e300, -3.0, math.pi, math.inf, math.nan)


def inputs(seed: int, number: int) -> tuple[float, float, int]:
    """Arguments: most are ordinary, some are not."""
    rng = random.Random(f"{seed} {number}")
    floats = [rng.choice(_SPECIAL) if rng.random() < 0.15 else rng.uniform(-1.5, 2.5) for _ in range(2)]
    return (
        floats[0],
        floats[1],
        rng.choice((0, 1, 2, 3, 4, 2**40 if rng.random() < 0.2 else 5) if rng.random() < 0.9 else (3,)),
    )
