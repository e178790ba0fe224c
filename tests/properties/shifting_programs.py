"""Random programs whose types and forms change: in loops, between branches, and from one call to the next.

Tuples grow and shrink, numbers are floats, then integers, NumPy's or None, closures and classes are changed
between calls, loops are left by exceptions in the middle.  Everything that is guessed about such a program
is wrong sooner or later, while it is interpreted, while it becomes warm, and behind that.
"""

from __future__ import annotations

import importlib.machinery
import linecache
import random
import sys
import types
import weakref
from typing import Any

import numpy as np

__all__ = ["HEAD", "ShiftingProgram"]

HEAD = """
import contextlib, functools, itertools, math
import numpy as np

class Stop(Exception):
    pass

def num(e):
    if e is None:
        return 0.5
    if isinstance(e, (tuple, list)):
        return sum(num(p) for p in e) * 0.3
    return e

def tame(e):
    e = num(e)
    return e / (1.0 + 0.1 * e * e)

def tame_anew(e):
    e = num(e)
    return e / (1.2 + 0.1 * e * e)

class Base:
    def __init__(self, w, rest=()):
        self.w = w
        self.rest = rest
        self.asked = 0

    def go(self, e):
        return tame(self.w) * e + len(self.rest)

    def each(self, t):
        for e in t:
            self.asked += 1
            yield tame(e) * tame(self.w)

    def __eq__(self, other):
        self.asked += 1
        return isinstance(other, Base) and self.asked % 2 == 0

    def __hash__(self):
        return 7

    def __bool__(self):
        self.asked += 1
        return self.asked % 3 != 0

    def __len__(self):
        return len(self.rest)

    def __getitem__(self, k):
        self.asked += 1
        return self.rest[k]

    def __enter__(self):
        self.asked += 1
        return self

    def __exit__(self, kind, error, trace):
        self.asked += 1
        return kind is Stop and self.asked % 2 == 0

class Other(Base):
    def go(self, e):
        return tame(e) - 0.3 * tame(self.w)

def go_anew(self, e):
    return 0.7 * tame(self.w) * tame(e) + self.asked

def counter(t):
    n = 0
    try:
        for e in t:
            n += 1
            yield tame(e) * n
    finally:
        G["closed"] += 1

def kept(e, into=[]):
    into.append(tame(e))
    if len(into) > 3:
        del into[:2]
    return sum(into) * 0.3

def spread(a=0.5, b=None, *more, c=1, **named):
    out = tame(a) * 1.5 + tame(b) * c
    for e in more:
        out += tame(e) * 0.2
    for k, v in named.items():
        out -= tame(v) * len(k) * 0.1
    return out

def deep(t, n):
    if n <= 0 or not t:
        return tame(t[0]) if t else 0
    head, *rest = t
    return tame(head) * 0.9 + 0.5 * deep(tuple(rest) if n % 2 else (*rest, head), n - 1)

@contextlib.contextmanager
def scope(e):
    G["open"] += 1
    try:
        yield tame(e) * 0.8
    finally:
        G["open"] -= 1

G = {"closed": 0, "open": 0, "count": 0}
level = 0.5
shape = (1.0, 2)
"""

ODD = ["1", "2", "True", "None", "np.float64(0.75)", "0.25", "x", "a", "b", "(x, 1)", "a * 2"]


class _Maker:
    """Makes the lines of one program."""

    def __init__(self, choose: random.Random) -> None:
        self.choose = choose
        self.names = 0
        self.in_loop = False

    def fresh(self) -> str:
        self.names += 1
        return f"v{self.names}"

    def number(self, depth: int = 0) -> str:
        """An expression that gives a number."""
        pick = self.choose
        way = pick.randrange(22 if depth < 2 else 4)
        if way < 3:
            return pick.choice(["x", "a", "b", "a", "b", "level", "0.5", "n", "c"])
        if way == 3:
            return f"tame({self.element()})"
        one, two = self.number(depth + 1), self.number(depth + 1)
        return [
            f"({one} + {two})",
            f"({one} * {two})",
            f"({one} - 0.3 * {two})",
            f"math.sin({one})",
            f"max([{one}, {two}, 0.1])",
            f"min({one}, {two}, 3.0)",
            f"sum([{one}, 0.2, {two}])",
            f"math.hypot({one}, {two}, 0.5)",
            f"(abs({one}) + 0.3) ** 1.5",
            f"(1.0 + {one} ** 2) ** tame({two})",
            f"sum(tame(e) for e in {self.tup()})",
            f"o.go({one})",
            f"spread(*{self.tup()})",
            f"spread({one}, **d)",
            f"deep({self.tup()}, {pick.randrange(5)})",
            f"cell({one})",
            f"tame({one}) ** {pick.choice(['2', '3', 'n', '0'])}",
            f"math.tanh({one})",
        ][way - 4]

    def element(self) -> str:
        """An expression that gives something that `num` takes."""
        pick = self.choose
        return pick.choice(
            [
                *ODD,
                "t[-1] if t else 1",
                "u[0] if len(u) > 1 else x",
                "l[n % len(l)] if l else None",
                "p",
                "d.get('k')",
                "d.get('j', 1)",
                "tuple(l[:2])",
                "t[:2]",
                "shape",
                "q",
                "o.w",
            ]
        )

    def tup(self) -> str:
        """An expression that gives a tuple."""
        pick = self.choose
        e, g = self.element(), self.element()
        return pick.choice(
            [
                "t",
                "t",
                "u",
                "u",
                "t[1:]",
                "u[::-1]",
                "(t + u)[:6]",
                f"({e}, {g})",
                f"({e},)",
                "()",
                f"(*t[:2], {e})",
                "tuple(l)",
                f"tuple(tame(e) * {pick.choice(['x', '0.5', 'a'])} for e in t)",
                "shape",
                f"(t if a > {pick.choice(['0.2', '0.6', '1.0'])} else u)",
                "tuple(zip(t, u))",
                f"(u, {e})[0]",
                "tuple([num(e) for e in u])",
                "tuple(o.each(t))[:4]",
                "tuple(map(tame, u))",
                "o.rest",
            ]
        )

    def simple(self) -> list[str]:
        """A statement without statements in it."""
        pick = self.choose
        one, e, t = self.number(), self.element(), self.tup()
        name = pick.choice("ab")
        v = self.fresh()
        return pick.choice(
            [
                [f"{name} = {one}"],
                [f"{name} = {one}"],
                [f"{name} = tame({name} * 0.5 + {one})"],
                [f"p = {e}"],
                [f"t = {t}"],
                [f"u = {t}"],
                [f"t = ({t} + t)[:{pick.randint(1, 5)}]"],
                [f"t, u = u, {t}"],
                [f"t = tuple(tame(e) + 0.1 * {one} for e in t)"],
                ["t = tuple(tame(e) * tame(g) for e, g in zip(t, u))"],
                [f"u = tuple([tame(e) * {one} for e in {t}])"],
                [f"head, *rest = ({e}, *{t})", f"{name} = tame(head) + 0.2 * sum(tame(e) for e in rest)"],
                [f"*rest, last = (*{t}, {e})", "u = tuple(rest)", "c = len(rest)"],
                [f"(m, (q, *_)), *rest = (({e}, ({one}, 1, x)), *{t})"],
                [f"l.append({e})"],
                ["l[:] = [tame(e) for e in l][-4:]"],
                [f"l[n % len(l)] = {one}" if pick.random() < 0.8 else "l.reverse()"],
                ["l2 = l", f"l2.append({one})"],
                [f"l[::2] = [tame(e) * 0.9 + {one} * 0.1 for e in l[::2]]"],
                ["l = l + [1]"],
                ["l.pop()"],
                [f"l.insert(0, {e})"],
                [f"d['k'] = {e}"],
                [f"d['j'] = {one}"],
                ["d.pop('k', None)"],
                ["d = {**d, 'i': x}"],
                ["d = dict(d, k=a)"],
                [f"o = {pick.choice(['Base', 'Other'])}({e}, {t})"],
                [f"o.w = {e}"],
                [f"o.rest = {t}"],
                [f"o.w += {one}" if pick.random() < 0.3 else f"o.w = tame(o.w) + {one} * 0.1"],
                ["o = Base(**{'w': a, 'rest': t})"],
                ["o, r = (Other(x) if n % 2 else Base(b)), o"],
                [f"{name} = kept({one})"],
                ["G['count'] += 1", f"{name} = {name} + G['count'] * 0.01"],
                [f"G['count'] = {e}", "b = tame(b) + tame(G['count'])", "G['count'] = 1"],
                ["level = 0.25 + n"],
                ["shape = shape[1:] or (0.5, None, 2)"],
                [f"{v} = counter({t})", f"{name} = next({v}, 0.5) * 0.5"],
                [f"{v} = counter({t})", f"{name} = tame(sum({v})) + 0.1", f"{name} *= x"],
                [
                    f"{v} = o.each({t})",
                    f"for _ in range({pick.randrange(3)}):",
                    f"    {name} = {name} * 0.5 + next({v}, 0.1)",
                ],
                [f"{name} = tame(functools.reduce(lambda s, e: s * 0.5 + tame(e), {t}, {one}))"],
                [f"{name} = 0.1 + (x if o == r else a) * 0.9"],
                [f"{name} = (1.5 * x if o else {one})"],
                [f"cell_value = {e}"],
                [f"c = {pick.choice(['1', '2.0', 'True', 'len(t)', 'n', 'np.int64(2)'])}"],
                [
                    f"w = np.array([tame(e) for e in {t}] + [x])",
                    f"{name} = float(np.sum(w * 0.5)) + w[0] * 0.1",
                ],
                ["w = np.array([a, x, 1.0])", "w2 = w[::-1]", "w2[1:] *= 0.5", f"{name} = w[0] + tame(w[1])"],
                [f"{name} = sum(o.each({t})) * 0.5 + {one} * 0.1"],
                [f"if {self.test()}:", f"    raise Stop({one})"] if pick.random() < 0.25 else ["c = c + 1"],
                [f"{name} = tame(sorted([(tame({e}), 1), (x, 2), (0.3, 0)])[1][0]) + 0.1 * b"],
                [f"{name} = (lambda e, k={one}: tame(e) * k)({e})"],
                [f"{name} = {name} * 0.5 + 0.1 * sum({{tame(e): 1 for e in (0.5, 1, c)}})"],
            ]
        )

    def test(self) -> str:
        pick = self.choose
        bound = pick.choice(["0.31", "0.77", "1.13"])
        return pick.choice(
            [
                f"a > {bound}",
                f"b < {bound}",
                "len(t) > 2",
                "n % 2",
                "n % 3 == 1",
                "u",
                "len(l) > 3",
                f"tame(a) * x > {bound}",
                "p is None",
                "isinstance(p, float)",
                "isinstance(p, tuple)",
                "'k' in d",
                "n > 41",
                "type(c) is int",
                "t and u",
            ]
        )

    def body(self, size: int, depth: int) -> list[str]:
        lines: list[str] = []
        for _ in range(size):
            lines += self.statement(depth)
        return lines

    def statement(self, depth: int) -> list[str]:
        pick = self.choose
        way = pick.randrange(24)
        if depth >= 2 + (self.choose.random() < 0.2) or way < 11:
            return self.simple()
        size = pick.randint(1, 2)

        def block(loop: bool = self.in_loop) -> list[str]:
            before, self.in_loop = self.in_loop, loop
            made = self.body(size, depth + 1)
            self.in_loop = before
            return [f"    {line}" for line in made]

        leave = []
        if pick.random() < 0.4:
            leave = [f"    if {self.test()}:", f"        {pick.choice(['break', 'continue', 'break'])}"]
        after = ["else:", *block()] if pick.random() < 0.25 else []
        e = self.fresh()
        if way < 14:
            lines = [f"if {self.test()}:", *block()]
            return [*lines, *(["else:", *block()] if pick.random() < 0.6 else [])]
        if way < 17:
            tup = self.tup()
            kind = pick.randrange(5)
            head = [
                f"for {e} in {tup}:",
                f"for {e} in {tup}:",
                f"for {e}, {e}g in zip({tup}, {self.tup()}):",
                f"for {e}g, {e} in enumerate({tup}):",
                f"for {e} in reversed({tup}):",
            ][kind]
            use = f"    {pick.choice('ab')} = tame(a * 0.5 + tame({e}) * {self.number(1)})"
            return [head, use, *leave, *block(True), *after]
        if way < 20:
            times = (
                pick.choice(["n % 4 + 1", "3", "len(t) + 1", "12", "2"])
                if depth
                else pick.choice(["30", "3", "n", "150"])
            )
            return [f"for {e} in range({times}):", *leave, *block(True), *after]
        if way == 20:
            return [
                f"{e} = 0",
                f"while {e} < {pick.randint(2, 6)}:",
                f"    {e} += 1",
                *leave,
                *block(True),
                *after,
            ]
        if way == 21:
            catch = pick.choice(["Stop", "(Stop, IndexError)", "Stop", "Exception"])
            lines = ["try:", *block(), f"    if {self.test()}:", f"        raise Stop({self.number()})"]
            handler = [
                f"except {catch} as error:",
                "    a = tame(a) + 0.3 * tame(error.args[0] if isinstance(error, Stop) else 0.5)",
            ]
            tail = ["else:", *block()] if pick.random() < 0.3 else []
            last = ["finally:", *block(False)] if pick.random() < 0.4 else []
            return [*lines, *handler, *tail, *last]
        if way == 22:
            return [f"with scope({self.element()}) as {e}:", f"    a = tame(a + {e})", *block()]
        return ["with o:", *block(), f"    if {self.test()}:", "        raise Stop(a, 1)"]


def _show(filename: str, text: str) -> None:
    """Let tracebacks show the lines of `text`."""
    linecache.cache[filename] = len(text), None, text.splitlines(keepends=True), filename


class ShiftingProgram:
    """A function ``f(x, l, d, o, n)``, `source`, and what it is called with in call `n`.

    is_apart: the function has what it calls from another module.
    """

    def __init__(self, seed: int, is_apart: bool = False) -> None:
        choose = random.Random(seed)
        maker = _Maker(choose)
        body = maker.body(choose.randint(1, 3), 0)
        first = [
            "global level, shape",
            "a, b, c = x * 0.5, 0.25 + x, 1",
            "t, u = start",
            "p = q = m = None",
            "r = o",
            "cell_value = x",
            "def cell(e):",
            "    return tame(cell_value) * e",
        ]
        last = [
            "a = tame(a) + tame(b) + 0.1 * tame(p)",
            "return a + 0.1 * sum(tame(e) for e in t) + 0.05 * sum(tame(e) for e in l)",
        ]
        lines = [f"    {line}" for line in (*first, *body, *last)]
        self.source = "\n".join(["def f(x, l, d, o, n, start):", *lines]) + "\n"
        self.seed = seed
        self.filename = f"<shifting {seed}>"
        self.text = self.source if is_apart else f"{HEAD}\n{self.source}"
        _show(self.filename, self.text)
        self.head: dict[str, Any] | None = None
        """What stands in the other module."""
        self.is_apart = is_apart
        self.space = self.fresh()
        self.changes = choose.sample(range(8), 3)
        self.at = choose.randint(3, 6)

    def fresh(self) -> dict[str, Any]:
        module = types.ModuleType(f"shifting_{self.seed}")
        module.__spec__ = importlib.machinery.ModuleSpec(module.__name__, None)
        self.module = module  # it is kept: globals go with it
        space = vars(module)
        if self.is_apart:
            self.head = self._imported()
            space.update({k: v for k, v in self.head.items() if not k.startswith("__")})
        exec(compile(self.text, self.filename, "exec"), space)
        return space

    def _imported(self) -> dict[str, Any]:
        """The names of the other module, which is there for as long as the program is."""
        name = f"shifting_head_{self.seed}_{id(self)}"
        module = sys.modules[name] = types.ModuleType(name)
        module.__spec__ = importlib.machinery.ModuleSpec(name, None)
        weakref.finalize(self, sys.modules.pop, name, None)
        _show(f"<{name}>", HEAD)
        exec(compile(HEAD, f"<{name}>", "exec"), vars(module))
        return vars(module)

    def _set(self, space: dict[str, Any], name: str, value: Any) -> None:
        """Bind a global in `space`, and in the other module."""
        for each in (space, self.head or space):
            each[name] = value

    def change(self, space: dict[str, Any], n: int, at: int) -> None:
        """What happens to the world before call `n`, if all that changes does so from call `at` on."""
        if n == at:
            if 0 in self.changes:
                space["Base"].go = space["go_anew"]
            if 1 in self.changes:
                self._set(space, "level", 2)
            if 2 in self.changes:
                self._set(space, "shape", (0.5, (1, 2.0), None))
            if 3 in self.changes:
                space["tame"].__code__ = space["tame_anew"].__code__
        if n == at + 1:
            if 4 in self.changes:
                self._set(space, "level", np.float64(0.75))
            if 5 in self.changes:
                space["kept"].__defaults__ = ([0.5],)
            if 0 in self.changes:
                del space["Base"].each
                space["Base"].each = lambda self, t: iter([space["tame"](e) for e in t])

    def arguments(self, space: dict[str, Any], n: int, at: int) -> list[Any]:
        """The arguments of call `n`."""
        choose = random.Random(self.seed * 1000 + (n if n >= at - 1 else n % 2))
        x: Any = choose.uniform(0.3, 1.2)
        late = n >= at

        def part() -> Any:
            y = choose.uniform(0.2, 1.5)
            if not late:
                return y
            return choose.choice([y, y, 2, None, True, np.float64(y), (y, 1), (0.5, (y,))])

        if late and choose.random() < 0.3:
            x = np.float64(x)
        items = [part() for _ in range(choose.randint(1, 4) if late else 3)]
        named = {"k": part(), "j": choose.uniform(0.2, 1.0)}
        cls = space["Other" if late and choose.random() < 0.5 else "Base"]
        rest = tuple([part() for _ in range(choose.randint(0, 3) if late else 2)])
        start = tuple([part() for _ in range(choose.randint(0, 4) if late else 2)])
        other = tuple([part() for _ in range(choose.randint(0, 3) if late else 3)])
        return [x, items, named, cls(part(), rest), n, (start, other)]
