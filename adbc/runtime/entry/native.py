"""The way into machine code, for gradients and directional derivatives of numbers.

What follows from the classes of the arguments is kept: the rule, and its code.  Each call looks whether that
still holds, as the ways into bytecode do; gives the code the numbers; and if the code gives up, says so by
None: then bytecode runs from the start, and what it raises is what the user sees.

With ``Config(backend="auto")`` bytecode runs first, until it has taken `WORTHWHILE` seconds.
"""

from __future__ import annotations

import inspect
import time
import types
from array import array
from collections.abc import Callable, Sequence
from typing import Any

from adbc.errors import LiftError, NativeError
from adbc.low.interpret import BailedOut
from adbc.runtime.calls.plans import FLOATS, is_derived
from adbc.runtime.entry.described import described, elements
from adbc.runtime.entry.reading import only_read
from adbc.runtime.report.messages import describe
from adbc.runtime.state.engine import EngineView
from adbc.types import AbstractType
from adbc.types.lattice import FLOAT, ListType

__all__ = ["Door", "value_and_tangent"]

WORTHWHILE = 0.05
"""How long bytecode has run when machine code is made in its place, in seconds."""

_PATIENCE = 16
"""So many more times than it succeeded code may give up: then it is left alone."""

_MOST = 32
"""How many ways are kept: more structures than these are data."""

_MOST_TANGENTS = 256
"""How many ways of `jvp` are kept, of all functions."""

_SHOWN = 8
"""How many reasons a message tells."""

_LEAST, _GREATEST = -(2**63), 2**63
_LEAVES = frozenset({float, int, bool})
_PLAIN = _LEAVES | {types.NoneType}


class _Way:
    """What is known of calls with arguments of certain classes.

    code: the machine code, None if there is none; spent: how long bytecode has run, which is asked for until
    code is made.
    """

    def __init__(self, engine: EngineView, f: types.FunctionType, classes: tuple[Any, ...]) -> None:
        self.engine = engine
        self.generation = engine.generation
        self.function_code = f.__code__
        self.classes = classes
        self.is_flat = _LEAVES.issuperset(classes)
        self.has_ints = not self.is_flat or int in classes
        self.rule: Any = None
        self.code: Any = None
        self.is_waiting = False
        self.spent = 0.0
        self.order: list[int] = []
        """The places of the gradients that are asked for among the results."""
        self.shadowed: frozenset[int] = frozenset()
        """The places of the lists whose gradients are asked for."""
        self.luck = 0

    def is_good(self, engine: EngineView, f: Any) -> bool:
        """Whether nothing that the way was found from has changed."""
        if self.generation != engine.generation or self.engine is not engine or engine.stale:
            return False
        return f.__code__ is self.function_code and engine.epoch == engine.table.epoch

    def run(self, given: Sequence[Any]) -> Sequence[Any] | None:
        """What the code gives, with the shadows of lists behind; None if it gives up, or if its rule does not
        hold any more."""
        if not self.rule.holds():
            self.engine.clear()
            return None
        shadows: list[Any] = []
        values: Sequence[Any] | None = given
        if not self.is_flat:
            values = self._with_shadows(given, shadows) if self.shadowed else _leaves(given)
        if values is None:
            return None
        if self.has_ints:
            for x in values:
                if type(x) is int and not _LEAST <= x < _GREATEST:
                    return None
        try:
            found: Sequence[Any] = self.code(*values)
        except BailedOut:
            self.luck -= 1
            if self.luck < -_PATIENCE:
                self.code = None
            return None
        self.luck += 1
        return (*found, *[shadow.tolist() for shadow in shadows]) if shadows else found

    def _with_shadows(self, given: Sequence[Any], shadows: list[Any]) -> list[Any] | None:
        """The leaves of the arguments, each list whose gradient is asked for with zeros behind it, which
        `shadows` gets; None if a list is there twice, or there is anything that is no leaf."""
        lists = [id(x) for x in given if type(x) is list]
        if len(set(lists)) != len(lists):
            return None
        values: list[Any] = []
        for i, x in enumerate(given):
            leaves = _leaves((x,))
            if leaves is None:
                return None
            values += leaves
            if i in self.shadowed:
                shadows.append(array("d", bytes(8 * len(x))))
                values.append(shadows[-1])
        return values


class Door:
    """The ways of one gradient into machine code; `numbers` are the arguments that it is asked for by."""

    def __init__(self, numbers: Sequence[int]) -> None:
        self.numbers = numbers
        self.ways: dict[Any, _Way] = {}
        self.latest: _Way | None = None
        """The way of the last call, if that was one of numbers without defaults that has code."""

    def answer(
        self, engine: EngineView, f: Any, args: tuple[Any, ...], bytecode: Callable[[], Any]
    ) -> tuple[Any, tuple[Any, ...]] | None:
        """Value and gradients of ``f(*args)``; None if bytecode has to give them.

        bytecode: what gives value and gradient in another form; this answers by it where it measures how long
        it takes.  Raises `NativeError` if there is no code and there has to be.
        """
        way = self.latest
        if way is not None and way.code is not None and (*map(type, args),) == way.classes:
            if way.is_good(engine, f):
                found = way.run(args)
                return None if found is None else (found[0], tuple([found[k] for k in way.order]))
            self.latest = None
        given = _given(engine, f, args)
        wanted = [i + len(args) if i < 0 else i for i in self.numbers]
        if given is None or any(not 0 <= i < len(args) or type(args[i]) in (int, bool) for i in wanted):
            return None
        key = _key(given)
        way = self.ways.get(key)
        if way is None or not way.is_good(engine, f):
            way = self._found(engine, f, given, wanted, key)
        if way.is_waiting and way.spent < WORTHWHILE:
            begun = time.perf_counter()
            value, gradients = bytecode()
            way.spent += time.perf_counter() - begun
            return value, gradients
        if way.is_waiting:
            way.is_waiting = False
            way.code = engine.native.find(way.rule).code
        if way.code is None:
            return None
        found = way.run(given)
        if found is None:
            return None
        if tuple not in way.classes and len(given) == len(args):
            self.latest = way
        return found[0], tuple([found[k] for k in way.order])

    def _found(
        self, engine: EngineView, f: Any, given: tuple[Any, ...], wanted: Sequence[int], key: Any
    ) -> _Way:
        made = _new_way(engine, f, given, wanted, "reverse")
        if made is not None:
            made.shadowed = frozenset(i for i in wanted if type(given[i]) is list)
            floats = sorted(set(wanted) - made.shadowed)
            places = [*floats, *sorted(made.shadowed)]
            made.order = [1 + places.index(i) for i in wanted]
        else:
            made = _Way(engine, f, (*map(type, given),))  # without code, so that nobody looks again
        if key is not None:
            if len(self.ways) >= _MOST:
                self.ways.clear()
            self.ways[key] = made
        return made


def value_and_tangent(
    engine: EngineView, f: Any, primals: Sequence[Any], tangents: Sequence[Any]
) -> tuple[float, float] | None:
    """``f(*primals)`` and its derivative in the direction `tangents`, where these are floats or None; None if
    bytecode has to give them."""
    given = _given(engine, f, tuple(primals))
    if given is None:
        return None
    wanted = [i for i, t in enumerate(tangents) if t is not None]
    if not wanted or any(type(tangents[i]) is not float or type(primals[i]) is not float for i in wanted):
        return None
    known = _key(given)
    key = f.__code__, id(f.__globals__), known, tuple(wanted)
    way = engine.native.ways.get(key)
    if way is None or not way.is_good(engine, f):
        way = _new_way(engine, f, given, wanted, "forward") or _Way(engine, f, (*map(type, given),))
        if known is not None:
            if len(engine.native.ways) >= _MOST_TANGENTS:
                engine.native.ways.clear()
            engine.native.ways[key] = way
    if way.is_waiting:
        way.is_waiting = False
        way.code = engine.native.find(way.rule).code
    if way.code is None:
        return None
    values: list[Any] = []
    for i, x in enumerate(given):
        values += (x, tangents[i]) if i in wanted else (x,)
    found = way.run(values)
    return None if found is None else (found[0], found[1])


def _new_way(
    engine: EngineView, f: types.FunctionType, given: tuple[Any, ...], wanted: Sequence[int], mode: str
) -> _Way | None:
    """The way for arguments like these; None if bytecode has to say what is wrong with them.

    Raises `NativeError` if there is no code and there has to be.
    """
    if engine.stale:
        engine.refresh()
    if engine.epoch != engine.table.epoch:
        engine.clear()
    must = engine.native.must
    if not is_derived(engine, f):
        if must:
            raise _refusal(f, ["there is a rule for it"])
        return None
    parameters: list[AbstractType] = []
    for i, x in enumerate(given):
        type_ = FLOATS if type(x) is list and elements(x) is FLOATS else engine.typeof(x)
        has_gradient = type_ == FLOAT or (type_ is FLOATS and mode == "reverse")
        if _leaves((x,)) is None or (i in wanted and not has_gradient):
            if must:
                what = f"argument {i} is of type {type_}" + (", and has a derivative" * (i in wanted))
                raise _refusal(
                    f, [f"it takes numbers, tuples of them and lists of floats that it reads: {what}"]
                )
            return None
        parameters.append(type_)
    lists = {i for i, t in enumerate(parameters) if isinstance(t, ListType) and i not in wanted}
    if lists and lists != set(only_read(engine, f, given, (), lists)):
        if must:
            raise _refusal(f, ["a list that is written to, kept or handed on"])
        return None
    way = _Way(engine, f, (*map(type, given),))
    active = [i in wanted for i in range(len(given))]
    try:
        way.rule = engine.entry(f, parameters, active, mode)
        if not must:
            way.is_waiting = True
            return way
        found = engine.native.find(way.rule)
    except LiftError:
        return None  # bytecode says so
    if found.code is None:
        raise _refusal(f, list(map(str, found.reasons)))
    way.code, way.generation = found.code, engine.generation
    return way


def _given(engine: EngineView, f: Any, args: tuple[Any, ...]) -> tuple[Any, ...] | None:
    """The arguments with the defaults that are used; None if bytecode has to say what is wrong with them, or
    `f` is none that has native code, where it need not."""
    why = _form_of(f)
    if why is not None:
        if engine.native.must:
            raise _refusal(f, [why])
        return None
    missing = f.__code__.co_argcount - len(args)
    if missing == 0:
        return args
    defaults = f.__defaults__ or ()
    return (*args, *defaults[-missing:]) if 0 < missing <= len(defaults) else None


def _form_of(f: Any) -> str | None:
    """Why a function has no native code, whatever it is given; None if it may have."""
    if type(f) is not types.FunctionType:
        return "it is no function written in Python"
    code = f.__code__
    if code.co_kwonlyargcount or code.co_flags & _OTHER:
        return "it is a generator, or has parameters that are not positional"
    return None if f.__closure__ is None else "it has a closure"


_OTHER = (
    inspect.CO_VARARGS | inspect.CO_VARKEYWORDS | inspect.CO_GENERATOR | inspect.CO_COROUTINE
    | inspect.CO_ASYNC_GENERATOR
)  # fmt: skip


def _key(given: tuple[Any, ...]) -> Any:
    """What ways are kept by; None if the arguments are none that a way is kept for."""
    classes = (*map(type, given),)
    return classes if _PLAIN.issuperset(classes) else described(given)


def _leaves(values: Sequence[Any]) -> list[Any] | None:
    """The numbers and lists of floats in tuples, without what is None; None if anything else is there."""
    found: list[Any] = []
    for x in values:
        cls = type(x)
        if cls is tuple:
            inner = _leaves(x)
            if inner is None:
                return None
            found += inner
        elif x is None:
            continue
        elif cls in _LEAVES or (cls is list and elements(x) is FLOATS):
            found.append(x)
        else:
            return None
    return found


def _refusal(f: Any, reasons: Sequence[str]) -> NativeError:
    shown = list(reasons[:_SHOWN])
    if len(reasons) > _SHOWN:
        shown.append(f"and {len(reasons) - _SHOWN} more")
    return NativeError(
        f"{describe(f)} has no native code, which the configuration asks for",
        "; ".join(shown),
        'Config(backend="auto") takes bytecode where there is none',
    )
