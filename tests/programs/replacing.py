"""Replacing all functions of a module by round trips of themselves, in place.

A function keeps its identity and gets other code.  So it does not matter who holds it: a class, a property,
a decorator, another module.  That the functions are found is the garbage collector's doing, which knows all.
"""

from __future__ import annotations

import collections
import gc
import inspect
import types
from collections.abc import Iterable
from typing import Any

from adbc.emit.verify_stack import verify_stack
from adbc.errors import LiftError
from adbc.inspect.round_trip import roundtrip_code

__all__ = ["Replacer"]


class Replacer:
    """Replaces the code of functions, and counts.

    replaced: names of the functions that adbc compiled, those inside other functions included.
    refused: reason -> names of the functions that were left as they are.
    """

    def __init__(self) -> None:
        self.replaced: list[str] = []
        self.refused: dict[str, list[str]] = collections.defaultdict(list)
        self.codes: dict[int, tuple[types.CodeType, types.CodeType]] = {}  # id of the old -> old and new

    def namespaces(self, spaces: Iterable[dict[str, Any]]) -> None:
        """Replace all functions whose globals are among `spaces`."""
        wanted = {id(space) for space in spaces}
        functions = [
            function
            for function in gc.get_objects()
            if type(function) is types.FunctionType and id(function.__globals__) in wanted
        ]
        # Replaced together at last: what is under way may use these functions itself.
        new = [self.code(function.__code__, function.__globals__) for function in functions]
        for function, code in zip(functions, new, strict=True):
            function.__code__ = code

    def code(self, code: types.CodeType, space: dict[str, Any]) -> types.CodeType:
        """A round trip of `code` and of all code inside."""
        if id(code) not in self.codes:
            self.codes[id(code)] = code, self._code(code, space)
        return self.codes[id(code)][1]

    def _code(self, code: types.CodeType, space: dict[str, Any]) -> types.CodeType:
        new = code
        if code.co_flags & inspect.CO_OPTIMIZED:  # else it is the body of a class
            try:
                new = roundtrip_code(code, space)
                verify_stack(new)
                self.replaced.append(code.co_qualname)
            except LiftError as error:
                words = error.met.partition(" contains ")[2].partition(", which cannot be differentiated")[0]
                self.refused[words or str(error)].append(code.co_qualname)
        inner = tuple(self.code(c, space) if isinstance(c, types.CodeType) else c for c in new.co_consts)
        if any(a is not b for a, b in zip(inner, new.co_consts, strict=True)):
            new = new.replace(co_consts=inner)
        return new
