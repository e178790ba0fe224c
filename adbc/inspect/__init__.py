"""Looking inside: every stage of a function's way to its derivative."""

from __future__ import annotations

from adbc.inspect.stages import dual_ir, fwd_ir, primal_ir, rvs_ir

__all__ = ["dual_ir", "fwd_ir", "primal_ir", "rvs_ir"]
