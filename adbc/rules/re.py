"""`re`: substitution by what a function gives, in Python, so that the function is followed.

Between the matches the text is as it was, and the function is asked for each match, in their order.
"""

from __future__ import annotations

import re
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any

from adbc.rules.table import Overlay, Rule

__all__ = ["ROWS"]

_FUNCTIONS = (FunctionType, MethodType, BuiltinFunctionType)


def _by_function(cls: type, *given: type) -> bool:
    """Whether the first argument behind the pattern is a function."""
    return bool(given) and given[0] in _FUNCTIONS


def _substituted(pattern: Any, function: Any, text: Any, limit: Any) -> Any:
    parts, end, count = [], 0, 0
    for match in pattern.finditer(text):
        if limit > 0 and count == limit:
            break
        start, after = match.span()
        parts.append(text[end:start])
        found = function(match)
        if found is not None:
            parts.append(found)
        end = after
        count += 1  # what is differentiated had better be simple
    parts.append(text[end:])
    return text[:0].join(parts), count


def _sub(pattern: Any, repl: Any, string: Any, count: Any = 0) -> Any:
    return _substituted(pattern, repl, string, count)[0]


def _subn(pattern: Any, repl: Any, string: Any, count: Any = 0) -> Any:
    return _substituted(pattern, repl, string, count)


ROWS: list[Rule] = [
    Overlay(re.Pattern.sub, _sub, only_active=True, when=_by_function),
    Overlay(re.Pattern.subn, _subn, only_active=True, when=_by_function),
]
