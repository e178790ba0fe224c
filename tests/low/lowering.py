"""Low programs of functions, and what bytecode gives for them, for the tests of this folder."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

from adbc.config import Config
from adbc.errors import NativeError
from adbc.low.program import LIST, Program, Register
from adbc.rules import default_table
from adbc.runtime import make_engine
from adbc.runtime.calls.plans import FLOATS

__all__ = ["arguments", "bits", "is_shadow", "leaves", "lowered", "outcome"]


def lowered(f: Callable[..., Any], args: tuple[Any, ...], argnums: Any = 0) -> Program:
    """The program of the gradient of `f`; raises `NotNative`."""
    engine = make_engine(default_table(), Config(warm_after=0, backend="auto"))
    defaults: tuple[Any, ...] = f.__defaults__ or ()
    given = (*args, *defaults[len(defaults) - f.__code__.co_argcount + len(args) :])
    types = [FLOATS if type(x) is list else engine.typeof(x) for x in given]
    wanted = (argnums,) if isinstance(argnums, int) else argnums
    rule = engine.entry(f, types, [i in wanted for i in range(len(given))], "reverse")
    rule.build(at_once=True)
    assert engine.native is not None
    return engine.native.program(rule)


def bits(x: Any) -> Any:
    """`x` so that it is equal to what has the same bits; NaN is equal to NaN."""
    if isinstance(x, float):
        return "nan" if x != x else struct.pack("d", x)
    return tuple(map(bits, x)) if isinstance(x, tuple | list) else x


def leaves(x: Any) -> tuple[Any, ...]:
    """The numbers in tuples and lists."""
    return tuple(leaf for part in x for leaf in leaves(part)) if isinstance(x, tuple | list) else (x,)


def is_shadow(register: Register) -> bool:
    """Whether a parameter of a program is a list of derivatives."""
    return register.type == LIST and register.name.startswith("d_")


def arguments(program: Program, args: tuple[Any, ...], f: Any = None) -> list[Any]:
    """What the program of a gradient is given for `args`: with the defaults of `f`, and zeros for shadows."""
    whole = (*args, *(() if f is None else (f.__defaults__ or ())[len(args) - f.__code__.co_argcount :]))
    whole = whole if f is not None and len(args) < f.__code__.co_argcount else args
    rest = [leaf for x in whole for leaf in (leaves(x) if isinstance(x, tuple) else (x,)) if leaf is not None]
    given: list[Any] = []
    for register in program.parameters:
        given.append([0.0] * len(given[-1]) if is_shadow(register) else rest.pop(0))
    return given


def outcome(call: Callable[..., Any], *args: Any) -> Any:
    """What can be seen of a call: the bits of the value, or class and words of the exception."""
    try:
        return bits(call(*args))
    except NativeError:  # never an outcome
        raise
    except Exception as error:  # an outcome to compare
        return type(error), str(error)
