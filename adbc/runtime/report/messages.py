"""The parts of errors that are raised while a derivative is running.

They name functions as the user would type them, and say what to do in code that can be typed.  Where it was,
is added later (`tracebacks.leave`).
"""

from __future__ import annotations

import sys
import types
from collections.abc import Sequence
from typing import Any

from adbc.chainrules.plugins import plugins
from adbc.cpython.libraries import is_library_code
from adbc.errors import MissingRuleError, UnsupportedError
from adbc.ir.intrinsics import INTRINSICS
from adbc.runtime.report.frames import Spot, is_ours, running
from adbc.runtime.report.places import Place, place_of, typed_name

__all__ = ["describe", "missing_rule", "nested", "nested_part", "spot", "where"]


def where() -> str:
    """The function, file and line of the user's code that is running."""
    entries = running()
    place = place_of(entries)
    return "an unknown place" if place is None else place.line


def spot() -> Spot | str:
    """What `where` says, as text; found when that is asked for, which is when something goes wrong."""
    frame: types.FrameType | None = sys._getframe(1)
    while frame is not None:
        code = frame.f_code
        if not is_ours(code) and not is_library_code(code.co_filename, frame.f_globals):
            return Spot(code, frame.f_lasti)
        frame = frame.f_back
    return where()


def missing_rule(call: Any, reason: str | None = None) -> MissingRuleError:
    """The error that says why a call of a C function cannot be differentiated, and what to do.

    call: with the function, the arguments, and what stands beside them.
    """
    function = call.function
    place = place_of(running())
    name = None if id(function) in _SYNTAX else typed_name(function)
    classes = ", ".join(type(a).__name__ for a in call.args)
    if str(type(function).__module__).startswith("adbc."):  # a question of ours, as "attribute 'data'"
        met = f"{function.__qualname__} of {classes}"
    else:
        met = f"{name or _shown(function)}({classes})"
    error = MissingRuleError(
        f"{met} cannot be differentiated",
        (reason or "it is implemented in C, has no rule, and a value with a derivative reaches it")
        + _failed_plugins(),
        _remedies(name, function, call.args, place),
    )
    error.place = None if place is None else str(place)
    return error


def _failed_plugins() -> str:
    """Which plug-ins might have had the rule, but could not be loaded."""
    return "".join(
        f"; the rules that {name} brings could not be loaded ({why})" for name, why in plugins.failed.items()
    )


_SYNTAX = {id(function): name.strip("_") for name, function in INTRINSICS.items()}
"""What stands for syntax, by address, and how its users would call it."""


def _shown(function: Any) -> str:
    """What stands for a function that has no name which can be typed."""
    if id(function) in _SYNTAX:
        return _SYNTAX[id(function)]
    name = getattr(function, "__name__", None)
    cls = type(function)
    if isinstance(name, str) and name.rpartition(" ")[2].isidentifier():
        return name.rpartition(" ")[2]
    return f"{cls.__module__}.{cls.__qualname__}" if cls.__module__ != "builtins" else cls.__qualname__


def _remedies(name: str | None, function: Any, args: Sequence[Any], place: Place | None) -> str:
    """What to do about a call of `function`, which is `name`, that was met in `place`."""
    library = None if place is None else place.library
    target = (library if place is not None and place.is_function else None) if library else name
    if library is None and not _is_plain(function):
        target = None
    if target is None:
        whole = library or name
        into = f"put what {whole} is used for" if whole else "put the call"
        ways = [f"{into} into a function f of your own, and declare adbc.rule(f, jvp=..., vjp=...)"]
    elif library is None and all(type(a) in (float, int, complex) for a in args):
        names = ", ".join(f"x{i}" for i in range(len(args))) if len(args) > 1 else "x"
        ways = [f"declare its partial derivatives: adbc.scalar_rule({target})(lambda out, {names}: ...)"]
    else:
        ways = [f"declare its derivative: adbc.rule({target}, jvp=..., vjp=...)"]
    package = library.partition(".")[0] if library else ""
    ways[:0] = _INSTEAD.get(package, ())
    ways.append("if the result is to count as a constant, pass it adbc.stop_gradient(x) in place of x")
    if library is None and target is not None and not gives_floats(function):
        ways.append(
            "only if no number that is computed from the result depends on the arguments (it is a flag, a"
            f" size, a text to print): adbc.zero_derivative({target})"
        )
    return "; or ".join(ways)


_INSTEAD = {
    "pandas": (
        "compute with arrays, as x * s.to_numpy() in place of x * s (a Series or DataFrame holds constants"
        " only)",
    )
}
"""By the name of a package, what can be written in place of a part of it that is not followed."""


def _is_plain(function: Any) -> bool:
    """Whether a function of C is no class and no method, whose results have a life of their own."""
    owner = getattr(function, "__self__", None)
    return not isinstance(function, type | types.MethodDescriptorType | types.WrapperDescriptorType) and (
        owner is None or isinstance(owner, types.ModuleType)
    )


def gives_floats(function: Any) -> bool:
    """Whether the results of a C function are known to be made of floats, so that its derivative is not zero:
    by the types of a ufunc, or by the signature in the docstring, as f2py and pybind11 write it."""
    loops = getattr(function, "types", None)
    if isinstance(loops, list) and loops:
        return any(code in "efdgFDG" for loop in loops for code in str(loop).partition("->")[2])
    if type(function).__name__ == "fortran":
        return True
    returned = str(getattr(function, "__doc__", None) or "").partition("->")[2].split("\n")[0]
    return any(word in returned for word in ("float", "array", "complex", "double"))


def nested(function: Any) -> UnsupportedError:
    """The error that says why a derivative inside a derivative is refused."""
    name = getattr(function, "__qualname__", None) or repr(function)
    return UnsupportedError(
        f"a derivative is taken inside a function that is being differentiated, by {name}",
        "it depends on a value with a derivative, and derivatives of derivatives are not supported",
        "write the inner derivative out, or take it at adbc.stop_gradient(x) in place of x",
    )


def nested_part(is_mixed: bool) -> UnsupportedError:
    """The error that says why an inner derivative is refused, of which a part of adbc has none itself.

    The name of that part would tell nobody anything.

    is_mixed: whether its function was interpreted in the forwards pass, and has code in the pullback.
    """
    what = "a derivative is taken inside a function that is being differentiated"
    if is_mixed:
        return UnsupportedError(
            f"{what}, and its function got code between its forwards pass and its pullback",
            "a record of what is interpreted is not followed through two derivatives",
            "let all functions have code at once: adbc.Config(warm_after=0)",
        )
    return UnsupportedError(
        what,
        "what adbc itself calls there depends on a value with a derivative, and is not followed",
        "write the inner derivative out, or take it at adbc.stop_gradient(x) in place of x",
    )


def describe(f: Any) -> str:
    """The name of a function, with its file and line if it has one."""
    name = getattr(f, "__qualname__", None) or repr(f)
    code = getattr(f, "__code__", None)
    return f"{name} ({code.co_filename}:{code.co_firstlineno})" if code is not None else str(name)
