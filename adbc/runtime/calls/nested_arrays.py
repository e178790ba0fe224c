"""What generated code does with shadows of arrays, as an outer level follows it.

Most of what it does is to look: whether a shadow and a cotangent are of one shape and dtype, whether a view
may be written into.  In code that runs a thousand times that is written out; followed like code of the
user's, each look at an array would be a call that is decided when it runs.  Here the looks are functions of
their own that have no derivative, and what is left is the arithmetic.
"""

from __future__ import annotations

import sys
import types
from typing import Any

from adbc.rules.linear_rows import as_it_stands, check_grown, grows, is_batched, is_linear, mutating
from adbc.rules.table import NO_KWARGS, Args, Kwargs, Overlay, Primitive, Pullback, Rule, ZeroRule
from adbc.runtime.state import array_shadows as arrays
from adbc.runtime.state import slots
from adbc.tangents import NO_FDATA, project
from adbc.tangents.internal import ARRAY_ACCUMULATE

__all__ = ["ROWS"]


# -- looks ---------------------------------------------------------------------------------------------------


def holds_numbers(shadow: Any) -> bool:
    """Whether a shadow is an array of NumPy's own class with nothing but numbers."""
    return bool(shadow.__class__ is sys.modules["numpy"].ndarray and shadow.dtype.char in _CODES)


_CODES = "dfDFgGe"


def has_numbers(d: Any) -> bool:
    """Whether `d` is a number, or such an array."""
    cls = d.__class__
    if cls is float or cls is complex:
        return True
    code = getattr(getattr(d, "dtype", None), "char", None)
    return code is not None and code in _CODES and cls.__module__ == "numpy"


def accumulator(shadow: Any) -> Any:
    """What adds to a shadow of this class a cotangent that does not fit it as it is."""
    return ARRAY_ACCUMULATE[shadow.__class__]


def let_write(part: Any) -> None:
    """Let a part of a shadow be written into."""
    if not part.flags.writeable:
        part.flags.writeable = True


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
    if holds_numbers(shadow):
        _give_numbers(shadow, x, d)
    else:
        accumulator(shadow)(shadow, x, d)


def _take_array(shadow: Any, x: Any, d: Any) -> None:
    if shadow is None:
        return
    if holds_numbers(shadow):
        _take_numbers(shadow, x, d)
    else:
        accumulator(shadow)(shadow, x, -d)


def _fit_array(d: Any, shape: tuple[int, ...], code: str) -> Any:
    if has_numbers(d):
        return _fit_numbers(d, shape, code)
    return project(d, arrays.zeros_of(shape, code))


def _fit(d: Any, x: Any) -> Any:
    return _fit_number(d, x) if has_numbers(d) and has_numbers(x) else _fit_other(d, x)


def _project(d: Any, x: Any, fresh: bool = False) -> Any:
    if has_numbers(d) and has_numbers(x):
        return _project_numbers(d, x, fresh)
    return _project_other(d, x, fresh)


_give_numbers, _take_numbers = as_it_stands(arrays.give_array), as_it_stands(arrays.take_array)
_fit_numbers, _fit_number = as_it_stands(arrays.fit_array), as_it_stands(arrays.fit)
_fit_other = as_it_stands(arrays.fit)
_project_numbers, _project_other = as_it_stands(project), as_it_stands(project)


# -- elements ------------------------------------------------------------------------------------------------


def _add_to_slot_frule(args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
    (shadow, index, b), (over, _, db) = args, dargs
    if shadow is not None:
        shadow[index] = shadow.item(index) + b
        if db is not None:
            check_grown(over)
            over[index] = over[index] + db
    return None, None


def _add_to_slot_rrule(args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any, Pullback]:
    (shadow, index, b), (over, _, fb) = args, fargs
    if shadow is None:
        return None, None, _no_cotangents
    if fb is not None:
        check_grown(over)
    old = shadow.item(index)
    shadow[index] = old + b

    def back(bout: Any) -> Any:
        shadow[index] = old
        return None, None, None if fb is None else project(over.item(index), b)

    return None, None, back


def _no_cotangents(bout: Any) -> Any:
    return None, None, None


def _restore_slot_frule(args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
    (container, shadow, index, old), (of_container, over, _, of_old) = args, dargs
    container[index] = old
    if of_old is not None:
        check_grown(of_container)
        of_container[index] = of_old
    elif of_container is not None:
        of_container[index] = 0.0
    if shadow is None:
        return 0.0, None
    b = shadow.item(index)
    shadow[index] = 0.0
    if over is None:
        return b, None
    db = over[index] if is_batched(over) else over.item(index)
    over[index] = 0.0
    return b, db


def _restore_slot_rrule(args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any, Pullback]:
    (container, shadow, index, old), (of_container, over, _, of_old) = args, fargs
    if of_old is not None:
        check_grown(of_container)
    now = container[index]
    container[index] = old
    b = 0.0
    if shadow is not None:
        b = shadow.item(index)
        shadow[index] = 0.0

    def back(bout: Any) -> Any:
        container[index] = now
        if shadow is not None:
            shadow[index] = b
        if over is not None:
            over[index] = 0.0 if bout is None else bout
        found = None
        if of_container is not None:
            found = None if of_old is None else project(of_container.item(index), old)
            of_container[index] = 0.0
        return None, None, None, found

    return b, None if shadow is None or over is None else NO_FDATA, back


ROWS: list[Rule] = [
    *[ZeroRule(look, result=bool) for look in (holds_numbers, has_numbers)],
    ZeroRule(let_write, result=types.NoneType),
    ZeroRule(accumulator),
    Overlay(arrays.view, _view),
    Overlay(arrays.give_array, _give_array),
    grows(_give_numbers),
    Overlay(arrays.take_array, _take_array),
    grows(_take_numbers, -1),
    Overlay(arrays.fit_array, _fit_array),
    is_linear(_fit_numbers),
    Overlay(arrays.fit, _fit),
    is_linear(_fit_number),
    Overlay(project, _project),
    is_linear(_project_numbers),
    mutating(Primitive(slots.add_to_slot, frule=_add_to_slot_frule, rrule=_add_to_slot_rrule)),
    mutating(Primitive(slots.restore_slot, frule=_restore_slot_frule, rrule=_restore_slot_rrule)),
]
