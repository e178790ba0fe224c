"""Low programs by themselves: text, verifier and interpreter."""

from __future__ import annotations

import math

import pytest

from adbc.errors import VerificationError
from adbc.low.interpret import BailedOut, interpret
from adbc.low.ops import LIBM, OPS
from adbc.low.text import read, write
from adbc.low.verify import verify

SUM = """\
low sum(x: f64, n: i64) -> f64, f64
tape t0: (f64) | (f64, i64) | ()
arena a0: (i1, i64)
slot s0: i64
site 0: 'overflow'
site 1: "what isn't there", line 7
entry:
    %height: i64 = height t0
    push t0.2
    set s0 0
    jump loop
loop:
    %k: i64 = phi [entry: 0, body: %next]
    %node: i64 = phi [entry: 0, body: %made]
    poll
    %1: i1 = ilt %k, %n
    branch %1, body, back
body:
    %2: f64 = itof %k
    %3: f64 = fmul %x, %2
    push t0.1 %3, %k
    %made: i64 = node a0 %1, %node
    %next: i64 = iadd %k, 1 else 0
    jump loop
back:
    %s: f64 = phi [loop: 0.0, more: %7]
    %4: i1, %5: f64, %6: i64 = take t0.1 %height else 1
    branch %4, end, more
more:
    %7: f64 = fadd %s, %5
    bail_if False else 1
    jump back
end:
    %8: i1, %9: f64 = next t0.0 %height else 1
    %10: f64 = fselect %8, inf, nan
    switch %node, [0: empty], full
empty:
    return %s, %10
full:
    %11: i1, %12: i64 = fields a0 %node else 1
    bail_if %8 else 0
    bail 1
"""


def test_text_is_read_as_it_is_written() -> None:
    program = verify(read(SUM))
    assert write(program) == SUM
    assert str(program) == SUM


def test_tapes_marks_nodes_and_sites() -> None:
    program = read(SUM)
    assert interpret(program, 2.0, 0) == (0.0, math.inf)
    with pytest.raises(BailedOut, match="overflow") as caught:
        interpret(program, 2.0, 3)
    assert caught.value.site == 0
    visited: set[int] = set()
    with pytest.raises(BailedOut, match="isn't there"):
        interpret(program, 2.0, 3, bail_at=[1], visited=visited)
    assert visited == {0, 1}


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("%3: f64 = fmul %x, %2", "%3: f64 = fmul %x, %k", "fmul in body has"),
        ("%2: f64 = itof %k", "%2: f64 = itof %7", "itof in body has"),
        ("branch %1, body, back", "branch %k, body, back", "is no i1"),
        ("bail_if False else 1", "bail_if False", "a site, or none"),
        ("bail 1", "bail 2", "bails out at no site"),
        ("return %s, %10", "return %s", "return of empty has"),
        ("phi [entry: 0, body: %next]", "phi [entry: 0]", "one operand per predecessor"),
        ("push t0.1 %3, %k", "push t0.3 %3, %k", "no such format"),
        ("push t0.1 %3, %k", "push t0.0 %3, %k", "push in body has"),
        ("push t0.1 %3, %k", "push t0.1 %5, %k", "where it has no value"),
        ("%s: f64 = phi [loop: 0.0, more: %7]", "%s: f64 = phi [loop: %3, more: %7]", "has no value"),
        ("%made: i64 = node a0 %1, %node", "%made: i64 = node a0 %node, %node", "node in body has"),
        ("    bail 1\n", "", "no terminator"),
        ("    jump loop\nloop:", "    jump entry\nloop:", "the entry"),
    ],
)
def test_what_is_wrong_is_found(old: str, new: str, message: str) -> None:
    assert old in SUM
    with pytest.raises(VerificationError, match=message):
        verify(read(SUM.replace(old, new)))


@pytest.mark.parametrize("line", ["    %1: f64 = fused %x", "    %1: f64 = fadd %x, %nowhere", "nonsense"])
def test_what_is_no_program_is_not_read(line: str) -> None:
    with pytest.raises(VerificationError):
        read(f"low f(x: f64) -> f64\n{line}\nentry:\n{line}\n    return %x\n")


def test_a_record_of_another_format_is_an_error() -> None:
    text = """\
low f(x: f64) -> f64
tape t0: (f64) | (i64)
site 0: 'x'
entry:
    push t0.1 3
    %1: f64 = pop t0.0 0 else 0
    return %1
"""
    with pytest.raises(VerificationError, match="format"):
        interpret(verify(read(text)), 1.0)


def test_what_operations_mean_on_what_is_not_finite() -> None:
    divide, remainder = OPS["fdiv"].meaning, OPS["frem"].meaning
    assert divide is not None and remainder is not None
    assert divide(1.0, 0.0) == math.inf and divide(1.0, -0.0) == -math.inf and divide(-1.0, 0.0) == -math.inf
    assert (
        math.isnan(divide(0.0, 0.0)) and math.isnan(divide(math.nan, 0.0)) and math.isnan(remainder(1.0, 0.0))
    )
    for name in LIBM:
        meaning = OPS[name].meaning
        assert meaning is not None
        assert isinstance(meaning(*[1e300] * LIBM[name]), float)
