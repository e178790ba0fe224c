"""Differences of the digamma function, which the logarithms of quotients of gamma functions have as slopes.

Where the places are large or close to each other the two terms are nearly equal, and their difference is left
with few digits or none: 10^300 choose 1 has the slope 1.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special

__all__ = ["psi_difference"]

FAR = 32.0
"""From here on a few terms of the asymptotic series are exact."""
CLOSE = 1e-3
"""What part of the place the other may lie away for two terms of the Taylor series to be exact."""


def psi_difference(x: Any, d: Any) -> Any:
    """``psi(x + d) - psi(x)``, with the digits of `d`."""
    plain = special.psi(x + d) - special.psi(x)
    if np.iscomplexobj(plain):
        return plain
    is_far = (x > FAR) & (x + d > FAR)
    is_close = ~is_far & (x > 0) & (np.abs(d) < CLOSE * x)
    if not np.any(is_far | is_close):
        return plain
    return np.where(is_far, _far(np.where(is_far, x, FAR), np.where(is_far, d, 1.0)), np.where(
        is_close, _close(np.where(is_close, x, 1.0), np.where(is_close, d, 0.0)), plain
    ))  # fmt: skip


def _far(x: Any, d: Any) -> Any:
    u, v = 1 / x, 1 / (x + d)
    ratio = d * u
    difference = ratio * v
    squares = u * u + v * v
    series = 1 / 12 - squares / 120 + (u**4 + u * u * v * v + v**4) / 252 - squares * (u**4 + v**4) / 240
    return np.log1p(ratio) + difference * (0.5 + (u + v) * series)


def _close(x: Any, d: Any) -> Any:
    middle = x + 0.5 * d
    return d * (special.polygamma(1, middle) + d * d / 24 * special.polygamma(3, middle))
