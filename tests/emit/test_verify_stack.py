"""The verifier refuses code that the interpreter would trust."""

from __future__ import annotations

import sys
import types

import bytecode
import pytest
from bytecode import Instr, Label, TryBegin, TryEnd

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


@pytest.mark.skipif(sys.version_info < (3, 14), reason="loads borrow from 3.14")
@pytest.mark.parametrize(
    ("items", "message"),
    [
        ([Instr("STORE_FAST", "y")], "takes a value borrowed from x"),
        ([Instr("COPY", 1), Instr("POP_TOP"), Instr("POP_TOP")], "copies a value borrowed"),
        ([Instr("LOAD_CONST", 1), Instr("STORE_FAST", "x"), Instr("POP_TOP")], "changes x"),
        ([Instr("DELETE_FAST", "x"), Instr("POP_TOP")], "changes x"),
    ],
)
def test_misuse_of_borrowed_values(items: list[Instr], message: str) -> None:
    end = [Instr("LOAD_CONST", 1), Instr("RETURN_VALUE")]
    refuse(assemble(Instr("LOAD_FAST_BORROW", "x"), *items, *end), message)


@pytest.mark.skipif(sys.version_info < (3, 14), reason="loads borrow from 3.14")
def test_borrowed_value_on_the_stack_at_a_jump() -> None:
    after = Label()
    jump = [Instr("JUMP_FORWARD", after), Instr("NOP"), after]
    code = assemble(Instr("LOAD_FAST_BORROW", "x"), *jump, Instr("RETURN_VALUE"))
    refuse(code, "leaves the block")


@pytest.mark.parametrize("padded", [False, True])
@pytest.mark.parametrize("behind", [False, True])
def test_edge_of_a_region_at_a_call(padded: bool, behind: bool) -> None:
    handler = Label()
    begin = TryBegin(handler, push_lasti=False, stack_depth=0)
    padding = [Instr("NOP")] * padded
    name = "BINARY_OP"  # the same on all versions, and it may call a method written in Python
    multiply = Instr(name, bytecode.BinaryOp.MULTIPLY)
    if behind:
        region = [begin, Instr("LOAD_FAST", "x"), Instr("LOAD_FAST", "x"), TryEnd(begin), *padding, multiply]
    else:
        region = [Instr("LOAD_FAST", "x"), Instr("LOAD_FAST", "x"), begin, *padding, multiply, TryEnd(begin)]
    code = assemble(*region, Instr("RETURN_VALUE"), handler, Instr("RERAISE", 0))
    if sys.version_info >= (3, 13) and not padded:
        refuse(code, "another handler than the code unit in front of it")
    else:
        verify_stack(code)


def test_a_table_of_locations_that_is_too_long() -> None:
    code = compile("x = 1", "<test>", "exec")
    # One more entry: eight code units without a location.
    broken = code.replace(co_linetable=code.co_linetable + bytes([0b1_1111_111]))
    with pytest.raises(VerificationError, match="locations of"):
        verify_stack(broken)
