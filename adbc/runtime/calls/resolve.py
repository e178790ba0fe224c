"""What a call really calls: CPython's own protocols, spelt out.

`step(call)` looks at a call of anything on anything and says what CPython would do next: use a rule of
the table, enter a Python function, pass the call on to something else (`Delegate`), or run a C function.
It reads classes and never runs user code, so both modes share it.  It answers with one of the `steps`, and
the drivers of `Calls` do what that says.
"""

from __future__ import annotations

import inspect
import types
from typing import Any

from adbc.cpython.arity import is_misfit
from adbc.errors import UnsupportedError
from adbc.functions import is_function, stands_for_another
from adbc.ir import intrinsics
from adbc.rules.deciding import how_many_decide
from adbc.rules.lookup import RuleTable
from adbc.runtime.calls.callables import pass_on, self_shadow
from adbc.runtime.calls.classes import is_python_function, lookup
from adbc.runtime.calls.dispatched import CHOOSING, chosen
from adbc.runtime.calls.nested import is_machinery
from adbc.runtime.calls.operators import of_plain_numbers
from adbc.runtime.calls.steps import (
    AsItIs,
    Call,
    Delegate,
    Differentiate,
    Enter,
    Foreign,
    OfSelf,
    Protocols,
    Step,
    Suspend,
    pass_to_row,
)
from adbc.runtime.calls.unfollowed import is_differentiation, runs_as_it_is
from adbc.runtime.report.messages import describe, nested_part
from adbc.runtime.state.graph_functions import GraphFunction

__all__ = ["met_inside", "step"]

_SYNTAX = frozenset(intrinsics.INTRINSICS.values())
"""Functions that stand for syntax: their bodies say what they mean, and are never entered."""


def step(call: Call, table: RuleTable, protocols: Protocols) -> Step:
    """What CPython does next to make `call`."""
    function = call.function
    cls = type(function)
    if cls is types.FunctionType and function not in _SYNTAX:
        if runs_as_it_is(function, call.args, call.shadows):
            return AsItIs(call)
        row = table.find(function, _classes(call) if call.keywords else tuple(map(type, call.args)))
        if row is not None:
            return pass_to_row(row, call)
        if is_differentiation(function):
            return Differentiate(call)
        if function.__code__ in CHOOSING and (found := chosen(call)) is not None:
            return found
        return Suspend(call) if function.__code__.co_flags & inspect.CO_GENERATOR else Enter(call)
    if issubclass(cls, GraphFunction):
        return Enter(call)
    if cls is types.MethodType:
        shadow = getattr(call.shadow, "__dict__", {}).get("__func__")
        obj, own = function.__self__, self_shadow(call.shadow)
        return Delegate(call.prepend(function.__func__, shadow, obj, own, OfSelf(call.origin, True)))
    if is_misfit(function, call.count, call.keywords):
        return _misfit(call)
    if stands_for_another(cls):
        row = table.find(function, _classes(call) if call.keywords else tuple(map(type, call.args)))
        return pass_to_row(row, call) if row is not None else _of_proxy(call, table)
    try:
        special = protocols.get(function)
    except TypeError:
        special = None
    if special is not None:
        found = special(call, table)
        if found is not None:
            return found
    row = table.find(function, _classes(call) if call.keywords else tuple(map(type, call.args)))
    if row is not None:
        return pass_to_row(row, call)
    if cls is types.BuiltinFunctionType and function.__module__ in _OF_NUMBERS and not call.keywords:
        found = of_plain_numbers(call, table)
        if found is not None:
            return found
    return Foreign(call) if cls is types.FunctionType else pass_on(call, table)


def _of_proxy(call: Call, table: RuleTable) -> Step:
    """What is called where an object stands for another, to which it may be equal: what its class says."""
    method = lookup(type(call.function), "__call__")
    if is_python_function(lookup(type(method), "__get__")):
        return Delegate(call.prepend(by_descriptor, None, call.function, call.shadow, call.origin))
    if not (is_function(method) or table.rows(method)):
        return Foreign(call)
    return Delegate(call.prepend(method, None, call.function, call.shadow, call.origin))


def by_descriptor(function: Any, /, *args: Any, **keywords: Any) -> Any:
    """A call of `function`, whose class has a descriptor written in Python for its ``__call__``."""
    return intrinsics._load_special_(function, "__call__")(*args, **keywords)


def _misfit(call: Call) -> Step:
    """What `call` is, of a function that says of itself that it does not take so many arguments: it raises
    what it raises plainly.  Were it to give something after all, it would be made once, and refused if
    anything that it was given has a derivative."""
    if any(shadow is not None for shadow in call.shadows):
        call.perform()
        raise UnsupportedError(
            f"a call of {describe(call.function)} with {call.count} arguments by position",
            "it says of itself that it takes another number of them, so that no rule fits",
            "give it a rule: adbc.rule",
        )
    return AsItIs(call)


def met_inside(step: Enter) -> Step:
    """The step in place of `step`, which an outer level meets in code of an inner one: of the functions of
    the runtime the handlers of operators are followed, as `inner` has them; raises for others.

    A pullback that also takes what was saved while its rule was interpreted says what takes that which its
    code has saved (`build.tiers`)."""
    call, function = step.call, step.call.function
    if not is_machinery(function):
        return step
    coded = getattr(function, "coded", None)
    pullback = None if coded is None else coded(call.args[0])
    if pullback is not None:
        return Delegate(call.of(pullback))
    calls = getattr(function, "of", None)
    if calls is None:
        raise nested_part(coded is not None)
    from adbc.runtime.calls.inner import operation  # it asks this module

    given = Call(
        operation, None, (calls, function.handled[1], *call.args), (None, None, *call.shadows),
        (None, None, *call.origins),
    )  # fmt: skip
    return Delegate(given)


_OF_NUMBERS = ("math", "cmath")
"""Modules whose functions look at nothing but the value of a number."""


def _classes(call: Call) -> tuple[type, ...]:
    """The classes of the arguments by which the row for `call`, which has keywords, is chosen."""
    classes = tuple(map(type, call.args))
    return classes[: how_many_decide(classes, call.count)]
