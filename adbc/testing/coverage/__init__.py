"""What has a derivative: each public function of a library is called in both modes and judged by differences.

``python -m adbc.testing.coverage numpy math statistics`` prints a table per part of a library: how many of
the functions that have a derivative are right, which are refused, and whether the refusal says what to do;
below it stand the calls that are wrong, end in an error, or are refused unclearly, as programs to paste.
``--only fft`` looks at names with that text, ``--show refused`` at the refusals too; ``--primary`` makes only
the calls that a function is judged by, and ``--json FILE`` writes all verdicts for programs.

A call is a text, ``np.clip(x, 0.3, y)``, whose names stand for numbers of several kinds (`values`); it is
taken from a table (`tables`) or made from the signature (`generated`), judged by `adbc.testing.test_rule`
(`judge`), in a process of its own (`survey`) and with a limit of time.
"""

from __future__ import annotations

from adbc.testing.coverage.cases import Case, Verdict
from adbc.testing.coverage.judge import judge
from adbc.testing.coverage.report import Group, table
from adbc.testing.coverage.survey import survey

__all__ = ["Case", "Group", "Verdict", "judge", "survey", "table"]
