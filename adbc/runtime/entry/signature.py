"""Signatures: which function, for arguments of which types."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

from adbc.errors import ArgumentError
from adbc.types import AbstractType, Exact, typeof

__all__ = ["Signature", "as_signature"]


@dataclasses.dataclass(frozen=True)
class Signature:
    """What `build_frule` and `build_rrule` take: a function and the types of its arguments.

    A type is an abstract type (`adbc.types`) or a class, which stands for exactly that class.  The tuple
    ``(function, type, ...)`` says the same.

    >>> import adbc
    >>> print(adbc.Signature.of(pow, 2.0, 3))
    pow(float, int)
    """

    function: Callable[..., Any]
    types: tuple[AbstractType, ...]

    @classmethod
    def of(cls, function: Callable[..., Any], *arguments: object) -> Signature:
        """The signature of ``function(*arguments)``."""
        return cls(function, tuple(map(typeof, arguments)))

    def __str__(self) -> str:
        name = getattr(self.function, "__qualname__", repr(self.function))
        return f"{name}({', '.join(map(str, self.types))})"


def as_signature(signature: Signature | Sequence[Any]) -> Signature:
    """A `Signature`, from one or from a tuple ``(function, type, ...)``.

    Raises `ArgumentError` for anything else.
    """
    if isinstance(signature, Signature):
        function, types = signature.function, signature.types
    elif isinstance(signature, tuple) and signature:
        function, types = signature[0], signature[1:]
    else:
        raise ArgumentError(
            f"a signature is adbc.Signature(f, types) or a tuple (f, type, ...), not {signature!r}"
        )
    if not callable(function):
        raise ArgumentError(f"the first element of a signature is a function, not {function!r}")
    return Signature(function, tuple(map(_as_type, types)))


def _as_type(type_: object) -> AbstractType:
    if isinstance(type_, AbstractType):
        return type_
    if isinstance(type_, type):
        return Exact(type_)
    raise ArgumentError(f"the types of a signature are classes or abstract types, not {type_!r}")
