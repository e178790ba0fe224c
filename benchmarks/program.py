"""What an ordinary program is: the same computation as two authors would write it, and its arguments."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from benchmarks.workload import Function

__all__ = ["Program"]


@dataclasses.dataclass(frozen=True)
class Program:
    """A computation that is differentiated by the arguments `argnums`, in two styles of writing it.

    name: what is computed, in a few words.

    styles: by a word or two for the style ("functions", "classes", "generators", ...), the functions.  They
    take the same arguments and give the same number, up to rounding.

    arguments: numbers, lists, dicts, strings or arrays; with these a plain call takes between 20 microseconds
    and 3 milliseconds, and the result is differentiable at them.
    """

    name: str
    styles: Mapping[str, Function]
    arguments: tuple[Any, ...]
    argnums: int | tuple[int, ...] = 0
