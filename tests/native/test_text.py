"""What is written for LLVM, without LLVM."""

from __future__ import annotations

from adbc.low.text import read
from adbc.native.llvm import write

SQUARE = """\
low square(x: f64) -> f64
site 0: 'no'
entry:
    %1: f64 = fmul %x, %x
    %2: f64 = sin %1
    %3: i1 = finite %2
    bail_if %3 else 0
    return %2
"""


def test_floats_are_computed_as_they_are_written() -> None:
    text = write(read(SQUARE))
    assert "define internal i32 @adbc_run(double %p0, ptr %out)" in text
    assert "fmul double %p0, %p0" in text
    assert "call double @adbc_sin(double" in text
    for word in ("fast", "contract", "reassoc", "nnan", "ninf", "arcp"):
        assert f" {word} " not in text
