"""Loops over tuples that are counted as those over lists are, in forward mode."""

from __future__ import annotations

from typing import Any

import adbc


def half(e: Any) -> Any:
    if e is None:
        return 0.5
    if isinstance(e, (tuple, list)):
        return sum(half(p) for p in e) * 0.3
    return e


def tame(e: Any) -> Any:
    e = half(e)
    return e / (1.0 + 0.1 * e * e)


def through(x: Any, t: Any, n: int) -> Any:
    a = x
    for p in (*t[:2], 1):
        a = tame(a * 0.5 + tame(p) * (abs(n) + 0.3) ** 1.5)
    return a


def test_an_int_among_floats_has_the_tangent_zero(speculation: str) -> None:
    h, found = 1e-6, []
    for n in range(4):
        ahead, behind = (through(1.0 + s, (0.3 + 2.0 * s, 0.2 - s), n) for s in (h, -h))
        out, tangent = adbc.jvp(through, (1.0, (0.3, 0.2), n), (1.0, (2.0, -1.0), None))
        value, (gx, gt) = adbc.value_and_grad(through, (0, 1))(1.0, (0.3, 0.2), n)
        assert out == value == through(1.0, (0.3, 0.2), n)
        assert abs(tangent - (ahead - behind) / (2.0 * h)) < 1e-8
        assert abs(tangent - (gx + 2.0 * gt[0] - gt[1])) < 1e-12
        found.append(tangent)
    assert len(set(found)) == 4
