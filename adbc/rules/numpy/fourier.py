"""Rules of the discrete Fourier transforms of complex signals: symmetric linear maps."""

from __future__ import annotations

from typing import Any

import numpy as np

from adbc.rules.numpy.base import ArrayRule
from adbc.rules.table import Rule

__all__ = ["ROWS"]


def _row(function: Any) -> ArrayRule:
    def jvp(d: Any, y: Any, a: Any, n: Any = None, axis: Any = -1, norm: Any = None) -> Any:
        return function(d, n, axis, norm)

    def vjp(by: Any, y: Any, a: Any, n: Any = None, axis: Any = -1, norm: Any = None) -> Any:
        """The adjoint of a symmetric map F is conj F conj; padding and cutting are each other's."""
        d = np.moveaxis(np.conjugate(function(np.conjugate(by), None, axis, norm)), axis, -1)
        size, present = np.shape(a)[axis], d.shape[-1]
        if present > size:
            d = d[..., :size]
        elif present < size:
            d = np.concatenate([d, np.zeros((*d.shape[:-1], size - present), d.dtype)], axis=-1)
        return np.moveaxis(d, -1, axis)

    return ArrayRule(function, "a n axis norm out", jvp=[jvp], vjp=[vjp], defaults={"axis": -1})


ROWS: list[Rule] = [_row(np.fft.fft), _row(np.fft.ifft)]
