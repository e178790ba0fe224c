"""Rules of taking the class off instances of subclasses of ndarray, and of putting it on arrays.

The shadow of an instance is an `ArrayTangent`, whose `array` is the shadow of the array that the instance is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from adbc.rules.builtins.tuples import tuple_shadow, tuple_tangent
from adbc.rules.numpy.base import array_part
from adbc.rules.numpy.stand_ins import ARGUMENT, INSTANCE, PLAIN, is_instance_class
from adbc.rules.table import NO_KWARGS, Args, Kwargs, Primitive, Pullback, Rule
from adbc.tangents import NO_FDATA, NO_TANGENT
from adbc.tangents.array_instances import bare, instance_of
from adbc.tangents.duals import ArrayTangent

__all__ = ["DONE", "OPEN", "ROWS", "TOLD", "bare_all", "dress"]


def _part_of(shadow: Any) -> Any:
    """The shadow of the array that an instance with this shadow is; None if it is constant."""
    return array_part(shadow) if type(shadow) is ArrayTangent else None


def _bare_frule(args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
    return bare(args[0]), _part_of(dargs[0])


def _bare_rrule(args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any, Pullback]:
    return bare(args[0]), _part_of(fargs[0]), lambda bout: (None,)


def _of_instance(shadow: Any) -> ArrayTangent:
    """The shadow of a new instance of an array with this shadow."""
    return ArrayTangent(NO_TANGENT if shadow is None else shadow)


def _instance_frule(args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
    return instance_of(*args), _of_instance(dargs[1])


def _instance_rrule(args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any, Pullback]:
    return instance_of(*args), _of_instance(fargs[1]), lambda bout: (None, None)


# -- several at once ----------------------------------------------------------------------------------------


def bare_all(args: tuple[Any, ...]) -> tuple[Any, ...]:
    """The arguments of a call with arrays in the place of instances."""
    return tuple([bare(x) if is_instance_class(type(x)) else x for x in args])


def _shadows(args: Any, shadows: Any) -> list[Any]:
    """The shadows of `bare_all` of `args`, which have these."""
    pairs = zip(args, shadows or (None,) * len(args), strict=True)
    return [_part_of(f) if is_instance_class(type(x)) else f for x, f in pairs]


def _bare_all_frule(args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
    out = bare_all(args[0])
    given = None if dargs[0] is NO_TANGENT else dargs[0]
    tangents = [None if d is NO_TANGENT else d for d in _shadows(args[0], given)]
    return out, tuple_tangent(out, tangents)


def _bare_all_rrule(args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any, Pullback]:
    return bare_all(args[0]), tuple_shadow(_shadows(args[0], fargs[0])), lambda bout: (bout,)


DONE = "done"
"""Nothing is left to do."""
TOLD = "told"
"""The class is to be told of the new instance."""
OPEN = "open"
"""The result is not made yet."""


def dress(plan: Any, result: Any, args: tuple[Any, ...]) -> tuple[Any, Any, str]:
    """What is made by `plan` (`stand_ins.planned`) of `result`, which a function gives for arrays.

    Also the argument that its class is told of, and `DONE`, `TOLD` or `OPEN`.
    """
    kind = plan[0]
    if kind == PLAIN:
        return result, None, DONE
    place: Any = plan[1] if kind == ARGUMENT else plan[2] if kind == INSTANCE else (OPEN,)
    if not (place is None or (len(place) == 1 and type(place[0]) is int)):
        return None, None, OPEN
    obj = None if place is None else args[place[0]]
    if kind == ARGUMENT:
        return obj, None, DONE
    return instance_of(plan[1], np.asarray(result)), obj, TOLD if plan[3] else DONE


def _dressed(args: Args, shadows: Args, zeros: Callable[[Any], Any]) -> tuple[Any, list[Any], Any]:
    """The result of `dress`, the shadows of its parts, and that of the array of a new instance.

    zeros: gives the shadow of an array without axes that is made of a number.
    """
    plan, result, _ = args
    out = dress(*args)
    if out[2] == OPEN:
        return out, [None, None, None], None
    if plan[0] == PLAIN:
        return out, [shadows[1], None, None], None
    place = plan[1] if plan[0] == ARGUMENT else plan[2]
    of_args = shadows[2]
    obj = None if place is None or of_args is None or of_args is NO_TANGENT else of_args[place[0]]
    if plan[0] == ARGUMENT:
        return out, [obj, None, None], None
    array = shadows[1]
    if array is not None and type(result) is not np.ndarray:
        array = zeros(array)
    return out, [_of_instance(array), obj if out[2] == TOLD else None, None], array


def _dress_frule(args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
    out, tangents, _ = _dressed(args, dargs, lambda d: np.array(d, np.asarray(args[1]).dtype))
    return out, tuple_tangent(out, [None if d is NO_TANGENT else d for d in tangents])


def _dress_rrule(args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any, Pullback]:
    out, shadows, array = _dressed(args, fargs, lambda f: np.zeros((), np.asarray(args[1]).dtype))
    is_number = fargs[1] is NO_FDATA

    def dress_pullback(bout: Any) -> Sequence[Any]:
        if not is_number:
            return None, None, None
        return None, array[()] if array is not None else None if bout is None else bout[0], None

    return out, tuple_shadow(shadows), dress_pullback


ROWS: list[Rule] = [
    Primitive(bare, frule=_bare_frule, rrule=_bare_rrule),
    Primitive(instance_of, frule=_instance_frule, rrule=_instance_rrule),
    Primitive(bare_all, frule=_bare_all_frule, rrule=_bare_all_rrule, is_fitted=True),
    Primitive(dress, frule=_dress_frule, rrule=_dress_rrule),
]
