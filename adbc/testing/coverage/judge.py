"""What becomes of a call when it is differentiated: `test_rule`, and the errors in its place."""

from __future__ import annotations

import re
import signal
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from adbc.errors import AdbcError
from adbc.testing.coverage.cases import HERE, Case, Verdict
from adbc.testing.coverage.values import names_in
from adbc.testing.rule import test_rule
from adbc.testing.values import duplicate, leaves

__all__ = ["TooLong", "is_clear", "judge", "limited"]

LIMIT = 20
"""Seconds that one case may take."""

STEP = 1e-3
"""The largest step of differences."""

ROUGH = {
    **dict.fromkeys(
        (
            "fmin_cg",
            "fmin_cobyla",
            "fmin_ncg",
            "fminbound",
            "golden",
            "diagbroyden",
            "brent",
            "minimize",
            "curve_fit",
        ),
        0.1,
    ),
    **dict.fromkeys(("ncfdtridfn", "ncfdtridfd", "ncfdtrinc", "chndtridf", "chndtrinc"), 0.01),
}
"""By the ends of their names, a larger step for functions that find their result to some eight digits."""

SIX_DIGITS = ("ncfdtridfn", "ncfdtridfd")
"""The ends of the names of functions that find their result to some six digits, so that no step is right."""

UNSETTLED = ("is there a kink", "changes its structure near this point")


class TooLong(BaseException):
    """A case has not ended in its time.  It is no `Exception`, which what is called may catch."""


@contextmanager
def limited(seconds: int) -> Iterator[None]:
    """A block of code that ends with `TooLong` if it takes longer."""

    def stop(number: int, frame: Any) -> None:
        raise TooLong

    old = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, old)


def judge(case: Case, limit: int = LIMIT) -> Verdict | None:
    """The verdict on `case`; None if it is no call: the function refuses its arguments.

    >>> from adbc.testing.coverage import Case, judge
    >>> judge(Case("numpy.clip", "np.clip(x, 0.3, y)", "1-d")).status
    'right'
    """
    try:
        with limited(limit), warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            return _judged(case)
    except TooLong:
        return Verdict(case, "error", f"not finished after {limit} seconds")


def _judged(case: Case) -> Verdict | None:
    try:
        function, values = case.function(), case.values()
        arguments = duplicate(values)
        result = function(*arguments)
    except Exception:  # whatever the function says of arguments that were made up
        return None
    try:
        numbers = [np.asarray(x) for _, x in leaves(result)]
        written = [np.asarray(x) for _, x in leaves(arguments)]
    except Exception as error:  # an object that no tangents are known of
        return Verdict(case, "not judged", f"a result of {type(result).__name__}: {error}"[:300])
    finite = all(np.all(np.isfinite(x)) for x in [*numbers, *written] if x.dtype.kind in "fc")
    try:
        name = case.entry.rpartition(".")[2]
        rtol = 1e-3 if name in SIX_DIGITS else 1e-5
        _checked(function, values, "float32" in case.text, ROUGH.get(name, STEP), rtol)
    except AdbcError as error:
        if "no difference between" in str(error):
            return Verdict(case, "not judged", "differences do not settle: the result changes its dtype")
        return Verdict(case, "refused" if is_clear(str(error), case) else "unclear", str(error))
    except AssertionError as error:
        if any(text in str(error) for text in UNSETTLED):
            return Verdict(case, "not judged", "differences do not settle")
        return Verdict(case, "wrong" if finite else "not judged", str(error))
    except Exception as error:  # of the engine, for the function itself has none
        return Verdict(case, "error", f"{type(error).__name__}: {error}")
    if not finite:
        return Verdict(case, "not judged", "the value is not finite")
    before = [np.asarray(x) for _, x in leaves(values)]
    is_changed = len(before) != len(written) or not all(map(_is_same, before, written))
    has_numbers = is_changed or any(x.dtype.kind in "fc" and x.size for x in numbers)
    return Verdict(case, "right" if has_numbers or "out" in names_in(case.text) else "zero")


def _is_same(before: Any, after: Any) -> bool:
    return np.array_equal(before, after, equal_nan=before.dtype.kind in "fc")


def _checked(
    function: Callable[..., Any], values: list[Any], is_single: bool, step: float, rtol: float
) -> None:
    if is_single:
        test_rule(function, *values, step=0.05, rtol=1e-2, atol=1e-3, reverse_rtol=1e-5, value_rtol=1e-5)
    else:
        test_rule(function, *values, step=step, rtol=rtol, atol=1e-7)


def is_clear(message: str, case: Case) -> bool:
    """Whether an error names the function, the line that called it, and what to do.

    In a call that is given the result of another, the other may be what has no derivative.
    """
    called = re.findall(r"(?<=\.)\w+(?=\()", case.text)
    _, end, remedy = message.rpartition(". ")
    is_named = any(name in message for name in [case.entry.rsplit(".", 1)[-1], *called])
    return is_named and f"<{HERE}" in message and bool(end and remedy)
