"""What was derived goes with the functions it was derived from, and not before."""

from __future__ import annotations

import gc
import math
import sys
import threading
import types
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adbc
from adbc.runtime import default_engine
from adbc.runtime.build import engine, lifetimes
from adbc.runtime.build.derived import Derived

SOURCES = {
    "calls": "def f(x):\n    return math.sin(k * x) + g(x)\ndef g(x):\n    return helper(x) * x\n"
    "def helper(x):\n    total = 0.0\n    for i in range(3):\n        total += x\n    return total\n",
    "recursion": "def f(x, n=3):\n    return x if n == 0 else x * f(x, n - 1) + k\n",
    "closures": "def f(x):\n    def inner(y):\n        return x * y\n    return apply(inner, k * x)\n"
    "def apply(h, y):\n    return h(y) + h(2.0 * y)\n",
    "classes": "class Point:\n    def __init__(self, x):\n        self.x = x\n"
    "    def norm(self):\n        return self.x * self.x + k\n"
    "def f(x):\n    return sum([Point(x).norm(), Point(2.0 * x).norm()])\n",
    "generators": "def f(x):\n    return sum(y * k for y in numbers(x))\n"
    "def numbers(x):\n    for i in range(3):\n        yield x * i\n",
    "handlers": "def f(x):\n    try:\n        return g(x)\n    except ValueError:\n        return k * x * x\n"
    "def g(x):\n    if x > 0:\n        raise ValueError(x)\n    return x\n",
    "lists": "def f(x):\n    u = [x, k * x]\n    for i in range(2):\n        u[i] = u[i] * u[i]\n"
    "    return u[0] + u[1]\n",
    "lambdas": "f = lambda x: (lambda y: y * y * k)(x) + (g := lambda z: z * x)(2.0)\n",
}


def made(source: str, k: float) -> Callable[..., Any]:
    namespace: dict[str, Any] = {"math": __import__("math"), "k": k}
    exec(source, namespace)
    f: Callable[..., Any] = namespace["f"]
    return f


def collect() -> None:
    """Two collections: by the first, all that leads to functions that are gone is given up; the second frees
    them."""
    gc.collect()
    gc.collect()


def rules() -> list[Any]:
    """The rules of functions that stand in no file."""
    return [rule for rule in default_engine().rules.values() if rule.code.co_filename == "<string>"]


def differentiated(f: Any, *args: Any) -> None:
    slope = (f(2.0 + 1e-6, *args) - f(2.0 - 1e-6, *args)) / 2e-6
    assert adbc.grad(f)(2.0, *args) == pytest.approx(slope, rel=1e-6)
    tangents = (1.0, *[None for _ in args])
    assert adbc.jvp(f, (2.0, *args), tangents)[1] == pytest.approx(slope, rel=1e-6)


@pytest.mark.parametrize("mode", ["learn", "never", "dynamic", "always"])
@pytest.mark.parametrize("name", SOURCES)
def test_functions_that_are_gone_are_forgotten(name: str, mode: Any) -> None:
    with adbc.use(adbc.Config(speculation=mode)):
        differentiated(made(SOURCES[name], 0.5))
        collect()
        before = len(rules())
        gone = []
        for k in range(4):
            f = made(SOURCES[name], float(k))
            differentiated(f)
            gone += [weakref.ref(f), weakref.ref(f.__code__)]
        assert len(rules()) > before
        del f
        collect()
        assert [ref() for ref in gone] == [None] * len(gone)
        assert len(rules()) <= before


def test_four_hundred_functions() -> None:
    gone = []
    for k in range(400):
        f = made("def f(x):\n    return x * x * k\n", float(k))
        assert adbc.grad(f)(2.0) == 4.0 * k
        gone.append(weakref.ref(f))
    del f
    collect()
    assert not any(ref() is not None for ref in gone)


def test_functions_go_by_collections_that_nobody_asks_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """These begin where code has been made, during which the collector rests."""
    monkeypatch.setattr(lifetimes, "_SHARE", math.inf)  # as if looking took no time
    monkeypatch.setattr(engine, "_pace", lifetimes.Pace())
    gone = []
    threshold = gc.get_threshold()
    gc.set_threshold(700, 2, 2)
    gc.freeze()  # a full collection waits for a quarter more than there was
    gc.collect()
    try:
        for k in range(100):
            f = made("def f(x):\n    for _ in range(3):\n        x = x * k\n    return x\n", float(k))
            assert adbc.grad(f)(2.0) == float(k) ** 3
            gone.append(weakref.ref(f))
        alive = sum(ref() is not None for ref in gone)
    finally:
        gc.unfreeze()
        gc.set_threshold(*threshold)
    assert alive < 50


def test_a_function_that_is_defined_anew() -> None:
    namespace: dict[str, Any] = {}
    gone = []
    for k in range(20):
        exec(f"def g(x):\n    return x * {k}.0\ndef f(x):\n    return g(x) * x\n", namespace)
        assert adbc.grad(namespace["f"])(3.0) == 6.0 * k
        gone += [weakref.ref(namespace["f"]), weakref.ref(namespace["g"])]
    collect()
    assert [ref() is not None for ref in gone] == [False] * 38 + [True] * 2


def test_one_code_in_many_namespaces() -> None:
    code = compile("def f(x):\n    return x * k\n", "<shared>", "exec")
    gone = []
    for k in range(20):
        namespace = {"k": float(k)}
        exec(code, namespace)
        assert adbc.grad(namespace["f"])(3.0) == k  # type: ignore[arg-type]
        gone.append(weakref.ref(namespace["f"]))  # type: ignore[arg-type]
    del namespace
    collect()
    assert not any(ref() is not None for ref in gone)


def test_methods_of_classes_that_are_gone() -> None:
    gone = []
    for k in range(10):

        class Model:
            def __init__(self, w: Any, scale: float = float(k)) -> None:
                self.w, self.scale = w, scale

            def loss(self, x: Any) -> Any:
                return self.w * self.scale * x

        assert adbc.grad(Model(2.0).loss)(3.0) == 2.0 * k
        assert adbc.grad(Model.loss)(Model(2.0), 3.0).w == 3.0 * k
        gone.append(weakref.ref(Model))
    del Model
    collect()
    assert not any(ref() is not None for ref in gone)


def test_what_is_alive_is_kept() -> None:
    kept = [made(source, 1.5) for source in SOURCES.values()]
    for f in kept:
        for _ in range(3):
            differentiated(f)
    collect()
    for f in kept:
        differentiated(f)
    builds = default_engine().builds
    collect()
    for f in kept:
        differentiated(f)
    assert default_engine().builds == builds


def test_a_gradient_keeps_its_function() -> None:
    gradient = adbc.grad(made(SOURCES["recursion"], 0.0))
    for _ in range(4):  # in the third, code is written
        assert gradient(2.0) == 32.0
    builds = default_engine().builds
    collect()
    assert gradient(2.0) == 32.0 and default_engine().builds == builds


def test_a_pullback_outlives_the_name_of_its_function() -> None:
    for name, source in SOURCES.items():
        f: Any = made(source, 1.5)
        slope = (f(2.0 + 1e-6) - f(2.0 - 1e-6)) / 2e-6
        _, pullback = adbc.vjp(f, 2.0)
        del f
        collect()
        assert pullback(1.0)[0] == pytest.approx(slope, rel=1e-6), name


def test_a_collection_while_a_derivative_is_taken() -> None:
    def f(x: Any) -> Any:
        y = x * x
        gc.collect()
        return made_inside(y)

    def made_inside(y: Any) -> Any:
        gc.collect()
        return y * y

    adbc.zero_derivative(gc.collect)
    assert adbc.grad(f)(2.0) == 32.0
    assert adbc.jvp(f, (2.0,), (1.0,)) == (16.0, 32.0)


def test_collections_in_other_threads() -> None:
    stop = threading.Event()
    collector = threading.Thread(target=lambda: [gc.collect() for _ in iter(stop.is_set, True)])
    collector.start()
    try:
        for k in range(6):
            differentiated(made(SOURCES["calls"], float(k)))
    finally:
        stop.set()
        collector.join()


def test_no_growth_over_many_calls() -> None:
    def f(x: Any, u: Any) -> Any:
        def inner(y: Any) -> Any:
            return x * y

        return inner(x) + np.sum(u * x)

    gradient, u = adbc.grad(f), np.ones(3)

    def calls(count: int) -> None:
        for k in range(count):
            gradient(float(k), u)
            adbc.jvp(f, (float(k), u), (1.0, None))
            adbc.grad(lambda x, k=k: x * k)(float(k))

    calls(500)
    collect()
    before = sys.getallocatedblocks()
    calls(20_000 // 3)
    collect()
    assert sys.getallocatedblocks() < before + 2_000


def test_a_namespace_at_the_address_of_another_is_another() -> None:
    code = compile("def f(x):\n    return g(x)\n", "<shared>", "exec")
    for k in range(12):
        namespace: dict[str, Any] = {"g": float if k % 2 else (lambda x: [x * x, x][0])}
        exec(code, namespace)
        wanted = 1.0 if k % 2 else 6.0
        assert adbc.grad(namespace["f"])(3.0) == wanted
        del namespace
        if k % 3 == 0:
            collect()


def test_what_stands_in_a_module_is_not_looked_at() -> None:
    module = types.ModuleType("tests_of_lifetimes")
    exec(SOURCES["calls"], vars(module))
    module.math, module.k = __import__("math"), 1.0  # type: ignore[attr-defined]
    sys.modules[module.__name__] = module
    try:
        differentiated(module.f)
        builds = default_engine().builds
        collect()
        differentiated(module.f)
        assert default_engine().builds == builds
    finally:
        del sys.modules[module.__name__]


LATER = """
def helper(x, n):
    total = 0.0
    for k in range(n):
        total += x * x
    return total
def f(x, n=0):
    def inner(y, m):
        z = 0.0
        for _ in range(m):
            z += x * y
        return z
    if n:
        return helper(x, n) * inner(x, n)
    return x * 2.0
"""


@pytest.mark.parametrize("mode", ["learn", "never", "always", "dynamic"])
def test_what_is_built_after_a_collection_is_found_again(mode: Any) -> None:
    f = made(LATER, 1.0)
    with adbc.use(adbc.Config(speculation=mode)):
        for n in (0, 2, 0, 3):
            differentiated(f, n)
            collect()


@pytest.mark.parametrize("name", SOURCES)
def test_collections_in_front_of_every_build_do_no_harm(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    build = Derived.build

    def build_later(rule: Derived) -> None:
        gc.collect()
        build(rule)

    monkeypatch.setattr(Derived, "build", build_later)
    f = made(SOURCES[name], 1.5)
    for _ in range(2):
        differentiated(f)


def test_looking_takes_little_of_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([0.0, 1.0, 2.0, 20.9, 21.0, 21.0, 21.1])
    monkeypatch.setattr(lifetimes.time, "perf_counter", lambda: next(clock))
    counts = [(gc.get_threshold()[0] + 1, 0, 11)] * 4
    monkeypatch.setattr(gc, "get_count", lambda: counts.pop())
    pace = lifetimes.Pace()
    assert pace.begin()
    pace.end()  # a second: twenty of them without a look
    assert not pace.begin() and not pace.is_looking
    assert not pace.begin()
    assert pace.begin()
    pace.end()
    counts.append((0, 0, 0))  # a program has asked for this collection
    assert pace.begin()


def test_a_proxy_of_what_is_gone_leads_to_no_code() -> None:
    """It raises where anybody asks it for its class."""

    class Gone:
        pass

    census = lifetimes._Census([], [])
    assert not census._is_permanent(weakref.proxy(Gone()))


def test_a_function_whose_namespace_has_a_proxy_of_what_is_gone_goes() -> None:
    class Gone:
        pass

    f = made(SOURCES["calls"], 1.5)
    f.__globals__["held"] = [weakref.proxy(Gone())]
    differentiated(f)
    before = len(rules())
    assert before
    gone = weakref.ref(f)
    del f
    collect()
    assert gone() is None and len(rules()) < before
