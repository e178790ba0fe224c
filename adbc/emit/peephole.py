"""The last pass over the instructions: pairs of accesses to local variables, and loads that borrow.

From 3.13 two neighbouring loads or stores of local variables are one instruction, and from 3.14 a load
need not take a reference of its own if the variable outlives the value on the stack.  Earlier
interpreters form their pairs themselves.  The plain forms are always right: this pass may leave any of
them as it is, and does so wherever it does not know exactly what an instruction does to the stack.

It works on the list of items that `assembler` collects.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Final

from adbc.emit.items import Item, Location, Op

__all__ = ["optimised"]

PAIRED: Final = sys.version_info >= (3, 13)
BORROWED: Final = sys.version_info >= (3, 14)

PAIRS: Final = {
    ("LOAD_FAST", "LOAD_FAST"): "LOAD_FAST_LOAD_FAST",
    ("STORE_FAST", "LOAD_FAST"): "STORE_FAST_LOAD_FAST",
    ("STORE_FAST", "STORE_FAST"): "STORE_FAST_STORE_FAST",
}

SINGLE: Final = frozenset({"LOAD_FAST", "STORE_FAST"})

PUSHES: Final = {"LOAD_CONST": 1, "LOAD_DEREF": 1, "PUSH_NULL": 1, "NOP": 0, "NOT_TAKEN": 0}
"""Instructions that leave what is on the stack alone, and how many values they put on it."""

CONSUMES: Final = {
    "POP_TOP": (1, 0),
    "LIST_APPEND": (1, 0),
    "BINARY_OP": (2, 1),
    "COMPARE_OP": (2, 1),
    "IS_OP": (2, 1),
    "CONTAINS_OP": (2, 1),
    "UNARY_NEGATIVE": (1, 1),
    "UNARY_INVERT": (1, 1),
    "UNARY_NOT": (1, 1),
    "TO_BOOL": (1, 1),
    "STORE_SUBSCR": (3, 0),
    "DELETE_SUBSCR": (2, 0),
    "BINARY_SLICE": (3, 1),
    "STORE_SLICE": (4, 0),
    "STORE_ATTR": (2, 0),
    "DELETE_ATTR": (1, 0),
    "RETURN_VALUE": (1, 0),
    "POP_JUMP_IF_TRUE": (1, 0),
    "POP_JUMP_IF_FALSE": (1, 0),
    "POP_JUMP_IF_NONE": (1, 0),
    "POP_JUMP_IF_NOT_NONE": (1, 0),
}
"""Instructions that are done with what they take from the stack when they end: how many values they take
and put."""

Slot = tuple[int, int, str] | None
"""A value on the stack that a load of a variable put there: the number of the item, which of a pair it is,
and the variable; else None."""


def optimised(items: list[Item], local_names: Sequence[str]) -> list[Item]:
    """`items` in the forms that the running interpreter executes fastest."""
    if not PAIRED:
        return items
    items = _paired(items, local_names)
    return _borrowed(items) if BORROWED else items


def _paired(items: list[Item], local_names: Sequence[str]) -> list[Item]:
    """Join neighbouring accesses to local variables into pairs, which have four bits for the number of each
    variable."""
    small = set(local_names[:16])
    result: list[Item] = []
    previous: Op | None = None  # the last instruction, if it may still become the first of a pair
    for item in items:
        current = None
        if type(item) is tuple and item[0] in SINGLE and item[1] in small:
            current = item
            if previous is not None and _same_line(previous[2], item[2]):
                joined = PAIRS.get((previous[0], item[0]))
                if joined is not None:
                    result[-1] = joined, (previous[1], item[1]), previous[2]
                    previous = None
                    continue
        result.append(item)
        previous = current
    return result


def _same_line(a: Location | None, b: Location | None) -> bool:
    """Whether two accesses to local variables are on one line: tracers see lines, but nobody sees the
    columns of what cannot raise."""
    return a is b or (a is not None and b is not None and a.line == b.line)


def _borrowed(items: list[Item]) -> list[Item]:
    """Let a load borrow where its value is consumed before the block ends and before its variable changes."""
    safe: dict[int, int] = {}  # item -> how many of its loads were seen to be consumed
    killed: set[int] = set()
    stack: list[Slot] = []

    def pop(count: int) -> None:
        for _ in range(count):
            slot = stack.pop() if stack else None
            if slot is not None:
                safe[slot[0]] = safe.get(slot[0], 0) + 1

    def store(name: str) -> None:
        """Follow a store to a variable: the value becomes the variable's own, and the old one may die."""
        slot = stack.pop() if stack else None
        if slot is not None:
            killed.add(slot[0])
        kill(name)

    def kill(name: str) -> None:
        for slot in stack:
            if slot is not None and slot[2] == name:
                killed.add(slot[0])

    for index, item in enumerate(items):
        if type(item) is not tuple:
            stack.clear()  # a label, or the border of a region
            continue
        name, arg, _ = item  # what the argument is depends on the name
        if name == "LOAD_FAST" and type(arg) is str:
            stack.append((index, 0, arg))
        elif name == "LOAD_FAST_LOAD_FAST":
            stack.extend(((index, 0, arg[0]), (index, 1, arg[1])))
        elif name == "STORE_FAST":
            store(arg)
        elif name == "STORE_FAST_STORE_FAST":
            store(arg[0])
            store(arg[1])
        elif name == "STORE_FAST_LOAD_FAST":
            store(arg[0])
            stack.append(None)
        elif name in PUSHES:
            stack.extend([None] * PUSHES[name])
        elif name == "LOAD_GLOBAL":
            stack.extend([None] * (1 + (arg & 1)))
        elif name in CONSUMES:
            takes, puts = CONSUMES[name]
            pop(takes)
            stack.extend([None] * puts)
        elif name == "LOAD_ATTR":
            # The receiver of a method stays on the stack, above the function.
            receiver = stack.pop() if stack else None
            if arg & 1:
                stack.extend((None, receiver))
            else:
                stack.append(receiver)
                pop(1)
                stack.append(None)
        elif name in ("CALL", "CALL_KW"):
            pop(arg + 2 + (name == "CALL_KW"))
            stack.append(None)
        elif name in ("BUILD_TUPLE", "BUILD_LIST", "BUILD_SET", "BUILD_STRING", "BUILD_SLICE", "BUILD_MAP"):
            pop(2 * arg if name == "BUILD_MAP" else arg)
            stack.append(None)
        elif name == "UNPACK_SEQUENCE":
            pop(1)
            stack.extend([None] * arg)
        else:
            stack.clear()
    result = list(items)
    for index, count in safe.items():
        loaded = items[index]
        assert type(loaded) is tuple
        pair = loaded[0] == "LOAD_FAST_LOAD_FAST"
        if index not in killed and count == 1 + pair:
            name = "LOAD_FAST_BORROW_LOAD_FAST_BORROW" if pair else "LOAD_FAST_BORROW"
            result[index] = name, loaded[1], loaded[2]
    return result
