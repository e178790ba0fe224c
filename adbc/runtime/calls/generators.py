"""Generators as objects: a state and the segment to go on with.

Where differentiated code calls a generator function, it gets a `Generator` instead of the
interpreter's own kind.  Its methods are plain Python on two fields, so adbc differentiates them like
any class of the user's: what a suspended generator holds follows the rules of fields, what a
generator mutates is restored, and one that is only partly consumed, shared or abandoned is right too.
One that is abandoned inside a ``try`` or ``with`` is closed where the function that made it drops it
(`passes.dropped_generators`), or refused if that cannot be seen.
"""

from __future__ import annotations

import inspect
import sys
import types
from collections.abc import Iterable
from typing import Any

from adbc.errors import UnsupportedError
from adbc.functions import is_function
from adbc.ir.intrinsics import EXHAUSTED, Thrown, _drop_, _getattr_, _iter_, _next_, _resume_, unraisable
from adbc.ir.values import Instruction
from adbc.passes.normal.dropped_generators import makes_generators
from adbc.passes.normal.segments import FINISHED
from adbc.passes.query import constant, target
from adbc.rules.surrogates import Surrogate
from adbc.rules.table import Overlay, ZeroRule
from adbc.runtime.state.graph_functions import Segments
from adbc.tangents import NO_TANGENT, MutableTangent

__all__ = [
    "ROWS",
    "Generator",
    "candidates",
    "finished",
    "function_of",
    "may_return_generators",
    "refuse_left_open",
    "send",
    "suspended",
]

_TELLS = sys.version_info >= (3, 13)
"""Whether ``close()`` gives what the generator returns."""


class Generator(Surrogate):
    """A generator, suspended in front of segment number `at` with `state` live."""

    __stands_for__ = types.GeneratorType

    def __init__(self, segments: tuple[Any, ...], state: tuple[Any, ...], name: str, qualified: str) -> None:
        self.segments = segments
        self.state = state
        self.at = 0
        self.is_running = False
        self.returned = None
        self.__name__, self.__qualname__ = name, qualified

    def __iter__(self) -> Generator:
        return self

    def _look(self) -> Any:
        raise UnsupportedError(
            f"the frame of the generator {self.__name__} is asked for",
            "it runs in segments while it is differentiated, and has none",
            "remember in a variable how far it has come",
        )

    gi_code = gi_yieldfrom = property(_look)

    @property
    def gi_running(self) -> bool:
        return self.is_running

    @property
    def gi_suspended(self) -> bool:
        return not self.is_running and self.at != 0 and self.at != FINISHED

    @property
    def gi_frame(self) -> Any:
        return None if self.at == FINISHED else self._look()

    def __next__(self) -> Any:
        return self.send(None)

    def take(self) -> Any:
        """The next value, or `EXHAUSTED`."""
        return _resume_(self, False, None)

    def send(self, value: Any) -> Any:
        """Go on with `value` as the result of the yield."""
        if self.at == 0 and value is not None:
            raise TypeError("can't send non-None value to a just-started generator")
        out = _resume_(self, False, value)
        if out is EXHAUSTED:
            raise finished(self.returned)
        return out

    def throw(self, error: Any, value: Any = None, traceback: Any = None) -> Any:
        """Go on by raising `error` where the yield stands."""
        if issubclass(type(error), type):
            if isinstance(value, error):
                error = value
            elif issubclass(type(value), tuple):
                error = error(*value)
            else:
                error = error() if value is None else error(value)
        if self.at == 0 or self.at == FINISHED:
            self.at = FINISHED
            self.state = ()
            raise error
        out = _resume_(self, True, error)
        if out is EXHAUSTED:
            raise finished(self.returned)
        return out

    def close(self) -> Any:
        """Raise `GeneratorExit` where the yield stands, so that ``finally`` runs."""
        if self.at == 0 or self.at == FINISHED:
            self.at = FINISHED
            self.state = ()
            return None
        try:
            out = _resume_(self, True, GeneratorExit())
        except (GeneratorExit, StopIteration):
            return None
        if out is not EXHAUSTED:
            raise RuntimeError("generator ignored GeneratorExit")
        return self.returned if _TELLS else None

    def resume(self, throwing: bool, sent: Any) -> Any:
        """Run one segment."""
        if self.is_running:
            raise ValueError("generator already executing")
        at = self.at
        if at == FINISHED:
            self.returned = None
            return EXHAUSTED
        state = self.state
        # If the segment raises, the generator has finished.
        self.at = FINISHED
        self.state = ()
        self.is_running = True
        try:
            number, value, state = self.segments[at](throwing, sent, *state)
        except StopIteration as error:
            raise RuntimeError("generator raised StopIteration") from error
        finally:
            self.is_running = False
        self.at = number
        self.state = state
        if number == FINISHED:
            self.returned = value
            return EXHAUSTED
        return value


def send(iterator: Any, value: Any) -> tuple[bool, Any]:
    """`intrinsics._send_`, in Python that adbc can follow: what a generator returns keeps its derivative."""
    if type(value) is Thrown:
        error = value.exception
        if issubclass(type(error), GeneratorExit):
            if hasattr(iterator, "close"):
                iterator.close()
            raise error
        if not hasattr(iterator, "throw"):
            raise error
        if not issubclass(type(iterator), Generator):
            try:
                return False, iterator.throw(error)
            except StopIteration as stop:
                return True, stop.value
        if iterator.at <= 0:
            iterator.throw(error)
        out = _resume_(iterator, True, error)
    elif issubclass(type(iterator), Generator):
        out = _resume_(iterator, False, value)
    elif value is None and not hasattr(iterator, "__dict__"):  # one of the interpreter's own
        out = _next_(iterator)
        return (True, None) if out is EXHAUSTED else (False, out)
    elif value is None:
        try:
            return False, next(iterator)
        except StopIteration as stop:
            return True, stop.value
    else:
        try:
            return False, iterator.send(value)
        except StopIteration as stop:
            return True, stop.value
    return (True, iterator.returned) if out is EXHAUSTED else (False, out)


def drop(iterator: Any, is_own: bool) -> None:
    """`intrinsics._drop_`, in Python that adbc can follow."""
    if is_own and is_generator(iterator):
        try:
            iterator.close()
        except Exception as error:
            raise unraisable(iterator.__name__, error) from error


def is_generator(x: Any) -> bool:
    """Whether `x` is a generator in segments.  That has to be asked: a variable without a value is looked
    at by nobody but who drops what it held, so that its type is that of the values which it has elsewhere."""
    return issubclass(type(x), Generator)


ROWS = (Overlay(_drop_, drop), ZeroRule(is_generator, result=bool))
"""The rule of dropping a generator."""


def candidates(found: Instruction, function: types.FunctionType) -> list[types.FunctionType]:
    """The generator functions that `found` may be, in the graph of `function`, as far as names can tell:
    an attribute by that of a method of the classes that have a name there too, a variable of the closure
    by what it holds, and what an object is asked for by the classes and functions that may have made it.

    Whether it is one will be asked when it is called (`_makes_generator_`); what is not among these is not
    asked, so that calls of other things cost nothing.
    """
    values: list[Any] = []
    if target(found) is _iter_:
        return walks_of(*makers_named(function))
    name = constant(found.operands[2])
    if target(found) is _getattr_:
        values = [vars(cls).get(name) for cls in function.__globals__.values() if issubclass(type(cls), type)]
    elif name in function.__code__.co_freevars:
        cell = (function.__closure__ or ())[function.__code__.co_freevars.index(name)]
        values = [] if cell == types.CellType() else [cell.cell_contents]
    return [value for value in values if is_generator_function(value)]


def is_generator_function(value: object) -> bool:
    return is_function(value) and bool(value.__code__.co_flags & inspect.CO_GENERATOR)


def walks_of(*makers: object) -> list[types.FunctionType]:
    """The generator functions that are ``__iter__`` of the classes among `makers`, and of the classes
    that the functions among them name."""
    classes: dict[int, Any] = {id(x): x for x in makers if issubclass(type(x), type)}
    for maker in makers:
        if is_function(maker):
            named = [maker.__globals__.get(name) for name in maker.__code__.co_names]
            classes |= {id(x): x for x in named if issubclass(type(x), type)}
    walks: list[Any] = [
        next((vars(base)["__iter__"] for base in cls.__mro__ if "__iter__" in vars(base)), None)
        for cls in classes.values()
    ]
    return [x for x in walks if is_generator_function(x)]


def makers_named(function: types.FunctionType) -> list[object]:
    """What may give objects to `function`: the classes that have a name in its module, and the classes
    and functions that its code names, there or as attributes of a module."""
    names = function.__code__.co_names
    found = [x for x in function.__globals__.values() if issubclass(type(x), type)]
    named = [function.__globals__.get(name) for name in names]
    for module in [x for x in named if type(x) is types.ModuleType]:
        named += [vars(module).get(attribute) for attribute in names]
    return found + [x for x in named if is_function(x) or issubclass(type(x), type)]


def function_of(code: types.CodeType, caller: types.FunctionType) -> types.FunctionType:
    """A function of `code` in the namespace of `caller`, which makes such functions; its cells are empty."""
    cells = tuple(types.CellType() for _ in code.co_freevars)
    return types.FunctionType(code, caller.__globals__, closure=cells)


def may_return_generators(function: types.FunctionType) -> bool:
    """Whether `function` knows a generator function, by a global name, or by making it."""
    known = [function.__globals__.get(name) for name in function.__code__.co_names]
    codes = [x.__code__ for x in known if is_function(x)]
    codes += [x for x in function.__code__.co_consts if issubclass(type(x), types.CodeType)]
    return any(makes_generators(code) and code.co_name != "<genexpr>" for code in codes)


def refuse_left_open(generators: Iterable[tuple[Generator, Segments]]) -> None:
    """Refuse generators that are still suspended inside a ``try`` or ``with``.

    CPython closes a generator as soon as nobody refers to it, and closing it there runs code of the
    user's, in the middle of whatever comes next.  Where that is, is known of generators to which only the
    function refers that made them.
    """
    for generator, segments in generators:
        if generator.at in segments.guarded:
            code = segments.code
            raise UnsupportedError(
                f"a generator of {code.co_qualname} ({code.co_filename}:{code.co_firstlineno}) was left"
                " suspended inside a try or with statement",
                "Python runs what has to be run there when it drops the generator, and when that is"
                " cannot be seen: it was not made and consumed by names of its own, but stored,"
                " returned, passed on to a function that may keep it, made by one that is not known by"
                " its name, or kept by the traceback of an exception",
                "exhaust it, or close it: call its close(), or use contextlib.closing",
            )


def suspended(
    segments: Segments, state: tuple[Any, ...], tangent: Any, function: Any, opened: list[Any]
) -> tuple[Generator, MutableTangent]:
    """A new generator of `function` and its shadow, from the initial state and the tangent of that.

    One that may have to be closed is noted in `opened`.
    """
    generator = Generator(segments.functions, state, function.__name__, function.__qualname__)
    if segments.guarded:
        opened.append((generator, segments))
    shadow = MutableTangent(**dict.fromkeys(vars(generator), NO_TANGENT))
    shadow.__dict__["state"] = tangent
    return generator, shadow


def finished(value: Any) -> StopIteration:
    """What `next` raises when a generator has returned `value`."""
    return StopIteration() if value is None else StopIteration(value)
