"""What a property does, unless its class does something else."""

from __future__ import annotations

from typing import Any

from adbc.runtime.calls.classes import lookup

__all__ = ["is_property", "of_property"]

_OF_PROPERTY = {f"__{way}__": vars(property)[f"__{way}__"] for way in ("get", "set", "delete")}
_FUNCTIONS = {"__get__": vars(property)["fget"], "__set__": vars(property)["fset"],
              "__delete__": vars(property)["fdel"]}  # fmt: skip


def is_property(descriptor: Any, method: str) -> bool:
    """Whether `descriptor` is a property whose `method`, ``__get__`` or one of its kin, is that of all
    properties: a class that is derived from `property` may have one of its own."""
    kind = type(descriptor)
    return issubclass(kind, property) and lookup(kind, method) is _OF_PROPERTY[method]


def of_property(descriptor: Any, method: str) -> Any:
    """The function that `descriptor` calls for `method`, if it is a property (`is_property`); None if it is
    not, or has none."""
    return _FUNCTIONS[method].__get__(descriptor) if is_property(descriptor, method) else None
