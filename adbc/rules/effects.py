"""What a call does with the memory of an argument: the words in which rules and analyses say it.

A module of its own, which needs nothing.
"""

from __future__ import annotations

from enum import Flag

__all__ = ["ANYTHING", "HANDS_ON", "KEEPS", "READS", "RETURNS", "WRITES", "Use"]


class Use(Flag):
    """Every call may read its arguments; the flags are what it may do besides."""

    READS = 0
    WRITES = 1
    """The call changes the memory."""
    KEEPS = 2
    """Memory that was there before refers to the argument afterwards: a list, an attribute, a global."""
    RETURNS = 4
    """The result may be the argument."""
    HANDS_ON = 8
    """The result may share memory with what is in the argument, or give it later: with elements of a list,
    views of an array."""
    ANYTHING = 15


READS, WRITES, KEEPS = Use.READS, Use.WRITES, Use.KEEPS
RETURNS, HANDS_ON, ANYTHING = Use.RETURNS, Use.HANDS_ON, Use.ANYTHING
