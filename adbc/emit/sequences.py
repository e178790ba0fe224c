"""Short sequences of instructions with jumps among them: what takes more than one instruction to say.

Each function writes one with the assembler that it is given; its docstring says what it makes of the stack.
They are written here so that nothing is called at run time for a test.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

from adbc.emit.assembler import Assembler
from adbc.emit.items import Label
from adbc.ir import intrinsics

__all__ = ["SEQUENCES"]


def _unless_is(asm: Assembler, value: object, label: Label) -> None:
    """Jump to `label` if the top of the stack, which stays there, is not `value`."""
    asm.copy(1)
    asm.const(value)
    asm.is_(False)
    asm.jump_if("FALSE", label)


def check(asm: Assembler, name: str) -> None:
    """Raise `UnboundLocalError` if the value on top of the stack, which stays there, stands for an unbound
    local."""
    bound = Label()
    _unless_is(asm, intrinsics.UNBOUND, bound)
    # The variable of this name holds another value, or none: the message is written here.
    asm.null_before()
    asm.const(UnboundLocalError)
    asm.null_after()
    asm.const(f"cannot access local variable '{name}' where it is not associated with a value")
    asm.call(1)
    asm.raise_(1)
    asm.place(bound)


def or_else(asm: Assembler, other: object) -> None:
    """``value -> value``, with `other` in place of None."""
    there = Label()
    asm.copy(1)
    asm.jump_if("NOT_NONE", there)
    asm.pop()
    asm.const(other)
    asm.place(there)


def nonzero(asm: Assembler, other: object) -> None:
    """``value -> value``, with `other` in place of zero."""
    there = Label()
    asm.copy(1)
    asm.jump_if_true(there)
    asm.pop()
    asm.const(other)
    asm.place(there)


def strong(asm: Assembler, function: object) -> None:
    """``a b -> function(a, b)``, for a product or quotient in which zero wins: it is computed here, and the
    function is only called if that has given NaN."""
    there = Label()
    asm.copy(2)
    asm.copy(2)
    asm.binary("mul" if function is intrinsics._product_ else "truediv")
    asm.copy(1)
    asm.copy(1)
    asm.compare("eq", truth=True)
    asm.jump_if("TRUE", there)
    asm.pop()
    asm.null_before()
    asm.const(function)
    asm.null_after()
    asm.copy(4)
    asm.copy(4)
    asm.call(2)
    asm.place(there)
    asm.swap(3)
    asm.pop()
    asm.pop()


def real(asm: Assembler, nothing: object) -> None:
    """``value -> value``, with 0.0 in place of None and of `nothing`."""
    zero, there = Label(), Label()
    asm.copy(1)
    asm.jump_if("NONE", zero)
    _unless_is(asm, nothing, there)
    asm.place(zero)
    asm.pop()
    asm.const(0.0)
    asm.place(there)


def slot(asm: Assembler, nothing: object) -> None:
    """``values key -> values[key]``; None if `values` is None or the element is `nothing`."""
    some, there = Label(), Label()
    asm.copy(2)
    asm.jump_if("NOT_NONE", some)
    asm.pop()
    asm.jump(there)
    asm.place(some)
    asm.getitem()
    _unless_is(asm, nothing, there)
    asm.pop()
    asm.const(None)
    asm.place(there)


def method_is(asm: Assembler, function: object) -> None:
    """``value obj -> bool``: whether `value` is `function` bound to `obj`.  Only methods are asked for
    their parts; of those in C the name says which one it is."""
    is_in_c = type(function) is types.MethodDescriptorType
    kind, part = (types.BuiltinFunctionType, "__name__") if is_in_c else (types.MethodType, "__func__")
    other, there = Label(), Label()
    asm.null_before()
    asm.const(type)
    asm.null_after()
    asm.copy(4)
    asm.call(1)
    asm.const(kind)
    asm.is_(False)
    asm.jump_if("FALSE", other)
    asm.copy(2)
    asm.getattr(part)
    if is_in_c:
        asm.const(function.__name__)  # type: ignore[attr-defined]
        asm.compare("eq")
    else:
        asm.const(function)
        asm.is_(False)
    asm.jump_if("FALSE", other)
    asm.swap(2)
    asm.getattr("__self__")
    asm.is_(False)
    asm.jump(there)
    asm.place(other)
    asm.pop()
    asm.pop()
    asm.const(False)
    asm.place(there)


def form_is(asm: Assembler, form: tuple[Any, ...]) -> None:
    """``value -> bool``: whether `value` is a tuple of this form (`intrinsics._form_is_`)."""
    other, there = Label(), Label()

    def call_on_part(function: object, path: tuple[int, ...]) -> None:
        asm.null_before()
        asm.const(function)
        asm.null_after()
        asm.copy(3)
        for index in path:
            asm.const(index)
            asm.getitem()
        asm.call(1)

    def describe(path: tuple[int, ...], names: tuple[str, ...], expected: object) -> None:
        asm.copy(1)
        for index in path:
            asm.const(index)
            asm.getitem()
        for name in names:
            asm.getattr(name)
        asm.const(expected)
        asm.compare("eq", truth=True)
        asm.jump_if("FALSE", other)

    def test(known: Any, path: tuple[int, ...]) -> None:
        is_form = known.__class__ is tuple
        if is_form and known[:1] == ("array",):
            _, cls, code, ndim = known
            test(cls, path)
            describe(path, ("dtype", "char"), code)
            describe(path, ("ndim",), ndim)
            return
        call_on_part(type, path)
        asm.const(tuple if is_form else known)
        asm.is_(False)
        asm.jump_if("FALSE", other)
        if is_form:
            call_on_part(len, path)
            asm.const(len(known))
            asm.compare("eq", truth=True)
            asm.jump_if("FALSE", other)
            for index, part in enumerate(known):
                if part is not None:
                    test(part, (*path, index))

    test(form, ())
    asm.pop()
    asm.const(True)
    asm.jump(there)
    asm.place(other)
    asm.pop()
    asm.const(False)
    asm.place(there)


def require(asm: Assembler, complain: object) -> None:
    """``subject value ->``; `complain` raises an error about the subject if the value is None."""
    there = Label()
    asm.jump_if("NOT_NONE", there)
    asm.null_before()
    asm.const(complain)
    asm.null_after()
    asm.copy(3)
    asm.const(None)
    asm.call(2)
    asm.pop()
    asm.place(there)
    asm.pop()


def within(asm: Assembler, given: tuple[float, object, int]) -> None:
    """``others value ->``; unless the size of the value is less than a limit, the function behind that in
    `given` is called with it and the others, of which there are so many."""
    limit, complain, count = given
    far, there = Label(), Label()
    asm.copy(1)
    asm.const(limit)
    asm.compare("ge", truth=True)
    asm.jump_if("TRUE", far)
    asm.copy(1)
    asm.const(-limit)
    asm.compare("le", truth=True)
    asm.jump_if("FALSE", there)
    asm.place(far)
    asm.null_before()
    asm.const(complain)
    asm.null_after()
    asm.copy(3)
    for _ in range(count):
        asm.copy(4 + count)
    asm.call(1 + count)
    asm.pop()
    asm.place(there)
    for _ in range(1 + count):
        asm.pop()


def find_special(asm: Assembler, name: str) -> None:
    """``manager -> method``, bound; the interpreter's own instruction raises if there is none."""
    found = Label()
    asm.copy(1)
    asm.const(intrinsics.find_special)
    asm.swap(2)
    asm.null_after()
    asm.swap(2)
    asm.const(name)
    asm.call(2)
    _unless_is(asm, intrinsics.MISSING, found)
    asm.pop()
    asm.load_special(name)
    asm.pop()
    asm.const(None)
    asm.place(found)
    asm.drop_below()


SEQUENCES: dict[str, Callable[[Assembler, Any], None]] = {
    "check": check,
    "find_special": find_special,
    "or_else": or_else,
    "nonzero": nonzero,
    "real": real,
    "strong": strong,
    "slot": slot,
    "form_is": form_is,
    "method_is": method_is,
    "require": require,
    "within": within,
}
"""The functions that write sequences, by the name of the step of a plan that asks for one (`templates`)."""
