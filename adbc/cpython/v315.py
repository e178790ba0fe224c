"""CPython 3.15: what differs from 3.14.  Data only.

An iterator takes two slots of the stack from here on.  Some iterables are not asked for an iterator
at all: they lie in the first slot themselves, and the second holds the index.  Which of the two it
is cannot be seen by a program, so a graph has the iterator it would have had before, and the second
slot is empty.
"""

from __future__ import annotations

from adbc.cpython import v314

ROWS: dict[str, str] = {
    **{name: row for name, row in v314.ROWS.items() if name not in {"GET_ITER", "GET_YIELD_FROM_ITER"}},
    "POP_ITER": "pop, pop",
    # Two bits for lazy imports, which there are in modules only.
    "IMPORT_NAME": "import_name name>>2",
}

IGNORED: frozenset[str] = v314.IGNORED

FOLDED: frozenset[str] = v314.FOLDED

REFUSED: dict[str, str] = v314.REFUSED

ABSENT: frozenset[str] = v314.ABSENT | {"TRACE_RECORD"}

BY_NUMBER: dict[str, dict[int, str]] = {
    **v314.BY_NUMBER,
    "GET_ITER": {0: "unary iter, null", 3: "unary iter, null"},
}

NUMBERS_REFUSED: dict[str, dict[int, str]] = {**v314.NUMBERS_REFUSED, "GET_ITER": {}}

LOOP_EXIT: tuple[str, ...] = v314.LOOP_EXIT

ENDS_FROM_LAST: bool = v314.ENDS_FROM_LAST

CLOSES_FROM_FIRST: bool = v314.CLOSES_FROM_FIRST

COMMON: tuple[object, ...] = (*v314.COMMON, list, set, None, "", True, False, -1)
"""What LOAD_COMMON_CONSTANT loads, by its argument."""
