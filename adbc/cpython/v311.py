"""CPython 3.11: what each opcode means.  Data only; `decode` says how rows are read.

A row is a list of steps, separated by commas: the name of a canonical instruction, then its
argument: a field of `decode.FIELDS` (cut out of the opcode's argument), a number or a word.
``if 1`` after a step means: only if that bit of the argument is set.
"""

from __future__ import annotations

ROWS: dict[str, str] = {
    # the stack
    "LOAD_CONST": "const const",
    "LOAD_ASSERTION_ERROR": "const assertion_error",
    "LOAD_BUILD_CLASS": "const build_class",
    "PUSH_NULL": "null",
    "POP_TOP": "pop",
    "COPY": "copy oparg",
    "SWAP": "swap oparg",
    # locals and cells
    "LOAD_FAST": "load slot",
    "STORE_FAST": "store slot",
    "DELETE_FAST": "delete slot",
    "MAKE_CELL": "make_cell slot",
    "LOAD_CLOSURE": "load_bound slot",
    "LOAD_DEREF": "load_deref slot",
    "STORE_DEREF": "store_deref slot",
    "DELETE_DEREF": "delete_deref slot",
    # globals, attributes, imports.  A method load is an attribute load and an empty receiver.
    "LOAD_GLOBAL": "null if 1, global name>>1",
    "STORE_GLOBAL": "store_global name",
    "DELETE_GLOBAL": "delete_global name",
    "LOAD_ATTR": "attribute name",
    "LOAD_METHOD": "attribute name, null",
    "STORE_ATTR": "store_attribute name",
    "DELETE_ATTR": "delete_attribute name",
    "IMPORT_NAME": "import_name name",
    "IMPORT_FROM": "import_from name",
    # the body of a class, whose names stand in a mapping
    "LOAD_NAME": "load_name name",
    "STORE_NAME": "store_name name",
    "DELETE_NAME": "delete_name name",
    "LOAD_CLASSDEREF": "namespace, class_deref slot",
    "SETUP_ANNOTATIONS": "setup_annotations",
    # calls and functions
    "CALL": "call oparg",
    "CALL_FUNCTION_EX": "call_ex oparg",
    "MAKE_FUNCTION": "make_function parts",
    # operators
    "BINARY_OP": "binary operator",
    "BINARY_SUBSCR": "binary getitem",
    "UNARY_NEGATIVE": "unary neg",
    "UNARY_POSITIVE": "unary pos",
    "UNARY_INVERT": "unary invert",
    "UNARY_NOT": "unary not",
    "COMPARE_OP": "binary comparison",
    "IS_OP": "binary is?",
    "CONTAINS_OP": "contains oparg",
    "STORE_SUBSCR": "store_subscript",
    "DELETE_SUBSCR": "delete_subscript",
    # containers and strings
    "BUILD_TUPLE": "build_tuple oparg",
    "BUILD_LIST": "build_list oparg",
    "BUILD_SET": "build_set oparg",
    "BUILD_MAP": "build_map oparg",
    "BUILD_CONST_KEY_MAP": "build_const_key_map oparg",
    "BUILD_SLICE": "build_slice oparg",
    "BUILD_STRING": "build_string oparg",
    "LIST_APPEND": "list_append oparg",
    "LIST_EXTEND": "list_extend oparg",
    "LIST_TO_TUPLE": "unary list_to_tuple",
    "SET_ADD": "set_add oparg",
    "SET_UPDATE": "set_update oparg",
    "MAP_ADD": "map_add oparg",
    "DICT_UPDATE": "dict_update oparg",
    "DICT_MERGE": "dict_merge oparg",
    "UNPACK_SEQUENCE": "unpack oparg",
    "UNPACK_EX": "unpack_ex before_after",
    "FORMAT_VALUE": "format conversion_spec",
    # control.  Up to 3.12 conditional jumps test truth themselves.
    "GET_ITER": "unary iter",
    "FOR_ITER": "for_iter target",
    "JUMP_FORWARD": "jump target",
    "JUMP_BACKWARD": "jump target",
    "JUMP_BACKWARD_NO_INTERRUPT": "jump target",
    "POP_JUMP_FORWARD_IF_TRUE": "unary bool, branch_true target",
    "POP_JUMP_BACKWARD_IF_TRUE": "unary bool, branch_true target",
    "POP_JUMP_FORWARD_IF_FALSE": "unary bool, branch_false target",
    "POP_JUMP_BACKWARD_IF_FALSE": "unary bool, branch_false target",
    "POP_JUMP_FORWARD_IF_NONE": "const none, binary is, branch_true target",
    "POP_JUMP_BACKWARD_IF_NONE": "const none, binary is, branch_true target",
    "POP_JUMP_FORWARD_IF_NOT_NONE": "const none, binary is_not, branch_true target",
    "POP_JUMP_BACKWARD_IF_NOT_NONE": "const none, binary is_not, branch_true target",
    "JUMP_IF_TRUE_OR_POP": "copy 1, unary bool, branch_true target, pop",
    "JUMP_IF_FALSE_OR_POP": "copy 1, unary bool, branch_false target, pop",
    "RETURN_VALUE": "return",
    "RAISE_VARARGS": "raise oparg",
    # exceptions
    "PUSH_EXC_INFO": "push_exc_info",
    "POP_EXCEPT": "pop_except",
    "RERAISE": "reraise oparg",
    "CHECK_EXC_MATCH": "check_exc_match",
    "CHECK_EG_MATCH": "check_eg_match",
    "PREP_RERAISE_STAR": "prep_reraise_star",
    "BEFORE_WITH": "before_with",
    "WITH_EXCEPT_START": "with_except_start",
    # generators: calling one makes it; what is pushed when it starts is popped at once
    "RETURN_GENERATOR": "const none",
    "YIELD_VALUE": "yield_value",
    "GET_YIELD_FROM_ITER": "unary iter",
    "SEND": "send target",
    # patterns
    "GET_LEN": "get_len",
    "MATCH_CLASS": "match_class oparg",
    "MATCH_KEYS": "match_keys",
    "MATCH_MAPPING": "match_test match_mapping",
    "MATCH_SEQUENCE": "match_test match_sequence",
}

IGNORED: frozenset[str] = frozenset({"CACHE", "COPY_FREE_VARS", "EXTENDED_ARG", "NOP", "PRECALL", "RESUME"})
"""Opcodes that have no effect on values."""

FOLDED: frozenset[str] = frozenset({"KW_NAMES"})
"""Opcodes that are read together with the instruction that follows."""

REFUSED: dict[str, str] = {
    "ASYNC_GEN_WRAP": "async",
    "BEFORE_ASYNC_WITH": "async",
    "END_ASYNC_FOR": "async",
    "GET_AITER": "async",
    "GET_ANEXT": "async",
    "GET_AWAITABLE": "async",
    "IMPORT_STAR": "import star",
    "PRINT_EXPR": "module",
}
"""Opcodes that are refused, each with its construct (a key of `refusals.CONSTRUCTS`)."""

ABSENT: frozenset[str] = frozenset()
"""Opcodes that are in the interpreter's opcode map, but never in a code object."""

BY_NUMBER: dict[str, dict[int, str]] = {}
"""Opcodes whose argument selects the row; an argument that is not here is refused."""

NUMBERS_REFUSED: dict[str, dict[int, str]] = {}
"""Opcodes whose argument selects the construct that is refused."""

LOOP_EXIT: tuple[str, ...] = ()
"""The instructions at the exit of a loop that stand for popping the iterator."""

ENDS_FROM_LAST: bool = False
"""Whether a frame that ends lets go of its last variable first."""

CLOSES_FROM_FIRST: bool = False
"""Whether a generator that is closed where nothing catches lets go of its variables and then of its stack
from the bottom, instead of raising, which begins at the top of the stack."""
