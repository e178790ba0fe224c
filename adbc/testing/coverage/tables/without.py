"""The public functions that have no derivative, and are refused where a number with one reaches them.

What most of them give are bytes, texts or exact numbers, from which others read numbers again: a derivative
of zero would be wrong, and there is no other.  A few give numbers that are not what they are defined to be.
"""

from __future__ import annotations

__all__ = ["WITHOUT"]

_BYTES = "gives bytes"
_TEXT = "gives text"
_STEPS = "gives, by the loops of some processors, another number than steps of the ufunc do"
_EXACT = "gives an exact number, which has no derivative"

WITHOUT: dict[str, str] = {
    **{
        f"numpy.{cls}.{name}": _BYTES
        for cls in ("ndarray", "float64")
        for name in ("byteswap", "dump", "dumps", "tobytes", "tofile")
    },
    "numpy.float64.as_integer_ratio": _EXACT,
    "numpy.packbits": _BYTES,
    **{f"numpy.{name}.{of}": _STEPS for name in ("arctan2", "power") for of in ("reduce", "reduceat")},
    **{f"struct.{name}": _BYTES for name in ("pack", "pack_into", "Struct")},
    **{f"json.{name}": _TEXT for name in ("dump", "dumps", "JSONEncoder")},
    "decimal.Decimal": _EXACT,
    "fractions.Fraction": _EXACT,
}
"""Why, by public name."""
