"""Whether NumPy may warn of what a derived rule computes.

Pullbacks that have to do with arrays run without NumPy's warnings, which costs a little per call: rules of
which it is known that they compute with Python's numbers alone, which do not warn, are spared that.
"""

from __future__ import annotations

import operator

from adbc.ir.graph import Graph
from adbc.ir.intrinsics import _getattr_
from adbc.ir.values import Value
from adbc.passes.query import target
from adbc.runtime.build.speculation import Continuation
from adbc.types.derived import is_known
from adbc.types.lattice import AbstractType, ComplexType, RealType, class_of

__all__ = ["computes_with_numpy"]


def computes_with_numpy(graph: Graph) -> bool:
    """Whether a value that `graph` computes may be an array or a number of NumPy's: so may each of which the
    type is not known, but for what is only read, and for what comes of a guess that turns out to be wrong."""
    values: list[Value] = [*graph.arguments]
    for block in graph.blocks:
        values += block.phis
        values += [i for i in block.instructions if is_known(i.type) or not _is_read_or_rest(target(i))]
    return any(_may_be_of_numpy(value.type) for value in values)


def _is_read_or_rest(function: object) -> bool:
    return function is operator.getitem or function is _getattr_ or type(function) is Continuation


def _may_be_of_numpy(known: object) -> bool:
    if not is_known(known):
        return True
    assert isinstance(known, AbstractType)
    members = known.members if isinstance(known, RealType | ComplexType) else (class_of(known),)
    return any(cls is not None and cls.__module__ == "numpy" for cls in members)
