"""Functions of the module `random`, which are methods of the one generator that it has."""

from __future__ import annotations

import sys
import types
from typing import Any

__all__ = ["shared_method"]


def shared_method(value: Any) -> tuple[Any, Any] | None:
    """The function and the object of `value`, if that is a method of the generator of the module `random`.

    The module has bound it once and for all, so it may stand in code as its other functions do.
    """
    if type(value) is not types.MethodType and type(value) is not types.BuiltinFunctionType:
        return None
    generator = getattr(sys.modules.get("random"), "_inst", None)
    if generator is None or value.__self__ is not generator:
        return None
    if type(value) is types.MethodType:
        return value.__func__, generator
    found = getattr(type(generator), value.__name__, None)
    return (found, generator) if type(found) is types.MethodDescriptorType else None
