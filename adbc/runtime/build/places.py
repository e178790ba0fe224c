"""The places under which objects are found in every process: a module, and a path of names in it."""

from __future__ import annotations

import importlib
import sys
import types
from collections.abc import Iterator
from typing import Any

__all__ = ["Nameless", "codes_in", "module_of", "place_of", "walk"]


class Nameless(Exception):
    """An object has no name, or what the name says is not there any more.  Never leaves the caches."""


def codes_in(code: types.CodeType | None) -> Iterator[tuple[tuple[int, ...], types.CodeType]]:
    """The code objects inside `code`, and where among the constants of those around them."""
    for at, constant in enumerate(() if code is None else code.co_consts):
        if isinstance(constant, types.CodeType):
            yield (at,), constant
            for places, inner in codes_in(constant):
                yield (at, *places), inner


def module_of(name: str) -> types.ModuleType:
    """The module of this name, which has been imported, or is one of adbc; raises `Nameless`."""
    found = sys.modules.get(name)
    if found is None and name.partition(".")[0] == "adbc":
        found = importlib.import_module(name)
    if not isinstance(found, types.ModuleType):
        raise Nameless(f"the module {name}, which is not imported")
    return found


def walk(found: Any, path: str) -> Any:
    """What the attributes that `path` names lead to from `found`; raises `Nameless`."""
    for name in path.split("."):
        try:
            found = getattr(found, name)
        except AttributeError:
            raise Nameless(f"{path}, which is not there") from None
    return found


def place_of(value: Any) -> tuple[str, str]:
    """The module and the path in it under which an object is found."""
    path = getattr(value, "__qualname__", None) or getattr(value, "__name__", None)
    modules = [getattr(value, "__module__", None)]
    if modules == [None]:
        modules = [getattr(getattr(value, "__objclass__", None), "__module__", None)]
    if str(type(value).__module__).partition(".")[0] == "numpy":
        modules.append("numpy")  # ufuncs do not say where they are
    if isinstance(path, str) and "<" not in path:
        for module in modules:
            if isinstance(module, str):
                try:
                    if walk(module_of(module), path) is value:
                        return module, path
                except Nameless:
                    continue
    if isinstance(value, type):
        for name, found in vars(types).items():
            if found is value:  # as `NoneType` and `FunctionType`, which are called otherwise
                return "types", name
    home = type(value).__module__
    if home.partition(".")[0] == "adbc":  # the only one of its kind, as `EXHAUSTED`
        for name, found in vars(module_of(home)).items():
            if found is value:
                return home, name
    raise Nameless(f"{path or type(value).__qualname__}, which no module has under its name")
