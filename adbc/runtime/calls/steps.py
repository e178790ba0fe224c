"""The steps that a call is taken apart into: what CPython would do next.

`resolve.step` gives one of these, and the driver of `Calls` that `DRIVERS` names carries it out.  They say
what is to be done, and have no part in deciding it.

In a call each argument has an *origin*: the place in the original call that its cotangent goes back to.
Place 0 is the function itself; a bound method's cotangent is that of its ``__self__``.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Sequence
from typing import Any

from adbc.records import record
from adbc.rules.lookup import PerMode, RuleTable
from adbc.rules.table import Overlay, Rule
from adbc.runtime.report.standing import called_by_user

__all__ = [
    "DRIVERS",
    "Advance",
    "AllocateException",
    "Alternatives",
    "Apart",
    "AsItIs",
    "AskWeakly",
    "Beside",
    "Call",
    "Delegate",
    "DelegateActive",
    "Differentiate",
    "Enter",
    "Foreign",
    "Found",
    "Hold",
    "Locate",
    "Make",
    "MakeRecord",
    "MakeType",
    "OfCall",
    "OfClass",
    "OfException",
    "OfFunction",
    "OfPartial",
    "OfSelf",
    "OnClass",
    "Origin",
    "Protocols",
    "Refer",
    "Remember",
    "Resolver",
    "Resume",
    "RunBody",
    "RunWatched",
    "Settle",
    "Spread",
    "Step",
    "Suspend",
    "UseRow",
    "UseRowOfMode",
    "Value",
    "pass_to_row",
]


Origin = Any
"""Where a cotangent goes: a place (an int, -1 for an object being made), a part of what stands at one
(`OfSelf`, `OfPartial`), or nowhere (None)."""


@record(slots=True)
class Call:
    """``function(*args)``, the last ``len(keywords)`` arguments by keyword.

    `shadows` stand beside `args` (in forward mode they are tangents), `origins` say where their
    cotangents go (None: nowhere).
    """

    function: Any
    shadow: Any
    args: tuple[Any, ...]
    shadows: tuple[Any, ...]
    origins: tuple[Origin, ...]
    keywords: tuple[str, ...] = ()
    origin: Origin = 0
    is_plain: bool | None = None
    """Whether the call is made as it is (`plain`), once that is known."""
    inside: list[Any] = dataclasses.field(default_factory=list)
    """If it is, objects made in C that are reached from the arguments, which only the garbage collector looks
    into."""

    @property
    def count(self) -> int:
        """The number of positional arguments."""
        return len(self.args) - len(self.keywords)

    def perform(self) -> Any:
        """Make the call, without derivatives."""
        if not self.keywords:  # there are functions that do not take even no keywords
            return self.function(*self.args)
        return self.function(*self.args[: self.count], **self.by_name())

    def by_name(self) -> dict[str, Any]:
        """The arguments by keyword."""
        return dict(zip(self.keywords, self.args[self.count :], strict=True))

    def perform_for_user(self) -> Any:
        """Make the call, without derivatives, so that what looks at its callers sees the user's function."""
        n = self.count
        keywords = dict(zip(self.keywords, self.args[n:], strict=True))
        # No frame of ours may stand between, not that of `perform` either.
        return called_by_user(functools.partial(self.function, *self.args[:n], **keywords))

    def prepend(self, function: Any, shadow: Any, first: Any, first_shadow: Any, origin: Origin) -> Call:
        """The call of `function` with `first` before the arguments."""
        return Call(
            function,
            shadow,
            (first, *self.args),
            (first_shadow, *self.shadows),
            (origin, *self.origins),
            self.keywords,
            None,
        )

    def of(self, function: Any, shadow: Any = None, origin: Origin = None) -> Call:
        """The call of `function` on all arguments of this call."""
        return Call(function, shadow, self.args, self.shadows, self.origins, self.keywords, origin)

    def rearranged(self, function: Any, found: Any, shadow: Any, order: Sequence[int]) -> Call:
        """The call of `function` on arguments of this call in another order, in which -1 stands for `found`,
        an object with this shadow."""
        return Call(
            function,
            None,
            tuple([found if i < 0 else self.args[i] for i in order]),
            tuple([shadow if i < 0 else self.shadows[i] for i in order]),
            tuple([None if i < 0 else self.origins[i] for i in order]),
            (),
            None,
        )

    def on(self, function: Any, *indices: int) -> Call:
        """The call of an inactive `function` on some of the arguments."""
        return Call(
            function,
            None,
            tuple(self.args[i] for i in indices),
            tuple(self.shadows[i] for i in indices),
            tuple(self.origins[i] for i in indices),
            (),
            None,
        )


@record(frozen=True, slots=True)
class OfSelf:
    """The origin of the ``__self__`` of a bound method that stands at `place`."""

    place: Origin
    has_function: bool
    """Whether the method has a ``__func__``, as one that is written in Python."""


@record(frozen=True, slots=True)
class OfPartial:
    """The origin of what a partial application holds that stands at `place`."""

    place: Origin
    part: str
    """The name of an attribute of it: "func", "args" or "keywords"."""
    key: int | str | None = None
    """Which of these it is."""
    count: int = 0
    """How many arguments there are."""


@record(slots=True)
class OfCall:
    """A step that is to be done with a call."""

    call: Call


@record(slots=True)
class UseRow:
    """Differentiate `call` by the rule `row`."""

    row: Rule
    call: Call


class UseTextRow(UseRow):
    """Differentiate `call` by `row`, and look at what becomes of text that was made from numbers."""

    __slots__ = ()


@record(slots=True)
class UseRowOfMode:
    """Differentiate `call` by what `row` says for the mode that is running."""

    row: PerMode
    call: Call


class Enter(OfCall):
    """Enter the Python function `call.function`."""

    __slots__ = ()


class Delegate(OfCall):
    """Make `call` in place of the call that was to be made."""

    __slots__ = ()


@record(slots=True)
class Remember(OfCall):
    """Call a function in Python that has a cache, or the method of this `name` of the cache: with a cache
    that lasts as long as the call of the derivative does."""

    name: str = ""


class DelegateActive(OfCall):
    """Call `body` in place of the function that was to be called if that reaches what has a derivative."""

    __slots__ = ("body",)

    def __init__(self, call: Call, body: Any) -> None:
        super().__init__(call)
        self.body = body


@record(slots=True)
class Alternatives:
    """Make the first of these calls that does not return NotImplemented; else raise `failure`."""

    calls: Sequence[Call]
    failure: Callable[[], Any]


@record(slots=True)
class Make(OfCall):
    """Make an instance of the class `call.function`, as ``type.__call__`` does.

    `allocate` is what is called for its ``__new__``, None if that is ``object.__new__``.
    """

    allocate: Any


@record(slots=True)
class MakeRecord(OfCall):
    """Make a frozen dataclass or named tuple, whose `constructor` stores its arguments as `names`."""

    names: tuple[str, ...]
    constructor: Any

    fields: tuple[str, ...]
    """The names of all fields: some may be no parameters, and some parameters no fields."""


class Advance(OfCall):
    """Make `call`, an iterator's ``__next__``; `StopIteration` means that there is no more."""

    __slots__ = ()


@record(slots=True)
class Spread(OfCall):
    """Call `function` with the elements of a tuple or list and of a dict: the arguments of `_apply_`."""

    function: Any
    arguments: tuple[Any, ...] | list[Any]
    keywords: dict[str, Any]


class RunBody(OfCall):
    """Run the function that is the body of a class statement: ``run_body(body, namespace)``."""

    __slots__ = ()


class MakeType(OfCall):
    """Make a class of its namespace (`class_statements.made`)."""

    __slots__ = ()


class AsItIs(OfCall):
    """Run Python code of the standard library that makes classes or functions, as it is."""

    __slots__ = ()


class Hold(OfCall):
    """Make a C object that keeps the functions it is given, and hands them out again: a property."""

    __slots__ = ()


@record(slots=True)
class OfClass(OfCall):
    """The result is `value`, the attribute `name` of the class `owner`."""

    owner: type
    name: str
    value: Any


class OnClass(OfCall):
    """Set or (if there is no value among the arguments) delete an attribute of a class or module."""

    __slots__ = ()


@record(slots=True)
class Beside(OfCall):
    """Read, set or delete by `row` an attribute that a value has beside what it is: its derivative is found
    by the address of the dictionary of the value."""

    row: Rule


@record(slots=True)
class Locate(OfCall):
    """Make `call`, whose argument number `place` was found in a class: its shadow is that of its address."""

    place: int


@record(slots=True)
class OfFunction(OfCall):
    """Read an attribute of a function: `call` reads it as an item of its ``__dict__``."""


@record(slots=True)
class RunWatched(OfCall):
    """Make `call` of a C function that runs Python code of the user's, which may not change active state."""

    what: str
    makes_text: bool = False


@record(slots=True)
class Refer(OfCall):
    """Make a weak reference to the object at `place` by `call`: whoever asks it finds the shadow of the
    object by its address."""

    place: int


@record(slots=True)
class Settle:
    """Carry out `step` if the `keys`, which answer by Python code, can be asked for once more (`keys`) where
    `container` is searched for them."""

    step: Any
    keys: list[Any]
    container: Any


class AskWeakly(OfCall):
    """Ask the weak reference that `call` calls for what it refers to, or count or list, by `call`, the weak
    references to its argument."""

    __slots__ = ()


class AllocateException(OfCall):
    """Make an exception by `call`, of a ``__new__`` in C."""

    __slots__ = ()


class OfException(OfCall):
    """Read an attribute of an exception, whose shadow is found by its address."""

    __slots__ = ()


class Suspend(OfCall):
    """Make a generator of the generator function `call.function`."""

    __slots__ = ()


@record(slots=True)
class Resume(OfCall):
    """Let the generator that is the first argument go on (`resuming.resumed`).  The cotangent of what is
    `sent` goes to `origin`."""

    sent: tuple[bool, Any, Any]
    origin: Origin
    is_pair: bool = False


class Differentiate(OfCall):
    """Call one of adbc's own functions that differentiate, or what one has made."""

    __slots__ = ()


class Apart(OfCall):
    """Make `call` of a function of the machinery, which is looked at from outside: what it gives is found by
    its address, or is a constant."""

    __slots__ = ()


class PutInStep(OfCall):
    """Make `call` of a function of the machinery that changes memory, and bring shadows in step."""

    __slots__ = ()


class Foreign(OfCall):
    """Call a C function without a rule, if nothing with a derivative reaches it."""

    __slots__ = ()


@record(slots=True)
class Found(OfCall):
    """The result is `value`, found without an argument's help: its shadow is that of the object."""

    value: Any


@record(slots=True)
class Value(OfCall):
    """The result is `value` with this shadow; its cotangent goes to `origin`, of the same kind as the
    result, or (a bound method's) to the first argument's."""

    value: Any
    shadow: Any
    origin: Origin = None


Step = OfCall | UseRow | UseRowOfMode | Alternatives | Settle
Resolver = Callable[[Call, RuleTable], Step | None]
"""Says what a call of one function leads to; None if it is to be treated like that of any other."""
Protocols = dict[Any, Resolver]
"""Resolvers by function: intrinsics, operators, and functions of C that run Python code."""


def pass_to_row(row: Rule, call: Call) -> Step:
    """The step that makes `call`, which `row` is the rule of."""
    if isinstance(row, Overlay):
        return DelegateActive(call, row.body) if row.only_active else Delegate(call.of(row.body))
    if row.is_apart:
        return PutInStep(call) if row.puts_in_step else Apart(call)
    if isinstance(row, PerMode):
        return UseRowOfMode(row, call)
    return UseTextRow(row, call) if row.meets_text else UseRow(row, call)


DRIVERS: dict[type, str] = {
    UseRow: "use_row",
    UseTextRow: "use_text_row",
    UseRowOfMode: "use_row_of_mode",
    Enter: "enter",
    Alternatives: "alternatives",
    Beside: "beside",
    Make: "make",
    MakeRecord: "make_record",
    Advance: "advance",
    Spread: "spread",
    Suspend: "suspend",
    Resume: "resume",
    Value: "value",
    Found: "found",
    Foreign: "foreign",
    DelegateActive: "delegate_active",
    Differentiate: "differentiate",
    Apart: "apart",
    PutInStep: "put_in_step",
    RunWatched: "run_watched",
    Settle: "settle",
    Refer: "refer",
    AskWeakly: "ask_weakly",
    Locate: "locate",
    RunBody: "run_body",
    MakeType: "make_type",
    AsItIs: "as_it_is",
    OfFunction: "of_function",
    Hold: "hold",
    Remember: "remember",
    OfClass: "of_class",
    OnClass: "on_class",
    AllocateException: "allocate_exception",
    OfException: "of_exception",
}
"""The method of `Calls` that carries a step out, in both modes.  A `Delegate` is only a call once more."""
