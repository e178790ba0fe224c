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
    if len(call.args) != 2 or call.keywords:
        return None
    if _is_plain(call.args[0]):
        return UseTextRow(TextRule(call.function), call.of(call.function))
    if not _is_prepared_for(call.args[0]):
        return None
    return Delegate(call.prepend(encoded_as_prepared, None, call.function, None, None))


def encoded_as_prepared(encoder: Any, value: Any, level: int, /) -> Any:
    """``encoder(value, level)`` where there are objects in `value` that JSON has no form for: what stands for
    them is asked of code in Python, which is followed, and then encoded by C code alone."""
    return encoder(prepared(value, encoder.default), level)


def prepared(value: Any, default: Any, /) -> Any:
    """`value` with what `default` gives in the place of all that is neither a container nor written as it
    is."""
    cls = type(value)
    if cls is dict:
        return {key: prepared(part, default) for key, part in value.items()}
    if cls is list or cls is tuple:
        return [prepared(part, default) for part in value]
    if issubclass(cls, _WRITTEN):
        return value
    return prepared(default(value), default)


_WRITTEN = (str, int, float, types.NoneType, list, tuple, dict)
"""Classes whose instances, derived ones too, an encoder writes without asking."""


def _is_prepared_for(value: Any) -> bool:
    """Whether all that is in `value` is written in C, but for objects that an encoder asks about, and no
    container is met twice, which may be in itself."""
    pending, seen = [value], set()
    while pending:
        x = pending.pop()
        cls = type(x)
        if cls in _ATOMS:
            continue
        if cls is dict or cls is list or cls is tuple:
            if id(x) in seen:
                return False
            seen.add(id(x))
            if cls is dict and not _ATOMS.issuperset(map(type, x)):
                return False
            pending.extend(x.values() if cls is dict else x)
        elif issubclass(cls, _WRITTEN) and cls.__module__ != "numpy":
            return False
    return True


PROTOCOLS: Protocols = dict.fromkeys(WRITERS, _written)
"""What methods that write values lead to."""
