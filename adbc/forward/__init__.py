"""Forward mode: from a primal graph, a graph on dual pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adbc.forward.support import ForwardSupport
from adbc.lazy import lazily

if TYPE_CHECKING:
    from adbc.forward.stages import FORWARD, build_forward

__all__ = ["FORWARD", "ForwardSupport", "build_forward"]

__getattr__ = lazily(__name__, {"FORWARD": "stages", "build_forward": "stages"})
