"""From bytecode to a graph in SSA form."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adbc.lazy import lazily

if TYPE_CHECKING:
    from adbc.lift.driver import lift, lift_class_body

__all__ = ["lift", "lift_class_body"]

__getattr__ = lazily(__name__, {"lift": "driver", "lift_class_body": "driver"})
