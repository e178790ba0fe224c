"""Calls, and the builtins whose call means something else inside a frame.

Below the arguments lie two slots, a function and a receiver, one of which may be empty; which of
them comes first changed in 3.13, so the rule here covers both orders: without an empty slot, the
first is called and the second is its first argument.
"""

from __future__ import annotations

from typing import Any

from adbc.cpython.refusals import Construct
from adbc.ir.intrinsics import UNBOUND, _refuse_, _variables_
from adbc.ir.values import Const, Value
from adbc.lift.frame import NULL, Frame

__all__ = ["HANDLERS"]


def _call(frame: Frame, arg: tuple[int, tuple[str, ...]]) -> None:
    count, keywords = arg
    arguments = frame.pop_many(count)
    function = _callee(frame, arguments)
    if not arguments and _special(frame, function):
        return
    if frame.looks is not None:
        if frame.is_builtin(function, "eval", "exec"):
            if len(arguments) == 1 and not keywords:  # in the namespaces of the caller
                arguments += frame.emit("globals"), _variables(frame)
        elif function in frame.looks:
            function, arguments, keywords = *_refused(frame.looks[function]), ()
    frame.push(frame.call(function, *arguments, keywords=keywords))


def _refused(construct: Construct) -> tuple[Value, list[Value]]:
    """What is called, with which arguments, in the place of a function that looks at frames."""
    return Const(_refuse_), [Const(construct.words), Const(construct.remedy)]


def _variables(frame: Frame) -> Value:
    """What ``locals()`` gives."""
    if frame.namespace is not None:
        return frame.namespace
    made_here = frame.code.code.co_cellvars
    names, values = [], []
    for slot in frame.code.slots:
        value = frame.read(slot)
        if not slot.name.startswith(".") and not (isinstance(value, Const) and value.value is UNBOUND):
            names.append((slot.name, slot.free or slot.name in made_here))
            values.append(value)
    return frame.call(_variables_, Const(tuple(names)), *values)


def _callee(frame: Frame, arguments: list[Value]) -> Value:
    """Pop the function that is called, and put its receiver, if there is one, in front of `arguments`."""
    first, second = frame.pop_many(2)
    if first is NULL:
        return second
    if second is not NULL:
        arguments.insert(0, second)
    return first


def _special(frame: Frame, function: Value) -> bool:
    """Refuse or rewrite a call without arguments of a builtin that looks at the frame; whether it was
    rewritten."""
    if frame.is_builtin(function, "locals", "vars", "dir"):
        if frame.looks is None:
            raise frame.refusal("vars")
        is_list = frame.is_builtin(function, "dir")
        frame.push(frame.call(sorted, _variables(frame)) if is_list else _variables(frame))
        return True
    if frame.is_builtin(function, "globals"):
        frame.push(frame.emit("globals"))
        return True
    if frame.is_builtin(function, "super"):
        return _zero_argument_super(frame, function)
    return False


def _zero_argument_super(frame: Frame, function: Value) -> bool:
    """Rewrite ``super()`` as ``super(__class__, self)``, except where CPython raises; whether it was
    rewritten."""
    cells = [slot for slot in frame.code.slots if slot.free and slot.name == "__class__"]
    if not cells or not frame.code.code.co_argcount:
        return False
    cls = frame.emit("cell_get", frame.read(cells[0]), attribute=("__class__", True))
    slot = frame.code.slots[0]
    if slot.name in frame.code.code.co_cellvars:
        instance: Value = frame.emit("cell_get", frame.read(slot), attribute=(slot.name, False))
    else:
        instance = frame.checked(slot)
    frame.push(frame.emit("call", function, cls, instance))
    return True


def _call_ex(frame: Frame, flags: int) -> None:
    operands = frame.pop_many(1 + (flags & 1))
    first, second = frame.pop_many(2)
    function = second if first is NULL else first
    if frame.looks is not None and function in frame.looks:
        function, operands = _refused(frame.looks[function])
        frame.push(frame.call(function, *operands))
        return
    frame.push(frame.emit("apply", function, *operands))


def _dict_merge(frame: Frame, depth: int) -> None:
    other = frame.pop()
    # Below the mapping lie the positional arguments and the function, for the error's message.
    below = frame.stack[-depth - 2]
    function = frame.stack[-depth - 3] if below is NULL else below
    frame.emit("dict_merge", frame.stack[-depth], other, Const(None) if function is NULL else function)


HANDLERS: dict[str, Any] = {
    "call": _call,
    "call_ex": _call_ex,
    "dict_merge": _dict_merge,
}
