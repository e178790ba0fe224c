"""Random programs of functions in a function: each reads variables of the one around it, in loops and between
calls, and some set them."""

from __future__ import annotations

import math
import random
import types
from collections.abc import Callable

import adbc

__all__ = ["ClosureProgram", "check", "closure_program"]

X, STEP = 0.83, 1e-6
WAYS: list[dict[str, object]] = [
    {"warm_after": 0}, {"warm_after": 2}, {"warm_after": 0, "speculation": "always"},
]  # fmt: skip

_NUMBERS = ("x", "x * x", "1.5", "x + 0.5")
_ELEMENTS = ("x", "2.0", "x * 0.5", "1.0")


def closure_program(seed: int) -> tuple[Callable[[float], float], str] | None:
    """A function of a number, and its source; None if it has no finite value at 0.83."""
    source = _Writer(seed).source()
    module = types.ModuleType(f"closures_{seed}")
    exec(compile(source, f"<closures {seed}>", "exec"), vars(module))
    function: Callable[[float], float] = vars(module)["f"]
    try:
        value = function(X)
    except (ArithmeticError, IndexError):
        return None
    return (function, source) if math.isfinite(value) and abs(value) < 1e6 else None


class _Writer:
    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.kinds = {
            f"v{i}": self.random.choice(("float", "list", "float", "tuple"))
            for i in range(self.random.randint(2, 4))
        }
        self.functions: list[str] = []
        self.lines: list[str] = []

    def source(self) -> str:
        variables, pick = [*self.kinds], self.random.choice
        self.put(0, "def f(x):")
        for name in variables:
            self.put(1, f"{name} = {self.value(name)}")
        self.put(1, "log = []")
        for i in range(self.random.randint(2, 4)):
            self.put(1, f"def g{i}(a, n):")
            sets = [name for name in variables if self.random.random() < 0.25]
            if sets:
                self.put(2, f"nonlocal {', '.join(sets)}")
            self.put(2, "t = a")
            self.block(2, sets)
            self.put(2, "return t")
            self.functions.append(f"g{i}")
        self.put(1, "out = 0.0")
        for _ in range(self.random.randint(2, 4)):
            self.put(1, f"out += {pick(self.functions)}({pick(_NUMBERS)}, {self.random.randint(0, 3)})")
            if self.random.random() < 0.5:
                name = pick(variables)
                self.put(1, f"{name} = {self.value(name)}")
        for name in variables:
            self.put(1, f"out += 0.1 * {self.read(name)}")
        self.put(1, "return out + sum(log) * 0.01")
        return "\n".join(self.lines)

    def put(self, depth: int, line: str) -> None:
        self.lines.append("    " * depth + line)

    def value(self, name: str) -> str:
        kind = self.kinds[name]
        if kind == "float":
            return self.random.choice(_NUMBERS)
        elements = ", ".join(self.random.choice(_ELEMENTS) for _ in range(self.random.randint(1, 3)))
        return f"[{elements}]" if kind == "list" else f"({elements},)"

    def read(self, name: str) -> str:
        if self.kinds[name] == "float":
            return name
        return self.random.choice((f"{name}[0]", f"{name}[-1]", f"sum({name})", f"{name}[len({name}) - 1]"))

    def set(self, name: str) -> str:
        kind = self.kinds[name]
        if kind == "float":
            return f"{name} = {name} * 0.7 + 0.1 * x"
        longer = f"{name} + [t * 0.1]" if kind == "list" else f"{name} + (t * 0.1,)"
        return f"{name} = {self.random.choice((longer, self.value(name)))}"

    def block(self, depth: int, sets: list[str]) -> None:
        """A few statements; `sets`: the variables that are set."""
        for _ in range(self.random.randint(1, 3)):
            pick, chance = self.random.choice, self.random.random()
            one, other = pick([*self.kinds]), pick([*self.kinds])
            if chance < 0.45:
                self.put(depth, f"t = t + {self.read(one)} * {pick(('0.5', 'a', self.read(other)))} * 0.1")
            elif chance < 0.55 and sets:
                self.put(depth, self.set(pick(sets)))
            elif chance < 0.63 and self.kinds[one] == "list":
                self.put(depth, f"{one}[0] = {one}[0] * 0.9 + t * 0.05")
            elif chance < 0.75 and self.functions:
                self.put(depth, f"t = t + 0.3 * {pick(self.functions)}(t * 0.2, n - 1)")
            elif chance < 0.85 and depth < 4:
                self.put(depth, f"for k in {pick(('range(n)', 'range(2)', '(1.0, x, 0.3)'))}:")
                self.block(depth + 1, sets)
            elif chance < 0.92:
                self.put(depth, f"if t > {self.read(one)}:")
                self.put(depth + 1, f"t = t - {self.read(other)} * 0.2")
            else:
                self.put(depth, f"log.append({self.read(one)})")


class ClosureProgram:
    """The program of a seed."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        made = closure_program(seed)
        self.function, self.source = (None, "") if made is None else made


def check(program: ClosureProgram) -> str:
    """Compare four calls in both modes with differences; "no value" if the program has none."""
    f, source = program.function, program.source
    if f is None:
        return "no value"
    slope = (f(X + STEP) - f(X - STEP)) / (2 * STEP)
    with adbc.use(adbc.Config(**WAYS[program.seed % len(WAYS)])):  # type: ignore[arg-type]
        for _ in range(4):
            value, gradient = adbc.value_and_grad(f)(X)
            _, tangent = adbc.jvp(f, (X,), (1.0,))
            assert math.isclose(value, f(X), rel_tol=1e-9), source
            assert math.isclose(gradient, slope, rel_tol=1e-5, abs_tol=1e-5), source
            assert math.isclose(tangent, gradient, rel_tol=1e-9, abs_tol=1e-9), source
    return "right"
