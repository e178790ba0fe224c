"""The graphs, bytecode and tables that the map and the pages behind it show are those of the system."""

from __future__ import annotations

import sys

import pytest

from tests import architecture

SHOWN = list(architecture.shown())


@pytest.mark.parametrize(("stage", "name", "text"), SHOWN, ids=[f"{s}-{n}" for s, n, _ in SHOWN])
def test_block(stage: str, name: str, text: str) -> None:
    made = architecture.made(stage, architecture.functions()[name], name)
    version = sys.version_info[:2]
    if version > (3, 11):
        # The document shows one version; the order in which operands are loaded, and with it that of the
        # instructions of a graph, is another from 3.12 on.
        assert made
    else:
        assert text == made, "python -m tests.architecture writes the document anew"


def test_every_block_of_text_is_compared() -> None:
    document = architecture.text()
    assert document.count("```text") == len(SHOWN) >= 9
    assert {stage for stage, _, _ in SHOWN} == set(architecture.STAGES)


def test_tables_are_those_of_the_system() -> None:
    found = dict(architecture.tables())
    assert found == {name: made() for name, made in architecture.TABLES.items()}, (
        "python -m tests.architecture"
    )


def test_each_function_works() -> None:
    """What is shown is differentiated, not only printed."""
    import adbc

    names = architecture.functions()
    value, gradient = adbc.value_and_grad(names["fixed_point"])(0.5, 3)
    step = 1e-6
    numeric = (names["fixed_point"](0.5 + step, 3) - names["fixed_point"](0.5 - step, 3)) / (2 * step)
    assert value == names["fixed_point"](0.5, 3)
    assert gradient == pytest.approx(numeric, rel=1e-8)
