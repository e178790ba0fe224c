"""What ``compile()`` takes of the functions that a call runs."""

from __future__ import annotations

import inspect
import sys
import textwrap
import time
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any

__all__ = ["compiled", "run_by"]


def run_by(call: Callable[[], object]) -> set[CodeType]:
    """The code of the functions that a call runs."""
    found: set[CodeType] = set()

    def note(frame: FrameType, event: str, argument: Any) -> None:
        if event == "call":
            found.add(frame.f_code)

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(before)
    return found


def compiled(call: Callable[[], object]) -> float:
    """CPU seconds of compiling the source of each function that a call runs, once.

    Parts of functions, comprehensions for instance, are compiled with them; what has no source costs nothing.
    """
    texts = set()
    for code in run_by(call):
        if code.co_name.startswith("<"):
            continue
        try:
            texts.add(textwrap.dedent(inspect.getsource(code)))
        except (OSError, TypeError):
            continue
    total = 0.0
    for text in texts:
        start = time.process_time()
        try:
            compile(text, "<source>", "exec")
        except SyntaxError:  # what was found is not a function: a line of a table of lambdas
            continue
        total += time.process_time() - start
    return total
