"""Pairs of fast loads and stores, and loads that borrow: where they are formed and where they must not be."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from adbc.emit import peephole
from adbc.emit.items import Begin, End, Label, Location, Op

pytestmark = pytest.mark.skipif(sys.version_info < (3, 14), reason="loads borrow from 3.14")

NAMES = [f"v{k}" for k in range(20)]


def names(*items: Any) -> list[str]:
    return [item[0] for item in peephole.optimised(list(items), NAMES) if isinstance(item, tuple)]


def load(k: int, line: int = 1) -> Op:
    return "LOAD_FAST", f"v{k}", Location(line, line, 0, 1)


def store(k: int, line: int = 1) -> Op:
    return "STORE_FAST", f"v{k}", Location(line, line, 0, 1)


def op(name: str, argument: int | None = None) -> Op:
    return name, argument, None


ADD = op("BINARY_OP", 0)


def test_operands_borrow() -> None:
    assert names(load(0), load(1), ADD, store(2)) == [
        "LOAD_FAST_BORROW_LOAD_FAST_BORROW",
        "BINARY_OP",
        "STORE_FAST",
    ]


def test_pairs_need_small_numbers_and_one_line() -> None:
    assert names(load(0), load(16), ADD, store(2)).count("LOAD_FAST_BORROW") == 2
    assert names(load(0, 1), load(1, 2), ADD, store(2)).count("LOAD_FAST_BORROW") == 2


def test_what_is_stored_does_not_borrow() -> None:
    assert names(load(0), store(1)) == ["LOAD_FAST", "STORE_FAST"]
    # One of a pair is stored: both have references of their own.
    assert names(load(0), load(1), store(2), store(3))[0] == "LOAD_FAST_LOAD_FAST"


def test_not_across_a_change_of_the_variable() -> None:
    # v0 + <something>, and v0 changes while its old value waits on the stack.
    items = (load(0), op("LOAD_CONST", 1), store(0), load(1, 2), ADD, store(2))
    assert names(*items) == [
        "LOAD_FAST", "LOAD_CONST", "STORE_FAST", "LOAD_FAST_BORROW", "BINARY_OP", "STORE_FAST",
    ]  # fmt: skip


def test_not_across_blocks_and_borders_of_regions() -> None:
    label, handler = Label(), Label()
    assert names(load(0), label, load(1), ADD, store(2))[0] == "LOAD_FAST"
    region = Begin(handler, 0)
    assert names(load(0), region, load(1), End(region), ADD, store(2))[:2] == ["LOAD_FAST", "LOAD_FAST"]


@pytest.mark.parametrize("keeper", [op("COPY", 1), op("GET_LEN"), op("MATCH_SEQUENCE")])
def test_not_for_what_may_keep_it(keeper: Op) -> None:
    assert names(load(0), keeper, op("POP_TOP"))[0] == "LOAD_FAST"


def test_receiver_of_a_method_borrows_until_the_call() -> None:
    call = (op("LOAD_ATTR", 1), op("LOAD_CONST", 1), op("CALL", 1), op("POP_TOP"))
    assert names(load(0), *call)[0] == "LOAD_FAST_BORROW"
    changed = (call[0], call[1], store(0), call[1], *call[2:])
    assert names(load(0), *changed)[0] == "LOAD_FAST"
