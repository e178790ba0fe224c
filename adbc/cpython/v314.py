"""CPython 3.14: what differs from 3.13.  Data only."""

from __future__ import annotations

from adbc.cpython import v313

_GONE = {"BEFORE_WITH", "BINARY_SUBSCR", "BUILD_CONST_KEY_MAP", "LOAD_ASSERTION_ERROR", "RETURN_CONST"}

ROWS: dict[str, str] = {
    **{name: row for name, row in v313.ROWS.items() if name not in _GONE},
    # A borrowed reference means the same value; who owns it does not matter in a graph.
    "LOAD_FAST_BORROW": "load_bound slot",
    "LOAD_FAST_BORROW_LOAD_FAST_BORROW": "load_bound slot>>4, load_bound slot&15",
    "LOAD_SMALL_INT": "const oparg",
    "LOAD_COMMON_CONSTANT": "const common",
    # There is always a slot for the keywords, which may be empty.
    "CALL_FUNCTION_EX": "call_ex_pair",
    "POP_ITER": "pop",
    "BUILD_INTERPOLATION": "interpolation conversion>>2_spec",
    "BUILD_TEMPLATE": "template",
}

IGNORED: frozenset[str] = v313.IGNORED | {"NOT_TAKEN"}

FOLDED: frozenset[str] = v313.FOLDED

REFUSED: dict[str, str] = {
    name: construct for name, construct in v313.REFUSED.items() if name != "BEFORE_ASYNC_WITH"
}

ABSENT: frozenset[str] = (
    v313.ABSENT
    - {
        "INSTRUMENTED_RETURN_CONST",
        "LOAD_METHOD",
        "LOAD_SUPER_METHOD",
        "LOAD_ZERO_SUPER_ATTR",
        "LOAD_ZERO_SUPER_METHOD",
    }
) | {
    "ANNOTATIONS_PLACEHOLDER",
    "INSTRUMENTED_END_ASYNC_FOR",
    "INSTRUMENTED_NOT_TAKEN",
    "INSTRUMENTED_POP_ITER",
    "JUMP_IF_FALSE",
    "JUMP_IF_TRUE",
}

BY_NUMBER: dict[str, dict[int, str]] = {
    **v313.BY_NUMBER,
    "LOAD_SPECIAL": {0: "load_special __enter__", 1: "load_special __exit__"},
}

NUMBERS_REFUSED: dict[str, dict[int, str]] = {
    **v313.NUMBERS_REFUSED,
    "LOAD_SPECIAL": {2: "async", 3: "async"},
}

LOOP_EXIT: tuple[str, ...] = ("END_FOR", "POP_ITER")

ENDS_FROM_LAST: bool = True

CLOSES_FROM_FIRST: bool = False

COMMON: tuple[object, ...] = (AssertionError, NotImplementedError, tuple, all, any)
"""What LOAD_COMMON_CONSTANT loads, by its argument."""
