"""All resolvers in one table, which dispatch is given."""

from __future__ import annotations

from adbc.runtime.calls import (
    asking,
    attributes,
    callables,
    class_statements,
    comparing,
    construction,
    descriptors,
    evaluated,
    exceptions,
    formats,
    lengths,
    operators,
    resuming,
    subscripts,
)
from adbc.runtime.calls.keys import with_keys
from adbc.runtime.calls.steps import Protocols

__all__ = ["ALL_PROTOCOLS"]

ALL_PROTOCOLS: Protocols = with_keys(
    {
        **operators.PROTOCOLS,
        **resuming.PROTOCOLS,
        **lengths.PROTOCOLS,
        **comparing.PROTOCOLS,
        **subscripts.PROTOCOLS,
        **callables.PROTOCOLS,
        **construction.PROTOCOLS,
        **attributes.PROTOCOLS,
        **descriptors.PROTOCOLS,
        **asking.PROTOCOLS,
        **formats.PROTOCOLS,
        **exceptions.PROTOCOLS,
        **class_statements.PROTOCOLS,
        **evaluated.PROTOCOLS,
    }
)
"""Resolvers by function.  Later tables stand before earlier ones: `asking` knows more of ``vars`` and
``getattr`` than `attributes`."""
