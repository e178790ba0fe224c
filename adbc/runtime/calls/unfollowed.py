"""Functions that are never entered: those that differentiate, and some of the standard library."""

from __future__ import annotations

import types
from collections.abc import Callable, Sequence
from typing import Any

from adbc.cpython.libraries import ABOUT_TEXT
from adbc.functions import is_function
from adbc.runtime.calls.logs import is_quiet
from adbc.runtime.state.activity import is_active
from adbc.tangents.protocol import kind_of

__all__ = [
    "DIFFERENTIATION", "WEAK_CONTAINERS", "is_about_text", "is_differentiation", "is_looked_up",
    "runs_as_it_is",
]  # fmt: skip

Decider = Callable[[str, Sequence[Any], Sequence[Any]], bool]
"""Whether the function of a module with this name, called with these arguments and their shadows, runs as it
is."""

_CALLER = "Logger.findCaller"
"""What looks for the line of the program that writes to a log."""
_LEVELS = ("critical", "debug", "error", "exception", "info", "log", "warning")


def _only(*names: str) -> Decider:
    return lambda name, args, shadows: name in names


def _always(name: str, args: Sequence[Any], shadows: Sequence[Any]) -> bool:
    return True


def _typing(name: str, args: Sequence[Any], shadows: Sequence[Any]) -> bool:
    """What is given values with derivatives only hands them on, and is followed, and so is what hands on
    anything: it may be text that was made from such a value."""
    if name in ("NamedTupleMeta.__new__", "_TypedDictMeta.__new__", "get_type_hints"):
        return True
    return name != "cast" and not name.endswith("__init_subclass__") and not any(map(is_active, shadows))


def _logging(name: str, args: Sequence[Any], shadows: Sequence[Any]) -> bool:
    """What says something is followed if it is given a value with a derivative that a handler may keep."""
    if name.removeprefix("Logger.") not in _LEVELS:
        return name == _CALLER
    given = zip(args, shadows, strict=True)
    return not any(is_active(shadow) for x, shadow in given if not _is_logger(x)) or is_quiet(name, args)


def _is_logger(x: Any) -> bool:
    return any(cls.__module__ == "logging" and cls.__name__ == "Logger" for cls in type(x).__mro__)


def _signatures(name: str, args: Sequence[Any], shadows: Sequence[Any]) -> bool:
    """What says which parameters a function has is followed if the defaults of these have a derivative."""
    return name == "get_annotations" or (name in _OF_SIGNATURES and not any(map(is_active, shadows)))


_OF_SIGNATURES = ("getfullargspec", "signature", "_signature_from_callable", "Signature.from_callable")


def _text(name: str, args: Sequence[Any], shadows: Sequence[Any]) -> bool:
    """What keeps something for later (a cache of patterns, the parts of a path) leaves it, as a plain call
    does."""
    return all(kind_of(type(x)).inactive and not is_function(x) for x in args)


def _counting(name: str, args: Sequence[Any], shadows: Sequence[Any]) -> bool:
    """What counts the entries of a weak container gives a whole number; which finalisers there are is kept by
    their class, for the interpreter, and stays as a plain call leaves it, unless code that is followed writes
    there as well.  What is called when one is called is followed."""
    if name == "finalize.__call__":
        return False
    return name.endswith(".__len__") or (name.startswith("finalize.") and not any(map(is_active, shadows)))


WEAK_CONTAINERS = ("_weakrefset", "weakref")
"""The modules of weak containers."""

_DECIDERS: dict[Any, Decider] = {
    # How many dead references there still are depends on when objects die.
    **dict.fromkeys(WEAK_CONTAINERS, _counting),
    # They make classes, functions or types by ways that are not followed.
    "annotationlib": _only("get_annotations"),
    "collections": _only("namedtuple"),
    "dataclasses": _only("_process_class"),
    "enum": _only("EnumType.__new__", "EnumType.__prepare__"),
    "inspect": _signatures,
    "typing": _typing,
    "typing_extensions": _typing,
    # They look at frames, or show them.
    **dict.fromkeys(("_py_warnings", "linecache", "traceback", "warnings"), _always),
    "logging": _logging,
    **dict.fromkeys(ABOUT_TEXT, _text),
}  # fmt: skip


_LOOKING_UP = frozenset(
    {
        "_py_warnings", "_warnings", "annotationlib", "inspect", "linecache", "traceback", "typing",
        "typing_extensions",
        "warnings", *ABOUT_TEXT,
    }
)  # fmt: skip
"""Modules whose functions that run as they are change nothing but what they remember, and a list of warnings
that C code fills."""


def is_looked_up(function: Any) -> bool:
    """Whether `function`, which runs as it is, makes no class and changes nothing that code which is
    followed looks at, but for a list of warnings."""
    if function.__module__ == "logging":
        return str(function.__qualname__) == _CALLER
    return function.__module__ in _LOOKING_UP and function.__name__ != "__new__"


def is_about_text(function: types.FunctionType) -> bool:
    """Whether `function` is of a module that is about names, texts and times."""
    return _DECIDERS.get(function.__module__) is _text


def runs_as_it_is(
    function: types.FunctionType, args: Sequence[Any] = (), shadows: Sequence[Any] = ()
) -> bool:
    """Whether `function`, of the standard library, does what is not followed and has no derivative: it makes
    classes or types, it looks at frames, or it is about texts and is given nothing else."""
    decide = _DECIDERS.get(function.__module__)
    return decide is not None and decide(function.__qualname__, args, shadows)


DIFFERENTIATION = frozenset(
    {
        "adbc.api", "adbc.rules.declare", "adbc.runtime", "adbc.runtime.entry.boxed",
        "adbc.runtime.entry.batches", "adbc.runtime.entry.forward", "adbc.runtime.entry.gradients",
        "adbc.runtime.entry.prepared", "adbc.runtime.entry.reusable",
        "adbc.runtime.entry.pullbacks", "adbc.runtime.entry.reverse",
    }
)  # fmt: skip


def is_differentiation(function: Any) -> bool:
    """Whether `function` is one of adbc's own that differentiate or declare rules, or was made by one
    (``adbc.grad(f)``).

    They are never entered: their own bookkeeping has no derivative.
    """
    cls = type(function)
    if cls is types.MethodType:
        return is_differentiation(function.__func__)
    if cls is types.FunctionType:
        return function.__globals__.get("__name__") in DIFFERENTIATION
    return cls.__module__ in DIFFERENTIATION
