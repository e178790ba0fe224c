"""What reads attributes that may be missing, as functions in Python."""

from __future__ import annotations

import functools
import keyword
import types
from typing import Any

__all__ = ["own_or_default"]


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
