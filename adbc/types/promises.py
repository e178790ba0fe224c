"""What code says of the types of its values, for those who lift it again.

Code that was derived knows the types that it was built for; in its bytecode they are lost.  So it keeps
them as a constant: a text with the place of each instruction behind which the value on top of the stack is
of a known type, and that type.  Where such code is differentiated once more, nothing is to be guessed there.

What is said is what a class and a form say (`promise`), and no more: a list may get other elements, memory
another layout, and a test of NumPy's may give a bool of its own.
It is said of values: in the record of a way through a function, None may stand for a variable that has none
there, whatever it would be elsewhere; it is not read behind that.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Iterable, Mapping, Sequence

from adbc.types.lattice import (
    ANY,
    COMPLEX,
    FLOAT,
    INT,
    LIST,
    STR,
    AbstractType,
    ArrayType,
    Exact,
    ListType,
    TupleType,
)

__all__ = ["Promise", "kept", "promise", "promise_of_several", "promises"]

Promise = AbstractType | tuple[AbstractType, ...]
"""What is said of the value on top of the stack, or of the upmost ones, the uppermost first, where several
were put there at once."""

_BEGIN = "\0adbc types "
"""No text that anybody writes begins so."""

_CLASSES: Mapping[str, AbstractType] = {
    "f": FLOAT, "i": INT, "s": STR, "c": COMPLEX, "l": LIST, "d": Exact(dict), "r": Exact(range),
}  # fmt: skip
_NAMES = {known: name for name, known in _CLASSES.items()}
_UNKNOWN, _SEVERAL = "?", "*"
_LONGEST = 12
"""A tuple with more elements than this is only said to be a tuple, which is nothing."""


def promise(known: AbstractType | None) -> str:
    """The text for a type; empty if there is nothing to say.  Not kept: a type holds its class."""
    if known is None or known is ANY:
        return ""
    name = _NAMES.get(LIST if isinstance(known, ListType) else known)
    if name is not None:
        return name
    if type(known) is ArrayType:
        is_usual = known.cls.__name__ == "ndarray" and known.dtype == "float64"
        return f"a{known.ndim}" if is_usual and known.ndim else ""
    if isinstance(known, TupleType) and len(known.elements) <= _LONGEST:
        return _joined(known.elements)
    return ""


def promise_of_several(known: Sequence[AbstractType | None]) -> str:
    """The text for the types of several values; empty if there is nothing to say of any."""
    text = _joined(known)
    return text and _SEVERAL + text


def _joined(known: Sequence[AbstractType | None]) -> str:
    parts = list(map(promise, known))
    return f"({' '.join([part or _UNKNOWN for part in parts])})" if any(parts) else ""


def kept(said: Iterable[tuple[int, str]]) -> str:
    """The constant for what is said at places of code."""
    return _BEGIN + ";".join([f"{place} {text}" for place, text in said])


def promises(constants: Sequence[object]) -> dict[int, Promise]:
    """What code with these constants says, by places."""
    last = constants[-1] if constants else None
    if type(last) is not str or not last.startswith(_BEGIN):
        return {}
    return _read(last)


@functools.lru_cache(maxsize=1 << 8)
def _read(text: str) -> dict[int, Promise]:
    found: dict[int, Promise] = {}
    for said in text[len(_BEGIN) :].split(";"):
        place, _, known = said.partition(" ")
        told = _type(known.removeprefix(_SEVERAL))
        found[int(place)] = told.elements if known[0] == _SEVERAL and isinstance(told, TupleType) else told
    return found


@functools.lru_cache(maxsize=1 << 10)
def _type(text: str) -> AbstractType:
    """The type that `text` says."""
    if text == _UNKNOWN:
        return ANY
    if text[0] == "a":
        return ArrayType("float64", int(text[1:]), sys.modules["numpy"].ndarray)  # code with arrays loaded it
    if text[0] != "(":
        return _CLASSES[text]
    parts: list[str] = []
    depth = 0
    for piece in text[1:-1].split(" "):
        if depth:
            parts[-1] += " " + piece
        else:
            parts.append(piece)
        depth += piece.count("(") - piece.count(")")
    return TupleType(tuple(map(_type, parts)))
