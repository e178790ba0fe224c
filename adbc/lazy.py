"""Packages whose modules are loaded when they are first used.

What builds rules is two thirds of adbc, and not needed before the first rule is built: importing adbc
stays quick for programs that only define functions, or rules.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Collection, Mapping
from typing import Any

from adbc.collector import loading

__all__ = ["demanded", "lazily", "on_demand"]


def lazily(package: str, homes: Mapping[str, str], together: Collection[str] = ()) -> Callable[[str], Any]:
    """The module-level ``__getattr__`` of `package`; `homes` has the names, and the modules of the package
    that they come from.

    A name whose home is the name itself is that module.  What was found is an attribute of the package from
    then on.

    together: names that are all found when one of them is: who reads attributes of the package by reading
    its namespace finds all or none of them.
    """

    def find(name: str) -> Any:
        with loading():
            module = importlib.import_module(f"{package}.{homes[name]}")
        return module if homes[name] == name else getattr(module, name)

    def getattr_of_package(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        space = vars(sys.modules[package])
        for other in together if name in together else (name,):
            space[other] = find(other)
        return space[name]

    return getattr_of_package


_makers: dict[str, Callable[[], Any]] = {}
_made: dict[str, Any] = {}


def on_demand(name: str, make: Callable[[], Any]) -> None:
    """Say how to make what modules further down may ask for by `name`, which they cannot import."""
    _makers[name] = make


def demanded(name: str) -> Any:
    """What `name` stands for, made when it is first asked for; None if nobody has said how."""
    if name not in _made:
        if name not in _makers:
            return None
        _made[name] = _makers[name]()
    return _made[name]
