"""The steps of interpreted code: what is done for each call of a graph.

A step takes values and companions out of their places, does what the call says in the user's name (`lines`),
puts the result and its companion into theirs, and in reverse mode writes down on the tape what is to be done
on the way back.  There is one for whatever the builders write code of its own for, and one for all the rest,
which is decided as it is run.
"""

from __future__ import annotations

import operator
import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from adbc.ir import intrinsics
from adbc.ir.interpret import new_function
from adbc.ir.intrinsics import Raised
from adbc.ir.ops import PURE
from adbc.ir.values import Position
from adbc.rules.classes import says_its_class
from adbc.runtime.calls import imports
from adbc.runtime.calls.classes import SLOW
from adbc.runtime.state.closures import freevar, freevar_shadow
from adbc.runtime.state.made_functions import defaults_pullback
from adbc.tangents.fields import plain_check
from adbc.types.callables import Callables
from adbc.types.displays import keeps_no_list

if TYPE_CHECKING:
    from adbc.runtime.cold.machine import Frame

__all__ = [
    "COPIED",
    "MERGED",
    "TUPLE",
    "AsItIs",
    "Call",
    "Catch",
    "Check",
    "DeleteGlobal",
    "FreeVariable",
    "Global",
    "Globals",
    "Handled",
    "Import",
    "MakeFunction",
    "MakeTuple",
    "NewInstance",
    "Observed",
    "Rename",
    "Rest",
    "Step",
    "StoreGlobal",
]

MERGED, COPIED, TUPLE = object(), object(), object()
"""What stands on a tape in place of a pullback: for phis, for another name, for a tuple that was made."""

_NUMBERS = frozenset({int, float, bool, complex, types.NoneType})
_TEXTS = frozenset({*_NUMBERS, str, bytes})
_ON_NUMBERS: frozenset[Any] = frozenset(
    {
        operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod,
        operator.pow, operator.neg, operator.pos, operator.invert, operator.and_, operator.or_, operator.xor,
        operator.lshift, operator.rshift, operator.iadd, operator.isub, operator.imul, operator.itruediv,
        operator.ifloordiv, operator.imod, operator.ipow, operator.iand, operator.ior, operator.ixor,
    }
)  # fmt: skip
_ON_TEXTS: frozenset[Any] = frozenset(
    {
        operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge, operator.not_,
        operator.contains, intrinsics._not_contains_, intrinsics._bool_, len,
    }
)  # fmt: skip
_CONSTANT_FOR = {**dict.fromkeys(_ON_NUMBERS, _NUMBERS), **dict.fromkeys(_ON_TEXTS, _TEXTS)}
"""By function, the classes of constants for which it is simply called."""

_ITERATED = frozenset({range, str, bytes, list, tuple, dict})
_EXAMPLES: tuple[Any, ...] = (range(0), range(2**70), "", b"", [], (), {}, "\u00e9")  # two kinds of text
_ITERATORS = frozenset([type(iter(x)) for x in _EXAMPLES])
_CONSTANT_FOR |= {intrinsics._iter_: _ITERATED, intrinsics._next_: _ITERATORS}

_QUIET: frozenset[Any] = frozenset(
    {
        operator.is_, operator.is_not, intrinsics._exhausted_, intrinsics._push_exc_info_,
        intrinsics._pop_except_, intrinsics._pass_on_, intrinsics._reraise_, callable, id,
    }
)  # fmt: skip
"""What runs no code of the user's, and either does not raise or raises again what has passed this frame."""


_SURE: frozenset[Any] = PURE | {intrinsics._raised_, intrinsics._is_raised_, intrinsics._exception_}
"""What does not raise, and is not attempted: a `Raised` that it gives is that of a derivative which is being
differentiated, a value like others."""


_TAKING: tuple[Any, ...] = (operator.getitem, intrinsics._project_, intrinsics._unpack_)
"""Functions that take elements out of a container."""


class Step:
    """out: the place of the result.  targets: the places that a pullback gives cotangents for; a negative one
    is nobody's.  is_protected: whether a handler of the graph sees what is raised."""

    __slots__ = ("go", "is_protected", "out", "position", "protected_go", "targets")

    def __init__(self) -> None:
        self.go: Callable[..., Any] | None = None
        """What makes the call in the user's name, once it has been made."""
        self.protected_go: Callable[..., Any] | None = None
        """What attempts the call in the user's name, once it has been made."""
        self.out = -1
        self.position: Position | None = None
        self.is_protected = False
        self.targets: tuple[int, ...] = ()

    def run(self, frame: Frame) -> None:
        """Do it, in `frame`."""
        raise NotImplementedError

    def _line(self, frame: Frame, count: int) -> Callable[..., Any]:
        go = self.go = frame.program.lines.at(self.position, count)
        return go

    def protected_line(self, frame: Frame) -> Callable[..., Any]:
        """What attempts the call in the user's name."""
        go = self.protected_go = frame.program.lines.at(self.position, 6)
        return go

    def call(self, frame: Frame, function: Callable[..., Any], *arguments: Any) -> Any:
        """``function(*arguments)``, in the user's name."""
        return frame.program.lines.at(self.position)(function, arguments, frame, frame.first)


class Observed(Step):
    """A step that remembers of which class its results are.

    number: that of the call in the function, by which guesses are kept; -1 if nothing is guessed there.
    cls: the class of the last result.  seen: that, or None if the next one is to be looked at in any case.
    known: the type that would be guessed of the last result.  is_mixed: whether there were several classes.
    callables: what results that may be called were.  kinds: what was guessed of all of them so far, in turn.
    """

    __slots__ = ("callables", "cls", "is_mixed", "kinds", "known", "number", "seen")

    def __init__(self) -> None:
        super().__init__()
        self.number = -1
        self.cls: type | None = None
        self.seen: type | None = None
        self.known: Any = None
        self.is_mixed = False
        self.kinds: tuple[Any, ...] = ()
        self.callables = Callables()

    def note(self, frame: Frame, value: Any) -> None:
        """Take note of a result of another class than the last, or of one that may be called."""
        if value is intrinsics.EXHAUSTED:
            return  # no value of the iterator's
        cls, last = type(value), self.cls
        self.is_mixed |= last is not None and last is not cls
        self.seen = self.cls = cls
        if self.number >= 0:
            is_new = self.callables.meet(value)
            if self.callables.is_open and cls in _FUNCTIONS:
                self.seen = None  # the next may be another one
            if is_new or cls is not last:
                self.known = frame.program.guessable(value)
                if len(self.kinds) < _MOST_KINDS and self.known not in self.kinds:
                    self.kinds += (self.known,)
                frame.program.news.append(self)


_MOST_KINDS = 4
_FUNCTIONS = (types.FunctionType, types.BuiltinFunctionType)


class AsItIs(Observed):
    """A call that nothing active comes out of."""

    __slots__ = ("function", "is_quiet", "places")

    def __init__(self, function: Any, places: tuple[int, ...]) -> None:
        super().__init__()
        self.function, self.places = function, places
        self.is_quiet = function in _QUIET

    def run(self, frame: Frame) -> None:
        values = frame.values
        xs = [values[i] for i in self.places]
        out = values[self.out] = self.function(*xs) if self.is_quiet else self.call(frame, self.function, *xs)
        frame.beside[self.out] = None
        if type(out) is not self.seen:
            self.note(frame, out)


class Handled(Observed):
    """A call of an operator or intrinsic, which has a handler."""

    __slots__ = ("constants", "function", "handle", "is_free_of_text", "is_sure", "places")

    def __init__(self, function: Any, handle: Callable[..., Any], places: tuple[int, ...]) -> None:
        super().__init__()
        self.function, self.handle, self.places = function, handle, places
        self.constants = _CONSTANT_FOR.get(function)
        self.is_free_of_text = function not in (intrinsics._iter_, intrinsics._next_)
        """Whether letters that are read from text cannot come out of it."""
        self.is_sure = function in _SURE
        self.targets = (-1, *places)

    def run(self, frame: Frame) -> None:
        values, beside, places = frame.values, frame.beside, self.places
        xs = tuple([values[i] for i in places])
        fs = tuple([beside[i] for i in places])
        constants = self.constants
        if constants is not None and (self.is_free_of_text or frame.context.texts is None):
            for x, f in zip(xs, fs):  # noqa: B905  # called often
                if f is not None or type(x) not in constants:
                    break
            else:
                out = values[self.out] = self.call(frame, self.function, *xs)  # it may raise
                beside[self.out] = None
                if type(out) is not self.seen:
                    self.note(frame, out)
                return
        calls, tape = frame.program.mode.calls, frame.tape
        row = calls.decided.get((self.function, tuple(map(type, xs))))
        if row is not None and row is not SLOW and row.takes_result:
            out = _use_row(self, frame, row, self.function, xs, fs)
        elif tape is None:
            go = self.go or self._line(frame, 3)
            out, beside[self.out] = go(self.handle, frame.context, xs, fs, frame, frame.first)
            values[self.out] = out
        elif (
            (self.is_protected or frame.is_protected)
            and not self.is_sure
            and (row is None or row is SLOW)
            and not _reads_in_c(self.function, xs)
        ):
            out = _attempt(self, frame, (), self.function, None, xs, fs)
        else:  # what C functions have done when they raise needs no undoing
            go = self.go or self._line(frame, 3)
            out, companion, pullback = go(self.handle, frame.context, xs, fs, frame, frame.first)
            values[self.out], beside[self.out] = out, companion
            tape.append((_behind_callee(pullback), self, (None, *fs)))
        if type(out) is not self.seen:
            self.note(frame, out)


def _reads_in_c(function: Any, xs: tuple[Any, ...]) -> bool:
    """Whether a call takes elements out of a tuple or list, for which no code in Python is run.

    It is not attempted.  An element may be a `Raised`: that of a derivative which is being differentiated, a
    value like others, which is not to be taken for what an attempt gives.
    """
    is_container = len(xs) == 2 and (type(xs[0]) is tuple or type(xs[0]) is list)
    return is_container and any(function is taking for taking in _TAKING)


def _checks_in_c(function: Any, x: Any, kinds: Any) -> bool:
    """Whether a call of `function` asks for classes, for which no code in Python is run."""
    if function is isinstance:
        return plain_check(kinds) and not says_its_class(type(x))
    return function is issubclass and plain_check(kinds)


def _behind_callee(pullback: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """`pullback`, the cotangents of which come behind that of what was called."""
    return lambda bout: (None, *pullback(bout))


class Call(Observed):
    """A call of anything, the last arguments by keyword.

    callee: its place.  displays: the arguments that are displays of constants, which nobody else has.
    """

    __slots__ = ("callee", "displays", "is_free", "is_sure", "keywords", "places")

    def __init__(
        self,
        callee: int,
        places: tuple[int, ...],
        keywords: tuple[str, ...],
        displays: tuple[int, ...],
        function: Any,
    ) -> None:
        super().__init__()
        self.callee, self.places, self.keywords, self.displays = callee, places, keywords, displays
        self.is_sure = function is intrinsics._raised_
        self.is_free = bool(displays) and function is not None and keeps_no_list(function)
        """Whether the function that is called reads lists and keeps none."""
        self.targets = (callee, *places)

    def run(self, frame: Frame) -> None:
        values, beside = frame.values, frame.beside
        f, ff = values[self.callee], beside[self.callee]
        xs = tuple([values[i] for i in self.places])
        if len(xs) == 2 and not self.keywords and _checks_in_c(f, *xs):
            values[self.out] = self.call(frame, f, *xs)
            beside[self.out] = None
            return
        fs = tuple([beside[i] for i in self.places])
        if self.is_free:
            fs = tuple([None if i in self.displays else f for i, f in enumerate(fs)])
        calls = frame.program.mode.calls
        row = _taking_result(calls, f, xs, fs) if not self.keywords else None
        if row is not None:
            out = _use_row(self, frame, row, f, xs, fs)
            if type(out) is not self.seen:
                self.note(frame, out)
            return
        is_seen = self.is_protected or frame.is_protected
        if frame.tape is not None and is_seen and not self.is_sure and not _reads_in_c(f, xs):
            out = _attempt(self, frame, self.keywords, f, ff, xs, fs)
            if type(out) is not self.seen:
                self.note(frame, out)
            return
        if self.displays and not self.is_free:
            answer = self.call(
                frame, calls.call_with_displays, frame.context, self.keywords, f, ff, xs, fs, self.displays
            )
        else:
            go = self.go or self._line(frame, 6)
            answer = go(calls.call, frame.context, self.keywords, f, ff, xs, fs, frame, frame.first)
        values[self.out], beside[self.out] = answer[0], answer[1]
        if frame.tape is not None:
            frame.tape.append((answer[2], self, (ff, *fs)))
        if type(answer[0]) is not self.seen:
            self.note(frame, answer[0])


class Rest(Call):
    """The rest of the function is called, which has code.

    cells: by number, the cells of the closure that it reads, and their places.
    """

    __slots__ = ("cells",)

    def __init__(self, callee: int, places: tuple[int, ...], cells: tuple[tuple[int, int], ...]) -> None:
        super().__init__(callee, places, (), (), None)
        self.cells = cells

    def run(self, frame: Frame) -> None:
        values, beside = frame.values, frame.beside
        values += frame.program.start[len(values) :]  # the frame may be older than the step
        beside += [None] * (len(values) - len(beside))
        for place, index in self.cells:
            values[place] = freevar(frame.function, index)
            beside[place] = freevar_shadow(frame.context, frame.function, frame.function_companion, index)
        super().run(frame)


def _taking_result(calls: Any, f: Any, xs: Any, fs: Any) -> Any:
    """The rule of `f`, a function in C, if it is one that is given the result; else None."""
    kind = type(f)
    if kind is not types.BuiltinFunctionType and (kind.__name__ != "ufunc" or len(xs) > f.nin):
        return None  # what a ufunc is given besides it writes into
    for companion in fs:
        if companion is not None:
            break
    else:
        return None
    row = calls.decided.get((f, tuple(map(type, xs)))) or calls.decide(f, xs)
    return row if row is not SLOW and row.takes_result else None


def _use_row(step: Step, frame: Frame, row: Any, function: Any, xs: Any, fs: Any) -> Any:
    """Call a function by a rule that is given the result, both in the user's name: what the function warns of
    and what the rule refuses has the line."""
    out = step.call(frame, function, *xs)
    answer = step.call(frame, frame.program.mode.calls.use_given, row, xs, fs, out)
    frame.values[step.out], frame.beside[step.out] = answer[0], answer[1]
    if frame.tape is not None:
        frame.tape.append((answer[2], step, (None, *fs)))
    return answer[0]


def _attempt(step: Step, frame: Frame, keywords: Any, f: Any, ff: Any, xs: Any, fs: Any) -> Any:
    """Make a call that may raise into a handler: what it had done by then is reversed as well."""
    attempt = frame.program.mode.attempt
    go = step.protected_go or step.protected_line(frame)
    out, companion, pullback = go(attempt, frame.context, keywords, f, ff, xs, fs, frame, frame.first)
    assert frame.tape is not None
    frame.tape.append((pullback, step, (ff, *fs)))
    if type(out) is Raised:
        frame.beside[step.out] = None
        frame.values[step.out] = None
        step.call(frame, intrinsics._reraise_, out.exception)
    frame.values[step.out], frame.beside[step.out] = out, companion
    return out


class MakeTuple(Step):
    __slots__ = ("places",)

    def __init__(self, places: tuple[int, ...]) -> None:
        super().__init__()
        self.places = self.targets = places

    def run(self, frame: Frame) -> None:
        values, beside = frame.values, frame.beside
        xs = tuple([values[i] for i in self.places])
        fs = tuple([beside[i] for i in self.places])
        values[self.out] = xs
        for f in fs:
            if f is not None:
                break
        else:
            beside[self.out] = None
            return
        beside[self.out] = frame.program.mode.calls.of_tuple(xs, fs)
        if frame.tape is not None:
            frame.tape.append((TUPLE, self, fs))


class Rename(Step):
    """Another name for the first argument."""

    __slots__ = ("source",)

    def __init__(self, places: tuple[int, ...]) -> None:
        super().__init__()
        self.source = places[0]
        self.targets = (self.source,)

    def run(self, frame: Frame) -> None:
        companion = frame.beside[self.source]
        frame.values[self.out], frame.beside[self.out] = frame.values[self.source], companion
        if companion is not None and frame.tape is not None:
            frame.tape.append((COPIED, self, (companion,)))


class Check(Rename):
    """A local variable is read, which may not be bound."""

    __slots__ = ("name",)

    def __init__(self, places: tuple[int, ...]) -> None:
        super().__init__(places)
        self.name = places[1]

    def run(self, frame: Frame) -> None:
        values = frame.values
        if values[self.source] is intrinsics.UNBOUND:
            self.call(frame, intrinsics._check_, values[self.source], values[self.name])
        super().run(frame)


class Catch(Step):
    """The exception that a handler was entered with."""

    __slots__ = ()

    def run(self, frame: Frame) -> None:
        error = frame.values[self.out] = frame.caught
        frame.beside[self.out] = frame.program.mode.caught(frame.context, error)


# -- what depends on the frame -----------------------------------------------------------------------------


class _WithPlaces(Observed):
    __slots__ = ("places",)

    def __init__(self, places: tuple[int, ...]) -> None:
        super().__init__()
        self.places = places


class FreeVariable(_WithPlaces):
    """A cell of the closure."""

    __slots__ = ()

    def run(self, frame: Frame) -> None:
        index = frame.values[self.places[0]]
        out = frame.values[self.out] = freevar(frame.function, index)
        frame.beside[self.out] = freevar_shadow(
            frame.context, frame.function, frame.function_companion, index
        )
        if type(out) is not self.seen:
            self.note(frame, out)


class Global(_WithPlaces):
    """A global or builtin is read."""

    __slots__ = ()

    def run(self, frame: Frame) -> None:
        namespace, name = frame.program.namespace, frame.values[self.places[0]]
        mode = frame.program.mode
        out = self.call(frame, intrinsics.global_or_builtin, namespace, name)
        if "__spec__" not in namespace:  # no module's, but a dict that code was executed in
            self.call(frame, mode.check_global, frame.context, namespace, name)
        frame.values[self.out], frame.beside[self.out] = out, frame.program.find(frame.context, name, out)
        if type(out) is not self.seen:
            self.note(frame, out)


class Globals(_WithPlaces):
    __slots__ = ()

    def run(self, frame: Frame) -> None:
        namespace = frame.values[self.out] = frame.program.namespace
        frame.beside[self.out] = frame.program.find(frame.context, None, namespace)


class StoreGlobal(_WithPlaces):
    __slots__ = ()

    def __init__(self, places: tuple[int, ...]) -> None:
        super().__init__(places)
        self.targets = (places[1],)

    def run(self, frame: Frame) -> None:
        name, value = self.places
        store = frame.program.mode.store_global
        undo = self.call(
            frame, store, frame.context, frame.program.namespace, frame.values[name],
            frame.values[value], frame.beside[value],
        )  # fmt: skip
        frame.values[self.out] = frame.beside[self.out] = None
        if frame.tape is not None:
            frame.tape.append((undo, self, (frame.beside[value],)))


class DeleteGlobal(_WithPlaces):
    __slots__ = ()

    def run(self, frame: Frame) -> None:
        name = frame.values[self.places[0]]
        self.call(frame, intrinsics.global_or_builtin, {**frame.program.namespace, "__builtins__": {}}, name)
        del frame.program.namespace[name]
        frame.values[self.out] = frame.beside[self.out] = None


class Import(_WithPlaces):
    __slots__ = ()

    def run(self, frame: Frame) -> None:
        name, level, fromlist = [frame.values[i] for i in self.places]
        namespace = frame.program.namespace
        load: Any = intrinsics.global_or_builtin({"__builtins__": namespace["__builtins__"]}, "__import__")
        before = imports.before_import(frame.context, namespace, name, level, fromlist)
        frame.values[self.out] = self.call(frame, load, name, namespace, None, fromlist, level)
        frame.beside[self.out] = None
        undo = None if before is None else self.call(frame, imports.settled, frame.context, before)
        if undo is not None and frame.tape is not None:
            frame.tape.append((lambda _: undo() or (), self, ()))


class NewInstance(_WithPlaces):
    __slots__ = ()

    def run(self, frame: Frame) -> None:
        made = self.call(frame, intrinsics._instance_, frame.values[self.places[0]])
        frame.values[self.out] = made
        frame.beside[self.out] = frame.program.mode.instance(frame.context, made)


class MakeFunction(_WithPlaces):
    """A function is made, of code, defaults, keyword defaults, annotations and closure, and of the module
    whose names it knows, if that is another one."""

    __slots__ = ("has_constant_defaults",)

    def __init__(self, places: tuple[int, ...], has_constant_defaults: bool) -> None:
        super().__init__(places)
        self.targets = (places[1],)
        self.has_constant_defaults = has_constant_defaults
        """Whether the keyword defaults are immutable constants."""

    def run(self, frame: Frame) -> None:
        _, defaults, keyword_defaults, _, closure = self.places[:5]
        beside = frame.beside
        made = new_function(frame.program.namespace, *[frame.values[i] for i in self.places])
        companion = frame.program.mode.function(
            frame.context, made, beside[closure], beside[defaults],
            None if self.has_constant_defaults else beside[keyword_defaults],
        )  # fmt: skip
        frame.values[self.out], beside[self.out] = made, companion
        if frame.tape is not None and beside[defaults] is not None:
            frame.tape.append((defaults_pullback(companion), self, (beside[defaults],)))
