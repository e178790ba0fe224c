"""``global name; name = value`` in differentiated code."""

from __future__ import annotations

from collections.abc import Callable, Container
from typing import Any

from adbc.errors import UnsupportedError
from adbc.runtime.state.context import Context
from adbc.tangents import NO_TANGENT, fill_tangent, lost, slot_rdata, slot_tangent

__all__ = ["check_global", "global_store"]

_ABSENT = object()


def check_global(context: Context, namespace: dict[str, Any], name: str) -> None:
    """Refuse to read the global `name` if `namespace` is a dict that code is executed in and holds a number
    with a derivative by that name: what is read as a global is a constant."""
    shadow = context.shadows.lookup(namespace)
    if type(shadow) is dict and slot_rdata(shadow.get(name)) is not None:
        raise UnsupportedError(
            f"a function that was made by exec or eval reads {name!r}, a number with a derivative in the"
            " namespace that it was made in",
            "what a function reads as a global is a constant",
            f"pass {name!r} to the function as an argument",
        )


def _put_off(context: Context, name: str, value: Any, shadow: Any) -> float:
    """What comes back to `value`, which a global is set to, while it is not known whether it depends on the
    input; raises if the refusal may not wait."""

    def refusal() -> UnsupportedError:
        return UnsupportedError(
            f"global {name!r} is set to a value that has a derivative",
            "a global outlives the call",
            "return the value, or keep it in an object that is passed in",
        )

    nan = context.put_off(refusal) if lost.may_be_lost(value, shadow) else None
    if nan is None:
        raise refusal()
    return nan


def global_store(guarded: Container[tuple[int, str]]) -> Callable[..., Any]:
    """The function for ``global name; name = value``, for values without a derivative.

    It gives what undoes it, and then gives the cotangent of the value in a tuple: NaN if it was not known
    whether the value depends on the input.  A global that generated code takes for fixed (a function that it
    calls) cannot be changed while that code runs.  If the namespace is a dict of the program's, in which it
    has code executed, its items have derivatives as those of other dicts.
    """

    def store_global(context: Context, namespace: dict[str, Any], name: str, value: Any, shadow: Any) -> Any:
        beside = context.shadows.lookup(namespace)
        items = beside if type(beside) is dict else None
        is_lost = items is None and context.is_active(shadow)
        nan = _put_off(context, name, value, shadow) if is_lost else None
        old = namespace.get(name, _ABSENT)
        if old is not value and (id(namespace), name) in guarded:
            raise UnsupportedError(
                f"global {name!r} is bound to something else",
                "code that uses what it was bound to is being differentiated",
                "bind it before the call, or pass the function or module as an argument",
            )
        context.shadows.adopt(value, shadow)  # it will be met again, as what the global holds
        namespace[name] = value
        kept: Any = None
        if items is not None:
            kept = items.get(name)
            fill = fill_tangent if context.is_forward else slot_tangent
            items[name] = fill(value, None if shadow is NO_TANGENT else shadow)

        def undo(_: object) -> tuple[Any]:
            returned = None if nan is None else lost.lose(value, shadow, nan)
            if items is not None:
                returned = slot_rdata(items.pop(name))
                if kept is not None:
                    items[name] = kept
            if old is _ABSENT:
                namespace.pop(name, None)
            else:
                namespace[name] = old
            return (returned,)

        return undo

    return store_global
