"""The abstract types that the text of a graph names, as printing them names them."""

from __future__ import annotations

import builtins
import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from adbc.ir.graph import Graph
from adbc.ir.parser import ParsedType
from adbc.types import lattice
from adbc.types.lattice import AbstractType
from tests.filetests import names

__all__ = ["type_from", "with_types"]

TOKEN = re.compile(r"\s*(\w+|\?|[\[\],:])")
PLAIN: dict[str, AbstractType] = {
    "Any": lattice.ANY,
    "Never": lattice.NEVER,
    "None": lattice.NONE,
    "Real": lattice.REAL,
    "Slice": lattice.SLICE,
    "tangent": lattice.TANGENT,
}


def with_types(graph: Graph) -> Graph:
    """`graph`, its values having types instead of texts of types."""
    values: list[Any] = [*graph.arguments]
    for block in graph.blocks:
        values += [*block.phis, *block.instructions]
    for value in values:
        if isinstance(value.type, ParsedType):
            value.type = type_from(value.type)
    return graph


def type_from(text: str) -> AbstractType:
    """The type that prints as `text`; classes are builtins, NumPy's, or those of `tests.filetests.names`."""
    tokens = TOKEN.findall(text)
    found = _read(tokens)
    assert not tokens, f"{tokens} behind the type in {text!r}"
    return found


def _read(tokens: list[str]) -> AbstractType:
    name = tokens.pop(0)
    if not tokens or tokens[0] != "[":
        return PLAIN[name] if name in PLAIN else lattice.Exact(_class(name))
    tokens.pop(0)
    if name == "Array":
        dtype, _, ndim, _ = (tokens.pop(0) for _ in range(4))
        return lattice.ArrayType(dtype, None if ndim == "?" else int(ndim), np.ndarray)
    if tokens[1:2] == [":"]:
        return lattice.RecordType(_class(name), tuple(_fields(tokens)))
    parts: list[AbstractType] = []
    while tokens[0] != "]":
        parts.append(_read(tokens))
        if tokens[0] == ",":
            tokens.pop(0)
    tokens.pop(0)
    match name, parts:
        case "Tuple", _:
            return lattice.TupleType(tuple(parts))
        case "List", [element]:
            return lattice.ListType(list, element)
        case "Iterator", [element]:
            return lattice.IteratorType(element)
    raise ValueError(f"there is no type {name}[...]")


def _fields(tokens: list[str]) -> Iterator[tuple[str, AbstractType]]:
    while tokens[0] != "]":
        name, _ = tokens.pop(0), tokens.pop(0)
        yield name, _read(tokens)
        if tokens[0] == ",":
            tokens.pop(0)
    tokens.pop(0)


def _class(name: str) -> type:
    for home in (names, builtins, np):
        found = getattr(home, name, None)
        if isinstance(found, type):
            return found
    raise ValueError(f"there is no class {name}")
