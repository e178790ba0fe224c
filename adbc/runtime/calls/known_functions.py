"""Python functions that are entered as they were before, without anything being asked of them."""

from __future__ import annotations

import abc
import weakref
from collections.abc import Callable
from types import CodeType, FunctionType
from typing import Any, Literal

from adbc.cpython.libraries import is_library_code
from adbc.rules.lookup import RuleTable
from adbc.runtime.calls import plans
from adbc.runtime.calls.callables import has_defaults_beside
from adbc.runtime.calls.dispatched import CALLED, implementation
from adbc.runtime.calls.plans import Mode, Plan
from adbc.runtime.state.closures import with_active_defaults
from adbc.runtime.state.context import Context
from adbc.runtime.state.engine import EngineView

__all__ = ["Called", "KnownFunctions"]

Values = tuple[Any, ...]
Called = Literal["function", "method", "object"]
"""What a call was of, in which a Python function is entered: of that function; of a bound method, whose
``__self__`` is the first argument then; of an object that is the first argument."""


class KnownFunctions(abc.ABC):
    """The part of `Calls` that enters functions by plans that are at hand."""

    engine: EngineView
    table: RuleTable
    unfollowed: set[CodeType]
    fill: Callable[[Any, Any], Any]

    @abc.abstractmethod
    def call(
        self,
        context: Context,
        keywords: tuple[str, ...],
        f: Any,
        ff: Any,
        xs: Values,
        fs: Values,
        mode: Mode | None = None,
    ) -> Any:
        """The answer of ``f(*xs)``, the last arguments by keyword."""

    @abc.abstractmethod
    def enter_by(
        self,
        context: Context,
        plan: Plan,
        function: FunctionType,
        ff: Any,
        xs: Values,
        fs: Values,
        called: Called,
    ) -> Any:
        """Enter a Python function on exactly its parameters, as `plan` says.  called: what the call was
        of."""

    @abc.abstractmethod
    def enter_gathered(
        self,
        context: Context,
        plan: Plan,
        function: Any,
        ff: Any,
        xs: Values,
        fs: Values,
        gather: Callable[..., Any],
        called: Called,
    ) -> Any:
        """Enter a Python function as `plan` says, on the parameters `xs`; `gather` (`plans.Layout`) gives
        what comes back for the arguments of the call, which is answered as `call` does."""

    def enter_known(
        self,
        context: Context,
        keywords: tuple[str, ...],
        f: FunctionType,
        ff: Any,
        xs: Values,
        fs: Values,
        called: Called,
        mode: Mode,
    ) -> Any:
        """Enter a Python function that is no library code as it was entered before; None if none like this
        was, or it has rules.  called: what the call was of."""
        if f.__code__ in self.unfollowed:
            is_chosen = f.__code__ is CALLED and called == "function"
            return self.call_chosen(context, keywords, f, xs, fs, mode) if is_chosen else None
        if not keywords:
            plan = plans.followed(self.engine, mode, f, xs, fs)
            if plan is not None:
                if plan.cleared() is not f and not self.clear(plan, f):
                    return None
                return self.enter_by(context, plan, f, ff, xs, fs, called)
        found = plans.bound_at_once(self.engine, mode, f, xs, fs, keywords, self.fill)
        if found is None or not found[0].is_followed:
            if is_library_code(f.__code__.co_filename, f.__globals__):
                self.unfollowed.add(f.__code__)
            return None
        plan, values, beside, gather = found
        if plan.cleared() is not f and not self.clear(plan, f):
            return None
        if f in with_active_defaults or has_defaults_beside(ff):
            return None
        return self.enter_gathered(context, plan, f, ff, values, beside, gather, called)

    def call_chosen(
        self,
        context: Context,
        keywords: tuple[str, ...],
        f: FunctionType,
        xs: Values,
        fs: Values,
        mode: Mode,
    ) -> Any:
        """Call what a function that `functools.singledispatch` has made chooses for these arguments; None if
        that is no function in Python, or `f` has rules."""
        found = None if self.table.rows(f) else implementation(f, xs[: len(xs) - len(keywords)])
        return (
            self.call(context, keywords, found, None, xs, fs, mode) if type(found) is FunctionType else None
        )

    def clear(self, plan: Plan, f: FunctionType) -> bool:
        """Whether `f` has no rules of its own, so that it is entered by `plan`, which is for all functions
        with its code; that is so as long as the plan is good, for a rule that is declared drops all plans."""
        if self.table.rows(f):
            return False
        plan.cleared = weakref.ref(f)
        return True
