"""What is refused, in words: one row per construct, and the message made from it.

A refusal names the function, the file, the line and the construct as its author would call it, and
ends with a way forward.  This module does not know which opcodes belong to a construct: the version
tables say so.
"""

from __future__ import annotations

import types

from adbc.errors import LiftError
from adbc.records import record

__all__ = ["CONSTRUCTS", "Construct", "refusal"]


@record(frozen=True)
class Construct:
    """words: the construct in plain words.  remedy: what the reader can do instead."""

    words: str
    remedy: str


_BLOCK = "move this block into a function of its own and give that function a rule"
_OWN_FRAME = "pass the values that are needed as arguments"

CONSTRUCTS: dict[str, Construct] = {
    "try": Construct("a try statement", f"{_BLOCK}, or test for the error before it happens"),
    "except*": Construct("a try statement with except*", f"{_BLOCK}, or use plain except outside"),
    "with": Construct("a with statement", f"{_BLOCK}, or enter the context outside of this function"),
    "generator": Construct("a generator", "collect the values in a list and return it"),
    "async": Construct("asynchronous code", "differentiate the synchronous functions that it awaits"),
    "match": Construct(
        "a match statement with structural patterns",
        "write the cases as if ... elif with isinstance tests",
    ),
    "class": Construct("the body of a class", "differentiate the methods or functions that use the class"),
    "module": Construct("code of a module", "put the code into a function"),
    "type parameters": Construct("type parameters", "leave the type parameters out, or define this outside"),
    "import star": Construct("from ... import *", "import the names that are used"),
    "locals": Construct("a call of locals(), which looks at its own frame", _OWN_FRAME),
    "vars": Construct("a call of vars() or dir() without arguments, which is one of locals()", _OWN_FRAME),
    "eval": Construct(
        "a use of eval or exec", "write the evaluated code out, or give it a function with a rule"
    ),
    "frame": Construct("a look at its own frame (sys._getframe)", _OWN_FRAME),
    "currentframe": Construct("a look at its own frame (inspect.currentframe)", _OWN_FRAME),
    "stack": Construct("a look at the frames of its callers (inspect.stack)", _OWN_FRAME),
    "trace": Construct(
        "a use of sys.settrace or sys.setprofile, which sees other code than was written",
        "trace the function without differentiating it",
    ),
    "internal": Construct(
        "an instruction that compiled code does not contain", "use code that CPython compiled"
    ),
    "keywords": Construct(
        "a call whose keyword names are not constant", "use code that CPython compiled, or call with **"
    ),
}


def refusal(
    code: types.CodeType,
    construct: str,
    line: int | None = None,
    columns: tuple[int | None, int | None] = (None, None),
) -> LiftError:
    """The error that says that `code` uses `construct` on `line`, in these columns (from, up to; from 0)."""
    row = CONSTRUCTS[construct]
    place = f'file "{code.co_filename}", line {line if line is not None else code.co_firstlineno}'
    first, end = columns
    if first is not None and end is not None and end > first:
        place += f", columns {first + 1} to {end}"
    return LiftError(
        f"{code.co_qualname} ({place}) contains {row.words}", "that cannot be differentiated", row.remedy
    )
