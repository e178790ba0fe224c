"""The rules of Python's operators, builtin functions, builtin containers and intrinsics."""

from __future__ import annotations

from adbc.rules import elements, recollections, stopping
from adbc.rules.builtins import (
    cells,
    compared,
    container_classes,
    defaults,
    dicts,
    displays,
    inspection,
    iteration,
    lists,
    numeric,
    operators,
    ordering,
    patterns,
    permutations,
    sets,
    sorting,
    tuples,
)
from adbc.rules.table import Rule

__all__ = ["ROWS"]

ROWS: list[Rule] = [
    *operators.ROWS,
    *numeric.ROWS,
    *displays.ROWS,
    *elements.ROWS,
    *lists.ROWS,
    *tuples.ROWS,
    *dicts.ROWS,
    *sets.ROWS,
    *cells.ROWS,
    *defaults.ROWS,
    *recollections.ROWS,
    *iteration.ROWS,
    *container_classes.ROWS,
    *compared.ROWS,
    *ordering.ROWS,
    *permutations.ROWS,
    *sorting.ROWS,
    *patterns.ROWS,
    *inspection.ROWS,
    *stopping.ROWS,
]
