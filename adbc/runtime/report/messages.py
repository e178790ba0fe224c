"""The texts of errors that are raised while a derivative is running.

They name the line of the user's code: the innermost frame that runs a file outside adbc.
"""

from __future__ import annotations

import os
import sys
import types
from typing import Any

from adbc.config import FOLDER

__all__ = ["describe", "missing_rule", "nested", "where"]


def where() -> str:
    """The function, file and line of the user's code that is running."""
    frame: types.FrameType | None = sys._getframe(1)
    while frame is not None:
        code = frame.f_code
        if not os.path.abspath(code.co_filename).startswith(FOLDER):
            return f"{code.co_qualname} ({code.co_filename}:{frame.f_lineno})"
        frame = frame.f_back
    return "an unknown place"


def missing_rule(call: Any, reason: str | None = None) -> str:
    """Why a call of a C function cannot be differentiated, and what to do."""
    function = call.function
    name = getattr(function, "__qualname__", None) or repr(function)
    module = getattr(function, "__module__", None)
    full = f"{module}.{name}" if module and module != "builtins" else name
    classes = ", ".join(type(a).__name__ for a in call.args)
    reason = reason or "it is implemented in C, has no rule, and a value with a derivative reaches it"
    return (
        f"{full}({classes}), called in {where()}, cannot be differentiated: {reason}. Three ways forward:"
        f" write a rule (adbc.rule, adbc.scalar_rule or adbc.primitive for {name}); declare that its"
        f" derivative is zero (adbc.zero_derivative({name})); or avoid the call, or pass it a value without"
        " a derivative (adbc.stop_gradient)."
    )


def nested(function: Any) -> str:
    """Why a derivative inside a derivative is refused."""
    name = getattr(function, "__qualname__", None) or repr(function)
    return (
        f"a derivative is taken inside a function that is being differentiated: {name}, called in"
        f" {where()}, depends"
        " on a value with a derivative. Nested derivatives are not supported; write the inner derivative"
        " out, or"
        " apply adbc.stop_gradient to what it depends on."
    )


def describe(f: Any) -> str:
    """The name of a function, with its file and line if it has one."""
    name = getattr(f, "__qualname__", None) or repr(f)
    code = getattr(f, "__code__", None)
    return f"{name} ({code.co_filename}:{code.co_firstlineno})" if code is not None else str(name)
