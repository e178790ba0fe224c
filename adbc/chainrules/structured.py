"""`Tangent`: the tangent of what is made of parts, and how values are taken apart and put together."""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from adbc.chainrules.linear import Linear, Precedence, add
from adbc.chainrules.zeros import ZeroTangent

__all__ = ["Tangent", "move", "parts_of"]

Key = str | int | Any

_HEAP_TYPE = 1 << 9
"""CPython's flag of classes that a class statement has made."""


class Tangent(Linear):
    """The tangent of an object, tuple, named tuple, dict, list or dataclass: a tangent for each part.

    cls: the class of what it is the tangent of.  Parts of an object are given by name, those of a tuple or
    list by position, those of a dict as a dict.  A part that is not given is `ZeroTangent`.  Parts of a
    tuple, list or dict are read as ``t[key]``, fields as ``t.name`` or ``t["name"]``.

    >>> from adbc import chainrules as cr
    >>> t = cr.Tangent(type("Pair", (), {}), re=1.0)
    >>> t.re, t.im
    (1.0, ZeroTangent())
    >>> cr.Tangent(tuple, 1.0, 2.0) + cr.Tangent(tuple, 0.5, cr.ZeroTangent())
    Tangent(tuple, 1.5, 2.0)
    """

    __slots__ = ("_cls", "_parts")
    _precedence = Precedence.STRUCTURED

    def __init__(self, cls: type, /, *items: Any, **fields: Any) -> None:
        parts: dict[Key, Any]
        if issubclass(cls, dict) and len(items) == 1 and not fields and isinstance(items[0], Mapping):
            parts = dict(items[0])
        elif items and fields:
            raise TypeError(f"the tangent of a {cls.__name__} has parts by position or by name, not both")
        elif items and hasattr(cls, "_fields"):
            parts = dict(zip(cls._fields, items, strict=True))
        elif items and not issubclass(cls, tuple | list):
            raise TypeError(f"the tangent of a {cls.__name__} has parts by name")
        else:
            parts = dict(enumerate(items))
            parts.update(fields)
        known = getattr(cls, "_fields", None) or getattr(cls, "__dataclass_fields__", None)
        unknown = [name for name in fields if known and name not in known]
        if unknown:
            raise TypeError(f"a {cls.__name__} has no field {unknown[0]!r}")
        object.__setattr__(self, "_cls", cls)
        object.__setattr__(self, "_parts", parts)

    @classmethod
    def of(cls, primal_class: type, parts: Mapping[Key, Any]) -> Tangent:
        """The tangent with these parts: by name, by number or by the key of a dict."""
        made = object.__new__(cls)
        object.__setattr__(made, "_cls", primal_class)
        object.__setattr__(made, "_parts", dict(parts))
        return made

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"a tangent is not changed: make another one to set {name!r}")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self._parts.get(name, ZeroTangent())

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, int) and not issubclass(self._cls, dict):
            size = len(self._parts)
            fields = getattr(self._cls, "_fields", None)
            if fields is not None:
                return self._parts.get(fields[key], ZeroTangent())
            if self._parts and not -size <= key < size:
                raise IndexError(f"a tangent of {size} parts has no part {key}")
            key = key + size if key < 0 else key
        return self._parts.get(key, ZeroTangent())

    def __iter__(self) -> Iterator[Any]:
        fields = getattr(self._cls, "_fields", None)
        return iter([self._parts.get(k, ZeroTangent()) for k in fields or self._parts])

    def __len__(self) -> int:
        return len(getattr(self._cls, "_fields", None) or self._parts)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tangent):
            return NotImplemented
        return self._cls is other._cls and bool(self._parts == other._parts)

    __hash__ = None  # type: ignore[assignment]  # its parts may be arrays

    def __repr__(self) -> str:
        if issubclass(self._cls, dict):
            inside = [repr(self._parts)]
        else:
            inside = [repr(v) if type(k) is int else f"{k}={v!r}" for k, v in self._parts.items()]
        return f"Tangent({', '.join([self._cls.__name__, *inside])})"

    def __reduce__(self) -> Any:
        return Tangent.of, (self._cls, self._parts)

    def _plus(self, other: Any) -> Any:
        if not isinstance(other, Tangent):
            raise TypeError(f"the tangent of a {self._cls.__name__} and {other!r:.60} have no sum")
        if other._cls is not self._cls:
            raise TypeError(f"tangents of a {self._cls.__name__} and a {other._cls.__name__} have no sum")
        total = dict(self._parts)
        for key, part in other._parts.items():
            total[key] = add(total[key], part) if key in total else part
        return Tangent.of(self._cls, total)

    def _linear(self, function: Callable[[Any], Any]) -> Any:
        return Tangent.of(self._cls, {key: function(part) for key, part in self._parts.items()})

    def conjugate(self) -> Any:
        """The conjugate of each part."""
        return self._linear(lambda v: v.conjugate())


def parts_of(x: Any) -> dict[Key, Any] | None:
    """The parts of a value that may have a tangent each: by name, number or key; None if it has none.

    A function has the values that its closure holds, by the names of the variables.
    """
    cls = type(x)
    if isinstance(x, tuple):
        names = getattr(cls, "_fields", None)
        return dict(zip(names, x, strict=True)) if names else dict(enumerate(x))
    if isinstance(x, list):
        return dict(enumerate(x))
    if isinstance(x, dict):
        return dict(x)
    if cls is types.FunctionType:
        return _cells(x)
    if cls.__flags__ & _HEAP_TYPE and not isinstance(x, type | Linear) and hasattr(x, "__dict__"):
        return {**_slots(x), **vars(x)}
    return _slots(x) or None


def _cells(function: types.FunctionType) -> dict[Key, Any] | None:
    found: dict[Key, Any] = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            found[name] = cell.cell_contents
        except ValueError:  # not assigned yet
            continue
    return found or None


def _slots(x: Any) -> dict[Key, Any]:
    found = {}
    for base in type(x).__mro__:
        if base.__flags__ & _HEAP_TYPE:
            declared = base.__dict__.get("__slots__", ())
            for name in (declared,) if isinstance(declared, str) else tuple(declared):
                if not name.startswith("__") and hasattr(x, name):
                    found[name] = getattr(x, name)
    return found


def move(x: Any, t: Any) -> Any:
    """The value at ``x + t``: of the class of `x`, its parts moved by those of the tangent `t`.

    >>> from adbc import chainrules as cr
    >>> from adbc.chainrules.structured import move
    >>> move((1.0, 2), cr.Tangent(tuple, 0.5, cr.NoTangent()))
    (1.5, 2)
    """
    parts = parts_of(x) if isinstance(t, Tangent) else None
    if parts is None:
        return add(x, t)
    moved = {key: move(part, t[key]) for key, part in parts.items()}
    cls = type(x)
    if isinstance(x, tuple):
        return cls(*moved.values()) if hasattr(cls, "_fields") else cls(moved.values())
    if isinstance(x, list):
        return cls(moved.values())
    if isinstance(x, dict):
        return cls(moved)
    if cls is types.FunctionType:
        cells = tuple(
            types.CellType(moved[name]) if name in moved else cell
            for name, cell in zip(x.__code__.co_freevars, x.__closure__ or (), strict=True)
        )
        made = types.FunctionType(x.__code__, x.__globals__, x.__name__, x.__defaults__, cells)
        made.__kwdefaults__ = x.__kwdefaults__
        return made
    instance: Any = object.__new__(cls)
    for name, value in moved.items():
        object.__setattr__(instance, str(name), value)
    return instance
