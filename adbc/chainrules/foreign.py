"""Rules that were written for other systems: `from_autograd`, `from_jax`, `from_torch`, function by function.

The other system runs its own rule, on its own arrays where it has such; what comes out is projected onto the
tangents of the arguments (`ProjectTo`), so that a rule of another convention about shapes and classes is an
error and no wrong number.  Nothing here imports another system: who has a rule of its has imported it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from adbc.chainrules.arrays import is_array, loaded
from adbc.chainrules.linear import Linear
from adbc.chainrules.project import ProjectTo
from adbc.chainrules.registry import Declaration, registry
from adbc.chainrules.thunks import Thunk, unthunk
from adbc.chainrules.zeros import NoTangent, ZeroTangent, not_implemented
from adbc.errors import UnsupportedError

__all__ = ["from_autograd", "from_jax", "from_torch"]


def _declare(function: Callable[..., Any], **rules: Callable[..., Any] | None) -> None:
    for mode, rule in rules.items():
        if rule is not None:
            registry.add(Declaration(function, "rule", {mode: rule}, frozenset({mode})))


def _is_zero(t: Any) -> bool:
    return isinstance(t, NoTangent | ZeroTangent)


# -- autograd ---------------------------------------------------------------------------------------------


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
            by = _conjugate(unthunk(cotangent))

            def of_argument(i: int) -> Any:
                project = ProjectTo(args[i])
                if not project.is_differentiable:
                    return NoTangent()

                def compute() -> Any:
                    try:
                        return project(_conjugate(vjps((i,), out, args, kwargs)(by)[0]))
                    except (NotImplementedError, KeyError):  # what autograd raises where there is no rule
                        return not_implemented(f"autograd has no rule for argument {i} of {f!r}")

                return Thunk(compute)

            return (NoTangent(), *map(of_argument, range(len(args))))

        return out, autograd_pullback

    def forward(tangents: tuple[Any, ...], f: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        out = f(*args, **kwargs)
        active = tuple(i for i, t in enumerate(tangents[1:]) if not _is_zero(t))
        if not active:
            return out, ZeroTangent()
        given = [unthunk(tangents[1 + i]) for i in active]
        try:
            return out, ProjectTo(out)(jvps(active, given, out, args, kwargs))
        except (NotImplementedError, KeyError):
            return out, not_implemented(f"autograd has no rule for one of the arguments {active} of {f!r}")

    _declare(function, forward=None if jvps is None else forward, reverse=None if vjps is None else reverse)
    return function


def _conjugate(x: Any) -> Any:
    if isinstance(x, Linear):
        return x
    return x.conjugate() if getattr(getattr(x, "dtype", None), "kind", "") == "c" or type(x) is complex else x


# -- JAX --------------------------------------------------------------------------------------------------


def from_jax(function: Any) -> Callable[..., Any]:
    """A function of NumPy arrays that does what `function`, a ``jax.custom_vjp`` or ``jax.custom_jvp`` of one
    result, does, with its rule.

    Raises `adbc.errors.UnsupportedError` if it has no such rule.
    """
    forwards: Any = getattr(function, "fwd", None)
    backwards: Any = getattr(function, "bwd", None)
    jvp: Any = getattr(function, "jvp", None)
    if (forwards is None or backwards is None) and jvp is None:
        raise UnsupportedError(
            f"{function!r} has no rule of JAX's",
            "it is no jax.custom_vjp with defvjp, and no jax.custom_jvp with defjvp",
            "give what these decorators have made",
        )
    constant = frozenset(getattr(function, "nondiff_argnums", ()))

    def split(args: Sequence[Any]) -> tuple[list[Any], list[int]]:
        return (
            [x for i, x in enumerate(args) if i in constant],
            [i for i in range(len(args)) if i not in constant],
        )

    @functools.wraps(getattr(function, "fun", function))
    def of_arrays(*args: Any) -> Any:
        return _to_numpy(function(*args))

    def reverse(f: Callable[..., Any], *args: Any) -> Any:
        out, kept = forwards(*args)
        held, active = split(args)

        def jax_pullback(cotangent: Any) -> tuple[Any, ...]:
            given = backwards(*held, kept, unthunk(cotangent))
            if len(given) != len(active):
                raise TypeError(
                    f"the bwd of {function!r} gives {len(given)} cotangents for {len(active)} arguments"
                )
            found: list[Any] = [NoTangent()] * len(args)
            for i, g in zip(active, given, strict=True):
                found[i] = ZeroTangent() if g is None else ProjectTo(args[i])(_to_numpy(g))
            return (NoTangent(), *found)

        return _to_numpy(out), jax_pullback

    def forward(tangents: tuple[Any, ...], f: Callable[..., Any], *args: Any) -> Any:
        held, active = split(args)
        if any(not _is_zero(tangents[1 + i]) for i in range(len(args)) if i in constant):
            return f(*args), not_implemented(f"{function!r} has no derivative by {sorted(constant)}")
        given = [_filled(args[i], tangents[1 + i]) for i in active]
        out, dout = jvp(*held, tuple(args[i] for i in active), tuple(given))
        out = _to_numpy(out)
        return out, ProjectTo(out)(_to_numpy(dout))

    _declare(of_arrays, forward=forward if jvp else None, reverse=reverse if backwards else None)
    return of_arrays


def _filled(x: Any, t: Any) -> Any:
    """The tangent `t` of `x`, zeros written out."""
    if not _is_zero(t):
        return unthunk(t)
    return x * 0.0 if is_array(x) else 0.0


def _to_numpy(x: Any) -> Any:
    """What another system calls an array, as NumPy's; a tuple of such as a tuple."""
    if isinstance(x, tuple | list):
        return tuple(map(_to_numpy, x))
    if is_array(x) or isinstance(x, int | float | complex) or not hasattr(x, "__array__"):
        return x
    return loaded().asarray(x)


# -- PyTorch ----------------------------------------------------------------------------------------------


def from_torch(function: Any) -> Callable[..., Any]:
    """A function of NumPy arrays that does what `function`, a class derived from ``torch.autograd.Function``,
    does, with its rule for reverse mode.  Arrays of floats are handed over as tensors, all else as it is.

    Raises `adbc.errors.UnsupportedError` if it is no such class.
    """
    torch = loaded("torch")
    base = None if torch is None else torch.autograd.Function
    if base is None or not (isinstance(function, type) and issubclass(function, base)):
        raise UnsupportedError(
            f"{function!r} has no rule of PyTorch's",
            "it is no class derived from torch.autograd.Function",
            "give such a class",
        )

    apply: Any = function.apply  # type: ignore[attr-defined]  # that class has it

    def tensors(args: Sequence[Any], wants_grad: bool) -> list[Any]:
        made = []
        for x in args:
            if ProjectTo(x).is_differentiable and (is_array(x) or isinstance(x, float)):
                x = torch.tensor(x, requires_grad=wants_grad)
            made.append(x)
        return made

    def of_arrays(*args: Any) -> Any:
        return apply(*tensors(args, False)).detach().numpy()

    of_arrays.__name__ = of_arrays.__qualname__ = function.__name__
    of_arrays.__doc__ = function.__doc__

    def reverse(f: Callable[..., Any], *args: Any) -> Any:
        given = tensors(args, True)
        with torch.enable_grad():
            out = apply(*given)
        active = [i for i, x in enumerate(given) if x is not args[i]]

        def torch_pullback(cotangent: Any) -> tuple[Any, ...]:
            by = torch.as_tensor(unthunk(cotangent), dtype=out.dtype).reshape(out.shape)
            grads = torch.autograd.grad(
                out, [given[i] for i in active], by, retain_graph=True, allow_unused=True
            )
            found: list[Any] = [NoTangent()] * len(args)
            for i, g in zip(active, grads, strict=True):
                found[i] = ZeroTangent() if g is None else ProjectTo(args[i])(g.numpy())
            return (NoTangent(), *found)

        return out.detach().numpy(), torch_pullback

    _declare(of_arrays, reverse=reverse)
    return of_arrays
