"""Checking emitted code objects: the interpreter trusts bytecode blindly, so nobody else will.

An abstract run over all paths.  A state is the stack, as a tuple of kinds, and the set of local
variables that surely hold a value.  Checked at every instruction:

* the stack is as high as the instruction needs, and never higher than ``co_stacksize``;
* where paths meet, the stack has the same height and no NULL meets an object;
* NULL is only ever used where a call wants "NULL or receiver", and calls get such a pair;
* a plain load of a local (or of a cell variable) finds it assigned on every path;
* what is borrowed from a local is consumed in the same block, before the local changes, by an
  instruction that does not keep it;
* an exhausted loop jumps to exactly the instructions that the interpreter skips;
* exception handlers find at least the stack that the table promises them;
* from 3.13, what enters Python code has the same handler as the code unit in front of it, which is where
  the interpreter looks for it;
* control never runs off the end, and a function returns with nothing but its result;
* the table of locations covers the code and no more.

It knows the instructions that `assembler` writes and refuses all others.
"""

from __future__ import annotations

import bisect
import dataclasses
import dis
import sys
import types
from typing import Any

from adbc.emit.assembler import ENTERS
from adbc.errors import VerificationError

__all__ = ["verify_stack"]

VERSION = sys.version_info[:2]

OBJECT, NULL, PAIR, INDEX = "object", "NULL", "NULL or receiver", "NULL or index"
BORROWED = "value borrowed from "
"""What comes before the name of the variable."""

CONSUMERS = frozenset(
    {
        "POP_TOP", "LIST_APPEND", "BINARY_OP", "COMPARE_OP", "IS_OP", "CONTAINS_OP", "UNARY_NEGATIVE",
        "UNARY_INVERT",
        "UNARY_NOT", "TO_BOOL", "STORE_SUBSCR", "DELETE_SUBSCR", "BINARY_SLICE", "STORE_SLICE",
        "STORE_ATTR", "DELETE_ATTR", "LOAD_ATTR", "CALL", "CALL_KW", "BUILD_TUPLE", "BUILD_LIST",
        "BUILD_SET", "BUILD_STRING", "BUILD_SLICE", "BUILD_MAP", "UNPACK_SEQUENCE", "RETURN_VALUE",
        "POP_JUMP_IF_TRUE", "POP_JUMP_IF_FALSE", "POP_JUMP_IF_NONE", "POP_JUMP_IF_NOT_NONE",
    }
)  # fmt: skip
"""What may take a borrowed value from the stack: instructions that are done with it when they end."""

Kind = str
Stack = tuple[Kind, ...]

# name -> (pops, pushes), both of objects
FIXED: dict[str, tuple[int, int]] = {
    "NOP": (0, 0),
    "RESUME": (0, 0),
    "PRECALL": (0, 0),
    "KW_NAMES": (0, 0),
    "NOT_TAKEN": (0, 0),
    "COPY_FREE_VARS": (0, 0),
    "LOAD_CONST": (0, 1),
    "LOAD_DEREF": (0, 1),
    "LOAD_CLOSURE": (0, 1),
    "LOAD_FROM_DICT_OR_DEREF": (1, 1),
    "LOAD_FROM_DICT_OR_GLOBALS": (1, 1),
    "STORE_DEREF": (1, 0),
    "DELETE_DEREF": (0, 0),
    "STORE_GLOBAL": (1, 0),
    "DELETE_GLOBAL": (0, 0),
    "STORE_ATTR": (2, 0),
    "DELETE_ATTR": (1, 0),
    "BINARY_OP": (2, 1),
    "COMPARE_OP": (2, 1),
    "IS_OP": (2, 1),
    "CONTAINS_OP": (2, 1),
    "BINARY_SUBSCR": (2, 1),
    "STORE_SUBSCR": (3, 0),
    "DELETE_SUBSCR": (2, 0),
    "BINARY_SLICE": (3, 1),
    "STORE_SLICE": (4, 0),
    "UNARY_NEGATIVE": (1, 1),
    "UNARY_INVERT": (1, 1),
    "UNARY_NOT": (1, 1),
    "UNARY_POSITIVE": (1, 1),
    "TO_BOOL": (1, 1),
    "LIST_TO_TUPLE": (1, 1),
    "CALL_INTRINSIC_1": (1, 1),
    "LIST_APPEND": (1, 0),
    "LIST_EXTEND": (1, 0),
    "SET_ADD": (1, 0),
    "SET_UPDATE": (1, 0),
    "DICT_UPDATE": (1, 0),
    "MAP_ADD": (2, 0),
    "IMPORT_NAME": (2, 1),
    "IMPORT_FROM": (1, 2),
    "CONVERT_VALUE": (1, 1),
    "FORMAT_SIMPLE": (1, 1),
    "FORMAT_WITH_SPEC": (2, 1),
    "SET_FUNCTION_ATTRIBUTE": (2, 1),
    "PUSH_EXC_INFO": (1, 2),
    "POP_EXCEPT": (1, 0),
    "CHECK_EXC_MATCH": (2, 2),
    "CHECK_EG_MATCH": (2, 2),
    "PREP_RERAISE_STAR": (2, 1),
    "CALL_INTRINSIC_2": (2, 1),
    "BEFORE_WITH": (1, 2),
    "GET_LEN": (1, 2),
    "MATCH_SEQUENCE": (1, 2),
    "MATCH_MAPPING": (1, 2),
    "MATCH_KEYS": (2, 3),
    "MATCH_CLASS": (3, 1),
    "RETURN_GENERATOR": (0, 1),
    "YIELD_VALUE": (1, 1),
    "GET_YIELD_FROM_ITER": (1, 1),
}

ENDS = frozenset(
    {
        "RETURN_VALUE",
        "RETURN_CONST",
        "RAISE_VARARGS",
        "RERAISE",
        "JUMP_FORWARD",
        "JUMP_BACKWARD",
        "JUMP_BACKWARD_NO_INTERRUPT",
    }
)
AFTER_LOOP = {(3, 11): [], (3, 12): ["END_FOR"], (3, 13): ["END_FOR", "POP_TOP"]}.get(
    VERSION, ["END_FOR", "POP_ITER"]
)
ITERATOR_SLOTS = 2 if VERSION >= (3, 15) else 1
CALL_PAIR = (NULL, OBJECT) if VERSION < (3, 13) else (OBJECT, NULL)


@dataclasses.dataclass(frozen=True)
class _State:
    stack: Stack
    bound: frozenset[str]


class _Verifier:
    def __init__(self, code: types.CodeType) -> None:
        self.code = code
        self.instructions: list[dis.Instruction] = []
        self.at: dict[int, int] = {}  # offset, also of a prefix -> index
        pending: list[int] = []
        for instruction in dis.get_instructions(code):
            pending.append(instruction.offset)
            if instruction.opname == "EXTENDED_ARG":
                continue
            for offset in pending:
                self.at[offset] = len(self.instructions)
            pending = []
            self.instructions.append(instruction)
        self.states: dict[int, _State] = {}
        self.work: list[int] = []
        self.regions = dis._parse_exception_table(code)  # type: ignore[attr-defined]
        self.starts = [region.start for region in self.regions]

    def fail(self, index: int, message: str) -> VerificationError:
        instruction = self.instructions[index]
        return VerificationError(
            f"{self.code.co_qualname}, offset {instruction.offset}, {instruction.opname} "
            f"{instruction.argrepr}: {message}"
        )

    def region(self, offset: int) -> Any:
        """The entry of the exception table that is about the code unit at `offset`."""
        k = bisect.bisect_right(self.starts, offset) - 1
        return self.regions[k] if k >= 0 and offset < self.regions[k].end else None

    def check_locations(self) -> None:
        covered = sum(1 for _ in self.code.co_positions())
        if covered != len(self.code.co_code) // 2:
            # The interpreter sizes arrays by one of these and fills them by the other.
            raise VerificationError(
                f"{self.code.co_qualname}: locations of {covered} code units,"
                f" there are {len(self.code.co_code) // 2}"
            )

    def run(self) -> None:
        parameters = self.code.co_argcount + self.code.co_kwonlyargcount
        parameters += bool(self.code.co_flags & 4) + bool(self.code.co_flags & 8)
        bound = frozenset((*self.code.co_varnames[:parameters], *self.code.co_freevars))
        self.flow(0, 0, _State((), bound))
        while self.work:
            self.step(self.work.pop())

    def flow(self, source: int, target: int, state: _State) -> None:
        if target >= len(self.instructions):
            raise self.fail(source, "control runs off the end")
        if len(state.stack) > self.code.co_stacksize:
            raise self.fail(source, f"stack of {len(state.stack)}, co_stacksize is {self.code.co_stacksize}")
        if target != source + 1:
            for kind in state.stack:
                if kind.startswith(BORROWED):
                    raise self.fail(source, f"leaves the block with a {kind} on the stack")
        known = self.states.get(target)
        if known is None:
            self.states[target] = state
            self.work.append(target)
            return
        if known.stack != state.stack:
            raise self.fail(target, f"is reached with the stacks {list(known.stack)} and {list(state.stack)}")
        if not known.bound <= state.bound:
            self.states[target] = _State(known.stack, known.bound & state.bound)
            self.work.append(target)

    def step(self, index: int) -> None:
        instruction = self.instructions[index]
        state = self.states[index]
        name, stack, bound = instruction.opname, state.stack, state.bound
        arg = instruction.arg or 0
        if (
            name in ENTERS
            and VERSION >= (3, 13)
            and self.region(instruction.offset - 2) != self.region(instruction.offset)
        ):
            raise self.fail(index, "has another handler than the code unit in front of it")
        region = self.region(instruction.offset)
        if region is not None:
            if region.depth > len(stack):
                raise self.fail(index, f"handler wants {region.depth} values, there are {len(stack)}")
            entered = (*stack[: region.depth], *([OBJECT] if region.lasti else []), OBJECT)
            # Whatever was bound before the instruction; deletions happen before raising.
            after = bound - {instruction.argval} if name == "DELETE_FAST" else bound
            self.flow(index, self.at[region.target], _State(entered, after))

        def need(count: int) -> None:
            if count > len(stack):
                raise self.fail(index, f"needs {count} values, there are {len(stack)}")

        def objects(count: int) -> Stack:
            """The stack without the top `count` values, which must be objects."""
            need(count)
            for kind in stack[len(stack) - count :]:
                if kind != OBJECT and not (kind.startswith(BORROWED) and name in CONSUMERS):
                    raise self.fail(index, f"takes a {kind} for an object")
            return stack[: len(stack) - count]

        def read(local: str) -> None:
            if local not in bound:
                raise self.fail(index, f"{local} may be unassigned")

        def write(local: str) -> None:
            if BORROWED + local in stack:
                raise self.fail(index, f"changes {local}, and the stack has a {BORROWED}it")

        target: int | None = None
        if name in FIXED:
            pops, pushes = FIXED[name]
            stack = (*objects(pops), *[OBJECT] * pushes)
        elif name == "MAKE_CELL":
            bound = bound | {instruction.argval}
        elif name == "LOAD_FAST":
            read(instruction.argval)
            stack = (*stack, OBJECT)
        elif name == "LOAD_FAST_BORROW":
            read(instruction.argval)
            stack = (*stack, BORROWED + instruction.argval)
        elif name in ("LOAD_FAST_LOAD_FAST", "LOAD_FAST_BORROW_LOAD_FAST_BORROW"):
            for local in instruction.argval:
                read(local)
                stack = (*stack, OBJECT if name == "LOAD_FAST_LOAD_FAST" else BORROWED + local)
        elif name == "STORE_FAST":
            stack = objects(1)
            write(instruction.argval)
            bound = bound | {instruction.argval}
        elif name == "STORE_FAST_LOAD_FAST":
            stack = objects(1)
            write(instruction.argval[0])
            bound = bound | {instruction.argval[0]}
            read(instruction.argval[1])
            stack = (*stack, OBJECT)
        elif name == "STORE_FAST_STORE_FAST":
            stack = objects(2)
            for local in instruction.argval:
                write(local)
            bound = bound | set(instruction.argval)
        elif name == "DELETE_FAST":
            write(instruction.argval)
            bound = bound - {instruction.argval}
        elif name == "POP_TOP":
            need(1)
            stack = stack[:-1]
        elif name == "LOAD_SPECIAL":
            stack = (*objects(1), OBJECT, PAIR)
        elif name == "GET_ITER":
            stack = (*objects(1), OBJECT, INDEX)[: len(stack) - 1 + ITERATOR_SLOTS]
        elif name == "PUSH_NULL":
            stack = (*stack, NULL)
        elif name == "SWAP":
            need(arg)
            changed = list(stack)
            changed[-1], changed[-arg] = changed[-arg], changed[-1]
            stack = tuple(changed)
        elif name == "COPY":
            need(arg)
            if stack[-arg] != OBJECT:
                raise self.fail(index, f"copies a {stack[-arg]}")
            stack = (*stack, stack[-arg])
        elif name == "LOAD_GLOBAL":
            stack = (*stack, *(CALL_PAIR if arg & 1 else (OBJECT,)))
        elif name == "LOAD_METHOD" or (name == "LOAD_ATTR" and VERSION >= (3, 12) and arg & 1):
            rest, receiver = objects(1), stack[-1]
            if VERSION < (3, 13):
                stack = (*rest, PAIR, OBJECT)
            else:
                stack = (*rest, OBJECT, receiver if receiver.startswith(BORROWED) else PAIR)
        elif name == "LOAD_SPECIAL":
            stack = (*objects(1), OBJECT, PAIR)
        elif name == "LOAD_ATTR":
            stack = (*objects(1), OBJECT)
        elif name in ("CALL", "CALL_KW", "CALL_FUNCTION_EX"):
            if name == "CALL":
                count = arg
            elif name == "CALL_KW":
                count = arg + 1
            else:
                count = 2 if VERSION >= (3, 14) else 1 + (arg & 1)
                if VERSION >= (3, 14) and stack[-1:] == (NULL,):
                    stack = (*stack[:-1], OBJECT)
            rest = objects(count)
            if len(rest) < 2:
                raise self.fail(index, "finds no function and receiver")
            first, second = rest[-2:]
            function, receiver = (second, first) if VERSION < (3, 13) else (first, second)
            if name in CONSUMERS:
                function = OBJECT if function.startswith(BORROWED) else function
                receiver = PAIR if receiver.startswith(BORROWED) else receiver
            if function != OBJECT or receiver not in (NULL, PAIR):
                raise self.fail(index, f"calls a {function} with {receiver} as receiver")
            stack = (*rest[:-2], OBJECT)
        elif name in ("BUILD_TUPLE", "BUILD_LIST", "BUILD_SET", "BUILD_STRING", "BUILD_SLICE"):
            stack = (*objects(arg), OBJECT)
        elif name == "BUILD_MAP":
            stack = (*objects(2 * arg), OBJECT)
        elif name == "DICT_MERGE":
            # Its message names the callable, which it looks for at a fixed place.
            below = 5 if VERSION >= (3, 13) else 4
            need(below)
            if stack[-below] != OBJECT:
                raise self.fail(index, "finds no callable")
            stack = objects(1)
        elif name == "MAKE_FUNCTION":
            stack = (*objects(1 + ((arg & 15).bit_count() if VERSION < (3, 13) else 0)), OBJECT)
        elif name == "FORMAT_VALUE":
            stack = (*objects(2 if arg & 4 else 1), OBJECT)
        elif name == "UNPACK_SEQUENCE":
            stack = (*objects(1), *[OBJECT] * arg)
        elif name == "UNPACK_EX":
            stack = (*objects(1), *[OBJECT] * ((arg & 255) + 1 + (arg >> 8)))
        elif name == "FOR_ITER":
            need(ITERATOR_SLOTS)
            iterator = stack[len(stack) - ITERATOR_SLOTS :]
            if iterator[0] != OBJECT or iterator[1:] not in ((), (NULL,), (INDEX,)):
                raise self.fail(index, f"loops over {list(iterator)}")
            rest = stack[: len(stack) - ITERATOR_SLOTS]
            target = self.at[instruction.argval]
            following = [i.opname for i in self.instructions[target : target + len(AFTER_LOOP)]]
            if following != AFTER_LOOP:
                raise self.fail(index, f"leaves the loop to {following}, not {AFTER_LOOP}")
            self.flow(index, target + len(AFTER_LOOP), _State(rest, bound))
            for skipped in range(target, target + len(AFTER_LOOP)):
                if skipped in self.states:
                    raise self.fail(skipped, "is reached otherwise than by an exhausted loop")
            self.flow(index, index + 1, _State((*rest, *iterator, OBJECT), bound))
            return
        elif name.startswith("POP_JUMP_"):
            stack = objects(1)
            self.flow(index, self.at[instruction.argval], _State(stack, bound))
        elif name == "SEND":
            under = objects(1)
            if under[-ITERATOR_SLOTS:] != (OBJECT, NULL)[:ITERATOR_SLOTS]:
                raise self.fail(index, f"sends to {list(under[-ITERATOR_SLOTS:])}")
            finished = (*under[:-1], OBJECT) if VERSION < (3, 12) else stack
            self.flow(index, self.at[instruction.argval], _State(finished, bound))
        elif name == "CLEANUP_THROW":
            stack = (*objects(2), OBJECT)
        elif name == "END_SEND":
            stack = (*objects(1)[:-ITERATOR_SLOTS], OBJECT)
        elif name in ("JUMP_FORWARD", "JUMP_BACKWARD", "JUMP_BACKWARD_NO_INTERRUPT"):
            self.flow(index, self.at[instruction.argval], state)
        elif name == "RETURN_VALUE":
            if objects(1):
                raise self.fail(index, f"leaves {list(stack[:-1])} on the stack")
        elif name == "RETURN_CONST":
            if stack:
                raise self.fail(index, f"leaves {list(stack)} on the stack")
        elif name == "RAISE_VARARGS":
            objects(arg)
        elif name == "RERAISE":
            objects(1)
        elif name == "END_FOR":
            raise self.fail(index, "is reached otherwise than by an exhausted loop")
        else:
            raise self.fail(index, "is not an instruction that the emitter writes")
        if name not in ENDS:
            self.flow(index, index + 1, _State(stack, bound))


def verify_stack(code: types.CodeType) -> None:
    """Raise `VerificationError` if `code` misuses the stack or its variables."""
    verifier = _Verifier(code)
    verifier.check_locations()
    verifier.run()
