"""Random programs with loops that are left for code in the middle, in ways that are chosen from call to call.

A loop of `inner` ends by itself, or by ``break``, ``return`` or an exception in an iteration whose number is
an argument: before it is left for code, in that very iteration, or behind it.  What it carries are numbers,
tuples, lists, records and generators; its caller may catch what it raises, and call itself.
"""

from __future__ import annotations

import importlib.machinery
import linecache
import random
import types
from collections.abc import Callable
from typing import Any

__all__ = ["WarmingProgram"]

HEAD = """
import functools, itertools, math
from dataclasses import dataclass, replace

class Stop(Exception):
    def __init__(self, value, rest=()):
        super().__init__(value)
        self.value = value
        self.rest = rest

@dataclass
class State:
    p: float
    q: tuple = ()

    def pull(self, e):
        self.p = tame(self.p + 0.1 * e)
        return self.p

def tame(e):
    return e / (1.0 + 0.1 * e * e)

def ups(x, n):
    try:
        for i in range(n):
            x = tame(x * 1.1 + 0.1)
            yield x
    finally:
        CLOSED.append(n)

def down(x, n):
    if n <= 0:
        return tame(x)
    return 0.5 * x + down(tame(x * 1.1), n - 1)

def scaled(k):
    def by(e):
        nonlocal k
        k = tame(k + 0.1)
        return e * k
    return by

CLOSED = []
"""

BODY = [
    "s = tame(s + 0.3 * x * i)",
    "s = s + 0.1 * math.sin(s * x)",
    "t = (*t[1:], s)",
    "t = (tame(t[-1] + x), *t[:-1])",
    "t = tuple(tame(e) + 0.1 * s for e in t)",
    "for e in t:\n    s = tame(s + 0.2 * e)",
    "for e, g in zip(t, (x, s, 1)):\n    s = s + 0.1 * tame(e * g)",
    "l.append(tame(s) + x)",
    "l[i % len(l)] = tame(s * l[-1])",
    "s = tame(s + l.pop()) if len(l) > 2 else s + 0.1",
    "o.p = tame(o.p + s)",
    "s = s + 0.1 * o.pull(x)",
    "o = State(s * 0.5, t)",
    "o.q = (s, *o.q[:2])",
    "s = s + 0.05 * sum(o.q)",
    "d['k'] = s * x",
    "s = tame(s + d.get('k', x))",
    "s = s + 0.1 * next(g, 0.5)",
    "g = ups(s, 3)",
    "s = tame(s + sum(ups(x, i % 3)))",
    "c = c + 1 if i % 2 else c + 0.5",
    "c = [1, 2.0, True, x][i % 4]",
    "s = s + 0.1 * c",
    "b = by(s)\ns = tame(s + 0.1 * b)",
    "k2 = (s, (x, i)) if i % 2 else (i, (s, x))\n(a1, (a2, a3)) = k2\ns = tame(s + 0.1 * (a1 * a2 + a3))",
    "a1, *a2 = t\ns = tame(s * 0.9 + a1 + 0.1 * len(a2))",
    "s = s + 0.1 * down(x, i % 5)",
    "s = (s * s + 0.1) ** 0.75",
    "s = max([s, x, 0.2]) + min(s, 0.7)",
    "s = s + 0.1 * sum([s, x, 0.5])",
    "s = tame(math.hypot(s, x, 0.3))",
    "try:\n    if i % 3 == 1:\n        raise Stop(s * x)\n    s = s + 0.1\nexcept Stop as error:\n"
    "    s = tame(s + error.value)",
    "try:\n    s = s * 0.9 + 0.1 * x\nfinally:\n    l[0] = tame(s)",
    "if i % 4 == 3:\n    continue",
    "for j in range(3):\n    if j == 2:\n        break\n    s = tame(s + 0.1 * j * x)\n"
    "else:\n    s = s + 1.0",
    "l2 = l\nl2[-1] = l2[-1] * 0.9 + 0.1 * s",
    "if s > 0.9:\n    t = t[:2]\nelse:\n    t = (s, *t[:2])",
    "t, u = u, t",
    "u = (*u[:1], s, i)",
    "s = s + 0.1 * sum(tame(e) for e in u)",
    "v = l[::-1][:2]\nl[:2] = [tame(e) * 0.9 + 0.1 for e in v]",
]
LOOPS = [
    "for i in range(n):",
    "i = -1\nwhile i < n - 1:\n    i += 1",
    "for i, e in enumerate(l[:] * 9):",
    "for i, e in zip(range(n), itertools.cycle(t)):",
    "for i in map(int, range(n)):",
    "for i, e in enumerate(ups(x, n)):",
]
ENDS = [
    "if i == k:\n    break",
    "if i == k:\n    return s * 2.0 + sum(t)",
    "if i == k:\n    raise Stop(s * x, t)",
    "if i == k:\n    raise Stop(tame(s) * l[0]) from ValueError(s)",
    "if i == k:\n    k = -1\n    s = 1.0 / (s + 2.0)",
    "if i == k:\n    t = ()",
    "if i == k:\n    t = (i, None, s)\n    t = tuple(0.5 if e is None else e for e in t)",
    "if i >= k:\n    s = s + (x if i % 2 else 1)",
    "",
]
CALLS = [
    "a = inner(x, t, k, n, l)",
    "try:\n    a = inner(x, t, k, n, l)\nexcept Stop as error:\n    a = error.value * 0.5 + sum(error.rest)",
    "try:\n    a = inner(x, t, k, n, l)\nexcept ValueError:\n    a = x\nfinally:\n    l.append(x * 2.0)",
    "a = 0.0\nfor j in range(2):\n    try:\n        a = a + inner(tame(x + a), t, k - j, n, l)\n"
    "    except Stop as error:\n        a = tame(a + error.value)\n    else:\n        a = a * 0.9",
    "a = x if n > 60 else f(tame(x * 1.1), t, k, n + 31, l)",
    "a = sum(inner(x * w, t, k, 5, l) for w in (0.5, 1.0))",
    "a = functools.reduce(lambda p, q: tame(p + inner(q, t, k, 6, l)), t, x)",
]


class WarmingProgram:
    """A function ``f(x, t, k, n, l)``, `source`."""

    def __init__(self, seed: int) -> None:
        choose = random.Random(seed)
        self.seed = seed
        loop = choose.choice(LOOPS)
        pieces = [choose.choice(BODY) for _ in range(choose.randint(1, 5))]
        pieces.insert(choose.randint(0, len(pieces)), choose.choice(ENDS))
        if choose.random() < 0.3:  # a loop within
            pieces = [
                "for i2 in range(choose):".replace("choose", str(choose.choice([2, 7, 30])))
                + "".join(f"\n    {line}" for line in choose.choice(BODY).split("\n")),
                *pieces,
            ]
        tail = choose.choice(["", "else:\n    s = s + 0.2", ""]) if loop.startswith("for") else ""
        body = [
            "s, u, o, d, c, g, by = x, (x, 1), State(x, t), {}, 1, ups(x, 4), scaled(x)",
            "i = 0",
            loop,
            *("\n".join(f"    {line}" for line in piece.split("\n")) for piece in pieces if piece),
            *([tail] if tail else []),
            "return s + 0.1 * sum(t) + 0.1 * o.p + 0.1 * c + 0.01 * sum(l) + 0.1 * sum(u)",
        ]
        call = choose.choice(CALLS)
        lines = ["def inner(x, t, k, n, l):", *_indented(body), "", "def f(x, t, k, n, l):"]
        lines += _indented([call, "return tame(a) + 0.1 * l[-1]"])
        self.source = "\n".join(lines) + "\n"
        text = f"{HEAD}\n{self.source}"
        filename = f"<warming {seed}>"
        linecache.cache[filename] = len(text), None, text.splitlines(keepends=True), filename
        self.module = types.ModuleType(f"warming_{seed}")
        self.module.__spec__ = importlib.machinery.ModuleSpec(self.module.__name__, None)
        exec(compile(text, filename, "exec", dont_inherit=True), vars(self.module))
        self.function: Callable[..., Any] = self.module.f  # type: ignore[attr-defined]

    def arguments(self, call: int) -> list[Any]:
        """The arguments of a call."""
        choose = random.Random(self.seed * 997 + call)
        n = choose.choice([4, 12, 30])
        t = tuple([choose.uniform(0.2, 1.2) for _ in range(choose.choice([2, 2, 2, 3, 1]))])
        values = [choose.uniform(0.2, 1.2) for _ in range(3)]
        return [choose.uniform(0.3, 1.2), t, choose.randint(-1, n), n, values]


def _indented(blocks: list[str]) -> list[str]:
    return [f"    {line}" for block in blocks for line in block.split("\n")]
