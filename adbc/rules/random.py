"""`random`: generators that draw floats and ints from a state in C, which holds no derivative.

What is drawn is constant, and moves with the parameters of its distribution as the library computes it: the
methods that compare, add and multiply are code in Python like any other, and are followed where a parameter
has a derivative.  Where none has, they are called as they are.

A pullback leaves the state in C as a plain call leaves it; of what an instance has in Python, the second of
the two numbers that `gauss` makes at a time, it puts back what was there.
"""

from __future__ import annotations

import _random
import random
import types
from collections.abc import Sequence
from typing import Any

from adbc.rules.table import NO_KWARGS, Args, Kwargs, Overlay, Primitive, Rule, ZeroRule

__all__ = ["ROWS", "DrawRule"]

Random = random.Random


def _is_plain(cls: type, *rest: type) -> bool:
    """Whether the generator is of the class itself: another may draw its numbers from anywhere."""
    return cls is Random


class DrawRule(Overlay):
    """The rule of a method in Python that draws a number, and changes nothing but the state in C: followed
    where an argument has a derivative, else called as it is."""

    is_drawn = True


def _followed(method: Any) -> types.FunctionType:
    """`method`, as another function without a rule."""
    body = types.FunctionType(
        method.__code__, method.__globals__, method.__name__, method.__defaults__, method.__closure__
    )
    body.__kwdefaults__ = method.__kwdefaults__
    body.__qualname__ = method.__qualname__
    return body


def _standard(generator: Any) -> float:
    """The next number of the standard normal distribution, as `gauss` draws it."""
    return Random.gauss(generator, 0.0, 1.0)


def _kept(generator: Any) -> Any:
    """The second of the two numbers that were made, if the first has been drawn."""
    return generator.gauss_next


def _put_back(generator: Any, before: Any) -> None:
    generator.gauss_next = before


def _standard_frule(args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
    return _standard(*args), None


def _standard_rrule(args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> Any:
    (generator,) = args
    before = _kept(generator)
    out = _standard(generator)

    def standard_pullback(bout: Any) -> Sequence[Any]:
        _put_back(generator, before)
        return (None,)

    return out, None, standard_pullback


def _gauss(self: Any, mu: Any = 0.0, sigma: Any = 1.0) -> Any:
    return mu + _standard(self) * sigma


_FLOATS = (
    "uniform", "triangular", "normalvariate", "lognormvariate", "expovariate", "vonmisesvariate",
    "gammavariate", "betavariate", "paretovariate", "weibullvariate",
)  # fmt: skip
_INTS = "randint", "randrange", "binomialvariate", "_randbelow"


def _float(cls: type, *parameters: type) -> type | None:
    return float if all(p is float or p is int for p in parameters) else None


def _methods(names: Sequence[str]) -> list[Any]:
    return [getattr(Random, name) for name in names if hasattr(Random, name)]


def _choice(self: Any, seq: Any) -> Any:
    if not len(seq):
        raise IndexError("Cannot choose from an empty sequence")
    return seq[self._randbelow(len(seq))]


class _StandardRule(Primitive):
    mutates = True  # the pullback puts something back


ROWS: list[Rule] = [
    ZeroRule(_random.Random.random, result=float),
    ZeroRule(_random.Random.getrandbits, result=int),
    *[ZeroRule(method, when=_is_plain, result=int) for method in _methods(_INTS)],
    *[DrawRule(method, _followed(method), when=_is_plain, result=_float) for method in _methods(_FLOATS)],
    Overlay(Random.choice, _choice, when=_is_plain),
    Overlay(Random.shuffle, _followed(Random.shuffle), when=_is_plain),
    Overlay(Random.gauss, _gauss, when=_is_plain),
    ZeroRule(_kept),
    ZeroRule(_put_back),
    _StandardRule(_standard, frule=_standard_frule, rrule=_standard_rrule, when=_is_plain, result=float),
]
