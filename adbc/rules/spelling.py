"""The functions that go through a text character by character, if one is among their arguments.

A module of its own, which analyses and the runtime ask.
"""

from __future__ import annotations

import builtins
import operator
from typing import Any

from adbc.ir import intrinsics

__all__ = ["SPELLING"]

SPELLING: frozenset[Any] = frozenset(
    {
        builtins.iter, list, tuple, set, frozenset, reversed, enumerate, zip, sorted, map, filter,
        list.extend, operator.iadd, intrinsics._iter_, intrinsics._unpack_, intrinsics._unpack_ex_,
        intrinsics._list_extend_, intrinsics._set_update_,
    }
)  # fmt: skip
