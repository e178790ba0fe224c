"""Random programs that only read their arrays: formulas, parts, other shapes, loops and branches."""

from __future__ import annotations

import linecache
import random
from collections.abc import Callable
from typing import Any

import numpy as np

import adbc
from adbc.testing import test_rule as check_rule

__all__ = ["FormulaProgram"]

Shape = tuple[int, ...]
SHAPES: list[Shape] = [(3,), (2, 3), (1, 3), (2, 1), (1,)]
UNARY = [
    "-{a}", "{a} ** 2", "{a} ** 2.0", "{a} * {a}", "{a} / 2.0", "1.0 / (3.0 + {a} * {a})", "{a} + {a}",
    "np.sin({a})", "np.tanh({a})", "np.exp({a} * 0.3)", "np.where({a} > 0.5, {a}, {a} * 2.0)",
]  # fmt: skip


class FormulaProgram:
    """A function of some arrays and a number, `source`, and arguments for it.  All arrays that it computes
    are in what it returns."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.numbers = np.random.default_rng(seed)
        self.lines: list[str] = []
        self.shapes: dict[str, Shape] = {}
        parameters = [f"p{k}" for k in range(self.random.randint(1, 4))]
        for name in parameters:
            self.shapes[name] = self.random.choice(SHAPES)
        self.args = [self.numbers.uniform(0.3, 1.2, self.shapes[name]) for name in parameters]
        self.shapes["s"] = ()
        for k in range(self.random.randint(3, 12)):
            self._statement(f"x{k}")
        terms = [
            f"{name} * {k}.0" if shape == () else f"np.sum({name}) * {k}.0"
            for k, (name, shape) in enumerate(self.shapes.items(), 1)
        ]
        body = "\n    ".join([*self.lines, f"return ({' + '.join(terms)}) * 0.1"])
        self.source = f"def f({', '.join(parameters)}, s):\n    {body}\n"
        filename = f"<formulas {seed}>"
        linecache.cache[filename] = len(self.source), None, self.source.splitlines(keepends=True), filename
        namespace: dict[str, Any] = {"np": np}
        exec(compile(self.source, filename, "exec"), namespace)
        self.function: Callable[..., Any] = namespace["f"]

    def arguments(self) -> list[Any]:
        return [*(x.copy() for x in self.args), 0.7]

    def _array(self) -> str:
        return self.random.choice([name for name, shape in self.shapes.items() if shape != ()])

    def _statement(self, name: str) -> None:
        a = self._array()
        shape = self.shapes[a]
        match self.random.randrange(10):
            case 0 | 1 | 2:
                text, shape = self._binary(a)
            case 3 if len(shape) == 2:
                text, shape = f"{a}.T @ {a}", (shape[1], shape[1])
            case 4 if len(shape) == 2:
                text, shape = f"{a}.reshape({shape[0] * shape[1]})", (shape[0] * shape[1],)
            case 5 if shape[-1] > 1:
                index = ", ".join([*[":"] * (len(shape) - 1), self.random.choice(["1:", ":-1"])])
                text, shape = f"{a}[{index}]", (*shape[:-1], shape[-1] - 1)
            case 6:
                text, shape = f"{self.random.choice(['np.sum', 'np.mean'])}({a})", ()
            case 7:
                other = self.random.choice([a, "s"])
                self.lines += [
                    f"{name} = {a}",
                    f"for _ in range({self.random.randint(0, 3)}):",
                    f"    {name} = np.sin({name}) * {other} + {a}",
                ]
                self.shapes[name] = shape
                return
            case 8:
                other = self.random.choice([a, f"{a} + s"])
                self.lines += [
                    f"if np.sum({a}) > 1.0:",
                    f"    {name} = {a} * 2.0",
                    "else:",
                    f"    {name} = {other}",
                ]
                self.shapes[name] = shape
                return
            case _:
                text = self.random.choice(UNARY).format(a=a)
        self.lines.append(f"{name} = {text}")
        self.shapes[name] = shape

    def _binary(self, a: str) -> tuple[str, Shape]:
        b = self.random.choice([*self.shapes, "2.0"])
        try:
            shape = np.broadcast_shapes(self.shapes[a], self.shapes.get(b, ()))
        except ValueError:
            b, shape = a, self.shapes[a]
        x, y = self.random.sample([a, b], 2)
        return f"{x} {self.random.choice('+-*')} {y}", shape


def check(program: FormulaProgram) -> None:
    """Compare both modes, by every choice of arguments; gradients share no memory, arguments stay."""
    f, args = program.function, program.arguments()
    check_rule(f, *args)
    _, pullback = adbc.vjp(f, *program.arguments())
    wanted = pullback(1.0)
    everything = tuple(range(len(args)))
    gradient = adbc.grad(f, everything)
    kept: list[Any] = [x for x in args if isinstance(x, np.ndarray)]
    for _ in range(2):
        for d, expected in zip(gradient(*args), wanted, strict=True):
            np.testing.assert_allclose(d, expected, rtol=1e-10, atol=1e-12)
            if isinstance(d, np.ndarray):
                assert d.flags.owndata and d.flags.c_contiguous
                assert not any(np.shares_memory(d, other) for other in kept)
                kept.append(d)
    for i in everything:
        np.testing.assert_allclose(adbc.grad(f, i)(*args), wanted[i], rtol=1e-10, atol=1e-12)
    for x, y in zip(args, program.arguments(), strict=True):
        np.testing.assert_array_equal(x, y)
