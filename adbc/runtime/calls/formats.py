"""What C code of the standard library writes numbers by: lines of a CSV file, and JSON.

That makes text, which may be printed, and from which no number is read again (`texts`).
"""

from __future__ import annotations

import io
import types
from _csv import writer
from _json import make_encoder
from typing import Any

from adbc.rules.lookup import RuleTable
from adbc.rules.table import TextRule
from adbc.runtime.calls.contained import text_in_c
from adbc.runtime.calls.steps import Call, Delegate, Protocols, Step, UseTextRow
from adbc.runtime.state.texts import behind, is_told

__all__ = ["ENCODER", "PROTOCOLS", "WRITERS", "encoded"]

_WRITER: Any = type(writer(io.StringIO()))
WRITERS: frozenset[Any] = frozenset({_WRITER.writerow, _WRITER.writerows})
"""The methods of objects in C that write values, as text, to what these objects were made with."""

ENCODER: Any = make_encoder
"""The class of what ``json.dumps`` calls."""

_ATOMS = frozenset({int, float, bool, str, types.NoneType})


def _is_plain(value: Any) -> bool:
    """Whether all that is in `value` is written in C: anything else is handed to code in Python."""
    pending, seen = [value], set()
    while pending:
        x = pending.pop()
        cls = type(x)
        if cls in _ATOMS or id(x) in seen:
            continue
        seen.add(id(x))
        if cls is dict:
            pending += (*x.keys(), *x.values())
        elif cls is list or cls is tuple:
            pending.extend(x)
        elif not (issubclass(cls, float) and cls.__module__ == "numpy"):
            return False
    return True


def written_to(write: Any, writer: Any, values: Any, /) -> Any:
    """``write(writer, values)`` of values that an iterator gives."""
    return write(writer, [*values])


def _written(call: Call, table: RuleTable) -> Step | None:
    """``writer.writerow(values)``, and ``writerows``."""
    if len(call.args) != 2 or call.keywords or any(map(is_told, behind(call.args[0]))):
        return None
    cls = type(call.args[1])
    if cls is list or cls is tuple or not (hasattr(cls, "__iter__") or hasattr(cls, "__getitem__")):
        return text_in_c(call)  # which says what is wrong with what cannot be iterated over
    return Delegate(call.prepend(written_to, None, call.function, None, None))


def encoded(call: Call, table: RuleTable) -> Step | None:
    """The call of an encoder of JSON, which gives the parts of a text."""
    if len(call.args) != 2 or call.keywords or not _is_plain(call.args[0]):
        return None
    return UseTextRow(TextRule(call.function), call.of(call.function))


PROTOCOLS: Protocols = dict.fromkeys(WRITERS, _written)
"""What methods that write values lead to."""
