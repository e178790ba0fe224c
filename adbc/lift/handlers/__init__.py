"""What each canonical instruction does to the abstract frame: the one visible table of handlers.

A handler takes the frame and the instruction's argument.  Instructions that only rename an
operation are rows of the tables in each module.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from adbc.lift.frame import Frame
from adbc.lift.handlers import (
    arithmetic,
    attributes,
    calls,
    closures,
    containers,
    control,
    exceptions,
    generators,
    iteration,
    names,
    patterns,
    stack,
    strings,
    subscripts,
)

__all__ = ["HANDLERS", "Handler"]

Handler = Callable[[Frame, Any], None]

HANDLERS: dict[str, Handler] = {
    **stack.HANDLERS,
    **names.HANDLERS,
    **closures.HANDLERS,
    **attributes.HANDLERS,
    **subscripts.HANDLERS,
    **arithmetic.HANDLERS,
    **calls.HANDLERS,
    **containers.HANDLERS,
    **strings.HANDLERS,
    **iteration.HANDLERS,
    **control.HANDLERS,
    **exceptions.HANDLERS,
    **generators.HANDLERS,
    **patterns.HANDLERS,
}
"""Canonical instruction -> handler."""
