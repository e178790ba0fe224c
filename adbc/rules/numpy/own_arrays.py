"""Objects that say by methods in Python what array or number NumPy makes of them: those that are refused."""

from __future__ import annotations

from typing import Any

import numpy as np

from adbc.errors import UnsupportedError
from adbc.rules.classes import overrides
from adbc.tangents.duals import MutableTangent
from adbc.tangents.fields import instance_dict

__all__ = ["PROTOCOLS", "refuse_object", "refuse_own_elements", "refuse_own_parts", "refuse_own_protocol"]

PROTOCOLS = (
    "__array_function__", "__array_ufunc__", "__array__", "__array_interface__", "__array_struct__",
    "__float__", "__complex__",
)  # fmt: skip
"""The methods by which a class has a say in what NumPy's functions do with its instances."""


def refuse_own_protocol(x: Any) -> None:
    """Raise if object `x` says by an attribute of its own, and not of its class, what array it stands for."""
    own = () if isinstance(x, np.ndarray | np.generic) else instance_dict(x)
    for name in PROTOCOLS[2:5]:
        if name in own:
            raise UnsupportedError(
                f"a {type(x).__name__} has an attribute {name} of its own, by which it becomes an array",
                "whose memory that is cannot be seen",
                f"define {name} in the class, as a property, or pass the array itself",
            )


_FLOATS = frozenset({float})
_OF_SEQUENCES = ("__iter__", "__len__", "__getitem__")


def refuse_own_elements(x: Any) -> None:
    """Raise if `x` is a list or tuple of a class that says by methods in Python what its elements are."""
    cls = type(x)
    if cls is list or cls is tuple:
        return
    if issubclass(cls, (list, tuple)) and any(overrides(cls, name) for name in (*_OF_SEQUENCES, *PROTOCOLS)):
        raise UnsupportedError(
            f"a {cls.__name__} of numbers with a derivative becomes an array",
            "its class has methods of its own that say what its elements are, which are not followed there",
            "pass list(x) in place of x",
        )


def refuse_object(x: Any, shadow: Any) -> None:
    """Raise if `x`, which has this shadow (or tangent) and stands in a list of which an array is made, is an
    object of a class of Python, whose own methods say what array or number it is."""
    cls = type(x)
    if type(shadow) is MutableTangent or (issubclass(cls, float) and overrides(cls, "__float__")):
        raise UnsupportedError(
            f"a {type(x).__name__} in a list becomes a part of an array",
            "it is made one by methods of its own, which are not followed there",
            "put np.asarray(x) into the list in place of x",
        )


def refuse_own_parts(x: Any) -> None:
    """Raise if list or tuple `x`, or what it is made of, says by methods in Python what numbers it holds."""
    refuse_own_elements(x)
    if _FLOATS.issuperset(map(type, x)):
        return
    for part in x:
        cls = type(part)
        if issubclass(cls, (list, tuple)):
            refuse_own_parts(part)
        elif cls is not float and issubclass(cls, float):
            refuse_object(part, None)
