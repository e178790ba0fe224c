"""One set of instructions over all supported interpreters.

An `Assembler` takes operations ("compare and jump", "call with two arguments and one keyword") and writes
what the running interpreter wants.

It refuses to know what a graph is: it is told names, objects, labels and positions.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Final

from adbc.emit.assembly import PY312, PY313, PY314, PY315, Assembly
from adbc.emit.items import Begin, Cell, End, Label

__all__ = ["ITERATOR_SLOTS", "SPECIAL", "Assembler"]

ALONE: Final = 8 if PY315 else 4 if PY313 else 0
"""What RESUME is told behind a yield that no handler is around."""

ITERATOR_SLOTS: Final = 2 if PY315 else 1
"""How many values on the stack the iterator of a ``for`` loop takes: from 3.15 there is an index as well."""

_OPERATORS: Final = (
    *("add", "and", "floordiv", "lshift", "matmul", "mul", "mod"),
    *("or", "pow", "rshift", "sub", "truediv", "xor"),
)
BINARY: Final = {name: number for number, name in enumerate(_OPERATORS)}
SPECIAL: Final = ("__enter__", "__exit__")
COMPARE: Final = {name: number for number, name in enumerate(["lt", "le", "eq", "ne", "gt", "ge"])}
OUTCOMES: Final = {"lt": 2, "le": 10, "eq": 8, "ne": 7, "gt": 4, "ge": 12}
"""For which outcomes a comparison holds, as it tells from 3.12 on: bits for unordered, less, greater,
equal."""
JUMP_IF: Final = "POP_JUMP_IF_" if PY312 else "POP_JUMP_FORWARD_IF_"


class Assembler(Assembly):
    """Writes one code object, an operation at a time.

    Docstrings of operations show the stack before and after, the top to the right: ``a b -> result``.
    """

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
        """``namespace -> value``: a name of the class body, else a variable of the closure; from 3.12."""
        self.op("LOAD_FROM_DICT_OR_DEREF", Cell(name, free), 0)

    def store_deref(self, name: str, free: bool) -> None:
        self.op("STORE_DEREF", Cell(name, free), -1)

    def delete_deref(self, name: str, free: bool) -> None:
        self.op("DELETE_DEREF", Cell(name, free), 0)

    def load_closure(self, name: str, free: bool) -> None:
        """``-> cell``: the cell itself, not what is in it."""
        self.op("LOAD_FAST" if PY313 else "LOAD_CLOSURE", Cell(name, free), 1)

    def pop(self) -> None:
        self.op("POP_TOP", None, -1)

    def swap(self, n: int) -> None:
        self.op("SWAP", n, 0)

    def copy(self, n: int) -> None:
        self.op("COPY", n, 1)

    def drop_below(self) -> None:
        """``a b -> b``"""
        self.swap(2)
        self.pop()

    def load_global(self, name: str) -> None:
        self.op("LOAD_GLOBAL", self.name(name) << 1, 1)

    def class_global(self, name: str) -> None:
        """``namespace -> value``: a name of the class body, else a global; from 3.12."""
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
        """``value ->``, a jump if the value, which need not be a bool, is true."""
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
        self._slice("BINARY_SLICE", -2, self.getitem)

    def set_slice(self) -> None:
        """``value container start stop ->``"""
        self._slice("STORE_SLICE", -4, self.setitem)

    def _slice(self, name: str, effect: int, subscript: Callable[[], None]) -> None:
        """Write the operation `name` on the bounds of a slice; before 3.12, make the slice and write
        `subscript` with it."""
        if PY312:
            self.op(name, None, effect)
        else:
            self.op("BUILD_SLICE", 2, -1)
            subscript()

    # -- attributes, iteration, containers ---------------------------------------------------------

    def getattr(self, name: str) -> None:
        self.op("LOAD_ATTR", self.name(name) << 1 if PY312 else self.name(name), 0)

    def setattr(self, name: str) -> None:
        """``value object ->``"""
        self.op("STORE_ATTR", self.name(name), -2)

    def delattr(self, name: str) -> None:
        self.op("DELETE_ATTR", self.name(name), -1)

    def iter(self) -> None:
        """``iterable -> iterator``; the iterator is an object that may go anywhere."""
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
        """``iterable -> loop iterator``; the latter is as many values as `ITERATOR_SLOTS` says."""
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
        """Open the place where an exhausted loop goes: the iterator is gone afterwards.

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
        """``values -> object`` of a `kind`: TUPLE, LIST, SET, STRING, SLICE or MAP (of `count` pairs)."""
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
        """What is written before a callable is pushed."""
        if not PY313:
            self.op("PUSH_NULL", None, 1)

    def null_after(self) -> None:
        """What is written after a callable was pushed."""
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
        """``callable .. keywords more -> callable .. keywords``; error messages name the callable.

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
        """Write the start of a generator: the call ends here, with the generator as its result."""
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
        """Let what follows, up to `unprotect`, raise into `handler`, with `depth` values and the exception
        on the stack."""
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
        """``manager -> pair`` of a method of the manager, from 3.14."""
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
