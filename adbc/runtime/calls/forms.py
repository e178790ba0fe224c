"""How many forms of tuples a function gets rules for.

A tree of tuples has as many forms as branches, and a rule for each would be made longer than it is used: what
is nested deeply, or has another form in each call, is data.  A parameter that was given such is taken for
data from then on, so that the classes of the arguments say by which rule a function is entered.
"""

from __future__ import annotations

import types
from collections.abc import Container, Sequence

from adbc.runtime.state.engine import EngineView
from adbc.types import AbstractType
from adbc.types.lattice import Exact, TupleType

__all__ = ["SOME_TUPLE", "Forms", "data_arguments", "data_places", "forms_met"]

SOME_TUPLE = Exact(tuple)
"""The type of a tuple that is data."""


class Forms:
    """The forms of tuples that a function was called with.

    met: the types of all its parameters, where rules were made for the forms of tuples among them.
    data: the places of the parameters for which tuples are data.
    """

    __slots__ = ("data", "met")

    def __init__(self) -> None:
        self.met: set[tuple[AbstractType, ...]] = set()
        self.data: frozenset[int] = frozenset()

    def of(self, parameters: Sequence[AbstractType]) -> list[AbstractType]:
        """What a rule is made for where the function is called on arguments of these types."""
        whole = self._with_data(parameters)
        if whole not in self.met and any(isinstance(t, TupleType) for t in whole):
            deep = [place for place, t in enumerate(whole) if _depth(t) > _DEEPEST]
            if deep or len(self.met) >= _MOST_FORMS:
                self.data |= {*(deep or self._varying(whole))}
                self.met.clear()
                return self.of(parameters)
            self.met.add(whole)
        return list(whole)

    def _with_data(self, parameters: Sequence[AbstractType]) -> tuple[AbstractType, ...]:
        return tuple(
            [
                SOME_TUPLE if place in self.data and isinstance(t, TupleType) else t
                for place, t in enumerate(parameters)
            ]
        )

    def _varying(self, whole: Sequence[AbstractType]) -> list[int]:
        """The places with more than one form of tuples, with `whole`; all that have tuples, if what varies is
        something else."""
        with_tuples = [place for place, t in enumerate(whole) if isinstance(t, TupleType)]
        others = [types_ for types_ in self.met if len(types_) == len(whole)]
        found = [place for place in with_tuples if any(t[place] != whole[place] for t in others)]
        return found or with_tuples


def forms_met(
    engine: EngineView, function: types.FunctionType, parameters: Sequence[AbstractType]
) -> list[AbstractType]:
    """What a rule for `function`, called on arguments of the types `parameters`, is made for: the forms of
    tuples, as long as these are few."""
    if not any(isinstance(t, TupleType) for t in parameters):
        return list(parameters)
    met: Forms = engine.forms.setdefault((function.__code__, id(function.__globals__)), Forms())
    return met.of(parameters)


def data_places(engine: EngineView, function: types.FunctionType) -> frozenset[int]:
    """The places of the parameters of `function` for which tuples are data."""
    found: Forms | None = engine.forms.get((function.__code__, id(function.__globals__)))
    return _NOWHERE if found is None else found.data


def data_arguments(engine: EngineView, function: types.FunctionType) -> Container[int]:
    """The places of arguments of calls by position that are parameters for which tuples are data."""
    found = data_places(engine, function)
    return [place for place in found if place < function.__code__.co_argcount] if found else found


_MOST_FORMS, _DEEPEST = 6, 3
_NOWHERE: frozenset[int] = frozenset()


def _depth(known: AbstractType) -> int:
    """How deeply tuples are nested in `known`."""
    return 1 + max(map(_depth, known.elements), default=0) if isinstance(known, TupleType) else 0
