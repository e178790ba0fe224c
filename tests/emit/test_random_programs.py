"""Random programs of nested loops, try statements and managers, after a round trip and before."""

from __future__ import annotations

import random
from typing import Any

import pytest

from adbc.ir.interpret import interpret
from adbc.ir.verify import verify
from adbc.lift import lift
from adbc.passes import NORMAL
from tests.emit.checking import checked_roundtrip

PRELUDE = """
class A(Exception): pass
class B(A): pass
class C(Exception): pass

class Manager:
    def __init__(self, log, swallows, fails):
        self.log, self.swallows, self.fails = log, swallows, fails
    def __enter__(self):
        self.log.append("enter")
        if self.fails == 1:
            raise A("enter")
        return 5
    def __exit__(self, kind, error, traceback):
        self.log.append(("exit", repr(error)))
        if self.fails == 2:
            raise C("exit")
        return self.swallows

def step(log, random, value):
    log.append((value, repr(sys.exception())))
    if len(log) > 200:
        raise SystemExit
    if random.random() < 0.2:
        raise random.choice([A, B, C, ValueError])(value)
    return value
"""
SIMPLE = (
    "{v} = step(log, random, {n})",
    "{v} = step(log, random, {w})",
    "{v} += 1",
    "{v}, {w} = {w}, {v}",
    "log.append({v})",
    "del {v}",
    "{v} = [step(log, random, {w}) for {w} in range(2)]",
    "{v} = log[-1][0] / {n}",
)


class Writer:
    """Writes one function."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.lines: list[str] = []
        self.groups = 0
        self.size = 0

    def line(self, depth: int, text: str) -> None:
        self.lines.append("    " * depth + text)

    def variable(self) -> str:
        return self.random.choice("xyz")

    def suite(self, depth: int, loops: int, grouped: bool = False) -> None:
        for _ in range(self.random.randint(1, 3)):
            self.statement(depth, loops, grouped)

    def statement(self, depth: int, loops: int, grouped: bool) -> None:
        self.size += 1
        choice = self.random.random()
        if depth > 6 or self.size > 40:
            choice *= 0.5
        if choice < 0.38:
            text = self.random.choice(SIMPLE)
            self.line(depth, text.format(v=self.variable(), w=self.variable(), n=self.random.randint(0, 3)))
        elif choice < 0.5:
            jumps = ["raise", f"raise {self.random.choice('ABC')}({self.variable()})", "pass"]
            jumps.append(f"raise A(1) from {self.random.choice(['None', 'B(2)'])}")
            if not grouped:  # nothing may leave except*
                jumps.append(f"return {self.variable()}")
            if loops:
                jumps += ["break", "continue"]
            condition = self.random.choice(["step(log, random, 7) % 2", "random.random() < 0.3", "x"])
            self.line(depth, f"if {condition}:")
            self.line(depth + 1, self.random.choice(jumps))
        elif choice < 0.6:
            self.line(depth, f"for {self.variable()} in range({self.random.randint(1, 3)}):")
            self.suite(depth + 1, loops + 1, grouped)
            if self.random.random() < 0.3:
                self.line(depth, "else:")
                self.suite(depth + 1, loops, grouped)
        elif choice < 0.65:
            self.line(depth, "while random.random() < 0.6:")
            self.suite(depth + 1, loops + 1, grouped)
        elif choice < 0.72:
            flags = f"{self.random.random() < 0.4}, {self.random.choice([0, 0, 0, 1, 2])}"
            self.line(depth, f"with Manager(log, {flags}) as {self.variable()}:")
            self.suite(depth + 1, loops, grouped)
        else:
            self.attempt(depth, loops, grouped)

    def attempt(self, depth: int, loops: int, grouped: bool) -> None:
        self.line(depth, "try:")
        self.suite(depth + 1, loops, grouped)
        handlers = self.random.randint(0, 2)
        star = "*" if handlers and self.random.random() < 0.2 else ""
        for _ in range(handlers):
            kind = self.random.choice(["A", "B", "(B, C)", "Exception", "(A, ValueError)", "NameError"])
            name = f" as {self.variable()}" if self.random.random() < 0.6 else ""
            self.line(depth, f"except{star} {kind}{name}:")
            self.suite(depth + 1, 0 if star else loops, grouped or bool(star))
        if handlers and self.random.random() < 0.3:
            self.line(depth, "else:")
            self.suite(depth + 1, loops, grouped)
        if not handlers or self.random.random() < 0.4:
            self.line(depth, "finally:")
            self.suite(depth + 1, loops, grouped)


def program(seed: int) -> tuple[str, Any, dict[str, Any]]:
    writer = Writer(seed)
    writer.line(0, "def f(log, random, x, y):")
    for _ in range(3):
        writer.statement(1, 0, False)
    writer.line(1, "return x, y, z")
    source = "\n".join(writer.lines)
    space: dict[str, Any] = {"sys": __import__("sys")}
    exec(PRELUDE, space)
    exec(compile(source, f"<program {seed}>", "exec"), space)
    return source, space["f"], space


def chain(error: BaseException | None, depth: int = 0) -> Any:
    if error is None or depth > 10:
        return None
    parts = [chain(e, depth + 1) for e in getattr(error, "exceptions", ())]
    return (
        type(error).__name__,
        str(error),
        error.__suppress_context__,
        chain(error.__cause__, depth + 1),
        chain(error.__context__, depth + 1),
        parts,
    )


def lines(error: BaseException) -> list[tuple[str, int]]:
    found = []
    traceback = error.__traceback__
    while traceback is not None:
        found.append((traceback.tb_frame.f_code.co_name, traceback.tb_lineno))
        traceback = traceback.tb_next
    return found


def outcome(function: Any, seed: int) -> tuple[Any, Any]:
    """What can be seen, and the lines of the traceback."""
    log: list[Any] = []
    try:
        return ("returned", repr(function(log, random.Random(seed), 1, 2)), repr(log)), None
    except BaseException as error:  # any exception is an outcome to compare
        # CPython may report the line of the store before a load of an unbound local: it runs both as one.
        return ("raised", chain(error), repr(log)), None if isinstance(error, NameError) else lines(error)[1:]


@pytest.mark.parametrize("seed", range(40))
def test_round_trip(seed: int) -> None:
    source, function, _ = program(seed)
    for normal in (False, True):
        copy = checked_roundtrip(function, normal=normal)
        for run in range(12):
            assert outcome(copy, run) == outcome(function, run), f"{normal} {run}\n{source}"


@pytest.mark.parametrize("seed", range(40, 50))
def test_graph(seed: int) -> None:
    source, function, space = program(seed)
    graph = lift(function)
    verify(graph)

    def run_graph(*arguments: Any) -> Any:
        return interpret(graph, *arguments, globals=space)

    for step in (None, *NORMAL.stages):
        if step is not None:
            step.run(graph, space)
            verify(graph)
        for run in range(5):
            name = "" if step is None else step.name
            assert outcome(run_graph, run)[0] == outcome(function, run)[0], f"{name} {run}\n{source}\n{graph}"
