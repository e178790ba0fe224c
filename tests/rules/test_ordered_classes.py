"""Classes derived from `OrderedDict` with methods written in Python: which of them its C code asks for, and
the order that it keeps."""

# What is tested is just what these would have written in another way.

from __future__ import annotations

import copy
from collections import OrderedDict, defaultdict
from typing import Any

import pytest

from adbc.testing import test_rule as check


class Cache(OrderedDict[Any, Any]):
    """The cache of the documentation of `collections`, which forgets what was used least recently."""

    def __init__(self, *args: Any, limit: int = 3, **named: Any) -> None:
        self.limit = limit
        super().__init__(*args, **named)

    def __getitem__(self, key: Any) -> Any:
        value = super().__getitem__(key)
        self.move_to_end(key)
        return value

    def __setitem__(self, key: Any, value: Any) -> None:
        super().__setitem__(key, value)
        if len(self) > self.limit:
            del self[next(iter(self))]


class Doubled(OrderedDict[Any, Any]):
    def __getitem__(self, key: Any) -> Any:
        return super().__getitem__(key) * 2.0


class Scaled(OrderedDict[Any, Any]):
    def __setitem__(self, key: Any, value: Any) -> None:
        super().__setitem__(key.lower(), value * 3.0)

    def __contains__(self, key: object) -> bool:
        return super().__contains__(str(key).lower())


class Watched(OrderedDict[Any, Any]):
    """All that may be asked is written down."""

    def __init__(self, *args: Any, **named: Any) -> None:
        self.asked: list[Any] = []
        super().__init__(*args, **named)

    def __getitem__(self, key: Any) -> Any:
        self.asked.append(("get", key))
        return super().__getitem__(key)

    def __setitem__(self, key: Any, value: Any) -> None:
        self.asked.append(("set", key))
        super().__setitem__(key, value)

    def __delitem__(self, key: Any) -> None:
        self.asked.append(("del", key))
        super().__delitem__(key)

    def __contains__(self, key: object) -> bool:
        self.asked.append(("in", key))
        return super().__contains__(key)

    def __iter__(self) -> Any:
        self.asked.append("iter")
        return super().__iter__()

    def pop(self, *args: Any) -> Any:
        self.asked.append("pop")
        return super().pop(*args)


def content(d: Any) -> Any:
    return list(OrderedDict.items(d)), list(d.values()), list(reversed(d)), len(d)


def stored(cls: Any, x: Any) -> Any:
    d = cls(p=x)
    d["q"] = x * x
    d["p"] = d["q"] * x
    del d["q"]
    d["q"] = 3.0 * x
    return content(d), d["p"], [2.0 * v for v in d.values()]


def updated(cls: Any, x: Any) -> Any:
    d = cls([("p", x), ("q", 2.0 * x)])
    d.update({"r": x * x}, s=x)
    d.update(OrderedDict(t=x))
    d.update(Doubled(u=x))
    first = d.setdefault("p", 1.0), d.setdefault("z", x)
    return content(d), first


def moved(cls: Any, x: Any) -> Any:
    d = cls(p=x, q=x * x, r=3.0 * x)
    d.move_to_end("p")
    d.move_to_end("r", last=False)
    d["s"] = d.pop("q") * x
    last, first = d.popitem(), d.popitem(last=False)
    return content(d), last, first, d.pop("none", x)


def joined(cls: Any, x: Any) -> Any:
    d = cls(p=x)
    other = d | {"q": x * x}
    third = d.copy()
    third["p"] = 2.0 * x
    d |= {"r": x, "p": x * x}
    other.clear()
    other["k"] = x
    return content(d), content(other), content(third), type(third) is cls


def walked(cls: Any, x: Any) -> Any:
    d = cls(p=x, q=x * x)
    total = 0.0
    for k in d:
        total = total * x + d[k]
    for k, v in d.items():
        total += v * len(k)
    return total, [*d], list(d.keys()), "p" in d, d.get("p"), d.get("none", x)


def asked(cls: Any, x: Any) -> Any:
    """The methods that are asked for, in their order."""
    return [step(cls, x) for step in (stored_in, moved_in)]


def stored_in(cls: Any, x: Any) -> Any:
    d = cls({"p": x}, q=x)
    d.update(r=x)
    d.setdefault("p", x)
    d.setdefault("s", x)
    d |= {"t": x}
    return getattr(d, "asked", None), content(d)


def moved_in(cls: Any, x: Any) -> Any:
    d = cls(p=x, q=x)
    d.pop("p")
    d["p"] = x
    d.move_to_end("q")
    d.popitem()
    e = d.copy()
    return getattr(d, "asked", None), getattr(e, "asked", None), content(d)


STEPS = (stored, updated, moved, joined, walked, asked)


@pytest.mark.parametrize("cls", [OrderedDict, Cache, Doubled, Scaled, Watched])
@pytest.mark.parametrize("step", STEPS)
def test_both_modes(step: Any, cls: Any) -> None:
    if cls is Cache and step is walked:
        with pytest.raises(RuntimeError, match="mutated during iteration"):
            step(cls, 0.7)
        return
    check(lambda x: step(cls, x), 0.7)


@pytest.mark.parametrize("cls", [Doubled, Cache])
def test_an_argument_gets_its_order_back(cls: Any) -> None:
    def f(d: Any, x: Any) -> Any:
        d.move_to_end("p")
        d["q"] = d["q"] * x
        del d["r"]
        d["s"] = x
        return content(d)

    check(f, cls(p=0.5, q=1.5, r=0.7), 0.8)


class Grouped(defaultdict[Any, Any]):
    def __init__(self, factory: Any = list, *args: Any) -> None:
        super().__init__(factory, *args)
        self.made = len(self)


@pytest.mark.parametrize("cls", [Cache, Doubled, Scaled, Watched])
@pytest.mark.parametrize("of", [copy.copy, copy.deepcopy])
def test_copies_of_derived_classes(cls: Any, of: Any) -> None:
    def f(x: Any) -> Any:
        d = cls(q=x, p=x * x)
        d.note = [x, 2.0]
        e = of(d)
        e["q"] = x * e["p"]
        e.note[0] = x * e.note[0]
        e.move_to_end("q")
        return content(d), content(e), e.note[0] * d.note[0], type(e) is cls

    check(f, 0.7)


@pytest.mark.parametrize("of", [copy.copy, copy.deepcopy, lambda d: d.copy()])
def test_copies_of_dicts_that_make_values(of: Any) -> None:
    def f(x: Any) -> Any:
        d = Grouped()
        d["a"].append(x)
        e = of(d)
        e["b"].append(x * x)
        e["a"].append(x * e["b"][0])
        return sum(d["a"]), sum(e["a"]), len(d), len(e), e.made, type(e) is Grouped

    check(f, 0.7)
