"""`from_jax`: what ``jax.custom_vjp`` and ``jax.custom_jvp`` say.

JAX's cotangents are those of the transposed map, without a conjugate: they are conjugated in and out.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from adbc.chainrules.arrays import is_array, loaded
from adbc.chainrules.foreign.common import (
    conjugate,
    declare,
    is_zero,
    map_leaves,
    project,
    written_out,
)
from adbc.chainrules.zeros import NoTangent, ZeroTangent, not_implemented
from adbc.errors import UnsupportedError

__all__ = ["from_jax"]


def from_jax(function: Any) -> Callable[..., Any]:
    """A function of NumPy arrays that does what `function`, a ``jax.custom_vjp`` or ``jax.custom_jvp``, does,
    with its rule.  Arguments and results may be tuples, lists and dicts.

    A ``custom_jvp`` is for both modes, as JAX transposes it; of a ``custom_vjp`` the derivative in forward
    mode is `not_implemented`, as it is in JAX.  Precision is that of JAX: single, unless it has been told to
    keep numbers of 64 bits.

    Raises `adbc.errors.UnsupportedError` if it has no such rule.
    """
    rule = _JaxRule(function)

    @functools.wraps(getattr(function, "fun", function))
    def of_arrays(*args: Any, **kwargs: Any) -> Any:
        return map_leaves(_to_numpy, function(*rule.given(args), **kwargs))

    is_transposed = rule.bwd is not None or isinstance(function, getattr(loaded("jax"), "custom_jvp", ()))
    declare(of_arrays, forward=rule.forward, reverse=rule.reverse if is_transposed else None)
    return of_arrays


class _JaxRule:
    """What `function` says of its derivative, as the two rules of a function of NumPy arrays."""

    def __init__(self, function: Any) -> None:
        self.function = function
        self.fwd: Any = getattr(function, "fwd", None)
        self.bwd: Any = getattr(function, "bwd", None)
        self.jvp: Any = getattr(function, "jvp", None)
        if (self.fwd is None or self.bwd is None) and self.jvp is None:
            raise UnsupportedError(
                f"{function!r} has no rule of JAX's",
                "it is no jax.custom_vjp with defvjp, and no jax.custom_jvp with defjvp",
                "give what these decorators have made",
            )
        if getattr(function, "symbolic_zeros", False):
            raise UnsupportedError(
                f"the rule of {function!r} asks for symbolic zeros",
                "these are objects of JAX's own",
                "declare it with symbolic_zeros=False",
            )
        self.constant = frozenset(getattr(function, "nondiff_argnums", ()))

    def split(self, args: Sequence[Any]) -> tuple[list[Any], list[int]]:
        """The arguments that have no derivative, and the places of those that have."""
        places = range(len(args))
        return [args[i] for i in places if i in self.constant], [i for i in places if i not in self.constant]

    def given(self, args: Sequence[Any]) -> list[Any]:
        """The arguments as JAX gives them to a rule."""
        return [x if i in self.constant else map_leaves(_to_jax, x) for i, x in enumerate(args)]

    def reverse(self, f: Callable[..., Any], *args: Any) -> Any:
        """The rule of reverse mode."""
        held, active = self.split(args)
        given = self.given(args)
        if self.bwd is not None:
            out, kept = self.fwd(*given)
            transposed = functools.partial(self.bwd, *held, kept)
        else:
            of_active = functools.partial(_at_places, self.function, args, active)
            out, transposed = loaded("jax").vjp(of_active, *(given[i] for i in active))
        out = map_leaves(_to_numpy, out)

        def jax_pullback(cotangent: Any) -> tuple[Any, ...]:
            by = written_out(out, cotangent, _nothing)
            answer = transposed(map_leaves(lambda t: _to_jax(conjugate(t)), by))
            if len(answer) != len(active):
                raise TypeError(
                    f"the bwd of {self.function!r} gives {len(answer)} cotangents for {len(active)} arguments"
                )
            found: list[Any] = [NoTangent()] * len(args)
            for i, g in zip(active, answer, strict=True):
                found[i] = project(args[i], map_leaves(lambda t: conjugate(_to_numpy(t)), g))
            return (NoTangent(), *found)

        return out, jax_pullback

    def forward(self, tangents: tuple[Any, ...], f: Callable[..., Any], *args: Any) -> Any:
        """The rule of forward mode."""
        held, active = self.split(args)
        if all(map(is_zero, tangents[1:])):
            return f(*args), ZeroTangent()
        if self.jvp is None:
            return f(*args), not_implemented(f"JAX has no forward mode of {self.function!r}, a custom_vjp")
        if any(not is_zero(tangents[1 + i]) for i in self.constant if i < len(args)):
            reason = f"{self.function!r} has no derivative by {sorted(self.constant)}"
            return f(*args), not_implemented(reason)
        xs = self.given(args)
        ts = [map_leaves(_to_jax, written_out(args[i], tangents[1 + i], _nothing)) for i in active]
        out, dout = self.jvp(*held, tuple(xs[i] for i in active), tuple(ts))
        out = map_leaves(_to_numpy, out)
        return out, project(out, map_leaves(_to_numpy, dout))


def _at_places(function: Callable[..., Any], args: Sequence[Any], places: Sequence[int], *xs: Any) -> Any:
    """What `function` gives for `args` with `xs` at `places`."""
    whole = list(args)
    for i, x in zip(places, xs, strict=True):
        whole[i] = x
    return function(*whole)


def _to_jax(x: Any) -> Any:
    """A leaf as JAX hands it to a rule; as it is where JAX has not been imported."""
    jnp = loaded("jax.numpy")
    if jnp is None or not (is_array(x) or hasattr(x, "dtype") or isinstance(x, int | float | complex)):
        return x
    if getattr(x, "dtype", None) == loaded("jax").dtypes.float0:
        return x
    return jnp.array(x)  # a copy: what is ours may be changed later


def _to_numpy(x: Any) -> Any:
    """A leaf that JAX gives, as an array of our own: JAX's cannot be written into."""
    if isinstance(x, int | float | complex) or is_array(x) or not hasattr(x, "__array__"):
        return x
    return loaded().array(x)


def _nothing(x: Any) -> Any:
    """What JAX has for the tangent of a leaf that has none."""
    jax = loaded("jax")
    return None if jax is None else loaded().zeros(loaded().shape(x), jax.dtypes.float0)
