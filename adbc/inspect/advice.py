"""What to change where a gradient takes long: the lines that cost most, why, and what to write instead.

What a line costs is measured, in the gradient and in the plain function, and why it costs that is what the
builders have decided about its calls.  What can be written instead is in a table here, by these reasons.
"""

from __future__ import annotations

import copy
import functools
import sys
import time
import types
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from adbc.config import FOLDER
from adbc.inspect.profile import Clock, Line, profile, size_in_words, time_in_words
from adbc.records import record

if TYPE_CHECKING:
    from adbc.inspect.explain import Site

__all__ = ["LIMIT", "Advice", "AdvisedLine", "advise"]

LIMIT = 6.0
"""How many times as long as the plain function a gradient may take on a line before there is advice."""

LEAST = 0.01
"""The share of the gradient that a line must take beyond the limit: what is less is as likely the noise of
measuring."""

_MOST = 10
_MUCH = 1 << 20
"""Bytes: a line that saves more is told so."""


@record(frozen=True)
class AdvisedLine:
    """A line that takes more than `LIMIT` times as long in the gradient as in the plain function.

    gradient, plain: seconds on this line, per gradient and per plain call.  beyond: by how much the gradient
    exceeds the limit.  saved: bytes that are kept for the pullback.

    why: the reason, in words.  instead: what to write, or to do, in its place.
    """

    filename: str
    line: int
    source: str
    gradient: float
    plain: float
    saved: int
    why: str
    instead: str

    @property
    def beyond(self) -> float:
        return self.gradient - LIMIT * self.plain


@record(frozen=True)
class Advice:
    """The `lines` that cost most beyond the limit, the worst first, at most ten; `gradient` and `plain` are
    the seconds of the whole function.  ``print`` shows it as a table."""

    lines: tuple[AdvisedLine, ...]
    gradient: float
    plain: float

    def __str__(self) -> str:
        whole = f"gradient {time_in_words(self.gradient)}, function {time_in_words(self.plain)}"
        if not self.lines:
            return f"{whole}: no line takes more than {LIMIT:g} times as long"
        text = [f"{whole}; beyond {LIMIT:g} times what the function takes, per gradient:"]
        filename = None
        for line in self.lines:
            if line.filename != filename:
                filename = line.filename
                text.append(f"  {filename}")
            text.append(f"  {line.line:>5}  {time_in_words(line.beyond):>8}  {line.source}")
            text.append(f"{'':17}{line.why}")
            text.append(f"{'':17}-> {line.instead}")
        return "\n".join(text)

    def __repr__(self) -> str:
        return str(self)


def advise(
    f: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], sites: Sequence[Site]
) -> Advice:
    """Measure ``f(*args, **kwargs)`` and its gradient, and say what to change; `sites` are what `explain` has
    found."""
    function = functools.partial(f, **kwargs) if kwargs else f
    found = profile(function, *args, repeat=5)
    by_place: dict[tuple[str, int], list[Site]] = {}
    for site in sites:
        if site.line is not None:
            by_place.setdefault((site.filename, site.line), []).append(site)
    plain, whole = _plain(function, args, {line.filename for line in found.lines})
    lines = []
    for line in found.lines:
        place = line.filename, line.line
        why, instead = _reason(by_place.get(place, ()), line)
        lines.append(
            AdvisedLine(
                filename=line.filename,
                line=line.line,
                source=line.source,
                gradient=line.forwards + line.pullback,
                plain=plain.get(place, 0.0),
                saved=line.saved,
                why=why,
                instead=instead,
            )
        )
    gradient = found.forwards + found.pullback
    least = LEAST * gradient
    worst = sorted((line for line in lines if line.beyond > least), key=lambda line: -line.beyond)
    return Advice(tuple(worst[:_MOST]), gradient, whole)


# -- what the plain function takes -----------------------------------------------------------------------


def _plain(
    function: Callable[..., Any], args: tuple[Any, ...], filenames: Iterable[str]
) -> tuple[dict[tuple[str, int], float], float]:
    """The seconds that a plain call takes on each line of `filenames`, and altogether."""
    shown = frozenset(filenames)
    times = []
    for _ in range(5):
        own = _copies(args)
        start = time.perf_counter()
        function(*own)
        times.append(time.perf_counter() - start)
    clock = Clock()

    def local(frame: types.FrameType, event: str, argument: object) -> Any:
        if event == "line":
            clock.line(frame.f_code, frame.f_lineno)
        elif event == "return":
            clock.leave()
        return local

    def called(frame: types.FrameType, event: str, argument: object) -> Any:
        code = frame.f_code
        if code.co_filename not in shown or code.co_filename.startswith(FOLDER):
            return None
        clock.enter(code)
        return local

    before = sys.gettrace()
    for _ in range(5):
        own = _copies(args)
        sys.settrace(called)
        try:
            clock.begin("forwards")
            function(*own)
            clock.end()
        finally:
            sys.settrace(before)
    spent = clock.typical("forwards")
    total = sum(spent.values())
    whole = min(times)
    return {place: whole * t / total for place, t in spent.items() if place is not None}, whole


def _copies(args: tuple[Any, ...]) -> tuple[Any, ...]:
    """Copies of arguments that a call may change; modules are what they are."""
    memo: dict[int, Any] = {id(x): x for x in args if isinstance(x, types.ModuleType)}
    return copy.deepcopy(args, memo)


# -- why, and what else -----------------------------------------------------------------------------------


def _reason(sites: Sequence[Site], line: Line) -> tuple[str, str]:
    """Why a line costs what it costs, and what to do, by the call that costs most."""
    for kind, words, instead in _REMEDIES:
        for site in sites:
            because = site.why.partition("; its result is")[0]
            if site.kind == kind and words in f"{site.called}: {because}":
                where = "" if site.source in (None, line.source) else f" in `{site.source}`"
                return f"{kind}{where}: {site.called}: {because}", instead
    if any(site.how in ("load", "store") for site in sites):
        return (
            "single elements of an array are read or written, each by itself",
            "operations on whole arrays, or a list of floats: x.tolist()",
        )
    if line.saved > _MUCH:
        return (
            f"{size_in_words(line.saved)} are saved here for the pullback",
            "adbc.checkpoint(f)(...) for a part of the program, which is computed again instead",
        )
    return (
        "all is written inline: what is left is calls of NumPy, or of Python, on little data",
        "more numbers per call: one array in the place of many, np.stack(rows) before the loop",
    )


_REMEDIES: tuple[tuple[str, str, str], ...] = (
    (
        "dynamic",
        "the result of getattr",
        "the attribute by its name: obj.name, not getattr(obj, name)",
    ),
    ("dynamic", "an element of a list", "elements of one class, or an array: np.array(items)"),
    ("dynamic", "an element of a dict", "values of one class, or a dataclass in the place of the dict"),
    ("dynamic", "an element of", "elements of one class, or an array: np.array(items)"),
    ("dynamic", "an attribute", "the attribute by its name: obj.name, not getattr(obj, name)"),
    ("dynamic", "the attribute", "objects of one class here, which keep the class of what the field holds"),
    ("dynamic", "a variable that has several types", "begin it with what it is later: 0.0, not 0 or None"),
    (
        "dynamic",
        "what an iterator gives",
        "a loop over a list, range, zip or enumerate, not over an iterator",
    ),
    ("dynamic", "a global that may change", "pass it as an argument, or read it once before the loop"),
    ("dynamic", "an argument", "arguments of one class in all calls: 1.0, not 1"),
    ("dynamic", "variable of an enclosing function", "pass it as an argument of the inner function"),
    ("dynamic", "unpacked from something", "unpack tuples of one length that are made in the program"),
    ("dynamic", "passed by keyword", "pass these arguments by position"),
    ("dynamic", "has a closure", "a function of the module that is given what it needs as arguments"),
    ("dynamic", "*args or **kwargs", "parameters that are written out"),
    ("dynamic", "is a generator", "a loop in the place of the generator, or a list of what it gives"),
    (
        "dynamic",
        "depends on the values",
        "an array from the beginning: np.empty(n), of which elements are written",
    ),
    ("dynamic", "exceptions come back", "ask before, `if key in d`, in the place of `try`"),
    ("dynamic", "is not known", "call the function by its name, or by an argument that is always the same"),
    ("dynamic", "", "the same on floats and arrays, or a rule for it: adbc.rrule"),
    ("primitive", "append", "an array from the beginning: np.empty(n), of which elements are written"),
    ("primitive", "numpy.array", "an array from the beginning: np.empty(n), of which elements are written"),
    ("primitive", "", "one call for many: on a whole array, or once before the loop"),
    ("derived", "", "the body of a short function in its place, if the call is in a loop"),
)
"""By class, and words of the reason: what to write instead.  The first that fits counts."""
