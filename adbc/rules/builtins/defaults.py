"""The defaults of functions that are made while others run, ``lambda v, k=k: v * k``.

They stand in the shadow, or tangent, of the function, in a tuple like that of the function itself
(`runtime.state.made_functions`), unless none of them has a derivative.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from adbc.functions import default_of
from adbc.rules.table import NO_KWARGS, Args, Halves, Kwargs, Primitive, Rule
from adbc.tangents import NO_FDATA, NO_TANGENT, MutableTangent, slot_increment, slot_shadow

__all__ = ["ROWS"]

_KEPT = "__defaults__"
_NOTHING = (None, None)


def _slots(beside: Any, index: int) -> Any:
    """The tuple of what stands beside the defaults of a function; None if there is no such default."""
    slots = beside.__dict__.get(_KEPT) if type(beside) is MutableTangent else None
    return None if slots is None or slots is NO_TANGENT or -index > len(slots) else slots


def _frule(args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
    function, index = args
    slots = _slots(dargs[0], index)
    return default_of(function, index), None if slots is None else slots[index]


def _forwards(function: Any, index: int, beside: Any, _: Any) -> Any:
    value = default_of(function, index)
    slots = _slots(beside, index)
    if slots is None:
        return value, None, None
    slot = slots[index]
    shadow = NO_FDATA if slot.__class__ is float else slot_shadow(slot)
    return value, shadow, None if shadow is None else (beside.__dict__, index)


def _backwards(saved: Any, bout: Any) -> Sequence[Any]:
    if saved is not None and bout is not None:
        fields, index = saved
        slots = list(fields[_KEPT])
        slots[index] = slot_increment(slots[index], bout)
        fields[_KEPT] = tuple(slots)
    return _NOTHING


def _rrule(args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> Any:
    out, shadow, saved = _forwards(*args, *fargs)
    return out, shadow, lambda bout: _backwards(saved, bout)


ROWS: list[Rule] = [
    Primitive(
        default_of, frule=_frule, rrule=_rrule, is_fitted=True, halves=(Halves(2, _forwards, _backwards),)
    )
]
