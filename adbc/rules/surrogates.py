"""Classes in Python whose instances stand for those of a class in C.

What has a derivative and is held by an object of C code cannot be followed there.  So where the function
makes such an object, it gets one of a class in Python that does the same at the same moments, and is
followed like one of the user's.  Asked for its class, it tells of the one that it stands for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__all__ = ["OwnIterator", "Surrogate"]


def name_in_messages(cls: type) -> str:
    """The name by which the interpreter calls a class in C: those of builtins have no module in front."""
    return cls.__name__ if cls.__module__ == "builtins" else f"{cls.__module__}.{cls.__qualname__}"


class Surrogate:
    """The base of classes whose instances stand for those of another: ``type(x)``, which is answered by
    adbc, ``x.__class__`` and `isinstance` tell of that."""

    if TYPE_CHECKING:  # instances would have the annotations of the class for their own
        __stands_for__: Any

    def __init_subclass__(cls) -> None:
        """Let messages of the interpreter about instances name the class that they stand for."""
        meant: Any = cls.__dict__.get("__stands_for__")
        if meant is not None:
            cls.__name__ = name_in_messages(meant)

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        return self.__stands_for__


class OwnIterator(Surrogate):
    """The base of iterators in Python: ``iter`` gives the iterator itself."""

    def __iter__(self) -> Any:
        return self

    def __repr__(self) -> str:
        return f"<{name_in_messages(self.__stands_for__)} object at {id(self):#x}>"
