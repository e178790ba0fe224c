"""CPython 3.12: what differs from 3.11.  Data only."""

from __future__ import annotations

from adbc.cpython import v311

_GONE = {
    "LIST_TO_TUPLE",
    "LOAD_CLASSDEREF",
    "PREP_RERAISE_STAR",
    "LOAD_METHOD",
    "JUMP_IF_FALSE_OR_POP",
    "JUMP_IF_TRUE_OR_POP",
    "POP_JUMP_BACKWARD_IF_FALSE",
    "POP_JUMP_BACKWARD_IF_NONE",
    "POP_JUMP_BACKWARD_IF_NOT_NONE",
    "POP_JUMP_BACKWARD_IF_TRUE",
    "POP_JUMP_FORWARD_IF_FALSE",
    "POP_JUMP_FORWARD_IF_NONE",
    "POP_JUMP_FORWARD_IF_NOT_NONE",
    "POP_JUMP_FORWARD_IF_TRUE",
    "UNARY_POSITIVE",
}

ROWS: dict[str, str] = {
    **{name: row for name, row in v311.ROWS.items() if name not in _GONE},
    # A plain load is known to be bound from now on.
    "LOAD_FAST": "load_bound slot",
    "LOAD_FAST_CHECK": "load slot",
    "LOAD_FAST_AND_CLEAR": "load_and_clear slot",
    "LOAD_ATTR": "attribute name>>1, null if 1",
    # Where types are named in a class: in the functions that evaluate annotations, bounds and aliases.
    "LOAD_FROM_DICT_OR_GLOBALS": "class_global name",
    "LOAD_FROM_DICT_OR_DEREF": "class_deref slot",
    "LOAD_LOCALS": "namespace",
    "LOAD_SUPER_ATTR": "super, attribute name>>2, null if 1",
    "COMPARE_OP": "binary comparison>>4",
    "BINARY_SLICE": "build_slice 2, binary getitem",
    "STORE_SLICE": "build_slice 2, store_subscript",
    "POP_JUMP_IF_TRUE": "unary bool, branch_true target",
    "POP_JUMP_IF_FALSE": "unary bool, branch_false target",
    "POP_JUMP_IF_NONE": "const none, binary is, branch_true target",
    "POP_JUMP_IF_NOT_NONE": "const none, binary is_not, branch_true target",
    "RETURN_CONST": "const const, return",
    "END_FOR": "pop, pop",
    "SEND": "send_pair target",
    "END_SEND": "end_send",
    "CLEANUP_THROW": "cleanup_throw",
}

IGNORED = v311.IGNORED - {"PRECALL"}

FOLDED = v311.FOLDED

REFUSED: dict[str, str] = {
    **{
        name: construct
        for name, construct in v311.REFUSED.items()
        if name not in {"ASYNC_GEN_WRAP", "IMPORT_STAR", "PRINT_EXPR"}
    },
    "RESERVED": "internal",
}

_PSEUDO = {
    "JUMP",
    "JUMP_NO_INTERRUPT",
    "LOAD_METHOD",
    "LOAD_SUPER_METHOD",
    "LOAD_ZERO_SUPER_ATTR",
    "LOAD_ZERO_SUPER_METHOD",
    "POP_BLOCK",
    "SETUP_CLEANUP",
    "SETUP_FINALLY",
    "SETUP_WITH",
    "STORE_FAST_MAYBE_NULL",
}

_INSTRUMENTED = {
    "INSTRUMENTED_CALL",
    "INSTRUMENTED_CALL_FUNCTION_EX",
    "INSTRUMENTED_END_FOR",
    "INSTRUMENTED_END_SEND",
    "INSTRUMENTED_FOR_ITER",
    "INSTRUMENTED_INSTRUCTION",
    "INSTRUMENTED_JUMP_BACKWARD",
    "INSTRUMENTED_JUMP_FORWARD",
    "INSTRUMENTED_LINE",
    "INSTRUMENTED_LOAD_SUPER_ATTR",
    "INSTRUMENTED_POP_JUMP_IF_FALSE",
    "INSTRUMENTED_POP_JUMP_IF_NONE",
    "INSTRUMENTED_POP_JUMP_IF_NOT_NONE",
    "INSTRUMENTED_POP_JUMP_IF_TRUE",
    "INSTRUMENTED_RESUME",
    "INSTRUMENTED_RETURN_CONST",
    "INSTRUMENTED_RETURN_VALUE",
    "INSTRUMENTED_YIELD_VALUE",
}

ABSENT: frozenset[str] = frozenset({"INTERPRETER_EXIT"} | _PSEUDO | _INSTRUMENTED)

BY_NUMBER: dict[str, dict[int, str]] = {
    "CALL_INTRINSIC_1": {
        5: "unary pos",
        6: "unary list_to_tuple",
        **dict.fromkeys(range(7, 12), "intrinsic_1 oparg"),
    },
    "CALL_INTRINSIC_2": {1: "prep_reraise_star", **dict.fromkeys(range(2, 6), "intrinsic_2 oparg")},
}

NUMBERS_REFUSED: dict[str, dict[int, str]] = {
    "CALL_INTRINSIC_1": {
        0: "internal",
        1: "module",
        2: "import star",
        3: "generator",
        4: "async",
    },
    "CALL_INTRINSIC_2": {0: "internal"},
}

LOOP_EXIT: tuple[str, ...] = ("END_FOR",)

ENDS_FROM_LAST: bool = v311.ENDS_FROM_LAST

CLOSES_FROM_FIRST: bool = v311.CLOSES_FROM_FIRST
