"""From graph to code object; `driver` says how."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adbc.lazy import lazily

if TYPE_CHECKING:
    from adbc.emit.driver import emit, emit_function

__all__ = ["emit", "emit_function"]

__getattr__ = lazily(__name__, {"emit": "driver", "emit_function": "driver"})
