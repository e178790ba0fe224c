"""Containers of classes with methods written in Python, used as C code uses them: without these methods."""

from __future__ import annotations

from typing import Any, ClassVar

__all__ = ["PastMethods"]


class PastMethods:
    """The container `it`, used by the methods of the built-in class `base`, past those of its own class."""

    __slots__ = ("it",)

    base: ClassVar[Any]

    def __init__(self, it: Any) -> None:
        self.it = it

    def __getitem__(self, where: Any) -> Any:
        return self.base.__getitem__(self.it, where)

    def __setitem__(self, where: Any, value: Any) -> None:
        self.base.__setitem__(self.it, where, value)

    def __delitem__(self, where: Any) -> None:
        self.base.__delitem__(self.it, where)

    def __iter__(self) -> Any:
        return self.base.__iter__(self.it)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.base, name).__get__(self.it)
