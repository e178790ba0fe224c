"""A quick check for many arguments of functions that have bodies: values are SciPy's own, tangents those of
differences."""

from __future__ import annotations

from typing import Any

import numpy as np

import adbc

__all__ = ["agrees"]


def _flat(x: Any) -> Any:
    return np.concatenate([_flat(part) for part in x]) if isinstance(x, tuple) else np.ravel(x)


def agrees(f: Any, *args: Any, step: float = 1e-5, rtol: float = 1e-5, value_rtol: float = 1e-9) -> None:
    """That forward mode of ``f(*args)`` has the value of a plain call, and the tangent of differences."""
    d = tuple(np.cos(1.0 + np.arange(x.size)).reshape(x.shape).astype(x.dtype) for x in args)
    value, tangent = adbc.jvp(f, args, d)
    plain = f(*args)
    assert type(value) is type(plain)
    assert isinstance(value, tuple) or (value.shape == plain.shape and value.dtype == plain.dtype)
    scale = np.nanmax(np.abs(_flat(plain)), initial=1e-3)
    np.testing.assert_allclose(_flat(value), _flat(plain), rtol=value_rtol, atol=value_rtol * scale)
    up, down = (_flat(f(*[x + s * v for x, v in zip(args, d, strict=True)])) for s in (step, -step))
    expected, found = (up - down) / (2 * step), _flat(tangent)
    known = ~np.isnan(expected)
    scale = np.max(np.abs(expected[known]), initial=1e-2)
    np.testing.assert_allclose(found[known], expected[known], rtol=rtol, atol=rtol * scale)
