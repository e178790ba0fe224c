"""Syntax that only newer versions of CPython have; the source is compiled where that is possible."""

from __future__ import annotations

import sys
import textwrap
from typing import Any

import pytest

from adbc.testing import test_rule as check_rule
from tests.programs.checks import check_gradient

SOURCES: dict[str, tuple[tuple[int, int], str]] = {
    "type parameters of a function": (
        (3, 12),
        """
        def f[T](x: T, u: list[T]) -> T:
            def inner[S: float](y: S, *rest: S) -> S:
                u[0] *= y
                return u[0]

            return inner(x) * inner(u[1], x) * u[0]
        """,
    ),
    "type parameters of a class": (
        (3, 12),
        """
        def f(x, u):
            class Box[T]:
                def __init__(self, v: T):
                    self.v = v

                def map[S](self, g) -> "Box[S]":
                    u[0] *= self.v
                    return Box(g(self.v))

            return Box[float](x).map(lambda v: v * u[0]).v * u[0] * len(Box.__type_params__)
        """,
    ),
    "type aliases": (
        (3, 12),
        """
        type Pair[T] = tuple[T, T]

        def f(x, u):
            type Local = list[float]
            pair: Pair[float] = (x, u[0] * x)
            kept: Local = u
            kept[1] *= pair[1]
            return u[0] * u[1] * pair[0] * len(Local.__name__)
        """,
    ),
    "nested f-strings": (
        (3, 12),
        """
        def f(x, u):
            u[0] *= x
            s = f"{f"{u[0]:.{f"{1 + 1}"}f}" + ' '.join(f"{y:.1f}" for y in u)}"
            return u[0] * u[1] * (len(s) > 3)
        """,
    ),
    "defaults of type parameters": (
        (3, 13),
        """
        def f[T = float](x: T, u: list[T]) -> T:
            u[0] *= x
            return u[0] * u[1]
        """,
    ),
    "template strings": (
        (3, 14),
        """
        def f(x, u):
            n = len(u)
            t = t"{n:.2f} and {'text'!r:>{5 + 3}} {n + 1 = }"
            u[0] *= x * t.interpolations[0].value
            text = ""
            for part in t:
                text += part if isinstance(part, str) else str(part.value) + part.expression
            return u[0] * u[1] * (len(text) > 5) * len(t.strings)
        """,
    ),
    "active values in template strings": (
        (3, 14),
        """
        from string.templatelib import Interpolation, Template

        def f(x, u):
            t = t"a{x}b{u[0]!r:>10}c{u}" + t"{x * x:{u[1]}}"
            u[0] *= x
            total = t.values[0] * t.interpolations[3].value
            for part in t:
                if isinstance(part, str):
                    continue
                match part:
                    case Interpolation(value, _, None, ""):
                        if isinstance(value, list):
                            value[1] *= x
                            total *= value[0]
                        else:
                            total *= value
                    case Interpolation(value):
                        total *= value * value
            field = Interpolation(total, "total", "s", ">5")
            try:
                Template("a", field) + 3
            except TypeError:
                u[1] += field.value
            return total * u[0] * u[1] * len(t.strings)
        """,
    ),
    "except without parentheses": (
        (3, 14),
        """
        def f(x, u):
            try:
                u[0] *= x
                u[7]
            except KeyError, IndexError:
                u[1] *= u[0]
            return u[0] * u[1]
        """,
    ),
    "annotations that are evaluated later": (
        (3, 14),
        """
        def f(x, u):
            def inner(y: missing[x]) -> nowhere:
                z: absent = y
                u[0] *= z
                return u[0]

            class C:
                field: unknown

            return inner(x) * u[0] * u[1]
        """,
    ),
    "unpacking in comprehensions": (
        (3, 15),
        """
        def f(x, u):
            rows = [[x, u[0]], [u[1]]]
            flat = [*row for row in rows]
            flat[0] *= x
            merged = {**d for d in [{"a": x}, {"b": flat[0]}]}
            return sum((*row for row in rows)) * flat[0] * merged["b"] * u[0]
        """,
    ),
}


@pytest.mark.parametrize("name", [name for name, (since, _) in SOURCES.items() if sys.version_info >= since])
def test_newer_syntax_is_differentiated(name: str) -> None:
    _, source = SOURCES[name]
    space: dict[str, Any] = {"__name__": __name__}
    exec(compile(textwrap.dedent(source), f"<{name}>", "exec"), space)
    check_rule(space["f"], 1.5, [1.0, 2.0])
    check_gradient(space["f"], 1.5, [1.0, 2.0])
