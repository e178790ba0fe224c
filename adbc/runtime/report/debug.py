"""Debug mode and the tracer of numbers that are not finite: what is checked around the calls of rules.

With `Config.debug` or `Config.trace_nan` on, the engine hands the builders watched rules in place of
rules (`reverse_support`, `forward_support`), and inlined products go through `Watch.number`.  The code
that is generated otherwise has no trace of this, so what is off costs nothing.

Whoever is called, the check is the same: note what the arguments are; call; look at the result and
its shadow; and, when the pullback has run, at the rdata, the shadows and whether all is as noted.

What arguments hold may be large, and the same arguments are passed on and on.  So all that is reached from
them is noted at the first call of a derivative that reaches it, and compared when that call has been undone,
which is after all others.  At the other calls a glance is taken at the arguments themselves: enough to name
the call that does not restore what it changes.
"""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable, Sequence
from typing import Any

from adbc.config import Config
from adbc.cpython.libraries import is_library_class
from adbc.errors import DebugError, NotFiniteError
from adbc.ir.intrinsics import EXHAUSTED, Raised
from adbc.rules.kinds import RowKind
from adbc.rules.table import Rule
from adbc.runtime.report.messages import spot, where
from adbc.tangents import NO_FDATA, NO_TANGENT
from adbc.tangents.contents import contents, differs, glance, may_move_numbers, seems_moved
from adbc.tangents.fit import is_finite, rdata_misfit, shadow_misfit
from adbc.tangents.protocol import kind_of
from adbc.types.callsites import name_of
from adbc.types.lattice import AbstractType, Exact
from adbc.types.membership import is_member

__all__ = ["Watch", "WatchedRow"]

Answer = Any


class Watch:
    """The checks of the calls of rules that a configuration asks for."""

    def __init__(self, config: Config) -> None:
        self.debug = config.debug
        self.trace_nan = config.trace_nan
        self.reached: weakref.WeakKeyDictionary[Any, dict[int, Any]] = weakref.WeakKeyDictionary()
        """By context, the addresses of what has been noted."""

    def number(self, value: Any, name: str) -> Any:
        """`value`, which was computed inline from a partial derivative of `name`; raises `NotFiniteError` if
        it is not finite."""
        if not is_finite(value):
            raise NotFiniteError(_not_finite(f"the derivative of {name} gives {value!r}", where()))
        return value

    def result(self, value: Any, type_: AbstractType, name: str) -> None:
        """Raise `DebugError` unless `value`, the result of a call of `name`, has the type `type_`."""
        if value is not EXHAUSTED and type(value) is not Raised and not is_member(value, type_):
            raise DebugError(
                f"the result of {name}, called in {where()}, was taken for {type_}, but is {value!r:.60}, a"
                f" {type(value).__name__}: its row in the table of rules declares the wrong result, or"
                " inference is wrong"
            )

    # -- reverse mode --------------------------------------------------------------------------------

    def declared(self, row: Rule, args: Sequence[Any], kwargs: Any, out: Any) -> None:
        """Raise `DebugError` unless `out`, which `row` gives, is of the class that it declares."""
        result: Any = row.result
        if callable(result) and not isinstance(result, type):
            result = result(*map(type, args)) if not kwargs else None
        if self.debug and isinstance(result, type):
            self.result(out, Exact(result), name_of(row.function))

    def rrule(self, row: Rule) -> Callable[..., Answer]:
        """The reverse rule of a row, with its calls checked."""

        def watched_rrule(args: Sequence[Any], fargs: Sequence[Any], kwargs: Any, *out: Any) -> Answer:
            call = _Call(self, name_of(row.function), args, fargs, 0)
            answer = row.rrule(args, fargs, kwargs, *out)
            return call.reverse(answer, may_alias=row.kind is not RowKind.ZERO)

        return watched_rrule

    # -- forward mode --------------------------------------------------------------------------------

    def frule(self, row: Rule) -> Callable[..., Answer]:
        """The forward rule of a row, with its calls checked."""

        def watched_frule(args: Sequence[Any], dargs: Sequence[Any], kwargs: Any, *out: Any) -> Answer:
            call = _Call(self, name_of(row.function), args, dargs, 0, is_forward=True)
            answer = row.frule(args, dargs, kwargs, *out)
            return call.forward(answer, may_alias=row.kind is not RowKind.ZERO)

        return watched_frule

    # -- both modes ----------------------------------------------------------------------------------

    def handler(
        self, handler: Callable[..., Answer] | None, is_forward: bool
    ) -> Callable[..., Answer] | None:
        """The handler of a protocol, with its calls checked; None for None."""
        if handler is None:
            return None

        def watched_handler(context: Any, xs: Sequence[Any], fs: Sequence[Any]) -> Answer:
            call = _Call(self, handler.__name__, xs, fs, 0, is_forward, context)
            return call.checked(handler(context, xs, fs))

        return watched_handler

    def call(self, call_: Callable[..., Answer], is_forward: bool) -> Callable[..., Answer]:
        """A dynamic call of an engine, `call_`, with its answers checked."""

        def watched_call(
            context: Any,
            keywords: Any,
            f: Any,
            ff: Any,
            xs: Sequence[Any],
            fs: Sequence[Any],
            *mode: Any,
        ) -> Answer:
            if _is_machinery(f):
                return call_(context, keywords, f, ff, xs, fs, *mode)
            call = _Call(self, name_of(f), (f, *xs), (ff, *fs), 1, is_forward, context)
            return call.checked(call_(context, keywords, f, ff, xs, fs, *mode))

        return watched_call


class WatchedRow:
    """A row whose rules are watched, for dynamic calls, which use the rows of the table as they are, and do
    not ask what result is declared: written code does."""

    def __init__(self, row: Rule, watch: Watch) -> None:
        self._row = row
        rrule, frule = watch.rrule(row), watch.frule(row)

        def with_result(rule: Callable[..., Answer]) -> Callable[..., Answer]:
            def checked(args: Sequence[Any], beside: Sequence[Any], kwargs: Any, *out: Any) -> Answer:
                answer = rule(args, beside, kwargs, *out)
                watch.declared(row, args, kwargs, answer[0])
                return answer

            return checked

        self.rrule, self.frule = with_result(rrule), with_result(frule)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._row, name)


def _is_machinery(f: Any) -> bool:
    """Whether `f` is of the runtime itself, which derived code calls that is differentiated once more."""
    module = getattr(f, "__module__", None)
    return type(module) is str and module.startswith("adbc.runtime.")


def _is_ours(cls: type) -> bool:
    """Whether a class is one of adbc's own."""
    module: Any = cls.__module__  # some have a property of this name, for their instances
    return type(module) is str and module.partition(".")[0] == "adbc"


def _is_of_module(x: Any) -> bool:
    """Whether `x` holds the globals of a module, in which names are looked up: what is reached from there is
    not what a call is given."""
    module = sys.modules.get(str(x.get("__name__"))) if type(x) is dict else None
    return module is not None and vars(module) is x


def _is_told_its_name(cls: type) -> bool:
    """Whether instances of `cls`, one of a library, are told their name by the class that is made with them,
    as a ``cached_property`` is: that stays, like the class."""
    return hasattr(cls, "__set_name__") and is_library_class(cls)


class _Call:
    """One call of a rule: `xs` are the arguments, `fs` their shadows or tangents; with `first` 1 the
    function itself stands before them."""

    __slots__ = (
        "before",
        "first",
        "fs",
        "glances",
        "has_run",
        "is_first",
        "is_forward",
        "name",
        "place",
        "watch",
        "xs",
    )

    def __init__(
        self,
        watch: Watch,
        name: str,
        xs: Sequence[Any],
        fs: Sequence[Any],
        first: int,
        is_forward: bool = False,
        context: Any = None,
    ) -> None:
        self.watch, self.name, self.first = watch, name, first
        self.xs, self.fs = tuple(xs), tuple(fs)
        self.is_forward = is_forward
        self.has_run = False
        self.place = spot()
        self.before: list[tuple[Any, Any]] = []
        self.glances: list[tuple[Any, Any]] = []
        self.is_first = False
        """Whether it is the first of a derivative: what it is given is the user's."""
        if watch.debug and not is_forward:
            mine = bool(first) and _is_ours(type(self.xs[0]))
            roots = [x for x in self.xs[int(mine) :] if not _is_of_module(x)]
            self.glances = [(x, seen) for x in roots if (seen := glance(x)) is not None]
            if context is not None:
                reached = watch.reached.get(context)
                if reached is None:
                    self.is_first, reached = True, {}
                    watch.reached[context] = reached
                self.before = list(contents(roots, seen=reached))
        if watch.trace_nan and is_forward:
            self._trace(self.fs, "is given the tangent", "of argument")

    def checked(self, answer: Answer) -> Answer:
        """`answer`, if it is what a rule of the call's mode may give."""
        return self.forward(answer) if self.is_forward else self.reverse(answer)

    # -- forward mode

    def forward(self, answer: Answer, may_alias: bool = True) -> Answer:
        """`answer`, if it is what a forward rule may give."""
        if self.watch.debug:
            if type(answer) is not tuple or len(answer) != 2:
                self._broken(f"it gives {answer!r:.60}, not a pair of result and tangent")
            out, dout = answer
            if type(out) is not Raised and out is not EXHAUSTED:
                self._fits("result", out, dout, is_tangent=True)
                self._aliases(out, dout, may_alias)
            for i, (x, d) in enumerate(zip(self.xs, self.fs, strict=True)):
                self._fits(self._argument(i), x, d, is_tangent=True)
        if self.watch.trace_nan:
            if not is_finite(answer[1]):
                self._not_finite(f"gives a tangent that is {_show(answer[1])}, from {self._values()}")
            self._trace(self.fs, "leaves the tangent", "of argument")
        return answer

    # -- reverse mode

    def reverse(self, answer: Answer, may_alias: bool = True) -> Answer:
        """`answer` with a pullback that is watched, if it is what a reverse rule may give."""
        if self.watch.debug:
            if type(answer) is not tuple or len(answer) != 3 or not callable(answer[2]):
                self._broken(f"it gives {answer!r:.60}, not (result, shadow, pullback)")
            if type(answer[0]) is not Raised and answer[0] is not EXHAUSTED:
                self._fits("result", answer[0], answer[1])
                self._aliases(answer[0], answer[1], may_alias)
            for i, (x, f) in enumerate(zip(self.xs, self.fs, strict=True)):
                self._fits(self._argument(i), x, f)
        out, fout, pullback = answer

        def watched_pullback(bout: Any) -> Any:
            return self.pullback(pullback, bout, fout)

        return out, fout, watched_pullback

    def pullback(self, pullback: Callable[[Any], Any], bout: Any, fout: Any) -> Any:
        """Run `pullback` on cotangent `bout`, and look at what it leaves."""
        if self.has_run and self.watch.debug:
            self._broken("its pullback is run a second time")
        self.has_run = True
        trace = self.watch.trace_nan
        if trace:
            if not is_finite((bout, fout)):
                self._not_finite(f"is given a cotangent that is {_show(bout if fout is NO_FDATA else fout)}")
            self._trace(self.fs, "is given the cotangent", "of argument")
        returned = pullback(bout)
        if self.watch.debug:
            self._check_returned(returned)
        if trace:
            self._trace(tuple(returned), f"gives, for cotangent {_show(bout)}, the cotangent", "to argument")
            self._trace(self.fs, f"adds, for cotangent {_show(bout)}, to that", "of argument")
        return returned

    def _check_returned(self, returned: Any) -> None:
        if len(returned) != len(self.xs):
            self._broken(f"its pullback gives {len(returned)} rdata for {len(self.xs)} arguments")
        for i, (x, f, r) in enumerate(zip(self.xs, self.fs, returned, strict=True)):
            problem = rdata_misfit(x, r)
            if problem is not None:
                self._broken(f"its pullback gives {problem} ({self._argument(i)})")
            self._fits(self._argument(i), x, f)
        for x, old in self.before:
            if differs(x, old) and (self.is_first or may_move_numbers(x, old)):
                self._not_restored(x)
        for x, old in self.glances:
            if seems_moved(x, old):
                self._not_restored(x)

    def _not_restored(self, x: Any) -> None:
        """Complain of `x`, unless it is nobody's.  Things without numbers that the function has made itself
        may stay as inactive code has left them."""
        if not _is_ours(type(x)) and not _is_told_its_name(type(x)):
            self._broken(f"its pullback does not restore a {type(x).__name__} that the call changed")

    # -- what may be wrong

    def _fits(self, what: str, x: Any, f: Any, is_tangent: bool = False) -> None:
        problem = shadow_misfit(x, f, is_tangent=is_tangent)
        if problem is not None:
            self._broken(f"{what}: {problem}")

    def _aliases(self, out: Any, fout: Any, may_alias: bool) -> None:
        """One address, one shadow: where the result is an argument, or a view of one, so is its shadow."""
        kind = kind_of(type(out))
        if not kind.address or kind.inactive:
            return
        overlap = getattr(kind, "overlap", None)
        for i, (x, f) in enumerate(zip(self.xs, self.fs, strict=True)):
            if f is None or f is NO_TANGENT or f is NO_FDATA or type(x) is not type(out):
                continue
            is_same = out is x
            is_view = overlap is not None and overlap(x, out) is not None
            if (is_same or is_view) and not may_alias:
                self._broken(f"its derivative is declared zero, but its result is {self._argument(i)}")
            if fout is None or fout is NO_TANGENT:  # seen as a constant
                continue
            if is_same and fout is not f and (overlap is None or overlap(f, fout) != 0):
                self._broken(f"its result is {self._argument(i)}, but has a shadow of its own")
            if overlap is not None and type(f) is type(fout) and overlap(f, fout) != overlap(x, out):
                self._broken(
                    f"its result and {self._argument(i)} do not share memory in the same way as their shadows"
                )

    def _argument(self, i: int) -> str:
        return "the function" if i < self.first else f"argument {i - self.first}"

    def _values(self) -> str:
        return ", ".join(f"{x!r:.30}" for x in self.xs[self.first :])

    def _broken(self, problem: str) -> None:
        raise DebugError(
            f"the rule of {self.name}, called in {self.place}, does not keep its contract: {problem}"
        )

    def _trace(self, parts: tuple[Any, ...], verb: str, relation: str) -> None:
        for i, part in enumerate(parts):
            if not is_finite(part):
                self._not_finite(f"{verb} {_show(part)} {relation} {i - self.first} ({self.xs[i]!r:.40})")

    def _not_finite(self, what: str) -> None:
        raise NotFiniteError(_not_finite(f"{self.name} {what}", self.place))


def _not_finite(what: str, place: object) -> str:
    return (
        f"{what}: the first number in this derivative that is not finite. Called in {place}. Keep the"
        " argument away from the point where the derivative is not finite, or give the function a rule that"
        " says what it is to be there"
    )


def _show(t: Any) -> str:
    return f"{t!r:.40}".replace("\n", " ")
