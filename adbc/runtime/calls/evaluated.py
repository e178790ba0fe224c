"""``eval`` and ``exec`` with namespaces that can be seen: their code is like the body of a class.

It reads and writes names of a namespace, and is followed in the same way (`class_statements.run_body`).
Where the lifter knows which variables a frame has, it hands them on, so that ``eval("x * y")`` means what
it does in the function.
"""

from __future__ import annotations

import builtins
import functools
import types
from collections.abc import Sequence
from typing import Any

from adbc.cpython.names import globals_written, names_in
from adbc.errors import UnsupportedError
from adbc.rules.lookup import RuleTable
from adbc.runtime.calls.class_statements import run_body
from adbc.runtime.calls.steps import Call, Delegate, Protocols, Step
from adbc.runtime.state.activity import is_active

__all__ = ["PROTOCOLS"]


def value_of_code(body: Any, names: Any, globals: Any, namespace: Any) -> Any:
    """``eval(code, globals, namespace)``; `names` is the dict that gets ``__builtins__``."""
    if "__builtins__" not in globals:
        globals["__builtins__"] = names
    return run_body(body, namespace)


def effect_of_code(body: Any, names: Any, globals: Any, namespace: Any) -> None:
    """``exec(code, globals, namespace)``."""
    if "__builtins__" not in globals:
        globals["__builtins__"] = names
    run_body(body, namespace)


def value_of_function(function: Any, names: Any, namespace: Any) -> Any:
    """The value of an expression that `function` computes from the values of `names` in `namespace`."""
    return function(*[namespace[name] for name in names])


class Layers:
    """The locals of code, and behind them its globals, as one namespace: numbers that change their values
    are read from both."""

    def __init__(self, locals: Any, globals: Any) -> None:
        self.locals = locals
        self.globals = globals

    def __getitem__(self, name: str) -> Any:
        try:
            return self.locals[name]
        except KeyError:
            pass
        return self.globals[name]

    def __setitem__(self, name: str, value: Any) -> None:
        self.locals[name] = value

    def __delitem__(self, name: str) -> None:
        del self.locals[name]


def value_of_layers(body: Any, names: Any, globals: Any, locals: Any) -> Any:
    """``eval(code, globals, locals)`` where `globals` holds something with a derivative."""
    return value_of_code(body, names, globals, Layers(locals, globals))


def effect_of_layers(body: Any, names: Any, globals: Any, locals: Any) -> None:
    """``exec(code, globals, locals)`` where `globals` holds something with a derivative."""
    effect_of_code(body, names, globals, Layers(locals, globals))


_LAYERED: dict[Any, Any] = {value_of_code: value_of_layers, effect_of_code: effect_of_layers}

_MODES: dict[Any, tuple[str, Any]] = {eval: ("eval", value_of_code), exec: ("exec", effect_of_code)}

_NAMED = {"__name__": "builtins"}
_PLAIN = {"__builtins__": vars(builtins), **_NAMED}
_EMPTY: dict[str, Any] = {"__builtins__": {}, **_NAMED}
"""The globals of code that meets no others than the builtins, or not even these.  What was derived for code
belongs to its globals, and programs make a new dict for each call."""

_LOOKING = frozenset({"globals", "locals", "vars", "dir", "eval", "exec", "__import__"})


def _evaluated(call: Call, table: RuleTable) -> Step | None:
    function = call.function
    if call.keywords or not 2 <= len(call.args) <= 3 or call.args[1] is None:
        if len(call.args) > 3 or not call.args:
            return None  # which raises
        raise UnsupportedError(
            f"{function.__name__}() looks at the frame that it is called from, or changes it",
            "that is not the frame of the user's function while it is differentiated",
            f"call it by its name, and pass the namespace: {function.__name__}(code, namespace)",
        )
    source, globals = call.args[:2]
    is_same = len(call.args) == 2 or call.args[2] is None or call.args[2] is globals
    if type(globals) is not dict or not issubclass(type(source), (str, bytes, types.CodeType)):
        return None
    mode, meaning = _MODES[function]
    code = source if issubclass(type(source), types.CodeType) else _compiled(source, mode)
    if code.co_freevars:
        return None
    if is_active(call.shadows[1]) and "__spec__" not in globals:
        reason = _why_globals(code, is_same)
        if reason is not None:
            # What functions that it makes read as globals are variables here.
            names = tuple(name for name in names_in(code) if name in globals and name.isidentifier())
            if (
                mode == "eval"
                and issubclass(type(source), str)
                and is_same
                and _LOOKING.isdisjoint(code.co_names)
            ):
                return _on(call, value_of_function, _function_of(source, names), names, 1)
            if not is_same:
                raise UnsupportedError(
                    f"{function.__name__}() of code that {reason}, with globals that hold a value with a"
                    " derivative, and other locals",
                    "what is read as a global is a constant",
                    "pass one namespace",
                )
        elif not is_same:
            return _on(call, _LAYERED[meaning], _runs(code, globals, True), vars(builtins), 1, 2)
    return _on(call, meaning, _runs(code, globals, is_same), vars(builtins), 1, 1 if is_same else 2)


def _why_globals(code: types.CodeType, is_same: bool) -> str | None:
    """What `code` does that needs its globals as they are, in words; None if they are read by name only."""
    if _makes_functions(code):
        return "makes functions"
    if not is_same and not _LOOKING.isdisjoint(code.co_names):
        return "asks for its globals"
    return "has a global statement" if not is_same and globals_written(code) else None


def _runs(code: types.CodeType, globals: dict[str, Any], is_same: bool) -> types.FunctionType:
    """The function that runs `code` with `globals`."""
    space = _globals(code, globals, is_same)
    is_shared = space is _PLAIN or space is _EMPTY
    return _body(code, space is _PLAIN) if is_shared else types.FunctionType(code, space)


def _on(call: Call, meaning: Any, body: Any, names: Any, *places: int) -> Delegate:
    """The call of `meaning` on `body`, `names` and the arguments of `call` at `places`."""

    def picked(of: Sequence[Any]) -> tuple[Any, ...]:
        return tuple([of[i] for i in places])

    return Delegate(
        Call(
            meaning,
            None,
            (body, names, *picked(call.args)),
            (None, None, *picked(call.shadows)),
            (None, None, *picked(call.origins)),
            (),
            None,
        )
    )


@functools.lru_cache(256)
def _compiled(source: str | bytes, mode: str) -> types.CodeType:
    """The code of `source`; the same for the same text, since what is derived belongs to it."""
    space: Any = " \t" if issubclass(type(source), str) else b" \t"
    text: Any = source.lstrip(space) if mode == "eval" else source
    return compile(text, "<string>", mode, dont_inherit=True)


@functools.lru_cache(256)
def _body(code: types.CodeType, has_builtins: bool) -> types.FunctionType:
    """The function that runs `code`; the same for the same code, since what is derived belongs to it."""
    return types.FunctionType(code, _PLAIN if has_builtins else _EMPTY)


def _makes_functions(code: types.CodeType) -> bool:
    return any(issubclass(type(constant), types.CodeType) for constant in code.co_consts)


@functools.lru_cache(256)
def _function_of(source: str, names: tuple[str, ...]) -> Any:
    """A function of `names` for the expression `source`."""
    return eval(f"lambda {', '.join(names)}: (\n{source.strip()}\n)", _PLAIN)


def _globals(code: types.CodeType, globals: dict[str, Any], is_same: bool) -> dict[str, Any]:
    """The globals with which `code`, which runs with `globals`, is followed."""
    if _makes_functions(code) or not _LOOKING.isdisjoint(code.co_names) or globals_written(code):
        return globals
    if not is_same and not globals.keys() <= {"__builtins__"}:
        return globals
    known = globals.get("__builtins__", builtins)
    if known is builtins or known is vars(builtins):
        return _PLAIN
    return _EMPTY if type(known) is dict and not known else globals


PROTOCOLS: Protocols = {eval: _evaluated, exec: _evaluated}
"""What evaluating code leads to."""
