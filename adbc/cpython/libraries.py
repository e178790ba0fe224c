"""What is code of a library: of the standard library, or of an installed package."""

from __future__ import annotations

import functools
import os
import sys
import types
from collections.abc import Mapping
from typing import Any

from adbc.flags import HEAP_TYPE

__all__ = [
    "ABOUT_TEXT",
    "FOR_CONSTANTS",
    "is_code_of_users",
    "is_library_class",
    "is_library_code",
    "is_library_file",
    "is_library_module",
    "is_own_code",
    "stands_for_builtins",
]

ABOUT_TEXT = frozenset(
    {
        "_strptime", "codecs", "fnmatch", "genericpath", "glob", "locale", "ntpath", "os", "pathlib",
        "pathlib._abc", "pathlib._local", "pathlib.types", "posixpath", "re", "re._casefix", "re._compiler",
        "re._parser", "tempfile", "zoneinfo",
    }
)  # fmt: skip
"""Modules of the standard library that are about names, texts and times."""

FOR_CONSTANTS = ABOUT_TEXT | {
    "base64", "calendar", "datetime", "hashlib", "json", "json.decoder", "json.encoder", "string", "textwrap",
    "uuid",
}  # fmt: skip
"""Modules whose functions, given numbers and texts, do nothing to what the program computes with."""

_INSTALLED = frozenset({"site-packages", "dist-packages"})
_STANDARD = os.path.dirname(os.path.abspath(os.__file__)) + os.sep
"""Where the standard library is: `sysconfig` knows it too, and reads how the interpreter was built for it."""
_OURS = os.path.dirname(os.path.dirname(__file__)) + os.sep
_OURS_FOR_BUILTINS = os.path.join(_OURS, "rules", "builtins") + os.sep


def is_library_code(filename: str, namespace: Mapping[str, Any]) -> bool:
    """Whether code of this file, which runs with the globals `namespace`, is that of a library.

    Code that was made by ``exec``, as that of named tuples and dataclasses, is of the module that made it.
    """
    if filename.startswith("<"):
        filename = namespace.get("__file__") or filename
        if namespace.get("__name__", "").partition(".")[0] in sys.stdlib_module_names:
            return True
    return is_library_file(filename)


def is_own_code(filename: str) -> bool:
    """Whether code of this file is a part of adbc: its rules and its arithmetic of tangents."""
    return filename.startswith(_OURS)


def stands_for_builtins(filename: str) -> bool:
    """Whether code of this file is a part of adbc that stands for builtin functions, whose loops are the
    user's."""
    return filename.startswith(_OURS_FOR_BUILTINS)


def is_code_of_users(filename: str, namespace: Mapping[str, Any]) -> bool:
    """Whether code of this file is neither a library's nor adbc's own, or stands for builtin functions, whose
    steps are the user's."""
    if is_own_code(filename):
        return stands_for_builtins(filename)
    return not is_library_code(filename, namespace)


@functools.cache
def is_library_file(filename: str) -> bool:
    """Whether a file is one of the standard library or of an installed package other than adbc."""
    path = os.path.abspath(filename)
    if path.startswith(_OURS):
        return False
    if not _INSTALLED.isdisjoint(path.split(os.sep)):
        return True
    return path.startswith(_STANDARD)


def is_library_module(module: types.ModuleType) -> bool:
    """Whether a module is one of the standard library, in Python or in C, or of an installed package."""
    file = getattr(module, "__file__", None)
    if file is None:
        return module.__name__.partition(".")[0] in sys.stdlib_module_names
    return is_library_file(file)


def is_library_class(cls: type) -> bool:
    """Whether a class and all that it inherits from are builtin or defined by a library.

    What a class says of its module is what the namespace is called that it was made in, or what somebody has
    written there: `types.new_class` makes classes of `types`, and code that is run in a dict makes builtin
    ones.  So those that are not found where they say they are have no function of the user's.
    """
    return all(
        _is_of_library(base.__module__)
        and (not base.__flags__ & HEAP_TYPE or _is_found(base) or not _has_code_of_users(base))
        for base in cls.__mro__
    )


def _is_found(cls: type) -> bool:
    """Whether `cls` stands in its module under its name."""
    found: Any = sys.modules.get(cls.__module__)
    for name in cls.__qualname__.split("."):
        if found is None:
            return False
        found = vars(found).get(name) if issubclass(type(found), type | types.ModuleType) else None
    return found is cls


def _has_code_of_users(cls: type) -> bool:
    """Whether one of the functions in `cls` itself is neither a library's nor adbc's."""
    for member in vars(cls).values():
        kind = type(member)
        if issubclass(kind, staticmethod | classmethod):
            functions = [member.__func__]
        elif issubclass(kind, property):
            functions = [member.fget, member.fset, member.fdel]
        else:
            functions = [member]
        for function in functions:
            if type(function) is types.FunctionType:
                filename = function.__code__.co_filename
                if not (is_own_code(filename) or is_library_code(filename, function.__globals__)):
                    return True
    return False


def _is_of_library(name: Any) -> bool:
    if type(name) is not str or name == "__main__":
        return False
    file = getattr(sys.modules.get(name), "__file__", None)
    if file is not None:  # a module of the user's may have the name of one of the standard library
        return is_library_file(file)
    return name.partition(".")[0] in sys.stdlib_module_names
