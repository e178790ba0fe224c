"""``global name; name = value`` in differentiated code."""

from __future__ import annotations

from collections.abc import Callable, Container
from typing import Any

from adbc.errors import UnsupportedError
from adbc.runtime.state.context import Context
from adbc.tangents import slot_rdata

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


def global_store(guarded: Container[tuple[int, str]]) -> Callable[..., Any]:
    """The function for ``global name; name = value``, for values without a derivative.

    It gives what undoes it.  A global that generated code takes for fixed (a function that it calls)
    cannot be changed while that code runs.
    """

    def store_global(context: Context, namespace: dict[str, Any], name: str, value: Any, shadow: Any) -> Any:
        if context.is_active(shadow):
            raise UnsupportedError(
                f"global {name!r} is set to a value that has a derivative",
                "a global outlives the call",
                "return the value, or keep it in an object that is passed in",
            )
        old = namespace.get(name, _ABSENT)
        if old is not value and (id(namespace), name) in guarded:
            raise UnsupportedError(
                f"global {name!r} is bound to something else",
                "code that uses what it was bound to is being differentiated",
                "bind it before the call, or pass the function or module as an argument",
            )
        context.shadows.adopt(value, shadow)  # it will be met again, as what the global holds
        namespace[name] = value

        def undo(_: object) -> None:
            if old is _ABSENT:
                namespace.pop(name, None)
            else:
                namespace[name] = old

        return undo

    return store_global
