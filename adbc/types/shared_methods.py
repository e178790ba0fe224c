"""Methods of objects that stand in modules once and for all: of the generator of the module `random`, which
its functions are, and of the distributions of ``scipy.stats``."""

from __future__ import annotations

import sys
import types
from typing import Any

from adbc.types.lattice import is_service

__all__ = ["shared_method"]


def shared_method(value: Any) -> tuple[Any, Any] | None:
    """The function and the object of `value`, if that is a method of the generator of the module `random`, or
    of a distribution.

    The module has bound it once and for all, so it may stand in code as its other functions do.
    """
    if type(value) is not types.MethodType and type(value) is not types.BuiltinFunctionType:
        return None
    if type(value) is types.MethodType and is_service(type(value.__self__)):
        return value.__func__, value.__self__
    generator = getattr(sys.modules.get("random"), "_inst", None)
    if generator is None or value.__self__ is not generator:
        return None
    if type(value) is types.MethodType:
        return value.__func__, generator
    found = getattr(type(generator), value.__name__, None)
    return (found, generator) if type(found) is types.MethodDescriptorType else None
