"""Arguments by keyword: whether they decide which rule a call has, and whether the rule looks at them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from adbc.cpython.variables import reads
from adbc.rules.deciding import how_many_decide
from adbc.types.lattice import AbstractType, class_of

__all__ = ["deciding", "drops_keywords"]


def deciding(types: Sequence[AbstractType], keywords: Sequence[str]) -> Sequence[AbstractType]:
    """Those `types` of arguments that decide which row a call has, of which the last are given by `keywords`:
    as many as when it is made."""
    if not keywords:
        return types
    return types[: how_many_decide(list(map(class_of, types)), len(types) - len(keywords))]


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
