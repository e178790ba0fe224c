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
import dis
import inspect
import sys
import types
from collections.abc import Callable
from typing import Any

from adbc.emit.assembly import ENTERS
from adbc.errors import VerificationError
from adbc.records import record

__all__ = ["verify_stack"]

VERSION = sys.version_info[:2]

OBJECT, NULL, PAIR, INDEX = "object", "NULL", "NULL or receiver", "NULL or index"
BORROWED = "value borrowed from "
"""How the kind of a borrowed value begins; the name of the variable follows."""

CONSUMERS = frozenset(
    {
        "POP_TOP", "LIST_APPEND", "LIST_EXTEND", "BINARY_OP", "COMPARE_OP", "IS_OP", "CONTAINS_OP",
        "UNARY_NEGATIVE", "UNARY_INVERT",
        "UNARY_NOT", "TO_BOOL", "STORE_SUBSCR", "DELETE_SUBSCR", "BINARY_SLICE", "STORE_SLICE",
        "STORE_ATTR", "DELETE_ATTR", "LOAD_ATTR", "CALL", "CALL_KW", "BUILD_TUPLE", "BUILD_LIST",
        "BUILD_SET", "BUILD_STRING", "BUILD_SLICE", "BUILD_MAP", "UNPACK_SEQUENCE", "RETURN_VALUE",
        "POP_JUMP_IF_TRUE", "POP_JUMP_IF_FALSE", "POP_JUMP_IF_NONE", "POP_JUMP_IF_NOT_NONE",
    }
)  # fmt: skip
"""Instructions that may take a borrowed value from the stack: they are done with it when they end."""

Kind = str
Stack = tuple[Kind, ...]

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
    "CLEANUP_THROW": (2, 1),
    "RERAISE": (1, 0),
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


@record(frozen=True)
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
        parameters += bool(self.code.co_flags & inspect.CO_VARARGS)
        parameters += bool(self.code.co_flags & inspect.CO_VARKEYWORDS)
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
        step = _Step(self, index)
        self.enter_handler(step)
        if step.name in FIXED:
            pops, pushes = FIXED[step.name]
            step.take(pops)
            step.push(*[OBJECT] * pushes)
        elif step.name in EFFECTS:
            EFFECTS[step.name](step)
        else:
            raise step.fail("is not an instruction that the emitter writes")
        if step.name not in ENDS:
            self.flow(index, index + 1, _State(step.stack, step.bound))

    def enter_handler(self, step: _Step) -> None:
        """Let control go to the handler of `step`, if it has one, with the state in front of `step`."""
        offset = step.instruction.offset
        region = self.region(offset)
        if step.name in ENTERS and VERSION >= (3, 13) and self.region(offset - 2) != region:
            raise step.fail("has another handler than the code unit in front of it")
        if region is None:
            return
        if region.depth > len(step.stack):
            raise step.fail(f"handler wants {region.depth} values, there are {len(step.stack)}")
        entered = (*step.stack[: region.depth], *([OBJECT] if region.lasti else []), OBJECT)
        # Whatever was bound before the instruction; deletions happen before raising.
        bound = step.bound - {step.argval} if step.name == "DELETE_FAST" else step.bound
        self.flow(step.index, self.at[region.target], _State(entered, bound))


class _Step:
    """One instruction on one path, with the state in front of it, which its effect turns into the state
    behind it."""

    def __init__(self, verifier: _Verifier, index: int) -> None:
        self.verifier = verifier
        self.index = index
        self.instruction = verifier.instructions[index]
        self.name = self.instruction.opname
        self.arg = self.instruction.arg or 0
        self.argval = self.instruction.argval
        self.stack = verifier.states[index].stack
        self.bound = verifier.states[index].bound

    def fail(self, message: str) -> VerificationError:
        return self.verifier.fail(self.index, message)

    def need(self, count: int) -> None:
        if count > len(self.stack):
            raise self.fail(f"needs {count} values, there are {len(self.stack)}")

    def take(self, count: int) -> Stack:
        """Take the top `count` values from the stack; they must be objects."""
        self.need(count)
        rest, taken = self.stack[: len(self.stack) - count], self.stack[len(self.stack) - count :]
        for kind in taken:
            if kind != OBJECT and not (kind.startswith(BORROWED) and self.name in CONSUMERS):
                raise self.fail(f"takes a {kind} for an object")
        self.stack = rest
        return taken

    def push(self, *kinds: Kind) -> None:
        self.stack = (*self.stack, *kinds)

    def read(self, local: str) -> None:
        if local not in self.bound:
            raise self.fail(f"{local} may be unassigned")

    def write(self, local: str) -> None:
        """Refuse to change or empty the variable `local` while the stack has a value borrowed from it."""
        if BORROWED + local in self.stack:
            raise self.fail(f"changes {local}, and the stack has a {BORROWED}it")

    def jump(self, stack: Stack) -> None:
        """Let control go to the target of the jump, with `stack`."""
        self.verifier.flow(self.index, self.verifier.at[self.argval], _State(stack, self.bound))


# -- effects ---------------------------------------------------------------------------------------


def _make_cell(step: _Step) -> None:
    step.bound = step.bound | {step.argval}


def _load(step: _Step) -> None:
    step.read(step.argval)
    step.push(OBJECT)


def _load_borrowed(step: _Step) -> None:
    step.read(step.argval)
    step.push(BORROWED + step.argval)


def _load_two(step: _Step) -> None:
    for local in step.argval:
        step.read(local)
        step.push(OBJECT)


def _load_two_borrowed(step: _Step) -> None:
    for local in step.argval:
        step.read(local)
        step.push(BORROWED + local)


def _bind(step: _Step, *locals: str) -> None:
    """Take the values of `locals` from the stack, the top for the first of them, and so on."""
    step.take(len(locals))
    for local in locals:
        step.write(local)
        step.bound = step.bound | {local}


def _store(step: _Step) -> None:
    _bind(step, step.argval)


def _store_two(step: _Step) -> None:
    _bind(step, *step.argval)


def _store_and_load(step: _Step) -> None:
    stored, loaded = step.argval
    _bind(step, stored)
    step.read(loaded)
    step.push(OBJECT)


def _delete(step: _Step) -> None:
    step.write(step.argval)
    step.bound = step.bound - {step.argval}


def _pop(step: _Step) -> None:
    step.need(1)
    step.stack = step.stack[:-1]


def _push_null(step: _Step) -> None:
    step.push(NULL)


def _swap(step: _Step) -> None:
    step.need(step.arg)
    changed = list(step.stack)
    changed[-1], changed[-step.arg] = changed[-step.arg], changed[-1]
    step.stack = tuple(changed)


def _copy(step: _Step) -> None:
    step.need(step.arg)
    if step.stack[-step.arg] != OBJECT:
        raise step.fail(f"copies a {step.stack[-step.arg]}")
    step.push(OBJECT)


def _get_iter(step: _Step) -> None:
    step.take(1)
    step.push(*(OBJECT, INDEX)[:ITERATOR_SLOTS])


def _load_global(step: _Step) -> None:
    step.push(*(CALL_PAIR if step.arg & 1 else (OBJECT,)))


def _load_special(step: _Step) -> None:
    step.take(1)
    step.push(OBJECT, PAIR)


def _load_method(step: _Step) -> None:
    (receiver,) = step.take(1)
    if VERSION < (3, 13):
        step.push(PAIR, OBJECT)
    else:
        step.push(OBJECT, receiver if receiver.startswith(BORROWED) else PAIR)


def _load_attr(step: _Step) -> None:
    if VERSION >= (3, 12) and step.arg & 1:
        _load_method(step)
    else:
        step.take(1)
        step.push(OBJECT)


def _call(step: _Step) -> None:
    _call_with(step, step.arg)


def _call_kw(step: _Step) -> None:
    _call_with(step, step.arg + 1)


def _call_ex(step: _Step) -> None:
    if VERSION < (3, 14):
        _call_with(step, 1 + (step.arg & 1))
        return
    if step.stack[-1:] == (NULL,):  # in the place of keywords
        step.stack = (*step.stack[:-1], OBJECT)
    _call_with(step, 2)


def _call_with(step: _Step, count: int) -> None:
    """Take `count` objects, and below them the function and its receiver."""
    step.take(count)
    if len(step.stack) < 2:
        raise step.fail("finds no function and receiver")
    function, receiver = reversed(step.stack[-2:]) if VERSION < (3, 13) else step.stack[-2:]
    if step.name in CONSUMERS:
        function = OBJECT if function.startswith(BORROWED) else function
        receiver = PAIR if receiver.startswith(BORROWED) else receiver
    if function != OBJECT or receiver not in (NULL, PAIR):
        raise step.fail(f"calls a {function} with {receiver} as receiver")
    step.stack = (*step.stack[:-2], OBJECT)


def _build(step: _Step) -> None:
    step.take(step.arg)
    step.push(OBJECT)


def _build_map(step: _Step) -> None:
    step.take(2 * step.arg)
    step.push(OBJECT)


def _dict_merge(step: _Step) -> None:
    # Its message names the callable, which it looks for at a fixed place.
    below = 5 if VERSION >= (3, 13) else 4
    step.need(below)
    if step.stack[-below] != OBJECT:
        raise step.fail("finds no callable")
    step.take(1)


def _make_function(step: _Step) -> None:
    step.take(1 + ((step.arg & 15).bit_count() if VERSION < (3, 13) else 0))
    step.push(OBJECT)


def _format_value(step: _Step) -> None:
    step.take(2 if step.arg & 4 else 1)
    step.push(OBJECT)


def _unpack_sequence(step: _Step) -> None:
    step.take(1)
    step.push(*[OBJECT] * step.arg)


def _unpack_ex(step: _Step) -> None:
    step.take(1)
    step.push(*[OBJECT] * ((step.arg & 255) + 1 + (step.arg >> 8)))


def _for_iter(step: _Step) -> None:
    """Step a ``for`` loop: an exhausted one goes on behind the instructions that the interpreter skips,
    without its iterator."""
    verifier, instructions = step.verifier, step.verifier.instructions
    step.need(ITERATOR_SLOTS)
    height = len(step.stack) - ITERATOR_SLOTS
    rest, iterator = step.stack[:height], step.stack[height:]
    if iterator[0] != OBJECT or iterator[1:] not in ((), (NULL,), (INDEX,)):
        raise step.fail(f"loops over {list(iterator)}")
    target = verifier.at[step.argval]
    following = [i.opname for i in instructions[target : target + len(AFTER_LOOP)]]
    if following != AFTER_LOOP:
        raise step.fail(f"leaves the loop to {following}, not {AFTER_LOOP}")
    verifier.flow(step.index, target + len(AFTER_LOOP), _State(rest, step.bound))
    for skipped in range(target, target + len(AFTER_LOOP)):
        if skipped in verifier.states:
            raise verifier.fail(skipped, "is reached otherwise than by an exhausted loop")
    step.push(OBJECT)


def _end_for(step: _Step) -> None:
    raise step.fail("is reached otherwise than by an exhausted loop")


def _branch(step: _Step) -> None:
    step.take(1)
    step.jump(step.stack)


def _send(step: _Step) -> None:
    before = step.stack
    step.take(1)
    under, step.stack = step.stack, before
    if under[-ITERATOR_SLOTS:] != (OBJECT, NULL)[:ITERATOR_SLOTS]:
        raise step.fail(f"sends to {list(under[-ITERATOR_SLOTS:])}")
    step.jump((*under[:-1], OBJECT) if VERSION < (3, 12) else before)


def _end_send(step: _Step) -> None:
    step.take(1)
    step.stack = (*step.stack[:-ITERATOR_SLOTS], OBJECT)


def _jump(step: _Step) -> None:
    step.jump(step.stack)


def _return(step: _Step) -> None:
    step.take(1)
    _return_const(step)


def _return_const(step: _Step) -> None:
    if step.stack:
        raise step.fail(f"leaves {list(step.stack)} on the stack")


def _raise(step: _Step) -> None:
    step.take(step.arg)


EFFECTS: dict[str, Callable[[_Step], None]] = {
    "MAKE_CELL": _make_cell,
    "LOAD_FAST": _load,
    "LOAD_FAST_BORROW": _load_borrowed,
    "LOAD_FAST_LOAD_FAST": _load_two,
    "LOAD_FAST_BORROW_LOAD_FAST_BORROW": _load_two_borrowed,
    "STORE_FAST": _store,
    "STORE_FAST_LOAD_FAST": _store_and_load,
    "STORE_FAST_STORE_FAST": _store_two,
    "DELETE_FAST": _delete,
    "POP_TOP": _pop,
    "PUSH_NULL": _push_null,
    "SWAP": _swap,
    "COPY": _copy,
    "GET_ITER": _get_iter,
    "LOAD_GLOBAL": _load_global,
    "LOAD_SPECIAL": _load_special,
    "LOAD_METHOD": _load_method,
    "LOAD_ATTR": _load_attr,
    "CALL": _call,
    "CALL_KW": _call_kw,
    "CALL_FUNCTION_EX": _call_ex,
    "BUILD_TUPLE": _build,
    "BUILD_LIST": _build,
    "BUILD_SET": _build,
    "BUILD_STRING": _build,
    "BUILD_SLICE": _build,
    "BUILD_MAP": _build_map,
    "DICT_MERGE": _dict_merge,
    "MAKE_FUNCTION": _make_function,
    "FORMAT_VALUE": _format_value,
    "UNPACK_SEQUENCE": _unpack_sequence,
    "UNPACK_EX": _unpack_ex,
    "FOR_ITER": _for_iter,
    "END_FOR": _end_for,
    **{name: _branch for name in dis.opmap if name.startswith("POP_JUMP_")},
    "SEND": _send,
    "END_SEND": _end_send,
    "JUMP_FORWARD": _jump,
    "JUMP_BACKWARD": _jump,
    "JUMP_BACKWARD_NO_INTERRUPT": _jump,
    "RETURN_VALUE": _return,
    "RETURN_CONST": _return_const,
    "RAISE_VARARGS": _raise,
}
"""By instruction, what it does to the state; these do more than take a number of objects and leave a
number."""


def verify_stack(code: types.CodeType) -> None:
    """Raise `VerificationError` if `code` misuses the stack or its variables."""
    verifier = _Verifier(code)
    verifier.check_locations()
    verifier.run()
