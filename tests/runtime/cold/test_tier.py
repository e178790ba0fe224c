"""Which functions are interpreted, and when they get code."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import adbc
from adbc.rules import SOURCES
from adbc.rules.lookup import RuleTable
from adbc.runtime import default_engine, make_engine, using
from adbc.types.lattice import ANY, FLOAT


@pytest.fixture(autouse=True)
def engine() -> Iterator[Any]:
    with adbc.use(adbc.Config(warm_after=5)):
        default_engine().clear()
        yield default_engine()
        default_engine().clear()


def rule_of(function: Any) -> Any:
    (found,) = [r for r in default_engine().rules.values() if r.code is function.__code__ and r.is_built]
    return found


def formula(x: float) -> float:
    return math.sin(x) * x + 1.0


def looping(x: float) -> float:
    for _ in range(3):
        x = x * x
    return x


def calling(x: float) -> float:
    total = 0.0
    for _ in range(20):
        total += formula(x)
    return total


def descending(x: float, n: int) -> float:
    return x if n == 0 else descending(x * 1.01, n - 1) * 0.99


def test_what_is_called_often_gets_code() -> None:
    gradient = adbc.grad(formula)
    values = [gradient(0.7)]
    assert rule_of(formula).cold is not None
    values += [gradient(0.7) for _ in range(10)]
    assert rule_of(formula).cold is None and rule_of(formula).graphs
    assert values == pytest.approx([values[0]] * 11, rel=1e-14)


def test_loops_of_the_users_get_code_at_once() -> None:
    adbc.grad(looping)(0.7)
    assert rule_of(looping).cold is None


def test_code_is_written_while_its_caller_runs() -> None:
    expected = 20.0 * (math.cos(0.7) * 0.7 + math.sin(0.7))
    for _ in range(3):
        assert adbc.grad(calling)(0.7) == pytest.approx(expected)
        assert adbc.jvp(calling, (0.7,), (1.0,))[1] == pytest.approx(expected)
    assert all(r.cold is None for r in default_engine().rules.values() if r.is_built)


def test_records_of_before_are_understood() -> None:
    """Pullbacks that were made while the rule was interpreted are run when it has code."""
    pullbacks = [adbc.vjp(formula, 0.1 * i)[1] for i in range(20)]
    assert rule_of(formula).cold is None
    for i, pullback in reversed([*enumerate(pullbacks)]):
        x = 0.1 * i
        assert pullback(1.0)[0] == pytest.approx(math.cos(x) * x + math.sin(x))
    pullbacks.clear()
    del pullback
    assert adbc.grad(formula)(0.7) == pytest.approx(math.cos(0.7) * 0.7 + math.sin(0.7))
    assert rule_of(formula).pullback.__kwdefaults__ is None  # nothing stands between any more


def test_a_recursion_gets_code() -> None:
    assert adbc.grad(descending)(1.0, 300) == pytest.approx((1.01 * 0.99) ** 300)
    assert any(r.cold is None for r in default_engine().rules.values() if r.is_built)


def test_what_was_seen_is_guessed() -> None:
    def reads(x: float, table: dict[str, Any]) -> Any:
        return table["a"] * x + table["b"][1]

    gradient = adbc.grad(reads)
    for _ in range(12):
        gradient(0.7, {"a": 2.0, "b": [1.0, 3.0]})
    sites = [s for key, s in default_engine().guesses.sites.items() if key[0] is reads.__code__]
    assert float in [s.guess.cls for s in sites if s.guess is not None]
    assert list in [s.guess.cls for s in sites if s.guess is not None]


def library(x: float) -> Any:
    return np.polynomial.laguerre.lagder(np.array([x, 1.0, x * x]))[0]


def test_loops_of_libraries_are_interpreted() -> None:
    assert adbc.grad(library)(0.7) == pytest.approx(-2.0 * 0.7)
    (rule,) = [r for r in default_engine().rules.values() if r.code.co_name == "lagder" and r.is_built]
    assert rule.cold is not None


def test_an_interruption_while_code_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    gradient, engine = adbc.grad(formula), default_engine()
    expected = gradient(0.7)
    gradient(0.7)  # it has been interpreted often enough: from now on another rule is entered
    build = engine.build

    def interrupted(rule: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(engine, "build", interrupted)
    with pytest.raises(KeyboardInterrupt):
        gradient(0.7)
    monkeypatch.setattr(engine, "build", build)
    assert gradient(0.7) == pytest.approx(expected)
    assert rule_of(formula).cold is None


def test_an_interruption_while_code_is_written_that_others_know_the_result_of(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    engine = default_engine()
    engine.clear()
    rule = engine.entry(formula, (FLOAT,), (True,), "reverse")
    rule.build()
    build = engine.build

    def interrupted(rule: Any) -> None:
        raise KeyboardInterrupt

    assert rule.cold is not None
    monkeypatch.setattr(engine, "build", interrupted)
    with pytest.raises(KeyboardInterrupt):
        engine.tiers.warm(rule)
    monkeypatch.setattr(engine, "build", build)
    assert rule.cold is not None
    engine.tiers.warm(rule)
    assert rule.cold is None and rule.result == FLOAT


def test_what_is_interpreted_promises_nothing_until_it_has_code() -> None:
    """Nobody is told the type of its result, which takes longer to infer than to run the function once; the
    rule that has code in its place is compiled against it, and entered in the same call from outside."""
    engine = default_engine()
    engine.clear()
    gradient = adbc.grad(formula)
    expected = gradient(0.7)
    assert rule_of(formula).is_provisional and rule_of(formula).result == ANY
    for _ in range(60):
        assert gradient(0.7) == pytest.approx(expected)
    assert not rule_of(formula).is_provisional and rule_of(formula).result == FLOAT

    def often(x: float, fs: Any) -> float:
        return math.fsum([f(x) for f in fs])

    engine.clear()
    assert adbc.grad(often)(0.7, [formula] * 100) == pytest.approx(100.0 * expected)
    assert not rule_of(formula).is_provisional


def test_at_once() -> None:
    with adbc.use(adbc.Config(warm_after=0)):
        adbc.grad(formula)(0.7)
        assert rule_of(formula).cold is None


class Curved:
    def __call__(self, x: float) -> float:
        return math.tanh(x)


class Smooth:
    def __call__(self, x: float) -> float:
        return math.log1p(math.exp(x))


class Neuron:
    def __init__(self, weights: list[float], shape: Any) -> None:
        self.weights, self.shape = weights, shape

    def __call__(self, inputs: list[float]) -> Any:
        total = 0.1
        for w, i in zip(self.weights, inputs, strict=True):
            total += w * i
        return self.shape(total)


class Layer:
    def __init__(self, rows: list[list[float]], shape: Any) -> None:
        self.neurons = [Neuron(row, shape) for row in rows]

    def __call__(self, inputs: list[float]) -> list[float]:
        return [neuron(inputs) for neuron in self.neurons]


class Network:
    def __init__(self, *layers: Layer) -> None:
        self.layers = list(layers)

    def __call__(self, inputs: list[float]) -> list[float]:
        for layer in self.layers:
            inputs = layer(inputs)
        return inputs

    def loss(self, samples: Any) -> float:
        total = 0.0
        for inputs, target in samples:
            total += (self(inputs)[0] - target) ** 2
        return total


def trained(x: float, count: int) -> float:
    network = Network(
        Layer([[x * 0.1 * (i + j) for j in range(2)] for i in range(4)], Curved()),
        Layer([[x * 0.2 * (1 - j) for j in range(4)]], Smooth()),
    )
    return network.loss([([0.1 * i, 1.0 - 0.2 * i], 0.3 * i) for i in range(count)])


@pytest.mark.parametrize(("after", "count"), [(1, 8), (2, 8), (3, 8), (5, 8), (8, 8), (13, 20), (40, 60)])
def test_code_is_written_between_two_calls_of_one_gradient(after: int, count: int) -> None:
    """The pullbacks of calls that were interpreted and of those by code are told apart, also where all that
    code saves is the record of an interpreted function which it calls last."""
    slope = (trained(0.7 + 1e-6, count) - trained(0.7 - 1e-6, count)) / 2e-6
    with using(make_engine(RuleTable(SOURCES), adbc.Config(warm_after=after))):
        for _ in range(5):
            assert adbc.grad(trained)(0.7, count) == pytest.approx(slope, rel=1e-6)
