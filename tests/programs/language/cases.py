"""How the modules of this folder collect their programs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = ["Cases"]


class Cases(dict[str, tuple[Callable[..., Any], tuple[Any, ...]]]):
    """Functions, each with arguments to try it on, by name."""

    def __call__(self, *arguments: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Add the function that is decorated, with these arguments; decorate twice for two points."""

        def add(function: Callable[..., Any]) -> Callable[..., Any]:
            name = function.__name__
            count = sum(key.split(",")[0] == name for key in self)
            self[f"{name}, {count + 1}" if count else name] = (function, arguments)
            return function

        return add
