"""Text that is made in a derivative which is differentiated once more.

The outer level meets the calls that make text, print it or read it like any others.  What the inner level has
to remember of text that is made from numbers with a derivative of its own (`texts`) is noted apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from adbc.rules.table import Overlay, Rule, ZeroRule
from adbc.runtime.calls import logs, texts
from adbc.runtime.calls.nested import apart
from adbc.runtime.calls.steps import Call, UseTextRow
from adbc.runtime.state.activity import is_active
from adbc.runtime.state.context import Context

__all__ = ["ROWS", "before", "goes_to_streams", "logged", "noted", "read", "remembered"]

Values = Sequence[Any]
Names = tuple[str, ...]


def _text(context: Any, function: Any, args: Any, shadows: Any) -> Any:
    """`texts.text`, by other means."""
    out = function(*args)
    made(context, function, args, shadows, out)
    return out


def made(context: Context, function: Any, args: Values, shadows: Values, out: Any) -> None:
    """Remember `out`, which ``function(*args)`` has given, a function with a row of text."""
    if context.texts is not None or any(shadow is not None for shadow in shadows):
        texts.follow(context, function, args, shadows, out)


def noted(
    context: Context, row: Rule, function: Any, args: Values, shadows: Values, keywords: Names, out: Any
) -> None:
    """Look at `out`, which ``function(*args)`` has given, by a row that text may go through."""
    texts.after_row(context, UseTextRow(row, _call(function, args, shadows, keywords)), out)


def before(context: Context, function: Any, args: Values, keywords: Names) -> Any:
    """What holds text that was made from a number, among what a function that is not followed is given."""
    return texts.before_foreign(context, _call(function, args, (None,) * len(args), keywords))


def remembered(context: Context, function: Any, args: Values, keywords: Names, out: Any, source: Any) -> None:
    """Remember `out`, which a function that is not followed has made of `source`, if that is there."""
    call = _call(function, args, (None,) * len(args), keywords)
    if source is not None:
        texts.hand_on(context, call, out, source)
    else:
        texts.listed(context, call, out)


def read(context: Context, obj: Any, value: Any) -> None:
    """Remember the text `value`, an attribute of `obj`, which has been given such text."""
    texts.read(context, _call(None, (obj,), (None,), ()), value)


def goes_to_streams(call: Call) -> bool:
    """Whether `call` is of a logger whose line only goes out."""
    function = call.function
    return (
        getattr(function, "__module__", None) == "logging"
        and logs.streams(function.__qualname__, call.args) is not None
    )


def logged(context: Context, function: Any, args: Values, shadows: Values) -> None:
    """Remember the streams that the line has gone to which ``function(*args)`` has written to a log."""
    call = _call(function, args, shadows, ())
    streams = logs.streams(function.__qualname__, args)
    if streams and (any(map(is_active, shadows)) or texts.among_arguments(context, call) is not None):
        texts.written(context, streams)


def _call(function: Any, args: Values, shadows: Values, keywords: Names) -> Call:
    return Call(function, None, tuple(args), tuple(shadows), (None,) * len(args), keywords)


ROWS: list[Rule] = [
    Overlay(texts.text, _text),
    Overlay(texts.open_text, _text),
    ZeroRule(texts.lost_in_text, result=float),
    *apart(made, noted, before, remembered, read, logged),
]
