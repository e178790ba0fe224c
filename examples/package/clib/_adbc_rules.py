"""The rules of `clib`, for any system that reads them; nobody imports this module but such a system."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import clib
from adbc import chainrules as cr


def _j1_slope(out: float, x: float) -> float:
    return 0.5 if x == 0.0 else float(clib.bessel_j0(x)) - out / x


cr.scalar_rule(clib.bessel_j0, lambda out, x: -clib.bessel_j1(x))
cr.scalar_rule(clib.bessel_j1, _j1_slope)


def _digamma(x: float) -> float:
    """The derivative of the logarithm of the gamma function: by recurrence, then an asymptotic series."""
    total = 0.0
    while x < 10.0:
        total -= 1.0 / x
        x += 1.0
    y = 1.0 / (x * x)
    series = y * (1 / 12 - y * (1 / 120 - y * (1 / 252 - y * (1 / 240 - y / 132))))
    log = 0.0
    while x > 2.0:  # the logarithm, from what the library has
        x /= 2.718281828459045
        log += 1.0
    z = (x - 1.0) / (x + 1.0)
    log += 2.0 * sum(z ** (2 * k + 1) / (2 * k + 1) for k in range(30))
    return total + log - 0.5 * float(y**0.5) - series


cr.scalar_rule(
    clib.log_gamma,
    (lambda out, x: _digamma(x),),
    (None,),  # the sign has no derivative
)

cr.non_differentiable(clib.exponent)


@cr.rrule(clib.weighted_sum)
def weighted_sum_rrule(
    weighted_sum: Callable[..., float], x: list[float], w: list[float]
) -> tuple[float, Callable[[Any], tuple[Any, ...]]]:
    """Each list is the derivative by the other; neither is made if nobody asks for it."""

    def pullback(d: Any) -> tuple[Any, ...]:
        d = cr.unthunk(d)
        return (
            cr.NoTangent(),
            cr.Thunk(lambda: cr.Tangent(list, *(d * b for b in w))),
            cr.Thunk(lambda: cr.Tangent(list, *(d * a for a in x))),
        )

    return weighted_sum(x, w), pullback


@cr.frule(clib.weighted_sum)
def weighted_sum_frule(
    tangents: tuple[Any, ...], weighted_sum: Callable[..., float], x: list[float], w: list[float]
) -> tuple[float, Any]:
    """The product rule; a list that is not perturbed costs nothing."""
    _, dx, dw = tangents
    total = 0.0
    if not isinstance(dx, cr.ZeroTangent):
        total += sum(dx[i] * b for i, b in enumerate(w))
    if not isinstance(dw, cr.ZeroTangent):
        total += sum(a * dw[i] for i, a in enumerate(x))
    return weighted_sum(x, w), total
