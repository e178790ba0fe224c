"""The dynamic calls of both modes, as an engine has them: plain, or watched in debug mode."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

from adbc.runtime.calls.classes import SLOW
from adbc.runtime.calls.driver import Calls, Values
from adbc.runtime.calls.forward import ForwardCalls
from adbc.runtime.calls.plans import Mode
from adbc.runtime.calls.protocols import ALL_PROTOCOLS
from adbc.runtime.calls.reverse import ReverseCalls
from adbc.runtime.calls.steps import UseRow
from adbc.runtime.report.debug import Watch, WatchedRow
from adbc.runtime.state.context import Context
from adbc.runtime.state.engine import EngineView

__all__ = ["Rowwise", "forward_calls", "reverse_calls"]


def reverse_calls(engine: EngineView, watch: Watch | None) -> ReverseCalls:
    """The dynamic calls of `engine` in reverse mode, looked at by `watch` if there is one."""
    if watch is None:
        return ReverseCalls(engine, ALL_PROTOCOLS)
    return _WatchedReverseCalls(engine, watch)


def forward_calls(engine: EngineView, watch: Watch | None) -> ForwardCalls:
    """The dynamic calls of `engine` in forward mode, looked at by `watch` if there is one."""
    if watch is None:
        return ForwardCalls(engine, ALL_PROTOCOLS)
    return _WatchedForwardCalls(engine, watch)


class _Rows(dict[Any, Any]):
    """The rows that a table has found out for calls, `rows`, each as `watched` makes it."""

    def __init__(self, rows: dict[Any, Any], watched: Callable[[Any], Any]) -> None:
        super().__init__()
        self.rows, self.watched = rows, watched

    def get(self, key: Any, default: Any = None) -> Any:
        row = self.rows.get(key)
        return default if row is None else self.watched(row)

    def __setitem__(self, key: Any, row: Any) -> None:
        self.rows[key] = row


class Rowwise(Calls):
    """Dynamic calls that use other rows in the place of those of the table."""

    def __init__(self, engine: EngineView) -> None:
        super().__init__(engine, ALL_PROTOCOLS)
        self.decided = _Rows(self.decided, self.row)
        self.decided_without_text = _Rows(self.decided_without_text, self.row)

    def row(self, row: Any) -> Any:
        """`row` as dynamic calls are to use it."""
        raise NotImplementedError

    def decide(self, function: Any, xs: Values) -> Any:
        return self.row(super().decide(function, xs))

    def decide_without_text(self, function: Any, xs: Values) -> Any:
        return self.row(super().decide_without_text(function, xs))

    def decide_for_instances(self, context: Context, function: Any, xs: Values) -> Any:
        return self.row(super().decide_for_instances(context, function, xs))

    def row_of_method(self, context: Context, method: Any, xs: Values) -> Any:
        return self.row(super().row_of_method(context, method, xs))

    def use_row(self, context: Context, step: UseRow, mode: Mode) -> Any:
        replaced = dataclasses.replace(step, row=self.row(step.row))
        return super().use_row(context, replaced, mode)  # type: ignore[safe-super]  # of the mode


class _Watched(Rowwise):
    """What both modes watch of dynamic calls."""

    is_forward: bool

    def __init__(self, engine: EngineView, watch: Watch) -> None:
        self.checks = watch
        super().__init__(engine)

    def call(self, *given: Any) -> Any:
        return self.checks.call(super().call, self.is_forward)(*given)

    def call_from_outside(self, *given: Any) -> Any:
        return self.checks.call(super().call_from_outside, self.is_forward)(*given)

    def row(self, row: Any) -> Any:
        """`row` as dynamic calls are to use it."""
        return row if row is SLOW or type(row) is WatchedRow else WatchedRow(row, self.checks)

    def handler(self, function: Any) -> Callable[..., Any] | None:
        return self.checks.handler(super().handler(function), self.is_forward)


class _WatchedReverseCalls(_Watched, ReverseCalls):
    is_forward = False

    def attempt(self, *given: Any) -> Any:
        return self.checks.call(super().attempt, self.is_forward)(*given)


class _WatchedForwardCalls(_Watched, ForwardCalls):
    is_forward = True
