"""The graphs of a function at each stage of its way to a derivative."""

from __future__ import annotations

import types
from inspect import CO_VARARGS, CO_VARKEYWORDS
from typing import Any

from adbc.errors import ArgumentError
from adbc.functions import is_function
from adbc.ir.graph import Graph
from adbc.ir.traverse import copy_graph
from adbc.reverse.layout import Records
from adbc.runtime import default_engine
from adbc.runtime.build.derived import Derived
from adbc.runtime.entry.signature import Signature, as_signature
from adbc.types import has_cotangent, has_shadow, infer

__all__ = ["derived_rule", "dual_ir", "fwd_ir", "primal_ir", "python_function", "records", "rvs_ir"]


def primal_ir(signature: Signature | tuple[Any, ...]) -> Graph:
    """The primal graph in normal form, typed for `signature`.

    Print it, or walk it.  Raises `ArgumentError` if the function is not written in Python or does
    not have that many parameters, `LiftError` if it cannot be lifted.

    >>> import adbc.inspect
    >>> print(adbc.inspect.primal_ir((lambda x: x * x + 1.0, float)))
    graph <lambda>(x: float)
    entry:
        %1: float = call operator.mul(%x, %x)
        %2: float = call operator.add(%1, 1.0)
        return %2
    """
    signature = as_signature(signature)
    function = python_function(signature)
    engine = default_engine()
    graph, _, _ = copy_graph(engine.primal(function))
    infer(graph, signature.types, engine.knowledge.oracle)
    return graph


def dual_ir(signature: Signature | tuple[Any, ...]) -> Graph:
    """The dual graph of forward mode for `signature`, all arguments active: print it, or walk it.

    It takes a context, then each argument with its tangent, and returns value and tangent.  Raises as
    `primal_ir` does.

    >>> import adbc.inspect
    >>> print(adbc.inspect.dual_ir((lambda x: x * x, float)))
    graph <lambda>(context: Context, x: float, dx: tangent)
    entry:
        %1: float = call operator.mul(%x, %x)
        %2: tangent = call operator.mul(%x, %dx)
        %3: tangent = call operator.add(%2, %2)
        %4: bool = call _not_nan_(%3)
        branch %4, entry.done, careful
    careful:
        %5: Tuple[float, tangent] = call <const 0>(%context, %x, %dx)
        return %5
    entry.done:
        %6: Tuple[float, tangent] = call _new_(builtins.tuple, %1, %3)
        return %6
    """
    return derived_rule(signature, "forward").graphs[0]


def fwd_ir(signature: Signature | tuple[Any, ...]) -> Graph:
    """The forwards pass of reverse mode for `signature`, all arguments active: print it, or walk it.

    It takes a context, then each argument, with its shadow if it has memory, and returns the value, its
    shadow if it has one, and what is saved for the pullback.  Raises as `primal_ir` does.

    >>> import adbc.inspect
    >>> print(adbc.inspect.fwd_ir((lambda x: x * x, float)))
    graph <lambda>(context: Context, x: float)
    entry:
        %1: float = call operator.mul(%x, %x)
        %2: Tuple[float, float] = call _new_(builtins.tuple, %1, %x)
        return %2
    """
    return derived_rule(signature, "reverse").graphs[0]


def rvs_ir(signature: Signature | tuple[Any, ...]) -> Graph:
    """The pullback of reverse mode for `signature`, all arguments active: print it, or walk it.

    It takes what the forwards pass has saved and the cotangent of the value, if that is a number or holds
    any, and returns the cotangents of those arguments that are or hold numbers.  Raises as `primal_ir`
    does.

    >>> import adbc.inspect
    >>> print(adbc.inspect.rvs_ir((lambda x: x * x, float)))
    graph <lambda>.pullback(saved: float, cotangent: tangent)
    entry:
        %1: tangent = call operator.mul(%saved, %cotangent)
        %2: tangent = call operator.mul(%saved, %cotangent)
        %3: tangent = call operator.add(%1, %2)
        %4: bool = call _not_nan_(%3)
        branch %4, entry.done, careful
    careful:
        %5: Tuple[tangent] = call <const 0>(%saved, %cotangent)
        return %5
    entry.done:
        %6: Tuple[tangent] = call _new_(builtins.tuple, %3)
        return %6
    """
    return derived_rule(signature, "reverse").graphs[1]


def records(signature: Signature | tuple[Any, ...]) -> Records:
    """What the forwards pass saves for the pullback, all arguments active: the types of all slots.

    Print it, or walk it.  Raises as `primal_ir` does.

    >>> import adbc.inspect
    >>> def power(x, n):
    ...     y = 1.0
    ...     for _ in range(n):
    ...         y *= x
    ...     return y
    >>> print(adbc.inspect.records((power, float, int)))
    call: (float, Tape[loop])
    loop: a list, with (float) per iteration
        loop -> exit: ()
    """
    found = derived_rule(signature, "reverse").records
    assert found is not None
    return found


def derived_rule(signature: Signature | tuple[Any, ...], mode: str) -> Derived:
    """The derived rule for `signature`, built, all arguments active; `mode` is "forward" or "reverse"."""
    signature = as_signature(signature)
    function = python_function(signature)
    active = [has_shadow(t) or has_cotangent(t) for t in signature.types]
    engine = default_engine()
    rule = engine.entry(function, signature.types, active, mode)
    engine.tiers.show(rule)
    if not rule.graphs:  # its code came from the cache on disk
        rule = Derived(engine, function, rule.parameters, rule.active, mode, rule.result)
        engine.primal(function)
        engine.tiers.show(rule)
    return rule


def python_function(signature: Signature) -> types.FunctionType:
    """The function of `signature`, or `ArgumentError` if it is not written in Python or does not fit."""
    function = signature.function
    if isinstance(function, types.MethodType):
        function = function.__func__
    if not is_function(function):
        raise ArgumentError(
            f"{function!r} is not written in Python, so it has no graph; it is differentiated by a rule"
        )
    code = function.__code__
    count = code.co_argcount + code.co_kwonlyargcount + bool(code.co_flags & CO_VARARGS)
    count += bool(code.co_flags & CO_VARKEYWORDS)
    if count != len(signature.types):
        raise ArgumentError(
            f"{function.__qualname__} has {count} parameters (*args and **kwargs are one each),"
            f" but the signature has {len(signature.types)} types"
        )
    return function
