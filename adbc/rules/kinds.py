"""The kinds of rows: what a row of the table of rules says about its function.

Builders and dispatch choose by them what becomes of a call: this is a module of its own, which needs nothing.
"""

from __future__ import annotations

from enum import StrEnum

__all__ = ["RowKind"]


class RowKind(StrEnum):
    """What a row says about its function (`rules.table` has a class for each)."""

    ZERO = "zero"
    """Its derivative is zero."""
    SCALAR = "scalar"
    """Its partial derivatives, which builders write inline."""
    PURE = "pure"
    """A formula per argument: it has no effects, and gives new memory or numbers."""
    PRIMITIVE = "primitive"
    """How it is differentiated as a whole, written by hand."""
    OVERLAY = "overlay"
    """A function in Python that is differentiated instead."""
