"""From bytecode to a graph in SSA form."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adbc.lazy import lazily

if TYPE_CHECKING:
    from adbc.lift.driver import lift

__all__ = ["lift"]

__getattr__ = lazily(__name__, {"lift": "driver"})
