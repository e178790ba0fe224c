"""Dicts and the mappings of `collections`, in both modes: results, order, and what arguments get back."""

# ruff: noqa: B905, C408, RUF024, SIM118
# What is tested is just what these would have written in another way.

from __future__ import annotations

import copy
import operator
from collections import ChainMap, Counter, OrderedDict, defaultdict
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adbc
from adbc.errors import MissingRuleError, UnsupportedError
from adbc.testing import test_rule as check


def pairs(d: Any, x: Any) -> Any:
    for k, v in d.items():
        yield k, v * x


class Keyed:
    """What `dict` and ``update`` take for a mapping: keys and subscripts."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def keys(self) -> Any:
        return ["q", "z"]

    def __getitem__(self, k: str) -> Any:
        self.value = self.value * 2.0
        return self.value


class WithMissing(dict[Any, Any]):
    def __missing__(self, k: Any) -> Any:
        self[k] = value = self["p"] * 2.0
        return value


def changed(d: Any, *steps: Callable[[Any], Any]) -> Any:
    """What some statements return, and what they make of `d`, in its order."""
    return [step(d) for step in steps], d, list(d)


def augmented(d: Any, x: Any) -> Any:
    e = d
    e |= {"p": x, "z": x * x}
    e |= [("y", x)]
    return d, list(d), e is d


def deleted(d: Any, *keys: Any) -> Any:
    for k in keys:
        del d[k]
    d["again"] = 1.0
    return d, list(d)


def values_change(d: Any, x: Any) -> Any:
    for k in d:
        d[k] *= x
    for k, v in d.items():
        d[k] = v * d["p"]
    for v in d.values():
        d["p"] = v
    return d


def views_are_live(d: Any, x: Any) -> Any:
    keys, values, items = d.keys(), d.values(), d.items()
    d["z"] = x
    d["p"] = x * x
    return len(keys), list(values), sum([v for _, v in items]), "z" in keys, sorted(keys & {"p", "z", "no"})


def grouped(d: Any, x: Any) -> Any:
    out = defaultdict(list)
    for k, v in d.items():
        out[v > 1.0].append(v * x)
        out[k] += [x]
    return out, list(out)


def made_by_factories(d: Any, x: Any) -> Any:
    """Missing values that are made of what a factory has captured, is bound to, or counts."""
    y, made = x, []

    def count() -> Any:
        made.append(y)
        return y * len(made)

    closed, late = defaultdict(lambda: [x]), defaultdict(count)
    closed["p"].append(d["p"])
    first = late["p"]
    y = d["q"]
    nested = defaultdict(lambda: defaultdict(lambda: x))
    nested["p"]["q"] *= d["r"]
    return (
        sum(closed["q"]) * sum(closed["p"]), first * late["q"] * late["p"], nested["p"]["q"],
        nested["p"]["r"], defaultdict(Keyed(x).keys)["p"], defaultdict([x, d["p"]].pop)["p"],
        defaultdict(lambda v=x: v * v)["p"], defaultdict(lambda: x).copy()["p"],
    )  # fmt: skip


def factories_that_are_set(d: Any, x: Any) -> Any:
    late = defaultdict(None, d)
    late.default_factory = lambda: x * x
    found = late["z"] * late.setdefault("y", x) * late.get("x", 2.0)
    late.default_factory = None
    try:
        late["w"]
    except KeyError:
        return found * len(late)


def nested_default(d: Any, x: Any) -> Any:
    out = defaultdict(lambda: defaultdict(float))
    for k, v in d.items():
        out[k]["v"] += v * x
        out["all"]["v"] += out[k]["v"]
    return out


def ordered(d: Any, x: Any) -> Any:
    o = OrderedDict()
    for k, v in d.items():
        o[k] = v * x
    o.move_to_end("p")
    o.move_to_end("r", last=False)
    first = o.popitem(last=False)
    o["s"] = x
    return o, list(o), first, o.popitem()


def least_recently_used(d: Any, x: Any) -> Any:
    cache, log = OrderedDict(), []
    for k in ("p", "q", "p", "r", "q", "p"):
        if k in cache:
            cache.move_to_end(k)
        else:
            cache[k] = d[k] * x
            log.append(cache[k])
            if len(cache) > 2:
                log.append(cache.popitem(last=False)[1])
    return log, cache


def moved_argument(o: Any, x: Any) -> Any:
    o.move_to_end("p")
    o["q"] *= x
    del o["r"]
    return list(o.items())


def counted(d: Any, x: Any) -> Any:
    c = Counter()
    for k, v in d.items():
        c[k] += v * x
        c["all"] += v
    return dict(c), c["missing"], c.total()


def counter_arithmetic(d: Any, x: Any) -> Any:
    c, e = Counter(d), Counter(p=x, z=x)
    return dict(c + e), dict(c - e), dict(c & e), dict(c | e), dict(+c)


def counter_updates(d: Any, x: Any) -> Any:
    c = Counter(d)
    c.update({"p": x, "z": 1.0})
    c.subtract({"q": x})
    c += Counter(p=x)
    return dict(c), c.most_common(2)


def letters(d: Any, x: Any) -> Any:
    c = Counter("abracadabra")
    return [n * x for _, n in c.most_common(2)], sorted(c.elements())[0], x


def chain_map(d: Any, x: Any) -> Any:
    own = {"p": x}
    m = ChainMap(own, d)
    m["z"] = m["p"] * m["q"]
    child = m.new_child({"r": x})
    child["p"] = 2.0 * x
    return m["r"], own, sorted(m), child["r"], child["p"], m["p"], len(child), m.get("no", x)


def chain_map_pops(d: Any, x: Any) -> Any:
    m = ChainMap({"p": x, "s": x * x}, d)
    return m.pop("p"), m["p"], m.maps[1], list(m.values()), m.parents["q"]


def memo(d: Any, x: Any) -> Any:
    known: dict[Any, Any] = {}

    def fib(n: int) -> Any:
        if n not in known:
            known[n] = x if n < 2 else fib(n - 1) * d["p"] + fib(n - 2)
        return known[n]

    return fib(6)


def copies(d: Any, x: Any) -> Any:
    e, f = d.copy(), copy.copy(d)
    e["p"], f["q"] = x, x
    return d, e, f


class Row(list[Any]):
    def __init__(self, values: Any, scale: Any) -> None:
        super().__init__(values)
        self.append(scale)


class Table(dict[Any, Any]):
    pass


def made_by_closure(d: Any, x: Any) -> Any:
    class Own(list[Any]):
        def __init__(self) -> None:
            self.append(x * d["p"])

    return Own()[0]


DICTS: dict[str, Callable[[Any, Any], Any]] = {
    "subscript": lambda d, x: d["p"] * x,
    "store": lambda d, x: changed(d, lambda e: e.__setitem__("p", x), lambda e: e.__setitem__("z", x)),
    "store list": lambda d, x: changed(d, lambda e: e.__setitem__("p", [x])),
    "delete": lambda d, x: deleted(d, "p", "q"),
    "get": lambda d, x: (d.get("p") * x, d.get("no"), d.get("no", x), d.get("q", x)),
    "pop": lambda d, x: changed(
        d, lambda e: e.pop("q") * x, lambda e: e.pop("no", x), lambda e: e.pop("p", 1)
    ),
    "popitem": lambda d, x: changed(d, lambda e: e.popitem(), lambda e: e.popitem()),
    "setdefault": lambda d, x: changed(d, lambda e: e.setdefault("p", x), lambda e: e.setdefault("z", x)),
    "setdefault list": lambda d, x: changed({}, lambda e: e.setdefault("z", []).append(x)),
    "setdefault None": lambda d, x: (x, changed({}, lambda e: e.setdefault("z"))),
    "update": lambda d, x: changed(d, lambda e: e.update({"z": x, "p": x * x})),
    "update pairs": lambda d, x: changed(d, lambda e: e.update([("z", x), ("p", 2)])),
    "update generator": lambda d, x: changed({}, lambda e: e.update(pairs(d, x))),
    "update keywords": lambda d, x: changed(d, lambda e: e.update(z=x, p=x)),
    "update mapping": lambda d, x: changed(d, lambda e: e.update(Keyed(x))),
    "update itself": lambda d, x: changed(d, lambda e: e.update(e), lambda e: e["p"] * x),
    "update nothing": lambda d, x: changed(d, lambda e: e.update(), lambda e: e["p"] * x),
    "or": lambda d, x: (d | {"z": x, "p": x}, {"p": x} | d, list({"z": x} | d)),
    "ior": lambda d, x: augmented(d, x),
    "clear": lambda d, x: changed(d, lambda e: e.clear(), lambda e: e.update(p=x)),
    "fromkeys": lambda d, x: (dict.fromkeys(d, x), dict.fromkeys("ab"), dict.fromkeys(["u"], [x])),
    "keys": lambda d, x: [d[k] * x for k in d.keys()],
    "values": lambda d, x: [v * x for v in d.values()],
    "items": lambda d, x: [(k, v * x) for k, v in d.items()],
    "live views": lambda d, x: views_are_live(d, x),
    "view operators": lambda d, x: [d[k] * x for k in sorted(d.keys() - {"p"} | {"q"})],
    "view of items": lambda d, x: (("p", 9.0) in d.items(), 9.0 in d.values(), len(d.items()), x),
    "view comparison": lambda d, x: (
        d.keys() == {"p", "q", "r"},
        d.keys() >= {"p"},
        d.keys().isdisjoint("z"),
        x,
    ),
    "comprehension": lambda d, x: {k + "2": v * x for k, v in d.items() if v < 1.0},
    "values change": lambda d, x: values_change(d, x),
    "in": lambda d, x: ("p" in d, "no" not in d, x),
    "length": lambda d, x: len(d) * x,
    "equal": lambda d, x: (d == dict(d), d != {}, x),
    "copy": lambda d, x: copies(d, x),
    "dict of pairs": lambda d, x: dict([("u", x), ("v", d["p"])], w=x),
    "dict of keywords": lambda d, x: dict(u=x, v=d),
    "dict of dict": lambda d, x: (lambda e: (e.update(p=x), d, e))(dict(d)),
    "dict of mapping": lambda d, x: dict(Keyed(x)),
    "dict of generator": lambda d, x: dict(pairs(d, x)),
    "dict of zip": lambda d, x: dict(zip(d, (x, x * x))),
    "star": lambda d, x: {**d, "p": x, "z": x},
    "as keywords": lambda d, x: (lambda p, **rest: (p * x, rest))(**d),
    "reversed": lambda d, x: [d[k] * x for k in reversed(d)],
    "nested": lambda d, x: (lambda e: (e["u"].update(p=x), e["u"]["q"] * x, d))({"u": d}),
    "arrays": lambda d, x: (lambda e: (operator.imul(e["u"], x), e))({"u": np.array([d["p"], x])}),
    "int keys": lambda d, x: (lambda e: e[1] * e[2.0] * e[(1, "a")])({1: x, 2: d["p"], (1, "a"): x}),
    "missing": lambda d, x: (lambda e: (e.update(d), e["z"] * x, e["z"], len(e)))(WithMissing()),
    "memo": lambda d, x: memo(d, x),
    "sorted by value": lambda d, x: sorted(d.items(), key=lambda p: p[1] * x),
    "largest": lambda d, x: d[max(d, key=d.get)] * x,
    "sum": lambda d, x: sum(d.values(), x),
}

OTHERS: dict[str, Callable[[Any, Any], Any]] = {
    "ordered": lambda d, x: ordered(d, x),
    "least recently used": lambda d, x: least_recently_used(d, x),
    "ordered of pairs": lambda d, x: OrderedDict([("u", x), ("v", d["p"])]),
    "ordered of dict": lambda d, x: OrderedDict(d),
    "ordered of keywords": lambda d, x: OrderedDict(u=x, v=d["p"]),
    "ordered equal": lambda d, x: (OrderedDict(d) == OrderedDict(d), OrderedDict(d) == d, x),
    "ordered copy": lambda d, x: (
        OrderedDict(d).copy(),
        copy.copy(OrderedDict(d)),
        copy.deepcopy(OrderedDict(d)),
    ),
    "ordered pop": lambda d, x: (lambda o: (o.pop("p") * x, o.pop("no", x), o))(OrderedDict(d)),
    "ordered setdefault": lambda d, x: (lambda o: (o.setdefault("z", x), o.setdefault("p", x), o))(
        OrderedDict(d)
    ),
    "ordered or": lambda d, x: (lambda o: (o | {"z": x}, list(reversed(o)), list(o.values())))(
        OrderedDict(d)
    ),
    "ordered fromkeys": lambda d, x: OrderedDict.fromkeys(d, x),
    "subclass of list": lambda d, x: list(Row([d["p"], x], x * x)),
    "subclass of dict": lambda d, x: dict(Table(d, z=x)),
    "subclass copied": lambda d, x: (lambda t: (t.update(p=x), dict(copy.copy(t)), dict(copy.deepcopy(t))))(
        Table(d)
    ),
    "subclass made by a closure": lambda d, x: made_by_closure(d, x),
    "default": lambda d, x: grouped(d, x),
    "default of default": lambda d, x: nested_default(d, x),
    "default of dict": lambda d, x: (lambda e: (e["z"], e["p"] * x, e))(defaultdict(float, d)),
    "default of keywords": lambda d, x: (lambda e: (e["z"].append(x), e))(defaultdict(list, u=[x])),
    "default none": lambda d, x: defaultdict(None, d),
    "default copy": lambda d, x: (defaultdict(list, d).copy(), copy.deepcopy(defaultdict(list, d))),
    "default or": lambda d, x: defaultdict(float, d) | {"z": x},
    "default by factories": made_by_factories,
    "default of a factory that is set": factories_that_are_set,
    "counter": lambda d, x: counted(d, x),
    "counter arithmetic": lambda d, x: counter_arithmetic(d, x),
    "counter updates": lambda d, x: counter_updates(d, x),
    "counter of letters": lambda d, x: letters(d, x),
    "chain map": lambda d, x: chain_map(d, x),
    "chain map pops": lambda d, x: chain_map_pops(d, x),
}

CASES = {**DICTS, **OTHERS}


@pytest.mark.parametrize("name", CASES)
def test_mappings_are_right_and_put_back(name: str) -> None:
    check(CASES[name], {"p": 0.5, "q": 1.5, "r": 0.7}, 0.8)


def test_an_ordered_argument_gets_its_order_back() -> None:
    check(moved_argument, OrderedDict(p=0.5, q=1.5, r=0.7), 0.8)


def test_updates_that_cannot_be_followed_are_refused() -> None:
    def f(d: Any, x: Any) -> Any:
        d.update({"z": x}, q=x)
        return d["z"] * d["q"]

    for run in (
        lambda: adbc.jvp(f, ({"p": 0.5}, 0.8), ({"p": 1.0}, 1.0)),
        lambda: adbc.vjp(f, {"p": 0.5}, 0.8)[1](1.0),
        lambda: adbc.grad(lambda d: f(d, d["p"]))({"p": 0.5}),
    ):
        with pytest.raises((UnsupportedError, MissingRuleError), match=r"test_mappings\.py"):
            run()
