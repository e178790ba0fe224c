"""`jvp` by the short way: tuples and dicts of floats, and views that gradients are taken at."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import adbc
from adbc.errors import InvalidTangentError
from adbc.tangents import NO_TANGENT

Point = tuple[float, float]
Named = dict[str, float]


def of_point(p: Point) -> float:
    x, y = p
    return x * x * math.sin(y)


def of_names(d: Named) -> float:
    return d["a"] ** 2 * math.exp(d["k"])


def overwriting(d: Named, x: float) -> float:
    d["a"] *= x
    return d["a"] * d["k"]


def of_array(x: Any) -> Any:
    y = x.copy()
    y[1:] *= x[:-1]
    return (y * y * y).sum()


def overwriting_array(x: Any) -> Any:
    x[1:] *= x[:-1]
    return (x * x).sum()


def test_points() -> None:
    for k in range(50):
        x, y = 1.0 + k, 0.5 * k
        value, tangent = adbc.jvp(of_point, ((x, y),), ((1.0, 2.0),))
        assert value == of_point((x, y))
        assert tangent == pytest.approx(2 * x * math.sin(y) + 2 * x * x * math.cos(y))
    with pytest.raises(InvalidTangentError):
        adbc.jvp(of_point, ((1.0, 2.0),), ((1.0,),))
    # What is another way in: whole numbers, and no tangent.
    assert adbc.jvp(of_point, ((2, 0.0),), ((NO_TANGENT, 1.0),))[1] == pytest.approx(4.0)
    assert adbc.jvp(of_point, ((2.0, 0.5),), (NO_TANGENT,))[1] == 0.0
    with pytest.raises(ValueError, match="unpack"):
        adbc.jvp(of_point, ((1.0, 2.0, 3.0),), ((1.0, 0.0, 0.0),))


def test_names() -> None:
    for k in range(50):
        d, t = {"a": 1.0 + k, "k": 0.1}, {"a": 1.0, "k": 0.5}
        value, tangent = adbc.jvp(of_names, (d,), (t,))
        assert value == of_names(d)
        assert tangent == pytest.approx(2 * d["a"] * math.exp(0.1) + 0.5 * value)
    with pytest.raises(InvalidTangentError):
        adbc.jvp(of_names, ({"a": 1.0, "k": 0.1},), ({"a": 1.0},))
    nested: Any = {"a": 1.0, "k": 0.1, "rest": [1.0]}
    assert adbc.jvp(of_names, (nested,), ({"a": 1.0, "k": 0.0, "rest": [0.0]},))[1] == pytest.approx(
        2 * math.exp(0.1)
    )


def test_what_is_written_into_a_dict() -> None:
    for k in range(50):
        d, t = {"a": 2.0, "k": 3.0}, {"a": 1.0, "k": 0.0}
        value, tangent = adbc.jvp(overwriting, (d, 1.0 + k), (t, 1.0))
        assert (value, tangent) == (6.0 * (1 + k), pytest.approx(3.0 * (1 + k) + 6.0))
        assert d == {"a": 2.0 * (1 + k), "k": 3.0}
        assert t == {"a": pytest.approx(1.0 * (1 + k) + 2.0), "k": 0.0}


def test_one_dict_twice_has_one_tangent() -> None:
    def product(d: Named, e: Named) -> float:
        return d["a"] * e["a"]

    for _ in range(50):
        d, t = {"a": 3.0}, {"a": 1.0}
        assert adbc.jvp(product, (d, d), (t, t))[1] == pytest.approx(6.0)
        with pytest.raises(InvalidTangentError):
            adbc.jvp(product, (d, d), (t, {"a": 1.0}))


@pytest.mark.parametrize("function", [of_array, overwriting_array])
def test_gradients_at_views(function: Any) -> None:
    """A view that a gradient is taken at gives what a copy gives."""
    gradient = adbc.grad(function)
    direction = np.array([1.0, -0.5, 2.0, 0.25])
    whole = np.linspace(0.5, 2.0, 8)
    for view in (whole[::2], whole[4:], whole.reshape(2, 4)[1], whole[::-2], np.linspace(0.5, 2.0, 4)):
        value, tangent = adbc.jvp(gradient, (view.copy(),), (direction,))
        step = 1e-6
        difference = (gradient(view + step * direction) - gradient(view - step * direction)) / (2 * step)
        assert np.allclose(tangent, difference, rtol=1e-6)
        before = whole.copy()
        for _ in range(45):
            again, along = adbc.jvp(gradient, (view,), (direction,))
            assert np.array_equal(again, value)
            assert np.array_equal(along, tangent)
            assert np.array_equal(whole, before)
        assert np.array_equal(direction, [1.0, -0.5, 2.0, 0.25])


@pytest.mark.parametrize("is_inner_forward", [True, False])
@pytest.mark.parametrize(
    ("function", "at", "along"),
    [
        (of_point, (1.5, 0.5), (1.0, 0.25)),
        (of_names, {"a": 1.5, "k": 0.5}, {"a": 1.0, "k": 0.25}),
        (of_array, np.array([0.5, 1.5, 2.0]), np.array([1.0, 0.5, -1.0])),
        (lambda x: math.sin(x) * x, 1.5, 1.0),
        (lambda xs: sum(x * x * x for x in reversed(xs)), [1.5, 0.5], [1.0, 2.0]),
    ],
    ids=["point", "names", "array", "number", "list"],
)
def test_second_derivatives_of_each_kind_of_argument(
    function: Any, at: Any, along: Any, is_inner_forward: bool
) -> None:
    """Both orders of one derivative agree, cold and warm."""
    gradient = adbc.grad(function)

    def forward_over_reverse() -> Any:
        return adbc.jvp(gradient, (at,), (along,))[1]

    def reverse_over_forward() -> Any:
        return adbc.grad(lambda x: adbc.jvp(function, (x,), (along,))[1])(at)

    compute = reverse_over_forward if is_inner_forward else forward_over_reverse
    with adbc.use(adbc.Config(speculation="dynamic", warm_after=0)):
        expected = numbers(forward_over_reverse())
    for _ in range(60):
        assert numbers(compute()) == pytest.approx(expected, rel=1e-12)


def numbers(t: Any) -> list[float]:
    if isinstance(t, dict):
        t = list(t.values())
    return [float(x) for x in np.ravel(t)]
