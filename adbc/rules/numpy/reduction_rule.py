"""The rule of a reduction of one array, and of the numbers or arrays beside it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from adbc.errors import UnsupportedError
from adbc.rules.numpy.base import ArrayRule, finish, gather, gather_tangent, give, new_shadow, refuse_opaque
from adbc.rules.table import NO_KWARGS, Args, Kwargs, Pullback

__all__ = ["ReductionRule"]


class ReductionRule(ArrayRule):
    """The rule of a reduction of one array, and of arguments besides, where there is a derivative by them:
    what the reduction begins with (``initial=``), the mean that a variance is taken around (``mean=``), what
    is taken off the number of elements that its sum is divided by (``ddof=``, ``correction=``)."""

    quick: Callable[..., Any] | None = None
    """A quicker function for arrays of NumPy's own class and no more than `axis` and `keepdims` besides."""
    of_besides: dict[int, tuple[Callable[..., Any], Callable[..., Any]]] = {}  # noqa: RUF012  # replaced whole
    """The formulas of each of these, by its place, called as those of the array are, and with what it is
    behind the array."""
    numbers: frozenset[str] = frozenset()
    """The names of those that are constants nearly always: a call with one is as pure as one without."""

    def take_besides(self, numbers: Sequence[str] = (), **formulas: Any) -> None:
        """Have the parameters of these names differentiated by these formulas."""
        self.of_besides = {self.names.index(name): made for name, made in formulas.items()}
        self.numbers = frozenset(numbers)
        self.active += self.of_besides
        self.parameters = self.names[: max(self.of_besides) + 1]
        self.refused = tuple([None if i in self.of_besides else r for i, r in enumerate(self.refused)])
        self.defaults.setdefault("keepdims", False)
        self.defaults.setdefault("ddof", 0)

    def uncovered(self, count: int) -> Sequence[int]:
        return [i for i in super().uncovered(count) if i not in self.of_besides]

    is_as_formulas_say = True

    def is_pure(self, count: int, keywords: Sequence[str]) -> bool:
        for place in self.of_besides:
            name = self.names[place]
            if name not in self.numbers and (name in keywords or count - len(keywords) > place):
                return False
        return super().is_pure(count, keywords)

    def _active(self, shadows: Sequence[Any]) -> list[int]:
        """The places beside the array that `shadows` has something at."""
        return [place for place in self.of_besides if place < len(shadows) and shadows[place] is not None]

    def _by_keyword(self, args: Args, kwargs: Kwargs) -> tuple[Args, dict[str, Any]]:
        """The call with what is beside the array as keywords: NumPy takes some of it by keyword only."""
        first = min(self.of_besides)
        given = zip(self.names[first:], args[first:], strict=False)
        named = {name: x for name, x in given if x is not self.defaults.get(name)}
        return args[:first], {**named, **kwargs}

    def _others(self, args: Args, kwargs: Kwargs, active: Sequence[int]) -> dict[str, Any]:
        """The arguments beside the array, where some of them are active."""
        _, others, target, _ = self.split(args, kwargs)
        if target is not None:
            name = self.names[active[0]]
            raise UnsupportedError(
                f"np.{self.function.__name__} with {name}= and out=, where {name} has a derivative",
                "adbc has no rule for that form",
                "assign the result: out[...] = ...",
            )
        return others

    def frule(self, args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
        if not self.of_besides or len(args) <= min(self.of_besides):
            return super().frule(args, dargs, kwargs)
        active = self._active(dargs)
        args, kwargs = self._by_keyword(args, kwargs)
        if not active:
            return super().frule(args, dargs[: len(args)], kwargs)
        others = self._others(args, kwargs, active)
        refuse_opaque(args[0])
        out, x = self.function(*args, **kwargs), gather(args[0])
        dx = gather_tangent(args[0], dargs[0])
        dout = None if dx is None else self.jvp[0](dx, out, x, **others)  # type: ignore[misc]  # there is one
        for place in active:
            more = self.of_besides[place][0](dargs[place], out, x, **others)
            dout = more if dout is None else dout + more
        return out, finish(dout, out)

    def rrule(self, args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any, Pullback]:
        if not self.of_besides or len(args) <= min(self.of_besides):
            return super().rrule(args, fargs, kwargs)
        active, given = self._active(fargs), args
        args, kwargs = self._by_keyword(args, kwargs)
        if not active:
            out, fout, pullback = super().rrule(args, fargs[: len(args)], kwargs)
            rest = [None] * (len(given) - len(args))
            return out, fout, lambda bout: [*pullback(bout), *rest]
        others = self._others(args, kwargs, active)
        refuse_opaque(args[0])
        out, x = self.function(*args, **kwargs), gather(args[0])
        fout = new_shadow(out, True)

        def pullback_of_all(bout: Any) -> Sequence[Any]:
            by = fout if isinstance(fout, np.ndarray) else bout
            found: list[Any] = [None] * len(given)
            if by is not None:
                if fargs[0] is not None:
                    found[0] = give(fargs[0], given[0], self.vjp[0](by, out, x, **others))  # type: ignore[misc]
                for place in active:
                    back = self.of_besides[place][1](by, out, x, **others)
                    found[place] = give(fargs[place], given[place], back)
            return found

        return out, fout, pullback_of_all

    def direct(self, count: int, keywords: Sequence[str]) -> Callable[..., Any] | None:
        return (
            self.quick if count - len(keywords) <= 2 and {"axis", "keepdims"}.issuperset(keywords) else None
        )
