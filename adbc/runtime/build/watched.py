"""The dynamic calls of both modes, as an engine has them: plain, or watched in debug mode."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from adbc.runtime.calls.driver import Calls
from adbc.runtime.calls.forward import ForwardCalls
from adbc.runtime.calls.protocols import ALL_PROTOCOLS
from adbc.runtime.calls.reverse import ReverseCalls
from adbc.runtime.report.debug import Watch
from adbc.runtime.state.engine import EngineView

__all__ = ["forward_calls", "reverse_calls"]


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


class _Watched(Calls):
    """What both modes watch of dynamic calls."""

    is_forward: bool

    def __init__(self, engine: EngineView, watch: Watch) -> None:
        super().__init__(engine, ALL_PROTOCOLS)
        self.checks = watch

    def call(self, *given: Any) -> Any:
        return self.checks.call(super().call, self.is_forward)(*given)

    def handler(self, function: Any) -> Callable[..., Any] | None:
        return self.checks.handler(super().handler(function), self.is_forward)


class _WatchedReverseCalls(_Watched, ReverseCalls):
    is_forward = False

    def attempt(self, *given: Any) -> Any:
        return self.checks.call(super().attempt, self.is_forward)(*given)


class _WatchedForwardCalls(_Watched, ForwardCalls):
    is_forward = True
