"""Attributes that values of classes derived from ``str``, ``float``, ``tuple`` and their like have beside.

So have instances of classes derived from ``set``, which have no tangent.  Such a value travels as one of the
builtin class does: its shadow, if it has any, tells nothing of attributes.  These stand in the dictionary of
the instance, and their tangents in the shadow of that dictionary, which is found by its address.  It is made
when the first attribute with a derivative is set; before that an attribute that is read is constant, or has
memory with a shadow by its own address.
"""

from __future__ import annotations

import types
from collections import deque
from typing import Any

from adbc.errors import UnsupportedError
from adbc.rules.table import Rule
from adbc.runtime.calls import fields
from adbc.runtime.calls.classes import lookup
from adbc.runtime.calls.steps import Call
from adbc.runtime.state.context import Context
from adbc.tangents import NO_TANGENT, MutableTangent
from adbc.tangents.fields import has_attributes_beside, has_slots_beside, instance_dict, instance_fields
from adbc.tangents.protocol import kind_of

__all__ = ["check_result", "hidden", "reads_value", "shadow"]


def shadow(context: Context, call: Call, row: Rule) -> MutableTangent | None:
    """The shadow for the object of `call`, which reads, sets or deletes an attribute by `row`; None if there
    is nothing with a derivative among its attributes, and will not be."""
    obj = call.args[0]
    if has_slots_beside(type(obj)) and issubclass(
        type(lookup(type(obj), call.args[1])), types.MemberDescriptorType
    ):
        _put_into_slot(context, call)
        return None
    own = instance_dict(obj)
    known = context.shadows.lookup(own)
    if known is None or known is NO_TANGENT:
        if row is not fields.SET or call.shadows[2] is None or call.shadows[2] is NO_TANGENT:
            return None
        if known is NO_TANGENT:  # declared constant: `fields` refuses it
            return None
        known = context.shadows.found(own)
        context.beside.append(obj)
        context.has_end = True
    if row is fields.GET and call.args[1] not in known:
        return None
    found = MutableTangent()
    found.__dict__ = known
    return found


def _put_into_slot(context: Context, call: Call) -> None:
    """Let what `call` puts into a slot be known by its address, if it has memory: so it has its shadow when
    it is read there."""
    value, shadow = call.args[2], call.shadows[2]
    if kind_of(type(value)).address:
        context.shadows.adopt(value, shadow)
        call.shadows = (*call.shadows[:2], None)


def check_result(context: Context, result: Any) -> None:
    """Refuse `result`, that of the whole call, if a value in it has attributes with a derivative: its
    cotangent has no place for theirs."""
    given = {id(x): x for x in context.beside}
    pending, seen = [result], set()
    while pending:
        x = pending.pop()
        if id(x) in seen or issubclass(type(x), type | types.ModuleType | types.FunctionType):
            continue
        seen.add(id(x))
        if id(x) in given and context.is_active(context.shadows.lookup(instance_dict(x))):
            raise UnsupportedError(
                f"the result holds a {type(x).__name__}, a value with attributes that have a derivative",
                "the tangent of such a value has no place for those of its attributes",
                "return the numbers by themselves",
            )
        pending.extend(value for _, value in instance_fields(x))
        iterate: Any = next((c.__iter__ for c in _SEQUENCES if issubclass(type(x), c)), None)
        if iterate is not None:
            pending.extend(iterate(x))
        elif issubclass(type(x), dict):
            pending.extend(dict.values(x))


def hidden(x: Any) -> Any:
    """The dictionary of the attributes that value `x` has beside, which it hides from who is given it."""
    return instance_dict(x) if has_attributes_beside(type(x)) else None


def reads_value(function: Any) -> bool:
    """Whether `function` is a method of a builtin class of values, which looks at nothing but the value."""
    return getattr(function, "__objclass__", None) in _VALUES


_SEQUENCES = (tuple, list, deque)
_VALUES = (str, int, float, complex, bytes, tuple, set, frozenset)
