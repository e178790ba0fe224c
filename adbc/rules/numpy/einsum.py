"""The rule of ``np.einsum``.

The cotangent of an operand is an einsum of the cotangent of the result and of the other operands, in which
the operand and the result have changed places (Laue, Mitterreiter and Giesen, "A simple and efficient tensor
calculus", 2020).  Where it is large and is a product of matrices in disguise, BLAS computes it.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from adbc.errors import UnsupportedError
from adbc.rules.formulas import Formula, FormulaCall
from adbc.rules.numpy.base import (
    any_active,
    by_example,
    finish,
    gather,
    gather_tangent,
    give,
    new_shadow,
    plain,
)
from adbc.rules.numpy.elementwise import conj
from adbc.rules.numpy.views import is_view, writable
from adbc.rules.table import NO_KWARGS, Args, Kwargs, Primitive, Pullback, Rule

__all__ = ["ROWS", "contracted"]

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


@functools.lru_cache(maxsize=256)
def labels(subscripts: str, ndims: tuple[int, ...]) -> tuple[tuple[str, ...], str]:
    """The labels of each operand and of the result, with ellipses written out."""
    subscripts = subscripts.replace(" ", "")
    left, arrow, right = subscripts.partition("->")
    inputs = left.split(",")
    spare = [c for c in LETTERS if c not in subscripts]
    widths = [
        ndim - len(part.replace("...", "")) if "..." in part else 0
        for part, ndim in zip(inputs, ndims, strict=True)
    ]
    dots = "".join(spare[: max(widths)])
    full = tuple(
        part.replace("...", dots[len(dots) - width :]) for part, width in zip(inputs, widths, strict=True)
    )
    if arrow:
        return full, right.replace("...", dots)
    letters = "".join(part.replace("...", "") for part in inputs)
    return full, dots + "".join(sorted(c for c in set(letters) if letters.count(c) == 1))


_Plan = tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...], int, int, int]


@functools.lru_cache(maxsize=256)
def _plan(a: str, b: str, out: str) -> _Plan | None:
    """How ``einsum("a,b->out")`` is a (stack of) products of matrices: the orders in which the axes of both
    and of the product are taken, and how many of them are common, free in `a`, free in `b`; or None."""
    if any(len(set(x)) != len(x) for x in (a, b, out)):
        return None
    common = [c for c in out if c in a and c in b]
    summed = [c for c in a if c in b and c not in out]
    free_a = [c for c in a if c not in b]
    free_b = [c for c in b if c not in a]
    if not summed or not (free_a or free_b) or not set(free_a + free_b) <= set(out):
        return None
    product = common + free_a + free_b
    return (
        tuple(a.index(c) for c in common + free_a + summed),
        tuple(b.index(c) for c in common + summed + free_b),
        tuple(product.index(c) for c in out),
        len(common),
        len(free_a),
        len(free_b),
    )


_SMALL = 2000
"""With fewer multiplications than this ``np.einsum`` is quicker than a product of matrices."""


def contracted(a: str, x: Any, b: str, y: Any, out: str) -> Any:
    """The result of ``np.einsum("a,b->out", x, y)``, as a product of matrices where that is quicker."""
    plan = _plan(a, b, out)
    if plan is not None and x.dtype == y.dtype and x.dtype.kind in "fc":
        sizes = dict(zip(a, x.shape, strict=True))
        others = dict(zip(b, y.shape, strict=True))
        whole = {**sizes, **others}
        if math.prod(whole.values()) > _SMALL and all(whole[c] == n for c, n in sizes.items()):
            order_a, order_b, order_out, common, free_a, free_b = plan
            x, y = x.transpose(order_a), y.transpose(order_b)
            middle = common + free_a
            shape = (*x.shape[:middle], *y.shape[len(order_b) - free_b :])
            if free_a != 1 or len(order_a) - middle != 1:
                x = x.reshape(*x.shape[:common], math.prod(x.shape[common:middle]), -1)
            if free_b != 1 or len(order_b) - common - free_b != 1:
                y = y.reshape(*y.shape[:common], x.shape[-1], -1)
            return np.matmul(x, y).reshape(shape).transpose(order_out)
    return np.einsum(f"{a},{b}->{out}", x, y)


_LARGE = 1 << 20


def _product(inputs: Sequence[str], operands: Sequence[Any], output: str) -> Any:
    """The result of ``np.einsum`` of `operands` with labels `inputs`, for the labels `output`."""
    if len(operands) == 2:
        return contracted(inputs[0], operands[0], inputs[1], operands[1], output)
    sizes = {
        c: n for part, x in zip(inputs, operands, strict=True) for c, n in zip(part, x.shape, strict=True)
    }
    large = len(operands) > 2 and math.prod(sizes.values()) > _LARGE
    return np.einsum(f"{','.join(inputs)}->{output}", *operands, optimize=large)


def cotangent(by: Any, i: int, operands: Sequence[Any], inputs: Sequence[str], output: str) -> Any:
    """The cotangent of operand `i` of an einsum from `by`, that of the result."""
    x, own = operands[i], inputs[i]
    unique = "".join(dict.fromkeys(own))
    others = [j for j in range(len(operands)) if j != i]
    known = set(output).union(*(inputs[j] for j in others))
    found = "".join(c for c in unique if c in known)
    # A dimension of length 1 stands for any length, so the result may be larger than the operand.
    d = _product(
        [output, *(inputs[j] for j in others)],
        [np.asarray(by), *(np.asarray(conj(operands[j])) for j in others)],
        found,
    )
    shape = np.shape(x)
    if d.shape == shape and found == own:
        return d
    sizes = dict(zip(own, shape, strict=True))
    for k, c in enumerate(found):
        if sizes[c] == 1 and d.shape[k] != 1:
            d = np.sum(d, axis=k, keepdims=True)
    d = np.reshape(d, [d.shape[found.index(c)] if c in found else 1 for c in unique])
    d = np.broadcast_to(d, [sizes[c] for c in unique])
    if unique == own:
        return d
    whole = np.zeros(shape, d.dtype)
    np.einsum(f"{own}->{unique}", whole)[...] = d
    return whole


def _arguments(args: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[str, list[Any], Sequence[str], str]:
    if not args or not isinstance(args[0], str):
        raise UnsupportedError(
            "np.einsum with operands and lists of axes",
            "adbc has no rule for that form",
            "use a string of subscripts: np.einsum('ij,jk->ik', a, b)",
        )
    if kwargs.get("out") is not None:
        raise UnsupportedError(
            "np.einsum with out=",
            "adbc has no rule for that form",
            "assign the result: out[...] = np.einsum(...)",
        )
    operands = [gather(x) for x in args[1:]]
    inputs, output = labels(args[0], tuple(map(np.ndim, operands)))
    return args[0], operands, inputs, output


def einsum_frule(args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
    subscripts, operands, _, _ = _arguments(args, kwargs)
    out = np.einsum(*args, **kwargs)
    if len(operands) == 1 and is_view(out, args[1]):
        return out, None if dargs[1] is None else writable(np.einsum(subscripts, dargs[1]))
    dout = None
    for i, (x, dx) in enumerate(zip(args[1:], dargs[1:], strict=True)):
        dx = gather_tangent(x, dx)
        if dx is not None:
            term = np.einsum(subscripts, *operands[:i], dx, *operands[i + 1 :], **kwargs)
            dout = term if dout is None else dout + term
    return out, finish(dout, out)


def einsum_rrule(args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any, Pullback]:
    subscripts, operands, inputs, output = _arguments(args, kwargs)
    out = np.einsum(*args, **kwargs)
    if len(operands) == 1 and is_view(out, args[1]):
        shadow = None if fargs[1] is None else writable(np.einsum(subscripts, fargs[1]))
        return out, shadow, lambda bout: (None, None)
    fout = new_shadow(out, any_active(fargs))

    def einsum_pullback(bout: Any) -> Sequence[Any]:
        by = fout if isinstance(fout, np.ndarray) else bout
        result: list[Any] = [None] * len(args)
        if by is not None:
            terms = [
                None if f is None else cotangent(by, i, operands, inputs, output)
                for i, f in enumerate(fargs[1:])
            ]
            for i, term in enumerate(terms):
                if term is not None:
                    result[i + 1] = give(fargs[i + 1], args[i + 1], term)
        return result

    return out, fout, einsum_pullback


def _against(i: int) -> Callable[..., Any]:
    def einsum_vjp(by: Any, y: Any, *operands: Any, subscripts: str, **others: Any) -> Any:
        inputs, output = labels(subscripts, tuple(map(np.ndim, operands)))
        return cotangent(by, i, operands, inputs, output)

    return einsum_vjp


class EinsumRule(Primitive):
    """The rule of ``np.einsum(subscripts, *operands)``."""

    def __init__(self) -> None:
        super().__init__(np.einsum, frule=einsum_frule, rrule=einsum_rrule, when=plain)
        self.formulas = tuple(Formula(_against(i)) for i in range(8))

    def numeric(self, count: int) -> Sequence[int]:
        return range(count)  # operands and lists of axes may stand in the place of subscripts

    def formula_call(
        self, count: int, keywords: Sequence[str], is_complex: bool = False
    ) -> FormulaCall | None:
        operands = count - len(keywords) - 1
        if not 0 < operands <= 8 or not set(keywords) <= {"optimize"} or self.formulas is None:
            return None
        others = (("subscripts", 0), *((name, operands + 1 + i) for i, name in enumerate(keywords)))
        return FormulaCall(
            tuple(self.formulas[:operands]), tuple(range(1, operands + 1)), others, window=operands == 1
        )


ROWS: list[Rule] = [by_example(EinsumRule())]
