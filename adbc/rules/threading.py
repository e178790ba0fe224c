"""`threading`: locks are left without a look at the exception that is on its way."""

from __future__ import annotations

import threading
from typing import Any

from adbc.rules.table import Rule, ZeroRule

__all__ = ["ROWS"]

_LOCKS: tuple[Any, ...] = (type(threading.Lock()), type(threading.RLock()))

ROWS: list[Rule] = [ZeroRule(lock.__exit__) for lock in _LOCKS]
