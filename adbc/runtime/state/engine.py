"""What the rooms below the engine know of it: derived rules are asked for here, and made elsewhere.

`runtime.build.engine.Engine` is an `EngineView`, and its `Derived` a `DerivedView`, by having these members:
dispatch and the ways in use an engine without importing the one that is composed of them.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from adbc.rules.lookup import RuleTable
from adbc.runtime.state.graph_functions import GraphFunction, Segments
from adbc.types import AbstractType

__all__ = ["CallsView", "DerivedView", "EngineView", "ReverseCallsView", "SupportView"]

Types = Sequence[AbstractType]


class DerivedView(Protocol):
    """A derived rule, perhaps not built yet."""

    forwards: types.FunctionType
    """The forwards pass, or in forward mode the dual function."""
    pullback: types.FunctionType
    is_built: bool
    takes_function: bool
    """Whether the rule is given the function and its shadow, behind the context."""
    returns_float: bool
    returns_shadow: bool
    returns_cotangent: bool
    mode: str
    result: AbstractType
    is_provisional: bool
    """Whether it is only there to be interpreted (`EngineView.entry`)."""
    is_retired: bool
    """Whether it is provisional and was found to be worth code: another is to be entered."""
    is_entered: bool
    """Whether calls from outside go by it."""
    warns: bool
    """Whether NumPy may warn of what the pullback computes, as of when `holds` was asked."""

    @property
    def engine(self) -> EngineView: ...

    def build(self, at_once: bool = False) -> None:
        """Make the code, if that has not been done, or let the rule be interpreted, unless it is to have code
        `at_once`."""

    def holds(self) -> bool:
        """Whether all that this rule and those it calls were specialised on is still so."""

    def goes_on(self) -> bool:
        """Whether it still is what it was made for, though not all of that is so any more."""

    def mend(self) -> list[str]:
        """Bind the names that it was specialised on to what they were bound to."""


class CallsView(Protocol):
    """The dynamic calls of one mode, as they are entered from outside."""

    @property
    def call(self) -> Callable[..., Any]:
        """Answer a call: ``call(context, keywords, f, ff, xs, fs)``."""

    @property
    def call_from_outside(self) -> Callable[..., Any]:
        """Answer the first call of all, as `call` does; nobody has looked at its arguments."""


class ReverseCallsView(CallsView, Protocol):
    """The dynamic calls of reverse mode, as they are entered from outside."""

    @property
    def enter_planned(self) -> Callable[..., Any]:
        """Answer a call by its plan: ``enter_planned(context, plan, f, ff, xs, fs, first)``."""


class SupportView(Protocol):
    """What the ways in ask of `reverse.Support` and `ForwardSupport`: whether calls are watched."""

    @property
    def checks_aliases(self) -> bool: ...

    @property
    def watch(self) -> Callable[[Any, str], Any] | None: ...


class EngineView(Protocol):
    """One rule table and all that was derived with it."""

    # -- what is known -----------------------------------------------------------------------------------

    @property
    def table(self) -> RuleTable: ...

    @property
    def inside(self) -> EngineView:
        """The engine that derives what is differentiated once more."""

    @property
    def epoch(self) -> int:
        """The epoch of the table when rules were derived last: after another one all of them are stale."""

    @property
    def generation(self) -> int:
        """How often something was forgotten."""

    @property
    def stale(self) -> set[Any]:
        """Places where a guess has changed since rules were built on it: `refresh` before anything is
        entered."""

    @property
    def builds(self) -> int:
        """How often code has been made, or what is known of rules has changed."""

    @property
    def pressing(self) -> set[Any]:
        """The `stale` places for which rules are to be built anew in the middle of a call."""

    @property
    def plans(self) -> dict[Any, Any]:
        """The inline caches of dispatch: how functions are entered, by code and classes of arguments."""

    @property
    def forms(self) -> dict[Any, Any]:
        """By code and address of the globals, the forms of tuples that a function was called with."""

    @property
    def entrances(self) -> dict[Any, Any]:
        """The entrances of gradients, by code, namespace and what is asked for."""

    @property
    def ways(self) -> dict[int, list[Any]]:
        """The inline caches of `jvp`, by the address of the code."""

    @property
    def read_places(self) -> dict[Any, list[int]]:
        """Which arguments functions only read, by code and classes of arguments."""

    @property
    def reverse(self) -> SupportView: ...

    @property
    def forward(self) -> SupportView: ...

    @property
    def reverse_calls(self) -> ReverseCallsView: ...

    @property
    def forward_calls(self) -> CallsView: ...

    @property
    def batched(self) -> EngineView: ...

    @property
    def native(self) -> Any:
        """What makes machine code of rules (`runtime.build.native.Native`), None if bytecode is wanted."""

    # -- what can be asked -------------------------------------------------------------------------------

    def typeof(self, value: object) -> AbstractType:
        """The type that a rule for the argument `value` is made for."""

    def entry(
        self,
        function: types.FunctionType,
        parameters: Types,
        active: Sequence[bool],
        mode: str,
        is_dynamic: bool = False,
    ) -> DerivedView:
        """The derived rule; for a call that is decided when it is made perhaps a provisional one.  Raises
        `LiftError` if `function` cannot be lifted."""

    def check(self, rule: DerivedView) -> bool:
        """Whether all that `rule` was specialised on still holds; if not, everything is dropped."""

    def refresh(self) -> None:
        """Forget the rules that were built on guesses that have changed, and those that call them."""

    def clear(self) -> None:
        """Forget everything that was derived."""

    def is_closed(self, function: types.FunctionType, parameters: tuple[AbstractType, ...]) -> bool:
        """Whether `function` meets no memory but that of its arguments (`types.closed`)."""

    def only_reads(
        self, function: types.FunctionType, parameters: tuple[AbstractType, ...]
    ) -> Sequence[bool]:
        """Per parameter of these types, whether `function` only reads it (`types.readers`)."""

    # -- functions of special kinds ------------------------------------------------------------------------

    @property
    def written(self) -> Callable[[types.FunctionType], bool]:
        """``written(function)``: gives `function`, which may be that of a rule that has no code yet, code;
        whether it has some now."""

    def class_body(self, function: types.FunctionType) -> GraphFunction:
        """The body of a class statement, as a function of its namespace and the cells of its closure."""

    def segments(self, function: types.FunctionType) -> Segments:
        """What a generator function is cut into."""
