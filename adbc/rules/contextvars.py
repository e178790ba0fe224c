"""`contextvars`: a variable of a context is an object with one field, which `set` writes and `reset` writes
back.

A token says what was there before, and can be used once.  So the pullback of a `reset` sets the value again,
and has a new token for the pullback of that `set` which made the first one.
"""

from __future__ import annotations

import contextvars
from collections.abc import Callable, Sequence
from typing import Any

from adbc.errors import UnsupportedError
from adbc.rules.sequences import symbolic
from adbc.rules.table import NO_KWARGS, Args, Kwargs, Primitive, Pullback, Rule, ZeroRule
from adbc.tangents import NO_TANGENT, fill_tangent, slot_increment, slot_rdata, slot_shadow, slot_tangent
from adbc.tangents.keys import CALL, key_shadow, key_tangent
from adbc.tangents.protocol import kind_of
from adbc.tangents.variables import FIELD, value_of

__all__ = ["ROWS"]

_ABSENT = object()


class _Before:
    """What stood beside a variable before it was set, and the token that brings back what it was then."""

    def __init__(self, slot: Any, token: Any) -> None:
        self.slot = slot
        self.token = token


def _fields(shadow: Any) -> dict[str, Any]:
    """The fields of the shadow or tangent of a variable; those of a constant are nobody's."""
    return {} if shadow is None or shadow is NO_TANGENT else shadow.__dict__


def _put(fields: dict[str, Any], slot: Any) -> None:
    if slot is _ABSENT:
        fields.pop(FIELD, None)
    else:
        fields[FIELD] = slot


def _check_thread(var: Any) -> None:
    """Refuse what is asked of `var` in a task that a thread with a context of its own would run."""
    if CALL.memory is not None and CALL.memory.tasks:
        raise UnsupportedError(
            f"the context variable {var.name!r} is asked for, or set, in a task of a ThreadPoolExecutor",
            "the task is run where it is submitted, and a thread has a context of its own",
            "pass the value to the task as an argument",
        )


def _note(token: Any, before: _Before) -> None:
    """Take note of what was there before the `set` that gave `token`."""
    if CALL.memory is not None:
        CALL.memory.tokens[id(token)] = token, before


def _noted(token: Any) -> _Before | None:
    """What was there before the `set` that gave `token`; None if that was before the call."""
    found = None if CALL.memory is None else CALL.memory.tokens.get(id(token))
    return None if found is None else found[1]


# -- reading ---------------------------------------------------------------------------------------------


def _get_frule(args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
    var, *default = args
    _check_thread(var)
    out = var.get(*default)
    if value_of(var, _ABSENT) is not _ABSENT:
        return out, symbolic(_fields(dargs[0]).get(FIELD))
    if default:
        return out, dargs[1]
    return out, symbolic(key_tangent(out))


def _get_rrule(args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any, Pullback]:
    var, *default = args
    _check_thread(var)
    out = var.get(*default)
    count = len(args)
    if value_of(var, _ABSENT) is _ABSENT:
        if default:
            return out, fargs[1], lambda bout: (None, bout)
        return out, key_shadow(out), lambda bout: (None,)
    fields = _fields(fargs[0])

    def get_pullback(bout: Any) -> Sequence[Any]:
        if bout is not None and FIELD in fields:
            fields[FIELD] = slot_increment(fields[FIELD], bout)
        return (None,) * count

    return out, slot_shadow(fields.get(FIELD)), get_pullback


# -- writing ---------------------------------------------------------------------------------------------


def _set_frule(args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
    var, value = args
    _check_thread(var)
    fields = _fields(dargs[0])
    token = var.set(value)
    _note(token, _Before(fields.get(FIELD, _ABSENT), token))
    fields[FIELD] = fill_tangent(value, dargs[1])
    return token, None


def _set_rrule(args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any, Pullback]:
    var, value = args
    _check_thread(var)
    fields = _fields(fargs[0])
    token = var.set(value)
    before = _Before(fields.get(FIELD, _ABSENT), token)
    _note(token, before)
    fields[FIELD] = slot_tangent(value, fargs[1])

    def set_pullback(bout: Any) -> Sequence[Any]:
        b = slot_rdata(fields[FIELD])
        var.reset(before.token)
        _put(fields, before.slot)
        return None, b

    return token, None, set_pullback


def _reset_frule(args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
    var, token = args
    before = _noted(token)
    var.reset(token)
    _put(_fields(dargs[0]), _slot_of(var, before))
    return None, None


def _reset_rrule(args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any, Pullback]:
    var, token = args
    fields = _fields(fargs[0])
    before = _noted(token) or _Before(_ABSENT, token)
    value, slot = value_of(var, _ABSENT), fields.get(FIELD, _ABSENT)
    var.reset(token)
    _put(fields, _slot_of(var, _noted(token)))

    def reset_pullback(bout: Any) -> Sequence[Any]:
        before.slot = fields.get(FIELD, _ABSENT)
        if value is not _ABSENT:
            before.token = var.set(value)
        _put(fields, slot)
        return None, None

    return None, None, reset_pullback


def _slot_of(var: Any, before: _Before | None) -> Any:
    """What is to stand beside the variable, which has been reset."""
    if before is not None:
        return before.slot
    value = value_of(var, _ABSENT)
    return value if value is _ABSENT else slot_tangent(value, key_shadow(value))


# -- what is not told apart ------------------------------------------------------------------------------


def _refusing(function: Any, what: str, values: Callable[[Any], list[Any]]) -> Rule:
    """The row of a function whose result leads to `values` that nothing stands beside: it is refused if these
    may have a derivative, as the call has set variables."""

    def check(args: Args) -> Any:
        out = function.__get__(args[0]) if args else function()
        found = values(out)
        is_set = CALL.memory is not None and CALL.memory.tokens
        if is_set and any(not kind_of(type(x)).inactive for x in found):
            raise UnsupportedError(
                f"{what} is asked for values that the function may have set",
                "their derivatives are kept with the variables of the context, not with copies of it",
                "ask the variable: var.get()",
            )
        return out

    def frule(args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
        return check(args), None

    def rrule(args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any, Pullback]:
        return check(args), None, lambda bout: (None,) * len(args)

    row = Primitive(function, frule=frule, rrule=rrule)
    row.keeps_books = _always_kept
    return row


def _always_kept(args: Args) -> bool:
    return True


def _always(row: Rule) -> Rule:
    """Return `row`, marked as one that is used where nothing is active, too: it checks something."""
    row.mutates = True
    return row


def _writing(function: Any, frule: Any, rrule: Any) -> Rule:
    row = Primitive(function, frule=frule, rrule=rrule)
    row.mutates, row.keeps_books = True, _keeps_books
    return row


def _keeps_books(args: Args) -> bool:
    """Whether a variable is set or reset to a value that may have a derivative, or from one: settings, as
    NumPy keeps those of its errors, have none."""
    var, given = args
    if isinstance(given, contextvars.Token):
        old = given.old_value
        values = [] if old is contextvars.Token.MISSING else [old]
    else:
        values = [given]
    values += [x for x in [value_of(var, None)] if x is not None]
    return any(not kind_of(type(x)).inactive for x in values)


def _values_set(out: Any) -> list[Any]:
    """The values in the context `out` of variables that the call has set."""
    tokens = {} if CALL.memory is None else CALL.memory.tokens
    return [out.get(token.var) for token, _ in tokens.values()]


ROWS: list[Rule] = [
    ZeroRule(_check_thread),
    _always(Primitive(contextvars.ContextVar.get, frule=_get_frule, rrule=_get_rrule)),
    _writing(contextvars.ContextVar.set, _set_frule, _set_rrule),
    _writing(contextvars.ContextVar.reset, _reset_frule, _reset_rrule),
    _refusing(contextvars.Token.old_value, "a token", lambda out: [out]),
    _refusing(contextvars.copy_context, "a copy of the context", _values_set),
]
