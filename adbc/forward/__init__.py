"""Forward mode: from a primal graph, a graph on dual pairs."""

from __future__ import annotations

from adbc.forward.builder import build_forward
from adbc.forward.support import ForwardSupport

__all__ = ["ForwardSupport", "build_forward"]
