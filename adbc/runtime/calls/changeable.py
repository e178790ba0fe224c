"""The values that code in Python may change, where it is run without being followed."""

from __future__ import annotations

import dataclasses
import types
from collections import deque
from typing import Any

from adbc.cpython.cells import captured, is_filled
from adbc.cpython.libraries import is_library_class, is_library_code
from adbc.cpython.names import names_in, rebinds_beyond_its_frame
from adbc.records import record
from adbc.rules.classes import shown_by
from adbc.tangents.fields import instance_fields, is_python_class
from adbc.tangents.protocol import kind_of

__all__ = ["UNBOUND", "Code", "bind", "reach_of", "variable"]


@record
class Code:
    """The functions in Python and the classes of the user's that are met on the way to what may change."""

    functions: list[types.FunctionType] = dataclasses.field(default_factory=list)
    classes: list[type] = dataclasses.field(default_factory=list)

    def variables(self) -> list[tuple[Any, str, Any]]:
        """The variables of others that the functions may bind anew, and what stands in the classes: the cell,
        namespace or class, the name there, and the value that it has now."""
        found: dict[tuple[int, str], tuple[Any, str, Any]] = {}
        for function in self.functions:
            if not rebinds_beyond_its_frame(function.__code__):
                continue
            for cell in function.__closure__ or ():
                found[id(cell), _CONTENT] = cell, _CONTENT, variable(cell, _CONTENT)
            space = function.__globals__
            for name in names_in(function.__code__):
                found[id(space), name] = space, name, variable(space, name)
        for cls in self.classes:
            found.update({(id(cls), name): (cls, name, value) for name, value in vars(cls).items()})
        return list(found.values())


def variable(place: Any, name: str) -> Any:
    """The value of the variable `name` that stands at `place`; `UNBOUND` if it has none."""
    if type(place) is types.CellType:
        return place.cell_contents if is_filled(place) else UNBOUND
    return (place if type(place) is dict else vars(place)).get(name, UNBOUND)


def bind(place: Any, name: str, value: Any) -> None:
    """Let the variable `name` that stands at `place` have `value` again."""
    if type(place) is types.CellType:
        if value is UNBOUND:
            del place.cell_contents
        else:
            place.cell_contents = value
    elif type(place) is dict:
        if value is UNBOUND:
            del place[name]
        else:
            place[name] = value
    else:
        type.__setattr__(place, name, value)


_CONTENT = "cell_contents"
UNBOUND = object()
"""Stands for the value of a variable that has none."""


def reach_of(roots: Any, code: Code | None = None) -> list[Any]:
    """The values that Python code behind `roots` may change: what functions close over, the data that they
    name as globals, and what functions of classes do.

    Code of libraries is taken to change nothing of the program's but what it is given or has closed over.
    code: notes the functions and classes that are met.
    """
    found: list[Any] = []
    seen: set[int] = set()
    pending = list(roots)
    while pending:
        x = pending.pop()
        if id(x) in seen:
            continue
        seen.add(id(x))
        if issubclass(type(x), types.FunctionType):
            pending.extend(captured(x))
            if is_library_code(x.__code__.co_filename, x.__globals__):
                continue
            if code is not None:
                code.functions.append(x)
            named = (x.__globals__.get(name) for name in names_in(x.__code__))
            pending.extend(y for y in named if not kind_of(type(y)).inactive)
        elif issubclass(type(x), type):
            for cls in (*x.__mro__, type(x)):
                if is_python_class(cls) and not is_library_class(cls):
                    if code is not None:
                        code.classes.append(cls)
                    pending.extend(vars(cls).values())
        elif issubclass(type(x), (classmethod, staticmethod)):
            pending.append(x.__func__)
        elif issubclass(type(x), property):
            pending.extend((x.fget, x.fset, x.fdel))
        elif issubclass(type(x), types.MethodType):
            pending.extend((x.__func__, x.__self__))
        elif (base := next(filter(type(x).__mro__.__contains__, _ITERABLES), None)) is not None:
            found.append(x)
            within: Any = base.__iter__(x)  # past the methods of a subclass
            pending.extend(
                y
                for y in within
                if not kind_of(type(y)).inactive
                or issubclass(type(y), types.FunctionType)
                or is_python_class(type(y))  # numbers and texts of classes of their own have methods
            )
        elif issubclass(type(x), dict):
            found.append(x)
            pending.extend(dict.values(x))
        elif not kind_of(type(x)).inactive:
            found.append(x)
        pending.extend(shown_by(x))
        if is_python_class(type(x)) and not issubclass(type(x), type):
            pending.append(type(x))
            pending.extend(v for _, v in instance_fields(x))
    return found


_ITERABLES: tuple[Any, ...] = (list, tuple, set, frozenset, deque)
