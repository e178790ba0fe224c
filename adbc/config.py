"""The switches of adbc, as one frozen value.

It knows the names of environment variables and nothing else.  Nothing here is global state: whoever
wants a configuration asks for one and passes it on.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping

__all__ = ["Config"]

_FALSE = frozenset({"", "0", "false", "no", "off"})


@dataclasses.dataclass(frozen=True)
class Config:
    """How rules are built.

    verify: check every graph after every stage, and every emitted code object.  On in tests.

    dump: leave one numbered file per stage for functions of this name (or qualified name): the graph as
    lifted, in normal form and typed, then the graphs and bytecode of its derived rules.

    dump_directory: where those files go.
    """

    verify: bool = False
    dump: str | None = None
    dump_directory: str = "adbc-dump"

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] | None = None) -> Config:
        """The configuration that ``ADBC_VERIFY``, ``ADBC_DUMP`` and ``ADBC_DUMP_DIRECTORY`` ask for."""
        variables = os.environ if environment is None else environment
        return cls(
            verify=variables.get("ADBC_VERIFY", "").strip().lower() not in _FALSE,
            dump=variables.get("ADBC_DUMP") or None,
            dump_directory=variables.get("ADBC_DUMP_DIRECTORY") or cls.dump_directory,
        )
