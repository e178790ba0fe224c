"""Flags of classes, as CPython keeps them in ``cls.__flags__``, by name."""

from __future__ import annotations

__all__ = ["HEAP_TYPE", "IMMUTABLE_TYPE"]

HEAP_TYPE = 1 << 9
"""``Py_TPFLAGS_HEAPTYPE``: made by a class statement (or a heap type of C), so that Python code may implement
its methods, and may change them at any time.  Classes that are written in C as static data do not have it."""
IMMUTABLE_TYPE = 1 << 8
"""``Py_TPFLAGS_IMMUTABLETYPE``: attributes of the class cannot be set."""
