"""Rules from `build_frule` and `build_rrule`, and pullbacks that run again, inside functions that are
differentiated."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adbc
from adbc import CoDual, Dual, NoFData, NoRData, NoTangent
from adbc.errors import InvalidTangentError, PullbackConsumedError, UnsupportedError

NO_T, NO_F, NO_R = NoTangent(), NoFData(), NoRData()


def square(y: Any) -> Any:
    return y * y * 3.0


def waves(v: Any, k: Any) -> Any:
    v[0] *= k
    return np.sin(v) * k


def cubes(v: Any, k: Any) -> Any:
    return (v**3).sum() * k


def scaled(y: Any, *, k: Any) -> Any:
    return y**2 * k


def moved(p: Any, rest: Any) -> Any:
    rest.append(p[1])
    p[0][0] *= p[1]
    return p[0] * rest[0], p[1] * rest[-1]


class Body:
    def __init__(self, a: Any) -> None:
        self.a = a
        self.v = [a, 1.0]


def kicked(o: Any, y: Any) -> Any:
    o.a = o.a * y
    o.v[0] += o.a
    return o.a * o.v[0]


SQUARE = adbc.build_frule((square, float)), adbc.build_rrule((square, float))
WAVES = adbc.build_frule((waves, np.ndarray, float)), adbc.build_rrule((waves, np.ndarray, float))
CUBES = adbc.build_rrule((cubes, np.ndarray, float))
SCALED = adbc.build_frule((scaled, float), k=float), adbc.build_rrule((scaled, float), k=float)
MOVED = adbc.build_frule((moved, tuple, list)), adbc.build_rrule((moved, tuple, list))
KICKED = adbc.build_frule((kicked, Body, float)), adbc.build_rrule((kicked, Body, float))


def forward(x: Any) -> Any:
    return SQUARE[0](Dual(square, NO_T), Dual(x, x)).tangent


def reverse(x: Any) -> Any:
    out, pullback = SQUARE[1](CoDual(square, NO_F), CoDual(x, NO_F))
    return pullback(x)[1] * out.primal


def forward_in_place(x: Any) -> Any:
    v, dv = np.array([x, 1.0, x * x]), np.array([1.0, x, 0.0])
    out = WAVES[0](Dual(waves, NO_T), Dual(v, dv), Dual(x, 1.0))
    return (out.tangent * out.primal).sum() + dv[0] + v[0]


def reverse_in_place(x: Any) -> Any:
    v, fv = np.array([x, 1.0, x * x]), np.array([0.5, x, 0.0])
    out, pullback = WAVES[1](CoDual(waves, NO_F), CoDual(v, fv), CoDual(x, NO_F))
    out.fdata[...] += np.array([1.0, x, 2.0])
    by_k = pullback(NO_R)[2]
    return fv.sum() * by_k + v[0]


def of_an_array(x: Any) -> Any:
    v, fv = np.array([x, 1.0, x * x]), np.zeros(3)
    _, pullback = CUBES(CoDual(cubes, NO_F), CoDual(v, fv), CoDual(x, NO_F))
    return pullback(2.0 * x)[2] + (fv * fv).sum()


def of_a_constant_array(x: Any) -> Any:
    _, pullback = CUBES(CoDual(cubes, NO_F), CoDual(np.array([x, 1.0, x * x]), NO_F), CoDual(x, NO_F))
    return pullback(2.0 * x)[2]


def by_keyword(x: Any) -> Any:
    tangent = SCALED[0](Dual(scaled, NO_T), Dual(x, 1.0), k=Dual(2 * x, x)).tangent
    _, pullback = SCALED[1](CoDual(scaled, NO_F), CoDual(x, NO_F), k=CoDual(2 * x, NO_F))
    back = pullback(x)
    return tangent * back[1] + back[2]["k"] * x


def forward_of_containers(x: Any) -> Any:
    rest = [x, 3.0]
    given = Dual((np.array([x, 2.0]), x * x), (np.ones(2) * x, x))
    out = MOVED[0](Dual(moved, NO_T), given, Dual(rest, [1.0, x]))
    return out.tangent[0].sum() + out.tangent[1] * len(rest)


def reverse_of_containers(x: Any) -> Any:
    p, rest = (np.array([x, 2.0]), x * x), [x, 3.0]
    fp, frest = adbc.fdata(adbc.zero_tangent(p)), adbc.fdata(adbc.zero_tangent(rest))
    out, pullback = MOVED[1](CoDual(moved, NO_F), CoDual(p, fp), CoDual(rest, frest))
    out.fdata[0][...] += x
    back = pullback((NO_R, x))
    return fp[0].sum() * back[1][1] + rest[0] + frest[0]


def forward_of_an_object(x: Any) -> Any:
    o = Body(x)
    return KICKED[0](Dual(kicked, NO_T), Dual(o, adbc.zero_tangent(o)), Dual(x, 1.0)).tangent


def reverse_of_an_object(x: Any) -> Any:
    o = Body(x)
    fo = adbc.zero_tangent(o)
    _, pullback = KICKED[1](CoDual(kicked, NO_F), CoDual(o, fo), CoDual(x, NO_F))
    return fo.a * pullback(1.0)[2] + fo.v[0] + o.a


def of_a_function_in_c(x: Any) -> Any:
    rule = adbc.build_rrule((math.sin, float))
    _, pullback = rule(CoDual(math.sin, NO_F), CoDual(x, NO_F))
    return pullback(x)[1]


def again(x: Any) -> Any:
    value, pullback = adbc.vjp(lambda a: a**3 * x, x, reusable=True)
    return pullback(1.0)[0] + pullback(x)[0] * value + pullback(x)[0]


def again_in_place(x: Any) -> Any:
    w = np.array([x, 2.0])

    def f(a: Any) -> Any:
        a[0] *= x
        return a * a

    value, pullback = adbc.vjp(f, w, reusable=True)
    return (pullback(np.array([1.0, x]))[0] * pullback(value)[0]).sum() + w[0]


def again_with_more(x: Any) -> Any:
    value, pullback, more = adbc.vjp(lambda a: (a * a, a), x, has_aux=True, reusable=True)
    return pullback(1.0)[0] * pullback(more)[0] * value


def not_again(x: Any) -> Any:
    return adbc.vjp(lambda a: a * a * x, x, reusable=False)[1](1.0)[0]


@pytest.mark.parametrize("mode", ["forward", "reverse"])
@pytest.mark.parametrize(
    "f",
    [
        forward, reverse, forward_in_place, reverse_in_place, of_an_array, of_a_constant_array, by_keyword,
        forward_of_containers, reverse_of_containers, forward_of_an_object, reverse_of_an_object,
        of_a_function_in_c, again, again_in_place, again_with_more, not_again,
    ],
)  # fmt: skip
def test_followed(f: Callable[[float], Any], mode: str) -> None:
    x, h = 0.7, 1e-5
    near = 8.0 * (f(x + h) - f(x - h)) - (f(x + 2 * h) - f(x - 2 * h))
    for _ in range(3):
        value, found = adbc.value_and_grad(f)(x) if mode == "reverse" else adbc.jvp(f, (x,), (1.0,))
        assert value == f(x)
        assert found == pytest.approx(near / (12.0 * h), rel=1e-7)


def run_twice(x: Any) -> Any:
    _, pullback = SQUARE[1](CoDual(square, NO_F), CoDual(x, NO_F))
    return pullback(x)[1] + pullback(x)[1]


def changed_meanwhile(x: Any) -> Any:
    w = np.array([x, 2.0])
    _, pullback = adbc.vjp(lambda a: a**2, w, reusable=True)
    first = pullback(np.ones(2))[0].sum()
    w[0] = 5.0
    return first + pullback(np.ones(2))[0].sum()


IN_TWOS = adbc.build_frule((square, float), width=2)


@pytest.mark.parametrize("mode", ["forward", "reverse"])
@pytest.mark.parametrize(
    ("f", "error", "text"),
    [
        (lambda x: SQUARE[0](Dual(square, NO_T), x), InvalidTangentError, "not float"),
        (lambda x: SQUARE[0](Dual(square, NO_T)).tangent, InvalidTangentError, "takes 2 duals"),
        (lambda x: SQUARE[0](Dual(square, NO_T), Dual(x, np.ones(2))), InvalidTangentError, "shape"),
        (lambda x: SQUARE[1](CoDual(square, NO_F), CoDual(x, x)), InvalidTangentError, "hold together"),
        (
            lambda x: SQUARE[1](CoDual(square, NO_F), CoDual(x, NO_F))[1](np.ones(2))[1],
            InvalidTangentError,
            "not rdata",
        ),
        (run_twice, PullbackConsumedError, "already"),
        (changed_meanwhile, ValueError, "has been changed"),
        (lambda x: SQUARE[0](Dual(square, x), Dual(x, 1.0)).tangent, UnsupportedError, "for its function"),
        (
            lambda x: IN_TWOS(Dual(square, NO_T), Dual(x, np.array([x, 1.0]))).tangent.sum(),
            UnsupportedError,
            "without width=",
        ),
        (lambda x: adbc.grad(lambda y, c: y * c)(x, adbc.Const(x)), UnsupportedError, "give the value"),
        (
            lambda x: adbc.jvp(lambda y, c: y * c, (x, adbc.Const(x)), (1.0, None))[1],
            UnsupportedError,
            "give the value",
        ),
        (
            lambda x: adbc.vjp(lambda y, c: y * c, x, adbc.Const(x))[1](1.0)[0],
            UnsupportedError,
            "give the value",
        ),
    ],
)
def test_refused(f: Callable[[float], Any], error: type[Exception], text: str, mode: str) -> None:
    for _ in range(2):
        with pytest.raises(error, match=f"(?i){text}"):
            adbc.grad(f)(0.7) if mode == "reverse" else adbc.jvp(f, (0.7,), (1.0,))
