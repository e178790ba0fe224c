"""Globals that are bound by way of their dictionary or module.

A function, class or module that a global names is written into generated code, guarded at the start
of a call (`passes.resolve_globals`).  Code that binds the name to something else half way would go
on with the old: so that is refused, whichever way it is done.  Data is read anew each time.
"""

from __future__ import annotations

import builtins
import types
from typing import Any

from adbc.errors import UnsupportedError

__all__ = ["check_all_names", "check_name"]


def check_name(namespace: Any, name: Any) -> None:
    """Raise if `namespace` belongs to a module in which `name` is a function, class or module."""
    if not _is_of_module(namespace) or type(name) is not str:
        return
    old = namespace[name] if name in namespace else vars(builtins).get(name)
    if callable(old) or type(old) is types.ModuleType:
        raise UnsupportedError(
            f"global {name!r} is bound to something else, or deleted",
            "code that uses what it was bound to may be being differentiated",
            "bind it before the call, or pass the function or module as an argument",
        )


def check_all_names(namespace: Any, names: Any) -> None:
    """Raise if `namespace` belongs to a module in which one of `names` is a function, class or module."""
    if _is_of_module(namespace):
        for name in list(names):
            check_name(namespace, name)


def _is_of_module(namespace: Any) -> bool:
    """Whether a dict is the namespace of a module, found without calling methods of its class."""
    if isinstance(namespace, dict):
        return dict.__contains__(namespace, "__builtins__")
    return "__builtins__" in namespace
