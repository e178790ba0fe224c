"""Class statements inside differentiated functions, and other code of the user's that runs as it is.

The body of a class runs once, in a namespace of its own, and mostly makes functions.  It runs as it
is.  The functions that it makes may close over values with derivatives: they find the shadows of
those cells by address.  What the body may not do is compute with such values itself, and neither may
what else runs then: metaclasses, ``__init_subclass__``, ``__set_name__``.  That they change nothing is
seen by looking at what they reach, before and after.
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
from adbc.tangents.contents import contents, differs
from adbc.tangents.fields import instance_dict, is_python_class
from adbc.tangents.protocol import kind_of

__all__ = ["build_class", "watched"]

_READS = frozenset(
    {"LOAD_DEREF", "LOAD_CLASSDEREF", "LOAD_FROM_DICT_OR_DEREF", "STORE_DEREF", "DELETE_DEREF"}
)


def build_class(context: Context, call: Any) -> Any:
    """Run ``__build_class__(body, name, *bases, **keywords)``; gives the class."""
    if call.function is type:
        return _made_by_type(context, call)
    body = call.args[0]
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
    return watched(context, call, f"makes class {call.args[1]!r}")


def _made_by_type(context: Context, call: Any) -> Any:
    """``type(name, bases, namespace)``: functions in the namespace are found again by their addresses."""
    name, _, namespace = call.args
    shadow = call.shadows[2]
    for key, value in namespace.items():
        slot = None if shadow is None else shadow.get(key)
        if isinstance(value, types.FunctionType):
            for cell, known in cells_of(context, value, slot):
                context.shadows.register(cell, known)
        elif is_active(slot):
            raise UnsupportedError(
                f"attribute {key!r} of class {name!r} has a derivative; a class is global state. Set the"
                " attribute on the instances"
            )
    return watched(context, call, f"makes class {name!r}")


def watched(context: Context, call: Any, what: str) -> Any:
    """Make `call` of a C function; refuse if the Python code that it runs has changed something active."""
    n = call.count
    before = list(contents(_reached((call.function, *call.args))))
    out = call.function(*call.args[:n], **dict(zip(call.keywords, call.args[n:], strict=True)))
    for x, old in before:
        if differs(x, old) and is_active(context.shadows.lookup(x)):
            raise UnsupportedError(
                f"the interpreter {what}, and the Python code that it runs for that changes a"
                f" {type(x).__name__} that has a derivative; make the change in a function or method that is"
                " called plainly"
            )
    return out


def _reached(roots: Any) -> list[Any]:
    """The values that Python code behind `roots` may change: what functions close over, and what functions of
    classes do."""
    found: list[Any] = []
    seen: set[int] = set()
    pending = list(roots)
    while pending:
        x = pending.pop()
        if id(x) in seen:
            continue
        seen.add(id(x))
        if isinstance(x, types.FunctionType):
            for cell in x.__closure__ or ():
                try:
                    pending.append(cell.cell_contents)
                except ValueError:
                    continue
        elif isinstance(x, type):
            for cls in (*x.__mro__, type(x)):
                if is_python_class(cls):
                    pending.extend(vars(cls).values())
        elif isinstance(x, (classmethod, staticmethod)):
            pending.append(x.__func__)
        elif isinstance(x, property):
            pending.extend((x.fget, x.fset, x.fdel))
        elif isinstance(x, types.MethodType):
            pending.extend((x.__func__, x.__self__))
        elif isinstance(x, (list, tuple, set, frozenset)):
            found.append(x)
            pending.extend(y for y in x if not kind_of(type(y)).inactive or isinstance(y, types.FunctionType))
        elif isinstance(x, dict):
            found.append(x)
            pending.extend(x.values())
        elif not kind_of(type(x)).inactive:
            found.append(x)
            if is_python_class(type(x)):
                pending.append(type(x))
                pending.extend(instance_dict(x).values())
    return found
