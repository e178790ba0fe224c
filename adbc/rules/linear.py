"""The rule of a function that is linear in an argument: forward it is the function itself, and backward its
adjoint, which is given.

Where it is linear in several arguments, each by itself (a convolution), there is a term for each.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from adbc.errors import UnsupportedError
from adbc.rules.activity import carries
from adbc.rules.declared import DeclaredRule
from adbc.rules.table import NO_KWARGS, Args, Kwargs, Pullback

__all__ = ["LinearRule", "along", "placed", "refuse_others"]


def placed(args: Sequence[Any], place: int, x: Any) -> list[Any]:
    """`args` with `x` at `place`."""
    return [*args[:place], x, *args[place + 1 :]]


def along(function: Callable[..., Any], place: int) -> Callable[..., Any]:
    """The tangent formula of a function that is linear in its argument at `place`."""

    def tangent(d: Any, out: Any, /, *args: Any, **others: Any) -> Any:
        return function(*placed(args, place, d), **others)

    return tangent


def refuse_others(
    name: str,
    places: Sequence[int],
    args: Args,
    derivatives: Args,
    names: Sequence[str],
    *,
    is_tangent: bool,
) -> None:
    """Raise if an argument that is not at one of `places`, in which the function is linear, is active."""
    for i, (x, d) in enumerate(zip(args, derivatives, strict=False)):
        if d is not None and i not in places and carries(x, d, is_tangent=is_tangent):
            what = repr(names[i]) if i < len(names) else str(i)
            raise UnsupportedError(
                f"{name} has no derivative rule by its argument {what}",
                "its rule says that it is linear in others, and nothing of this one",
                f"pass it as a constant, adbc.stop_gradient(x), or declare the derivative: adbc.rule({name},"
                " jvp=..., vjp=...)",
            )


class LinearRule(DeclaredRule):
    """The rule that `adbc.linear` declares: see there."""

    def __init__(
        self,
        function: Callable[..., Any],
        places: Sequence[int],
        transposes: Sequence[Callable[..., Any]],
        **options: Any,
    ) -> None:
        count = max(places) + 1
        jvp: list[Any] = [None] * count
        vjp: list[Any] = [None] * count
        for place, transpose in zip(places, transposes, strict=True):
            jvp[place] = self._along(place)
            vjp[place] = self._against(transpose)
        self.places = tuple(places)
        super().__init__(function, jvp=jvp, vjp=vjp, **options)

    def _along(self, place: int) -> Callable[..., Any]:
        def tangent(d: Any, out: Any, /, *args: Any, **others: Any) -> Any:
            return self.binding.call(self.function, placed(args, place, d), others)

        return tangent

    def _against(self, transpose: Callable[..., Any]) -> Callable[..., Any]:
        def cotangent(by: Any, out: Any, /, *args: Any, **others: Any) -> Any:
            return self.binding.call(transpose, (by, *args), others, leading=1)

        return cotangent

    def _check_others(self, args: Args, derivatives: Args, is_tangent: bool) -> None:
        name = str(getattr(self.function, "__qualname__", None) or repr(self.function))
        refuse_others(name, self.places, args, derivatives, self.binding.names, is_tangent=is_tangent)

    def frule(self, args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
        self._check_others(args, dargs, True)
        return super().frule(args, dargs, kwargs)

    def rrule(self, args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any, Pullback]:
        self._check_others(args, fargs, False)
        return super().rrule(args, fargs, kwargs)
