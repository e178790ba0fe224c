"""Template strings (from CPython 3.14): an interpolation holds its value, and a template its interpolations.

The other attributes are text.  What is not done by a row here is an attribute, which is read like a field.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from string.templatelib import Interpolation, Template  # type: ignore[import-not-found]  # from 3.14
from typing import Any

from adbc.ir import intrinsics
from adbc.rules.table import NO_KWARGS, Args, Kwargs, Overlay, Primitive, Rule
from adbc.tangents import NO_TANGENT, FData, Tangent, fill_tangent

__all__ = ["ROWS"]


def _interpolation_frule(args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
    out = Interpolation(*args, **kwargs)
    return out, None if dargs[0] is None else Tangent(value=fill_tangent(out.value, dargs[0]))


def _interpolation_rrule(args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> Any:
    out = Interpolation(*args, **kwargs)
    rest = (None,) * (len(args) - 1)

    def interpolation_pullback(bout: Any) -> Sequence[Any]:
        return (None if bout is None else bout.value, *rest)

    return out, None if fargs[0] is None else FData(value=fargs[0]), interpolation_pullback


def _fields(args: Args, derivatives: Sequence[Any]) -> tuple[list[int], list[Any]]:
    """The positions of the arguments of a template that are interpolations, and their derivatives."""
    places = [i for i, x in enumerate(args) if isinstance(x, Interpolation)]
    return places, [derivatives[i] for i in places]


def _template_frule(args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
    out = Template(*args)
    _, parts = _fields(args, dargs)
    if all(d is None for d in parts):
        return out, None
    return out, Tangent(
        strings=NO_TANGENT, interpolations=tuple(map(fill_tangent, out.interpolations, parts))
    )


def _template_rrule(args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> Any:
    out = Template(*args)
    places, parts = _fields(args, fargs)

    def template_pullback(bout: Any) -> Sequence[Any]:
        returned = [None] * len(args)
        if bout is not None and bout.interpolations is not None:
            for i, r in zip(places, bout.interpolations, strict=True):
                returned[i] = r
        return returned

    known = None if all(f is None for f in parts) else FData(strings=None, interpolations=tuple(parts))
    return out, known, template_pullback


def _parts(template: Any) -> list[Any]:
    """What a template gives when it is iterated over: its interpolations and the texts that are not empty."""
    found: list[Any] = []
    for k, text in enumerate(template.strings):
        if text:
            found.append(text)
        if k < len(template.interpolations):
            found.append(template.interpolations[k])
    return found


def _iterate(template: Any) -> Any:
    return iter(_parts(template))


def _add(a: Any, b: Any) -> Any:
    if not isinstance(a, Template) or not isinstance(b, Template):
        raise TypeError(
            f'can only concatenate string.templatelib.Template (not "{type(b).__name__}") to'
            " string.templatelib.Template"
        )
    return Template(*_parts(a), *_parts(b))


def _values(template: Any) -> Any:
    found = []
    for field in template.interpolations:
        found.append(field.value)  # noqa: PERF401  # before 3.12 a comprehension is a function
    return tuple(found)


def _is_template(cls: type, *rest: type) -> bool:
    return cls is Template


ROWS: list[Rule] = [
    Primitive(Interpolation, frule=_interpolation_frule, rrule=_interpolation_rrule),
    Primitive(Template, frule=_template_frule, rrule=_template_rrule),
    Overlay(Template.values, _values),
    Overlay(operator.add, _add, when=_is_template),
    Overlay(intrinsics._iter_, _iterate, when=_is_template),
]
"""The rows of templates and interpolations."""
