"""Functions of adbc's that do what functions of libraries do, quicker for what a row knows of the arguments.

They compute the user's values: what NumPy says of the arithmetic in them, it says of the user's.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any, TypeVar

__all__ = ["QUICK", "quick"]

QUICK: set[types.CodeType] = set()
"""The code of these functions."""

_F = TypeVar("_F", bound=Callable[..., Any])


def quick(function: _F) -> _F:
    """Declare that `function`, in Python, is called in the place of one that the user's code calls."""
    QUICK.add(function.__code__)
    return function
