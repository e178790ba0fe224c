"""The mutations of rules that the generated calls do not find, and why.

`adbc.testing.coverage.mutations` makes rules wrong on purpose.
"""

from __future__ import annotations

__all__ = ["SURVIVORS"]

SURVIVORS: dict[str, str] = {}
