"""The rule of a reduction of one array, and of one number or array beside it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from adbc.errors import UnsupportedError
from adbc.rules.numpy.base import ArrayRule, finish, gather, gather_tangent, give, new_shadow, refuse_opaque
from adbc.rules.table import NO_KWARGS, Args, Kwargs, Pullback

__all__ = ["ReductionRule"]


class ReductionRule(ArrayRule):
    """The rule of a reduction of one array, and of one argument besides, if there is a derivative by it: what
    the reduction begins with (``initial=``), or the mean that a variance is taken around (``mean=``)."""

    quick: Callable[..., Any] | None = None
    """A quicker function for arrays of NumPy's own class and no more than `axis` and `keepdims` besides."""
    beside: int | None = None
    """The place of what may have a derivative beside the array."""
    of_beside: tuple[Callable[..., Any], Callable[..., Any]]
    """The formulas of that, called as those of the array are, and with what it is behind the array."""

    def take_besides(self, name: str, formulas: Any) -> None:
        """Have the parameter `name` differentiated by these `formulas`."""
        self.of_beside = formulas
        place = self.beside = self.names.index(name)
        self.active.append(place)
        self.parameters = self.names[: place + 1]
        self.refused = (*self.refused[:place], None, *self.refused[place + 1 :])
        self.defaults.setdefault("keepdims", False)
        self.defaults.setdefault("ddof", 0)

    def uncovered(self, count: int) -> Sequence[int]:
        return [i for i in super().uncovered(count) if i != self.beside]

    is_as_formulas_say = True

    def is_pure(self, count: int, keywords: Sequence[str]) -> bool:
        if self.beside is None:
            return super().is_pure(count, keywords)
        is_given = self.names[self.beside] in keywords or count - len(keywords) > self.beside
        return not is_given and super().is_pure(count, keywords)

    def _by_keyword(self, args: Args, kwargs: Kwargs, place: int) -> dict[str, Any]:
        """The keywords of the call with what is beside the array: NumPy takes some of it by keyword only."""
        return {**kwargs, self.names[place]: args[place]}

    def _others(self, args: Args, kwargs: Kwargs) -> dict[str, Any]:
        """The arguments beside the array, where one of them is active."""
        _, others, target, _ = self.split(args, kwargs)
        if target is not None:
            name = self.names[self.beside or 0]
            raise UnsupportedError(
                f"np.{self.function.__name__} with {name}= and out=, where {name} has a derivative",
                "adbc has no rule for that form",
                "assign the result: out[...] = ...",
            )
        return others

    def frule(self, args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
        place = self.beside
        if place is None or len(args) <= place:
            return super().frule(args, dargs, kwargs)
        options = self._by_keyword(args, kwargs, place)
        if dargs[place] is None:
            return super().frule(args[:place], dargs[:place], options)
        others = self._others(args[:place], options)
        refuse_opaque(args[0])
        out, x = self.function(*args[:place], **options), gather(args[0])
        dx = gather_tangent(args[0], dargs[0])
        dout = self.of_beside[0](dargs[place], out, x, **others)
        if dx is not None:
            dout = dout + self.jvp[0](dx, out, x, **others)  # type: ignore[misc]  # of a reduction there is one
        return out, finish(dout, out)

    def rrule(self, args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any, Pullback]:
        place = self.beside
        if place is None or len(args) <= place:
            return super().rrule(args, fargs, kwargs)
        options = self._by_keyword(args, kwargs, place)
        if fargs[place] is None:
            out, fout, pullback = super().rrule(args[:place], fargs[:place], options)
            return out, fout, lambda bout: [*pullback(bout), None]
        others = self._others(args[:place], options)
        refuse_opaque(args[0])
        out, x = self.function(*args[:place], **options), gather(args[0])
        fout = new_shadow(out, True)

        def pullback_of_both(bout: Any) -> Sequence[Any]:
            by = fout if isinstance(fout, np.ndarray) else bout
            found: list[Any] = [None] * len(args)
            if by is not None:
                if fargs[0] is not None:
                    found[0] = give(fargs[0], args[0], self.vjp[0](by, out, x, **others))  # type: ignore[misc]
                found[place] = give(fargs[place], args[place], self.of_beside[1](by, out, x, **others))
            return found

        return out, fout, pullback_of_both

    def direct(self, count: int, keywords: Sequence[str]) -> Callable[..., Any] | None:
        return (
            self.quick if count - len(keywords) <= 2 and {"axis", "keepdims"}.issuperset(keywords) else None
        )
