"""What reads attributes that may be missing, as functions in Python."""

from __future__ import annotations

import functools
import keyword
import types
from typing import Any

__all__ = ["by_descriptor", "own_or_default"]


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


def by_descriptor(cls: type, way: str, function: Any, descriptor: Any) -> types.FunctionType:
    """The function that reads or writes an attribute of instances of `cls` by `function` of a `descriptor`,
    which is a global variable to it: what it holds may have a derivative."""
    space = {"__name__": __name__, "ask": function, "descriptor": descriptor, "cls": cls}
    exec(_READING if way == "get" else _WRITING, space)
    return space["by_descriptor"]  # type: ignore[no-any-return]  # a function


_READING = compile("def by_descriptor(obj):\n    return ask(descriptor, obj, cls)", __file__, "exec")
_WRITING = compile("def by_descriptor(obj, value):\n    ask(descriptor, obj, value)", __file__, "exec")
