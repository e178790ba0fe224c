"""Abstract types of values and their inference over graphs."""

from __future__ import annotations

from adbc.types.inference import infer
from adbc.types.lattice import (
    ANY,
    FLOAT,
    INT,
    NEVER,
    AbstractType,
    ArrayType,
    ClosureType,
    ConstType,
    Exact,
    TupleType,
    class_of,
    has_cotangent,
    has_shadow,
    join,
)
from adbc.types.typeof import is_local, make_local, typeof

__all__ = [
    "ANY",
    "FLOAT",
    "INT",
    "NEVER",
    "AbstractType",
    "ArrayType",
    "ClosureType",
    "ConstType",
    "Exact",
    "TupleType",
    "class_of",
    "has_cotangent",
    "has_shadow",
    "infer",
    "is_local",
    "join",
    "make_local",
    "typeof",
]
