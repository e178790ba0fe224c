"""The rules of NumPy: one file per part of the library, and here the rows of what is there with NumPy itself.

The rules of `numpy.random`, `numpy.fft` and `numpy.polynomial`, which NumPy imports when they are first asked
for, are sources of the table of their own.
"""

from __future__ import annotations

import numpy as np

from adbc.rules.numpy import (
    array_likes,
    buffers,
    composed,
    conversion,
    counting,
    creation,
    decompositions,
    einsum,
    flat,
    from_arrays,
    histograms,
    indexing,
    instances,
    interpolation,
    iteration,
    joining,
    linalg,
    looks,
    memory,
    methods,
    numbers,
    operators,
    overlays,
    overrides,
    padding,
    polynomials,
    products,
    reductions,
    scalars,
    scatter,
    selection,
    settings,
    shapes,
    short,
    signals,
    sorting,
    ufunc_methods,
    ufuncs,
    walks,
    without_nan,
    zeros,
)
from adbc.rules.numpy.completing import completed, last_rows, last_rows_of_methods, marked
from adbc.rules.table import Rule
from adbc.tangents.protocol import kind_of, register_tangent

__all__ = ["LAST_ROWS", "ROWS"]

kind_of(np.ndarray)  # A function may make an array before anybody has asked what its derivative is.
register_tangent(type(np._NoValue), None)  # an object in Python, which would have fields otherwise


_OF_ARRAYS: list[Rule] = completed(
    [
        *looks.ROWS,
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
        *interpolation.ROWS,
        *sorting.ROWS,
        *composed.ROWS,
        *without_nan.ROWS,
        *polynomials.ROWS,
        *signals.ROWS,
        *histograms.ROWS,
        *counting.ROWS,
        *scatter.ROWS,
        *memory.ROWS,
        *methods.ROWS,
        *settings.ROWS,
        *zeros.ROWS,
        *walks.ROWS,
        *from_arrays.ROWS,
        *overlays.ROWS,
        *padding.ROWS,
        *overrides.ROWS,
        *ufunc_methods.OF_ANY,
    ]
)


_OF_INSTANCES: list[Rule] = marked([*instances.ROWS, *array_likes.ROWS])

ROWS: list[Rule] = [*numbers.ROWS, *short.ROWS, *array_likes.rows_of_elements(), *_OF_ARRAYS, *_OF_INSTANCES]
_OTHERWISE = {row.function for row in (*ufuncs.ROWS, *reductions.ROWS)}
"""The functions among which are methods of ufuncs that have rows by hand."""
LAST_ROWS = last_rows(_OF_ARRAYS) | {
    method: make
    for method, make in last_rows_of_methods([*ufuncs.UFUNC_ROWS, *zeros.UFUNC_ROWS]).items()
    if method not in _OTHERWISE
}
