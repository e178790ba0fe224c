"""The type of an array may say how it lies in memory; rules depend on it only if the backend asks."""

from __future__ import annotations

import numpy as np
import pytest

import adbc
from adbc.rules import default_table
from adbc.runtime import make_engine, using
from adbc.types.lattice import ANY, ArrayType, TupleType, join, memory_type, without_layout
from adbc.types.typeof import exact_typeof, typeof
from benchmarks.workload import Array
from tests.emit.toy_backend import Toy

SQUARE = np.arange(6.0).reshape(2, 3)


def total(x: Array) -> float:
    return float(np.sum(x * x))


def described(x: Array) -> tuple[str | None, bool | None]:
    known = exact_typeof(x)
    assert isinstance(known, ArrayType)
    return known.layout, known.writable


def frozen() -> Array:
    x = SQUARE.copy()
    x.flags.writeable = False
    return x


@pytest.mark.parametrize(
    ("x", "expected"),
    [
        (SQUARE, ("C", True)),
        (SQUARE.T, ("F", True)),
        (SQUARE[:, ::2], ("strided", True)),
        (frozen(), ("C", False)),
    ],
    ids=["C", "F", "strided", "read-only"],
)
def test_what_an_argument_tells(x: Array, expected: tuple[str, bool]) -> None:
    assert described(x) == expected
    assert without_layout(exact_typeof(x)) == typeof(x)


def test_what_differs_is_joined_to_unknown() -> None:
    joined = join(exact_typeof(SQUARE), exact_typeof(SQUARE.T))
    assert joined == ArrayType("float64", 2, np.ndarray, None, True)
    assert join(exact_typeof(SQUARE), exact_typeof(SQUARE.copy())) == exact_typeof(SQUARE)
    assert join(exact_typeof(SQUARE), ANY) is ANY


def test_it_is_kept_in_tuples_and_printed() -> None:
    known = exact_typeof((SQUARE, 1.0))
    assert isinstance(known, TupleType)
    assert str(known) == "Tuple[Array[float64, 2, C, writable], float]"
    assert memory_type(known.elements[0]) == known.elements[0]


def rules_for_two_layouts(by_layout: bool) -> int:
    engine = make_engine(default_table(), backend=Toy(by_layout=by_layout))
    rules = {engine.entry(total, [exact_typeof(x)], [True], "reverse") for x in (SQUARE, SQUARE[:, ::2])}
    return len(rules)


def test_layouts_share_a_rule_unless_the_backend_asks() -> None:
    assert rules_for_two_layouts(by_layout=False) == 1
    assert rules_for_two_layouts(by_layout=True) == 2


def test_bytecode_serves_all_layouts_by_one_rule() -> None:
    engine = make_engine(default_table())
    with using(engine):
        for x in (SQUARE, SQUARE.T, SQUARE[:, ::2], frozen()):
            assert np.array_equal(adbc.grad(total)(x), 2.0 * x)
    parameters = {t for rule in engine.rules.values() for t in rule.parameters}
    assert parameters
    assert all(t == without_layout(t) for t in parameters)
