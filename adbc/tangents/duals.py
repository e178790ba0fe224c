"""Records: tangents with named fields, and pairs of a primal with its derivative.

`Tangent`, `FData` and `RData` are values (immutable, compared by their fields).  `MutableTangent`
is an object: two of them are the same only if they are one, since the address is what matters.
Fields read as attributes.  Nothing here knows how the fields came about.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import Any

__all__ = [
    "CoDual",
    "DequeTangent",
    "DictTangent",
    "Dual",
    "FData",
    "ListTangent",
    "MutableTangent",
    "RData",
    "Tangent",
]


def _show(name: str, fields: Mapping[str, Any]) -> str:
    return f"{name}({', '.join(f'{k}={v!r}' for k, v in fields.items())})"


class _Record:
    """An immutable record whose fields are in its instance dictionary."""

    def __init__(self, /, **fields: Any) -> None:
        self.__dict__.update(fields)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"{type(self).__name__} is immutable: cannot set field '{name}'")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{type(self).__name__} is immutable: cannot delete field '{name}'")

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        return self.__dict__ == other.__dict__

    def __hash__(self) -> int:
        return hash((type(self), tuple(self.__dict__.items())))

    def __repr__(self) -> str:
        return _show(type(self).__name__, self.__dict__)


class Tangent(_Record):
    """The tangent of an immutable record: a NamedTuple, a frozen dataclass, a bound method."""


class FData(_Record):
    """The parts of a `Tangent` that are identified by address."""


class RData(_Record):
    """The parts of a `Tangent` that are identified by value."""


class MutableTangent:
    """The tangent of an object with fields.  A field that the object lacks is absent here too."""

    def __init__(self, /, **fields: Any) -> None:
        if fields:  # without, the interpreter need not make a dictionary
            self.__dict__.update(fields)

    def __repr__(self) -> str:
        # The fields may lead back here.
        shown = {k: f"<{type(v).__name__}>" if _nested(v) else v for k, v in self.__dict__.items()}
        return f"MutableTangent({', '.join(f'{k}={v!s}' for k, v in shown.items())})"


def _nested(value: Any) -> bool:
    return isinstance(value, MutableTangent | list | dict | tuple) and bool(
        value.__dict__ if isinstance(value, MutableTangent) else value
    )


class ListTangent(list[Any]):
    """The tangent of an instance of a subclass of list: its attributes are the tangents of attributes."""


class DictTangent(dict[Any, Any]):
    """The tangent of an instance of a subclass of dict: its attributes are the tangents of attributes."""


class DequeTangent(deque[Any]):
    """The tangent of an instance of a subclass of deque: its attributes are the tangents of attributes."""


class Dual:
    """A primal and its tangent: what a forward rule takes and returns."""

    __slots__ = ("primal", "tangent")

    def __init__(self, primal: Any, tangent: Any) -> None:
        self.primal = primal
        self.tangent = tangent

    def __repr__(self) -> str:
        return f"Dual({self.primal!r}, {self.tangent!r})"


class CoDual:
    """A primal and its fdata: what a reverse rule takes and returns."""

    __slots__ = ("fdata", "primal")

    def __init__(self, primal: Any, fdata: Any) -> None:
        self.primal = primal
        self.fdata = fdata

    def __repr__(self) -> str:
        return f"CoDual({self.primal!r}, {self.fdata!r})"
