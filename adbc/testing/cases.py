"""Points at which scalar functions are worth testing, and arrays of every layout, for tests of rules.

Fixed numbers, not random ones: away from kinks and branch points, of both signs, of several magnitudes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["POINTS", "array", "layouts", "positive_definite"]

POINTS: dict[str, tuple[float, ...]] = {
    "real": (-2.3, -0.7, 0.4, 1.6),
    "positive": (0.05, 0.4, 1.7, 30.0),
    "unit": (-0.8, -0.3, 0.2, 0.9),
    "above one": (1.1, 1.9, 7.0),
}
"""Arguments by domain: the real line, positive numbers, between -1 and 1, above 1."""


def array(*shape: int, dtype: Any = np.float64, low: float = -1.7, high: float = 2.1) -> np.ndarray[Any, Any]:
    """An array whose elements differ and fill the interval from `low` to `high`, out of order."""
    size = int(np.prod(shape))
    # Multiples of the golden ratio modulo 1 spread evenly and never repeat.
    spread = (np.arange(1, size + 1) * 0.6180339887498949) % 1.0
    values = (low + (high - low) * spread).reshape(shape)
    if np.dtype(dtype).kind == "c":
        return (values + 1j * values[::-1]).astype(dtype)
    return values.astype(dtype)


def layouts(x: np.ndarray[Any, Any]) -> dict[str, np.ndarray[Any, Any]]:
    """The numbers of `x` in memory of several layouts: a rule must not care."""
    found = {"C": np.ascontiguousarray(x), "Fortran": np.asfortranarray(x)}
    if x.ndim:
        wide = np.zeros((*x.shape[:-1], 2 * x.shape[-1]), x.dtype)
        wide[..., ::2] = x
        found["strided"] = wide[..., ::2]
        found["reversed"] = np.ascontiguousarray(x[::-1])[::-1]
    return found


def positive_definite(n: int, dtype: Any = np.float64) -> np.ndarray[Any, Any]:
    """A well-conditioned symmetric (Hermitian) positive definite matrix."""
    a = array(n, n, dtype=dtype)
    made: np.ndarray[Any, Any] = a @ a.conj().T / n + np.eye(n, dtype=dtype)
    symmetric: np.ndarray[Any, Any] = (made + made.conj().T) / 2  # the product alone is so up to rounding
    return symmetric
