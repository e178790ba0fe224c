"""``scipy.fft``: transforms of Fourier, cosine and sine transforms, along one axis or several.

All are linear.  The adjoint of a transform of complex numbers is the inverse transform with the scales of the
two exchanged.  Without a scale, cosine and sine transforms of types 1 and 4 are symmetric but for the weights
of the first and last number, and those of types 2 and 3 are each other's adjoint but for such weights; scaled
to be orthogonal, each has its inverse as adjoint.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import fft

from adbc.rules.numpy.fourier import EXCHANGED, axes_of, halved, resized
from adbc.rules.scipy.base import bodies, fixed, linear
from adbc.rules.table import Rule, ZeroRule

__all__ = ["ROWS"]


def _fitted(d: Any, like: Any, axes: Any) -> Any:
    for axis in axes:
        d = resized(d, np.shape(like)[axis], axis)
    return d


# -- complex numbers -------------------------------------------------------------------------------------


def _line(inverse: Any) -> Any:
    def transpose(by: Any, x: Any, n: Any = None, axis: Any = -1, norm: Any = None, **others: Any) -> Any:
        return _fitted(inverse(by, None, axis, EXCHANGED[norm], workers=others.get("workers")), x, (axis,))

    return transpose


def _grid(inverse: Any) -> Any:
    def transpose(by: Any, x: Any, s: Any = None, axes: Any = None, norm: Any = None, **others: Any) -> Any:
        places = _places(x, s, axes)
        return _fitted(inverse(by, None, places, EXCHANGED[norm], workers=others.get("workers")), x, places)

    return transpose


def _places(x: Any, s: Any, axes: Any) -> tuple[int, ...]:
    """The axes that are transformed, which may be given as one number."""
    return axes_of(
        x, np.atleast_1d(s) if s is not None else None, axes if axes is None else np.atleast_1d(axes)
    )


# -- real numbers, and half of a spectrum ----------------------------------------------------------------


def _rfft(by: Any, x: Any, n: Any = None, axis: Any = -1, norm: Any = None, **_: Any) -> Any:
    size = np.shape(x)[axis] if n is None else n
    d = fft.irfft(halved(by, size, axis, 0.5), size, axis, EXCHANGED[norm])
    return _fitted(d, x, (axis,))


def _irfft(by: Any, x: Any, n: Any = None, axis: Any = -1, norm: Any = None, **_: Any) -> Any:
    size = by.shape[axis]
    return _fitted(halved(fft.rfft(by, size, axis, EXCHANGED[norm]), size, axis, 2.0), x, (axis,))


def _rfftn(by: Any, x: Any, s: Any = None, axes: Any = None, norm: Any = None, **_: Any) -> Any:
    places = _places(x, s, axes)
    size = np.shape(x)[places[-1]] if s is None else np.atleast_1d(s)[-1]
    if len(places) > 1:
        by = fft.ifftn(by, None, places[:-1], EXCHANGED[norm])
    d = fft.irfft(halved(by, size, places[-1], 0.5), size, places[-1], EXCHANGED[norm])
    return _fitted(d, x, places)


def _irfftn(by: Any, x: Any, s: Any = None, axes: Any = None, norm: Any = None, **_: Any) -> Any:
    places = _places(x, s, axes)
    size = by.shape[places[-1]]
    d = halved(fft.rfft(by, size, places[-1], EXCHANGED[norm]), size, places[-1], 2.0)
    if len(places) > 1:
        d = fft.fftn(d, None, places[:-1], EXCHANGED[norm])
    return _fitted(d, x, places)


# -- what is another transform ---------------------------------------------------------------------------


def _hfft(
    x: Any, n: Any = None, axis: int = -1, norm: Any = None, overwrite_x: bool = False, workers: Any = None,
    *, plan: Any = None,
) -> Any:  # fmt: skip
    return fft.irfft(np.conjugate(x), n, axis, EXCHANGED[norm], workers=workers)


def _ihfft(
    x: Any, n: Any = None, axis: int = -1, norm: Any = None, overwrite_x: bool = False, workers: Any = None,
    *, plan: Any = None,
) -> Any:  # fmt: skip
    return np.conjugate(fft.rfft(x, n, axis, EXCHANGED[norm], workers=workers))


def _several(function: Any, usual: Any, before: bool = False, behind: bool = False) -> Any:
    """The body of a transform along the `usual` axes by `function`, conjugated before or behind."""

    def body(
        x: Any, s: Any = None, axes: Any = usual, norm: Any = None, overwrite_x: bool = False,
        workers: Any = None, *, plan: Any = None,
    ) -> Any:  # fmt: skip
        if before or behind:
            norm = EXCHANGED[norm]
        result = function(np.conjugate(x) if before else x, s, axes, norm, workers=workers)
        return np.conjugate(result) if behind else result

    return body


# -- cosines and sines -----------------------------------------------------------------------------------

_INVERSE = {1: 1, 2: 3, 3: 2, 4: 4}


def _weighted(x: Any, axis: int, places: Any, weight: float) -> Any:
    moved = np.moveaxis(np.array(x), axis, -1)
    moved[..., places] *= weight
    return np.moveaxis(moved, -1, axis)


def _adjoint(forward: Any, by: Any, kind: int, axis: int, norm: Any, is_sine: bool) -> Any:
    """The adjoint of the transform `forward` of type `kind` along one axis, without orthogonal weights."""
    if is_sine:
        end: Any = -1
    else:
        end = [0, -1] if kind == 1 else 0
    if kind == 1 and not is_sine:
        return _weighted(forward(_weighted(by, axis, end, 2.0), 1, None, axis, norm), axis, end, 0.5)
    if kind == 2:
        return forward(_weighted(by, axis, end, 2.0), 3, None, axis, norm)
    if kind == 3:
        return _weighted(forward(by, 2, None, axis, norm), axis, end, 0.5)
    return forward(by, kind, None, axis, norm)


def _by_matrix(transform: Any, by: Any, kind: int, axis: int, norm: Any, orthogonalize: Any) -> Any:
    """The transpose of a transform that weighs its first number in a way of its own, by its matrix."""
    matrix = transform(np.eye(by.shape[axis]), kind, None, 0, norm, orthogonalize=orthogonalize)
    return np.moveaxis(np.tensordot(matrix.astype(by.dtype), by, axes=(0, axis)), 0, axis)


def _along_axes(forward: Any, inverse: Any, is_sine: bool, is_inverse: bool) -> Callable[..., Any]:
    def back(by: Any, kind: int, axes: Any, norm: Any, orthogonalize: Any) -> Any:
        is_orthogonal = norm == "ortho"
        for axis in axes:
            if orthogonalize is not None and bool(orthogonalize) != is_orthogonal:
                by = _by_matrix(inverse if is_inverse else forward, by, kind, axis, norm, orthogonalize)
            elif is_orthogonal:
                by = (forward if is_inverse else inverse)(by, kind, None, axis, norm)
            elif is_inverse:
                by = _adjoint(forward, by, _INVERSE[kind], axis, EXCHANGED[norm], is_sine)
            else:
                by = _adjoint(forward, by, kind, axis, norm, is_sine)
        return by

    return back


def _trigonometric(forward: Any, inverse: Any, is_sine: bool, is_inverse: bool) -> Any:
    back = _along_axes(forward, inverse, is_sine, is_inverse)

    def line(
        by: Any, x: Any, type: int = 2, n: Any = None, axis: int = -1, norm: Any = None,
        overwrite_x: bool = False, workers: Any = None, orthogonalize: Any = None,
    ) -> Any:  # fmt: skip
        return _fitted(back(by, type, (axis,), norm, orthogonalize), x, (axis,))

    def grid(
        by: Any, x: Any, type: int = 2, s: Any = None, axes: Any = None, norm: Any = None,
        overwrite_x: bool = False, workers: Any = None, *, orthogonalize: Any = None,
    ) -> Any:  # fmt: skip
        places = _places(x, s, axes)
        return _fitted(back(by, type, places, norm, orthogonalize), x, places)

    return line, grid


_DCT, _DCTN = _trigonometric(fft.dct, fft.idct, False, False)
_IDCT, _IDCTN = _trigonometric(fft.dct, fft.idct, False, True)
_DST, _DSTN = _trigonometric(fft.dst, fft.idst, True, False)
_IDST, _IDSTN = _trigonometric(fft.dst, fft.idst, True, True)


def idctn(
    x: Any, type: Any = 2, s: Any = None, axes: Any = None, norm: Any = None, overwrite_x: Any = False,
    workers: Any = None, orthogonalize: Any = None,
) -> Any:  # fmt: skip
    """The function of this name, whose signature says that its last parameter can be given by position."""
    return fft.idctn(x, type, s, axes, norm, False, workers, orthogonalize=orthogonalize)


def idstn(
    x: Any, type: Any = 2, s: Any = None, axes: Any = None, norm: Any = None, overwrite_x: Any = False,
    workers: Any = None, orthogonalize: Any = None,
) -> Any:  # fmt: skip
    """The function of this name, as `idctn`."""
    return fft.idstn(x, type, s, axes, norm, False, workers, orthogonalize=orthogonalize)


# -- Hankel transforms -------------------------------------------------------------------------------------

_CONSTANTS = "pass them as constants: adbc.stop_gradient(x)"


def _hankel(inverse: bool) -> Callable[..., Any]:
    """The body of ``fht`` or ``ifht``: a convolution in the logarithm of the argument."""

    def body(a: Any, dln: Any, mu: Any, offset: Any = 0.0, bias: Any = 0.0) -> Any:
        a = np.asarray(a)
        what = "scipy.fft.ifht" if inverse else "scipy.fft.fht"
        what = f"{what} by dln, mu, offset or bias"
        dln, mu = fixed(dln, what, _CONSTANTS), fixed(mu, what, _CONSTANTS)
        offset, bias = fixed(offset, what, _CONSTANTS), fixed(bias, what, _CONSTANTS)
        n = a.shape[-1]
        place = (np.arange(n) - (n - 1) / 2) * dln
        before, behind = np.exp(-bias * place), np.exp(-bias * (place + offset))
        kind = a.dtype if bias == 0 and a.dtype == np.float32 else np.dtype(float)
        u = coefficients(n, dln, mu, offset, bias, inverse)
        found = fft.rfft(a / behind if inverse else a * before, axis=-1)
        found = found / np.conj(u) if inverse else found * u
        found = np.flip(fft.irfft(found, n, axis=-1), axis=-1)
        return (found / before if inverse else found * behind).astype(kind)

    return body


def coefficients(n: int, dln: Any, mu: Any, offset: Any, bias: Any, inverse: bool) -> Any:
    """SciPy's coefficients of a Hankel transform, which are constants."""
    return fft._fftlog_backend.fhtcoeff(n, dln, mu, offset=offset, bias=bias, inverse=inverse)


ROWS: list[Rule] = [
    ZeroRule(coefficients),
    linear(fft.fft, transpose=_line(fft.ifft)),
    linear(fft.ifft, transpose=_line(fft.fft)),
    linear(fft.fftn, transpose=_grid(fft.ifftn)),
    linear(fft.ifftn, transpose=_grid(fft.fftn)),
    linear(fft.rfft, transpose=_rfft),
    linear(fft.irfft, transpose=_irfft),
    linear(fft.rfftn, transpose=_rfftn),
    linear(fft.irfftn, transpose=_irfftn),
    linear(fft.dct, transpose=_DCT),
    linear(fft.idct, transpose=_IDCT),
    linear(fft.dst, transpose=_DST),
    linear(fft.idst, transpose=_IDST),
    linear(fft.dctn, transpose=_DCTN),
    linear(idctn, transpose=_IDCTN, name="scipy.fft.idctn"),
    linear(fft.dstn, transpose=_DSTN),
    linear(idstn, transpose=_IDSTN, name="scipy.fft.idstn"),
    *bodies(
        fft,
        {
            "idctn": idctn,
            "idstn": idstn,
            "fht": _hankel(inverse=False),
            "ifht": _hankel(inverse=True),
            "fft2": _several(fft.fftn, (-2, -1)),
            "ifft2": _several(fft.ifftn, (-2, -1)),
            "rfft2": _several(fft.rfftn, (-2, -1)),
            "irfft2": _several(fft.irfftn, (-2, -1)),
            "hfft": _hfft,
            "ihfft": _ihfft,
            "hfft2": _several(fft.irfftn, (-2, -1), before=True),
            "hfftn": _several(fft.irfftn, None, before=True),
            "ihfft2": _several(fft.rfftn, (-2, -1), behind=True),
            "ihfftn": _several(fft.rfftn, None, behind=True),
        },
    ),
]
