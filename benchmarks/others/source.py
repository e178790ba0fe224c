"""A program with other functions in the place of `math` and NumPy's, and containers it can run on."""

from __future__ import annotations

import ast
import inspect
import sys
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

__all__ = ["ELEMENT_WISE", "Grid", "Scalars", "as_array", "nested", "rebound", "unpacked"]

Function = Callable[..., Any]


def rebound(function: Function, *, in_place: bool = True, **names: Any) -> Function:
    """`function` from a copy of its module in which `names` mean something else.

    in_place: if not, ``x += y`` is read as ``x = x + y``.
    """
    module = sys.modules[function.__module__]
    tree = ast.parse(inspect.getsource(module))
    if not in_place:
        tree = ast.fix_missing_locations(_OutOfPlace().visit(tree))
    copy = types.ModuleType(f"{module.__name__}_copy")
    exec(compile(tree, f"copy of {module.__file__}", "exec"), vars(copy))
    vars(copy).update(names)
    return vars(copy)[function.__name__]  # type: ignore[no-any-return]  # it is a copy of a function


class _OutOfPlace(ast.NodeTransformer):
    """PyTorch would write to tensors that its graph still needs."""

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        read = ast.parse(ast.unparse(node.target), mode="eval").body
        value = ast.BinOp(read, node.op, node.value)
        return ast.copy_location(ast.Assign([node.target], value), node)


class Scalars(list[Any]):
    """An array of one dimension as a list of scalars, for systems whose arrays cannot be written to."""

    def copy(self) -> Scalars:
        return Scalars(self)


class Grid(dict[tuple[int, int], Any]):
    """An array of two dimensions, likewise; as long as it has rows."""

    def __init__(self, rows: int) -> None:
        super().__init__()
        self.rows = rows

    def __len__(self) -> int:
        return self.rows

    def __missing__(self, key: tuple[int, int]) -> float:
        return 0.0


def zeros(shape: int | tuple[int, int]) -> Scalars | Grid:
    """What `np.zeros` and `np.empty` are for such programs."""
    return Scalars([0.0] * shape) if isinstance(shape, int) else Grid(shape[0])


def unpacked(x: Any) -> Any:
    """An array, however a system spells it, as scalars."""
    if len(x.shape) == 1:
        return Scalars(elements(x))
    grid = Grid(x.shape[0])
    for i, row in enumerate(elements(x)):
        for j, value in enumerate(elements(row)):
            grid[i, j] = value
    return grid


def elements(x: Any) -> Iterator[Any]:
    return (x[i] for i in range(x.shape[0]))


def nested(x: Any) -> Any:
    """An array as lists of lists of scalars."""
    return x if not x.shape else [nested(part) for part in elements(x)]


ELEMENT_WISE = types.SimpleNamespace(empty=zeros, zeros=zeros, sum=sum)
"""NumPy, for programs that go through arrays element by element."""


def as_array(x: Any) -> Any:
    """A list of numbers, or of lists of them, as an array."""
    return np.array(x) if isinstance(x, list) else x
