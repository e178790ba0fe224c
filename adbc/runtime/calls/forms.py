"""How many forms of tuples a function gets rules for.

A tree of tuples has as many forms as branches, and a rule for each would be made longer than it is used: what
is nested deeply, or has another form in each call, is data.
"""

from __future__ import annotations

import types
from collections.abc import Sequence

from adbc.runtime.state.engine import EngineView
from adbc.types import AbstractType
from adbc.types.lattice import Exact, TupleType

__all__ = ["forms_met"]


def forms_met(
    engine: EngineView, function: types.FunctionType, parameters: Sequence[AbstractType]
) -> list[AbstractType]:
    """What a rule for `function`, called on arguments of the types `parameters`, is made for: the forms of
    tuples, as long as these are few.
    """
    if not any(isinstance(t, TupleType) for t in parameters):
        return list(parameters)
    met = engine.forms.setdefault((function.__code__, id(function.__globals__)), set())
    whole = tuple(parameters)
    if whole not in met:
        if len(met) >= _MOST_FORMS or any(_depth(t) > _DEEPEST for t in parameters):
            return [_SOME_TUPLE if isinstance(t, TupleType) else t for t in parameters]
        met.add(whole)
    return list(parameters)


_MOST_FORMS, _DEEPEST = 6, 3
_SOME_TUPLE = Exact(tuple)


def _depth(known: AbstractType) -> int:
    """How deeply tuples are nested in `known`."""
    return 1 + max(map(_depth, known.elements), default=0) if isinstance(known, TupleType) else 0
