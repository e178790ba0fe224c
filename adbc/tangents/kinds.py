"""The table from class to kind, filled in one place, and the order in which other classes are judged."""

from __future__ import annotations

import functools
import types
from collections import deque
from contextvars import ContextVar

from adbc.tangents import arithmetic, containers, iterators, objects, scalars
from adbc.tangents.constants import CONST, Const
from adbc.tangents.duals import ArrayTangent
from adbc.tangents.fields import LOCAL
from adbc.tangents.nothing import NoTangent
from adbc.tangents.protocol import INACTIVE, KINDS, RESOLVERS
from adbc.tangents.variables import VARIABLE
from adbc.tangents.walk import add_structure

__all__ = ["install"]


def install() -> None:
    """Fill the table of kinds, the list of resolvers, and the table of visitors for shadows of iterators."""
    KINDS.update(dict.fromkeys(scalars.INACTIVE_CLASSES, INACTIVE))
    KINDS.update(
        {
            NoTangent: INACTIVE,
            Const: CONST,
            float: scalars.ScalarKind(float),
            complex: scalars.ScalarKind(complex),
            tuple: containers.TUPLE,
            list: containers.LIST,
            deque: containers.DEQUE,
            dict: containers.DICT,
            set: containers.SET,
            frozenset: containers.SET,
            types.FunctionType: objects.FUNCTION,
            types.CellType: objects.CELL,
            types.MethodType: objects.METHOD,
            types.BuiltinMethodType: objects.BUILTIN_METHOD,
            types.MethodWrapperType: objects.BUILTIN_METHOD,
            types.SimpleNamespace: objects.NAMESPACE,
            LOCAL: objects.InstanceKind(),
            ArrayTangent: objects.ARRAY_TANGENT,
            ContextVar: VARIABLE,
            types.MappingProxyType: containers.PROXY,
            functools.partial: objects.PARTIAL,
            slice: objects.SLICE,
            objects.Keywords: objects.KEYWORDS,
        }
    )
    RESOLVERS.extend(
        [
            scalars.resolve_scalar,
            containers.resolve_container,
            objects.resolve_object,
            iterators.resolve_iterator,
        ]
    )
    for cls in (
        iterators.ShadowIterator, iterators.RefusingIterator, iterators.IndexIterator,
        iterators.ValueIterator, iterators.KeyIterator, iterators.DictValueIterator, iterators.TupleStep,
    ):  # fmt: skip
        add_structure(cls, lambda walk, t, *others: t)
    arithmetic.install()
