"""The rules of NumPy: one file per part of the library, and here all their rows."""

from __future__ import annotations

import numpy as np

from adbc.rules.numpy import (
    buffers,
    conversion,
    creation,
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
    products,
    reductions,
    scalars,
    scatter,
    selection,
    shapes,
    sorting,
    ufuncs,
    walks,
    zeros,
)
from adbc.rules.table import Rule
from adbc.tangents.protocol import kind_of

__all__ = ["ROWS"]

kind_of(np.ndarray)  # A function may make an array before anybody has asked what its derivative is.

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
    *joining.ROWS,
    *creation.ROWS,
    *scalars.ROWS,
    *conversion.ROWS,
    *selection.ROWS,
    *sorting.ROWS,
    *scatter.ROWS,
    *memory.ROWS,
    *methods.ROWS,
    *zeros.ROWS,
    *walks.ROWS,
    *overlays.ROWS,
    *fourier.ROWS,
    *overrides.ROWS,
]

ROWS: list[Rule] = [*numbers.ROWS, *_OF_ARRAYS, *instances.rows_of_instances(_OF_ARRAYS)]
