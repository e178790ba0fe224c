"""What a partial application holds, read from one that was made before the call."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

import adbc
from adbc.errors import UnsupportedError


def decayed(x: float, rate: float = 1.0, weights: Any = ()) -> float:
    return x * x * rate + sum(weights) * x


MADE: Any = functools.partial(decayed, rate=2.0)
WITH_LIST: Any = functools.partial(decayed, weights=[1.0, 2.0])


def by_hand(x: float) -> Any:
    target, args, keywords = MADE, (x,), {}
    while isinstance(target, functools.partial):
        args = (*target.args, *args)
        keywords = {**(target.keywords or {}), **keywords}
        target = target.func
    return target(*args, **keywords)


def item(x: float) -> Any:
    return MADE.keywords["rate"] * x * MADE.keywords.get("rate", 5.0) + MADE(x)


def listed(x: float) -> Any:
    found = 0.0
    for name, value in MADE.keywords.items():
        found += len(name) * value * x
    return found + sum(MADE.keywords.values()) * x + sum(dict(MADE.keywords).values()) * x * x


def memory(x: float) -> Any:
    WITH_LIST.keywords["weights"][0] = x
    found = WITH_LIST(x) + WITH_LIST.keywords["weights"][0]
    WITH_LIST.keywords["weights"][0] = 1.0
    return found


@pytest.mark.parametrize("debug", [False, True])
@pytest.mark.parametrize("f", [by_hand, item, listed, memory])
def test_keywords_are_read_as_a_dictionary(f: Callable[[float], Any], debug: bool) -> None:
    x, h = 1.5, 1e-6
    slope = (f(x + h) - f(x - h)) / (2.0 * h)
    with adbc.use(adbc.Config(debug=debug, warm_after=1)):
        for _ in range(4):
            value, gradient = adbc.value_and_grad(f)(x)
            assert value == f(x)
            assert gradient == pytest.approx(slope, rel=1e-6)
            assert adbc.jvp(f, (x,), (1.0,))[1] == pytest.approx(slope, rel=1e-6)
    assert MADE.keywords == {"rate": 2.0}
    assert WITH_LIST.keywords == {"weights": [1.0, 2.0]}


def test_the_gradient_by_keywords_that_are_read() -> None:
    def f(made: Any) -> Any:
        return made.keywords["rate"] * made.keywords["rate"] * 3.0 + made(2.0)

    for _ in range(3):
        assert adbc.grad(f)(functools.partial(decayed, rate=2.0)).keywords.rate == 16.0


def of_elements(made: Any) -> Any:
    found = 0.0
    for f in made:
        found += f(2.0)
    return found


def test_the_gradient_by_what_a_partial_application_holds() -> None:
    numbers = functools.partial(decayed, 3.0, 2.0)
    named = functools.partial(decayed, rate=2.0)
    nested = functools.partial(functools.partial(decayed, 3.0), rate=2.0)
    for _ in range(3):
        assert adbc.grad(lambda f: f())(numbers).args == (12.0, 9.0)
        assert adbc.grad(lambda f: f(2.0))(named).keywords.rate == 4.0
        assert adbc.grad(of_elements)([named, named])[0].keywords.rate in (4.0, 8.0)
        by_all = adbc.grad(lambda f: f() * f(rate=3.0))(nested)
        assert (by_all.args, by_all.keywords.rate) == ((6.0 * 2.0 * 27.0 + 6.0 * 3.0 * 18.0,), 9.0 * 27.0)
        assert adbc.grad(lambda f: max([1.0, 2.0], key=f) + sum(map(f, [3.0])))(named).keywords.rate == 9.0


def test_the_gradient_by_the_function_of_a_partial_application() -> None:
    class Scale(NamedTuple):
        by: float

        def times(self, x: float) -> float:
            return self.by * x

    for _ in range(3):
        found = adbc.grad(lambda f: f())(functools.partial(Scale(3.0).times, 2.0))
        assert (found.func.__self__.by, found.args) == (2.0, (3.0,))


class Counted(functools.partial):  # type: ignore[type-arg]
    """Counts its calls."""

    def __call__(self, /, *args: Any, **keywords: Any) -> Any:
        counts.append(1)
        return super().__call__(*args, **keywords)


counts: list[int] = []


def test_a_derived_class_calls_what_partial_calls() -> None:
    made = Counted(decayed, rate=2.0)

    def f(x: float) -> Any:
        return made(x) + made(2.0, rate=x)

    for _ in range(4):
        assert adbc.value_and_grad(f)(1.5) == (10.5, 10.0)
        assert adbc.jvp(f, (1.5,), (1.0,)) == (10.5, 10.0)
    assert adbc.grad(lambda f: f(2.0))(made).keywords.rate == 4.0


def test_keywords_that_are_changed_are_refused_where_the_function_is_called() -> None:
    def f(x: float) -> Any:
        made.keywords["rate"] = x
        return made(2.0)

    for derivative in (adbc.grad(f), lambda x: adbc.jvp(f, (x,), (1.0,))):
        made = functools.partial(decayed, rate=2.0)
        with pytest.raises(UnsupportedError, match=r"Make another one: functools\.partial"):
            derivative(3.0)
