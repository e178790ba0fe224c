"""The values that code in Python may change, where it is run without being followed."""

from __future__ import annotations

import dataclasses
import types
from collections import deque
from collections.abc import Iterator
from typing import Any

from adbc.cpython.cells import captured, is_filled
from adbc.cpython.libraries import is_library_class, is_library_code, is_own_code, stands_for_builtins
from adbc.cpython.names import names_in, rebinds_beyond_its_frame
from adbc.records import record
from adbc.rules.classes import shown_by
from adbc.tangents.fields import instance_fields, is_python_class
from adbc.tangents.protocol import kind_of

__all__ = ["UNBOUND", "Code", "bind", "reach_of", "variable"]


@record
class Code:
    """What is met on the way to what may change: the functions in Python and the classes of the user's, and
    all objects."""

    functions: list[types.FunctionType] = dataclasses.field(default_factory=list)
    classes: list[type] = dataclasses.field(default_factory=list)
    objects: list[Any] = dataclasses.field(default_factory=list)

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
    code: notes what is met.
    """
    found: list[Any] = []
    seen: set[int] = set()
    pending = list(roots)
    while pending:
        x = pending.pop()
        if id(x) in seen:
            continue
        seen.add(id(x))
        if code is not None:
            code.objects.append(x)
        if issubclass(type(x), types.FunctionType):
            pending.extend(captured(x))
            file = x.__code__.co_filename
            if is_library_code(file, x.__globals__) or (is_own_code(file) and not stands_for_builtins(file)):
                continue
            if code is not None:
                code.functions.append(x)
            pending.extend((*(x.__defaults__ or ()), *(x.__kwdefaults__ or {}).values(), vars(x)))
            pending.extend(_named(x))
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
            pending.extend(y for y in within if type(y) not in _ATOMS)
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


def _named(function: types.FunctionType) -> Iterator[Any]:
    """What the names of globals and of attributes of modules in the code of `function` mean, but for numbers,
    texts and modules."""
    names = names_in(function.__code__)
    spaces, seen = [function.__globals__], set()
    while spaces:
        space = spaces.pop()
        for x in map(space.get, names):
            if issubclass(type(x), types.ModuleType):
                if id(x) not in seen:
                    seen.add(id(x))
                    spaces.append(vars(x))
            elif type(x) not in _ATOMS:
                yield x


_ITERABLES: tuple[Any, ...] = (list, tuple, set, frozenset, deque)
_ATOMS = frozenset({str, bytes, int, float, complex, bool, types.NoneType})
"""Classes of values that lead nowhere."""
