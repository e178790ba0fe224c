"""Loops over dicts and lists whose values and keys change their types from call to call: every guess fails
somewhere in a loop, and the rest of the function goes on with an iterator that is half used up."""

from __future__ import annotations

import copy
import itertools
import random
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import adbc

Path = tuple[Any, ...]


def size(v: Any) -> Any:
    if isinstance(v, list | tuple):
        return sum(map(size, v), 0.0)
    if isinstance(v, np.ndarray):
        return (v * v).sum()
    if isinstance(v, str):
        return len(v)
    if isinstance(v, dict):
        return sum(size(w) for w in v.values())
    return v * v


def by_items(d: Any, x: Any) -> Any:
    total = 0.0
    for key, value in d.items():
        total = total * 0.5 + size(value) * x
        if isinstance(value, float):
            d[key] = value * 0.5
    for value in d.values():
        total += size(value)
    return total


def by_values(d: Any, x: Any) -> Any:
    total = 0.0
    for value in d.values():
        if type(value) is float:
            total += value * x * value
        elif type(value) is list:
            value[0] *= x
            total += value[0] * total
        else:
            total += float(np.sum(value)) * x
    for key in d:
        total += size(d[key]) * 0.1
    return total


def nested(d: Any, x: Any) -> Any:
    total = 0.0
    for key, value in d.items():
        for other, second in d.items():
            if key is not other:
                total += size(value) * size(second) * 0.1
        total *= x
    return total


def shared(d: Any, x: Any) -> Any:
    pairs = iter(d.items())
    total = x
    for key, value in pairs:
        total += size(value) * len(str(key))
        for _, second in pairs:
            total *= 0.5 * size(second) + 1.0
            break
    return total


def side_by_side(d: Any, x: Any) -> Any:
    total = x
    for (_, value), second in zip(d.items(), d.values(), strict=True):
        moved = value * x
        total = total + size(moved) * 0.3
        total = total + size(second)
    made = {key: value * x for key, value in d.items() if not isinstance(value, list | str | dict)}
    for value in made.values():
        total += size(value)
    return total


def neighbours(u: Any, x: Any) -> Any:
    total = x
    for a, b in itertools.pairwise(u):
        total += (size(b) - 0.5 * size(a)) * x
        if isinstance(b, list):
            b[0] *= x
    return total


def running(u: Any, x: Any) -> Any:
    total = 0.0
    for s in itertools.accumulate(u):
        total = total * 0.5 + size(s * x)
    for s in itertools.accumulate(u, lambda a, b: a * 0.5 + b * x):
        total += size(s)
    return total


def one_by_one(u: Any, x: Any) -> Any:
    rest = iter(u)
    total = x
    for first in rest:
        total += size(first)
        break
    for v in rest:
        total += size(v) * x
        u[-1] = u[0]
    rest = iter(u)
    while True:
        for v in rest:
            total *= 0.5 * size(v) + x
            break
        else:
            return total
        for v in rest:
            total += size(v)
            break


PROGRAMS: dict[Callable[..., Any], str] = {
    by_items: "flantisd",
    by_values: "flant",
    nested: "flantisd",
    shared: "flantisd",
    side_by_side: "fan",
    neighbours: "flantisd",
    running: "fani",
    one_by_one: "flantisd",
}
"""Functions of a dict or list and a number, with the kinds of values that they take."""
OF_LISTS = (neighbours, running, one_by_one)


def value_of(kind: str, rng: random.Random) -> Any:
    r = rng.uniform(0.3, 1.7)
    made = {
        "f": r, "l": [r, r * 0.5], "a": np.array([r, 2 * r]), "i": rng.randrange(1, 4), "t": (r, 0.5 * r),
        "n": np.float64(r), "s": "ab", "d": {"q": r},
    }  # fmt: skip
    return made[kind]


def numbers(v: Any, path: Path = ()) -> Iterator[Path]:
    """The ways to the floats in `v`."""
    if isinstance(v, float):
        yield path
    elif isinstance(v, dict):
        for key in v:
            yield from numbers(v[key], (*path, key))
    elif isinstance(v, list | tuple | np.ndarray):
        for i in range(len(v)):
            yield from numbers(v[i], (*path, i))


def moved(v: Any, path: Path, by: float) -> Any:
    """A copy of `v` in which one number is another."""
    if not path:
        return type(v)(v + by)
    if isinstance(v, tuple):
        return tuple(moved(c, path[1:], by) if i == path[0] else c for i, c in enumerate(v))
    v = copy.copy(v)
    v[path[0]] = moved(v[path[0]], path[1:], by)
    return v


def at(v: Any, path: Path) -> Any:
    for key in path:
        v = v[key]
    return v


@pytest.mark.parametrize("seed", range(40))
def test_gradients_of_walks(seed: int) -> None:
    rng = random.Random(seed)
    f, kinds = rng.choice(list(PROGRAMS.items()))
    gradient = adbc.value_and_grad(f, (0, 1))
    names: list[Callable[[int], Any]] = [str, lambda i: i, lambda i: (i, "z")]
    chosen = names[0]
    for call in range(8):
        found = "ffff"
        if call >= 4:  # now other types than those that were seen
            found = "f" + "".join(rng.choice(kinds) for _ in range(rng.randrange(5)))
            found = "".join(rng.sample(found, len(found)))
            chosen = rng.choice(names)
        d: Any = {chosen(i): value_of(kind, rng) for i, kind in enumerate(found)}
        if f in OF_LISTS:
            d = list(d.values())
        x = rng.uniform(0.5, 1.2)
        before = copy.deepcopy(d)
        value, (dd, dx) = gradient(d, x)
        assert repr(d) == repr(before)
        np.testing.assert_allclose(value, f(copy.deepcopy(d), x), rtol=1e-12)
        h = 1e-6
        for path in numbers(d):
            up, down = (f(copy.deepcopy(moved(d, path, by)), x) for by in (h, -h))
            np.testing.assert_allclose(at(dd, path), (up - down) / (2 * h), rtol=2e-5, atol=1e-6)
        up, down = (f(copy.deepcopy(d), x + by) for by in (h, -h))
        np.testing.assert_allclose(dx, (up - down) / (2 * h), rtol=2e-5, atol=1e-6)
