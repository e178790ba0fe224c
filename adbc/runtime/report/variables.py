"""The variables of a frame that stands for one of the user's.

`frame.f_locals` of a function that is differentiated has none of the user's variables, and who finds none
there takes a global of the same name: `numexpr.evaluate` and `pandas.eval` would go on with another number,
and nobody would know.  So what a standing frame has for variables says that one is missing only where the
function has no variable of that name, and refuses to give any other.
"""

from __future__ import annotations

import types
from collections.abc import Iterator
from typing import Any, NoReturn

from adbc.errors import UnsupportedError
from adbc.runtime.report.frames import Frame, is_derived, original

__all__ = ["CALL", "SEARCHES", "Variables", "caller_of", "code_of", "is_standing", "too_far"]

CALL = "<call>"
"""The name, which no variable can have, by which the code of a standing frame finds what it calls."""

_FARTHEST = 40
"""How many frames are searched for the function that a frame belongs to."""


class Variables:
    """What stands for the variables of `frame`, whose code calls `call`."""

    __slots__ = ("_call", "_frame", "is_outermost")

    def __init__(self, call: Any, frame: Frame) -> None:
        self._call = call
        self._frame = frame
        self.is_outermost = False
        """Whether the program has no frame that is further out."""

    def __getitem__(self, name: str) -> Any:
        if name == CALL:
            return self._call
        return self._found(name)[name]

    def __contains__(self, name: object) -> bool:
        return name in self._found(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._all())

    def __len__(self) -> int:
        return len(self._all())

    def __setitem__(self, name: str, value: object) -> NoReturn:
        self._refuse(name)

    def get(self, name: str, default: Any = None) -> Any:
        return self._found(name).get(name, default)

    def keys(self) -> Any:
        return self._all().keys()

    def values(self) -> Any:
        return self._all().values()

    def items(self) -> Any:
        return self._all().items()

    def copy(self) -> Variables:
        """These very variables: they do not change."""
        return self

    def clear(self) -> None:
        """Nothing: what is kept of a frame goes with it."""

    def shown(self) -> dict[str, Any] | None:
        """The variables, if they are those of code that is run as it was written; else None."""
        frame = self._frame
        if frame.is_part or is_derived(frame.entry.frame.f_code):
            return None
        return frame.entry.frame.f_locals

    def code(self) -> types.CodeType | None:
        """The code that the frame stands for, if it can be found."""
        frame = self._frame
        return _code(frame) if self.shown() is None else frame.entry.frame.f_code

    def _found(self, name: object) -> dict[str, Any]:
        """The variables, if `name` is none that cannot be given."""
        shown = self.shown()
        if shown is not None:
            return shown
        names = _names(self._frame)
        if names is None or name in names:
            self._refuse(str(name))
        return {}

    def _all(self) -> dict[str, Any]:
        """The variables, if none is one that cannot be given."""
        shown = self.shown()
        if shown is not None:
            return shown
        names = _names(self._frame)
        if names is None or names:
            self._refuse("a variable")
        return {}

    def _refuse(self, name: str) -> NoReturn:
        raise UnsupportedError(
            f"{name} is looked up in the frame of {self._frame} (f_locals of sys._getframe or"
            " inspect.currentframe)",
            "the frame of a function that is differentiated does not have its variables, and a global of that"
            " name would be another number",
            "pass the values that are needed as arguments (to numexpr.evaluate or pandas.eval as local_dict)",
        )


def is_standing(frame: types.FrameType) -> bool:
    """Whether `frame` stands for one of the user's."""
    variables: Any = frame.f_locals
    return type(variables) is Variables


def caller_of(frame: types.FrameType) -> types.FrameType | None:
    """``frame.f_back``, where that is the user's.

    Behind the last frame that stands for one there are the true frames, adbc's among them: who looks for a
    variable by its name would find one of these.
    """
    caller = frame.f_back
    variables: Any = frame.f_locals
    if caller is None or type(variables) is not Variables or is_standing(caller):
        return caller
    if variables.is_outermost:
        return None
    raise too_far()


def code_of(frame: types.FrameType) -> types.CodeType:
    """``frame.f_code``, or the code of the user's that `frame` stands for."""
    variables: Any = frame.f_locals
    found = variables.code() if type(variables) is Variables else None
    return frame.f_code if found is None else found


def too_far() -> UnsupportedError:
    """The refusal of a look at frames that are not to be seen."""
    return UnsupportedError(
        "a look at frames that are far out (sys._getframe)",
        "between them there are frames of adbc",
        "pass the values that are needed as arguments",
    )


def _names(frame: Frame) -> frozenset[str] | None:
    """The names of the variables of the function that `frame` is of; None if they are not known."""
    code = _code(frame)
    return None if code is None else frozenset((*code.co_varnames, *code.co_cellvars, *code.co_freevars))


def _code(frame: Frame) -> types.CodeType | None:
    """The code of the user's that `frame` runs, if it can be found."""
    wanted = frame.function
    real: types.FrameType | None = frame.entry.frame
    if not frame.is_part:
        code = original(real.f_code) if real is not None else None
        if code is not None:
            return code
        for _ in range(_FARTHEST):  # a function that goes on elsewhere was called by what it began as
            real = None if real is None else real.f_back
            code = None if real is None else original(real.f_code)
            if code is not None and _is_of(code, wanted):
                return code
    named = frame.namespace.get(wanted.name)
    code = getattr(named, "__code__", None)
    return code if type(code) is types.CodeType and _is_of(code, wanted) else None


def _is_of(code: types.CodeType, wanted: Any) -> bool:
    return (code.co_filename, code.co_firstlineno, code.co_qualname) == (
        wanted.filename,
        wanted.first_line,
        wanted.qualname,
    )


SEARCHES = (Variables._found, Variables._all)
"""What says whether a variable can be given: where the frame is one of a differentiated function, none is."""
