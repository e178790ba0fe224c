"""Functions of the C library, by ctypes: no module of Python's has them, and nothing can look into them."""

from __future__ import annotations

import ctypes
import ctypes.util

__all__ = ["bessel_j0", "bessel_j1", "exponent", "log_gamma", "weighted_sum"]

_libm = ctypes.CDLL(ctypes.util.find_library("m"))
for _name in ("j0", "j1", "y0", "log2", "cbrt"):
    getattr(_libm, _name).restype = ctypes.c_double
    getattr(_libm, _name).argtypes = [ctypes.c_double]
_libm.fma.restype, _libm.fma.argtypes = ctypes.c_double, [ctypes.c_double] * 3
_libm.lgamma_r.restype = ctypes.c_double
_libm.lgamma_r.argtypes = [ctypes.c_double, ctypes.POINTER(ctypes.c_int)]
_libm.ilogb.restype, _libm.ilogb.argtypes = ctypes.c_int, [ctypes.c_double]


def bessel_j0(x: float) -> float:
    """The Bessel function of the first kind of order 0."""
    return float(_libm.j0(x))


def bessel_j1(x: float) -> float:
    """The Bessel function of the first kind of order 1."""
    return float(_libm.j1(x))


def log_gamma(x: float) -> tuple[float, int]:
    """The logarithm of the absolute value of the gamma function, and the sign of that."""
    sign = ctypes.c_int()
    return float(_libm.lgamma_r(x, ctypes.byref(sign))), sign.value


def exponent(x: float) -> int:
    """The exponent of the floating point number `x`."""
    return int(_libm.ilogb(x))


def weighted_sum(x: list[float], w: list[float]) -> float:
    """The sum of the products of two lists, each rounded once."""
    total = 0.0
    for a, b in zip(x, w, strict=True):
        total = float(_libm.fma(a, b, total))
    return total
