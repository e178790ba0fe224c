"""Signatures: which function, for arguments of which types."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from adbc.errors import ArgumentError
from adbc.records import record
from adbc.types import AbstractType, Exact, typeof

__all__ = ["Signature", "as_signature"]


@record(frozen=True)
class Signature:
    """What `build_frule` and `build_rrule` take: a function and the types of its arguments.

    A type is an abstract type (`adbc.types`) or a class, which stands for exactly that class.  The tuple
    ``(function, type, ...)`` says the same.  keywords: names and types of the arguments given by keyword.

    >>> import adbc
    >>> print(adbc.Signature.of(pow, 2.0, 3))
    pow(float, int)
    >>> print(adbc.Signature.of(pow, 2.0, exp=3))
    pow(float, exp=int)
    """

    function: Callable[..., Any]
    types: tuple[AbstractType, ...]
    keywords: tuple[tuple[str, AbstractType], ...] = ()

    @classmethod
    def of(cls, function: Callable[..., Any], /, *arguments: object, **keywords: object) -> Signature:
        """The signature of ``function(*arguments, **keywords)``."""
        named = tuple([(name, typeof(x)) for name, x in keywords.items()])
        return cls(function, tuple(map(typeof, arguments)), named)

    def __str__(self) -> str:
        name = getattr(self.function, "__qualname__", repr(self.function))
        named = [f"{k}={type_}" for k, type_ in self.keywords]
        return f"{name}({', '.join([*map(str, self.types), *named])})"


def as_signature(
    signature: Signature | Sequence[Any], keywords: Mapping[str, Any] | None = None
) -> Signature:
    """A `Signature`, from one or from a tuple ``(function, type, ...)``, and types of `keywords`.

    Raises `ArgumentError` for anything else.
    """
    named: dict[str, Any] = dict(keywords or {})
    if isinstance(signature, Signature):
        function, types = signature.function, signature.types
        named = dict(signature.keywords) | named
    elif isinstance(signature, tuple) and signature:
        function, types = signature[0], signature[1:]
    else:
        raise ArgumentError(
            f"a signature is adbc.Signature(f, types) or a tuple (f, type, ...), not {signature!r}"
        )
    if not callable(function):
        raise ArgumentError(f"the first element of a signature is a function, not {function!r}")
    return Signature(
        function, tuple(map(_as_type, types)), tuple([(k, _as_type(t)) for k, t in named.items()])
    )


def _as_type(type_: object) -> AbstractType:
    if isinstance(type_, AbstractType):
        return type_
    if isinstance(type_, type):
        return Exact(type_)
    raise ArgumentError(f"the types of a signature are classes or abstract types, not {type_!r}")
