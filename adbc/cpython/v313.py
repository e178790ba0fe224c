"""CPython 3.13: what differs from 3.12.  Data only."""

from __future__ import annotations

from adbc.cpython import v312

_GONE = {"FORMAT_VALUE", "LOAD_CLOSURE"}

ROWS: dict[str, str] = {
    **{name: row for name, row in v312.ROWS.items() if name not in _GONE},
    # The empty receiver stands behind the callable from now on.
    "LOAD_GLOBAL": "global name>>1, null if 1",
    "LOAD_FAST_LOAD_FAST": "load_bound slot>>4, load_bound slot&15",
    "STORE_FAST_LOAD_FAST": "store slot>>4, load_bound slot&15",
    "STORE_FAST_STORE_FAST": "store slot>>4, store slot&15",
    "CALL_KW": "call_kw oparg",
    "MAKE_FUNCTION": "make_function none",
    # Truth is tested by an instruction of its own, or by a bit of the comparison.
    "TO_BOOL": "unary bool",
    "COMPARE_OP": "binary comparison>>5, unary bool if 16",
    "POP_JUMP_IF_TRUE": "branch_true target",
    "POP_JUMP_IF_FALSE": "branch_false target",
    "CONVERT_VALUE": "convert oparg",
    "FORMAT_SIMPLE": "format simple",
    "FORMAT_WITH_SPEC": "format with_spec",
    "END_FOR": "pop",
}

IGNORED = v312.IGNORED

FOLDED: frozenset[str] = frozenset({"SET_FUNCTION_ATTRIBUTE"})

REFUSED = v312.REFUSED

ABSENT: frozenset[str] = v312.ABSENT | {
    "ENTER_EXECUTOR",
    "EXIT_INIT_CHECK",
    "INSTRUMENTED_CALL_KW",
    "LOAD_CLOSURE",
}

BY_NUMBER = v312.BY_NUMBER

NUMBERS_REFUSED = v312.NUMBERS_REFUSED

LOOP_EXIT: tuple[str, ...] = ("END_FOR", "POP_TOP")

ENDS_FROM_LAST: bool = v312.ENDS_FROM_LAST

CLOSES_FROM_FIRST: bool = True
