"""Signatures, caches, dispatch and protocols: everything that happens while derivatives run.

Only this package owns mutable global state, and it is one object: the default engine.
"""

from __future__ import annotations

import threading

from adbc.config import Config
from adbc.rules import default_table
from adbc.rules.table import RuleTable
from adbc.runtime import fields, generators
from adbc.runtime.engine import Engine
from adbc.runtime.support import forward_support, reverse_support

__all__ = ["default_engine", "make_engine"]

_engine: Engine | None = None
_lock = threading.Lock()


def make_engine(table: RuleTable, config: Config | None = None) -> Engine:
    """A new engine on `table`, with nothing derived yet; `config` is by default the environment's."""
    engine = Engine(table, Config.from_environment() if config is None else config)
    engine.reverse = reverse_support(engine)
    engine.forward = forward_support(engine)
    table.add(
        [
            fields.GET, fields.SET, fields.DELETE, fields.SET_SHARED, fields.DELETE_SHARED, fields.SUPER,
            generators.SEND,
        ]
    )  # fmt: skip
    return engine


def default_engine() -> Engine:
    """The engine behind the public functions."""
    global _engine
    if _engine is None:
        with _lock:  # two threads may come here first at the same time
            if _engine is None:
                _engine = make_engine(default_table())
    return _engine
