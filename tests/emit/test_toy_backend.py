"""A second backend needs nothing but the protocol, the types and the records."""

from __future__ import annotations

import ast
import pathlib
from typing import Any

import numpy as np
import pytest

import adbc
from adbc.config import Config
from adbc.reverse.layout import Records, TapeForm
from adbc.rules import default_table
from adbc.runtime import make_engine, using
from adbc.types.lattice import FLOAT
from benchmarks.run import ones
from benchmarks.workload import Workload, duplicate, numbers
from benchmarks.workloads import GROUPS
from tests.emit import toy_backend
from tests.emit.toy_backend import Toy, WrongTypeError, fits
from tests.test_documents import blocks

WORKLOADS = {workload.name: workload for workloads in GROUPS.values() for workload in workloads}


def leaves(x: Any) -> list[Any]:
    if isinstance(x, list | tuple):
        return [leaf for part in x for leaf in leaves(part)]
    return [x]


def same(a: Any, b: Any) -> bool:
    """Whether two results are equal, to the last bit."""
    return len(leaves(a)) == len(leaves(b)) and all(map(np.array_equal, leaves(a), leaves(b)))


def gradient(workload: Workload) -> Any:
    return adbc.value_and_grad(workload.function, workload.argnums)(*duplicate(workload.small))


def product(workload: Workload) -> Any:
    arguments = duplicate(workload.small)
    along = tuple(ones(x) if i in numbers(workload.argnums) else None for i, x in enumerate(arguments))
    return adbc.jvp(workload.function, arguments, along)


@pytest.mark.parametrize("name", WORKLOADS)
def test_both_modes_give_what_bytecode_gives(name: str) -> None:
    workload, toy = WORKLOADS[name], Toy()
    with using(make_engine(default_table(), Config(warm_after=0), backend=toy)):
        found = gradient(workload), product(workload)
    assert toy.checked > 0
    with using(make_engine(default_table(), Config(warm_after=0))):
        expected = gradient(workload), product(workload)
    assert same(found, expected)


def test_it_has_nothing_from_the_emitter() -> None:
    tree = ast.parse(pathlib.Path(toy_backend.__file__).read_text(encoding="utf-8"))
    modules = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module}
    assert not any(module.startswith("adbc.emit") for module in modules)


def records_of(name: str) -> Records:
    toy = Toy()
    with using(make_engine(default_table(), Config(warm_after=0), backend=toy)):
        gradient(WORKLOADS[name])
    records = toy.pairs[0].records
    assert isinstance(records, Records)
    return records


def test_records_tell_what_an_iteration_saves() -> None:
    records = records_of("logistic map, 1000 iterations")
    (loop,) = records.loops
    assert loop.form is TapeForm.REEL
    assert loop.iteration == (FLOAT,)
    assert records.ways == ((FLOAT, loop.tape),)


def test_wrong_types_are_found() -> None:
    assert fits(1.0, FLOAT)
    assert not fits(1, FLOAT)


def test_a_graph_whose_types_are_wrong_is_refused() -> None:
    def square(x: float) -> float:
        return x * x

    class Spoilt(Toy):
        def single(self, graph: Any, unit: Any) -> Any:
            for call in graph.instructions():
                call.type = toy_backend.ArrayType("float64", 1, np.ndarray)
            return super().single(graph, unit)

    config = Config(warm_after=0)
    with (
        using(make_engine(default_table(), config, backend=Spoilt())),
        pytest.raises(WrongTypeError, match="square"),
    ):
        adbc.grad(square)(3.0)


def test_the_page_about_backends_shows_one_that_works() -> None:
    page = pathlib.Path(__file__).parents[2] / "docs" / "internals" / "adding-a-backend.md"
    (block,) = blocks(page)
    names: dict[str, Any] = {}
    exec(compile(block, page.name, "exec"), names)
    with names["using"](names["make_engine"](default_table(), backend=names["Interpreted"]())):
        assert adbc.grad(names["newton"])(2.0) == adbc.grad(names["newton"])(2.0)
    assert adbc.grad(names["newton"])(2.0) == 0.35355339059327373
