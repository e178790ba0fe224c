"""Lines of a log that only go out: a logger is asked to write one, and nothing of the program's can tell.

A handler of the user's may keep what it is given, or change something, so a call of a logger is followed or
watched.  Most lines go nowhere, because their level is off, or to a stream, by code of the standard library:
these calls are made as they are, whether what they say has a derivative or not.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from adbc.cpython.libraries import is_library_class

__all__ = ["is_quiet", "is_silent", "streams"]

_LEVELS = {"debug": 10, "info": 20, "warning": 30, "error": 40, "exception": 40, "critical": 50}
_ATOMS = (str, int, float, complex, bool, types.NoneType)
_CONTAINERS = (tuple, list)
_STREAMING = frozenset(
    {
        ("logging", "StreamHandler"), ("logging", "_StderrHandler"), ("logging", "FileHandler"),
        ("logging", "NullHandler"), ("logging.handlers", "RotatingFileHandler"),
        ("logging.handlers", "TimedRotatingFileHandler"),
    }
)  # fmt: skip
"""Handlers that write a line and keep nothing of it."""
_MANY = 100
"""The most elements of containers that a line may have: more are not looked through."""


_QUESTIONS = frozenset({"Logger.isEnabledFor", "Logger.getEffectiveLevel", "Logger.hasHandlers"})


def is_silent(function: types.FunctionType, args: Sequence[Any]) -> bool:
    """Whether `function`, of the module `logging`, is asked by `args` for a line of a level that is off, or
    what a logger would do with one."""
    name = function.__qualname__
    if name in _QUESTIONS:
        return bool(args) and _is_as_made(args[0]) and all(type(x) is int for x in args[1:])
    found = _asked(name, args)
    return found is not None and not found[0].isEnabledFor(found[1])


def is_quiet(name: str, args: Sequence[Any]) -> bool:
    """Whether the function of `logging` with this name, called with these arguments, writes no line, or one
    that only goes to streams."""
    return streams(name, args) is not None


def streams(name: str, args: Sequence[Any]) -> list[Any] | None:
    """The streams that a line goes to, which the function of `logging` with this name is asked to write with
    these arguments; None if others may see it, or run code of the user's for it."""
    found = _asked(name, args)
    if found is None:
        return None
    logger, level = found
    if not logger.isEnabledFor(level):
        return []
    handlers = list(_handlers(logger)) or [sys.modules["logging"].lastResort]
    if not all(map(_only_streams, handlers)) or logger.filters or not _is_usual() or not _are_plain(args):
        return None
    return [h.stream for h in handlers if level >= h.level and getattr(h, "stream", None) is not None]


def _asked(name: str, args: Sequence[Any]) -> tuple[Any, int] | None:
    """The logger that is asked, and for which level; None if that is no logger of the standard library's."""
    logging: Any = sys.modules["logging"]
    owner, _, method = name.rpartition(".")
    if owner == "Logger":
        logger, args = args[0] if args else None, args[1:]
    elif not owner and logging.root.handlers:  # without one, the functions set it up
        logger = logging.root
    else:
        return None
    if not _is_as_made(logger):
        return None
    if method == "log":
        level = args[0] if args else None
    else:
        level = _LEVELS.get(method)
    return None if type(level) is not int else (logger, level)


def _is_as_made(logger: Any) -> bool:
    """Whether `logger` is one of the standard library's, without functions of its own."""
    logging: Any = sys.modules["logging"]
    is_usual = type(logger) in (logging.Logger, logging.RootLogger)
    return is_usual and not any(map(callable, vars(logger).values()))


def _handlers(logger: Any) -> Iterator[Any]:
    """The handlers that a line of `logger` comes to."""
    while logger is not None:
        yield from logger.handlers
        logger = logger.parent if logger.propagate else None


def _only_streams(handler: Any) -> bool:
    """Whether what `handler` is given is written to a stream of a library's, as the library spells it."""
    cls = type(handler)
    return (
        (cls.__module__, cls.__name__) in _STREAMING
        and not handler.filters
        and _is_of_logging(handler.formatter)
        and is_library_class(type(getattr(handler, "stream", None)))
        and not any(map(callable, vars(handler).values()))
    )


def _is_of_logging(formatter: Any) -> bool:
    """Whether a formatter, if there is one, is as the standard library makes them, in all its parts."""
    if formatter is None:
        return True
    return type(formatter).__module__ == "logging" and all(
        type(x) in _ATOMS or type(x).__module__ == "logging" for x in vars(formatter).values()
    )


def _is_usual() -> bool:
    """Whether records are those of the standard library."""
    logging: Any = sys.modules["logging"]
    return logging.getLogRecordFactory() is logging.LogRecord


def _are_plain(values: Iterable[Any]) -> bool:
    """Whether `values`, but for loggers, are spelled out by C code."""
    pending, count = list(values), 0
    while pending:
        x = pending.pop()
        count += 1
        cls = type(x)
        if cls in _CONTAINERS:
            pending.extend(x)
        elif cls is dict:
            pending.extend((*x, *x.values()))
        elif not (cls in _ATOMS or cls.__module__ in ("numpy", "logging")):
            return False
        if len(pending) + count > _MANY:
            return False
    return True
