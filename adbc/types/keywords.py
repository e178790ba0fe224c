"""Whether the rule of a call knows the arguments that are given to it by keyword."""

from __future__ import annotations

from typing import Any

from adbc.cpython.variables import reads

__all__ = ["drops_keywords"]


def drops_keywords(row: Any) -> bool:
    """Whether a rule of `row` that was written by hand never looks at what is left by keyword: a call with
    such keywords would be made without them, and is refused."""
    if row.drops_keywords is None:
        row.drops_keywords = not all(map(_reads_keywords, row.by_hand))
    return bool(row.drops_keywords)


def _reads_keywords(rule: Any) -> bool:
    """Whether `rule` reads its third parameter; what is no plain function, or takes any number of arguments,
    is taken to."""
    code = getattr(rule, "__code__", None)
    return code is None or code.co_argcount < 3 or reads(code, code.co_varnames[2])
