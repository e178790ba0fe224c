"""What generated code does with the shadows and cotangents of arrays: fit, grow, and take parts of them.

NumPy is not imported here: where there is an array, it has been.
"""

from __future__ import annotations

import math
import sys
from typing import Any

from adbc.tangents import multiply, project, zero_tangent
from adbc.tangents.internal import ARRAY_ACCUMULATE
from adbc.tangents.protocol import kind_of

__all__ = [
    "add_to_array", "add_to_part", "are_finite", "as_negative_part",
    "as_part", "clear", "clear_part", "copied", "filled",
    "filled_array", "fit", "fit_array", "full_array", "give_array", "give_own", "inner", "move_part",
    "negate", "new_array", "own_array", "reshaped", "scaled", "share", "take_array", "take_from_part",
    "take_own", "taken_number", "taken_part", "times", "times_followed", "transposed", "view",
]  # fmt: skip


def view(shadow: Any, index: Any) -> Any:
    """``shadow[index]``, the view that belongs to the same view of the array; always writable."""
    if shadow is None:
        return None
    result = shadow[index]
    if not result.flags.writeable:
        result.flags.writeable = True
    return result


def _is_plain(shadow: Any) -> bool:
    """Whether no two elements of `shadow` are at one place, by the most frequent of the reasons for that:
    there is no gap between elements, or there are gaps in a row or in a column."""
    steps = shadow.strides
    return shadow.flags.forc or (
        len(steps) == 1 and (steps[0] >= shadow.itemsize or steps[0] <= -shadow.itemsize)
    )


def give_array(shadow: Any, x: Any, d: Any) -> None:
    """Let the shadow of array `x` grow by `d`; None is the shadow of a constant."""
    if shadow is None:
        return
    if (
        d.__class__ is shadow.__class__
        and d.shape == shadow.shape
        and d.dtype == shadow.dtype
        and (shadow.base is None or _is_plain(shadow))
        and shadow.dtype.char in "dfDF"
    ):
        shadow += d  # no two elements are at one place
    else:
        ARRAY_ACCUMULATE[shadow.__class__](shadow, x, d)


def take_array(shadow: Any, x: Any, d: Any) -> None:
    """Let the shadow of array `x` shrink by `d`."""
    if shadow is None:
        return
    if (
        d.__class__ is shadow.__class__
        and d.shape == shadow.shape
        and d.dtype == shadow.dtype
        and (shadow.base is None or _is_plain(shadow))
        and shadow.dtype.char in "dfDF"
    ):
        shadow -= d  # no two elements are at one place
    else:
        ARRAY_ACCUMULATE[shadow.__class__](shadow, x, -d)


def _taken(shadow: Any, index: Any) -> Any:
    """A copy of ``shadow[index]``, which is zero now.  What a mask takes is a copy, anything else a view."""
    if index.__class__ is shadow.__class__:
        d = shadow[index]
        shadow[index] = 0
        return d
    part = view(shadow, index)
    d = part.copy()
    part.fill(0)
    return d


def taken_part(shadow: Any, index: Any, shape: tuple[int, ...], code: str) -> Any:
    """The cotangent of an array of this shape and dtype that was written at ``shadow[index]``, which is zero
    now; None if `shadow` is that of a constant."""
    if shadow is None:
        return None
    d = _taken(shadow, index)
    return d if d.shape == shape and d.dtype.char == code else fit_array(d, shape, code)


def taken_number(shadow: Any, index: Any, x: Any) -> Any:
    """The cotangent of the number `x`, in the place of an array in `taken_part`."""
    return None if shadow is None else project(_taken(shadow, index), x)


def move_part(shadow: Any, index: Any, given: Any) -> None:
    """Let `given`, the shadow of an array that was written at ``shadow[index]``, grow by what is there, which
    is zero now; either is None for a constant, and they may share memory."""
    if shadow is not None:
        give_array(given, given, _taken(shadow, index))


def clear(part: Any) -> None:
    """Let `part` of a shadow be zero; None is that of a constant."""
    if part is not None:
        part.fill(0)


def clear_part(shadow: Any, index: Any) -> None:
    """Let ``shadow[index]`` be zero; nothing if `shadow` is None."""
    if shadow is not None:
        shadow[index] = 0


def give_own(shadow: Any, d: Any) -> None:
    """Let `shadow`, of which no two elements are at one place, grow by `d`."""
    if d.__class__ is shadow.__class__ and d.shape == shadow.shape and d.dtype == shadow.dtype:
        shadow += d
    else:
        ARRAY_ACCUMULATE[shadow.__class__](shadow, shadow, d)


def take_own(shadow: Any, d: Any) -> None:
    """Let `shadow`, of which no two elements are at one place, shrink by `d`."""
    if d.__class__ is shadow.__class__ and d.shape == shadow.shape and d.dtype == shadow.dtype:
        shadow -= d
    else:
        ARRAY_ACCUMULATE[shadow.__class__](shadow, shadow, -d)


def negate(d: Any) -> Any:
    """``-d``, written over `d`, which is nobody else's."""
    numpy: Any = sys.modules["numpy"]  # loaded: there is an array
    return numpy.negative(d, out=d)


def inner(d: Any, p: Any) -> Any:
    """The cotangent of a number, from the cotangent `d` of an array and the partial derivative `p` of that
    array by the number, both real: a sum of products, in each of which zero wins."""
    if p.__class__ is d.__class__ and p.shape == d.shape:
        numpy: Any = sys.modules["numpy"]  # loaded: there is an array
        total = numpy.vdot(d, p)
        return total if math.isfinite(total) else multiply(p, d).sum()
    return times(p, d)


def times(p: Any, d: Any) -> Any:
    """``p * d``, an array, but zero where one of them is zero (`tangents.multiply`)."""
    product = p * d
    if product.size > _MANY:
        return product if are_finite(product) else multiply(p, d)
    numpy: Any = sys.modules["numpy"]  # loaded: there is an array
    return product if math.isfinite(numpy.vdot(product, product).real) else multiply(p, d)


_MANY = 10_000
"""From here on a product of vectors is no way to look at one (`array_products.are_finite`)."""


def times_followed(p: Any, d: Any) -> Any:
    """What `times` computes, in the words of who differentiates it: the question is asked apart."""
    product = p * d
    return product if are_finite(product) else multiply(p, d)


def are_finite(x: Any) -> bool:
    """Whether all numbers of array `x` are finite."""
    from adbc.tangents import array_products  # it imports NumPy

    return array_products.are_finite(x)


def scaled(p: Any, d: Any) -> Any:
    """What `times` gives, where `p` is likely to be a number."""
    if p.__class__ is float and p and p - p == 0.0:
        return p * d  # zero where `d` is
    return times(p, d)


def copied(x: Any) -> Any:
    """A copy of an array."""
    return x.copy()


def fit(d: Any, x: Any) -> Any:
    """`d` as a cotangent of `x`, a number or an array; broadcasting undone.

    It is never None: a number that may be whole, as the sum of no numbers is, counts as one of the others.
    """
    cls = d.__class__
    if cls is not x.__class__:
        fitted = project(d, x)
        return 0.0 if fitted is None else fitted
    if issubclass(type(d), float):
        return d  # two numbers of one class
    try:
        if d.shape == x.shape and d.dtype == x.dtype:
            return d
    except AttributeError:
        return d  # both are numbers of Python, of one class
    return project(d, x)


def filled(d: Any, x: Any) -> Any:
    """`d`, or zeros like `x` if `d` is None."""
    return zero_tangent(x) if d is None else d


def fit_array(d: Any, shape: tuple[int, ...], code: str) -> Any:
    """`d` as a cotangent of an array of `shape` and of the dtype with this code; broadcasting undone."""
    try:
        if d.dtype.char == code:
            if d.shape == shape:
                return d
            if d.shape:
                return kind_of(d.__class__).summed(d, shape)  # type: ignore[attr-defined]  # of arrays
    except AttributeError:
        pass  # a number of Python
    return project(d, zeros_of(shape, code))


def filled_array(d: Any, shape: tuple[int, ...], code: str) -> Any:
    """`d`, or zeros of this shape and dtype if `d` is None."""
    return zeros_of(shape, code) if d is None else d


def add_to_array(a: Any, b: Any) -> Any:
    """The sum of two cotangents of one array; `a` may be changed."""
    if a is None or b is None:
        return b if a is None else a
    a += b
    return a


def transposed(d: Any) -> Any:
    """The cotangent of an array, from the cotangent `d` of its transpose."""
    return None if d is None else d.T


def reshaped(d: Any, shape: tuple[int, ...]) -> Any:
    """The cotangent of an array of this shape, from the cotangent `d` of what it was reshaped to."""
    return None if d is None else d.reshape(shape)


def share(number: Any, part: tuple[int, ...], whole: tuple[int, ...]) -> Any:
    """`number` times how often each element of an array of shape `part` is in one of shape `whole`."""
    return number if part == whole else number * (math.prod(whole) / max(math.prod(part), 1))


def full_array(number: Any, shape: tuple[int, ...], code: str) -> Any:
    """An array of that shape and dtype, full of `number`."""
    numpy: Any = sys.modules["numpy"]  # loaded: there is an array
    whole = numpy.empty(shape, code)
    whole.fill(number)
    return whole


def new_array(d: Any) -> Any:
    """A copy of a cotangent that somebody else may have."""
    return None if d is None else d.copy()


def as_part(index: Any, d: Any, shape: tuple[int, ...], code: str) -> Any:
    """The cotangent of an array of which the part at `index` has the cotangent `d`."""
    whole = zeros_of(shape, code)
    if d is not None:
        whole[index] = d
    return whole


def add_to_part(whole: Any, index: Any, d: Any, shape: tuple[int, ...], code: str) -> Any:
    """`whole`, a cotangent of an array or None, with `d` added to the part at `index`."""
    if whole is None:
        return as_part(index, d, shape, code)
    if d is not None:
        whole[index] += d
    return whole


def as_negative_part(index: Any, d: Any, shape: tuple[int, ...], code: str) -> Any:
    """The cotangent of an array of which the part at `index` has the cotangent ``-d``."""
    whole = zeros_of(shape, code)
    if d is not None:
        numpy: Any = sys.modules["numpy"]  # loaded: there is an array
        numpy.negative(d, out=whole[index])
    return whole


def take_from_part(whole: Any, index: Any, d: Any, shape: tuple[int, ...], code: str) -> Any:
    """`whole`, a cotangent of an array or None, with `d` taken from the part at `index`."""
    if whole is None:
        return as_negative_part(index, d, shape, code)
    if d is not None:
        whole[index] -= d
    return whole


def zeros_of(shape: tuple[int, ...], code: str) -> Any:
    numpy: Any = sys.modules["numpy"]  # loaded: there is an array
    return numpy.zeros(shape, code)


def own_array(d: Any, x: Any, source: Any) -> Any:
    """`d`, which is made of the tangent `source`, as the tangent of array `x` with memory of its own, laid
    out like `x`, so that what is a view of `x` can be one of the tangent."""
    if (
        d.__class__ is x.__class__
        and d.base is None
        and d is not source
        and d.strides == x.strides
        and d.shape == x.shape
        and d.dtype == x.dtype
    ):
        return d
    d = project(d, x, fresh=True)
    if d is not None and d.strides != x.strides:  # None for an array of integers
        kind: Any = kind_of(x.__class__)
        return kind.alike(d, x)
    return d
