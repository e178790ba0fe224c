"""Constants as text: what a constant of a graph is called, and which object a name means.

Literals are written as Python writes them; functions, classes and modules by their qualified name,
``operator.mul``; intrinsics and markers by their bare name, ``_next_``.  A text is given only if
reading it yields the same object (the identical one for names, an indistinguishable one for
literals): ``-0.0``, the class of an integer and the identity of a list are not lost on the way.

It refuses to know what to do with anything else: the printer numbers such objects, and whoever reads
the text says what the numbers mean.
"""

from __future__ import annotations

import cmath
import importlib
import math
import sys
import types
from typing import Any

from adbc.functions import is_builtin_function
from adbc.ir.intrinsics import EXHAUSTED, INTRINSICS, UNBOUND

__all__ = ["constant_text", "named_constant", "qualified_name"]

_NAMED: dict[str, object] = {
    **INTRINSICS,
    "UNBOUND": UNBOUND,
    "EXHAUSTED": EXHAUSTED,
    "None": None,
    "True": True,
    "False": False,
    "Ellipsis": ...,
    "inf": math.inf,
    "nan": math.nan,
}
_NAME_OF: dict[int, str] = {id(value): name for name, value in _NAMED.items()}

_LONG = 1 << 1000
"""Integers beyond this are written in hexadecimal, which has no limit on the number of digits."""


def constant_text(value: object) -> str | None:
    """The text of `value`, or None if it has none."""
    kind = type(value)
    if kind is str or kind is bytes:
        return repr(value)
    if kind is int:
        return hex(value) if abs(value) > _LONG else repr(value)  # type: ignore[arg-type]
    if kind is float:
        return repr(value)
    if kind is complex:
        return repr(value) if cmath.isfinite(value) else None  # type: ignore[arg-type]
    if isinstance(value, tuple) and kind is tuple:
        parts = [constant_text(part) for part in value]
        if None in parts:
            return None
        return f"({', '.join(map(str, parts))}{',' if len(parts) == 1 else ''})"
    if isinstance(value, frozenset) and kind is frozenset:
        parts = [constant_text(part) for part in value]
        if None in parts:
            return None
        # The order of a set is not a property of its value: sort, so that equal graphs print alike.
        return f"frozenset({{{', '.join(sorted(map(str, parts)))}}})" if parts else "frozenset()"
    name = _NAME_OF.get(id(value))
    return name if name is not None else qualified_name(value)


def qualified_name(value: Any) -> str | None:
    """The name by which the loaded modules reach `value`, or None."""
    if isinstance(value, types.ModuleType):
        name = value.__name__
        return name if sys.modules.get(name) is value and _is_path(name) else None
    if not _may_have_name(value):
        return None
    owner = getattr(value, "__objclass__", None)
    module = getattr(owner if isinstance(owner, type) else value, "__module__", None)
    if not isinstance(module, str):
        module = type(value).__module__
    path = getattr(value, "__qualname__", None) or getattr(value, "__name__", None)
    if not isinstance(path, str) or not _is_path(path):
        return None
    # `operator.mul` says it lives in `_operator`; the public name is the one people know.
    for candidate in dict.fromkeys((module.lstrip("_"), module)):
        if _is_path(candidate) and candidate in sys.modules:
            found = _follow(sys.modules[candidate], path)
            if found is value:
                return f"{candidate}.{path}"
    return None


def named_constant(name: str) -> object:
    """The object that `name` means; `LookupError` if there is none.  Imports modules as needed."""
    if name in _NAMED:
        return _NAMED[name]
    parts = name.split(".")
    # The longest prefix that is a module is the module: `importlib` finds out by trying.
    for count in range(len(parts), 0, -1):
        prefix = ".".join(parts[:count])
        module = sys.modules.get(prefix) or _import(prefix)
        if module is not None:
            found = _follow(module, ".".join(parts[count:]))
            if found is not _MISSING:
                return found
    raise LookupError(f"nothing is called {name}")


_MISSING = object()


def _import(name: str) -> types.ModuleType | None:
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def _follow(module: types.ModuleType, path: str) -> object:
    found: Any = module
    for part in path.split(".") if path else ():
        # The dictionaries of classes hold what their qualified names mean (a class method, before it
        # is bound); modules may compute attributes.
        try:
            found = getattr(found, part)
        except AttributeError:
            return _MISSING
    return found


def _may_have_name(value: Any) -> bool:
    if is_builtin_function(value):
        # `[].append` has the qualified name of nothing that can be looked up; `math.sin` is bound to
        # its module, as every function of an extension module is.
        return isinstance(value.__self__, types.ModuleType | types.NoneType)
    # Asking an arbitrary object for attributes may run anything: only ask those whose class defines
    # a name for its instances, as the classes of functions and of NumPy's ufuncs do.
    return isinstance(value, type) or any("__name__" in vars(cls) for cls in type(value).__mro__)


def _is_path(text: str) -> bool:
    return bool(text) and all(part.isidentifier() for part in text.split("."))
