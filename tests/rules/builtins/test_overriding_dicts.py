"""Dicts whose class has methods in Python: C code asks these or it does not, and so does a derivative."""

from __future__ import annotations

import collections
import copy
import dataclasses
import operator
import os
from collections.abc import Iterator
from typing import Any

import pytest

import adbc

X = 0.7

METHODS = [
    "__len__", "__getitem__", "__setitem__", "__delitem__", "__iter__", "__contains__", "update", "clear",
    "pop", "items", "keys", "values", "get", "setdefault", "copy",
]  # fmt: skip
BASES: dict[str, Any] = {
    "dict": dict, "OrderedDict": collections.OrderedDict, "defaultdict": collections.defaultdict,
    "Counter": collections.Counter,
}  # fmt: skip
USES: dict[str, Any] = {
    "values": lambda base, d: sum(base.values(d)),
    "the method values": lambda base, d: sum(d.values()),
    "items": lambda base, d: sum([v for _, v in base.items(d)]),
    "the method items": lambda base, d: sum([v for _, v in d.items()]),
    "a dict of items": lambda base, d: dict(d.items())["a"],
    "sorted items": lambda base, d: sorted(d.items())[0][1],
    "a dict": lambda base, d: dict(d)["b"],
    "a display": lambda base, d: {**d}["b"],
    "a copy": lambda base, d: dict.copy(d)["b"],
    "joined": lambda base, d: dict.__or__(d, {"c": d["a"]})["b"],
    "an OrderedDict": lambda base, d: collections.OrderedDict(d)["a"],
    "reversed": lambda base, d: len(list(reversed(d))) * 1.0,
    "keys": lambda base, d: len(list(base.keys(d))) * 1.0,
}


@pytest.fixture(autouse=True)
def _unchecked() -> Iterator[None]:
    """The checks of debug mode ask the objects too, and are counted."""
    with adbc.use(dataclasses.replace(adbc.Config.from_environment(os.environ), debug=False)):
        yield


def make(base: Any, x: Any, seen: list[Any]) -> Any:
    """A dict of a class derived from `base`, each method of which notes in `seen` that it was run."""

    def noting(name: str, weight: float) -> Any:
        method = getattr(base, name)

        def run(self: Any, *args: Any, **named: Any) -> Any:
            seen.append(weight * x)
            return method(self, *args, **named)

        return run

    methods = {name: noting(name, float(k)) for k, name in enumerate(METHODS)}
    cls = type("Own", (base,), methods)
    made = cls(None) if base is collections.defaultdict else cls()
    base.__setitem__(made, "a", x)
    base.__setitem__(made, "b", 2.0 * x)
    return made


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("base", BASES)
def test_methods_run_as_often_as_in_a_plain_call(base: str, use: str) -> None:
    def f(x: Any) -> Any:
        seen: list[Any] = []
        made = make(BASES[base], x, seen)
        return USES[use](BASES[base], made) * x + sum(seen)

    wanted = f(X)
    slope = (f(X + 1e-6) - f(X - 1e-6)) / 2e-6
    for _ in range(2):
        assert adbc.jvp(f, (X,), (1.0,)) == (pytest.approx(wanted), pytest.approx(slope, rel=1e-6))
        assert adbc.value_and_grad(f)(X) == (pytest.approx(wanted), pytest.approx(slope, rel=1e-6))


@pytest.mark.parametrize("join", [operator.or_, copy.copy, copy.deepcopy])
def test_joined_and_copied(join: Any) -> None:
    def f(x: Any) -> Any:
        seen: list[Any] = []
        made = make(dict, x, seen)
        out = join(made, {"c": x}) if join is operator.or_ else join(made)
        return sum(dict.values(out)) + sum(seen)

    slope = (f(X + 1e-6) - f(X - 1e-6)) / 2e-6
    assert adbc.jvp(f, (X,), (1.0,)) == (pytest.approx(f(X)), pytest.approx(slope, rel=1e-6))
    assert adbc.value_and_grad(f)(X) == (pytest.approx(f(X)), pytest.approx(slope, rel=1e-6))
