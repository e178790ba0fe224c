"""Every opcode has a place in the tables, and versions differ no more behind the decoder."""

from __future__ import annotations

import argparse
import dis
import heapq
import inspect
import itertools
import statistics
import sys
from typing import Any

import pytest

from adbc.cpython import CONSTRUCTS, decode
from adbc.cpython.decode import FIELDS, _raw, table
from adbc.lift.handlers import HANDLERS


def names(function: Any) -> list[str]:
    return [i.name for i in decode(function.__code__).instructions]


def rows() -> dict[str, str]:
    numbered = {f"{name} {n}": row for name, by in table().BY_NUMBER.items() for n, row in by.items()}
    return {**table().ROWS, **numbered}


def test_every_opcode_is_classified_once() -> None:
    t = table()
    kinds = [t.ROWS, t.IGNORED, t.FOLDED, t.REFUSED, t.ABSENT, t.NUMBERS_REFUSED]
    classified = [name for kind in kinds for name in kind]
    assert set(dis.opmap) - set(classified) == set(), "opcodes without a row"
    assert set(classified) - set(dis.opmap) == set(), "rows of opcodes that the interpreter does not have"
    assert len(classified) == len(set(classified))


def test_numbered_rows_belong_to_numbered_opcodes() -> None:
    t = table()
    assert set(t.BY_NUMBER) == set(t.NUMBERS_REFUSED)
    for name, by in t.BY_NUMBER.items():
        assert not set(by) & set(t.NUMBERS_REFUSED[name])


@pytest.mark.parametrize("opcode", rows())
def test_row_says_what_the_decoder_and_lifter_know(opcode: str) -> None:
    for step in rows()[opcode].split(", "):
        name, _, field = step.partition(" if ")[0].partition(" ")
        assert name in HANDLERS or name in {
            "call_kw",
            "call_ex_pair",
            "yield_value",
        }  # read together with a neighbour
        assert field in FIELDS or field in {"", "target"} or field.isidentifier() or field.isdigit()


@pytest.mark.parametrize("module", [argparse, dis, heapq, statistics], ids=lambda m: m.__name__)
def test_instructions_are_those_that_dis_shows(module: Any) -> None:
    waiting = [compile(inspect.getsource(module), "module", "exec")]
    while waiting:
        code = waiting.pop()
        waiting += [constant for constant in code.co_consts if inspect.iscode(constant)]
        jumps = {*dis.hasjrel, *dis.hasjabs}
        shown = [
            (i.opname, i.arg or 0, i.argval if i.opcode in jumps else None, i.offset, i.positions)
            for i in dis.get_instructions(code)
        ]
        assert [tuple(raw) for raw in _raw(code)] == shown


def test_refused_constructs_have_words() -> None:
    t = table()
    refused = {*t.REFUSED.values(), *(c for by in t.NUMBERS_REFUSED.values() for c in by.values())}
    assert refused <= set(CONSTRUCTS)


def test_call_forms_are_unified() -> None:
    def f(g: Any, x: Any, *a: Any, **k: Any) -> Any:
        return g(x, 1), g(x, key=1), g.method(x), g(*a, **k)

    calls = [i.arg for i in decode(f.__code__).instructions if i.name in {"call", "call_ex"}]
    assert calls == [(2, ()), (2, ("key",)), (1, ()), 1]
    assert names(f).count("null") == 4


def test_truth_is_tested_before_every_jump() -> None:
    def f(x: Any, y: Any) -> Any:
        if x and not y:
            return 1
        return x or y

    code = decode(f.__code__).instructions
    for before, branch in itertools.pairwise(code):
        if branch.name in {"branch_true", "branch_false"}:
            assert (before.name, before.arg) == ("unary", "bool")


def test_made_function_holds_its_parts_deepest_first() -> None:
    def f(x: Any) -> Any:
        def g(a: int = 1, *, b: int = 2) -> Any:
            return a, b, x

        return g

    made = [i.arg for i in decode(f.__code__).instructions if i.name == "make_function"]
    if sys.version_info >= (3, 14):  # a function of its own makes the annotations
        assert made == [(), ("defaults", "kwdefaults", "annotate", "closure")]
    else:
        assert made == [("defaults", "kwdefaults", "annotations", "closure")]


def test_conversion_and_plain_format_are_one_field() -> None:
    def f(x: Any, w: Any) -> str:
        return f"{x!r} {x:{w}} {x}"

    fields = [i.arg for i in decode(f.__code__).instructions if i.name == "format"]
    assert fields == [(2, False), (0, False), (0, True), (0, False)]


def test_slices_are_displayed_on_every_version() -> None:
    def f(x: Any) -> Any:
        return x[1:2], x[::3], x[1:, (0, 4)]

    code = [(i.name, i.arg) for i in decode(f.__code__).instructions]
    assert [arg for name, arg in code if name == "build_slice"] == [2, 3, 2]
    assert [arg for name, arg in code if name == "build_tuple"] == [2, 3]
    assert not [arg for name, arg in code if name == "const" and type(arg) is slice]


def test_exit_of_a_loop_is_behind_what_pops_the_iterator() -> None:
    def f(xs: Any) -> Any:
        for _ in xs:
            pass
        return 7

    code = decode(f.__code__).instructions
    (loop,) = (i for i in code if i.name == "for_iter")
    assert (code[loop.arg].name, code[loop.arg].arg) == ("const", 7)


def test_wide_arguments_and_jumps() -> None:
    source = "def f(x, n):\n for i in range(n):\n  if i:\n" + "".join(f"   x += {i}.5\n" for i in range(400))
    space: dict[str, Any] = {}
    exec(source + " return x", space)
    code = decode(space["f"].__code__)
    constants = [i.arg for i in code.instructions if i.name == "const"]
    assert constants[:3] == [0.5, 1.5, 2.5] and constants[399] == 399.5
    for i in code.instructions:
        if i.name in {"jump", "branch_true", "branch_false", "for_iter"}:
            assert 0 <= i.arg < len(code.instructions)


def test_regions_lead_to_their_handlers() -> None:
    def tries(x: Any) -> Any:
        try:
            return x()
        except ValueError:
            return None

    def enters(x: Any) -> Any:
        with x as y:
            return y()

    def comprehends(xs: Any) -> Any:
        return [x + 1 for x in xs]

    def inside(xs: Any) -> Any:
        try:
            return [x + 1 for x in xs]
        finally:
            xs.close()

    def handlers(function: Any) -> set[tuple[str, int, bool]]:
        code = decode(function.__code__).instructions
        regions = [i.region for i in code if i.region is not None]
        return {(code[r.target].name, r.depth, r.lasti) for r in regions}

    assert handlers(tries) == {("push_exc_info", 0, False), ("copy", 1, True)}
    # From 3.14 an empty receiver lies beside the function that is called in the end.
    below = 2 if sys.version_info >= (3, 14) else 1
    assert handlers(enters) == {("push_exc_info", below, True), ("copy", below + 2, True)}
    assert handlers(comprehends) == set()
    assert ("push_exc_info", 0, False) in handlers(inside)
    # In a try statement, the clean-up of an inlined comprehension can be seen.
    code = decode(inside.__code__).instructions
    appending = [i for i in code if i.name in {"list_append", "call"}]
    assert appending[0].region is not None
    assert (code[appending[0].region.target].name == "swap") == (appending[0].name == "list_append")
