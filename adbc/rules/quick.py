"""Functions of adbc's that do what functions of libraries do, quicker for what a row knows of the arguments.

They compute the user's values: what NumPy says of the arithmetic in them, it says of the user's.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any, TypeVar

__all__ = ["ONCE_PER_CALL", "QUICK", "once_per_call", "quick"]

QUICK: set[types.CodeType] = set()
"""The code of these functions."""
ONCE_PER_CALL: set[types.CodeType] = set()
"""The code of functions of adbc's that run once where the user's code calls the function of a library which
they stand for: how often they run says as much as how often the user's code does."""

_F = TypeVar("_F", bound=Callable[..., Any])


def quick(function: _F) -> _F:
    """Declare that `function`, in Python, is called in the place of one that the user's code calls."""
    QUICK.add(function.__code__)
    return function


def once_per_call(function: _F) -> _F:
    """Declare that `function`, in Python, stands for one of a library, or does a part of what one does."""
    ONCE_PER_CALL.add(function.__code__)
    return function
