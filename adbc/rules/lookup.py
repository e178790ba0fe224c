"""The table of rules: which row says how a call is differentiated.

The table is a value.  Rows of users stand in front of those that plug-ins bring, and these in front of those
that are built in; among those of one origin later declarations stand in front of earlier ones.  A row may be
for one mode only; the other mode then takes the next row that accepts the classes, or derives the function.
"""

from __future__ import annotations

import importlib
import sys
import threading
import types
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from adbc.chainrules.plugins import plugins
from adbc.chainrules.registry import BOTH, Origin, Rank, declared_in
from adbc.collector import loading
from adbc.errors import UnsupportedError
from adbc.functions import is_function
from adbc.rules.classes import Question, noting, still
from adbc.rules.contexts import is_for_speed
from adbc.rules.kinds import RowKind
from adbc.rules.table import NO_KWARGS, Args, Kwargs, Overlay, Primitive, Pullback, Rule

__all__ = ["Layer", "OptOut", "PerMode", "RuleTable", "derived_body", "refusal"]


def derived_body(function: Any) -> types.FunctionType | None:
    """A function with the code and the state of `function` that has no rules; None if it is not in Python."""
    if not is_function(function):
        return None
    defaults, cells = function.__defaults__, function.__closure__
    made = types.FunctionType(function.__code__, function.__globals__, function.__name__, defaults, cells)
    made.__kwdefaults__ = function.__kwdefaults__
    made.__qualname__, made.__module__ = function.__qualname__, function.__module__
    return made


def refusal(function: Any, mode: str) -> Callable[..., Any]:
    """The rule in place of one that was not declared: it raises `UnsupportedError`."""
    name = str(getattr(function, "__qualname__", None) or repr(function))

    def refuse(args: Args, derivatives: Args, kwargs: Kwargs = NO_KWARGS) -> Any:
        raise UnsupportedError(
            f"{name} has no {mode} mode",
            "the rule declared for it has none",
            f"declare one: adbc.primitive({name}, frule=..., rrule=...)",
        )

    return refuse


class OptOut(Rule):
    """No rule: for the classes that it accepts the function is derived, or refused if it is not in Python."""

    kind = RowKind.OPT_OUT


class PerMode(Rule):
    """A function that is differentiated by different rows in the two modes.

    forward, reverse: the rows; None where the function is derived.
    """

    kind = RowKind.PER_MODE
    body = None
    """What is to be derived is not known before the mode is."""

    def __init__(self, function: Callable[..., Any], forward: Rule | None, reverse: Rule | None) -> None:
        super().__init__(function)
        body = derived_body(function) if forward is None or reverse is None else None
        self.forward = self._row(forward, body, "forward")
        self.reverse = self._row(reverse, body, "reverse")
        self.meets_text = self.forward.meets_text or self.reverse.meets_text
        self.mutates = self.forward.mutates or self.reverse.mutates

    def _row(self, row: Rule | None, body: Callable[..., Any] | None, mode: str) -> Rule:
        if row is not None:
            return row
        if body is not None:
            return Overlay(self.function, body)
        refuse = refusal(self.function, mode)
        return Primitive(self.function, frule=refuse, rrule=refuse)

    def of(self, mode: str) -> Rule:
        """The row for a mode of running: "forward", or one of those of reverse mode."""
        return self.forward if mode == "forward" else self.reverse

    def bind(self, args: Args, kwargs: Kwargs) -> tuple[tuple[Any, ...], dict[str, Any]]:
        return self.forward.bind(args, kwargs)  # of syntax and operators only, which take no keywords

    def frule(self, args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
        if self.forward.kind is RowKind.OVERLAY:
            return refusal(self.function, "forward")(args, dargs, kwargs)  # type: ignore[no-any-return]
        return self.forward.frule(args, dargs, kwargs)

    def rrule(self, args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any, Pullback]:
        if self.reverse.kind is RowKind.OVERLAY:
            return refusal(self.function, "reverse")(args, fargs, kwargs)  # type: ignore[no-any-return]
        return self.reverse.rrule(args, fargs, kwargs)


def _chosen(rows: Sequence[Rule], classes: tuple[type, ...]) -> Rule | None:
    """The row among `rows` of one function for arguments of these classes."""
    by_mode: dict[str, Rule] = {}
    for row in rows:
        if not row.accepts(classes):
            continue
        if row.modes is BOTH and not by_mode:
            return None if row.kind is RowKind.OPT_OUT else row
        for mode in row.modes:
            by_mode.setdefault(mode, row)
        if len(by_mode) == len(BOTH):
            break
    found = {mode: row for mode, row in by_mode.items() if row.kind is not RowKind.OPT_OUT}
    if not found:
        return None
    return PerMode(rows[0].function, found.get("forward"), found.get("reverse"))


def _chosen_leading(rows: Sequence[Rule], classes: tuple[type, ...]) -> Rule | None:
    """The row among `rows` of one function for arguments of which the first are of these `classes`; None if
    there is none, or one for one mode, or the others have a say."""
    for row in rows:
        accepts = row.accepts_leading(classes)
        if accepts is None:
            return None
        if accepts:
            return row if row.modes is BOTH and row.kind is not RowKind.OPT_OUT else None
    return None


def _as_it_is_used(row: Rule) -> Rule:
    """The row `row`, which says whether it is there for speed."""
    row.for_speed = row.kind is not RowKind.OVERLAY and is_for_speed(row.function)
    return row


_HERE = (sys.stdlib_module_names - {"__main__"}) | {"adbc", "numpy", "scipy", "numba"}


def _may_stand_here(function: Any) -> bool:
    """Whether code of adbc's own may call `function`: it is not one of the program's, or of a package that no
    rule here is about."""
    module = getattr(function, "__module__", None)
    return type(module) is not str or module.partition(".")[0] in _HERE


class RuleTable:
    """The table of rules: rows by function.  `sources` are pairs of a package and a module with its `ROWS`:
    the module is imported when the package has been, and a rule is first looked up.  A module may say for a
    function what makes its rows, or its last rows, when it is looked up (`LAST_ROWS`).

    takes_plugins: whether rules that packages ship are looked for and loaded (`chainrules.plugins`)."""

    def __init__(self, sources: Sequence[tuple[str, str]] = (), *, takes_plugins: bool = False) -> None:
        self._rows: dict[Any, list[Rule]] = {}
        self._classes: set[type] = set()
        self._waiting = tuple(sources)  # replaced, not changed: others may be looking through it
        self._takes_plugins = takes_plugins
        self._packages: tuple[str, ...] = ()
        """The packages whose rules are waited for."""
        self.found: dict[Any, Rule | None] = {}
        """What was chosen where nothing rests on what a program may change."""
        self.resting: dict[Any, tuple[Rule | None, Sequence[Question]]] = {}
        """What was chosen where it rests on answers about classes that may get other methods, with these."""
        self.decided: dict[Any, Any] = {}
        """What dispatch found out for functions and classes of arguments; emptied when rows are added."""
        self.decided_without_text: dict[Any, Any] = {}
        """What it found out for where no text has been made from numbers with a derivative."""
        self.bodies: dict[Any, Any] = {}
        """The Python functions that stand in for functions on arguments of some classes, as dispatch found
        them out; None where classes do not tell.  Emptied when rows are added."""
        self.plain_functions: dict[int, Any] = {}
        """By address, the functions without a rule that are called as they are, and what is known of each."""
        self.caches: tuple[dict[Any, Any], ...] = (
            self.found, self.resting, self.decided, self.decided_without_text, self.bodies,
            self.plain_functions,
        )  # fmt: skip
        """All that is emptied when rows are added."""
        self._unfinished: dict[Any, Callable[[Any], Sequence[Rule]]] = {}
        """What makes the last rows of a function, by function: for a table of some thousand functions these
        are not made before one of them is looked up."""
        self._loading: set[tuple[str, str]] = set()
        self._lock = threading.RLock()
        self.listeners: list[Callable[[Any], object]] = []
        """Functions that are told of each function that a rule is added for."""
        self.epoch = 0
        """A number that grows when rows are put in front of others: rules derived before are stale."""
        self.declared = 0
        """How many rows the program itself has declared, those that it has taken back among them."""
        self.declared_here = 0
        """How many of these are of functions that code of adbc's own may call (`_may_stand_here`)."""
        self.engines: dict[Any, Any] = {}
        """The engines that use the table in blocks, by configuration: they go with it."""
        self._layers: weakref.WeakSet[Layer] = weakref.WeakSet()
        self._wait()

    # -- changes -----------------------------------------------------------------------------------------

    def add(self, rows: Iterable[Rule], *, first: bool = False) -> None:
        """Add rows; with `first`, in front of those that are there of the same origin, that of what is
        declared now, and derived rules become stale."""
        origin = declared_in()
        with self._lock:
            for row in rows:
                if first:
                    row.origin = origin
                    self._count(row)
                self._insert(row, first)
            self._changed(is_stale=first)

    def _count(self, row: Rule) -> None:
        if row.origin.rank is Rank.USER:
            self.declared += 1
            self.declared_here += _may_stand_here(row.function)

    def _insert(self, row: Rule, first: bool) -> None:
        present = self._rows.setdefault(row.function, [])
        self._classes.add(type(row.function))
        self._tell(row.function)
        at = len(present)
        if first:
            at = next((i for i, r in enumerate(present) if r.origin.rank >= row.origin.rank), at)
        present.insert(at, row)

    def _tell(self, function: Any) -> None:
        for listener in self.listeners:
            listener(function)

    def put(self, row: Rule) -> None:
        """Add a row whose origin is known (`Rule.origin`), in front of those of the same origin."""
        with self._lock:
            self._count(row)
            self._insert(row, True)
            self._changed(is_stale=True)

    def remove(self, row: Rule) -> bool:
        """Take a row away; whether it was there.  What was derived with it is stale."""
        with self._lock:
            present = self._rows.get(row.function, [])
            if not any(row is r for r in present):
                return False
            self._rows[row.function] = [r for r in present if r is not row]
            self._changed(is_stale=True)
        return True

    def exchange(self, row: Rule, other: Rule) -> None:
        """Put the row `other` in the place of `row`.  What was derived before is stale."""
        with self._lock:
            self._rows[row.function] = [other if r is row else r for r in self._rows[row.function]]
            self._changed(is_stale=True)

    def _changed(self, *, is_stale: bool) -> None:
        for cache in self.caches:
            cache.clear()
        if is_stale:
            self.epoch += 1
        for layer in self._layers:
            layer._changed_below(is_stale)

    # -- loading -----------------------------------------------------------------------------------------

    def _wait(self) -> None:
        plug_ins = plugins.waiting() if self._takes_plugins else ()
        self._packages = (*(package for package, _ in self._waiting), *plug_ins)

    def load(self) -> None:
        """Import the sources whose package is loaded."""
        if self._takes_plugins:
            plugins.load()  # not under the lock: they declare rules, which come here from elsewhere too
        # A source leaves the list when its rows are there: another thread waits for them.
        with self._lock, loading():
            for source in self._waiting:
                package, module = source
                if package in sys.modules and source not in self._loading:
                    self._loading.add(source)
                    try:
                        home = importlib.import_module(module)
                        self.add(map(_as_it_is_used, home.ROWS))
                        last = getattr(home, "LAST_ROWS", {})
                        self._unfinished.update(last)
                        for function in last.keys() - self._rows.keys():
                            self._tell(function)
                        self._waiting = tuple(s for s in self._waiting if s != source)
                    finally:
                        self._loading.discard(source)
            self._wait()

    def pending(self) -> tuple[tuple[str, str], ...]:
        """The sources whose packages have not been imported."""
        self.load()
        return self._waiting

    def origins(self) -> tuple[Origin, ...]:
        """The plug-ins whose rules are in the table."""
        self.load()
        return tuple(plugins.loaded) if self._takes_plugins else ()

    # -- finding -----------------------------------------------------------------------------------------

    def rows(self, function: Any) -> list[Rule]:
        """All rows of `function`."""
        if not sys.modules.keys().isdisjoint(self._packages):
            self.load()
        try:
            if function in self._unfinished:
                self._finish(function)
            found = self._rows.get(function, [])
        except TypeError:  # unhashable callables have no rows
            return []
        return found if not found or _is_of(found[0], function) else []

    def has_of(self, cls: type) -> bool:
        """Whether there have been rows of an instance of `cls`; if not, no hash of one is needed."""
        return cls in self._classes

    def _finish(self, function: Any) -> None:
        """Make the last rows of `function`."""
        with self._lock:
            make = self._unfinished.get(function)
            if make is not None:
                # All at once: another thread may be looking at the rows that there are.
                made = map(_as_it_is_used, make(function))
                self._rows[function] = [*self._rows.get(function, ()), *made]
                del self._unfinished[function]

    def find(self, function: Any, classes: tuple[type, ...]) -> Rule | None:
        """The rule of `function` for arguments of these classes, or None."""
        try:
            found = self.found[function, classes]
            return found if found is None or _is_of(found, function) else None
        except KeyError:
            return self.choose(function, classes)[0]
        except TypeError:
            return None

    def choose(self, function: Any, classes: tuple[type, ...]) -> tuple[Rule | None, Sequence[Question]]:
        """The rule as `find` gives it, and what it rests on: answers about classes that may change."""
        key = function, classes
        if key in self.found:
            row = self.found[key]
            return (row if row is None or _is_of(row, function) else None), ()
        known = self.resting.get(key)
        if known is not None and still(known[1]):
            return known if known[0] is None or _is_of(known[0], function) else (None, ())
        if not self.rows(function):  # what has to be loaded is loaded without the lock
            return None, ()  # not kept: functions come and go
        with self._lock:  # a row that is added meanwhile must not be missed for good
            with noting() as asked:
                found = _chosen(self.rows(function), classes)
            if not asked:
                self.found[key] = found
                return found, ()
            known = self.resting[key] = found, tuple(dict.fromkeys(asked))
        return known

    def choose_leading(
        self, function: Any, classes: tuple[type, ...]
    ) -> tuple[Rule | None, Sequence[Question]]:
        """The rule of `function` for arguments of which the first are of these `classes`, whatever the others
        are, and what it rests on; None if these have a say."""
        key = function, classes, "leading"
        known = self.resting.get(key)
        if known is None or not still(known[1]):
            rows = self.rows(function)
            with self._lock, noting() as asked:
                found = _chosen_leading(rows, classes)
            known = self.resting[key] = found, tuple(dict.fromkeys(asked))
        return known

    def functions(self) -> Iterable[Any]:
        """The functions that have rows, as far as they have been loaded."""
        return list(dict.fromkeys((*self._rows, *self._unfinished)))

    def by_function(self) -> Iterable[tuple[Any, list[Rule]]]:
        """Pairs of a function and its rows, as far as they have been loaded."""
        for function in list(self._unfinished):
            self._finish(function)
        return list(self._rows.items())

    def __iter__(self) -> Iterator[Rule]:
        self.load()
        for _, rows in self.by_function():
            yield from rows


class Layer(RuleTable):
    """A table in front of another: rows of its own, and those of `base` that `keeps` accepts.

    base: by default the table of the public functions.  name: says to a cache on disk which rows are kept.

    >>> import adbc
    >>> def double(x):
    ...     return x + x
    >>> mine = adbc.Layer()
    >>> _ = adbc.scalar_rule(double, table=mine)([lambda out, x: 100.0])
    >>> with adbc.use(table=mine):
    ...     adbc.grad(double)(1.0)
    100.0
    >>> adbc.grad(double)(1.0)
    2.0
    """

    def __init__(
        self,
        base: RuleTable | None = None,
        keeps: Callable[[Rule], bool] | None = None,
        name: str = "",
    ) -> None:
        super().__init__()
        self._name = name
        self.base = _default() if base is None else base
        self._keeps = keeps
        self._joined: dict[Any, list[Rule]] = {}
        self.base._layers.add(self)
        self.listeners += self.base.listeners
        self._below = self._below_here = 0
        self._count_below()

    def _changed_below(self, is_stale: bool) -> None:
        self._count_below()
        self._changed(is_stale=is_stale)

    def _count_below(self) -> None:
        self.declared += self.base.declared - self._below
        self.declared_here += self.base.declared_here - self._below_here
        self._below, self._below_here = self.base.declared, self.base.declared_here

    def _changed(self, *, is_stale: bool) -> None:
        self._joined.clear()
        super()._changed(is_stale=is_stale)

    def load(self) -> None:
        self.base.load()

    def pending(self) -> tuple[tuple[str, str], ...]:
        return self.base.pending()

    def origins(self) -> tuple[Origin, ...]:
        return (*self.base.origins(), Origin(Rank.BUILT_IN, self._name))

    def rows(self, function: Any) -> list[Rule]:
        below = self.base.rows(function)  # may load some
        try:
            own = self._rows.get(function)
            if own is None and (self._keeps is None or not below):
                return below
            found = self._joined.get(function)
        except TypeError:
            return []
        if own and not _is_of(own[0], function):
            return below
        if found is None:
            kept = below if self._keeps is None else list(filter(self._keeps, below))
            found = self._joined[function] = [*(own or []), *kept]
        return found

    def has_of(self, cls: type) -> bool:
        return super().has_of(cls) or self.base.has_of(cls)

    def functions(self) -> Iterable[Any]:
        return list(dict.fromkeys((*self.base.functions(), *self._rows)))

    def by_function(self) -> Iterable[tuple[Any, list[Rule]]]:
        return [(function, self.rows(function)) for function in self.functions()]

    def __iter__(self) -> Iterator[Rule]:
        for _, rows in self.by_function():
            yield from rows


def _is_of(row: Rule, function: Any) -> bool:
    """Whether `row`, found for what is equal to `function`, is of that: a proxy is equal to what it stands
    for, and a call of it another."""
    return type(row.function) is type(function)


def _default() -> RuleTable:
    from adbc.rules import default_table  # it is made of this

    return default_table()
