"""The kinds of rows: what a row of the table of rules says about its function.

Builders and dispatch choose by them what becomes of a call: this is a module of its own, which needs nothing.
"""

from __future__ import annotations

from enum import StrEnum

__all__ = ["RowKind"]


class RowKind(StrEnum):
    """What a row says about its function (`rules.table` has a class for each)."""

    ZERO = "zero"
    """The derivative is zero."""
    SCALAR = "scalar"
    """The partial derivatives are given, which builders write inline."""
    PURE = "pure"
    """There is a formula per argument; the function has no effects, and gives new memory or numbers."""
    PRIMITIVE = "primitive"
    """A derivative of the function as a whole, written by hand."""
    PER_MODE = "per mode"
    """Different rows in the two modes: which one applies, calls find out as they run."""
    OPT_OUT = "opt out"
    """There is no rule."""
    OVERLAY = "overlay"
    """A function in Python that is differentiated instead."""
