"""What users are given and give: the checks of arguments and values, cotangents going in, derivatives out."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any

from adbc.errors import ArgumentError
from adbc.runtime.entry.selection import label
from adbc.runtime.report.messages import describe
from adbc.runtime.state.activity import is_active
from adbc.tangents import (
    NO_FDATA,
    NO_TANGENT,
    FData,
    RData,
    accumulate,
    check_increment,
    increment,
    zero_tangent,
)
from adbc.tangents.duals import ArrayTangent
from adbc.tangents.fit import as_numbers
from adbc.tangents.protocol import kind_of

__all__ = ["check_differentiable", "check_scalar", "kept", "pair", "real", "seed", "snapshot", "with_tangent"]


def check_differentiable(
    f: Callable[..., Any], i: int, x: Any, tangent: Any, names: Sequence[str] = (), count: int = 0
) -> None:
    """Raise `ArgumentError` if argument `i`, which is `x` and has this tangent, has no derivative.

    The arguments from `count` on are given by keyword, under `names`.
    """
    if tangent is not NO_TANGENT and (is_active(tangent) or not _holds_integers(x)):
        return
    which = label(i, names, count) if names else i
    if tangent is NO_TANGENT and zero_tangent(x) is not NO_TANGENT:
        raise ArgumentError(
            f"argument {which} of {describe(f)} is a {type(x).__name__} that an adbc.Const holds, so it has"
            " no gradient: leave it out of argnums, or pass a copy to one of the two"
        )
    if type(x) in (int, bool):
        remedy = f"pass a float instead: {float(x)!r}"
    elif hasattr(x, "dtype"):
        remedy = "pass an array of floats instead: x.astype(float)"
    else:
        remedy = "leave it out of argnums"
    if tangent is not NO_TANGENT:
        remedy = "write its numbers as floats"
    raise ArgumentError(
        f"argument {which} of {describe(f)} is a {type(x).__name__} ({x!r:.40}),"
        f" which has no derivative; {remedy}"
    )


def _holds_integers(x: Any) -> bool:
    """Whether all that a list, tuple or dict has are integers, where floats were meant."""
    if issubclass(type(x), dict):
        x = dict.values(x)
    elif not issubclass(type(x), list | tuple):
        return issubclass(type(x), int) or getattr(getattr(x, "dtype", None), "kind", "") in ("i", "u", "b")
    return len(x) > 0 and all(map(_holds_integers, x))


def check_scalar(f: Callable[..., Any], out: Any) -> None:
    """Raise `ArgumentError` if `out` is no real number, of which alone there is a gradient."""
    cls = type(out)
    if cls is float or isinstance(out, (float, int)):
        return
    is_number = getattr(out, "ndim", None) == 0 and getattr(getattr(out, "dtype", None), "kind", "") in "fiub"
    if not is_number:
        shape = f" of shape {out.shape}" if hasattr(out, "shape") else ""
        raise ArgumentError(
            f"the value of {describe(f)} is a {cls.__name__}{shape}, but a gradient is of a real scalar;"
            " return a number (sum the components, or take one), or use adbc.vjp, which takes a cotangent for"
            " the value"
        )


def seed(out: Any, fout: Any, cotangent: Any) -> Any:
    """Start from a cotangent of `out`: add what has memory to the shadow, and return the rest as rdata."""
    if cotangent is NO_TANGENT or cotangent is None or fout is None:
        return None
    if fout is NO_FDATA:
        return cotangent if type(cotangent) is float else as_numbers(out, cotangent)
    if type(fout) is tuple:
        return tuple(map(seed, out, fout, cotangent))
    if type(fout) is FData:
        kind: Any = kind_of(type(out))
        of, given = fout.__dict__, cotangent.__dict__
        return RData(**{k: seed(c, of.get(k), given[k]) for k, c in kind.parts(out)})
    if type(fout) is ArrayTangent and type(cotangent) is not ArrayTangent:  # a number, for an array of one
        accumulate(fout, out, cotangent)
        return None
    if type(cotangent) is float and type(fout) is type(out) and getattr(out, "shape", None) == ():
        fout += cotangent  # of an array without dimensions; quicker than what follows
        return None
    cotangent = as_numbers(out, cotangent)
    check_increment(fout, cotangent)
    increment(fout, cotangent)
    return None


def with_tangent(out: Any, dout: Any) -> tuple[Any, Any]:
    """What `jvp` gives for a value and its tangent, None for zero."""
    if type(out) is float and dout.__class__ is float:
        return out, dout
    return out, zero_tangent(out) if dout is None else as_numbers(out, dout)


# -- values with something besides ---------------------------------------------------------------------


def pair(f: Callable[..., Any], out: Any) -> tuple[Any, Any]:
    """`out`, which must be the value of a function and what that returns besides; else `ArgumentError`."""
    if type(out) is not tuple or len(out) != 2:
        size = f" of {len(out)}" if type(out) is tuple else ""
        raise ArgumentError(
            f"with has_aux=True, {describe(f)} returns a tuple (value, what else it returns), not a"
            f" {type(out).__name__}{size}"
        )
    return out


_IMMUTABLE = frozenset({float, int, bool, complex, str, bytes, type(None)})


def real(f: Callable[..., Any], out: Any) -> Any:
    """`out`, which must be a real number, as it is before the pullback undoes what the call did; else
    `ArgumentError`.

    An array without dimensions may have been written to in the call.
    """
    check_scalar(f, out)
    return kept(out) if hasattr(type(out), "__setitem__") else out


def kept(out: Any, args: Sequence[Any] = ()) -> Any:
    """The value `out` of a function as it is before the pullback undoes what the call did: a copy of what has
    memory, but for the arguments themselves.  What cannot be copied is that itself."""
    if type(out) in _IMMUTABLE or (type(out) is tuple and _IMMUTABLE.issuperset(map(type, out))):
        return out
    try:
        return copy.deepcopy(out, {id(x): x for x in args})
    except TypeError:  # what `copy` raises for files, locks, generators
        return out


def snapshot(f: Callable[..., Any], aux: Any) -> Any:
    """What a function returned besides its value, as it is before the pullback undoes what the call did."""
    if type(aux) in _IMMUTABLE or (type(aux) is tuple and _IMMUTABLE.issuperset(map(type, aux))):
        return aux
    try:
        return copy.deepcopy(aux)
    except TypeError as error:  # what `copy` raises for files, locks, generators
        raise ArgumentError(
            f"what {describe(f)} returns besides its value cannot be copied ({error}), and the pullback"
            " undoes what the call did to it: return numbers, arrays or containers of them"
        ) from error
