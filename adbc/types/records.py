"""Functions that stand for what is done with records, frozen dataclasses, where their classes are known."""

from __future__ import annotations

import dataclasses
from typing import Any

from adbc.errors import UnsupportedError

__all__ = ["FACTORY", "made_record", "record_field", "unhidden"]

FACTORY = dataclasses._HAS_DEFAULT_FACTORY  # type: ignore[attr-defined]  # the only name it has
"""What the generated constructor of a dataclass is given for a field that its factory shall make."""


def made_record(cls: type, /, *values: Any) -> Any:
    """``cls(*values)``, of a class whose generated constructor keeps `values` as its fields."""
    return cls(*values)


def record_field(record: Any, name: str) -> Any:
    """``record.name``, which is a field."""
    return getattr(record, name)


def unhidden(record: Any, name: str) -> None:
    """Refuse `record` if it has an attribute that hides what its class has as `name`."""
    if name in record.__dict__:
        raise UnsupportedError(
            f"attribute {name!r} of a {type(record).__name__}, a frozen dataclass, was set",
            "an object of this class is a value of its fields",
            "give the class this attribute as a field, or make the dataclass mutable",
        )
