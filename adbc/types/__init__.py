"""Abstract types of values and their inference over graphs."""

from __future__ import annotations

from adbc.types.inference import infer
from adbc.types.lattice import (
    ANY,
    BOOL,
    COMPLEX,
    FLOAT,
    INT,
    NEVER,
    NONE,
    REAL,
    STR,
    AbstractType,
    ArrayType,
    ClosureType,
    ConstType,
    Exact,
    IteratorType,
    TupleType,
    class_of,
    has_cotangent,
    has_shadow,
    is_real,
    join,
    join_all,
)
from adbc.types.typeof import is_local, make_local, typeof

__all__ = [
    "ANY",
    "BOOL",
    "COMPLEX",
    "FLOAT",
    "INT",
    "NEVER",
    "NONE",
    "REAL",
    "STR",
    "AbstractType",
    "ArrayType",
    "ClosureType",
    "ConstType",
    "Exact",
    "IteratorType",
    "TupleType",
    "class_of",
    "has_cotangent",
    "has_shadow",
    "infer",
    "is_local",
    "is_real",
    "join",
    "join_all",
    "make_local",
    "typeof",
]
