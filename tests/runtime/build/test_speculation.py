"""Guesses: the derivative is the same whether types are guessed rightly, wrongly or not at all."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import adbc
from adbc.inspect import fwd_ir, rvs_ir
from adbc.runtime import default_engine
from adbc.runtime.build.engine import Engine
from adbc.types import Exact


class Particle:
    def __init__(self, x: Any, v: Any) -> None:
        self.x = x
        self.v = v


class Slotted:
    __slots__ = ("x",)

    def __init__(self, x: Any) -> None:
        self.x = x


class Hooked:
    """Missing attributes are computed."""

    def __init__(self, x: Any) -> None:
        self.x = x

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return 2.0 * self.x


def dot(a: list[Any], b: list[Any]) -> Any:
    total = 0.0
    for i in range(len(a)):
        total += a[i] * b[i]
    return total


def horner(x: Any, coefficients: list[Any]) -> Any:
    result = 0.0
    for c in coefficients:
        result = result * x + c
    return result


def nested(rows: list[list[Any]]) -> Any:
    total = 0.0
    for row in rows:
        for x in row:
            total = total * 0.5 + x * rows[0][-1]
    return total


def in_place(u: list[Any], k: float) -> Any:
    for _ in range(3):
        for i in range(1, len(u) - 1):
            u[i] = u[i] + k * (u[i + 1] - 2.0 * u[i] + u[i - 1])
    return sum(u)


def changes_class(u: list[Any], x: float) -> Any:
    u[0] = u[1] * x  # an int becomes a float
    u[1] = math.sin(u[0]) * x
    return u[0] * u[1] + u[2]


def fields(p: Any, h: float) -> Any:
    for _ in range(4):
        p.v = p.v - h * p.x
        p.x = p.x + h * p.v
    p.new = p.x * p.v  # not there before
    return p.new * p.x


class Mover:
    def __init__(self, x: Any) -> None:
        self.x = x

    def move(self, h: Any, *, twice: bool = False) -> Any:
        self.x = self.x + h * self.x
        return self.x * h if not twice else self.move(h) + self.x


class Overridden(Mover):
    """A field hides the method."""

    def __init__(self, x: Any) -> None:
        super().__init__(x)
        self.move = lambda h, twice=False: h * 3.0


def methods(h: float, kinds: list[Any]) -> Any:
    total = 0.0
    for kind in kinds:
        mover = kind(1.5)
        total += mover.move(h)
        total += mover.move(h * total, twice=True)
    return total


def one_method(h: float, x: float) -> Any:
    mover = Mover(x)
    for _ in range(3):
        mover.move(h)
    return mover.x


def slotted(p: Any) -> Any:
    p.x = p.x * p.x
    return math.exp(p.x)


def hooked(p: Any) -> Any:
    return p.x * p.other


def from_dict(d: dict[str, Any]) -> Any:
    total = 0.0
    for key in d:
        total += d[key] * d[key]
    return total


def appended(u: list[Any], x: float) -> Any:
    total = 0.0
    for v in u:
        total += v * x
        if len(u) < 5:
            u.append(v * total)
    return total


def leaves_early(u: list[Any]) -> Any:
    total = 1.0
    for v in u:
        if v > 2.0:
            return total * v
        total *= v
    return total


def closed(x: float) -> Any:
    scale = [x, 2.0 * x]

    def inner(k: int) -> Any:
        return scale[k] * x

    return inner(0) * inner(1)


def protected(u: list[Any], x: float) -> Any:
    total = 0.0
    for v in u:
        try:
            total += math.log(v) * x
        except ValueError:
            total -= v * v
    return total


CASES: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "lists": (dot, ([0.5, 0.25, 2.0], [1.0, -1.0, 3.0])),
    "ints among floats": (dot, ([0.5, 2, 2.0], [1, -1.0, 3.0])),
    "NumPy's numbers": (dot, ([np.float64(0.5), 2.0], [1.5, np.float64(3.0)])),
    "complex numbers": (dot, ([0.5, 2.0], [1.5, 3.0])),
    "arrays": (lambda a: dot(a, a)[0], ([np.array([1.0, 2.0]), np.array([3.0, 4.0])],)),
    "iteration": (horner, (0.9, [1.0, 2.0, 3.0])),
    "iteration over what is mixed": (horner, (0.9, [1.0, 2, 3.0, True])),
    "lists of lists": (nested, ([[1.0, 2.0], [3.0], [], [4.0, 5.0]],)),
    "lists of lists, ints": (nested, ([[1.0, 2], [3], [4.0, 5.0]],)),
    "in place": (in_place, ([0.0, 1.0, 4.0, 9.0, 16.0], 0.2)),
    "in place, ints": (in_place, ([0, 1, 4, 9, 16.0], 0.2)),
    "an element changes its class": (changes_class, ([3, 0.5, 2.0], 1.5)),
    "fields": (fields, (Particle(1.0, 0.5), 0.1)),
    "fields, ints": (fields, (Particle(1.0, 1), 0.1)),
    "methods": (one_method, (0.5, 1.5)),
    "methods of several classes": (methods, (0.5, [Mover, Overridden, Mover])),
    "slots": (slotted, (Slotted(0.7),)),
    "a hook": (hooked, (Hooked(1.5),)),
    "dict": (from_dict, ({"a": 1.0, "b": 2, "c": 3.0},)),
    "a list that grows": (appended, ([1.0, 0.5], 1.5)),
    "a way out of a loop": (leaves_early, ([1.5, 1.2, 3.0, 4.0],)),
    "a closure": (closed, (1.5,)),
    "exceptions": (protected, ([2.0, -1.0, 3.0], 0.5)),
}


@pytest.fixture(autouse=True)
def engine() -> Iterator[Engine]:
    engine = default_engine()
    before = engine.guesses.mode, engine.tiers.warm_after
    engine.clear()
    yield engine
    engine.guesses.mode, engine.tiers.warm_after = before
    engine.clear()


@pytest.mark.parametrize("name", CASES)
def test_the_derivative_does_not_depend_on_guesses(name: str, engine: Engine) -> None:
    f, arguments = CASES[name]
    answers = []
    for mode in ("never", "learn", "always", "dynamic"):
        engine.guesses.mode = mode
        engine.clear()
        for _ in range(4):  # learning takes a call, and then another
            given = copy.deepcopy(arguments)
            value, gradient = adbc.value_and_grad(f)(*given)
            answers.append((mode, value, _plain(gradient), _plain(given)))
            # one tangent direction against the gradient
            tangent = adbc.jvp(
                f, copy.deepcopy(arguments), (_ones(gradient), *(None for _ in arguments[1:]))
            )[1]
            assert tangent == pytest.approx(_sum(gradient)), mode
    _, value, gradient, after = answers[0]
    assert after == _plain(copy.deepcopy(arguments))
    for mode, *other in answers:
        assert other == [value, gradient, after], mode


def test_a_function_that_is_called_with_other_classes_each_time(engine: Engine) -> None:
    for element in (2.0, 3, np.float64(2.0), 2.0, 3, True, 2.0):
        value, gradient = adbc.value_and_grad(horner)(0.5, [1.0, element])
        assert (value, gradient) == (0.5 + element, 1.0)


def test_a_wrong_guess_is_replaced_by_what_was_seen(engine: Engine) -> None:
    engine.tiers.warm_after = 0
    signature = (horner, Exact(float), Exact(list))
    adbc.grad(horner)(0.5, [1, 2, 3])
    adbc.grad(horner)(0.5, [1, 2, 3])
    assert "_class_is_" in str(fwd_ir(signature))
    (site,) = [s for s in engine.guesses.sites.values() if s.guess == Exact(int)]
    adbc.grad(horner)(0.5, [1.0, 2])
    adbc.grad(horner)(0.5, [1, 2.0])
    adbc.grad(horner)(0.5, [1.0, 2])
    assert site.gave_up


def test_several_sites_learn_one_after_the_other(engine: Engine) -> None:
    engine.tiers.warm_after = 0

    def first(u: list[Any], x: float) -> Any:
        return u[0] * x

    def second(u: list[Any], x: float) -> Any:
        return u[1] * x

    adbc.grad(second, 1)([1.0, 2.0], 0.5)
    for function, index in ((first, 0), (second, 1)):
        for _ in range(2):
            assert adbc.grad(function, 1)([3, 4], 0.5) == 3.0 + index
        adbc.grad(function, 1)([3, 4], 0.5)
        guesses = [s.guess for s in engine.guesses.sites.values() if s.misses]
        assert guesses == [Exact(int)] * (index + 1)
        assert not engine.stale


def test_a_pullback_outlives_the_rule_it_came_from(engine: Engine) -> None:
    _, first = adbc.vjp(horner, 0.5, [1.0, 2.0])
    adbc.grad(horner)(0.5, [1, 2])  # the guess was wrong for this one
    adbc.grad(horner)(0.5, [1, 2])  # so the rule is built again
    assert first(1.0)[0] == 1.0


def test_a_class_that_changes_is_noticed(engine: Engine) -> None:
    class Plain:
        def __init__(self) -> None:
            self.x = 3.0

    def f(s: float, p: Any) -> Any:
        return s * p.x * p.x

    assert adbc.grad(f)(2.0, Plain()) == 9.0
    Plain.x = property(lambda self: 5.0)  # type: ignore[attr-defined]
    p = Plain.__new__(Plain)
    assert adbc.grad(f)(2.0, p) == 25.0


def test_loops_over_lists_call_nothing_but_the_guard(engine: Engine) -> None:
    hot = str(rvs_ir((dot, Exact(list), Exact(list))))
    assert hot.count("operator.setitem") == 2
    forwards = str(fwd_ir((dot, Exact(list), Exact(list))))
    assert forwards.count("_class_is_") == 2 and "rrule" not in forwards


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, list | tuple):
        return [_plain(v) for v in value]
    if isinstance(value, dict):
        return {k: _plain(v) for k, v in value.items()}
    if isinstance(value, Slotted):
        return value.x
    return _plain(value.__dict__) if hasattr(value, "__dict__") else (type(value).__name__, value)


def _ones(gradient: Any) -> Any:
    if isinstance(gradient, np.ndarray):
        return np.ones_like(gradient)
    if isinstance(gradient, list):
        return [_ones(g) for g in gradient]
    if isinstance(gradient, dict):
        return {k: _ones(g) for k, g in gradient.items()}
    if isinstance(gradient, adbc.MutableTangent):
        return adbc.MutableTangent(**{k: _ones(g) for k, g in gradient.__dict__.items()})
    return gradient if isinstance(gradient, adbc.NoTangent) else type(gradient)(1.0)


def _sum(gradient: Any) -> Any:
    if isinstance(gradient, np.ndarray):
        return gradient.sum()
    if isinstance(gradient, adbc.MutableTangent):
        gradient = gradient.__dict__
    if isinstance(gradient, dict):
        gradient = list(gradient.values())
    if isinstance(gradient, list):
        return sum(map(_sum, gradient))
    return 0.0 if isinstance(gradient, adbc.NoTangent) else gradient


def test_values_behind_a_handler_are_guessed() -> None:
    """While an exception is handled nothing is guessed, but when that is over, as in the next turn of a
    loop."""

    def reads(x: float, table: dict[Any, Any]) -> Any:
        total = 0.0
        for k in range(6):
            try:
                total += table[k] * x
            except KeyError:
                continue
            total += table["scale"] * x
        return total * table["scale"]

    table = {0: 1.0, 2: 3.0, 5: 0.5, "scale": 2.0}
    with adbc.use(adbc.Config(warm_after=0)):
        for _ in range(4):
            assert adbc.grad(reads)(0.7, table) == (4.5 + 6.0) * 2.0
        (rule,) = [r for r in default_engine().rules.values() if r.code is reads.__code__ and r.is_built]
        guesses = [site.guess for site in rule.sites]
    assert guesses.count(Exact(float)) >= 3
