"""Functions that are decorated by way of `wrapt`: what its code in C does on a call is written in Python
beside it, for where that code is not built, and that is followed.  What a wrapper holds is found by its
address.

Nothing here is imported unless the user has imported `wrapt`.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from types import (
    BuiltinFunctionType,
    FunctionType,
    GetSetDescriptorType,
    MemberDescriptorType,
    MethodType,
    WrapperDescriptorType,
)
from typing import Any

from adbc.errors import UnsupportedError
from adbc.rules.kinds import RowKind
from adbc.rules.table import Overlay, Rule
from adbc.tangents.protocol import kind_of

__all__ = ["ROWS"]

wrapt: Any = importlib.import_module("wrapt")
wrappers: Any = importlib.import_module("wrapt.wrappers")
_CLASSES = ("FunctionWrapper", "BoundFunctionWrapper")
_HELD = ("__wrapped__", "_self_instance", "_self_wrapper", "_self_enabled", "_self_binding", "_self_parent")
"""The attributes by which a wrapper gives what it was made of."""


def held(wrapper: Any, name: str) -> Any:
    """``getattr(wrapper, name)``, one of the things that a wrapper was made of.

    Raises `UnsupportedError` if that has a derivative as a value and not by its address: a named tuple whose
    method is decorated.
    """
    value = getattr(wrapper, name)
    owner = value.__self__ if type(value) in (MethodType, BuiltinFunctionType) else value
    kind = kind_of(type(owner))
    if not (kind.inactive or kind.address):
        raise UnsupportedError(
            f"a decorated method of a {type(owner).__name__}",
            "a wrapper of wrapt's in C holds the object, which is a value",
            "set WRAPT_DISABLE_EXTENSIONS=1 before wrapt is imported, or call the method's __wrapped__",
        )
    return value


def bound(wrapper: Any, instance: Any, owner: Any) -> Any:
    """What `wrapper`, a decorated method, gives for `instance`: another wrapper, which holds that."""
    return wrapper.__get__(instance, owner)


def _binding(wrapper: Any, instance: Any, owner: Any = None) -> Any:
    return bound(wrapper, instance, owner)


class _Finding(Rule):
    """The row of a function that gives what `held` does, or of `bound`."""

    kind = RowKind.PRIMITIVE
    is_apart = True


def _reader(name: str) -> Callable[[Any], Any]:
    """A function that gives ``held(wrapper, name)``, for this name."""

    def read(wrapper: Any) -> Any:
        return held(wrapper, name)

    return read


def _rows() -> Iterator[Rule]:
    """The rows of the classes that are made in C and have a twin in Python."""
    descriptors = set()
    for cls in _CLASSES:
        in_c: Any = getattr(wrapt, cls)
        twin: Any = getattr(wrappers, cls).__call__
        if type(in_c.__call__) is not WrapperDescriptorType or type(twin) is not FunctionType:
            continue
        yield Overlay(in_c.__call__, twin)
        if in_c.__get__ not in descriptors:
            descriptors.add(in_c.__get__)
            yield Overlay(in_c.__get__, _binding)
        for name in _HELD:
            found: Any = next((vars(base)[name] for base in in_c.__mro__ if name in vars(base)), None)
            if type(found) in (GetSetDescriptorType, MemberDescriptorType) and found not in descriptors:
                descriptors.add(found)
                read = _reader(name)
                yield _Finding(read)
                yield Overlay(found, read)


ROWS: list[Rule] = [_Finding(bound), *_rows()]
