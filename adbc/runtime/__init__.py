"""Signatures, caches, dispatch and protocols: everything that happens while derivatives run.

Only this package owns mutable global state, and it is one object: the default engine.
"""

from __future__ import annotations

import contextlib
import functools
import threading
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from typing import TYPE_CHECKING

from adbc.chainrules.registry import Rank
from adbc.config import Config
from adbc.ir.backend import Backend
from adbc.rules import default_table
from adbc.rules.lookup import Layer, RuleTable
from adbc.rules.table import Rule
from adbc.runtime.build.derived import Derived
from adbc.runtime.build.engine import Engine
from adbc.runtime.calls import (
    asking,
    class_statements,
    derived_builtins,
    fields,
    generators,
    nested,
    nested_arrays,
    nested_slots,
    records,
)
from adbc.runtime.report.tracebacks import hidden
from adbc.types.decisions import Decisions

if TYPE_CHECKING:
    from adbc.runtime.build.disk_cache import DiskCache

__all__ = ["default_engine", "make_engine", "use", "using"]

_engine: Engine | None = None
_chosen: ContextVar[Engine | None] = ContextVar("adbc engine", default=None)
_lock = threading.Lock()


def make_engine(
    table: RuleTable,
    config: Config | None = None,
    backend: Backend | None = None,
    *,
    cache: Callable[[Engine], DiskCache] | None = None,
    told: Callable[[Derived, Decisions], None] | None = None,
) -> Engine:
    """A new engine on `table`, with nothing derived yet; `config` is by default the environment's, `backend`
    the one that writes bytecode, and `cache` what keeps rules in the directory that `config` names.

    told: is told what was decided for the calls of each function that a rule is built for.
    """
    config = Config.from_environment() if config is None else config
    bottom = table
    while isinstance(bottom, Layer):
        bottom = bottom.base
    if not bottom.rows(fields.GET.function):
        bottom.add(
            [
                fields.GET, fields.SET, fields.DELETE, fields.SUPER, fields.REPLACE,
                *asking.ROWS, *generators.ROWS, *class_statements.ROWS, *records.ROWS, *derived_builtins.ROWS,
                *nested.ROWS, *nested_arrays.ROWS, *nested_slots.ROWS,
            ]
        )  # fmt: skip
    if (
        cache is None
        and config.cache is not None
        and backend is None
        and config.backend == "bytecode"  # machine code is made of graphs, which are not kept
        and not (config.dump or config.debug or config.trace_nan)
    ):
        from adbc.runtime.build import disk_cache  # few want it

        cache = functools.partial(disk_cache.DiskCache, config.cache)
    return Engine(table, config, backend=backend, cache=cache, told=told)


def _as_configured(table: RuleTable, config: Config) -> RuleTable:
    """`table` without the rows that `config` does without."""
    if config.plugins and config.context == "default":
        return table

    def keeps(row: Rule) -> bool:
        if row.origin.rank is Rank.PLUGIN and not config.plugins:
            return False
        return not (row.for_speed and config.context == "minimal")

    return Layer(table, keeps, f"plug-ins {config.plugins}, {config.context}")


def default_engine() -> Engine:
    """The engine behind the public functions: that of the `Config` in use, else of the environment's."""
    global _engine
    chosen = _chosen.get()
    if chosen is not None:
        return chosen
    if _engine is None:
        with _lock:  # two threads may come here first at the same time
            if _engine is None:
                config = Config.from_environment()
                _engine = make_engine(_as_configured(default_table(), config), config)
    return _engine


@contextlib.contextmanager
def use(config: Config | None = None, *, table: RuleTable | None = None) -> Iterator[None]:
    """In the block, and in this thread or task, derivatives are taken as `config` says, by default as that of
    the environment does, with the rules in `table`, by default those of the public functions.

    What was derived is kept for the next block with the same configuration and table.

    >>> import math, adbc
    >>> with adbc.use(adbc.Config(trace_nan=True)):
    ...     adbc.grad(math.exp)(0.0)
    1.0
    """
    config = Config.from_environment() if config is None else config
    table = default_table() if table is None else table
    with _lock:
        engine: Engine | None = table.engines.get(config)
        if engine is None:
            engine = table.engines[config] = make_engine(_as_configured(table, config), config)
    with using(engine):
        yield


@contextlib.contextmanager
def using(engine: Engine) -> Iterator[None]:
    """In the block, and in this thread or task, `engine` is the default one."""
    token, hides = _chosen.set(engine), hidden.set(engine.config.hide_frames)
    try:
        yield
    finally:
        _chosen.reset(token)
        hidden.reset(hides)
