"""The rules of NumPy: one file per part of the library, and here all their rows."""

from __future__ import annotations

import numpy as np

from adbc.rules.numpy import (
    buffers,
    conversion,
    counting,
    creation,
    decompositions,
    einsum,
    flat,
    fourier,
    indexing,
    instances,
    iteration,
    joining,
    linalg,
    memory,
    methods,
    numbers,
    operators,
    overlays,
    overrides,
    padding,
    products,
    random,
    reductions,
    scalars,
    scatter,
    selection,
    shapes,
    sorting,
    ufunc_methods,
    ufuncs,
    walks,
    zeros,
)
from adbc.rules.table import Rule
from adbc.tangents.protocol import kind_of

__all__ = ["ROWS", "methods_of_ufuncs"]

kind_of(np.ndarray)  # A function may make an array before anybody has asked what its derivative is.


def methods_of_ufuncs() -> list[Rule]:
    """The rows of the methods of all ufuncs with a rule, but those that have another."""
    known = [row.function for row in (*ufuncs.ROWS, *reductions.ROWS)]
    rows: list[Rule] = []
    for row in (*ufuncs.UFUNC_ROWS, *zeros.UFUNC_ROWS):
        rows += ufunc_methods.methods_of(row, known)
    return [*rows, *ufunc_methods.OF_ANY]


_OF_ARRAYS: list[Rule] = [
    *operators.ROWS,
    *ufuncs.ROWS,
    *indexing.ROWS,
    *iteration.ROWS,
    *flat.ROWS,
    *buffers.ROWS,
    *reductions.ROWS,
    *shapes.ROWS,
    *products.ROWS,
    *einsum.ROWS,
    *linalg.ROWS,
    *decompositions.ROWS,
    *joining.ROWS,
    *creation.ROWS,
    *scalars.ROWS,
    *conversion.ROWS,
    *selection.ROWS,
    *sorting.ROWS,
    *counting.ROWS,
    *scatter.ROWS,
    *memory.ROWS,
    *methods.ROWS,
    *zeros.ROWS,
    *random.ROWS,
    *walks.ROWS,
    *overlays.ROWS,
    *padding.ROWS,
    *fourier.ROWS,
    *overrides.ROWS,
    *methods_of_ufuncs(),
]

ROWS: list[Rule] = [*numbers.ROWS, *_OF_ARRAYS, *instances.rows_of_instances(_OF_ARRAYS)]
