"""Random functions of floats and a list of floats, as source text.

All values stay in a small range and all operations are smooth, so that finite differences can judge the
derivative.  Whatever decides about the way through a function is either an integer that does not depend on
the arguments, or a comparison written ``(x < 0.25)``, which `margin` can find and measure.

Nothing here knows about derivatives, or how a function is to be judged.
"""

from __future__ import annotations

import contextlib
import random
import re
from typing import Any

from tests.properties.prelude import PRELUDE

__all__ = ["Prelude", "Program", "inputs"]

_PRELUDE_CODE = compile(PRELUDE, "<prelude>", "exec")
CHAIN = re.compile(r"\((-?[\d.]+) < ([\w.]+(?:\[[^]]*\])?) < (-?[\d.]+)\)")
COMPARISON = re.compile(r"\(([\w.]+(?:\[[^]]*\])?) < (-?[\d.]+)\)")
SIZES = (4, 6, 8, 10, 14)  # statements of a function
FEATURES = ("dict", "tuple", "rows", "alias", "numpy", "global")


class Writer:
    """Writes one function."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.lines: list[str] = []
        self.size = 0
        self.limit = self.random.choice(SIZES)
        self.has = {name for name in FEATURES if self.random.random() < 0.15}
        self.names = 0
        self.tuples = self.random.random() < 0.25  # returns two floats
        self.floats = ["x", "y", "z"]
        self.integers: list[str] = ["n"]
        self.callables: list[str] = []
        self.arguments = ["x", "y"] if self.random.random() < 0.5 else ["x", "y", "z"]

    # -- pieces --------------------------------------------------------------------------------------

    def line(self, depth: int, text: str) -> None:
        self.lines.append("    " * depth + text)

    def pick(self, *choices: str) -> str:
        return self.random.choice(choices)

    def quoted(self, *choices: str) -> str:
        return repr(self.pick(*choices))

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

    def name(self, prefix: str) -> str:
        self.names += 1
        return f"{prefix}{self.names}"

    def number(self) -> str:
        return self.pick("0.25", "0.5", "0.75", "-0.5", "0.3", "-0.2")

    def index(self) -> str:
        return self.pick("0", "-1", "1", f"{self.integer()} % len(a)")

    def integer(self) -> str:
        return self.random.choice(self.integers)

    def extra(self) -> list[str]:
        """Places that some functions have."""
        places = []
        if "dict" in self.has:
            places += ["d['u']", "d['v']"]
        if "rows" in self.has:
            places += ["m[0][0]", "m[1][-1]"]
        if "alias" in self.has:
            places += ["b[0]", "q.u", "q[1]"]
        if "numpy" in self.has:
            places += ["w[0]", "w[-1]"]
        return places

    def place(self) -> str:
        """Something to assign a float to."""
        return self.pick(*self.floats, *self.floats, f"a[{self.index()}]", "p.u", "p.v", *self.extra())

    def atom(self) -> str:
        places = [*self.floats * 3, f"a[{self.index()}]", "p.u", "p.v", *self.extra()]
        return self.pick(*places, *(["r[0]", "r[1][1]"] if "tuple" in self.has else []))

    def value(self, depth: int = 1) -> str:
        """An expression of bounded value."""
        if depth == 0 or self.chance(0.25):
            return self.atom()
        one, two = self.value(depth - 1), self.value(depth - 1)
        choices = [
            f"math.sin({one})",
            f"math.cos({one} - {two})",
            f"math.tanh({one})",
            f"math.exp(-({one}) ** 2)",
            f"({self.number()} * {one} + {self.number()} * {two})",
            f"({one}) / (2.0 + math.sin({two}))",
            f"math.sqrt(1.5 + math.sin({one}))",
            f"0.5 * (-{one})",
            f"(0.5 * {one} if {self.condition()} else {self.number()} * {two})",
            f"wave({one})",
            f"wave({one}, s={self.number()})",
            f"blend({one}, {self.pick('None', two)})",
            f"both({one}, {two})[{self.pick('0', '1')}]",
            f"total({one}, {two}, scale=0.4)",
            f"total(*a[:{self.pick('1', '2', '3')}])",
            f"down({one}, {self.pick('0', '1', '2')})",
            "p.total",
            f"p.mix({self.atom()})",
            f"(Pair({one}, {self.atom()}) + p).{self.pick('u', 'total')}",
            f"sum([0.2 * t for t in a if {self.integer()} % 2 == 0])",
            f"sum(0.2 * t * {self.atom()} for t in a)",
            "sum(steps(a, 0.5)) / len(a)",
            f"sum([0.1 * s * t for s in a for t in ({self.atom()}, {self.number()})])",
            f"sum({{i: 0.2 * t for i, t in enumerate(a)}}.values()) * {self.number()}",
            f"sum([s * t for s, t in zip(a, ({self.number()}, 0.25, 0.1))])",
            f"(lambda t, s=0.3: 0.5 * math.sin(t + s * {self.atom()}))({one})",
            f"sum(map(wave, a)) * {self.number()}",
            f"(0.5 * {one} + {self.integer()} % 3)",
            f"0.3 * {one} * ({self.integer()} > 1)",
            f"math.tanh({one}) ** ({self.integer()} % 3)",
            f"({self.integer()} % 2 and 0.5 * {one}) or {self.atom()}",
            f"(u := 0.5 * {one}) * u",
            f"total(*({one}, {two}), **{{'scale': 0.3}})",
            f"apply({self.pick('wave', 'math.sin', 'p', 'lambda t: 0.5 * t')}, {one}, {self.pick('1', '2')})",
            f"next(steps(a, {one}), 0.5)",
            f"sum(0.2 * t for t in relay(a[:2], {one}))",
            f"sum(0.2 * t for t in guarded(a, {one}))",
            "0.3 * sum(p)",
            f"p[{self.integer()}]",
            f"0.1 * sum(t for t in a[::-1]) + 0.1 * {one}",
            f"0.2 * sum(s * t for s, t in zip(a, a[1:])) * {self.number()}",
            f"getattr(p, {self.quoted('u', 'v', 'total')})",
            f"[{one}, {two}][{self.integer()} % 2]",
            f"{{0: {one}, 1: {two}}}.get({self.integer()}, 0.5)",
            f"(lambda *ts, k=0.5: k * sum(ts))({one}, {two})",
        ]
        if "dict" in self.has:
            choices += [
                f"d.get({self.quoted('u', 'w')}, {one})",
                "0.2 * sum(d.values())",
                "0.2 * sum([t * k for k, (_, t) in enumerate(d.items())])",
            ]
        if "rows" in self.has:
            choices += ["0.2 * sum(t for row in m for t in row)", "0.2 * sum(map(sum, m))"]
        if "numpy" in self.has:
            choices += [
                "float(np.sin(w).sum()) * 0.3",
                "0.2 * float(np.dot(w, w))",
                f"0.3 * float((w * {one})[{self.integer()} % 2])",
                "float(w.mean())",
                f"float(np.exp(-w * w)[0] + 0.1 * {one})",
            ]
        if self.callables:
            choices += [f"{self.random.choice(self.callables)}({one})"] * 3
        return self.random.choice(choices)

    def condition(self) -> str:
        return self.pick(
            f"{self.integer()} % 2",
            f"{self.integer()} % 3 == {self.pick('0', '1', '2')}",
            f"{self.integer()} > {self.pick('0', '1')}",
            f"len(a) % 2 == {self.pick('0', '1')}",
            f"({self.atom()} < {self.pick('0.15', '-0.35', '0.45', '9.0')})",
            f"({self.random.choice(self.floats)} < {self.pick('0.2', '-0.4')}) and {self.integer()} < 2",
            f"0 <= {self.integer()} % 4 < {self.pick('1', '2', '3')}",
            f"({self.pick('-0.4', '-0.1')} < {self.random.choice(self.floats)} < {self.pick('0.3', '0.6')})",
            f"(n := n + 1) % {self.pick('2', '3')}",
            f"{self.integer()} in (0, 2)",
            f"not {self.integer()} % 2 or ({self.random.choice(self.floats)} < 0.1)",
        )

    def result(self) -> str:
        return f"{self.atom()}, {self.value()}" if self.tuples else self.value(1)

    # -- statements ----------------------------------------------------------------------------------

    def suite(self, depth: int, loops: int, count: int = 3) -> None:
        before = self.floats[:], self.integers[:], self.callables[:]
        for _ in range(self.random.randint(1, count)):
            self.statement(depth, loops)
        self.floats, self.integers, self.callables = before

    def statement(self, depth: int, loops: int) -> None:
        self.size += 1
        choice = self.random.random()
        if depth > 4 or self.size > self.limit:
            choice *= 0.5
        if choice < 0.42:
            self.simple(depth)
        elif choice < 0.5:
            self.line(depth, f"if {self.condition()}:")
            self.line(depth + 1, self.jump(loops))
        elif choice < 0.6:
            self.branches(depth, loops)
        elif choice < 0.72 and loops < 2:
            self.loop(depth, loops)
        elif choice < 0.85:
            self.attempt(depth, loops)
        elif choice < 0.91:
            self.managed(depth, loops)
        elif choice < 0.94:
            self.match(depth, loops)
        else:
            self.definition(depth)

    def managed(self, depth: int, loops: int) -> None:
        managers = []
        for _ in range(2 if self.chance(0.25) else 1):
            kinds = self.pick("A", "A, C", "", "Exception")
            manager = f"Manager(a, {self.value()}{', ' if kinds else ''}{kinds})"
            if self.chance(0.2):
                manager = f"scope(a, {self.value()})"
            name = f" as {self.random.choice(self.floats)}" if self.chance(0.8) else ""
            managers.append(f"{manager}{name}")
        self.line(depth, f"with {', '.join(managers)}:")
        self.suite(depth + 1, loops)
        if self.chance(0.3):
            self.line(depth + 1, f"raise {self.pick('A', 'B', 'C')}({self.integer()})")

    def match(self, depth: int, loops: int) -> None:
        kind = self.random.random()
        if kind < 0.5:
            self.line(depth, f"match {self.integer()} % 4:")
            patterns = [self.pick("0", "1"), self.pick("2 | 3", f"k if k < {self.pick('2', '3')}"), "_"]
        elif kind < 0.7:
            self.line(depth, f"match [*a[:{self.pick('1', '2', '3')}], {self.value()}]:")
            patterns = ["[z, y]", f"[x, *_, z] if {self.condition()}", "_"]
        elif kind < 0.85:
            self.line(depth, f"match {self.pick('p', '(x, p)', 'y')}:")
            patterns = ["Pair(u=x, v=z)", "(y, Pair(u=z))", "float()", "_"]
        else:
            self.line(depth, f"match {{'k': {self.integer()} % 3, 't': {self.atom()}}}:")
            patterns = ["{'k': 1, 't': z}", "{'k': 0, **rest}", "_"]
        count = len(patterns) if self.chance(0.7) else len(patterns) - 1
        for pattern in patterns[:count]:
            self.line(depth + 1, f"case {pattern}:")
            self.suite(depth + 2, loops, 2)

    def jump(self, loops: int) -> str:
        choices = [f"raise {self.pick('A', 'B', 'C')}({self.integer()})", f"return {self.result()}"]
        choices += [f"raise C({self.integer()})", "careful(a, x, n)"]
        if loops:
            choices += ["break", "continue"] * 3
        return self.pick(*choices)

    def simple(self, depth: int) -> None:
        one, two, three = self.place(), self.place(), self.value()
        u, v = self.random.sample(self.floats, 2)
        self.line(
            depth,
            self.pick(
                f"{one} = {three}",
                f"{one} = {three}",
                f"{one} = {self.number()} * {one} + 0.5 * {three}",
                f"{one} += 0.2 * {three}",
                f"{one} -= 0.2 * math.sin({two})",
                f"{one} *= {self.number()}",
                f"{one} *= math.cos({two})",
                f"{one} /= 2.0 + math.cos({two})",
                f"{u}, {v} = {v}, {u}",
                f"{u}, {v} = both({v}, {three})",
                f"{one}, {two} = 0.5 * {two}, {three}",
                f"a[0], a[-1] = a[-1], {u}",
                f"({u}, {v}), n = ({v}, 0.5 * {u}), n + 1",
                f"{u} = {v} = {three}",
                f"{u}, *a[1:] = [{three}, *a[1:]]",
                f"a.append({three} if len(a) < 6 else a.pop())",
                f"if len(a) < 6: a.append({three})",
                f"if len(a) < 6: a.insert({self.index()}, {three})",
                f"{u} = 0.5 * a.pop() if len(a) > 2 else {three}",
                "a.reverse()",
                f"a[1:3] = [{three}, {self.atom()}]",
                "a[:] = [0.5 * t for t in a]",
                f"if len(a) < 6: a += [{self.atom()}]",
                f"p = Pair({self.atom()}, {self.value()})",
                "p = p + p",
                "n += 1",
                f"n = (n + {self.integer()}) % 7",
                f"{one} = perhaps({self.atom()}, {self.integer()})",
                f"{one} = careful(a, {self.atom()}, {self.integer()})",
                f"{one} = carry({self.atom()}, {self.integer()})",
                f"{one} = sink(a, {self.atom()}, {self.integer()} % 4)",
                f"push(a, {self.value()}{self.pick('', ', y', ', scale=0.3', ', k=x', ', *a[:1]')})",
                f"{u}, *_ = [*a, {three}]",
                f"*_, {u}, {v} = [{three}, *a, x]",
                f"[{u}, ({v}, *_)] = [{three}, (x, y, z)]",
                f"({u} := {three})",
                "if len(a) > 2: del a[1]",
                "if len(a) > 2: del a[1:2]",
                f"t = {three}; {one} = 0.5 * t; del t",
                f"p.total = {three}",
                f"p[{self.integer()}] = {three}",
                f"setattr(p, {self.quoted('u', 'v')}, {three})",
                f"for a[0] in (x, {self.atom()}): pass",
                f"a.extend([{self.atom()}, {three}][:{self.pick('1', '2')}] if len(a) < 5 else [])",
                "a[:] = a[::-1]",
                "a[::2] = [0.5 * t for t in a[::2]]",
                "a[0] = n % 3",
                f"{u} = {self.integer()} % 3",
                f"{u} = np.float64({three})" if "numpy" in self.has else "pass",
                f"assert {self.condition()}",
                *self.special(three),
            ).replace("+= 0.2 * p.mix", "+= p.mix"),
        )

    def special(self, three: str) -> list[str]:
        """Statements about what only some functions have."""
        choices: list[str] = []
        if "dict" in self.has:
            choices += [
                f"d[{self.quoted('u', 'w')}] = {three}",
                f"d.update(u={three})",
                f"d |= {{'v': {three}}}",
                "d = {k: 0.5 * t for k, t in d.items()}",
                f"x = d.pop('w', {three})",
                f"d.setdefault('w', {three})",
                "for k in d: d[k] *= 0.5",
            ]
        if "tuple" in self.has:
            choices += [f"r = ({three}, (n, {self.atom()}))", "x, (n, y) = r", "r = (r[1][1], (n, r[0]))"]
        if "global" in self.has:
            choices += ["G += 1", f"G = {self.integer()} % 5"]
        if "rows" in self.has:
            choices += [
                f"m[0] = [{three}, {self.atom()}]",
                f"m[{self.integer()} % 2].append(m[0].pop() if len(m[0]) > 1 else {three})",
                "m.append(m.pop(0))",
                "for row in m: row[0] *= 0.5",
                "m[0], m[1] = m[1], m[0]",
            ]
        if "alias" in self.has:
            choices += ["b = a", "b = [*a]", "q = p", "b, a = a, b"]
            choices.append(f"b.append({three} if len(b) < 6 else b.pop())")
        if "numpy" in self.has:
            choices += [
                f"w = np.array([{three}, {self.atom()}])",
                f"w[{self.integer()} % 2] = {three}",
                f"w *= {self.number()}",
                "w[1:] += 0.3 * w[:-1]",
                "w = 0.5 * w + 0.1 * np.sin(w)",
                f"w = np.where([True, False], w, {self.atom()})",
            ]
        return choices * 2

    def branches(self, depth: int, loops: int) -> None:
        self.line(depth, f"if {self.condition()}:")
        self.suite(depth + 1, loops)
        if self.chance(0.4):
            self.line(depth, f"elif {self.condition()}:")
            self.suite(depth + 1, loops)
        if self.chance(0.7):
            self.line(depth, "else:")
            self.suite(depth + 1, loops)

    def loop(self, depth: int, loops: int) -> None:
        kind = self.random.random()
        extra = 0
        if kind < 0.4:
            counter = self.name("i")
            self.line(depth, f"for {counter} in range({self.random.randint(0, 3)}):")
            new_integers, new_floats = [counter], []
        elif kind < 0.5:
            counter, value = self.name("i"), self.name("t")
            self.line(depth, f"for {counter}, {value} in enumerate(a[:3]):")
            new_integers, new_floats = [counter], [value]
        elif kind < 0.65:
            value = self.name("t")
            source = self.pick(
                "a[:3]",
                "list(a)",
                "steps(a[:2], x)",
                "(x, y)",
                "[0.5 * t for t in a[-2:]]",
                "p",
                "relay(a[:2], y)",
                "reversed(a)",
                "map(wave, a[:2])",
            )
            self.line(depth, f"for {value} in {source}:")
            new_integers, new_floats = [], [value]
        else:
            counter = self.name("k")
            self.line(depth, f"{counter} = 0")
            condition = self.pick("", "", f" and ({self.condition()})")
            self.line(depth, f"while {counter} < {self.random.randint(1, 3)}{condition}:")
            self.line(depth + 1, f"{counter} += 1")
            new_integers, new_floats = [counter], []
            extra = 1
        before = self.integers[:], self.floats[:]
        self.integers += new_integers
        self.floats += new_floats
        self.suite(depth + 1, loops + 1)
        self.integers, self.floats = before
        if self.chance(0.3):
            self.line(depth, "else:")
            self.suite(depth + 1, loops, 2)
        if extra and self.chance(0.5):
            self.integers.append(new_integers[0])

    def attempt(self, depth: int, loops: int) -> None:
        self.line(depth, "try:")
        self.suite(depth + 1, loops)
        if self.chance(0.5):
            self.line(
                depth + 1,
                self.pick(
                    f"raise {self.pick('A', 'B', 'C', 'KeyError')}({self.integer()})",
                    f"x = perhaps(y, {self.integer()})",
                    f"y = careful(a, x, {self.integer()})",
                    f"x = a[{self.integer()} + 1]",
                    "y = {}['key']",
                    f"x = float(y) / ({self.integer()} % 2)",
                    f"x = carry({self.atom()}, {self.integer()})",
                    "x = math.sqrt(-1.5 + 0.1 * math.sin(y))",
                    "n = n.missing",
                ),
            )
        handlers = self.random.randint(0, 2)
        if handlers and self.chance(0.5):
            handlers = 3
        kinds = ["B", "A", "C", "(KeyError, IndexError)", "(A, ZeroDivisionError)"]
        kinds.append("(ValueError, AttributeError)")
        chosen = self.random.sample(kinds, min(handlers, 2))
        if handlers == 3:
            chosen.append("Exception")
        for kind in chosen:
            carries = kind == "C" and self.chance(0.7)
            self.line(depth, f"except {kind}{' as error' if carries or self.chance(0.3) else ''}:")
            if carries:
                self.line(depth + 1, f"{self.place()} = math.sin(error.args[0] + {self.atom()})")
            self.suite(depth + 1, loops, 2)
            if self.chance(0.12):
                self.line(depth + 1, self.pick("raise", f"raise A({self.integer()}) from None"))
        if chosen and self.chance(0.4):
            self.line(depth, "else:")
            self.suite(depth + 1, loops, 2)
        if not chosen or self.chance(0.35):
            self.line(depth, "finally:")
            self.suite(depth + 1, loops if self.chance(0.2) else 0, 2)
            if self.chance(0.05):
                self.line(depth + 1, f"return {self.result()}")

    def definition(self, depth: int) -> None:
        name = self.name("g")
        kind = self.random.random()
        if kind < 0.1:
            inner, variable = self.name("h"), self.pick("x", "y", "z")
            self.line(depth, f"def {name}(t, n=2):")
            self.line(depth + 1, f"k = {self.number()} * t")
            self.line(depth + 1, f"def {inner}():")
            self.line(depth + 2, f"nonlocal {variable}, k")
            self.line(depth + 2, f"k = 0.5 * k + 0.3 * {variable}")
            self.line(depth + 2, f"{variable} = 0.5 * k + {self.number()} * t")
            self.line(depth + 2, f"return {name}(k, n - 1) if n > 0 else math.sin(k)")
            self.line(depth + 1, f"return 0.5 * {inner}() + 0.5 * k")
            self.callables.append(name)
        elif kind < 0.45:
            variable = self.pick("x", "y", "z")
            self.line(depth, f"def {name}(t):")
            self.line(depth + 1, f"nonlocal {variable}")
            self.line(depth + 1, f"{variable} = 0.5 * {variable} + 0.5 * math.sin(t)")
            if self.chance(0.3):
                self.line(depth + 1, f"if {self.condition()}:")
                self.line(depth + 2, f"raise {self.pick('A', 'C')}(n)")
            self.line(depth + 1, f"return {variable} * {self.number()} + 0.1 * t")
            self.callables.append(name)
        elif kind < 0.6:
            self.line(depth, f"{name} = lambda t: 0.5 * math.sin({self.atom()} + t)")
            self.callables.append(name)
        elif kind < 0.8:
            self.line(depth, f"def {name}(t):")
            self.line(depth + 1, f"for s in a[:{self.random.randint(1, 3)}]:")
            self.line(depth + 2, "t = 0.5 * t + 0.25 * s")
            self.line(depth + 2, f"yield t * {self.atom()}")
            self.line(depth, f"for u in {name}({self.atom()}):")
            self.line(depth + 1, f"{self.place()} += 0.3 * u")
        else:
            inner = self.name("h")
            self.line(depth, f"def {name}(s):")
            self.line(depth + 1, f"def {inner}(t):")
            self.line(depth + 2, f"return math.cos(s + {self.atom()}) * t")
            self.line(depth + 1, f"return {inner}")
            variable = self.name("c")
            self.line(depth, f"{variable} = {name}({self.value()})")
            self.callables.append(variable)

    def write(self) -> str:
        self.line(0, f"def f({', '.join([*self.arguments, 'a'])}):")
        if "z" not in self.arguments:
            self.line(1, f"z = {self.pick('0.5', '0.5 * x', 'math.sin(x + y)')}")
        self.line(1, "n = 0")
        self.line(1, f"p = Pair({self.random.choice(self.arguments)}, {self.pick('0.3', 'y', 'a[0]')})")
        if "global" in self.has:
            self.lines.insert(1, "    global G")
            self.line(1, "G = 0")
            self.integers.append("G")
        for name, text in (
            ("dict", "d = {'u': x, 'v': 0.5 * y}"),
            ("tuple", "r = (x, (1, 0.5 * y))"),
            ("rows", "m = [[x, 0.5], [0.3 * y]]"),
            ("alias", self.pick("b, q = a, p", "b, q = [0.5 * t for t in a], p", "b, q = a, Pair(x, y)")),
            ("numpy", "w = np.array([x, 0.5 * y])"),
        ):
            if name in self.has:
                self.line(1, text)
        for _ in range(self.random.randint(2, 2 + self.limit // 4)):
            self.statement(1, 0)
        sum_of_all = "x + 0.5 * y + 0.25 * z + 0.3 * sum(a) + 0.2 * p.total"
        for name, text in (
            ("dict", "0.3 * sum(d.values())"),
            ("tuple", "0.3 * r[0] * r[1][1]"),
            ("rows", "0.2 * sum(map(sum, m))"),
            ("alias", "0.2 * sum(b) + 0.3 * q.total"),
            ("numpy", "0.3 * float(w.sum())"),
            ("global", "0.3 * (G % 4)"),
        ):
            if name in self.has:
                sum_of_all += f" + {text}"
        self.line(1, f"return {sum_of_all}{', x * y' if self.tuples else ''}")
        return "\n".join(self.lines) + "\n"


class Prelude:
    """The functions and classes that random functions use; those of several functions may share one."""

    def __init__(self) -> None:
        self.space: dict[str, Any] = {"__name__": "random_prelude"}
        exec(_PRELUDE_CODE, self.space)


class Program:
    """A random function, with globals of its own."""

    def __init__(self, seed: int, prelude: Prelude | None = None) -> None:
        self.prelude = prelude or Prelude()
        # Every way out of a try statement copies its `finally`: what is short as text can be long as code.
        for attempt in range(1000):
            writer = Writer(1000 * seed + attempt)
            self.source = writer.write()
            copies = self.source.count("finally:") + self.source.count("with ")
            if len(writer.lines) <= 20 - 3 * copies and copies <= 2:
                break
        self.seed = seed
        self.floats = len(writer.arguments)
        self.space = self._space(self.source)
        self.function: Any = self.space["f"]

    def _space(self, source: str) -> dict[str, Any]:
        space = {**self.prelude.space, "__name__": "random_functions"}
        exec(compile(source, f"<function {self.seed}>", "exec"), space)
        return space

    def margin(self, args: list[Any]) -> float:
        """How far from a tie the comparisons of floats are."""
        space = self._space(COMPARISON.sub(r"below(\1, \2)", CHAIN.sub(r"between(\1, \2, \3)", self.source)))
        distances = [1.0]

        def below(t: float, bound: float) -> bool:
            distances.append(abs(t - bound))
            return t < bound

        def between(low: float, t: float, high: float) -> bool:
            return not below(t, low) and below(t, high)

        space["below"], space["between"] = below, between
        with contextlib.suppress(Exception):  # an outcome like any other
            space["f"](*args)
        return min(distances)


def inputs(program: Program, number: int) -> list[Any]:
    """Arguments of `program`, the first of 40 that are not near a tie, or the farthest from one."""
    rng = random.Random(f"{program.seed} {number}")
    found: list[tuple[float, list[Any]]] = []
    for _ in range(40):
        floats: list[Any] = [rng.uniform(-1.0, 1.0) for _ in range(program.floats)]
        floats.append([rng.uniform(-1.0, 1.0) for _ in range(3)])
        margin = program.margin([*floats[:-1], list(floats[-1])])
        if margin > 0.02:
            return floats
        found.append((margin, floats))
    return max(found)[1]
