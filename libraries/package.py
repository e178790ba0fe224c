"""What is tried of a package: short functions, each with the arguments it is differentiated by.

A module of calls looks like a user's, with a line above each function::

    import math

    from libraries.package import Package

    package = Package("a name on the package index")


    @package.call(2.0)
    def root(x):
        return math.sqrt(x)

All floats and arrays of floats among the arguments, and those in lists and tuples, are differentiated by;
other arguments are passed as they are.  What a function returns is a number, an array, or a list or tuple of
these.
"""

from __future__ import annotations

import ast
import dataclasses
import pathlib
from collections.abc import Callable, Iterator
from typing import Any

__all__ = ["Call", "Function", "Package", "Place", "packages", "places"]

Function = Callable[..., Any]

ROOT = pathlib.Path(__file__).parent


@dataclasses.dataclass(frozen=True)
class Call:
    """A function, and the arguments that it is differentiated at."""

    function: Function
    arguments: tuple[Any, ...]


class Package:
    """The calls of a package, by name.

    distribution: what the package index calls the package; ``requirements.txt`` says which version.
    """

    def __init__(self, distribution: str) -> None:
        self.distribution = distribution
        self.calls: dict[str, Call] = {}

    def call(self, *arguments: Any) -> Callable[[Function], Function]:
        """A decorator: the function is tried with these arguments."""

        def noted(function: Function) -> Function:
            self.calls[function.__name__] = Call(function, arguments)
            return function

        return noted


@dataclasses.dataclass(frozen=True, order=True)
class Place:
    """Where a call stands.

    module: the name of the module that it is in.  field: the folder of that.  distribution: what the package
    index calls the package.  name: that of the function.
    """

    field: str
    module: str
    distribution: str
    name: str

    def __str__(self) -> str:
        return f"{self.field}.{self.module.rpartition('.')[2]}.{self.name}"


def packages(root: pathlib.Path = ROOT) -> list[pathlib.Path]:
    """The modules of calls: those in folders of `root`."""
    return sorted(path for path in root.glob("*/*.py") if path.name != "__init__.py")


def places(root: pathlib.Path = ROOT) -> Iterator[Place]:
    """All calls, found without importing what they call."""
    for path in packages(root):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        module = ".".join((root.name, path.parent.name, path.stem))
        distribution = _distribution(tree)
        for node in tree.body:
            if isinstance(node, ast.FunctionDef) and any(map(_is_call, node.decorator_list)):
                yield Place(path.parent.name, module, distribution, node.name)


def _distribution(tree: ast.Module) -> str:
    """The argument of the line ``package = Package(...)``."""
    for node in tree.body:
        match node:
            case ast.Assign(
                targets=[ast.Name(id="package")], value=ast.Call(args=[ast.Constant(value=str(name))])
            ):
                return name
    raise ValueError("the module has no line: package = Package(...)")


def _is_call(decorator: ast.expr) -> bool:
    match decorator:
        case ast.Call(func=ast.Attribute(value=ast.Name(id="package"), attr="call")):
            return True
    return False
