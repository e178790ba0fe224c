"""Slots of every kind, in derivatives of derivatives: numbers, tuples, objects and containers, in lists,
dicts, fields and cells; slices of lists; fields that are new; methods that are looked into."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adbc

X = [0.7, 1.1, -0.6]
V = [0.3, -0.5, 0.8]


class Box:
    def __init__(self, held: Any) -> None:
        self.held = held

    def cube(self) -> Any:
        return self.held**3


def sliced_floats(x: Any) -> Any:
    total = 0.0
    for k in range(3):
        for a in x[k:]:
            total += a**3 * x[k]
    return total


def sliced_objects(x: Any) -> Any:
    boxes = [Box(v) for v in x]
    for box in boxes[1:]:
        box.held = box.held * boxes[0].held
    return sum(box.cube() for box in boxes[::-1])


def sliced_tuples(x: Any) -> Any:
    pairs = [(v, v * v) for v in x]
    return sum(a * b for a, b in pairs[:2]) + pairs[1:][1][1] * x[0]


def sliced_rows(x: Any) -> Any:
    rows = [[v, 2.0] for v in x]
    for row in rows[1:]:
        row[0] = row[0] ** 2 * rows[0][0]
    return rows[1][0] * rows[2][0]


def changed_behind_a_slice(x: Any) -> Any:
    values = [v * v for v in x]
    part = values[:2]
    part[0] = part[0] * values[2]
    values[1] = 5.0 * x[0]
    return part[0] * part[1] * values[1]


def fields_of_all_kinds(x: Any) -> Any:
    box = Box((x[0], [x[1]], Box(x[2])))
    a, rest, inner = box.held
    rest[0] = rest[0] * a
    box.held = a * rest[0]
    inner.held = inner.held * box.held
    return box.cube() * inner.cube()


def new_fields(x: Any) -> Any:
    box = Box(x[0])
    for name, v in zip("uvu", x, strict=True):
        setattr(box, name, v * box.held)
    return box.u**2 * box.v  # type: ignore[attr-defined]


def items_of_all_kinds(x: Any) -> Any:
    table: dict[str, Any] = {"a": x[0], "b": (x[1], x[2]), "c": [x[0]], "d": Box(x[1])}
    table["a"] = table["a"] * table["b"][0]
    table["c"].append(table["a"])
    table["d"].held = table["d"].held * table["b"][1]
    return table["c"][1] ** 2 * table["d"].cube() + table["c"][0] ** 3


def cells(x: Any) -> Any:
    scale, box = x[0] * x[1], Box(x[2])

    def step(v: Any) -> Any:
        nonlocal scale
        scale = scale * v
        box.held = box.held + scale
        return scale * box.held

    return sum(step(v) for v in x)


def looked_into(x: Any) -> Any:
    box = Box(x[0])
    method = box.cube
    if type(method) is type(Box.cube):
        return 0.0
    again: Callable[..., Any] = method.__func__  # type: ignore[attr-defined]
    is_same = type(method) is type(box.cube) and method.__self__ is box  # type: ignore[attr-defined]
    return again(Box(x[1])) * method() * (2.0 if is_same else 1.0) * x[2]


def asked_for_classes(x: Any) -> Any:
    total = 0.0
    for v in (x[0], Box(x[1]), x, 2):
        kind = type(v)
        if kind is float:
            total += v**3
        elif kind is Box:
            total += v.cube() * x[0]
        elif type(v) is list:
            total += v[0] * v[2] ** 2
        else:
            total *= v
    return total


PROGRAMS = [
    sliced_floats, sliced_objects, sliced_tuples, sliced_rows, changed_behind_a_slice, fields_of_all_kinds,
    new_fields, items_of_all_kinds, cells, looked_into, asked_for_classes,
]  # fmt: skip


def forward(f: Any) -> Any:
    return lambda x: adbc.jvp(f, (x,), (V,))[1]


def reverse(f: Any) -> Any:
    return lambda x: sum(g * v for g, v in zip(adbc.grad(f)(x), V, strict=True))


@pytest.mark.parametrize("inner", [forward, reverse])
@pytest.mark.parametrize("outer", [forward, reverse])
@pytest.mark.parametrize("f", PROGRAMS)
def test_second_derivatives(f: Any, outer: Any, inner: Any) -> None:
    at = [float(n) for n in np.array(X)]
    there, before = ([a + h * v for a, v in zip(X, V, strict=True)] for h in (1e-5, -1e-5))
    wanted = (reverse(f)(there) - reverse(f)(before)) / 2e-5
    for _ in range(5):
        assert outer(inner(f))(at) == pytest.approx(wanted, rel=1e-6)
    with adbc.use(adbc.Config(warm_after=0)):
        assert outer(inner(f))(at) == pytest.approx(wanted, rel=1e-6)
