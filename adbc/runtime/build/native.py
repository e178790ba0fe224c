"""Derived rules as machine code: their graphs are lowered, and what comes of that is kept with the rule.

The rule that is lowered is the one that bytecode would be entered by, so that both compute the same; the
bytecode stays where it is, for calls that machine code gives up.  What is loaded for this is loaded when the
first rule is lowered.
"""

from __future__ import annotations

import types
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from adbc.ir import intrinsics
from adbc.ir.graph import Graph
from adbc.ir.traverse import copy_graph
from adbc.ir.values import Const, Value
from adbc.passes.query import constant, drop, target
from adbc.runtime.build.derived import Derived, rule_of
from adbc.runtime.build.facts import NameFact
from adbc.runtime.calls.plans import FLOATS
from adbc.types.lattice import FLOAT

if TYPE_CHECKING:  # a rule belongs to an engine; what makes code is loaded when it is needed
    from adbc.low.lower import Seldom
    from adbc.low.program import Program
    from adbc.low.reasons import Reason
    from adbc.native.code import Code
    from adbc.runtime.build.engine import Engine

__all__ = ["Native", "NativeRule"]

_RULES_OF_ADBC = "adbc.rules."


class NativeRule:
    """What has become of one rule: `code`, or the `reasons` why there is none."""

    def __init__(self, program: Program | None, code: Code | None, reasons: Sequence[Reason]) -> None:
        self.program = program
        self.code = code
        self.reasons = tuple(reasons)


class Native:
    """The native backend of one engine.

    must: whether a function without native code is an error (``Config(backend="native")``).
    """

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.must = engine.config.backend == "native"
        self.ways: dict[Any, Any] = {}
        """How `jvp` enters functions, by code and what is known of the arguments."""

    def find(self, rule: Derived) -> NativeRule:
        """What `rule` is as machine code, made if need be.  Raises what building the rule raises, and
        `NativeError` if there has to be code and llvmlite is not installed."""
        with self.engine.lock:
            if rule.native is None:
                rule.build(at_once=True)
                rule.native = self._made(rule)
            found: NativeRule = rule.native
            return found

    def _made(self, rule: Derived) -> NativeRule:
        from adbc.low.reasons import NotNative, Reason
        from adbc.native.code import Code, uses_other_functions
        from adbc.native.machine import is_installed

        if not self.must and not is_installed():
            return NativeRule(
                None, None, [Reason("llvmlite is not installed", "", rule.code.co_qualname, None)]
            )
        try:
            program = self.program(rule)
        except NotNative as refused:
            return NativeRule(None, None, refused.reasons)
        others = uses_other_functions(program)
        if others:
            why = "the C library here gives other bits than `math` does"
            return NativeRule(
                program, None, [Reason(why, name, rule.code.co_qualname, None) for name in others]
            )
        return NativeRule(program, Code(program), ())

    def program(self, rule: Derived) -> Program:
        """The low program of `rule`, which is built.  Raises `low.reasons.NotNative`."""
        from adbc.low import lower
        from adbc.low.kinds import FLOAT_KIND, ListKind, kind_of_type
        from adbc.low.reasons import NotNative, Reason

        def refuse(why: str) -> NotNative:
            return NotNative([Reason(why, "", rule.code.co_qualname, rule.code.co_firstlineno)])

        if rule.takes_function:
            raise refuse("a closure")
        if not rule.graphs:
            raise refuse("its graphs are not at hand")
        if not rule.returns_float:
            raise refuse(f"it returns {rule.result}, not a float")
        names = iter(rule.code.co_varnames)
        parameters: list[Any] = []
        for i, type in enumerate(rule.parameters):
            kind, name = kind_of_type(type), next(names)
            if kind is None and type != FLOATS:
                raise refuse(f"an argument of type {type}")
            parameters.append((name, kind or ListKind(is_shadow=False)))
            if i in _active(rule) and (kind is None or rule.mode == "forward"):
                parameters.append((f"d_{name}", FLOAT_KIND if kind else ListKind(is_shadow=True)))
        name = rule.code.co_name if rule.code.co_name.isidentifier() else "function"
        callees = _Callees(self.engine)
        if rule.mode == "forward":
            return lower.lower_dual(name, rule.graphs[0], parameters, callees)
        forwards, pullback = rule.graphs
        return lower.lower_gradient(name, forwards, pullback, parameters, callees)


def _active(rule: Derived) -> list[int]:
    """The places of the parameters that have a tangent."""
    return [i for i, is_on in enumerate(rule.active) if is_on]


class _Callees:
    """What lowering has to know of the functions that graphs call."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine

    def find(self, function: Any) -> Graph | Seldom | None:
        from adbc.low.lower import Seldom

        if type(function) is not types.FunctionType:
            return None
        rule = rule_of(function)
        if rule is not None:
            is_part = function is rule.forwards or function is rule.pullback
            if not is_part or rule.is_rest:
                return Seldom.SELDOM  # what is made when something unusual has happened, or a guess was wrong
            rule.build(at_once=True)
            if not rule.graphs:
                return None
            return rule.graphs[0 if function is rule.forwards else 1]
        if str(function.__module__).startswith(_RULES_OF_ADBC) and function.__closure__ is None:
            return self._partial(function)
        return None

    def _partial(self, function: types.FunctionType) -> Graph | None:
        """The graph of a function that rules are made of: a partial derivative with branches."""
        graph = self.engine.graphs.primal(function)
        if not all(NameFact(function.__globals__, g.path, g.value).holds() for g in graph.guards):
            return None
        graph, _, _ = copy_graph(graph)
        numbers: dict[Value, Value] = {}
        for call in graph.instructions():
            if target(call) is intrinsics._global_:
                found = function.__globals__.get(constant(call.operands[1]))
                if type(found) is float:  # infinity or NaN: the modules of rules are nobody's to change
                    numbers[call] = Const(found, FLOAT)
        graph.replace_uses(numbers)
        drop(graph, {call for call in graph.instructions() if call in numbers})
        return graph
