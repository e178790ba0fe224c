"""Calls of the functions of ``scipy.fft``."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["CALLS", "SKIPPED"]

_ONE = ("dct", "dst", "idct", "idst", "fft", "ifft", "rfft", "irfft", "hfft", "ihfft")
_MANY = (
    "dctn",
    "dstn",
    "idctn",
    "idstn",
    "fftn",
    "ifftn",
    "rfftn",
    "irfftn",
    "hfftn",
    "ihfftn",
    "fft2",
    "ifft2",
    "rfft2",
    "irfft2",
    "hfft2",
    "ihfft2",
)

CALLS: dict[str, Sequence[str]] = {
    **{
        f"scipy.fft.{name}": [f"scipy.fft.{name}(v)", f"scipy.fft.{name}(A, n=4, axis=0, norm='ortho')"]
        for name in _ONE
    },
    **{f"scipy.fft.{name}": [f"scipy.fft.{name}(A)", f"scipy.fft.{name}(D, axes=(0, 2))"] for name in _MANY},
    "scipy.fft.hfft": ["scipy.fft.hfft(v)", "scipy.fft.hfft(A + 1j * B, n=4, axis=0, norm='ortho')"],
    "scipy.fft.hfft2": ["scipy.fft.hfft2(A)", "scipy.fft.hfft2(D + 2j * D * D, axes=(0, 2))"],
    "scipy.fft.fftshift": ["scipy.fft.fftshift(v)", "scipy.fft.fftshift(A, axes=0)"],
    "scipy.fft.ifftshift": ["scipy.fft.ifftshift(v)"],
    "scipy.fft.fht": ["scipy.fft.fht(v, 0.2, 0.5)", "scipy.fft.fht(v, 0.2, 0.5, 0.1, 0.3)"],
    "scipy.fft.ifht": ["scipy.fft.ifht(v, 0.2, 0.5)", "scipy.fft.ifht(v, 0.2, 0.5, 0.1, 0.3)"],
    "scipy.fft.fftfreq": ["scipy.fft.fftfreq(5, v[0])"],
    "scipy.fft.rfftfreq": ["scipy.fft.rfftfreq(5, v[0])"],
    "scipy.fft.fhtoffset": ["scipy.fft.fhtoffset(0.2, 0.5) * v"],
    "scipy.fft.next_fast_len": ["scipy.fft.next_fast_len(7) * v"],
    "scipy.fft.prev_fast_len": ["scipy.fft.prev_fast_len(7) * v"],
}

SKIPPED: dict[str, str] = {
    f"scipy.fft.{name}": "is about settings"
    for name in (
        "get_workers",
        "register_backend",
        "set_backend",
        "set_global_backend",
        "set_workers",
        "skip_backend",
    )
}
