"""Which arguments a gradient is asked for: by number, or by name, however each of them is given.

What is selected becomes *places*: the arguments of a call are counted, those given by keyword behind the
others.  Names are those of the parameters as `inspect.signature` shows them, and of what goes to ``**kw``.
"""

from __future__ import annotations

import inspect
import operator
import sys
import types
from collections.abc import Callable, Sequence
from typing import Any

from adbc.errors import ArgumentError
from adbc.runtime.entry.described import BARE
from adbc.runtime.report.messages import describe

__all__ = ["Selector", "by_position", "completed", "label", "least_count", "places", "selectors"]

Selector = int | str

_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
_MANY = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


def selectors(argnums: Selector | Sequence[Selector]) -> tuple[Selector, ...]:
    """`argnums` as a tuple of ints and names; raises `ArgumentError` if it is no such thing."""
    chosen = (argnums,) if isinstance(argnums, str) or not isinstance(argnums, Sequence) else tuple(argnums)
    return tuple([_selector(i, argnums) for i in chosen])


def _selector(i: Any, argnums: Any) -> Selector:
    if isinstance(i, str):
        return i
    try:
        if not isinstance(i, bool):
            return operator.index(i)
    except TypeError:
        pass
    raise ArgumentError(
        f"argnums is an int, the name of a parameter, or a sequence of these, not {argnums!r}"
    )


def label(i: int, names: Sequence[str], count: int) -> int | str:
    """What the argument at place `i` is called: its number, or its name if it is given by keyword."""
    return i if i < count else names[i - count]


def by_position(
    f: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], with_defaults: bool = False
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Arguments by keyword are put by position if they are for the next parameters of `f`, a function itself
    and not something around one.

    with_defaults: parameters between them may be left out whose defaults are as good as arguments.
    """
    if type(f) is not types.FunctionType:
        return args, kwargs
    code = f.__code__
    names = code.co_varnames[len(args) : code.co_argcount]
    if len(args) < code.co_posonlyargcount or not kwargs.keys() <= set(names):
        return args, kwargs
    last = max((names.index(name) for name in kwargs), default=-1)
    defaults = f.__defaults__ or ()
    first = code.co_argcount - len(defaults) - len(args)  # the place among `names` of the first default
    found = []
    for i, name in enumerate(names[: last + 1]):
        if name in kwargs:
            found.append(kwargs[name])
        elif with_defaults and i >= first and type(defaults[i - first]) in BARE:
            found.append(defaults[i - first])
        else:
            return args, kwargs
    return (*args, *found), {}


def completed(f: types.FunctionType, args: tuple[Any, ...]) -> tuple[Any, ...]:
    """The arguments `args` of a call of `f`, all by position, and behind them the defaults of the other
    parameters, if these are as good as arguments: numbers, texts and None."""
    code, defaults = f.__code__, f.__defaults__ or ()
    missing = code.co_argcount - len(args)
    if not 0 < missing <= len(defaults) or code.co_kwonlyargcount or code.co_flags & _GATHERING:
        return args
    rest = defaults[len(defaults) - missing :]
    for x in rest:
        if type(x) not in BARE:
            return args
    return (*args, *rest)


def least_count(f: Any, numbers: Sequence[int]) -> int:
    """How many arguments a call of `f` has at least that may be `completed`, where the gradient by those
    with these `numbers` is asked for: one that counts from the end means the arguments that are given."""
    is_certain = type(f) is types.FunctionType and min(numbers, default=0) >= 0
    return max(numbers, default=-1) + 1 if is_certain else sys.maxsize


_GATHERING = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS


def places(
    f: Callable[..., Any], chosen: Sequence[Selector], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[int, ...]:
    """The places of the `chosen` arguments in a call of `f`.

    A number counts positional parameters, from the end of the positional arguments if it is negative.
    Raises `ArgumentError` if no such argument is given.
    """
    count, names = len(args), tuple(kwargs)
    found = []
    for choice in chosen:
        if isinstance(choice, str):
            place = _place_of_name(f, choice, count, names)
        elif -count <= choice < count:
            place = choice % count
        else:
            place = _place_of_number(f, choice, count, names)
        found.append(place)
    return tuple(found)


def _place_of_number(f: Callable[..., Any], i: int, count: int, names: Sequence[str]) -> int:
    """The place of parameter `i`, for which there is no positional argument."""
    parameters = _parameters(f)
    by_number = [p for p in parameters if p.kind in _POSITIONAL]
    if 0 <= i < len(by_number):
        name = by_number[i].name
        if name in names and by_number[i].kind is inspect.Parameter.POSITIONAL_OR_KEYWORD:
            return count + names.index(name)
        raise _not_given(f, i, by_number[i], count)
    raise ArgumentError(
        f"argnums has {i}, but {describe(f)} was called with {count} positional argument{'s' * (count != 1)}"
        + (f"; ask for what is given by keyword by its name, argnums={names[0]!r}" if names else "")
    )


def _place_of_name(f: Callable[..., Any], name: str, count: int, names: Sequence[str]) -> int:
    """The place of the argument for the parameter `name`, or that goes to ``**kw`` under this name."""
    if name in names:
        return count + names.index(name)
    parameters = _parameters(f)
    for i, parameter in enumerate(parameters):
        if parameter.name != name:
            continue
        if parameter.kind in _MANY:
            which = "numbers" if parameter.kind is inspect.Parameter.VAR_POSITIONAL else "names"
            raise ArgumentError(
                f"argnums has {name!r}, under which {describe(f)} takes any number of arguments: give the"
                f" {which} of those that are meant"
            )
        if parameter.kind in _POSITIONAL and i < count:
            return i
        raise _not_given(f, name, parameter, count)
    known = ", ".join(p.name for p in parameters if p.kind not in _MANY) or "none that Python knows"
    raise ArgumentError(
        f"argnums has {name!r}, but {describe(f)} has no parameter of this name, and no argument was given"
        f" by it; parameters: {known}"
    )


def _not_given(
    f: Callable[..., Any], choice: Selector, parameter: inspect.Parameter, count: int
) -> ArgumentError:
    """The error for a parameter that is asked for, but for which the call has no argument."""
    name, default = parameter.name, parameter.default
    if default is inspect.Parameter.empty:
        remedy = "give it"
    elif parameter.kind is inspect.Parameter.POSITIONAL_ONLY:
        remedy = f"its default {default!r:.40} has no gradient; give it, by position"
    else:
        remedy = f"its default has no gradient; give it, {name}={default!r:.40}"
    return ArgumentError(
        f"argnums has {choice!r}, but {describe(f)} was called with {count} positional"
        f" argument{'s' * (count != 1)} and without its parameter {name!r}: {remedy}"
    )


def _parameters(f: Callable[..., Any]) -> list[inspect.Parameter]:
    """The parameters of `f`; those of the function that it wraps if it takes anything itself."""
    for follow in (False, True):
        try:
            parameters = list(inspect.signature(f, follow_wrapped=follow).parameters.values())
        except (TypeError, ValueError):  # of what is made in C, some tell nothing
            return []
        if any(p.kind not in _MANY for p in parameters):
            break
    return parameters
