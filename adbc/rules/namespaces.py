"""Globals that are bound by way of their dictionary or module.

A function, class or module that a global names, or that is read from a module, is written into generated
code, guarded at the start of a call (`passes.resolve_globals`).  Code that binds the name to something else
half way would go on with the old: so that is refused, whichever way it is done.  Data is read anew each time.
"""

from __future__ import annotations

import builtins
import operator
import sys
import types
from typing import Any

from adbc.errors import UnsupportedError

__all__ = ["check_all_names", "check_name"]

_NOTHING = object()


def check_name(namespace: Any, name: Any, new: Any = _NOTHING) -> None:
    """Raise if `namespace` belongs to a module in which `name` is a function, class or module, unless that is
    what it is bound to again."""
    if type(name) is not str or not _is_of_module(namespace):
        return
    old = namespace[name] if name in namespace else vars(builtins).get(name)
    if old is not new and (callable(old) or type(old) is types.ModuleType):
        where = "" if "__builtins__" in namespace else f" of module {namespace.get('__name__')!r}"
        raise UnsupportedError(
            f"global {name!r}{where} is bound to something else, or deleted",
            "code that uses what it was bound to may be being differentiated",
            "bind it before the call, or pass the function or module as an argument",
        )


def check_all_names(namespace: Any, names: Any) -> None:
    """Raise if `namespace` belongs to a module in which one of `names` is a function, class or module."""
    if _is_of_module(namespace):
        for name in list(names):
            check_name(namespace, name)


def _is_of_module(namespace: Any) -> bool:
    """Whether a dict is the namespace of a module, or of code that is executed in it, found without calling
    methods of its class.  The modules made in C have no ``__builtins__``."""
    has: Any = dict.__contains__ if isinstance(namespace, dict) else operator.contains
    if has(namespace, "__builtins__"):
        return True
    module = sys.modules.get(namespace["__name__"]) if has(namespace, "__spec__") else None
    return module is not None and vars(module).keys() == namespace.keys()
