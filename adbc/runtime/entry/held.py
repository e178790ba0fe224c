"""Functions made of functions, as users hold them: they are pickled by these and by their options."""

from __future__ import annotations

import functools
import sys
import types
from collections.abc import Callable
from typing import Any

__all__ = ["Computed", "Held"]

_DESCRIBED = ("__module__", "__name__", "__qualname__", "__doc__")


class Held:
    """A function made of another, `_function`.

    It has the name and the documentation of that, `inspect.signature` shows the parameters of that, and in a
    class it becomes a method as a function does.
    """

    __slots__ = ("__dict__", "__weakref__", "_function")
    _what: str

    __call__: Callable[..., Any]

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        functools.update_wrapper(self, function, assigned=_DESCRIBED, updated=())

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        return self if instance is None else types.MethodType(self, instance)

    def __repr__(self) -> str:
        name = getattr(self._function, "__qualname__", None) or repr(self._function)
        return f"<{self._what} of {name}>"

    def __reduce__(self) -> str | tuple[Any, ...]:
        return self._global_name() or (type(self), self._made_of())

    def _made_of(self) -> tuple[Any, ...]:
        """What it is made of, the arguments of its class."""
        raise NotImplementedError

    def _global_name(self) -> str | None:
        """The name by which its module has this very object, in the place of the function."""
        found: Any = sys.modules.get(getattr(self, "__module__", None) or "")
        name: str | None = getattr(self, "__qualname__", None)
        if found is None or name is None:
            return None
        for part in name.split("."):
            found = getattr(found, part, None)
        return name if found is self else None


class Computed(Held):
    """A function of a module, `compute`, of another function, of options, and of what it is called with: its
    arguments by position, a tuple, and those by keyword, a dict.

    what: by what it says what it is.
    """

    __slots__ = ("_compute", "_options", "_what")

    def __init__(
        self, what: str, compute: Callable[..., Any], function: Callable[..., Any], *options: Any
    ) -> None:
        super().__init__(function)
        self._what, self._compute, self._options = what, compute, options

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        return self._compute(self._function, *self._options, args, kwargs)

    def _made_of(self) -> tuple[Any, ...]:
        return self._what, self._compute, self._function, *self._options
