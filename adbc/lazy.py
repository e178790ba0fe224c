"""Packages whose modules are loaded when they are first used.

What builds rules is two thirds of adbc, and not needed before the first rule is built: importing adbc
stays quick for programs that only define functions.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any

__all__ = ["lazily"]


def lazily(package: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """The module-level ``__getattr__`` of `package`; `homes` has the names, and the modules of the package
    that they come from.

    A name whose home is the name itself is that module.
    """

    def getattr_of_package(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module = importlib.import_module(f"{package}.{homes[name]}")
        return module if homes[name] == name else getattr(module, name)

    return getattr_of_package
