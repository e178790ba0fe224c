"""The arguments of generated calls: a value for each name that the text of a call uses, by kind.

The text of a call, ``np.clip(x, 0.3, y)``, uses names of which each stands for numbers of one sort:

- `x`, `y`, `z`, `w` are numbers of any shape, and the kind of the case says which ("float", "2-d", ...);
- `u` and `v` are always arrays with one axis, `A`, `B` (square) and `C` (higher than wide) matrices, `S` a
  positive definite one, `T` a triangular one, and `D` an array with three axes;
- `p` are probabilities, `items` is a list of floats;
- `wave` is a signal of 40 numbers, `image` has 6 by 7 of them;
- `out` is an array like the result.

Everything else in the text is constant.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np

__all__ = ["FREE", "KINDS", "LAYOUTS", "names_in", "value"]

FREE = "xyzw"
"""The names that stand for numbers of any shape."""

SHAPES: dict[str, tuple[int, ...] | None] = {
    "float": None,
    "float64": None,
    "0-d": (),
    "1-d": (4,),
    "2-d": (3, 3),
    "empty": (0,),
    "one": (1,),
}
LAYOUTS = ("plain", "strided", "reversed", "read-only", "float32", "complex")
"""The kinds that have a meaning for values whose shape is fixed."""
KINDS = (*SHAPES, *LAYOUTS[1:], "mixed")
"""All kinds, in the order in which they are tried: "mixed" has an integer in the place of `y`."""

OFFSETS = {"unit": 0.0, "above": 1.0, "signed": -0.62}
"""By domain, what is added to numbers between 0.2 and 0.9."""

_NAMES = re.compile(r"(?<![\w.'\"])(x|y|z|w|u|v|A|B|C|D|S|T|p|items|out|wave|image)\b(?!\s*=[^=])(?!['\"])")


def names_in(text: str) -> list[str]:
    """The names of the values that the text of a call uses, each once."""
    return list(dict.fromkeys(_NAMES.findall(text)))


def _numbers(name: str, shape: tuple[int, ...], domain: str) -> np.ndarray[Any, Any]:
    size = int(np.prod(shape))
    start = 0.37 * (1 + ord(name[0]) % 7)  # so that no two names have a number in common
    spread = (np.arange(1, size + 1) * 0.6180339887498949 + start) % 1.0
    return (0.2 + 0.7 * spread + OFFSETS[domain]).reshape(shape)


def _fixed(name: str) -> Any:
    eye = np.eye(3)
    match name:
        case "u" | "v":
            return _numbers(name, (5,), "unit")
        case "A" | "B":
            return _numbers(name, (3, 3), "signed") + (eye * np.array([1.5, 2.7, 4.1]))
        case "C":
            return np.concatenate(
                [_numbers("C", (1, 3), "unit"), _numbers("E", (3, 3), "signed") + 1.3 * eye]
            )
        case "D":
            return _numbers(name, (2, 3, 4), "unit")
        case "S":
            half = _numbers(name, (3, 3), "signed")
            return half @ half.T + eye * np.array([1.0, 2.0, 3.0])
        case "T":
            return np.tril(_numbers(name, (3, 3), "unit")) + eye
        case "wave":
            return np.sin(0.7 * np.arange(40.0)) + _numbers(name, (40,), "signed")
        case "image":
            return _numbers(name, (6, 7), "unit")
        case "p":
            return np.array([0.1, 0.2, 0.3, 0.4])
    return [0.7, 0.2, 1.1, 0.5]


def value(name: str, kind: str, domain: str = "unit") -> Any:
    """The value that `name` stands for in a case of this kind and domain."""
    if name == "items":
        return _fixed(name)
    if name not in FREE:
        return _laid(np.asarray(_fixed(name)), kind)
    if kind == "mixed":
        return _numbers(name, (3,), domain) if name != "y" else np.array([1, 3, 2])
    shape = SHAPES.get(kind, (4,))
    if shape is None:
        number = float(_numbers(name, (), domain))
        return number if kind == "float" else np.float64(number)
    return _laid(_numbers(name, shape, domain), kind)


def _laid(x: np.ndarray[Any, Any], kind: str) -> np.ndarray[Any, Any]:
    """The numbers of `x` in the memory and of the dtype that `kind` says."""
    match kind:
        case "strided":
            wide = np.zeros((*x.shape[:-1], 2 * x.shape[-1]))
            wide[..., ::2] = x
            return wide[..., ::2]
        case "reversed":
            return np.ascontiguousarray(x[::-1])[::-1]
        case "read-only":
            fixed = x.copy()
            fixed.flags.writeable = False
            return fixed
        case "float32":
            return x.astype(np.float32)
        case "complex":
            hermitian = x.ndim == 2 and x.shape == x.T.shape and bool(np.allclose(x, x.T))
            other = np.triu(x, 1) - np.tril(x, -1) if hermitian else x[::-1]
            return x + 0.3j * other
    return x
