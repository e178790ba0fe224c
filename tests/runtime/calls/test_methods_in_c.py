"""Methods in C, bound to numbers and tuples, that are kept in containers or namespaces and called there."""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

import adbc

Function = Callable[[Any], Any]
X = 1.3


def _in_a_dict(x: Any) -> Any:
    methods = {"k": x.__mul__}
    return methods["k"](3.0) * methods["k"](x)


def _in_a_list(x: Any) -> Any:
    return sum([k(x) for k in [x.__add__, x.__mul__]])


def _of_a_tuple(x: Any) -> Any:
    pair = (x * x, 1.0)
    methods = [pair.__getitem__, pair.__len__]
    return methods[0](0) * methods[1]()


def _of_an_object(x: Any) -> Any:
    box = SimpleNamespace(power=(x * x).__pow__)
    return box.power(2)


def _of_a_complex_number(x: Any) -> Any:
    methods = {"c": (x * (1.0 + 2.0j)).conjugate}
    return abs(methods["c"]()) ** 2


def _called_by_its_call(x: Any) -> Any:
    methods = {"c": x.__mul__.__call__}
    return methods["c"](x) * x


def _one_behind_the_other(x: Any) -> Any:
    return functools.reduce(lambda a, f: f(a), [x.__add__, x.__mul__, functools.partial(pow, x)], x)


def _in_a_closure(x: Any) -> Any:
    product = x.__mul__

    def scaled(y: Any) -> Any:
        return product(y)

    return scaled(2.0) * list(map(product, [1.0, x]))[1]


def _evaluated(x: Any) -> Any:
    return (
        eval("lambda w: k(w)", {"k": x.__mul__})(3.0)
        + eval("[k(w) for w in (1.0, 2.0)]", {"k": x.__mul__})[1]
    )


FOLLOWED_AGAIN = [
    _in_a_dict, _in_a_list, _of_a_tuple, _of_an_object, _of_a_complex_number, _called_by_its_call,
    _one_behind_the_other, _in_a_closure,
]  # fmt: skip


@pytest.mark.parametrize("config", [{}, {"warm_after": 0}, {"speculation": "dynamic"}])
@pytest.mark.parametrize("f", [*FOLLOWED_AGAIN, _evaluated])
def test_both_modes(f: Function, config: Any) -> None:
    h = 1e-5
    wanted = (f(X + h) - f(X - h)) / (2 * h)
    with adbc.use(adbc.Config(**config)):
        for _ in range(3):
            assert adbc.grad(f)(X) == pytest.approx(wanted, rel=1e-8)
            assert adbc.jvp(f, (X,), (1.0,))[1] == pytest.approx(wanted, rel=1e-8)


@pytest.mark.parametrize("config", [{}, {"speculation": "dynamic"}])
@pytest.mark.parametrize("f", FOLLOWED_AGAIN)
def test_second_derivatives(f: Function, config: Any) -> None:
    h = 1e-5
    first = adbc.grad(f)
    wanted = (first(X + h) - first(X - h)) / (2 * h)

    def forward(x: Any) -> Any:
        return adbc.jvp(f, (x,), (1.0,))[1]

    with adbc.use(adbc.Config(**config)):
        for way in (first, forward):
            assert adbc.grad(way)(X) == pytest.approx(wanted, rel=1e-8)
            assert adbc.jvp(way, (X,), (1.0,))[1] == pytest.approx(wanted, rel=1e-8)


def test_a_list_has_its_gradient() -> None:
    def repeated(numbers: Any) -> Any:
        return eval("lambda w: k(w)", {"k": numbers.__mul__})(2)[2]

    assert adbc.grad(repeated)([2.0, 3.0]) == [1.0, 0.0]
