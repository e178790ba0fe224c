"""`from_autograd`: what ``autograd.extend.defvjp`` and ``defjvp`` say."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from adbc.chainrules.arrays import loaded
from adbc.chainrules.foreign.common import conjugate, declare, is_zero
from adbc.chainrules.project import ProjectTo
from adbc.chainrules.thunks import Thunk, unthunk
from adbc.chainrules.zeros import NoTangent, ZeroTangent, not_implemented
from adbc.errors import UnsupportedError

__all__ = ["from_autograd"]


def from_autograd(function: Callable[..., Any]) -> Callable[..., Any]:
    """Declare what ``autograd.extend.defvjp`` and ``defjvp`` say of a primitive of autograd; returns it.

    An argument that it has no rule for is `not_implemented`.  Complex cotangents are conjugated in and out:
    what autograd calls a gradient is the conjugate of what is called so here.

    Raises `adbc.errors.UnsupportedError` if `function` is no primitive of autograd's, or has no rules.
    """
    core = loaded("autograd.core")
    vjps: Any = core.primitive_vjps.get(function) if core is not None else None
    jvps: Any = core.primitive_jvps.get(function) if core is not None else None
    if vjps is None and jvps is None:
        raise UnsupportedError(
            f"{function!r} has no rules of autograd's",
            "nobody has called defvjp or defjvp for it",
            "give a function that autograd.extend.primitive has made, with its rules",
        )

    def reverse(f: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        out = f(*args, **kwargs)

        def autograd_pullback(cotangent: Any) -> tuple[Any, ...]:
            by = conjugate(unthunk(cotangent))

            def of_argument(i: int) -> Any:
                project = ProjectTo(args[i])
                if not project.is_differentiable:
                    return NoTangent()

                def compute() -> Any:
                    try:
                        return project(conjugate(vjps((i,), out, args, kwargs)(by)[0]))
                    except (NotImplementedError, KeyError):  # what autograd raises where there is no rule
                        return not_implemented(f"autograd has no rule for argument {i} of {f!r}")

                return Thunk(compute)

            return (NoTangent(), *map(of_argument, range(len(args))))

        return out, autograd_pullback

    def forward(tangents: tuple[Any, ...], f: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        out = f(*args, **kwargs)
        active = tuple(i for i, t in enumerate(tangents[1:]) if not is_zero(t))
        if not active:
            return out, ZeroTangent()
        given = [unthunk(tangents[1 + i]) for i in active]
        try:
            return out, ProjectTo(out)(jvps(active, given, out, args, kwargs))
        except (NotImplementedError, KeyError):
            return out, not_implemented(f"autograd has no rule for one of the arguments {active} of {f!r}")

    declare(function, forward=None if jvps is None else forward, reverse=None if vjps is None else reverse)
    return function
