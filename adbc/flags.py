"""Flags of classes that CPython gives names to in C only (``Include/object.h``)."""

from __future__ import annotations

__all__ = ["HAVE_GC", "HEAP_TYPE", "IMMUTABLE_TYPE"]

HEAP_TYPE = 1 << 9
"""Py_TPFLAGS_HEAPTYPE: the class was made at run time, by a class statement or in C, and is not static
data."""

IMMUTABLE_TYPE = 1 << 8
"""Py_TPFLAGS_IMMUTABLETYPE: attributes of the class cannot be set."""

HAVE_GC = 1 << 14
"""Py_TPFLAGS_HAVE_GC: instances tell the garbage collector which objects they refer to."""
