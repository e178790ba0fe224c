"""Class statements inside differentiated functions.

The body of a class runs once, in a namespace of its own, and mostly makes functions.  It runs as it
is.  The functions that it makes may close over values with derivatives: they find the shadows of
those cells by address.  What the body may not do is compute with such values itself.
"""

from __future__ import annotations

import dis
import types
from typing import Any

from adbc.errors import UnsupportedError
from adbc.runtime.activity import is_active
from adbc.runtime.closures import cells_of
from adbc.runtime.context import Context
from adbc.runtime.messages import describe

__all__ = ["build_class"]

_READS = frozenset(
    {"LOAD_DEREF", "LOAD_CLASSDEREF", "LOAD_FROM_DICT_OR_DEREF", "STORE_DEREF", "DELETE_DEREF"}
)


def build_class(context: Context, call: Any) -> Any:
    """Run ``__build_class__(body, name, *bases, **keywords)``; gives the class."""
    body, n = call.args[0], call.count
    if any(map(is_active, call.shadows[1:])):
        raise UnsupportedError(
            f"class {call.args[1]!r} is made with bases or keywords that have a derivative; make the class"
            " outside the function, and pass such values to its methods"
        )
    if isinstance(body, types.FunctionType):
        computed = {i.argval for i in dis.get_instructions(body) if i.opname in _READS}
        for name, (cell, shadow) in zip(
            body.__code__.co_freevars, cells_of(context, body, call.shadows[0]), strict=True
        ):
            context.shadows.register(cell, shadow)
            if name in computed and is_active(shadow):
                raise UnsupportedError(
                    f"the body of class {call.args[1]!r} ({describe(body)}) reads {name!r}, which has a"
                    f" derivative; set the attribute in __init__, or read {name!r} in the methods"
                )
    return call.function(*call.args[:n], **dict(zip(call.keywords, call.args[n:], strict=True)))
