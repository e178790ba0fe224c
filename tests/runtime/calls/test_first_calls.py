"""Functions of libraries that are compiled when they are first called, and objects that keep views of
themselves: code that is made of constants, at a time when something else depends on the input."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import pytest

import adbc
from adbc.errors import UnsupportedError
from adbc.runtime.calls import foreign, plain
from adbc.testing import test_rule as check_rule
from tests.installed import installed

SOURCE = """
    import functools


    class Lazy:
        @staticmethod
        def compiled(function):
            made = function.__wrapped__
            function.__code__ = made.__code__
            return function


    def lazily(made):
        def function(*args, __wrapper=None, **named):
            return Lazy.compiled(__wrapper)(*args, **named)

        function.__kwdefaults__.update(made.__kwdefaults__ or {})
        function.__kwdefaults__["_" + "_wrapper"] = function
        function.__wrapped__ = made
        function.__name__ = function.__qualname__ = made.__name__
        return function


    def fresh():
        global square, cube
        square, cube = lazily(_square), lazily(_cube)


    def _square(x, *, times=1.0):
        return x * x * times


    def _cube(x, *, times=1.0):
        return x * square(x) * times


    def other(function):
        function.__code__ = _other.__code__


    def _other(x, *, times=1.0):
        return x + times


    fresh()


    class View:
        def __init__(self, owner):
            self.owner = owner
            self.rates = owner.rates
            self.names = [*owner.rates]

        def total(self):
            return sum(self.owner.rates.values())


    class Network:
        def __init__(self, rates):
            self.rates = rates

        @functools.cached_property
        def view(self):
            return View(self)

        def copy(self):
            return Network({key: value for key, value in self.rates.items()})


    def distance(table, key, other, times=1.0):
        return abs(table[key][0] - table[other][0]) * times


    def largest(rates):
        return max(rates)
"""

CONFIGS: list[dict[str, Any]] = [{}, {"speculation": "never"}, {"warm_after": 2}]


@pytest.fixture(scope="module")
def of_library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModuleType]:
    with installed(tmp_path_factory, "lazily_compiled", SOURCE) as module:
        yield module


@pytest.fixture
def library(of_library: ModuleType) -> ModuleType:
    of_library.fresh()
    return of_library


@pytest.mark.parametrize("config", [{"warm_after": 40}, {"warm_after": 2}], ids=str)
@pytest.mark.parametrize("is_forward", [False, True])
def test_a_function_that_is_compiled_by_its_first_call(
    library: ModuleType, config: dict[str, Any], is_forward: bool
) -> None:
    def f(x: float) -> float:
        y = library.square(3.0) * x
        for k in range(3):
            y += library.square(x, times=2.0) + library.cube(x) * k
        return y

    with adbc.use(adbc.Config(**config)):
        for x in (1.5, 1.5, 0.7, 1.5, 1.5):
            slope = 9.0 + 12.0 * x + 9.0 * x * x
            value = 9.0 * x + 6.0 * x * x + 3.0 * x**3
            found = adbc.jvp(f, (x,), (1.0,)) if is_forward else adbc.value_and_grad(f)(x)
            assert found == (pytest.approx(value), pytest.approx(slope))
        check_rule(f, 1.3)


@pytest.mark.parametrize("config", CONFIGS, ids=str)
def test_a_function_of_the_program_gets_the_code_of_another(
    library: ModuleType, config: dict[str, Any]
) -> None:
    """Either it is followed what that is called then, or it is refused."""

    def f(x: float) -> float:
        def own(x: float, *, times: float = 1.0) -> float:
            return x * x * times

        y = own(x)
        library.other(own)
        return y * own(x)

    with adbc.use(adbc.Config(**config)):
        for run in (lambda: adbc.value_and_grad(f)(1.5), lambda: adbc.jvp(f, (1.5,), (1.0,))):
            for _ in range(4):
                try:
                    found = run()
                except UnsupportedError:
                    continue
                assert found == (pytest.approx(1.5**2 * 2.5), pytest.approx(3 * 1.5**2 + 2 * 1.5))


@pytest.mark.parametrize("x", [1.5, 0.7])
def test_a_view_that_an_object_keeps_does_not_depend_on_the_input(
    library: ModuleType, monkeypatch: pytest.MonkeyPatch, x: float
) -> None:
    network = library.Network({"a": 2.0, "b": 3.0})
    made: list[str] = []
    plainly = foreign.call_plainly

    def noted(context: Any, call: Any) -> Any:
        made.append(getattr(call.function, "__name__", ""))
        return plainly(context, call)

    def f(x: float) -> float:
        rates = network.view.rates["a"] * x
        return rates * library.largest((1, 2)) + network.view.total() * x

    with monkeypatch.context() as patched:
        patched.setattr(foreign, "call_plainly", noted)
        assert adbc.value_and_grad(f)(x) == (pytest.approx(9.0 * x), pytest.approx(9.0))
    assert "largest" in made
    check_rule(f, x)


def test_what_is_written_through_a_view_is_followed(library: ModuleType) -> None:
    def through(act: Callable[[Any, float], None]) -> Callable[[float], float]:
        def f(x: float) -> float:
            network = library.Network({"a": 2.0, "b": 3.0})
            kept = network.view
            y = kept.total() * x
            act(kept, x)
            return y + library.Network(network.rates).copy().view.total() * network.copy().view.total()

        return f

    def by_rates(view: Any, x: float) -> None:
        view.rates["a"] = x

    def by_owner(view: Any, x: float) -> None:
        view.owner.rates = {"a": x * x, "b": 1.0}

    for act in (by_rates, by_owner):
        for x in (2.0, 1.3):
            check_rule(through(act), x)


def test_a_large_constant_is_looked_through_once(
    library: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = {k: [0.5 * k, {"k": k}] for k in range(6000)}
    asked: list[int] = []
    leads_nowhere = plain._Search.leads_nowhere

    def noted(search: Any, roots: Any) -> bool:
        asked.append(any(x is table for x in roots))
        return leads_nowhere(search, roots)

    def f(x: float) -> float:
        y = library.distance(table, 1, 5000) * x
        for k in range(4):
            y += library.distance(table, k, k + 2, x)
        return y

    slope = 0.5 * 4999 + 4
    with monkeypatch.context() as patched:
        patched.setattr(plain._Search, "leads_nowhere", noted)
        assert adbc.jvp(f, (1.5,), (1.0,)) == (pytest.approx(1.5 * slope), pytest.approx(slope))
    assert sum(asked) <= 1
    for _ in range(3):
        assert adbc.value_and_grad(f)(1.5) == (pytest.approx(1.5 * slope), pytest.approx(slope))
