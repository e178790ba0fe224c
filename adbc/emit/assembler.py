"""One set of instructions over all supported interpreters.

An `Assembler` takes operations ("compare and jump", "call with two arguments and one keyword") and
writes what the running interpreter wants, as items that `encoding` makes a code object of.  It counts the
stack exactly, and keeps these traps of the interpreters in one place:

* Only constants of simple immutable types are shared, and only if type and representation agree
  (``0.0`` and ``-0.0`` differ).
* Stack size and the depths of exception regions come from here.
* From 3.12 all of a generator that has no other handler has one that makes a `RuntimeError` of a
  `StopIteration`.  It is put in at the end, around the regions that are there by then.
* From 3.13 the handler of what a callee without a C frame of its own raises is looked for one code unit
  too early, so the first instruction of a region, and the first behind one, must not be such a call.
* The first string constant would become the docstring up to 3.13; the constant 0 is reserved for it.

It refuses to know what a graph is: it is told names, objects, labels and positions.
"""

from __future__ import annotations

import builtins
import inspect
import sys
import types
from typing import Any, Final

from adbc.emit.encoding import Units, encode
from adbc.emit.items import Begin, Cell, End, Item, Label, Location
from adbc.emit.peephole import optimised
from adbc.errors import VerificationError
from adbc.ir.values import Inlined, Position

__all__ = ["Assembler", "Label"]

VERSION: Final = sys.version_info[:2]
PY312: Final = VERSION >= (3, 12)
PY313: Final = VERSION >= (3, 13)
PY314: Final = VERSION >= (3, 14)
PY315: Final = VERSION >= (3, 15)

HAS_DOCSTRING: Final = 0x4000000
"""The flag of code objects whose first constant is the docstring (from 3.14)."""

ALONE: Final = 8 if PY315 else 4 if PY313 else 0
"""What RESUME is told behind a yield without a handler."""

ITERATOR_SLOTS: Final = 2 if PY315 else 1
"""How many values on the stack the iterator of a ``for`` loop is: from 3.15 there is an index as well."""

BINARY: Final = {
    name: number
    for number, name in enumerate(
        [
            "add",
            "and",
            "floordiv",
            "lshift",
            "matmul",
            "mul",
            "mod",
            "or",
            "pow",
            "rshift",
            "sub",
            "truediv",
            "xor",
        ]
    )
}
SPECIAL: Final = ("__enter__", "__exit__")
COMPARE: Final = {name: number for number, name in enumerate(["lt", "le", "eq", "ne", "gt", "ge"])}
OUTCOMES: Final = {"lt": 2, "le": 10, "eq": 8, "ne": 7, "gt": 4, "ge": 12}
"""From 3.12 a comparison also tells for which outcomes it holds: unordered, less, greater, equal."""
SHARED_TYPES: Final = frozenset({bool, int, float, complex, str, bytes, type(None), type(Ellipsis)})

JUMP_IF: Final = "POP_JUMP_IF_" if PY312 else "POP_JUMP_FORWARD_IF_"
ENTERS: Final = frozenset(
    {"BINARY_OP", "BINARY_SUBSCR", "CALL", "CALL_FUNCTION_EX", "CALL_KW", "FOR_ITER", "LOAD_ATTR", "SEND"}
)
"""Instructions that may run Python code in the interpreter's own loop, without a C frame."""


class Assembler:
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
        self.places: list[tuple[int, int, Inlined]] = []
        self._position: Position | None = None
        self.reachable = True
        self.region: Begin | None = None

    # -- bookkeeping -------------------------------------------------------------------------------

    def at(self, position: Position | None) -> None:
        """The instructions that follow belong to `position` (None: to the same as before)."""
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
        """The instructions that follow belong to `line`."""
        self.location = Location(line)

    def op(self, name: str, arg: Any, effect: int) -> None:
        """One instruction that changes the height of the stack by `effect`."""
        self.items.append((name, arg, self.location))
        if effect:
            self._grow(effect)

    def _grow(self, effect: int) -> None:
        self.depth += effect
        if self.depth < 0:
            raise VerificationError("the emitter took more from the stack than there is")
        if self.depth > self.max_depth:
            self.max_depth = self.depth

    def constant(self, value: object) -> int:
        """The number of a constant."""
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
        """The number of a name that is not one of a variable of this code."""
        return self.names.setdefault(name, len(self.names))

    def place(self, label: Label) -> None:
        """The next instruction is the target of jumps to `label`."""
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

    # -- values and variables ----------------------------------------------------------------------

    def const(self, value: object) -> None:
        self.op("LOAD_CONST", self.constant(value), 1)

    def load(self, name: str) -> None:
        self.op("LOAD_FAST", name, 1)

    def store(self, name: str) -> None:
        self.op("STORE_FAST", name, -1)

    def delete(self, name: str) -> None:
        self.op("DELETE_FAST", name, 0)

    def make_cell(self, name: str) -> None:
        self.op("MAKE_CELL", Cell(name, False), 0)

    def copy_free_vars(self, count: int) -> None:
        self.op("COPY_FREE_VARS", count, 0)

    def resume(self) -> None:
        self.op("RESUME", 0, 0)

    def load_deref(self, name: str, free: bool) -> None:
        self.op("LOAD_DEREF", Cell(name, free), 1)

    def class_deref(self, name: str, free: bool) -> None:
        """``namespace -> value``, from 3.12."""
        self.op("LOAD_FROM_DICT_OR_DEREF", Cell(name, free), 0)

    def store_deref(self, name: str, free: bool) -> None:
        self.op("STORE_DEREF", Cell(name, free), -1)

    def delete_deref(self, name: str, free: bool) -> None:
        self.op("DELETE_DEREF", Cell(name, free), 0)

    def load_closure(self, name: str, free: bool) -> None:
        """Push the cell itself."""
        self.op("LOAD_FAST" if PY313 else "LOAD_CLOSURE", Cell(name, free), 1)

    def pop(self) -> None:
        self.op("POP_TOP", None, -1)

    def swap(self, n: int) -> None:
        self.op("SWAP", n, 0)

    def copy(self, n: int) -> None:
        self.op("COPY", n, 1)

    def drop_below(self) -> None:
        """Drop the value under the top."""
        self.swap(2)
        self.pop()

    def load_global(self, name: str) -> None:
        self.op("LOAD_GLOBAL", self.name(name) << 1, 1)

    def class_global(self, name: str) -> None:
        """``namespace -> value``, from 3.12."""
        self.op("LOAD_FROM_DICT_OR_GLOBALS", self.name(name), 0)

    def store_global(self, name: str) -> None:
        self.op("STORE_GLOBAL", self.name(name), -1)

    def delete_global(self, name: str) -> None:
        self.op("DELETE_GLOBAL", self.name(name), 0)

    # -- operators ---------------------------------------------------------------------------------

    def binary(self, name: str) -> None:
        """``a b -> result``; `name` as in `operator` without underscores, in place with an ``i`` first."""
        number = BINARY.get(name)
        self.op("BINARY_OP", BINARY[name[1:]] + 13 if number is None else number, -1)

    def compare(self, name: str, truth: bool = False) -> None:
        """``a b -> result``; with `truth` the result is made a bool where the interpreter can."""
        number = COMPARE[name]
        if PY313:
            number = number << 5 | (16 if truth else 0) | OUTCOMES[name]
        elif PY312:
            number = number << 4 | OUTCOMES[name]
        self.op("COMPARE_OP", number, -1)

    def unary(self, name: str) -> None:
        if name == "pos":
            if PY312:
                self.op("CALL_INTRINSIC_1", 5, 0)
            else:
                self.op("UNARY_POSITIVE", None, 0)
        else:
            self.op({"neg": "UNARY_NEGATIVE", "invert": "UNARY_INVERT"}[name], None, 0)

    def truth(self) -> None:
        """``a -> bool(a)``"""
        if PY313:
            self.op("TO_BOOL", None, 0)
        else:
            self.op("UNARY_NOT", None, 0)
            self.op("UNARY_NOT", None, 0)

    def jump_if_true(self, label: Label) -> None:
        """``value ->``, whatever it is."""
        if PY313:
            self.op("TO_BOOL", None, 0)
        self.jump_if("TRUE", label)

    def not_(self, is_bool: bool = False) -> None:
        if PY313 and not is_bool:
            self.op("TO_BOOL", None, 0)
        self.op("UNARY_NOT", None, 0)

    def is_(self, invert: bool) -> None:
        self.op("IS_OP", int(invert), -1)

    def contains(self, invert: bool) -> None:
        """``item container -> bool``"""
        self.op("CONTAINS_OP", int(invert), -1)

    def getitem(self) -> None:
        if PY314:
            self.op("BINARY_OP", 26, -1)
        else:
            self.op("BINARY_SUBSCR", None, -1)

    def setitem(self) -> None:
        """``value container index ->``"""
        self.op("STORE_SUBSCR", None, -3)

    def delitem(self) -> None:
        self.op("DELETE_SUBSCR", None, -2)

    def get_slice(self) -> None:
        """``container start stop -> value``"""
        if PY312:
            self.op("BINARY_SLICE", None, -2)
        else:
            self.op("BUILD_SLICE", 2, -1)
            self.getitem()

    def set_slice(self) -> None:
        """``value container start stop ->``"""
        if PY312:
            self.op("STORE_SLICE", None, -4)
        else:
            self.op("BUILD_SLICE", 2, -1)
            self.setitem()

    # -- attributes, iteration, containers ---------------------------------------------------------

    def getattr(self, name: str) -> None:
        self.op("LOAD_ATTR", self.name(name) << 1 if PY312 else self.name(name), 0)

    def setattr(self, name: str) -> None:
        """``value object ->``"""
        self.op("STORE_ATTR", self.name(name), -2)

    def delattr(self, name: str) -> None:
        self.op("DELETE_ATTR", self.name(name), -1)

    def iter(self) -> None:
        """``iterable -> iterator``, an object that may go anywhere."""
        if PY315:
            # GET_ITER makes two values that only a loop understands.
            self.const(builtins.iter)
            self.swap(2)
            self.null_after()
            self.swap(2)
            self.call(1)
        else:
            self.op("GET_ITER", None, 0)

    def enter_loop(self) -> None:
        """``iterable -> loop iterator``: as many values as `ITERATOR_SLOTS` says."""
        self.op("GET_ITER", None, ITERATOR_SLOTS - 1)

    def enter_loop_with_iterator(self) -> None:
        """``iterator -> loop iterator``"""
        if PY315:
            self.op("PUSH_NULL", None, 1)

    def drop_iterator(self) -> None:
        """``loop iterator ->``"""
        for _ in range(ITERATOR_SLOTS):
            self.pop()

    def drop_iterator_below(self) -> None:
        """``loop iterator, value -> value``"""
        self.swap(1 + ITERATOR_SLOTS)
        for _ in range(ITERATOR_SLOTS):
            self.pop()

    def for_iter(self, done: Label) -> None:
        """``loop iterator -> loop iterator, value``, or jump to `done`, which `end_for` must open."""
        # What the stack looks like after `end_for`; at the label itself it depends on the version.
        before = self.depth
        self.op("FOR_ITER", done, 1)
        done.depth = before - ITERATOR_SLOTS

    def end_for(self, done: Label) -> None:
        """The place where an exhausted loop goes: the iterator is gone afterwards.

        From 3.12 the interpreter pops the iterator itself and blindly skips these instructions,
        so they must be exactly the ones it expects.
        """
        assert not self.reachable and done.depth is not None
        self.items.append(done)
        self.depth = done.depth
        if PY314:
            self.items.append(("END_FOR", None, self.location))
            self.items.append(("POP_ITER", None, self.location))
        elif PY313:
            self.items.append(("END_FOR", None, self.location))
            self.items.append(("POP_TOP", None, self.location))
        elif PY312:
            self.items.append(("END_FOR", None, self.location))
        done.placed = True
        self.reachable = True

    def unpack(self, count: int) -> None:
        """``sequence -> vn .. v1``"""
        self.op("UNPACK_SEQUENCE", count, count - 1)

    def unpack_ex(self, before: int, after: int) -> None:
        self.op("UNPACK_EX", before | after << 8, before + after)

    def build(self, kind: str, count: int) -> None:
        """`kind` is TUPLE, LIST, SET, STRING, SLICE or MAP (of `count` pairs)."""
        self.op(f"BUILD_{kind}", count, 1 - (2 * count if kind == "MAP" else count))

    def extend(self, name: str, below: int = 1) -> None:
        """``container more -> container`` for LIST_APPEND and its like; MAP_ADD takes a key and a value.

        What is added to is the value number `below` under what is added.
        """
        self.op(name, below, -2 if name == "MAP_ADD" else -1)

    def list_to_tuple(self) -> None:
        if PY312:
            self.op("CALL_INTRINSIC_1", 6, 0)
        else:
            self.op("LIST_TO_TUPLE", None, 0)

    def format(self, conversion: int, has_spec: bool) -> None:
        """``value -> text``, or ``value spec -> text``"""
        if not PY313:
            self.op("FORMAT_VALUE", conversion | (4 if has_spec else 0), -1 if has_spec else 0)
            return
        if conversion:
            if has_spec:
                self.swap(2)
            self.op("CONVERT_VALUE", conversion, 0)
            if has_spec:
                self.swap(2)
        if has_spec:
            self.op("FORMAT_WITH_SPEC", None, -1)
        else:
            self.op("FORMAT_SIMPLE", None, 0)

    def import_name(self, name: str) -> None:
        """``level fromlist -> module``"""
        # From 3.15 two bits tell whether the import is lazy, and (the upper one) whether it is never.
        self.op("IMPORT_NAME", self.name(name) << 2 | 2 if PY315 else self.name(name), -1)

    def import_from(self, name: str) -> None:
        """``module -> value``"""
        self.op("IMPORT_FROM", self.name(name), 1)
        self.drop_below()

    def make_function(self, flags: int) -> None:
        """``(defaults) (kwdefaults) (annotations) (closure) code -> function``

        From 3.14 the flag 16 instead of 4 tells that a function stands in the place of annotations.
        """
        if not PY313:
            self.op("MAKE_FUNCTION", flags, -flags.bit_count())
            return
        self.op("MAKE_FUNCTION", None, 0)
        for bit in (8, 16, 4, 2, 1):
            if flags & bit:
                self.op("SET_FUNCTION_ATTRIBUTE", bit, -1)

    # -- calls ---------------------------------------------------------------------------------------

    def null_before(self) -> None:
        """To be written before a callable is pushed."""
        if not PY313:
            self.op("PUSH_NULL", None, 1)

    def null_after(self) -> None:
        """To be written after a callable was pushed."""
        if PY313:
            self.op("PUSH_NULL", None, 1)

    def global_callable(self, name: str) -> None:
        self.op("LOAD_GLOBAL", self.name(name) << 1 | 1, 2)

    def method(self, name: str) -> None:
        """``object -> method pair``"""
        if PY312:
            self.op("LOAD_ATTR", self.name(name) << 1 | 1, 1)
        else:
            self.op("LOAD_METHOD", self.name(name), 1)

    def call(self, count: int, keywords: tuple[str, ...] = ()) -> None:
        """``pair arguments -> result``; the last arguments are passed by keyword."""
        if keywords and PY313:
            self.op("LOAD_CONST", self.constant(keywords), 1)
            self.op("CALL_KW", count, -count - 2)
            return
        if keywords:
            self.op("KW_NAMES", self.constant(keywords), 0)
        if not PY312:
            self.op("PRECALL", count, 0)
        self.op("CALL", count, -count - 1)

    def call_ex(self, has_keywords: bool) -> None:
        """``pair arguments (keywords) -> result``"""
        if PY314:
            if not has_keywords:
                self.op("PUSH_NULL", None, 1)
            self.op("CALL_FUNCTION_EX", None, -3)
        else:
            self.op("CALL_FUNCTION_EX", int(has_keywords), -3 if has_keywords else -2)

    def dict_merge(self) -> None:
        """``callable .. keywords more -> callable .. keywords``; messages name the callable.

        The callable must lie where `call_ex` will want it: see `keyword_padding`.
        """
        self.op("DICT_MERGE", 1, -1)

    keyword_padding: Final = 2 if PY313 else 1
    """How many values are between the callable and the dictionary of keywords."""

    # -- control -------------------------------------------------------------------------------------

    def jump(self, label: Label) -> None:
        self._meet(label)
        self.items.append(("JUMP_BACKWARD" if label.placed else "JUMP_FORWARD", label, self.location))
        self.reachable = False

    def jump_if(self, test: str, label: Label) -> None:
        """``value ->``; `test` is TRUE, FALSE, NONE or NOT_NONE.  From 3.13 TRUE and FALSE need a bool."""
        self._grow(-1)
        self._meet(label)
        if label.placed:
            # From 3.12 conditional jumps only go forward.  3.11 has those that go backward, but only
            # JUMP_BACKWARD makes its interpreter specialise the code: a loop without it runs at
            # two thirds of its speed until the function has been called eight times.
            opposite = {"TRUE": "FALSE", "FALSE": "TRUE", "NONE": "NOT_NONE", "NOT_NONE": "NONE"}[test]
            over = Label()
            over.depth = self.depth
            self.items.append((JUMP_IF + opposite, over, self.location))
            self.jump(label)
            self.place(over)
            return
        self.items.append((JUMP_IF + test, label, self.location))
        if PY314:
            self.items.append(("NOT_TAKEN", None, self.location))

    def ret(self) -> None:
        self.op("RETURN_VALUE", None, -1)
        self.reachable = False

    def ret_const(self, value: object) -> None:
        if PY312 and not PY314:
            self.op("RETURN_CONST", self.constant(value), 0)
        else:
            self.const(value)
            self.op("RETURN_VALUE", None, -1)
        self.reachable = False

    def make_generator(self) -> None:
        """What stands at the start of a generator: the call ends here, with the generator as its result."""
        self.op("RETURN_GENERATOR", None, 1)
        self.pop()

    def yield_value(self) -> None:
        """``value -> what is sent``

        `close` need not wake a generator that has no handler here, and from 3.12 it wants to be told.
        """
        alone = self.region is None
        self.op("YIELD_VALUE", None if not PY312 else 0 if PY313 else 1 if alone else 2, 0)
        self.op("RESUME", 1 + (ALONE if alone else 0), 0)

    def iter_to_yield_from(self) -> None:
        """``iterable -> iterator``"""
        if PY315:
            self.iter()
        else:
            self.op("GET_YIELD_FROM_ITER", None, 0)

    def yield_from(self) -> None:
        """``iterator sent -> result``; from 3.15 the iterator takes two slots here.

        The interpreter finds the inner iterator by the form of this loop, when an exception is thrown
        in, and so does everybody who asks for `gi_yieldfrom`.
        """
        if PY315:
            self.op("PUSH_NULL", None, 1)
            self.swap(2)
        loop, done = Label(), Label()
        self.place(loop)
        done.depth = self.depth if PY312 else self.depth - 1
        self.items.append(("SEND", done, self.location))
        cleanup, region = Label(), self.region
        if PY312:
            # What is thrown in and ends the inner iterator ends the loop.
            if region is not None:
                self.unprotect()
            self.protect(cleanup, self.depth)
        self.op("YIELD_VALUE", None if not PY312 else 1 if PY313 else 2, 0)
        if PY312:
            self.unprotect()
            if region is not None:
                self.protect(region.handler, region.depth)
        self.op("RESUME", 2, 0)
        self.items.append(("JUMP_BACKWARD_NO_INTERRUPT", loop, self.location))
        self.reachable = False
        if PY312:
            cleanup.depth = self.depth + 1
            self.place(cleanup)
            self.op("CLEANUP_THROW", None, -1)
        self.place(done)
        if PY312:
            self.op("END_SEND", None, -ITERATOR_SLOTS)

    def raise_(self, count: int) -> None:
        self.op("RAISE_VARARGS", count, -count)
        self.reachable = False

    # -- exceptions ----------------------------------------------------------------------------------

    def protect(self, handler: Label, depth: int) -> None:
        """What follows, up to `unprotect`, raises into `handler`, behind `depth` values and the exception."""
        self.region = Begin(handler, depth)
        self.items.append(self.region)
        # The interpreter pushes the exception even if the code in the region never gets that high.
        self.max_depth = max(self.max_depth, depth + 1)

    def unprotect(self) -> None:
        assert self.region is not None
        self.items.append(End(self.region))
        self.region = None

    def push_exc_info(self) -> None:
        """``exception -> previous``"""
        self.op("PUSH_EXC_INFO", None, 1)
        self.pop()

    def pop_except(self) -> None:
        """``previous ->``"""
        self.op("POP_EXCEPT", None, -1)

    def reraise(self) -> None:
        """``exception ->``"""
        self.op("RERAISE", 0, -1)
        self.reachable = False

    def check_exc_match(self) -> None:
        """``exception kind -> bool``"""
        self.op("CHECK_EXC_MATCH", None, 0)
        self.drop_below()

    def check_eg_match(self) -> None:
        """``exception kind -> (rest, match)``"""
        self.op("CHECK_EG_MATCH", None, 0)
        self.build("TUPLE", 2)

    def prep_reraise_star(self) -> None:
        """``original raised -> exception or None``"""
        if PY312:
            self.intrinsic_2(1)
        else:
            self.op("PREP_RERAISE_STAR", None, -1)

    enters_at_once: Final = not PY314
    """Whether one instruction enters a ``with`` statement."""

    def load_special(self, name: str) -> None:
        """``manager -> pair``, from 3.14."""
        self.op("LOAD_SPECIAL", SPECIAL.index(name), 1)

    def before_with(self) -> None:
        """``manager -> exit value``"""
        self.op("BEFORE_WITH", None, 1)

    def check_special(self, name: str) -> None:
        """``manager -> manager``, or the error of a manager that has no such method, raised here."""
        if PY314:
            self.copy(1)
            self.op("LOAD_SPECIAL", SPECIAL.index(name), 1)
            self.pop()
            self.pop()

    # -- patterns --------------------------------------------------------------------------------------

    def match_sequence(self) -> None:
        """``subject -> bool``"""
        self.op("MATCH_SEQUENCE", None, 1)
        self.drop_below()

    def match_mapping(self) -> None:
        """``subject -> bool``"""
        self.op("MATCH_MAPPING", None, 1)
        self.drop_below()

    def match_keys(self) -> None:
        """``subject keys -> values or None``"""
        self.op("MATCH_KEYS", None, 1)
        self.drop_below()
        self.drop_below()

    def match_class(self, count: int) -> None:
        """``subject class names -> values or None``"""
        self.op("MATCH_CLASS", count, -2)

    def get_len(self) -> None:
        """``subject -> length``"""
        self.op("GET_LEN", None, 1)
        self.drop_below()

    def intrinsic_1(self, number: int) -> None:
        self.op("CALL_INTRINSIC_1", number, 0)

    def intrinsic_2(self, number: int) -> None:
        self.op("CALL_INTRINSIC_2", number, -1)

    # -- the code object -----------------------------------------------------------------------------

    def finish(
        self,
        *,
        name: str,
        qualname: str,
        filename: str,
        first_line: int,
        positional: int,
        posonly: int,
        kwonly: int,
        varargs: bool,
        varkw: bool,
        local_names: list[str],
        cell_names: list[str],
        free_names: list[str],
        nested: bool,
        generator: bool,
        docstring: str | None,
    ) -> types.CodeType:
        """The code object; `local_names` begins with the parameters, `positional` includes `posonly`."""
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
        items = optimised(self.items, local_names)
        if generator and PY312:
            items = _without_stop_iteration(items)
            self.max_depth = max(self.max_depth, 2)
        code, units = encode(
            _padded(items) if PY313 else items,
            name=name,
            qualname=qualname,
            filename=filename,
            first_line=first_line,
            positional=positional,
            posonly=posonly,
            kwonly=kwonly,
            flags=flags,
            stack_size=max(self.max_depth, 1),
            constants=[docstring, *self.constants[1:]],
            names=list(self.names),
            local_names=local_names,
            cell_names=cell_names,
            free_names=free_names,
        )
        if self.inlined:
            self._find_places(units)
        return code

    def _find_places(self, units: Units) -> None:
        """Note which of the code is that of functions that were written into this one."""
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
    """Protect what nothing else protects, from where the generator starts to run."""
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
