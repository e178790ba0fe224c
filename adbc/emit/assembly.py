"""Putting a code object together: instructions with the height of the stack, labels, constants, regions.

An `Assembly` is told instructions by the names that the running interpreter has for them, and how each
changes the height of the stack; it gives items to `encoding`, which makes a code object of them.  It counts
the stack exactly, and keeps these traps of the interpreters in one place:

* Only constants of simple immutable types are shared, and only if type and representation agree
  (``0.0`` and ``-0.0`` differ).
* Stack size and the depths of exception regions come from here.
* From 3.12 all of a generator that has no other handler has one that makes a `RuntimeError` of a
  `StopIteration`.  It is put in at the end, around the regions that are there by then.
* From 3.13 the handler of what a callee without a C frame of its own raises is looked for one code unit
  too early, so the first instruction of a region, and the first behind one, must not be such a call.
* The first string constant would become the docstring up to 3.13; the constant 0 is reserved for it.

It refuses to know what the instructions do: `assembler` does.
"""

from __future__ import annotations

import inspect
import sys
import types
from typing import Any, Final

from adbc.emit.encoding import Heading, Units, encode
from adbc.emit.items import Begin, End, Item, Label, Location
from adbc.emit.peephole import optimised
from adbc.errors import VerificationError
from adbc.ir.values import Inlined, Position

__all__ = ["ENTERS", "HAS_DOCSTRING", "PY312", "PY313", "PY314", "PY315", "Assembly"]

VERSION: Final = sys.version_info[:2]
PY312: Final = VERSION >= (3, 12)
PY313: Final = VERSION >= (3, 13)
PY314: Final = VERSION >= (3, 14)
PY315: Final = VERSION >= (3, 15)

HAS_DOCSTRING: Final = 0x4000000
"""The flag of code objects whose first constant is the docstring (from 3.14)."""

SHARED_TYPES: Final = frozenset({bool, int, float, complex, str, bytes, type(None), type(Ellipsis)})

ENTERS: Final = frozenset(
    {"BINARY_OP", "BINARY_SUBSCR", "CALL", "CALL_FUNCTION_EX", "CALL_KW", "FOR_ITER", "LOAD_ATTR", "SEND"}
)
"""Instructions that may run Python code without a C frame: the interpreter's loop goes on with the callee."""


class Assembly:
    """Writes one code object.  `depth` is the height of the stack at the current point."""

    def __init__(self) -> None:
        self.items: list[Item] = []
        self.constants: list[object] = [None]
        self.constant_index: dict[Any, int] = {}
        self.names: dict[str, int] = {}
        self.depth = 0
        self.max_depth = 0
        self.location: Location | None = None
        self.inlined: dict[int, tuple[Location, Inlined]] = {}
        self.said: dict[int, str] = {}  # by ids of items
        self.places: list[tuple[int, int, Inlined]] = []
        self._position: Position | None = None
        self.reachable = True
        self.region: Begin | None = None

    # -- bookkeeping -------------------------------------------------------------------------------

    def at(self, position: Position | None) -> None:
        """Let the instructions that follow belong to `position` (None: as those before)."""
        if position is None or position is self._position:
            return
        self._position = position
        line = position.line
        if line is None:
            return
        end_line = position.end_line if position.end_line is not None else line
        column, end_column = position.column, position.end_column
        if column is None or end_column is None or end_line < line:
            self.location = Location(line)
        else:
            if end_line == line and end_column < column:
                end_column = column
            self.location = Location(line, end_line, column, end_column)
        if position.inlined is not None:
            self.inlined[id(self.location)] = self.location, position.inlined

    def at_line(self, line: int) -> None:
        """Let the instructions that follow belong to `line`."""
        self.location = Location(line)

    def op(self, name: str, arg: Any, effect: int) -> None:
        """Write an instruction that changes the height of the stack by `effect`."""
        self.items.append((name, arg, self.location))
        if effect:
            self._grow(effect)

    def say(self, promise: str) -> None:
        """Note what is known of the type of the value that is on top of the stack behind the last
        instruction (`types.promises`)."""
        if promise and self.items and type(self.items[-1]) is tuple:
            self.said[id(self.items[-1])] = promise

    def _grow(self, effect: int) -> None:
        self.depth += effect
        if self.depth < 0:
            raise VerificationError("the emitter took more from the stack than there is")
        if self.depth > self.max_depth:
            self.max_depth = self.depth

    def constant(self, value: object) -> int:
        """The number of `value` among the constants."""
        key: Any
        if type(value) in SHARED_TYPES:
            key = (type(value), repr(value))
        else:
            key = id(value)  # kept alive by `constants`
        index = self.constant_index.get(key)
        if index is None:
            index = self.constant_index[key] = len(self.constants)
            self.constants.append(value)
        return index

    def name(self, name: str) -> int:
        """The number of `name` among the names that are not those of variables of this code."""
        return self.names.setdefault(name, len(self.names))

    def place(self, label: Label) -> None:
        """Let the next instruction be the target of jumps to `label`."""
        if self.reachable:
            self._meet(label)
        elif label.depth is None:
            raise VerificationError("a label is placed where the height of the stack is unknown")
        assert label.depth is not None
        self.depth = label.depth
        self.reachable = True
        label.placed = True
        self.items.append(label)

    def _meet(self, label: Label) -> None:
        if label.depth is None:
            label.depth = self.depth
        elif label.depth != self.depth:
            raise VerificationError(
                f"a label is reached with {self.depth} and {label.depth} values on the stack"
            )

    # -- the code object -----------------------------------------------------------------------------

    def finish(
        self,
        heading: Heading,
        *,
        varargs: bool,
        varkw: bool,
        nested: bool,
        generator: bool,
        docstring: str | None,
    ) -> types.CodeType:
        """The code object."""
        flags = inspect.CO_OPTIMIZED | inspect.CO_NEWLOCALS
        if varargs:
            flags |= inspect.CO_VARARGS
        if varkw:
            flags |= inspect.CO_VARKEYWORDS
        if nested:
            flags |= inspect.CO_NESTED
        if generator:
            flags |= inspect.CO_GENERATOR
        if docstring is not None and PY314:
            flags |= HAS_DOCSTRING
        items = optimised(self.items, heading.local_names)
        if generator and PY312:
            items = _without_stop_iteration(items)
            self.max_depth = max(self.max_depth, 2)
        code, units = encode(
            _padded(items) if PY313 else items,
            heading,
            flags=flags,
            stack_size=max(self.max_depth, 1),
            constants=[docstring, *self.constants[1:]],
            names=list(self.names),
            said=self.said,
        )
        if self.inlined:
            self._find_places(units)
        return code

    def _find_places(self, units: Units) -> None:
        """Note which parts of the code come from functions that were written into this one."""
        at = 0
        for size, location in units:
            end = at + 2 * size
            known = self.inlined.get(id(location))
            if known is not None:
                if self.places and self.places[-1][1] == at and self.places[-1][2] is known[1]:
                    self.places[-1] = self.places[-1][0], end, known[1]
                else:
                    self.places.append((at, end, known[1]))
            at = end


def _padded(items: list[Item]) -> list[Item]:
    """Put a NOP between the edge of a region and an instruction that enters Python code.

    When the frame of a callee is left by an exception, the interpreter goes on in the caller as if the
    instruction in front of the call had raised: that one must be in the same region.
    """
    if not any(type(item) is Begin for item in items):
        return items
    result: list[Item] = []
    labels: list[Label] = []
    edge = False  # whether a region begins or ends here
    for item in items:
        if type(item) is Label:
            labels.append(item)
            continue
        if type(item) is tuple:
            # In front of the labels: who jumps here need not run it.
            if edge and item[0] in ENTERS:
                result.append(("NOP", None, item[2]))
            edge = False
            result += labels
            labels.clear()
        else:
            edge = True
        result.append(item)
    return result + labels


def _without_stop_iteration(items: list[Item]) -> list[Item]:
    """Put all of a generator that no other handler protects, from where it starts to run, under one that
    makes a `RuntimeError` of a `StopIteration`."""
    handler = Label()
    result: list[Item] = []
    region: Begin | None = None  # the one of this function that is open
    started = other = False
    for item in items:
        if type(item) is Begin:
            other = True
            if region is not None:
                result.append(End(region))
                region = None
        elif type(item) is End:
            other = False
        elif type(item) is tuple:
            started = started or item[0] == "RESUME"
            if started and not other and region is None:
                region = Begin(handler, 0, with_instruction=True)
                result.append(region)
        result.append(item)
    if region is not None:
        result.append(End(region))
    nowhere = Location(None)
    return [*result, handler, ("CALL_INTRINSIC_1", 3, nowhere), ("RERAISE", 1, nowhere)]
