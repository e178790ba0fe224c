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

from adbc.rules.formulas import Formula, FormulaCall
from adbc.rules.numpy.base import (
    any_active,
    by_example,
    check_target,
    finish,
    gather,
    gather_tangent,
    give,
    new_shadow,
    plain,
    write_tangent,
)
from adbc.rules.numpy.elements import computes_whole, refuse_opaque
from adbc.rules.numpy.elementwise import conj
from adbc.rules.numpy.views import is_view, writable
from adbc.rules.table import NO_KWARGS, Args, Kwargs, Overlay, Primitive, Pullback, Rule, ZeroRule
from adbc.tangents import NO_TANGENT
from adbc.tangents.array_products import cleaned, is_finite

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


def _strong_product(inputs: Sequence[str], operands: Sequence[Any], output: str) -> Any:
    """What `_product` gives, if zero wins in the products of numbers that it sums."""
    found = _product(inputs, operands, output)
    if is_finite(found):
        return found
    return cleaned(found, lambda *factors: _product(inputs, factors, output), tuple(operands))


def cotangent(by: Any, i: int, operands: Sequence[Any], inputs: Sequence[str], output: str) -> Any:
    """The cotangent of operand `i` of an einsum from `by`, that of the result."""
    x, own = operands[i], inputs[i]
    unique = "".join(dict.fromkeys(own))
    others = [j for j in range(len(operands)) if j != i]
    known = set(output).union(*(inputs[j] for j in others))
    found = "".join(c for c in unique if c in known)
    # A dimension of length 1 stands for any length, so the result may be larger than the operand.
    d = _strong_product(
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


class _Into:
    """What stands before the target of ``out=`` and the other arguments, where they are given by position."""


_INTO = _Into()


def _arguments(args: Args) -> tuple[str, list[Any], Sequence[str], str]:
    operands = [gather(x) for x in args[1:]]
    inputs, output = labels(args[0], tuple(map(np.ndim, operands)))
    return args[0], operands, inputs, output


def _shadows(xs: Args, shadows: Args) -> list[Any]:
    """The tangents or shadows of operands, None for an array of objects none of which has one.

    Raises `UnsupportedError` for one with objects that have one.
    """
    found: list[Any] = []
    for x, f in zip(xs, shadows, strict=True):
        if f is not None and isinstance(x, np.ndarray) and x.dtype.hasobject:
            if any(part is not NO_TANGENT for part in f.flat):
                refuse_opaque(x)
            f = None
        found.append(f)
    return found


def _tangent(subscripts: str, operands: Sequence[Any], xs: Args, dxs: Args, kwargs: Kwargs) -> Any:
    dout = None
    if computes_whole(kwargs):
        return None
    for i, (x, dx) in enumerate(zip(xs, _shadows(xs, dxs), strict=True)):
        dx = gather_tangent(x, dx)
        if dx is not None:
            factors = (*operands[:i], dx, *operands[i + 1 :])
            term = np.einsum(subscripts, *factors, **kwargs)
            if not is_finite(term):  # zero wins
                term = cleaned(term, lambda *f: np.einsum(subscripts, *f, **kwargs), factors)
            dout = term if dout is None else dout + term
    return dout


def _into_frule(args: Args, dargs: Args, kwargs: Kwargs) -> tuple[Any, Any]:
    target, dtarget = check_target(args[1], dargs[1], any_active(dargs[3:]))
    olds = [x.copy() if isinstance(x, np.ndarray) and np.may_share_memory(x, target) else x for x in args[3:]]
    np.einsum(*args[2:], out=target, **kwargs)
    if dtarget is not None:
        write_tangent(dtarget, _tangent(args[2], [gather(x) for x in olds], olds, dargs[3:], kwargs))
    return target, dtarget


def _into_rrule(args: Args, fargs: Args, kwargs: Kwargs) -> tuple[Any, Any, Pullback]:
    target, ftarget = check_target(args[1], fargs[1], any_active(fargs[3:]))
    old = target.copy()
    np.einsum(*args[2:], out=target, **kwargs)

    def into_pullback(bout: Any) -> Sequence[Any]:
        target[...] = old
        result: list[Any] = [None] * len(args)
        if ftarget is not None:
            by = ftarget.copy()
            ftarget[...] = 0
            result[2:] = _cotangents(by, args[2:], fargs[2:], kwargs)
        return result

    return target, ftarget, into_pullback


def einsum_frule(args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
    if args[0] is _INTO:
        if args[1] is not None:
            return _into_frule(args, dargs, kwargs)
        args, dargs = args[2:], dargs[2:]
    subscripts, operands, _, _ = _arguments(args)
    out = np.einsum(*args, **kwargs)
    if len(operands) == 1 and is_view(out, args[1]):
        return out, None if dargs[1] is None else writable(np.einsum(subscripts, dargs[1]))
    return out, finish(_tangent(subscripts, operands, args[1:], dargs[1:], kwargs), out)


def einsum_rrule(args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any, Pullback]:
    if args[0] is _INTO:
        if args[1] is not None:
            return _into_rrule(args, fargs, kwargs)
        out, fout, pullback = einsum_rrule(args[2:], fargs[2:], kwargs)
        return out, fout, lambda bout: (None, None, *pullback(bout))
    subscripts, operands, _, _ = _arguments(args)
    out = np.einsum(*args, **kwargs)
    if len(operands) == 1 and is_view(out, args[1]):
        shadow = None if fargs[1] is None else writable(np.einsum(subscripts, fargs[1]))
        return out, shadow, lambda bout: (None, None)
    fout = new_shadow(out, any_active(fargs))

    def einsum_pullback(bout: Any) -> Sequence[Any]:
        by = fout if isinstance(fout, np.ndarray) else bout
        return (None,) * len(args) if by is None else _cotangents(by, args, fargs, kwargs)

    return out, fout, einsum_pullback


def _cotangents(by: Any, args: Args, fargs: Args, kwargs: Kwargs) -> list[Any]:
    """What the arguments of ``np.einsum(*args, **kwargs)`` are given back, for the cotangent `by` of its
    result."""
    if computes_whole(kwargs):
        return [None] * len(args)
    _, operands, inputs, output = _arguments(args)
    shadows = _shadows(args[1:], fargs[1:])
    terms = [None if f is None else cotangent(by, i, operands, inputs, output) for i, f in enumerate(shadows)]
    given = [
        None if term is None else give(f, x, term)
        for f, x, term in zip(shadows, args[1:], terms, strict=True)
    ]
    return [None, *given]


def text_of(lists: Any) -> str:
    """The subscripts that these lists of axes stand for; that of the result comes last, None if not given."""
    given = [i for one in lists if one is not None for i in one if i is not Ellipsis]
    if not all(0 <= i < len(LETTERS) for i in given):
        raise ValueError(f"subscript is not within the valid range [0, {len(LETTERS)})")
    texts = ["".join("..." if i is Ellipsis else LETTERS[i] for i in one) for one in lists if one is not None]
    if lists[-1] is None:
        return ",".join(texts)
    return ",".join(texts[:-1]) + "->" + texts[-1]


def by_lists(*args: Any, **options: Any) -> Any:
    """``np.einsum(a, [0, 1], b, [1, 2], [0, 2])``, by a text."""
    count = len(args) // 2
    operands = args[: 2 * count : 2]
    result = args[-1] if len(args) % 2 else None
    return np.einsum(text_of((*args[1 : 2 * count : 2], result)), *operands, **options)


def _against(i: int) -> Callable[..., Any]:
    def einsum_vjp(by: Any, y: Any, *operands: Any, subscripts: str, **others: Any) -> Any:
        inputs, output = labels(subscripts, tuple(map(np.ndim, operands)))
        return cotangent(by, i, operands, inputs, output)

    return einsum_vjp


class EinsumRule(Primitive):
    """The rule of ``np.einsum(subscripts, *operands)``."""

    def __init__(self) -> None:
        super().__init__(np.einsum, frule=einsum_frule, rrule=einsum_rrule, when=_with_text)
        self.formulas = tuple(Formula(_against(i)) for i in range(8))

    def bind(self, args: Args, kwargs: Kwargs) -> tuple[tuple[Any, ...], dict[str, Any]]:
        if "out" not in kwargs:
            return tuple(args), dict(kwargs)
        rest = dict(kwargs)
        return (_INTO, rest.pop("out"), *args), rest

    def numeric(self, count: int) -> Sequence[int]:
        return range(1, count)

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


def _with_text(cls: type, *others: type) -> bool:
    return (cls is str or cls is _Into) and plain(*others)


def _with_lists(cls: type, *others: type) -> bool:
    return not issubclass(cls, str) and cls is not _Into and plain(cls, *others)


ROWS: list[Rule] = [
    by_example(EinsumRule()),
    ZeroRule(text_of),
    Overlay(np.einsum, by_lists, when=_with_lists),
]
