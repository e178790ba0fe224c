"""Functions that are native as a whole, with arguments."""

from __future__ import annotations

import math
from typing import Any

__all__ = ["PROGRAMS"]


def newton(x: float, tolerance: float) -> float:
    y = x
    while abs(y * y - x) > tolerance:
        y = 0.5 * (y + x / y)
    return y


def early(x: float) -> float:
    if x > 1.0:
        return x * x
    if x < 0.0:
        return -x
    return math.exp(x)


def rows(x: float, n: int) -> float:
    s = 0.0
    for i in range(n):
        t = x
        for j in range(i):
            t = math.sin(t) + j * 0.5
            if t > 1.0:
                break
        s += t * x**2 + max(x, t) - t % 0.3
    return s


def helper(x: float, y: float) -> float:
    if x > y:
        return x * x
    return y * y * math.sqrt(y)


def caller(x: float, y: float) -> float:
    s = 0.0
    for k in range(3):
        s = s + helper(x, y * k)
    return s


def swapped(x: float, y: float, n: int) -> float:
    a, b = x, y
    for _ in range(n):
        a, b = b, a * 0.5 + b
    return a - b


def pairs(x: float, n: int) -> float:
    state = (x, 1.0)
    for _ in range(n):
        state = (state[1] * 0.5, state[0] + state[1])
    return state[0] * state[1]


def counted(x: float, n: int) -> float:
    k, s = 0, 0.0
    for i in range(10, n, -3):
        k = k + i * i
        s = s + x * k
    return s / (1 + k)


def first_zero(x: float, n: int) -> float:
    for i in range(n):
        if x * i > 1.0:
            return x * i
    return math.cos(x)


def handled(x: float) -> float:
    try:
        y = math.log(x)
    except ValueError:
        y = 2.0 * x
    return y * x


def horner(x: float, coefficients: list[float]) -> float:
    result = 0.0
    for c in coefficients:
        result = result * x + c
    return result


def indexed(x: float, values: list[float]) -> float:
    s = 0.0
    for i in range(len(values)):
        s += x * values[i] - values[-1 - i] * x**3
    return s


def products(a: list[float], b: list[float]) -> float:
    s = 0.0
    for i in range(len(a)):
        s += a[i] * b[-1 - i] * math.sin(a[0])
    return s


def folded(a: list[float], x: float) -> float:
    s = x
    for v in a:
        s = s * v + x
    return s


def switched(x: float, on: bool, state: tuple[float, tuple[int, float]]) -> float:
    a, (k, b) = state
    if on and k > 1:
        return x * a + b * k
    return x * b - a


def checked(x: float, scale: float | None = None) -> float:
    if x < 0.0:
        raise ValueError(f"{x} is negative")
    if scale is None:
        scale = 2.0
    return math.sqrt(x) * scale


def powers(x: float, y: float) -> float:
    return x**2 + x**3 + x**-1 + y**0


def rounded(x: float, y: float, k: int) -> float:
    low, high, near = math.floor(y), math.ceil(y), int(y)
    return x * low + high * (y // 0.25) + near * x + x % 0.4 + x * (k // 3) - (-k % 5) * (y % -0.3)


def series(t: float, k: int) -> float:
    s = 0.0
    for i in range(k):
        s = s + math.sin(t * i) * t
    return s


def nested_calls(x: float, n: int) -> float:
    y = x
    for i in range(n):
        y = y * 0.5 + series(y, i % 3) - series(x, 2)
    return y


def clipped(x: float, n: int) -> float:
    y = x
    for _ in range(n):
        y = max(y * 1.5, min(x, 0.25)) - math.asin(0.1 * x)
    return y


def defaulted(x: float, y: float = 0.25, n: int = 3) -> float:
    return x * y**n


PROGRAMS: dict[str, tuple[Any, tuple[Any, ...], Any]] = {
    "newton": (newton, (2.0, 1e-9), 0),
    "newton, no turn": (newton, (1.0, 1.0), (0, 1)),
    "early, first": (early, (1.5,), 0),
    "early, second": (early, (-0.5,), 0),
    "early, last": (early, (0.5,), 0),
    "rows": (rows, (0.5, 5), 0),
    "caller": (caller, (1.5, 2.0), (0, 1)),
    "swapped": (swapped, (0.5, 2.0, 7), (1, 0)),
    "pairs": (pairs, (0.5, 6), 0),
    "counted": (counted, (0.5, -4), 0),
    "first zero": (first_zero, (0.3, 9), 0),
    "first zero, none": (first_zero, (0.01, 9), 0),
    "handled": (handled, (1.5,), 0),
    "horner": (horner, (0.5, [1.0, 2.0, 3.0]), 0),
    "horner, empty": (horner, (0.5, []), 0),
    "indexed": (indexed, (0.5, [1.0, -2.0, 3.0]), 0),
    "products": (products, ([1.0, 2.0, 3.0], [0.5, -1.0, 2.0]), (0, 1)),
    "products, one": (products, ([1.0, 2.0, 3.0], [0.5, -1.0, 2.0]), 1),
    "folded": (folded, ([1.0, 0.5, -2.0], 0.3), (1, 0)),
    "folded, empty": (folded, ([], 0.3), (0, 1)),
    "switched, on": (switched, (0.5, True, (1.5, (3, -0.25))), 0),
    "switched, off": (switched, (0.5, False, (1.5, (3, -0.25))), 0),
    "checked": (checked, (0.5,), 0),
    "checked, scaled": (checked, (0.5, 3.0), 0),
    "powers": (powers, (1.25, 0.75), (0, 1)),
    "rounded": (rounded, (2.3, -1.7, 11), 0),
    "nested calls": (nested_calls, (0.5, 7), 0),
    "clipped": (clipped, (0.5, 4), 0),
    "defaulted": (defaulted, (0.5,), 0),
}
