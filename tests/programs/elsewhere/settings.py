"""What other modules of the package read."""

from __future__ import annotations

GAINS = {"low": 0.5, "high": 3.0}
OFFSET = 0.125


def half(v: float) -> float:
    return v / 2.0
