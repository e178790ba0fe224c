"""`from_torch`: what a ``torch.autograd.Function`` says.

PyTorch's gradients of what is complex are those of this package: nothing is conjugated.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from adbc.chainrules.arrays import is_array, loaded
from adbc.chainrules.foreign.common import declare, is_number, is_zero, project, written_out
from adbc.chainrules.thunks import unthunk
from adbc.chainrules.zeros import NoTangent, ZeroTangent, not_implemented
from adbc.errors import UnsupportedError

__all__ = ["from_torch"]


def from_torch(function: Any) -> Callable[..., Any]:
    """A function of NumPy arrays that does what `function`, a class derived from ``torch.autograd.Function``,
    does, with its rule.  Arrays and numbers that have a derivative are handed over as tensors, in their
    precision, all else as it is; the result is a tensor or a tuple of such.

    Forward mode is by the ``jvp`` of the class; without one the derivative is `not_implemented`.

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
    has_jvp = function.jvp is not base.jvp  # type: ignore[attr-defined]

    def tensors(args: Sequence[Any], wants_grad: bool) -> list[Any]:
        return [_tensor(x, wants_grad) if is_number(x) else x for x in args]

    def of_arrays(*args: Any) -> Any:
        with torch.no_grad():
            return _to_numpy(apply(*tensors(args, False)))

    of_arrays.__name__ = of_arrays.__qualname__ = function.__name__
    of_arrays.__doc__ = function.__doc__

    def reverse(f: Callable[..., Any], *args: Any) -> Any:
        given = tensors(args, True)
        active = [i for i, x in enumerate(args) if is_number(x)]
        with torch.enable_grad():
            made = apply(*given)
        out = _to_numpy(made)

        def torch_pullback(cotangent: Any) -> tuple[Any, ...]:
            by = written_out(out, cotangent, lambda x: None)
            pairs = zip(made, by, strict=True) if isinstance(made, tuple) else [(made, by)]
            pairs = [(y, b) for y, b in pairs if torch.is_tensor(y) and y.requires_grad]
            found: list[Any] = [NoTangent()] * len(args)
            if not pairs or not active:
                return NoTangent(), *(ZeroTangent() if i in active else NoTangent() for i in range(len(args)))
            grads = torch.autograd.grad(
                [y for y, _ in pairs],
                [given[i] for i in active],
                [torch.tensor(b, dtype=y.dtype).reshape(y.shape) for y, b in pairs],
                retain_graph=True,
                allow_unused=True,
            )
            for i, g in zip(active, grads, strict=True):
                found[i] = ZeroTangent() if g is None else project(args[i], _to_numpy(g))
            return (NoTangent(), *found)

        return out, torch_pullback

    def forward(tangents: tuple[Any, ...], f: Callable[..., Any], *args: Any) -> Any:
        active = [i for i, t in enumerate(tangents[1:]) if not is_zero(t)]
        if active and not has_jvp:
            return f(*args), not_implemented(f"{function.__name__} has no jvp")
        level = torch.autograd.forward_ad
        with torch.no_grad(), level.dual_level():
            given = tensors(args, False)
            for i in active:
                t = torch.tensor(unthunk(tangents[1 + i]), dtype=given[i].dtype).reshape(given[i].shape)
                given[i] = level.make_dual(given[i], t)
            with torch.enable_grad():
                made = apply(*given)
            several = made if isinstance(made, tuple) else (made,)
            pairs = [level.unpack_dual(y) if torch.is_tensor(y) else (y, None) for y in several]
        outs = tuple(_to_numpy(y) for y, _ in pairs)
        douts = tuple(
            (ZeroTangent() if t is None else project(y, _to_numpy(t)))
            for y, (_, t) in zip(outs, pairs, strict=True)
        )
        return (outs, project(outs, douts)) if isinstance(made, tuple) else (outs[0], douts[0])

    declare(of_arrays, forward=forward, reverse=reverse)
    return of_arrays


def _tensor(x: Any, wants_grad: bool) -> Any:
    """A tensor with the numbers of `x`, in its precision; of its own memory."""
    torch = loaded("torch")
    if is_array(x) or hasattr(x, "dtype"):
        return torch.tensor(loaded().asarray(x), requires_grad=wants_grad)
    dtype = torch.complex128 if isinstance(x, complex) else torch.float64
    return torch.tensor(x, dtype=dtype, requires_grad=wants_grad)


def _to_numpy(x: Any) -> Any:
    """Tensors as arrays of our own: theirs may be what the rule has saved."""
    if isinstance(x, tuple):
        return tuple(map(_to_numpy, x))
    return x.detach().resolve_conj().numpy().copy() if loaded("torch").is_tensor(x) else x
