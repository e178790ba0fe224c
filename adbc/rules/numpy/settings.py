"""NumPy's settings that say how errors of floating-point numbers are reported.

They are asked for and changed as in the plain call, and stay as they are left.  While a derivative is
computed, though, NumPy tells a listener of adbc's of the errors, which stands in these settings: so the
functions that have to do with them are called under the user's own; what they make of them is heard again.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from adbc.rules.table import Overlay, Rule, ZeroRule
from adbc.tangents.keys import CALL

__all__ = ["ROWS"]


def _plainly(function: Callable[..., Any]) -> Callable[..., Any]:
    """`function`, called under the settings that are the user's."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        hearing = getattr(CALL.memory, "hearing", None)
        return function(*args, **kwargs) if hearing is None else hearing.plainly(function, *args, **kwargs)

    return call


def _rows(function: Callable[..., Any], plainly: Callable[..., Any]) -> list[Rule]:
    def body(*args: Any, **kwargs: Any) -> Any:
        return plainly(*args, **kwargs)

    return [Overlay(function, body), ZeroRule(plainly)]


_FUNCTIONS: list[Any] = [
    np.errstate.__enter__, np.errstate.__exit__, np.seterr, np.geterr, np.seterrcall, np.geterrcall,
]  # fmt: skip

ROWS: list[Rule] = [
    ZeroRule(np.errstate, result=np.errstate),
    *(row for function in _FUNCTIONS for row in _rows(function, _plainly(function))),
]

_MAKES: Any = getattr(getattr(getattr(np, "_core", None), "umath", None), "_make_extobj", None)
"""What ``errstate`` as a decorator makes the settings of; None where NumPy has no objects for them."""

if _MAKES is not None:

    @functools.wraps(_MAKES)
    def _made(*args: Any, **kwargs: Any) -> Any:
        hearing = getattr(CALL.memory, "hearing", None)
        return _MAKES(*args, **kwargs) if hearing is None else hearing.made(_MAKES, *args, **kwargs)

    ROWS += _rows(_MAKES, _made)
