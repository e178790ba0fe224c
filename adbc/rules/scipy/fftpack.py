"""``scipy.fftpack``: the older names of the transforms of ``scipy.fft``, which do the same.

Those that pack half of a spectrum into real numbers (``rfft``, ``irfft``) are not among them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from scipy import fft, fftpack

from adbc.rules.scipy.base import bodies

__all__ = ["ROWS"]

_INVERSE = {1: 1, 2: 3, 3: 2, 4: 4}
"""The type of a cosine or sine transform that goes back, but for a scale."""


def _line(function: Any) -> Callable[..., Any]:
    def body(x: Any, n: Any = None, axis: int = -1, overwrite_x: bool = False) -> Any:
        return function(x, n, axis)

    return body


def _grid(function: Any, usual: Any = None) -> Callable[..., Any]:
    def body(x: Any, shape: Any = None, axes: Any = usual, overwrite_x: bool = False) -> Any:
        return function(x, shape, axes)

    return body


def _trigonometric(function: Any, is_inverse: bool) -> Callable[..., Any]:
    """The body of a transform by `function`; what goes back has no scale of its own."""

    def body(
        x: Any, type: int = 2, n: Any = None, axis: int = -1, norm: Any = None, overwrite_x: bool = False
    ) -> Any:
        return function(x, _INVERSE[type] if is_inverse else type, n, axis, norm)

    return body


def _trigonometric_grid(function: Any, is_inverse: bool) -> Callable[..., Any]:
    def body(
        x: Any, type: int = 2, shape: Any = None, axes: Any = None, norm: Any = None,
        overwrite_x: bool = False,
    ) -> Any:  # fmt: skip
        return function(x, _INVERSE[type] if is_inverse else type, shape, axes, norm)

    return body


ROWS: list[Any] = bodies(
    fftpack,
    {
        "fft": _line(fft.fft),
        "ifft": _line(fft.ifft),
        "fftn": _grid(fft.fftn),
        "ifftn": _grid(fft.ifftn),
        "fft2": _grid(fft.fftn, (-2, -1)),
        "ifft2": _grid(fft.ifftn, (-2, -1)),
        "dct": _trigonometric(fft.dct, False),
        "idct": _trigonometric(fft.dct, True),
        "dst": _trigonometric(fft.dst, False),
        "idst": _trigonometric(fft.dst, True),
        "dctn": _trigonometric_grid(fft.dctn, False),
        "idctn": _trigonometric_grid(fft.dctn, True),
        "dstn": _trigonometric_grid(fft.dstn, False),
        "idstn": _trigonometric_grid(fft.dstn, True),
    },
)
