"""Random programs that recurse: functions that call each other, closures, methods, generators, trees, linked
lists, memory in dicts, early exits, exceptions, and accumulators that are changed on the way."""

from __future__ import annotations

import copy
import linecache
import random
from collections.abc import Callable
from typing import Any

import pytest

import adbc

HEAD = """
import math

class Node:
    def __init__(self, v, left=None, right=None):
        self.v = v
        self.left = left
        self.right = right

class Walker:
    def __init__(self, scale):
        self.scale = scale
        self.count = 0

class Found(Exception):
    pass

def tree(x, depth):
    if depth == 0:
        return None
    return Node(x + 0.1 * depth, tree(0.9 * x, depth - 1), tree(0.8 * x, depth - 2) if depth > 1 else None)

def chain(x, count):
    first = None
    for k in range(count):
        first = Node(x * (1.0 + 0.01 * k), first)
    return first
"""

STEPS = [
    "{call} * 0.9 + {x} * 0.1",
    "math.sin({call}) + {x}",
    "0.5 * {call} + 0.3 * {x} * {x}",
    "{x} * 0.2 + (1.0 if {x} > 0.6 else 0.7) * {call}",
    "math.tanh({call} + {x}) * 1.1",
    "(lambda y: y * 0.8 + 0.1)({call})",
]
"""What a function makes of the result of the next call and of its argument."""

CHANGES = [
    "a[n % len(a)] += 0.1 * x",
    "a.append(x)\na.pop(0)",
    "m['n'] = m.get('n', 0.0) + x * 0.01",
    "a[0], a[-1] = a[-1], 0.9 * a[0] + 0.01 * x",
    "x = 0.95 * x + 0.05 * a[n % len(a)]",
    "m[n % 4] = x",
    "x = x + 0.01 * m.get(n % 4, 0.5)",
]
"""What happens to accumulators (`a` is a list and `m` a dict) on the way down."""

EXITS = [
    "if x > 40.0:\n    return x * a[0]",
    "if n % 17 == 13:\n    raise Found(x * 0.3)",
    "if (n, 'seen') in m:\n    return m[n, 'seen']",
    "if abs(a[0]) > 1e3:\n    return a[0] * 1e-3",
]


def _indented(text: str, depth: int = 1) -> str:
    return "".join(f"{'    ' * depth}{line}\n" for line in text.split("\n"))


class RecursiveProgram:
    """A function of a number, a list and a dict, `source`, that recurses in some ways."""

    def __init__(self, seed: int) -> None:
        self.choose = random.Random(seed)
        self.count = self.choose.randint(1, 3)
        depth = self.choose.choice([3, 8, 20, 60, 150])
        parts = [self._function(k) for k in range(self.count)]
        parts.append(self._entry(depth))
        self.source = "\n".join(parts)
        filename = f"<recursion {seed}>"
        text = f"{HEAD}\n{self.source}"
        linecache.cache[filename] = len(text), None, text.splitlines(keepends=True), filename
        namespace: dict[str, Any] = {"__name__": __name__}
        exec(compile(text, filename, "exec"), namespace)
        self.function: Callable[..., Any] = namespace["f"]
        self.x = self.choose.uniform(0.3, 1.2)
        self.a = [self.choose.uniform(0.3, 1.0) for _ in range(3)]
        self.m = {0: 0.4, 1: 0.6}

    def _step(self, call: str, x: str) -> str:
        return self.choose.choice(STEPS).format(call=call, x=x)

    def _function(self, number: int) -> str:
        """A function that calls one of its like, which may be a method or catch what the next one raises."""
        choose = self.choose
        body = "if n <= 0:\n    return x * a[0] + 0.1 * a[-1]\n"
        lines = [*choose.sample(CHANGES, choose.randint(0, 2)), *choose.sample(EXITS, choose.randint(0, 2))]
        body += "\n".join(lines)
        next_one = choose.randrange(self.count)
        body += f"\ny = {self._step(f'g{next_one}(0.9 * x + 0.01 * n, n - 1, a, m)', 'x')}"
        if choose.random() < 0.3:
            body = body.replace("\ny = ", "\ntry:\n    y = ")
            body += "\nexcept Found as found:\n    y = found.args[0] * 0.5 + x"
            if choose.random() < 0.5:
                body += "\nfinally:\n    a[0] = 0.99 * a[0]"
        if choose.random() < 0.3:
            body += "\nm[n, 'seen'] = y"
        body = "\n".join(line for line in body.split("\n") if line)
        return f"def g{number}(x, n, a, m):\n{_indented(f'{body}' + chr(10) + 'return y')}"

    def _entry(self, depth: int) -> str:
        kinds = {
            "plain": f"t = g0(t, {depth}, a, m)",
            "closure": (
                "total = 0.0\ndef down(y, n):\n    nonlocal total\n    total = total + 0.01 * y\n"
                f"    return y if n == 0 else {self._step('down(0.97 * y, n - 1)', 'y')}\n"
                f"t = down(t, {depth}) + total"
            ),
            "method": (
                "class Down(Walker):\n    def go(self, y, n):\n        self.count += 1\n"
                "        self.scale = self.scale * 0.99 + 0.001 * y\n"
                "        if n == 0:\n            return y * self.scale\n"
                f"        return {self._step('self.go(0.98 * y, n - 1)', 'y')}\n"
                f"w = Down(t)\nt = w.go(t, {depth}) + w.scale + 0.01 * w.count"
            ),
            "tree": (
                "def weigh(node):\n    if node is None:\n        return 0.1\n"
                "    node.v = node.v * 1.01\n"
                f"    return {self._step('weigh(node.left)', 'node.v')} * 0.5 + 0.2 * weigh(node.right)\n"
                f"t = weigh(tree(t, {min(depth, 6)}))"
            ),
            "list": (
                "def along(node, last):\n    if node.left is None:\n        return node.v * last\n"
                f"    return {self._step('along(node.left, node.v)', 'last')}\n"
                f"t = along(chain(t, {depth}), a[1])"
            ),
            "memory": (
                "known = {}\ndef fib(n):\n    if n < 2:\n        return t * (n + 1.0)\n"
                "    if n not in known:\n"
                "        known[n] = 0.6 * fib(n - 1) + 0.3 * fib(n - 2)\n    return known[n]\n"
                f"t = fib({depth}) + 0.1 * t"
            ),
            "generator": (
                "def steps(y, n):\n    yield y\n    if n:\n        yield from steps(0.9 * y + 0.01, n - 1)\n"
                f"t = sum([0.1 * y for y in steps(t, {min(depth, 5)})])"
            ),
            "search": (
                "def search(y, n):\n    if y * n > 4.0 and n % 5 == 2:\n        raise Found(y)\n"
                f"    return y if n == 0 else {self._step('search(0.99 * y, n - 1)', 'y')}\n"
                f"try:\n    t = search(t, {depth})\nexcept Found as found:\n    t = found.args[0] * 0.7"
            ),
        }
        chosen = self.choose.sample(sorted(kinds), self.choose.randint(1, 3))
        body = "\n".join(["t = x", *(kinds[kind] for kind in chosen)])
        text = f"{body}\nreturn t + 0.1 * sum(a) + 0.1 * m.get('n', 0.0)"
        caught = f"try:\n{_indented(text)}except Found as found:\n    return found.args[0] * 1.3 + a[0]"
        return f"def f(x, a, m):\n{_indented(caught)}"


def check(program: RecursiveProgram) -> None:
    """Compare value, state, forward and reverse mode with the plain function and with each other."""
    f, x, a, m = program.function, program.x, program.a, program.m
    da = [0.3, -0.5, 0.2]
    h = 1e-6

    def plain(s: float) -> tuple[Any, Any, Any]:
        given = [p + s * d for p, d in zip(a, da, strict=True)], dict(m)
        return f(x + s * 0.7, *given), *given

    wanted, *after = plain(0.0)
    slope = (plain(h)[0] - plain(-h)[0]) / (2.0 * h)
    for _ in range(2):
        state = copy.deepcopy(a), copy.deepcopy(m)
        value, tangent = adbc.jvp(f, (x, *state), (0.7, list(da), dict.fromkeys(m, 0.0)))
        assert value == pytest.approx(wanted, rel=1e-12)
        assert list(state) == after
        assert tangent == pytest.approx(slope, rel=1e-4, abs=1e-6)
        state = copy.deepcopy(a), copy.deepcopy(m)
        value, (bx, ba) = adbc.value_and_grad(f, (0, 1))(x, *state)
        assert value == pytest.approx(wanted, rel=1e-12)
        assert state == (a, m), "the state is as before"
        along = bx * 0.7 + sum(p * q for p, q in zip(ba, da, strict=True))
        assert along == pytest.approx(tangent, rel=1e-9, abs=1e-11)
