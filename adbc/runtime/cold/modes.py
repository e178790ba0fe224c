"""What interpreted code needs of the engine, in either mode."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from adbc.records import record
from adbc.runtime.calls.driver import Calls

__all__ = ["Mode", "Thermostat"]


class Thermostat:
    """Says whether cold rules may come to have code now.  is_held: they stay as they are."""

    __slots__ = ("is_held",)

    def __init__(self) -> None:
        self.is_held = False


@record(frozen=True, eq=False)
class Mode:
    """One mode of one engine.

    A companion is what stands beside a value: a shadow, or a tangent.  The functions are those that generated
    code calls (`derive.support.CommonSupport`).
    """

    is_forward: bool
    thermostat: Thermostat
    calls: Calls
    attempt: Callable[..., Any] | None
    """In reverse mode what `calls.call` is, but an exception comes back as a `Raised`; else None."""
    known: Callable[..., Any]
    kept: Callable[..., Any]
    caught: Callable[..., Any]
    instance: Callable[..., Any]
    function: Callable[..., Any]
    store_global: Callable[..., Any]
    check_global: Callable[..., Any]
