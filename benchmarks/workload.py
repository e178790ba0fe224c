"""What a workload is: a program, the adjoint that an engineer would write for it, and their arguments."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = ["Array", "Function", "Workload", "duplicate", "numbers"]

Array = np.ndarray[Any, Any]
Function = Callable[..., Any]


@dataclasses.dataclass(frozen=True)
class Workload:
    """A function that is differentiated by the arguments `argnums`, as `adbc.value_and_grad` takes them.

    function: the program, written as its user would write it.

    adjoint: value and gradient by hand, ``adjoint(*arguments)`` being what
    ``adbc.value_and_grad(function, argnums)(*arguments)`` is: a sweep forwards that keeps what the sweep
    backwards needs, nothing generated and nothing shared with adbc.  Arguments are left as they were.

    arguments: with these a plain call takes between 10 microseconds and 2 milliseconds.

    small: arguments with which finite differences are quick and accurate.
    """

    name: str
    function: Function
    adjoint: Function
    arguments: tuple[Any, ...]
    small: tuple[Any, ...]
    argnums: int | tuple[int, ...] = 0


def numbers(argnums: int | tuple[int, ...]) -> tuple[int, ...]:
    """`argnums` as a tuple."""
    return (argnums,) if isinstance(argnums, int) else argnums


def duplicate(x: Any) -> Any:
    """A copy of an argument, for programs that work in place."""
    if isinstance(x, list | tuple):
        return type(x)(map(duplicate, x))
    return x.copy() if isinstance(x, np.ndarray) else x
