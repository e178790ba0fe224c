"""Functions that look at values and say nothing smooth about them: zero derivatives, declared.

The derivative of ``len`` or ``print`` is zero, and so by convention is that of what leaves the
numbers: ``str``, ``repr``, ``format``, ``hash``, ``id``.
"""

from __future__ import annotations

import builtins
import time
from types import FunctionType
from typing import Any

from adbc.ir import intrinsics
from adbc.rules.classes import builtin_data
from adbc.rules.table import Rule, ZeroRule

__all__ = ["ROWS"]


def _c_method(name: str) -> Any:
    """The class of the first argument does `name` by C code."""
    return lambda cls, *rest: not isinstance(getattr(cls, name, None), FunctionType)


def _c_text(*classes: type) -> bool:
    return not classes or not isinstance(classes[0].__str__, FunctionType)


def _one(*classes: type) -> bool:
    return len(classes) == 1


def _hashes(cls: type) -> bool:
    return builtin_data(cls) or not isinstance(cls.__hash__, FunctionType)


def _text_result(name: str) -> type | None:
    if name.startswith(("is", "starts", "ends")):
        return bool
    return None


ROWS: list[Rule] = [
    ZeroRule(len, when=_c_method("__len__"), result=int),
    ZeroRule(hash, when=_hashes, result=int),
    ZeroRule(id, result=int),
    ZeroRule(type, when=_one, result=type),
    ZeroRule(isinstance, result=bool),
    ZeroRule(issubclass, result=bool),
    ZeroRule(callable, result=bool),
    ZeroRule(hasattr, result=bool),
    ZeroRule(print),
    ZeroRule(repr, when=_c_method("__repr__"), result=str),
    ZeroRule(ascii, when=_c_method("__repr__"), result=str),
    ZeroRule(str, when=_c_text, result=str),
    ZeroRule(format, when=_c_method("__format__"), result=str),
    ZeroRule(intrinsics._format_, when=_c_method("__format__"), result=str),
    ZeroRule(intrinsics._join_, result=str),
    ZeroRule(range, result=range),
    ZeroRule(ord, result=int),
    ZeroRule(chr, result=str),
    ZeroRule(bin, result=str),
    ZeroRule(hex, result=str),
    ZeroRule(oct, result=str),
    ZeroRule(dir),
    ZeroRule(builtins.object),
    ZeroRule(time.time, result=float),
    ZeroRule(time.perf_counter, result=float),
    ZeroRule(time.monotonic, result=float),
    ZeroRule(time.process_time, result=float),
    ZeroRule(time.sleep),
    *(
        ZeroRule(getattr(str, name), result=_text_result(name))
        for name in (
            "format",
            "join",
            "split",
            "strip",
            "startswith",
            "endswith",
            "replace",
            "lower",
            "upper",
            "rjust",
            "ljust",
            "center",
            "zfill",
            "find",
            "index",
            "count",
            "encode",
        )
    ),
    ZeroRule(slice.indices, result=tuple),
]
