"""Random functions on arrays: expressions, views, writes in place, loops and helpers.

`Program(seed)` has the source, the function and arguments for it.  Values are kept near 1, so that finite
differences settle; every function returns a number that depends on all that it has computed.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np

import adbc
from adbc.testing import test_rule as check_rule

__all__ = ["Program"]

Shape = tuple[int, ...]

UNARY = [
    "np.sin({})", "np.exp(0.2 * {})", "np.tanh({})", "({}) ** 2", "np.sqrt(1.0 + {} ** 2)", "-{}",
    "np.maximum({}, 0.05)", "np.log(2.0 + {} * {})",
]  # fmt: skip


class Program:
    """A random function ``f(a, b, v, s)`` of two matrices, a vector and a number."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.seed = seed
        self.lines: list[str] = []
        self.shapes: dict[str, Shape] = {"a": (3, 4), "b": (4, 3), "v": (4,), "s": ()}
        self.owned: list[str] = []
        self.count = 0
        for _ in range(self.rng.randint(4, 10)):
            self.rng.choice(
                [self.binary, self.binary, self.unary, self.reduction, self.product, self.view, self.copied,
                 self.in_place, self.stored, self.loop, self.branch, self.joined]
            )("    ")  # fmt: skip
        total = " + ".join(f"np.sum({name}) * {k + 1}.0" for k, name in enumerate(self.shapes))
        self.source = "\n".join(["def f(a, b, v, s):", *self.lines, f"    return ({total}) * 0.1"]) + "\n"
        space: dict[str, Any] = {"np": np, "G": 0.75}
        exec(compile(self.source, f"<array program {seed}>", "exec"), space)
        self.function: Callable[..., Any] = space["f"]

    def arguments(self) -> list[Any]:
        rng = np.random.default_rng(self.seed)
        return [*(rng.uniform(0.6, 1.4, self.shapes[name]) for name in "abv"), float(rng.uniform(0.6, 1.4))]

    # -- statements ----------------------------------------------------------------------------------------

    def new(self, shape: Shape, expression: str, indent: str, is_owned: bool = True) -> str:
        name = f"x{self.count}"
        self.count += 1
        self.lines.append(f"{indent}{name} = {expression}")
        self.shapes[name] = shape
        if is_owned and shape:
            self.owned.append(name)
        return name

    def pick(self, *, ndim: int | None = None) -> str:
        names = [n for n, shape in self.shapes.items() if ndim is None or len(shape) == ndim]
        return self.rng.choice(names) if names else "v"

    def binary(self, indent: str) -> None:
        x = self.pick()
        fitting = [n for n, s in self.shapes.items() if s in ((), self.shapes[x])]
        y = self.rng.choice([*fitting, "0.7", "G"])
        op = self.rng.choice(["+", "-", "*", "/"])
        y = f"(1.5 + 0.1 * {y} * {y})" if op == "/" else y
        self.new(self.shapes[x], f"0.6 * ({x} {op} {y})", indent)

    def unary(self, indent: str) -> None:
        x = self.pick()
        form = self.rng.choice(UNARY)
        self.new(self.shapes[x], form.format(*[x] * form.count("{}")), indent)

    def reduction(self, indent: str) -> None:
        x = self.pick()
        shape = self.shapes[x]
        function = self.rng.choice(["sum", "mean", "max", "min"])
        if not shape or self.rng.random() < 0.3:
            self.new((), f"0.3 * np.{function}({x})", indent, False)
            return
        axis = self.rng.randrange(len(shape))
        keep = self.rng.random() < 0.5
        rest = tuple(1 if i == axis else n for i, n in enumerate(shape) if keep or i != axis)
        call = self.rng.choice([f"np.{function}({x}, axis={axis}", f"{x}.{function}({axis}"])
        self.new(rest, f"0.5 * {call}{', keepdims=True' if keep else ''})", indent)

    def product(self, indent: str) -> None:
        x, y = self.pick(), self.pick()
        s, t = self.shapes[x], self.shapes[y]
        if not s or not t or len(s) > 2 or len(t) > 2 or s[-1] != t[0 if len(t) == 1 else -2]:
            return
        call = self.rng.choice([f"{x} @ {y}", f"np.dot({x}, {y})"])
        self.new(s[:-1] + t[1:], f"0.2 * ({call})", indent, bool(s[:-1] + t[1:]))

    def view(self, indent: str) -> None:
        x = self.pick()
        shape = self.shapes[x]
        if not shape:
            return
        choices = [(shape[::-1], f"{x}.T"), ((int(np.prod(shape)),), f"{x}.reshape(-1)"),
                   (shape[1:], f"{x}[{self.rng.randrange(shape[0])}]"), (shape, f"{x}[::-1]"),
                   ((1, *shape), f"{x}[None]")]  # fmt: skip
        if shape[0] > 1:
            choices.append(((shape[0] - 1, *shape[1:]), f"{x}[1:]"))
        found, expression = self.rng.choice(choices)
        if len(found) > 2:
            return
        self.new(found, expression, indent, False)

    def copied(self, indent: str) -> None:
        x = self.pick()
        shape = self.shapes[x]
        if not shape:
            return
        n = shape[0]
        index = [self.rng.randrange(n) for _ in range(3)]
        found, expression = self.rng.choice(
            [
                (shape, f"{x}.copy()"),
                ((3, *shape[1:]), f"{x}[{index}]"),
                (shape, f"np.where({x} > 0.8, {x}, 0.3 * {x})"),
                (shape, f"np.cumsum({x}, axis=0) * 0.3"),
                (shape, f"np.sort({x}, axis=-1)"),
            ]
        )
        self.new(found, expression, indent)

    def in_place(self, indent: str) -> None:
        if not self.owned:
            return
        x = self.rng.choice(self.owned)
        fitting = [n for n, s in self.shapes.items() if s in ((), self.shapes[x])]
        op = self.rng.choice(["+=", "-=", "*="])
        part = self.rng.choice(["", "[:]", "[0]", "[1:]", "[::-1]"])
        y = self.rng.choice(fitting) if part in ("", "[:]", "[::-1]") else self.pick(ndim=0)
        self.lines.append(f"{indent}{x}{part} {op} 0.4 * {y}")

    def stored(self, indent: str) -> None:
        if not self.owned:
            return
        x = self.rng.choice(self.owned)
        y = self.pick(ndim=0)
        shape = self.shapes[x]
        place = ", ".join(str(self.rng.randrange(n)) for n in shape)
        self.lines.append(f"{indent}{x}[{place}] = {self.rng.choice([y, f'{x}[{place}] * {y}', '0.5'])}")

    def joined(self, indent: str) -> None:
        x = self.pick()
        same = [n for n, s in self.shapes.items() if s == self.shapes[x]]
        y = self.rng.choice(same)
        shape = self.shapes[x]
        if len(shape) == 1:
            self.new((2, *shape), f"np.stack([{x}, {y}])", indent)
        elif len(shape) == 2:
            self.new((2 * shape[0], shape[1]), f"np.concatenate([{x}, {y}])", indent)
        else:
            self.new((2,), f"np.array([{x}, {y}])", indent)

    def loop(self, indent: str) -> None:
        if len(indent) > 4:
            return
        kind = self.rng.randrange(3)
        if kind == 0:
            x = self.pick(ndim=1)
            total = self.new((), "0.0", indent, False)
            self.lines.append(f"{indent}for i in range(len({x})):")
            self.lines.append(f"{indent}    {total} = 0.5 * {total} + {x}[i] * {x}[-1 - i] * 0.3")
        elif kind == 1 and self.owned:
            x = self.rng.choice(self.owned)
            self.lines.append(f"{indent}for k in range(3):")
            self.lines.append(f"{indent}    {x} = np.sin({x}) + 0.1 * k * {x}")
        else:
            x = self.pick(ndim=2)
            if len(self.shapes[x]) != 2:
                return
            total = self.new((), "0.0", indent, False)
            self.lines.append(f"{indent}for row, k in zip({x}, range(2)):")
            self.lines.append(f"{indent}    {total} = {total} * 0.5 + np.sum(row * row) * 0.1")

    def branch(self, indent: str) -> None:
        x = self.pick(ndim=0)
        shapes, owned = dict(self.shapes), list(self.owned)
        self.lines.append(f"{indent}if {x} > 0.9:")
        before = len(self.lines)
        self.rng.choice([self.in_place, self.stored])(indent + "    ")
        if len(self.lines) == before:
            self.lines.append(f"{indent}    pass")
        self.shapes, self.owned = shapes, owned


def _copied(args: list[Any]) -> list[Any]:
    return [x.copy() if isinstance(x, np.ndarray) else x for x in args]


def check(program: Program) -> None:
    """Compare both modes, by every choice of arguments."""
    args = program.arguments()
    check_rule(program.function, *args, rtol=3e-5, atol=1e-6)
    whole = adbc.grad(program.function, (0, 1, 2, 3))(*_copied(args))
    for k in range(len(args)):  # the others are constants where they are only read
        for _ in range(2):
            found = adbc.grad(program.function, k)(*_copied(args))
            np.testing.assert_allclose(found, whole[k], rtol=1e-11, atol=1e-12)
        direction: list[Any] = [None] * len(args)
        direction[k] = np.ones_like(args[k]) if isinstance(args[k], np.ndarray) else 1.0
        _, tangent = adbc.jvp(program.function, _copied(args), direction)
        np.testing.assert_allclose(tangent, np.sum(whole[k]), rtol=1e-9, atol=1e-11)
