"""`profile`: where a gradient spends its time and what it keeps, by lines of the functions that are
differentiated.

Emitted code carries the lines of the code that it differentiates.  So the interpreter's own events say
which line is running, in the forwards pass and in the pullback, and `tracemalloc` says which line has
allocated what is still there between the two.
"""

from __future__ import annotations

import functools
import gc
import linecache
import statistics
import sys
import time
import tracemalloc
import types
from collections.abc import Callable, Iterator
from typing import Any

from adbc.api import vjp
from adbc.config import FOLDER
from adbc.errors import ArgumentError
from adbc.functions import is_function
from adbc.records import record
from adbc.runtime import default_engine
from adbc.runtime.build.engine import Engine
from adbc.runtime.report.frames import inlined_in
from adbc.tangents import NoTangent

__all__ = ["Clock", "Line", "Profile", "profile", "size_in_words", "time_in_words"]

_FRAMES = 40
"""How many frames `tracemalloc` keeps of a place, to find a line of the user in."""

Place = tuple[str, int]


@record(frozen=True)
class Line:
    """One line: `forwards` and `pullback` are seconds per gradient, `saved` are bytes that were allocated
    there and are still in use when the forwards pass has ended, `runs` is how often the line was entered
    in the forwards pass of one gradient."""

    filename: str
    line: int
    source: str
    runs: float
    forwards: float
    pullback: float
    saved: int


@record(frozen=True)
class Profile:
    """What `profile` found: `lines` by file and line; seconds of a whole gradient, in the `forwards` pass and
    in the `pullback`; `outside`, the part of both that is on no line (what surrounds the top-level call)."""

    lines: tuple[Line, ...]
    forwards: float
    pullback: float
    outside: float
    saved: int

    def __str__(self) -> str:
        rows = [("line", "runs", "forwards", "pullback", "saved", "")]
        filename = None
        for line in self.lines:
            if line.filename != filename:
                filename = line.filename
                rows.append(("", "", "", "", "", filename))
            rows.append(
                (
                    str(line.line),
                    f"{line.runs:g}",
                    time_in_words(line.forwards),
                    time_in_words(line.pullback),
                    size_in_words(line.saved),
                    f"  {line.source}",
                )
            )
        rows.append(("", "", "", "", "", ""))
        rows.append(
            (
                "",
                "",
                time_in_words(self.forwards),
                time_in_words(self.pullback),
                size_in_words(self.saved),
                "one gradient",
            )
        )
        rows.append(("", "", time_in_words(self.outside), "", "", "of this outside of the lines"))
        widths = [max(len(row[k]) for row in rows) for k in range(5)]
        return "\n".join(
            "  ".join([*(cell.rjust(width) for cell, width in zip(row[:5], widths, strict=True)), row[5]])
            .rstrip()
            for row in rows
        )  # fmt: skip

    def __repr__(self) -> str:
        return str(self)


def time_in_words(seconds: float) -> str:
    if seconds <= 0.0:
        return "-"
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"


def size_in_words(count: int) -> str:
    if count < 10_000:
        return f"{count} B" if count else "-"
    return f"{count / 1e3:.0f} kB" if count < 10_000_000 else f"{count / 1e6:.0f} MB"


def profile(f: Callable[..., Any], *args: Any, repeat: int = 10, **kwargs: Any) -> Profile:
    """How the time of a gradient of ``f(*args, **kwargs)`` and what it keeps are spread over the lines.

    The arguments are as they were afterwards.  A line has the time of what it calls too, unless that is
    written in Python by the user: then the lines there have it.  Lines of adbc's own code count for the line
    that it runs for.

    The events cost time themselves, more on lines that do little.  So the times of lines are shares of what
    a gradient takes without them, which is measured before: trust their order, not their digits.  What is
    kept includes the value and the shadows of new objects; memory that CPython had in its own lists of free
    objects before is not seen, so a few kilobytes may be missing.

    repeat: how many gradients are added up.  Raises `ArgumentError` if it is not positive, and what
    `adbc.vjp` raises.

    >>> import adbc.inspect
    >>> def power(x, n):
    ...     y = 1.0
    ...     for _ in range(n):
    ...         y = y * x
    ...     return y
    >>> found = adbc.inspect.profile(power, 1.01, 1000)
    >>> [line.runs for line in found.lines][-2]  # the line of the loop's body
    1000.0
    """
    if repeat < 1:
        raise ArgumentError(f"repeat is the number of gradients to add up, not {repeat}")
    function = functools.partial(f, **kwargs) if kwargs else f
    engine = default_engine()
    for _ in range(4):  # until guesses of types have settled
        _gradient(function, args)
        engine.tiers.warm_all()
    forwards, pullback = (
        min(times) for times in zip(*(_timed(function, args) for _ in range(5)), strict=True)
    )
    clock = Clock()
    codes = _codes(engine)
    clock.inlined = {place for code in codes for place in _written_in(code)}
    watch = _with_monitoring if sys.version_info >= (3, 12) else _with_tracing
    watch(clock, codes, lambda: _gradients(function, args, clock, repeat))
    shown = {(code.co_filename, line) for code in codes for _, _, line in code.co_lines() if line is not None}
    saved, total = _saved(function, args, shown)
    spent = {phase: clock.typical(phase) for phase in ("forwards", "pullback")}
    shares = {phase: sum(times.values()) for phase, times in spent.items()}

    def scaled(phase: str, place: Place | None, whole: float) -> float:
        return whole * spent[phase].get(place, 0.0) / shares[phase] if shares[phase] else 0.0

    places = {p for times in spent.values() for p in times if p is not None} | set(saved)
    lines = tuple(
        Line(
            filename=place[0],
            line=place[1],
            source=linecache.getline(*place).strip(),
            runs=clock.runs.get(place, 0) / repeat,
            forwards=scaled("forwards", place, forwards),
            pullback=scaled("pullback", place, pullback),
            saved=max(saved.get(place, 0), 0),
        )
        for place in sorted(places)
    )
    outside = scaled("forwards", None, forwards) + scaled("pullback", None, pullback)
    return Profile(lines, forwards, pullback, outside, max(total, 0))


def _timed(function: Callable[..., Any], args: tuple[Any, ...]) -> tuple[float, float]:
    start = time.perf_counter()
    _, pullback = vjp(function, *args)
    middle = time.perf_counter()
    pullback(NoTangent())
    return middle - start, time.perf_counter() - middle


def _gradient(function: Callable[..., Any], args: tuple[Any, ...], clock: Clock | None = None) -> None:
    if clock is not None:
        clock.begin("forwards")
    value, pullback = vjp(function, *args)
    if clock is not None:
        clock.end()
        clock.begin("pullback")
    pullback(1.0 if isinstance(value, float) else NoTangent())
    if clock is not None:
        clock.end()


def _gradients(function: Callable[..., Any], args: tuple[Any, ...], clock: Clock, repeat: int) -> None:
    for _ in range(repeat):
        _gradient(function, args, clock)


# -- time ------------------------------------------------------------------------------------------------


class Clock:
    """Adds up time by phase and line.  Between events, the time is that of the line on top of the stack."""

    def __init__(self) -> None:
        self.seconds: dict[str, list[dict[Place | None, float]]] = {"forwards": [], "pullback": []}
        """The seconds on each line, by phase and, in a list, by gradient."""
        self.runs: dict[Place, int] = {}
        self.stack: list[Place | None] = []
        self.own: list[Place | None] = []
        """For each function on the stack, its own line that ran last; lines of functions that were written
        into it do not count."""
        self.inlined: set[Place] = set()
        self.phase: str | None = None
        self.last = 0.0

    def begin(self, phase: str) -> None:
        self.phase, self.stack, self.own = phase, [None], [None]
        self.seconds[phase].append({})
        self.last = time.perf_counter()

    def end(self) -> None:
        self._charge()
        self.phase = None

    def _charge(self) -> None:
        if self.phase is None:
            return
        now = time.perf_counter()
        spent, place = self.seconds[self.phase][-1], self.stack[-1]
        spent[place] = spent.get(place, 0.0) + now - self.last
        self.last = now

    def typical(self, phase: str) -> dict[Place | None, float]:
        """The median time of each line over the gradients, because now and then the machine does something
        else."""
        runs = self.seconds[phase]
        places = {place for run in runs for place in run}
        return {place: statistics.median(run.get(place, 0.0) for run in runs) for place in places}

    def enter(self, code: types.CodeType) -> None:
        if self.phase is None:
            return
        self._charge()
        self.stack.append((code.co_filename, code.co_firstlineno))
        self.own.append(None)

    def line(self, code: types.CodeType, number: int) -> None:
        if self.phase is None or len(self.stack) < 2:
            return
        self._charge()
        place = code.co_filename, number
        before, self.stack[-1] = self.stack[-1], place
        goes_on = before in self.inlined and place == self.own[-1]  # behind what was written in
        if place not in self.inlined:
            self.own[-1] = place
        if self.phase == "forwards" and not goes_on:
            self.runs[place] = self.runs.get(place, 0) + 1

    def leave(self) -> None:
        if self.phase is None or len(self.stack) < 2:
            return
        self._charge()
        self.stack.pop()
        self.own.pop()


def _codes(engine: Engine) -> list[types.CodeType]:
    """The code of the rules of functions that are not adbc's own, and of pullbacks that were made late."""
    found: dict[int, types.CodeType] = {}  # by address: constants need not be hashable
    waiting = [
        function.__code__
        for rule in engine.rules.values()
        if rule.is_built
        for function in (rule.forwards, rule.pullback)
    ]
    while waiting:
        code = waiting.pop()
        if id(code) not in found and not code.co_filename.startswith(FOLDER):
            found[id(code)] = code
            waiting += [
                constant.__code__
                for constant in code.co_consts
                if is_function(constant) and constant.__code__.co_filename == code.co_filename
            ]
    return list(found.values())


def _written_in(code: types.CodeType) -> Iterator[Place]:
    """The lines of functions that were written into `code`."""
    for start, end, _ in inlined_in(code):
        for first, last, line in code.co_lines():
            if line is not None and first < end and last > start:
                yield code.co_filename, line


def _with_tracing(clock: Clock, codes: list[types.CodeType], run: Callable[[], object]) -> None:
    known = {id(code): code for code in codes}

    def local(frame: types.FrameType, event: str, argument: object) -> Any:
        if event == "line":
            clock.line(frame.f_code, frame.f_lineno)
        elif event == "return":  # after an exception as well
            clock.leave()
        return local

    def called(frame: types.FrameType, event: str, argument: object) -> Any:
        if id(frame.f_code) not in known:
            return None
        clock.enter(frame.f_code)
        return local

    before = sys.gettrace()
    sys.settrace(called)
    try:
        run()
    finally:
        sys.settrace(before)


def _with_monitoring(clock: Clock, codes: list[types.CodeType], run: Callable[[], object]) -> None:
    monitoring: Any = sys.monitoring  # type: ignore[attr-defined,unused-ignore]  # from 3.12
    events = monitoring.events
    tool = next((n for n in (monitoring.PROFILER_ID, 3, 4) if monitoring.get_tool(n) is None), None)
    if tool is None:
        raise ArgumentError("another profiler is running: end it first")
    ids = {id(code) for code in codes}

    lines = {id(code): {line for _, _, line in code.co_lines()} for code in codes}

    def ran(code: types.CodeType, line: int) -> None:
        # From 3.14 the line of a function that stands above the one that it was written into is reported as
        # 256 too many: the interpreter keeps the distance in a byte without a sign.
        known = lines[id(code)]
        clock.line(code, line - 256 if line not in known and line - 256 in known else line)

    def unwound(code: types.CodeType, offset: int, error: BaseException) -> None:
        if id(code) in ids:
            clock.leave()

    monitoring.use_tool_id(tool, "adbc")
    try:
        monitoring.register_callback(tool, events.PY_START, lambda code, offset: clock.enter(code))
        monitoring.register_callback(tool, events.LINE, ran)
        monitoring.register_callback(tool, events.PY_RETURN, lambda code, offset, value: clock.leave())
        monitoring.register_callback(tool, events.PY_UNWIND, unwound)
        monitoring.set_events(tool, events.PY_UNWIND)
        for code in codes:
            monitoring.set_local_events(tool, code, events.PY_START | events.LINE | events.PY_RETURN)
        run()
    finally:
        for code in codes:
            monitoring.set_local_events(tool, code, 0)
        monitoring.set_events(tool, 0)
        for event in (events.PY_START, events.LINE, events.PY_RETURN, events.PY_UNWIND):
            monitoring.register_callback(tool, event, None)
        monitoring.free_tool_id(tool)


# -- memory ----------------------------------------------------------------------------------------------


def _saved(
    function: Callable[..., Any], args: tuple[Any, ...], shown: set[Place]
) -> tuple[dict[Place, int], int]:
    """The bytes that each of the lines `shown` has allocated in a forwards pass and that are in use after it,
    and their sum."""
    was_tracing = tracemalloc.is_tracing()
    if not was_tracing:
        tracemalloc.start(_FRAMES)
    try:
        _gradient(function, args)
        gc.collect()
        before = tracemalloc.take_snapshot()
        _, pullback = vjp(function, *args)
        after = tracemalloc.take_snapshot()
        pullback(NoTangent())
    finally:
        if not was_tracing:
            tracemalloc.stop()
    found = _by_line(after, shown)
    for place, size in _by_line(before, shown).items():
        found[place] = found.get(place, 0) - size
    return {place: size for place, size in found.items() if size > 0}, sum(found.values())


def _by_line(snapshot: tracemalloc.Snapshot, shown: set[Place]) -> dict[Place, int]:
    """The bytes allocated in `snapshot`, by the innermost of the lines `shown` in the traceback of the
    allocation."""
    found: dict[Place, int] = {}
    for trace in snapshot.traces:
        for frame in reversed(trace.traceback):  # the most recent call is the last one
            place = frame.filename, frame.lineno
            if place in shown:
                found[place] = found.get(place, 0) + trace.size
                break
    return found
