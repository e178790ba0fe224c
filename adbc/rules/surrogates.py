"""Classes in Python whose instances stand for those of a class in C.

What has a derivative and is held by an object of C code cannot be followed there.  So where the function
makes such an object, it gets one of a class in Python that does the same at the same moments, and is
followed like one of the user's.  Asked for its class, it tells of the one that it stands for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__all__ = ["OwnIterator", "Surrogate"]


class Surrogate:
    """The base of classes whose instances stand for those of another: ``type(x)``, which is answered by
    adbc, ``x.__class__`` and `isinstance` tell of that."""

    if TYPE_CHECKING:  # instances would have the annotations of the class for their own
        __stands_for__: Any

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        return self.__stands_for__


class OwnIterator(Surrogate):
    """The base of iterators in Python: ``iter`` gives the iterator itself."""

    def __iter__(self) -> Any:
        return self

    def __repr__(self) -> str:
        cls = self.__stands_for__
        name = cls.__name__ if cls.__module__ == "builtins" else f"{cls.__module__}.{cls.__qualname__}"
        return f"<{name} object at {id(self):#x}>"
