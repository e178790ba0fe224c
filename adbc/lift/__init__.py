"""From bytecode to a graph in SSA form."""

from __future__ import annotations

from adbc.lift.driver import lift

__all__ = ["lift"]
