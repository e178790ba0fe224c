"""The verifier refuses code that the interpreter would trust."""

from __future__ import annotations

import sys
import types

import bytecode
import pytest
from bytecode import Instr, Label

from adbc.emit.verify_stack import verify_stack
from adbc.errors import VerificationError


def assemble(*items: object, size: int = 8) -> types.CodeType:
    body = bytecode.Bytecode([Instr("RESUME", 0), *items])
    body.argcount, body.argnames = 1, ["x", "y"]
    body.flags = bytecode.CompilerFlags(3)
    return body.to_code(stacksize=size, compute_exception_stack_depths=False)


JUMP_IF_FALSE = "POP_JUMP_IF_FALSE" if sys.version_info >= (3, 12) else "POP_JUMP_FORWARD_IF_FALSE"


def refuse(code: types.CodeType, message: str) -> None:
    with pytest.raises(VerificationError, match=message):
        verify_stack(code)


def test_good_code_passes() -> None:
    verify_stack(assemble(Instr("LOAD_FAST", "x"), Instr("RETURN_VALUE")))


def test_underflow() -> None:
    refuse(assemble(Instr("LOAD_FAST", "x"), Instr("POP_TOP"), Instr("RETURN_VALUE")), "needs 1 values")


def test_stack_size() -> None:
    pushes = [Instr("LOAD_FAST", "x")] * 3
    refuse(assemble(*pushes, Instr("BUILD_TUPLE", 3), Instr("RETURN_VALUE"), size=2), "co_stacksize is 2")


def test_unassigned_local() -> None:
    refuse(assemble(Instr("LOAD_FAST", "y"), Instr("RETURN_VALUE")), "y may be unassigned")


def test_local_assigned_on_one_path() -> None:
    after = Label()
    code = assemble(
        Instr("LOAD_FAST", "x"),
        Instr(JUMP_IF_FALSE, after),
        Instr("LOAD_CONST", 1),
        Instr("STORE_FAST", "y"),
        after,
        Instr("LOAD_FAST", "y"),
        Instr("RETURN_VALUE"),
    )
    refuse(code, "y may be unassigned")


def test_join_of_different_heights() -> None:
    after = Label()
    code = assemble(
        Instr("LOAD_FAST", "x"),
        Instr(JUMP_IF_FALSE, after),
        Instr("LOAD_CONST", 1),
        after,
        Instr("LOAD_FAST", "x"),
        Instr("RETURN_VALUE"),
    )
    refuse(code, "is reached with the stacks")


def test_something_left_at_return() -> None:
    refuse(assemble(Instr("LOAD_FAST", "x"), Instr("LOAD_FAST", "x"), Instr("RETURN_VALUE")), "leaves")


def test_null_used_as_an_object() -> None:
    refuse(assemble(Instr("PUSH_NULL"), Instr("RETURN_VALUE")), "takes a NULL for an object")


def test_call_without_its_pair() -> None:
    before = [] if sys.version_info >= (3, 12) else [Instr("PRECALL", 0)]
    code = assemble(
        Instr("LOAD_FAST", "x"), Instr("LOAD_FAST", "x"), *before, Instr("CALL", 0), Instr("RETURN_VALUE")
    )
    refuse(code, "as receiver")


def test_running_off_the_end() -> None:
    refuse(assemble(Instr("LOAD_FAST", "x"), Instr("POP_TOP")), "runs off the end")


def test_loop_exit_that_would_be_skipped() -> None:
    head, done = Label(), Label()
    code = assemble(
        Instr("LOAD_FAST", "x"),
        Instr("GET_ITER"),
        head,
        Instr("FOR_ITER", done),
        Instr("POP_TOP"),
        Instr("JUMP_BACKWARD", head),
        done,
        Instr("LOAD_FAST", "x"),
        Instr("RETURN_VALUE"),
    )
    if sys.version_info >= (3, 12):
        refuse(code, "leaves the loop to")
    else:
        verify_stack(code)  # 3.11 skips nothing
