"""What reads attributes that may be missing, as functions in Python."""

from __future__ import annotations

import functools
import keyword
import types
from typing import Any

from adbc.ir import intrinsics

__all__ = ["by_cache", "by_descriptor", "by_hook", "own_or_default"]


@functools.lru_cache(500)
def own_or_default(name: str) -> types.FunctionType | None:
    """The function that does ``getattr(obj, name, default)`` where no code is asked for the attribute; None
    if the name cannot be written."""
    if not name.isidentifier() or keyword.iskeyword(name):
        return None
    space: dict[str, Any] = {"__name__": __name__}
    answer = f"obj.{name} if hasattr(obj, {name!r}) else default"
    exec(compile(f"def own_or_default(obj, default):\n    return {answer}", __file__, "exec"), space)
    return space["own_or_default"]  # type: ignore[no-any-return]  # a function


@functools.lru_cache(500)
def by_hook(hook: Any, field: Any, has_fields: bool) -> types.FunctionType:
    """The function that reads an attribute of which the class of an object has nothing: by `field`, if the
    object has such a field, else it asks `hook`, the ``__getattr__`` of the class."""
    space = {"__name__": __name__, "hook": hook, "field": field, "has_field": intrinsics._has_field_}
    exec(_ASKING if has_fields else _HOOKING, space)
    return space["by_hook"]  # type: ignore[no-any-return]  # a function


_ASKING = compile(
    "def by_hook(x, name):\n    return field(x, name) if has_field(x, name) else hook(x, name)",
    __file__,
    "exec",
)
_HOOKING = compile("def by_hook(x, name):\n    return hook(x, name)", __file__, "exec")


@functools.lru_cache(500)
def by_cache(function: Any, name: str, field: Any, put: Any) -> types.FunctionType:
    """The function that reads the attribute `name`, a ``functools.cached_property`` of `function`: by
    `field`, if the object has such a field, else it asks the function and keeps what that gives by `put`."""
    space = {"__name__": __name__, "ask": function, "field": field, "put": put}
    space["has_field"] = intrinsics._has_field_
    exec(compile(_KEEPING.format(name), __file__, "exec"), space)
    return space["by_cache"]  # type: ignore[no-any-return]  # a function


_KEEPING = """\
def by_cache(obj):
    if has_field(obj, {0!r}):
        return field(obj, {0!r})
    value = ask(obj)
    put(obj, {0!r}, value)
    return value
"""


def by_descriptor(cls: type, way: str, function: Any, descriptor: Any) -> types.FunctionType:
    """The function that reads or writes an attribute of instances of `cls` by `function` of a `descriptor`,
    which is a global variable to it: what it holds may have a derivative."""
    space = {"__name__": __name__, "ask": function, "descriptor": descriptor, "cls": cls}
    exec(_READING if way == "get" else _WRITING, space)
    return space["by_descriptor"]  # type: ignore[no-any-return]  # a function


_READING = compile("def by_descriptor(obj):\n    return ask(descriptor, obj, cls)", __file__, "exec")
_WRITING = compile("def by_descriptor(obj, value):\n    ask(descriptor, obj, value)", __file__, "exec")
