"""The rules of records, frozen dataclasses, where their classes are known beforehand."""

from __future__ import annotations

from typing import Any

from adbc.rules.table import Args, Kwargs, Overlay, Primitive, Pullback, Rule
from adbc.tangents import NO_TANGENT, FData, RData, Tangent, fill_tangent
from adbc.tangents.duals import with_fields
from adbc.types.records import made_record, record_field, record_names

__all__ = ["ROWS"]


def _made_frule(args: Args, dargs: Args, kwargs: Kwargs) -> tuple[Any, Any]:
    cls, *values = args
    tangents = dargs[1:]
    out = cls(*values)
    if all(d is None for d in tangents):
        return out, None
    fields = zip(record_names(cls), map(fill_tangent, values, tangents), strict=True)
    return out, with_fields(Tangent, dict(fields))


def _made_rrule(args: Args, fargs: Args, kwargs: Kwargs) -> tuple[Any, Any, Pullback]:
    cls, *values = args
    shadows = fargs[1:]
    out = cls(*values)
    names = record_names(cls)

    def made_pullback(bout: Any) -> Any:
        if bout is None:
            return (None,) * len(args)
        fields = bout.__dict__
        return (None, *map(fields.get, names))

    if all(f is None for f in shadows):
        return out, None, made_pullback
    return out, with_fields(FData, dict(zip(names, shadows, strict=True))), made_pullback


def _field_frule(args: Args, dargs: Args, kwargs: Kwargs) -> tuple[Any, Any]:
    record, name = args
    value, d = getattr(record, name), dargs[0]
    t = None if d is None or d is NO_TANGENT else d.__dict__[name]
    return value, None if t is NO_TANGENT else t


def _field_rrule(args: Args, fargs: Args, kwargs: Kwargs) -> tuple[Any, Any, Pullback]:
    record, name = args
    value, shadow = getattr(record, name), fargs[0]

    def field_pullback(bout: Any) -> Any:
        return (None if bout is None else RData(**{name: bout}), None)

    return value, shadow.__dict__.get(name) if type(shadow) is FData else None, field_pullback


def _with_fields(cls: Any, fields: dict[str, Any]) -> Any:
    return cls(**fields)


ROWS: tuple[Rule, ...] = (
    Primitive(made_record, frule=_made_frule, rrule=_made_rrule, is_fitted=True),
    Primitive(record_field, frule=_field_frule, rrule=_field_rrule, is_fitted=True),
    Overlay(with_fields, _with_fields),  # where a derivative is differentiated
)
