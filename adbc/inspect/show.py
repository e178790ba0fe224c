"""Stages of a function's way to its derivative as text, the difference of two, and their control flow."""

from __future__ import annotations

import difflib
import dis
from collections.abc import Callable
from typing import Any

from adbc.errors import ArgumentError
from adbc.inspect.control_flow import ControlFlow
from adbc.inspect.stages import (
    derived_rule,
    dual_ir,
    fwd_ir,
    primal_ir,
    python_function,
    records,
    rvs_ir,
)
from adbc.ir.graph import Graph
from adbc.ir.printer import print_graph
from adbc.lift import lift
from adbc.runtime import default_engine
from adbc.runtime.entry.signature import Signature

__all__ = ["GRAPHS", "STAGES", "Text", "control_flow", "diff", "show"]

GRAPHS: dict[str, Callable[[Signature], Graph]] = {
    "lifted": lambda signature: lift(python_function(signature), inline=True, looks=True),
    "normal": lambda signature: default_engine().primal(python_function(signature)),
    "primal": primal_ir,
    "dual": dual_ir,
    "fwd": fwd_ir,
    "rvs": rvs_ir,
}
"""The stages that are graphs, in their order."""


def _bytecode(mode: str, which: str) -> Callable[[Signature], str]:
    def disassembled(signature: Signature) -> str:
        return dis.Bytecode(getattr(derived_rule(signature, mode), which)).dis().rstrip()

    return disassembled


_CODE = {
    "dual-bytecode": _bytecode("forward", "forwards"),
    "fwd-bytecode": _bytecode("reverse", "forwards"),
    "rvs-bytecode": _bytecode("reverse", "pullback"),
}

STAGES = (*GRAPHS, "records", *_CODE)
"""What `show` shows: ``lifted`` (as it was read), ``normal`` (calls only), ``primal`` (with types), ``dual``
(forward mode), ``fwd`` and ``rvs`` (forwards pass and pullback of reverse mode), ``records`` (what the
forwards pass saves for the pullback), and their bytecode."""


class Text(str):
    """Text that shows as it is where a value is displayed."""

    def __repr__(self) -> str:
        return str(self)


def show(f: Callable[..., Any], *args: Any, stage: str = "primal") -> Text:
    """One of `STAGES` of the function, for arguments of these types.

    Raises `ArgumentError` if there is no such stage or `f` is not written in Python.

    >>> import adbc.inspect
    >>> adbc.inspect.show(lambda x: x * x, 2.0, stage="rvs")
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
    signature = Signature.of(f, *args)
    if stage in _CODE:
        return Text(_CODE[stage](signature))
    if stage == "records":
        return Text(records(signature))
    return Text(print_graph(_graph(signature, stage)))


def diff(f: Callable[..., Any], *args: Any, before: str = "normal", after: str = "primal") -> Text:
    """What changes from one of `STAGES` to another, as a unified diff.

    >>> import adbc.inspect
    >>> print(adbc.inspect.diff(lambda x: x * x, 2.0))
    --- normal
    +++ primal
    @@ -1,4 +1,4 @@
    -graph <lambda>(x)
    +graph <lambda>(x: float)
     entry:
    -    %1 = call operator.mul(%x, %x)
    +    %1: float = call operator.mul(%x, %x)
         return %1
    """
    old, new = (show(f, *args, stage=stage).splitlines() for stage in (before, after))
    return Text("\n".join(difflib.unified_diff(old, new, before, after, lineterm="")))


def control_flow(f: Callable[..., Any], *args: Any, stage: str = "primal") -> ControlFlow:
    """The control flow of a stage that is a graph, for notebooks, as SVG and for Graphviz.

    >>> import adbc.inspect
    >>> drawing = adbc.inspect.control_flow(lambda x: x if x > 0.0 else -x, 2.0)
    >>> print(drawing.dot.splitlines()[0])
    digraph "<lambda>" {
    """
    return ControlFlow(_graph(Signature.of(f, *args), stage))


def _graph(signature: Signature, stage: str) -> Graph:
    if stage not in GRAPHS:
        wanted = ", ".join(GRAPHS if stage in STAGES else STAGES)
        raise ArgumentError(f"there is no graph called {stage!r}; choose one of {wanted}")
    return GRAPHS[stage](signature)
