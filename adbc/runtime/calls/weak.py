"""Weak references and finalisers: whether what they are about would be alive in CPython.

A derivative keeps objects for longer than the program does: their shadows are known by their addresses, and
what a pullback restores is saved.  So what a weak reference gives then may have died in CPython.  It is
handed on only if the program itself is seen to hold it, by strong references

- from the arguments of the public function, and variables of functions that are not differentiated,
- from variables of functions that are, as far as the code shows that they hold what they are first given
  until the function ends (`adbc.cpython.variables.settled`),
- from a module.

Otherwise it is refused.  What has a finaliser, or a weak reference with a callback, is looked at when the
call ends: if nobody holds it then, it has died on the way, and what runs when it dies was not run there.

Variables of emitted code are not the user's.  But its parameters are, and the frame holds them to its end.
Where a function hands its own variables on, plainly, to the one that makes a weak reference, the frame is
noted: it holds them for as long as it runs.
"""

from __future__ import annotations

import collections
import gc
import sys
import types
import weakref
from collections.abc import Iterable, Iterator
from typing import Any

from adbc.cpython.cells import captured
from adbc.cpython.libraries import is_library_class, is_library_code
from adbc.cpython.names import attributes_reset, names_in
from adbc.cpython.variables import Passed, passed_at, settled
from adbc.errors import UnsupportedError
from adbc.functions import is_function
from adbc.runtime.calls.classes import lookup
from adbc.runtime.calls.steps import Call
from adbc.runtime.calls.unfollowed import WEAK_CONTAINERS
from adbc.runtime.report.frames import inlined_in, is_ours, original, running
from adbc.runtime.state.context import Context

__all__ = [
    "COUNTING",
    "answered",
    "ask_finaliser",
    "check_end",
    "count_container",
    "counted",
    "is_finalised",
    "latest_finaliser",
    "note_finaliser",
    "note_new_finalisers",
    "note_reference",
    "refuse_unheld",
]

_MOST = 200_000
"""How many objects are looked at at most before it is said that nobody holds something."""
_HIGHEST = 12
"""Over how many steps holders of holders are looked for."""

_LASTING = (type, types.ModuleType, types.BuiltinFunctionType)
"""What does not go when it is dropped, or not before the garbage collector comes."""
_PASSED_BY = (
    int, float, complex, bool, str, bytes, bytearray, types.NoneType, types.CodeType, types.FrameType,
    types.GeneratorType, types.TracebackType, *_LASTING,
)  # fmt: skip
COUNTING: frozenset[Any] = frozenset(
    cls.__len__ for cls in (weakref.WeakSet, weakref.WeakKeyDictionary, weakref.WeakValueDictionary)
)
"""What says how many entries a weak container has: those that died are taken out by callbacks."""
_REGISTRY: dict[Any, Any] = vars(weakref.finalize)["_registry"]
"""The finalisers that are still to run, in the order in which they were made, and what is known of each."""


# -- what is noted -------------------------------------------------------------------------------------------


def note_reference(context: Context, obj: Any, place: int, callback: Any) -> None:
    """A weak reference to `obj` is made by the function that is running, which gives it as argument
    number `place`."""
    if issubclass(type(obj), _LASTING):
        return
    for frame in _holding(context, obj, place):
        context.holders.append((_body(frame), obj))
    context.holders.append((None, obj))  # it is seen to be dead, or not at all
    if issubclass(type(callback), weakref.finalize):
        note_finaliser(context, obj, callback)
    elif not (
        callback is None or getattr(callback, "__module__", None) in WEAK_CONTAINERS or _keeps_books(callback)
    ):
        note_finaliser(context, obj)


def _keeps_books(callback: Any) -> bool:
    """Whether what a library has run when an object dies takes the weak reference to it out of a dict or set
    of such references: who reads one from there sees that it is dead by asking it."""
    if type(callback) is not types.FunctionType:
        return False
    if not is_library_code(callback.__code__.co_filename, callback.__globals__):
        return False
    if names_in(callback.__code__):
        return False
    given = [*captured(callback), *(callback.__defaults__ or ()), *(callback.__kwdefaults__ or {}).values()]
    return all(
        type(x) in (int, str) or (type(x) is types.BuiltinMethodType and _is_of_references(x.__self__))
        for x in given
    )


def _is_of_references(x: Any) -> bool:
    """Whether `x` is a dict or set in which nothing but weak references stands."""
    values = x.values() if type(x) is dict else x if type(x) is set else (None,)
    return all(issubclass(type(value), weakref.ReferenceType) for value in values)


def is_finalised(cls: type) -> bool:
    """Whether something that may be noticed runs when an instance of `cls` dies.

    A ``__del__`` that does nothing but set plain attributes of the object to constants is not noticed, nor
    one of the standard library's, which gives back what the object alone has, a file or a process.
    """
    finaliser = lookup(cls, "__del__")
    module = getattr(finaliser, "__module__", None) or ""
    if module.partition(".")[0] in sys.stdlib_module_names and is_library_class(cls):
        return False
    if not is_function(finaliser) or lookup(cls, "__setattr__") is not object.__setattr__:
        return finaliser is not None
    names = attributes_reset(finaliser.__code__)
    return names is None or any(hasattr(type(lookup(cls, name)), "__set__") for name in names)


def note_finaliser(context: Context, obj: Any, by: weakref.finalize[..., Any] | None = None) -> None:
    """Something runs when `obj` dies, unless that is `by` and has been called or detached before."""
    if not issubclass(type(obj), _LASTING):
        context.finalised.append((obj, by))
        context.has_end = True


def ask_finaliser(context: Context, call: Call) -> None:
    """A method of `weakref.finalize` is called as it is: refuses if the object may have died in CPython."""
    info = _REGISTRY.get(call.args[0]) if call.args else None
    if info is not None:
        answered(context, info.weakref())


def latest_finaliser() -> int:
    """The number of the finaliser that was made last, of those that are still to run."""
    for info in reversed(_REGISTRY.values()):
        return int(info.index)
    return -1


def note_new_finalisers(context: Context, latest: int) -> None:
    """Note the finalisers that code that was called as it is has made since that with the number `latest`."""
    for finaliser, info in reversed([*_REGISTRY.items()]):
        if info.index <= latest:
            break
        note_reference(context, info.weakref(), 0, finaliser)


def _holding(context: Context, obj: Any, place: int) -> Iterator[types.FrameType]:
    """The frames of differentiated functions, innermost first, of which a variable is known to hold `obj`:
    each hands it on to the one before, the first as argument number `place`."""
    names: list[str | None] | None
    callee: tuple[types.FrameType, types.CodeType, int] | None = None
    frame: types.FrameType | None = sys._getframe(1)
    while frame is not None:
        code = frame.f_code
        if not is_ours(code):
            primal = original(code)
            if primal is None or any(start <= frame.f_lasti < end for start, end, _ in inlined_in(code)):
                return
            passed = passed_at(primal, list(code.co_positions())[frame.f_lasti // 2])
            if passed is None:
                return
            names = [*passed.positional[place : place + 1]] if callee is None else _given(passed, *callee)
            if not names or not _settled(context, primal).issuperset(names):
                return
            yield frame
            parameters = primal.co_varnames[: primal.co_argcount + primal.co_kwonlyargcount]
            found = [i for i, name in enumerate(parameters) if _variable(frame, name) is obj]
            if not found:
                return
            callee = frame, primal, found[0]
        frame = frame.f_back


def _settled(context: Context, code: types.CodeType) -> frozenset[str]:
    """The settled variables of the function with this code, found once in a call."""
    known = context.lasting.get(id(code))
    if known is None:
        known = context.lasting[id(code)] = code, settled(code)
    return known[1]


def _given(passed: Passed, frame: types.FrameType, code: types.CodeType, number: int) -> list[str | None]:
    """The variables of a caller one of which has become the parameter with this number, of the function with
    this code, called in `frame`.  None among them stands for what is no variable."""
    names = code.co_varnames
    if names[number] in passed.named:
        return [passed.named[names[number]]]
    first = _variable(frame, names[0])
    bound = hasattr(type(first), code.co_name) or (
        issubclass(type(first), type) and hasattr(first, code.co_name)
    )
    if not bound:
        shifts = [0]
    elif passed.receiver is not None or (not passed.is_method and code.co_name in _BY_CLASS):
        shifts = [1]
    else:
        shifts = [0, 1]
    given = (passed.receiver, *passed.positional)
    return [given[number - shift + 1] for shift in shifts if number - shift + 1 < len(given)]


_BY_CLASS = ("__call__", "__init__", "__new__")
"""Methods that are run where nothing is asked for an attribute."""


# -- what is asked -------------------------------------------------------------------------------------------


def answered(context: Context, obj: Any) -> Any:
    """`obj`, which a weak reference gives; refuses if it may have died in CPython."""
    if obj is not None and not issubclass(type(obj), _LASTING) and not _is_guard(obj):
        refuse_unheld(context, [obj], f"a weak reference is asked for a {type(obj).__name__}")
    return obj


def _is_guard(obj: Any) -> bool:
    """Whether a weak container is asked for by its own module: it is being iterated over."""
    return type(obj).__module__ in WEAK_CONTAINERS and running()[-1].frame.f_globals.get("__name__") in (
        WEAK_CONTAINERS
    )


def counted(context: Context, obj: Any) -> None:
    """Weak references to `obj` are counted or listed: refuses if some were made in this call."""
    if any(x is obj for _, x in context.holders):
        raise UnsupportedError(
            f"weak references to a {type(obj).__name__} that were made in this call are counted",
            "they live for longer while a derivative is taken",
            "count them in a function that is not differentiated",
        )


def count_container(context: Context, container: Any) -> None:
    """The entries of a weak container are counted: refuses if one may have died in CPython."""
    data = container.data
    references = data.values() if issubclass(type(container), weakref.WeakValueDictionary) else data
    found = [reference() for reference in list(references)]
    what = f"the entries of a {type(container).__name__} are counted, one of which is an object"
    refuse_unheld(context, [x for x in found if x is not None], what)


def refuse_unheld(context: Context, objects: Iterable[Any], what: str, also: Any = None) -> None:
    """Refuse, saying `what` is done, if the program, with what `also` leads to, does not hold `objects`."""
    wanted = {id(x): x for x in objects if not issubclass(type(x), _LASTING)}
    if wanted:
        _walk([also, *_roots(context)], wanted)
    for x in list(wanted.values()):
        if not (_stands_by_its_name(x) or _is_global(x)):
            raise UnsupportedError(
                f"{what} that nothing in the program is seen to hold",
                "while a derivative is taken objects live for longer, so nobody can say whether it is dead",
                "hold it by an argument of the function, `f(x, keep)`, or in a module, until the call ends",
            )


def check_end(context: Context, result: Any) -> None:
    """Refuse if an object with a finaliser has died in the call that ends, and gives `result`."""
    finalised = [obj for obj, by in context.finalised if by is None or by.alive]
    context.finalised = []
    classes = ", ".join(sorted({type(x).__name__ for x in finalised}))
    refuse_unheld(context, finalised, f"something is to run when an object dies ({classes})", result)


def _roots(context: Context) -> Iterator[Any]:
    """What the program holds by variables and arguments."""
    frames = []
    frame: types.FrameType | None = sys._getframe(1)
    while frame is not None:
        frames.append(frame)
        frame = frame.f_back
    derived = [f for f in frames if not is_ours(f.f_code) and _is_derived(f)]
    outermost = frames.index(derived[-1]) if derived else -1
    for i, frame in enumerate(frames):
        if is_ours(frame.f_code):
            if i > outermost and derived and not _interprets(frame):  # the way in, which has the arguments
                yield from frame.f_locals.values()
        elif frame in derived:
            primal = original(frame.f_code)
            if primal is not None:
                names = primal.co_varnames[: primal.co_argcount + primal.co_kwonlyargcount]
                kept = _settled(context, primal)
                yield from (_variable(frame, name) for name in names if name in kept)
            body = _body(frame)
            yield from (obj for holder, obj in context.holders if holder is body)
        else:
            yield from frame.f_locals.values()


def _is_derived(frame: types.FrameType) -> bool:
    """Whether a frame that is not adbc's runs differentiated code."""
    known = original(frame.f_code) is not None or _body(frame) is not frame
    return known or any(issubclass(type(x), Context) for x in frame.f_locals.values())


def _body(frame: types.FrameType) -> Any:
    """What holds the variables of the function that runs in `frame`: where it is interpreted, another object,
    that is the same for all its calls."""
    return frame.f_locals.get("_adbc_frame", frame)


def _variable(frame: types.FrameType, name: str) -> Any:
    """What the variable `name`, a parameter, is in the function that runs in `frame`."""
    body = _body(frame)
    return frame.f_locals.get(name) if body is frame else body.parameter(name)


def _interprets(frame: types.FrameType) -> bool:
    """Whether a frame of adbc's is one of those that interpret a function of the user's, and hold whatever
    that has had."""
    return str(frame.f_globals.get("__name__")).startswith("adbc.runtime.cold.")


def _walk(roots: Iterable[Any], wanted: dict[int, Any]) -> None:
    """Take out of `wanted` what strong references lead to from `roots`, looking at what is near first: the
    variables of a program's callers may lead to more than can be looked at."""
    namespaces = _namespaces()
    pending = collections.deque(roots)
    seen: dict[int, Any] = {id(pending): pending}  # held, so that no address is used again
    while pending and wanted and len(seen) < _MOST:
        x = pending.popleft()
        at = id(x)
        if at in seen or at in namespaces or type(x) in _PASSED_BY:
            continue
        if issubclass(type(x), type) or _is_adbcs(x):
            continue
        seen[at] = x
        wanted.pop(at, None)
        if type(x) is types.FunctionType:
            pending += [x.__closure__, x.__defaults__, x.__kwdefaults__, x.__dict__]
        else:
            pending += gc.get_referents(x)


def _is_adbcs(x: Any) -> bool:
    """Whether `x` is an object or a function of adbc's, which may hold what the program has dropped."""
    if type(x) is types.FunctionType:
        return is_ours(x.__code__) or original(x.__code__) is not None
    return str(type(x).__module__).partition(".")[0] == "adbc"


def _namespaces() -> dict[int, bool]:
    """By the address of the namespace of a module, whether it is the program's."""
    modules = [m for m in list(sys.modules.values()) if issubclass(type(m), types.ModuleType)]
    return {id(vars(m)): m.__name__.partition(".")[0] != "adbc" for m in modules}


def _globals() -> Iterator[list[Any]]:
    """What the names of each of the program's modules are bound to."""
    for module in list(sys.modules.values()):
        if issubclass(type(module), types.ModuleType) and module.__name__.partition(".")[0] != "adbc":
            yield list(vars(module).values())


def _stands_by_its_name(obj: Any) -> bool:
    """Whether `obj` is a function or class that its module has, itself or in a class, by the name that it was
    defined under: `weakref.WeakMethod` asks for the function of a method each time."""
    if type(obj) is not types.FunctionType and not issubclass(type(obj), type):
        return False
    place: Any = sys.modules.get(obj.__module__)
    for name in obj.__qualname__.split("."):
        if not issubclass(type(place), type | types.ModuleType):
            return False
        place = vars(place).get(name)
    if type(place) is staticmethod or type(place) is classmethod:
        place = place.__func__
    return place is obj


def _is_global(obj: Any) -> bool:
    """Whether strong references lead to `obj` from the namespace of a module."""
    namespaces = _namespaces()
    if any(x is obj for values in _globals() for x in values):
        return True  # to look for holders takes as long as the process has objects
    level: list[Any] = [obj]
    seen = {id(obj)}
    for _ in range(_HIGHEST):
        found = gc.get_referrers(*level)
        ours = {id(found), id(level), id(seen)}
        level = []
        for x in found:
            at = id(x)
            if namespaces.get(at):
                return True
            if at in seen or at in ours or at in namespaces:
                continue
            if issubclass(type(x), types.FrameType) or _is_adbcs(x):
                continue
            seen.add(at)
            level.append(x)
        found.clear()  # or it would be found as well, as a holder of what stands in it
        if not level or len(seen) > _MOST:
            return False
    return False
