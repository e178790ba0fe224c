"""Declarations that are no formulas: no derivative, no rule, not from here."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from adbc.chainrules.registry import BOTH, BUILT_IN, Declaration, Rank, When, declaring, registry
from adbc.chainrules.zeros import NoTangent

__all__ = ["forget", "ignore_derivatives", "non_differentiable", "opt_out", "scoped"]

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T")


def _no_frule(tangents: tuple[Any, ...], f: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    return f(*args, **kwargs), NoTangent()


def _no_rrule(f: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    nothing = (NoTangent(),) * (len(args) + 1)
    return f(*args, **kwargs), lambda cotangent: nothing


def _modes(mode: str | None) -> frozenset[str]:
    if mode is None:
        return BOTH
    if mode not in BOTH:
        raise ValueError(f"there is no mode {mode!r}: forward or reverse")
    return frozenset({mode})


def non_differentiable(function: F, *, when: When = None, mode: str | None = None) -> F:
    """Declare that `function` has no derivative by any argument, and return it; also as a decorator.  mode:
    "forward" or "reverse", if only one is meant.

    >>> from adbc import chainrules as cr
    >>> @cr.non_differentiable
    ... def nearest(x):
    ...     return int(x + 0.5)
    >>> cr.frule((cr.NoTangent(), 1.0), nearest, 2.2)
    (2, NoTangent())
    """
    rules: dict[str, Callable[..., Any]] = {"forward": _no_frule, "reverse": _no_rrule}
    registry.add(Declaration(function, "zero", rules, _modes(mode), when))
    return function


def ignore_derivatives(x: T) -> T:
    """`x`, as a constant: no derivative goes through.

    >>> from adbc import chainrules as cr
    >>> cr.frule((cr.NoTangent(), 1.0), cr.ignore_derivatives, 3.0)
    (3.0, NoTangent())
    """
    return x


with declaring(BUILT_IN):
    non_differentiable(ignore_derivatives)


def opt_out(function: F, *, when: When = None, mode: str | None = None) -> F:
    """Declare that there is no rule for `function`, for the classes that `when` accepts, and return it.

    A rule for all arguments may be wrong, or slow, for some: what is opted out is derived, as if nobody had
    written a rule.  `frule` and `rrule` give None.  mode: "forward" or "reverse", if only one is meant.

    >>> from adbc import chainrules as cr
    >>> def double(x):
    ...     return x + x
    >>> _ = cr.scalar_rule(double, 2.0)
    >>> _ = cr.opt_out(double, when=(list,))
    >>> cr.rrule(double, [1.0]) is None, cr.rrule(double, 1.0) is None
    (True, False)
    """
    registry.add(Declaration(function, "opt out", {}, _modes(mode), when))
    return function


def forget(function: Callable[..., Any], mode: str | None = None) -> int:
    """Take back what the program has declared for `function`, in `mode` or in both; how many there were.

    What plug-ins and collections say of it holds again.
    """
    found = [
        d
        for d in registry.of(function)
        if d.origin.rank is Rank.USER and (mode is None or d.modes == frozenset({mode}))
    ]
    return sum(map(registry.remove, found))


@contextlib.contextmanager
def scoped() -> Iterator[None]:
    """What is declared in the block is taken back at its end.

    >>> from adbc import chainrules as cr
    >>> def f(x):
    ...     return x
    >>> with cr.scoped():
    ...     _ = cr.scalar_rule(f, 1.0)
    ...     cr.rrule(f, 2.0) is None
    False
    >>> cr.rrule(f, 2.0) is None
    True
    """
    made: list[Declaration] = []

    def note(declaration: Declaration, is_added: bool) -> None:
        if is_added and declaration.origin.rank is Rank.USER:
            made.append(declaration)

    registry.listeners.append(note)
    try:
        yield
    finally:
        registry.listeners.remove(note)
        for declaration in reversed(made):
            registry.remove(declaration)
