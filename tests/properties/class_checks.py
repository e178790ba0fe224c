"""What is asked of a function that uses random classes: value, notes of what was run, and derivatives."""

from __future__ import annotations

import math
from typing import Any

import adbc
from adbc.errors import ConstWriteError, LiftError, MissingRuleError, UnsupportedError
from adbc.runtime import default_engine
from tests.properties.class_programs import ClassProgram

__all__ = ["check_classes", "usual_way_of", "warmth", "way_of"]

X, STEP = 1.3, 1e-6
REFUSALS = (ConstWriteError, LiftError, MissingRuleError, UnsupportedError)
"""What a function may be refused by; the other errors say that something is broken."""


def way_of(seed: int) -> str:
    """How types are guessed for the program of `seed`."""
    return ("learn", "never", "dynamic", "always")[seed % 4]


def usual_way_of(seed: int) -> str:
    """The same where programs are many: mostly as users have it, as it costs a third of the others."""
    return ("learn", "never", "learn", "dynamic", "learn", "always", "learn", "learn")[seed % 8]


def warmth(seed: int) -> int:
    """How often code is interpreted before it is written: two times of three as users have it."""
    return 0 if seed // 8 % 3 == 0 else 40


def check_classes(program: ClassProgram, mode: str) -> str:
    """Check one function with types guessed as `mode` says; returns whether it was right in both modes, or by
    which class of errors it was refused."""
    engine = default_engine()
    engine.guesses.mode = mode
    f, tally = program.function, program.space["tally"]
    try:
        value, notes, count = plainly(program, X)
        difference = (plainly(program, X + STEP)[0] - plainly(program, X - STEP)[0]) / (2.0 * STEP)
        forward = reverse = None
        refused = ""
        try:
            u, du = [1.0], [0.0]
            out, forward = adbc.jvp(f, (X, u), (1.0, du))
            assert near(out, value) and len(u) == len(notes) == len(du), (
                f"forward: {out} {u}, not {value} {notes}"
            )
            assert tally.count == count, f"forward: {tally.count} notes, not {count}"
            assert near(forward, difference, 1e-4), f"forward {forward}, difference {difference}"
        except REFUSALS as error:
            refused = f"refused: {type(error).__name__}"
        for _ in range(2):
            try:
                u = [1.0]
                tally.count = -1
                out, pullback = adbc.vjp(f, X, u)
                assert near(out, value) and len(u) == len(notes), f"reverse: {out} {u}, not {value} {notes}"
                assert tally.count == count, f"reverse: {tally.count} notes, not {count}"
                reverse = pullback(1.0)[0]
                assert near(reverse, difference, 1e-4), f"reverse {reverse}, difference {difference}"
                assert forward is None or near(reverse, forward), f"reverse {reverse}, forward {forward}"
                assert u == [1.0] and tally.count == -1, f"not restored: {u} {tally.count}"
            except REFUSALS as error:
                refused = f"refused: {type(error).__name__}"
    except Exception as error:  # whatever it is: it goes on, and says where it comes from
        error.add_note(f"speculation {mode}\n{program.source}")
        raise
    return refused or "right"


def plainly(program: ClassProgram, x: float) -> tuple[float, list[float], int]:
    """Value, list and number of notes of a plain call."""
    u = [1.0]
    value = program.function(x, u)
    return value, u, program.space["tally"].count


def near(a: Any, b: Any, tolerance: float = 1e-9) -> bool:
    return math.isfinite(a) and abs(a - b) <= tolerance * max(1.0, abs(a), abs(b))
