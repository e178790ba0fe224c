"""Variables of a context (`contextvars.ContextVar`): objects with one field, which is what is set.

What stands beside a variable belongs to its address, as that of any object; in which of several contexts its
value is set is not told apart, so code that goes into another context is refused where that matters.
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any

from adbc.tangents.objects import FieldKind
from adbc.tangents.protocol import Parts

__all__ = ["FIELD", "VARIABLE", "VariableKind", "value_of"]

FIELD = "value"
"""The field of the tangent that stands beside the value."""

_ABSENT = object()


def value_of(x: ContextVar[Any], absent: Any) -> Any:
    """What is set in the variable `x`; `absent` if nothing is, whatever its default."""
    return x.get(absent)


class VariableKind(FieldKind):
    """Variables of a context."""

    def parts(self, x: Any) -> Parts:
        value = value_of(x, _ABSENT)
        is_ours = str(type(value).__module__).partition(".")[0] == "adbc"
        return [] if value is _ABSENT or is_ours else [(FIELD, value)]

    def primal_shell(self, x: Any) -> Any:
        return ContextVar(x.name)

    def primal_fill(self, y: Any, x: Any, parts: Parts) -> None:
        for _, value in parts:
            y.set(value)


VARIABLE = VariableKind()
