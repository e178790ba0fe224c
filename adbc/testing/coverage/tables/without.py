"""The public functions that have no derivative, and are refused where a number with one reaches them.

What they give are bytes, texts or exact numbers, from which others read numbers again: a derivative of zero
would be wrong, and there is no other.
"""

from __future__ import annotations

__all__ = ["WITHOUT"]

_BYTES = "gives bytes"
_TEXT = "gives text"
_EXACT = "gives an exact number, which has no derivative"

WITHOUT: dict[str, str] = {
    **{
        f"numpy.{cls}.{name}": _BYTES
        for cls in ("ndarray", "float64")
        for name in ("byteswap", "dump", "dumps", "tobytes", "tofile")
    },
    "numpy.float64.as_integer_ratio": _EXACT,
    "numpy.packbits": _BYTES,
    **{f"struct.{name}": _BYTES for name in ("pack", "pack_into", "Struct")},
    **{f"json.{name}": _TEXT for name in ("dump", "dumps", "JSONEncoder")},
    "decimal.Decimal": _EXACT,
    "fractions.Fraction": _EXACT,
}
"""Why, by public name."""
