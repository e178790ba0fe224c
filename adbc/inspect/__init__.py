"""Looking inside: every stage of a function's way to its derivative, what becomes of its calls, and where the
time goes."""

from __future__ import annotations

from adbc.inspect.advice import Advice, AdvisedLine
from adbc.inspect.explain import Explanation, Saved, Section, Site, explain
from adbc.inspect.profile import Line, Profile, profile
from adbc.inspect.round_trip import roundtrip
from adbc.inspect.show import control_flow, diff, show
from adbc.inspect.stages import dual_ir, fwd_ir, primal_ir, records, rvs_ir

__all__ = [
    "Advice", "AdvisedLine", "Explanation", "Line", "Profile", "Saved", "Section", "Site", "control_flow",
    "diff", "dual_ir", "explain", "fwd_ir", "primal_ir", "profile", "records", "roundtrip", "rvs_ir", "show",
]  # fmt: skip
