"""Values that are declared constant, and everything that is reached from them.

What is declared constant has `NoTangent()` for a tangent, by whichever name it is met: one address
has one shadow, and a constant's is that it has none.  So the memo of a top-level call is told of
every object (and all memory of arrays) that is reached from the constant before anything else gets
a shadow; to write an active value into one of them is then an error wherever it happens.
"""

from __future__ import annotations

from typing import Any, Generic, TypeVar

from adbc.errors import ArgumentError, UnsupportedError
from adbc.tangents.nothing import NO_TANGENT
from adbc.tangents.protocol import Inactive, kind_of
from adbc.tangents.walk import MakeWalk, Memo

__all__ = ["CONST", "Const", "hold_constant", "hold_if_free"]

T = TypeVar("T")


class Const(Generic[T]):
    """An argument that is not differentiated: ``adbc.grad(f)(x, adbc.Const(table))``.

    `f` is called with the value itself.  Nothing is differentiated through it, by any name: if it,
    or what it holds, is reached in another way as well (as part of another argument, through a
    closure or a global), it is constant there too.  To write an active value into it raises
    `ConstWriteError`, before anything is written.

    As part of an argument, or made by the function, it stays a `Const`, and `value` is a constant.

    >>> import adbc
    >>> adbc.grad(lambda w, x: w[0] * x[0])([2.0], adbc.Const([3.0]))
    [3.0]
    """

    __slots__ = ("value",)

    def __init__(self, value: T) -> None:
        self.value = value

    def __repr__(self) -> str:
        return f"Const({self.value!r})"


class ConstKind(Inactive):
    """How a `Const` inside other values is treated: a walk that meets one makes constant what it holds."""

    def make(self, x: Any, walk: Any) -> Any:
        if walk.is_constant:
            walk(x.value)
        else:
            hold_constant(x.value, walk.memo)
        return NO_TANGENT


CONST = ConstKind()


class ConstantWalk(MakeWalk):
    """A walk that meets everything reached from a value, and passes over what has no tangent anyway."""

    is_constant = True

    def __call__(self, x: Any) -> Any:
        try:
            return super().__call__(x)
        except UnsupportedError:
            return NO_TANGENT


def hold_constant(x: Any, memo: Memo) -> None:
    """Let `memo` say that `x` and all that is reached from it are constants.

    Raises `ArgumentError` if `memo` has a tangent for a part of `x` already.
    """
    if kind_of(type(x)).inactive and type(x) is not Const:
        return
    walk = ConstantWalk()
    walk.run(x)
    for key, (obj, _) in walk.memo.items():
        found = memo.get(key)
        if found is not None and found[0] is obj and found[1] is not NO_TANGENT:
            raise ArgumentError(
                f"a {type(obj).__name__} that an adbc.Const holds is differentiated by another name: one"
                " object is either a constant or not. Declare the argument itself Const, or pass a copy"
            )
    for key, (obj, _) in walk.memo.items():
        memo[key] = (obj, NO_TANGENT)


def hold_if_free(x: Any, memo: Memo) -> bool:
    """Let `memo` say that `x`, an array or a list of what has no address, is constant; returns whether it was
    done.

    It is not done if `memo` knows `x` or its memory already, as part of something that has a tangent.
    """
    known = memo.get(id(x))
    if known is not None and known[0] is x:
        return known[1] is NO_TANGENT
    if type(x) is list:  # what is in it is never in the memo, so there is nothing to walk over
        return memo.setdefault(id(x), (x, NO_TANGENT))[1] is NO_TANGENT
    walk = ConstantWalk()
    walk.run(x)
    if any(key in memo for key in walk.memo):
        return False
    memo.update(walk.memo)
    return True
