"""Functions that stand for what is done with records, frozen dataclasses, where their classes are known."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from adbc.errors import UnsupportedError
from adbc.ir.values import Const, Value
from adbc.tangents.protocol import kind_of
from adbc.types.lattice import ANY, AbstractType, RecordType, record_type

__all__ = [
    "FACTORY",
    "MAKERS",
    "field_type",
    "made_fields",
    "made_object",
    "made_record",
    "made_type",
    "making",
    "object_type",
    "record_field",
    "record_names",
    "unhidden",
]

FACTORY = dataclasses._HAS_DEFAULT_FACTORY  # type: ignore[attr-defined]  # the only name it has
"""What the generated constructor of a dataclass is given for a field that its factory shall make."""


def made_record(cls: type, /, *values: Any) -> Any:
    """``cls(*values)``, of a class whose generated constructor keeps `values` as its fields."""
    return cls(*values)


def made_object(cls: type, names: tuple[str, ...], /, *values: Any) -> Any:
    """A new instance of an ordinary class, with `values` in its attributes `names`: what graphs have in its
    place for as long as it is not known who sees it."""
    made: Any = object.__new__(cls)
    for name, value in zip(names, values, strict=True):
        object.__setattr__(made, name, value)
    return made


MAKERS = (made_record, made_object)
"""What makes a value with fields, of a class and the fields."""


def made_fields(operands: Sequence[Any]) -> Iterator[tuple[str, Value]]:
    """The names of fields and their values, of a call of one of `MAKERS` with these operands."""
    cls, *values = operands[1:]
    if operands[0].value is made_object:
        names, *values = values
        return zip(names.value, values, strict=True)
    return zip(record_names(cls.value), values, strict=True)


def making(cls: type, fields: Mapping[str, Value]) -> list[Value]:
    """The operands of the call that makes an instance of `cls` of these fields."""
    if issubclass(cls, tuple) or getattr(kind_of(cls), "names", None) is not None:
        return [Const(made_record), Const(cls), *fields.values()]
    return [Const(made_object), Const(cls), Const(tuple(fields)), *fields.values()]


def record_field(record: Any, name: str) -> Any:
    """``record.name``, which is a field."""
    return getattr(record, name)


def record_names(cls: Any) -> tuple[str, ...]:
    """The names of the fields of `cls`, a frozen dataclass or named tuple."""
    return cls._fields if issubclass(cls, tuple) else kind_of(cls).names  # type: ignore[attr-defined,no-any-return]


def unhidden(record: Any, name: str) -> None:
    """Refuse `record` if it has an attribute that hides what its class has as `name`."""
    if name in record.__dict__:
        raise UnsupportedError(
            f"attribute {name!r} of a {type(record).__name__} was set, of which the class has a method",
            "an object of this class is a value of what it was made of, and of nothing else",
            "give the attribute another name, or make the class an ordinary one",
        )


def made_type(values: Sequence[Value], types_: Sequence[AbstractType]) -> AbstractType | None:
    """The type of ``made_record(*values)``, where the values have these types."""
    cls = values[0].value if isinstance(values[0], Const) else None
    if not isinstance(cls, type):
        return None
    return record_type(cls, list(zip(record_names(cls), types_[1:], strict=True)))


def object_type(values: Sequence[Value], types_: Sequence[AbstractType]) -> AbstractType | None:
    """The type of ``made_object(*values)``, where the values have these types."""
    cls, names = (value.value if isinstance(value, Const) else None for value in values[:2])
    if not isinstance(cls, type) or not isinstance(names, tuple):
        return None
    return record_type(cls, list(zip(names, types_[2:], strict=True)))


def field_type(values: Sequence[Value], types_: Sequence[AbstractType]) -> AbstractType:
    """The type of ``record_field(*values)``, where the values have these types."""
    known, name = types_[0], values[1]
    if isinstance(known, RecordType) and isinstance(name, Const):
        return dict(known.fields).get(str(name.value), ANY)
    return ANY
