"""Passes over graphs, one per file; `pipeline` has their order."""

from __future__ import annotations

from adbc.passes.pipeline import PASSES, Pass, normalise

__all__ = ["PASSES", "Pass", "normalise"]
