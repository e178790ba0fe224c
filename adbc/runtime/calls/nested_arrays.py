"""What generated code does with shadows of arrays, as an outer level follows it.

Most of what it does is to look: whether a shadow and a cotangent are of one shape and dtype, whether a view
may be written into.  In code that runs a thousand times that is written out; followed like code of the
user's, each look at an array would be a call that is decided when it runs.  Here the looks are functions of
their own that have no derivative, and what is left is the arithmetic.
"""

from __future__ import annotations

import types
from typing import Any

from adbc.rules.table import Overlay, Rule, ZeroRule
from adbc.runtime.state import array_shadows as arrays
from adbc.tangents import project
from adbc.tangents.internal import ARRAY_ACCUMULATE
from adbc.tangents.protocol import kind_of

__all__ = ["ROWS"]


# -- looks ---------------------------------------------------------------------------------------------------


def takes_in_place(shadow: Any, d: Any) -> bool:
    """Whether `d` can be added to the shadow element by element."""
    is_alike = d.__class__ is shadow.__class__ and d.shape == shadow.shape and d.dtype == shadow.dtype
    return bool(is_alike and (shadow.base is None or shadow.flags.forc) and shadow.dtype.char in "dfDF")


def accumulator(shadow: Any) -> Any:
    """What adds to a shadow of this class a cotangent that does not fit it as it is."""
    return ARRAY_ACCUMULATE[shadow.__class__]


def let_write(part: Any) -> None:
    """Let a part of a shadow be written into."""
    if not part.flags.writeable:
        part.flags.writeable = True


def misfit_of(d: Any, shape: tuple[int, ...], code: str) -> int:
    """Why `d` is no cotangent of an array of this shape and dtype: 0, it is one; 1, it has been broadcast; 2,
    its dtype is another one, or it is a number."""
    if getattr(getattr(d, "dtype", None), "char", None) != code:
        return 2
    if d.shape == shape:
        return 0
    return 1 if d.shape else 2


def summing(d: Any) -> Any:
    """What undoes broadcasting of an array of this class."""
    return kind_of(d.__class__).summed  # type: ignore[attr-defined]  # of arrays


# -- arithmetic ----------------------------------------------------------------------------------------------


def _view(shadow: Any, index: Any) -> Any:
    if shadow is None:
        return None
    result = shadow[index]
    let_write(result)
    return result


def _give_array(shadow: Any, x: Any, d: Any) -> None:
    if shadow is None:
        return
    if takes_in_place(shadow, d):
        shadow += d
    else:
        accumulator(shadow)(shadow, x, d)


def _take_array(shadow: Any, x: Any, d: Any) -> None:
    if shadow is None:
        return
    if takes_in_place(shadow, d):
        shadow -= d
    else:
        accumulator(shadow)(shadow, x, -d)


def _fit_array(d: Any, shape: tuple[int, ...], code: str) -> Any:
    why = misfit_of(d, shape, code)
    if why == 0:
        return d
    if why == 1:
        return summing(d)(d, shape)
    return project(d, arrays.zeros_of(shape, code))


ROWS: list[Rule] = [
    ZeroRule(takes_in_place, result=bool),
    ZeroRule(misfit_of, result=int),
    ZeroRule(let_write, result=types.NoneType),
    *map(ZeroRule, (accumulator, summing)),
    Overlay(arrays.view, _view),
    Overlay(arrays.give_array, _give_array),
    Overlay(arrays.take_array, _take_array),
    Overlay(arrays.fit_array, _fit_array),
]
