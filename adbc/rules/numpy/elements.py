"""What the elements of arrays are: numbers that have derivatives, whole numbers, text, objects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from adbc.errors import UnsupportedError
from adbc.tangents.fields import is_python_class

__all__ = ["computes_whole", "is_inexact", "refuse_answer", "refuse_opaque", "refuse_text", "refuse_text_of"]


def is_inexact(x: Any) -> bool:
    """Whether array `x` holds floats or complex numbers."""
    return x.dtype.kind in "fc"


def computes_whole(options: Mapping[str, Any]) -> bool:
    """Whether a function that is called with these options computes with whole numbers (``dtype=int``): then
    its result has no derivative, even if it is written where floats are."""
    if not options:
        return False
    given = options.get("dtype")
    if given is not None:
        return np.dtype(given).kind in "biu"
    given = options.get("signature", options.get("sig"))
    if given is None:
        return False
    parts = list(given.partition("->")[0]) if isinstance(given, str) else list(given)
    taken = [x for x in parts[:-1] if x is not None] or [x for x in parts if x is not None]
    return len(taken) > 0 and all(np.dtype(x).kind in "biu" for x in taken)


def refuse_opaque(x: Any) -> None:
    """Raise if `x` is an array whose elements are not numbers."""
    if isinstance(x, np.ndarray) and x.dtype.kind in "OV":
        what = (
            "its fields, x['name']" if x.dtype.names else "such an array or a list, or loop over the elements"
        )
        raise UnsupportedError(
            f"an active array of dtype {x.dtype} reached a NumPy function",
            "that is differentiated for arrays of floats and of complex numbers only",
            f"use {what}",
        )


def refuse_answer(out: Any) -> None:
    """Raise if `out`, which NumPy computes of something active, is an object of a class in Python: methods of
    another argument have made it."""
    if not isinstance(out, _COMPUTED) and is_python_class(type(out)):
        raise UnsupportedError(
            f"a NumPy function gives a {type(out).__name__}, and an argument has a derivative",
            "what it does with objects that are no numbers runs unseen",
            "use an operator, which is followed: x * y in place of np.multiply(x, y)",
        )


_COMPUTED = (np.ndarray, np.generic, bool, int, float, complex, tuple, list, str)


def refuse_text(out: Any, source: Any) -> None:
    """Raise if `out` is an array of text and `source`, active, of which NumPy makes it, has numbers in it."""
    is_text = isinstance(out, (np.ndarray, np.generic)) and out.dtype.kind in "SUT"
    if is_text and _says_number(source):
        raise UnsupportedError(
            f"an array of text (dtype {out.dtype}) is made from a value with a derivative",
            "what is read from it would be a constant, and the derivative would be lost without a word",
            "make the text of adbc.stop_gradient(x), or outside of arrays: [str(v) for v in x]",
        )


def refuse_text_of(out: Any, values: Sequence[Any], shadows: Sequence[Any]) -> None:
    """Raise if `out` is an array of text, and some of `values`, of which it is made, are active numbers."""
    if isinstance(out, (np.ndarray, np.generic)) and out.dtype.kind in "SUT":
        refuse_text(out, [x for x, f in zip(values, shadows, strict=False) if f is not None])


def _says_number(x: Any) -> bool:
    if isinstance(x, (list, tuple)):
        return any(map(_says_number, x))
    return isinstance(x, (float, complex)) or (isinstance(x, (np.ndarray, np.generic)) and is_inexact(x))
