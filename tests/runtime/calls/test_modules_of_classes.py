"""Classes that say they are of a module that they do not come from: their code is the user's all the same."""

from __future__ import annotations

import collections
import dataclasses
import json
import types
from collections.abc import Callable
from typing import Any

import pytest

from adbc.cpython.libraries import is_library_class
from tests.programs.checks import check_five_calls

IN_A_DICT = """
def f(x):
    class Scaled:
        base = x

        def __init__(self, k=2.0):
            self.total = k * self.base + self.part()

        def part(self):
            return x * x

    return Scaled().total * Scaled(3.0).total
"""


def made_by_new_class(x: Any) -> Any:
    def fill(namespace: Any) -> None:
        def init(self: Any) -> None:
            self.total = self.base * self.base

        namespace.update(base=x, __init__=init)

    made = types.new_class("Made", (), {}, fill)
    assert made.__module__ == "types"
    return made().total


def renamed(x: Any) -> Any:
    class Decoder:
        __module__ = "json.decoder"
        base = x

        def __init__(self) -> None:
            self.total = self.base * 2.0

        @staticmethod
        def times(k: Any) -> Any:
            return k * x

        @property
        def twice(self) -> Any:
            return x * 2.0

    made = Decoder()
    return made.total * made.times(3.0) + made.twice


def of_a_library_by_its_base(x: Any) -> Any:
    class Ordered(collections.OrderedDict[str, Any]):
        def __init__(self) -> None:
            super().__init__()
            self["a"] = x * x

    Ordered.__module__ = "collections"
    return Ordered()["a"]


def made_as_a_dataclass(x: Any) -> Any:
    def post(self: Any) -> None:
        self.total = self.side * x

    field = ("side", float, dataclasses.field(default=x))
    made = dataclasses.make_dataclass("Made", [field], namespace={"__post_init__": post})
    return made().total


def in_a_dict() -> Callable[[Any], Any]:
    namespace: dict[str, Any] = {}
    exec(IN_A_DICT, namespace)
    f: Callable[[Any], Any] = namespace["f"]
    return f


@pytest.mark.parametrize("warm_after", [0, 3])
@pytest.mark.parametrize(
    "f", [made_by_new_class, renamed, of_a_library_by_its_base, made_as_a_dataclass, in_a_dict()]
)
def test_values_and_gradients(f: Callable[[Any], Any], warm_after: int) -> None:
    check_five_calls(f, warm_after, rel=1e-8)


def test_classes_of_libraries_are_theirs() -> None:
    of_namedtuple = collections.namedtuple("of_namedtuple", "a b")
    for cls in (
        int,
        collections.OrderedDict,
        json.JSONDecoder,
        type(iter([])),
        dataclasses.Field,
        types.FunctionType,
    ):
        assert is_library_class(cls), cls
    assert not is_library_class(of_namedtuple)
