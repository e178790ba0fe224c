"""The rules of NumPy: one file per part of the library, and here all their rows."""

from __future__ import annotations

import operator
import types

import numpy as np

from adbc.rules.kinds import RowKind
from adbc.rules.numpy import (
    array_likes,
    buffers,
    composed,
    composed_draws,
    conversion,
    counting,
    creation,
    decompositions,
    einsum,
    flat,
    fourier,
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
    random,
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
from adbc.rules.numpy.base import ArrayRule
from adbc.rules.numpy.views import ViewRule
from adbc.rules.quick import once_per_call
from adbc.rules.spelling import SPELLING
from adbc.rules.table import Overlay, Rule
from adbc.tangents.protocol import kind_of, register_tangent

__all__ = ["ROWS", "methods_of_ufuncs"]

kind_of(np.ndarray)  # A function may make an array before anybody has asked what its derivative is.
register_tangent(type(np._NoValue), None)  # an object in Python, which would have fields otherwise


def methods_of_ufuncs() -> list[Rule]:
    """The rows of the methods of all ufuncs with a rule, but those that have another."""
    known = [row.function for row in (*ufuncs.ROWS, *reductions.ROWS)]
    rows: list[Rule] = []
    for row in (*ufuncs.UFUNC_ROWS, *zeros.UFUNC_ROWS):
        rows += ufunc_methods.methods_of(row, known)
    return [*rows, *ufunc_methods.OF_ANY]


_OF_ARRAYS: list[Rule] = [
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
    *random.ROWS,
    *composed_draws.ROWS,
    *walks.ROWS,
    *from_arrays.ROWS,
    *overlays.ROWS,
    *padding.ROWS,
    *fourier.ROWS,
    *overrides.ROWS,
    *methods_of_ufuncs(),
]


def _arrays_of(row: Rule) -> slice:
    """The arguments by position of which the function of `row` makes arrays."""
    if isinstance(row, ArrayRule):
        return slice(row.arrays)
    return slice(1) if isinstance(row, ViewRule) else slice(None)


_PLAIN = frozenset({operator.getitem, operator.delitem, operator.matmul, operator.imatmul, *SPELLING})
"""Functions of which NumPy's are no special case where text is met, or that raise where it is."""

_OF_INSTANCES = [
    *instances.rows_of_instances(_OF_ARRAYS),
    *array_likes.rows_of_array_likes(_OF_ARRAYS),
]

# An array is made of text like one of numbers, and a number of such an array.
for _row in (*_OF_ARRAYS, *_OF_INSTANCES):
    is_met = _row.kind is RowKind.OVERLAY or _row.of_text or _row.converts is not None
    if not is_met and _row.function not in _PLAIN:
        _row.converts, _row.meets_text = _arrays_of(_row), True

for _row in _OF_ARRAYS:
    if (
        isinstance(_row, Overlay)
        and isinstance(_row.body, types.FunctionType)
        and _row.function is not np.cov  # whose code rounds its products otherwise
    ):
        once_per_call(_row.body)
    _row.elements = short.OF_ELEMENTS.get(_row.function)

ROWS: list[Rule] = [*numbers.ROWS, *short.ROWS, *array_likes.rows_of_elements(), *_OF_ARRAYS, *_OF_INSTANCES]
