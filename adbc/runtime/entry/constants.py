"""Arguments that are constants: declared so, or found to be only read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from adbc.errors import InvalidTangentError
from adbc.runtime.entry.reading import only_read
from adbc.runtime.state.context import Context
from adbc.runtime.state.engine import EngineView
from adbc.tangents import NO_TANGENT, Const

__all__ = ["check_constants", "constant_arguments", "hold_constants"]


def hold_constants(context: Context, values: tuple[Any, ...]) -> tuple[Any, ...]:
    """`values` with what is declared `Const` taken out; it is constant from here on, by every name."""
    if Const not in map(type, values):
        return values
    for x in values:
        if type(x) is Const:
            context.shadows.hold_constant(x.value)
    return tuple([x.value if type(x) is Const else x for x in values])


def check_constants(primals: Sequence[Any], tangents: Sequence[Any]) -> None:
    """Raise `InvalidTangentError` if there is a tangent of an argument that is declared `Const`."""
    for i, (x, t) in enumerate(zip(primals, tangents, strict=True)):
        if type(x) is Const and t is not None and t is not NO_TANGENT:
            raise InvalidTangentError(
                f"argument {i} is declared adbc.Const, so it has no tangent: give None, not {t!r:.60}"
            )


def constant_arguments(
    engine: EngineView,
    context: Context,
    f: Callable[..., Any],
    args: Sequence[Any],
    names: Sequence[str],
    others: set[int],
) -> list[int]:
    """The arguments that are held constant from here on, out of `others`, whose derivatives nobody asks for.

    `f` only reads them, and they share no memory with anything else that was given.
    """
    places = only_read(engine, f, args, names, others)
    if places:
        context.known_shadow(f)
        for i, x in enumerate(args):
            if i not in places:
                context.shadows.tangent(x)
    return [i for i in places if context.shadows.hold_if_free(args[i])]
