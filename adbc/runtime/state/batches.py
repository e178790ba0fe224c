"""Batches while they run: how many lanes there are, zeros with so many, and rules that are called lane by
lane.

NumPy is loaded when the first batch is entered.
"""

from __future__ import annotations

import contextlib
import copy
import threading
from collections.abc import Callable, Iterator, Sequence
from types import MethodDescriptorType
from typing import Any

from adbc.errors import BatchError
from adbc.tangents import NO_TANGENT, Tangent, fresh_tangent, zero_tangent

__all__ = [
    "CANNOT", "by_lanes", "fresh", "fresh_array", "is_batched", "lane_by_lane", "of_width", "spread", "width",
]  # fmt: skip


class _Current(threading.local):
    width: int | None = None


_CURRENT = _Current()


def width() -> int:
    """How many lanes the batches have in the call that runs."""
    assert _CURRENT.width is not None
    return _CURRENT.width


@contextlib.contextmanager
def of_width(count: int) -> Iterator[None]:
    """In the block, and in this thread, batches have `count` lanes."""
    before, _CURRENT.width = _CURRENT.width, count
    try:
        yield
    finally:
        _CURRENT.width = before


def _batches() -> Any:
    from adbc.tangents import array_batches  # it imports NumPy

    return array_batches


def _memo() -> dict[Any, Any]:
    from adbc.tangents.array_batch_memory import memo_of  # it imports NumPy

    return memo_of(width())


# -- zeros ---------------------------------------------------------------------------------------------------


def fresh(out: Any) -> Any:
    """The tangent of `out`, a new value that depends on nothing: None unless a part of it has an address."""
    if fresh_tangent(out) is None:
        return None
    return zero_tangent(out, _memo(), True)


def fresh_array(d: Any, x: Any) -> Any:
    """`d`, or zeros like array `x` if `d` is None."""
    return zero_tangent(x, _memo()) if d is None else spread(x, d)


def spread(out: Any, tangent: Any) -> Any:
    """`tangent`, which a rule has given for its result `out`, with batches in the place of arrays that are
    one and the same in all lanes."""
    cls = tangent.__class__
    if cls is float or tangent is None or getattr(cls, "is_batch", False):
        return tangent
    if cls is Tangent:
        return Tangent(**{name: spread(part, part) for name, part in tangent.__dict__.items()})
    if cls is tuple:
        return (
            tuple(map(spread, out, tangent)) if type(out) is tuple else tuple([spread(t, t) for t in tangent])
        )
    batches = _batches()
    if cls is list:
        tangent[:] = [spread(t, t) for t in tangent]
    if cls is batches.np.ndarray and tangent.dtype.kind in "fc":
        made = batches.batch_like(out if out.__class__ is cls else tangent, width())
        made.data[...] = tangent
        return made
    return tangent


# -- lane by lane --------------------------------------------------------------------------------------------


CANNOT = (BatchError, TypeError, AttributeError, ValueError)
"""What says that something cannot be done with a batch: C code that takes nothing but arrays knows of no
others.  What has no effects is done for each lane then, and raises again what has another reason."""


def is_batched(t: Any) -> bool:
    """Whether `t` is a batch."""
    return getattr(t.__class__, "is_batch", False)


def lane_by_lane(formula: Callable[..., Any]) -> Callable[..., Any]:
    """The formula of a tangent, computed for each lane of a batch if it cannot be for all at once."""

    if type(formula) is MethodDescriptorType:  # of NumPy's arrays: it takes nothing else

        def method_for_lanes(d: Any, /, *others: Any, **options: Any) -> Any:
            if not is_batched(d):
                return formula(d, *others, **options)
            method = getattr(d, formula.__name__, None)
            if method is None:
                return _batches().lanewise(formula, (d, *others), options)
            return method(*others, **options)

        return method_for_lanes

    def for_lanes(d: Any, /, *others: Any, **options: Any) -> Any:
        try:
            return formula(d, *others, **options)
        except CANNOT:
            if _batches().width_in((d, *others, *options.values())) < 0:
                raise
            return _batches().lanewise(formula, (d, *others), options)

    return for_lanes


def lane_of(t: Any, n: int, sources: list[Any]) -> Any:
    """Lane `n` of the tangent `t`; `sources` gets the batches of arrays in it."""
    cls = t.__class__
    if getattr(cls, "is_batch", False):
        if hasattr(t, "strides"):
            sources.append(t)
        return _batches().lane(t, n)
    if cls is tuple or cls is list:
        return cls([lane_of(part, n, sources) for part in t])
    if cls is dict:
        return {key: lane_of(part, n, sources) for key, part in t.items()}
    if cls is Tangent:
        return Tangent(**{key: lane_of(part, n, sources) for key, part in t.__dict__.items()})
    if t is None or t is NO_TANGENT or cls is float or cls is complex or cls.__module__ == "numpy":
        return t
    raise BatchError(
        f"a rule is given the batch of tangents of a value that is not made of numbers, arrays, lists and"
        f" tuples (a {cls.__name__})",
        "it cannot be taken apart into lanes",
        "take the tangents one by one: adbc.jvp(f, primals, tangents) without width",
    )


def _put_back(t: Any, lanes: Sequence[Any], sources: Sequence[Any]) -> None:
    """Give the list or dict `t` what its lanes have become."""
    if t.__class__ is list:
        if any(len(lane) != len(lanes[0]) for lane in lanes):
            raise BatchError("a rule changes lists to different lengths", "in different lanes")
        old = list(t)
        t[:] = [
            _merged(old[i] if i < len(old) else None, [lane[i] for lane in lanes], sources)
            for i in range(len(lanes[0]))
        ]
    elif t.__class__ is dict:
        old_dict = dict(t)
        t.clear()
        t.update(
            {key: _merged(old_dict.get(key), [lane[key] for lane in lanes], sources) for key in lanes[0]}
        )
    elif t.__class__ is tuple:
        for i, part in enumerate(t):
            _put_back(part, [lane[i] for lane in lanes], sources)


def _merged(old: Any, lanes: Sequence[Any], sources: Sequence[Any]) -> Any:
    if old.__class__ is list or old.__class__ is dict:
        _put_back(old, lanes, sources)
        return old
    return _joined(lanes, sources)


def _joined(lanes: Sequence[Any], sources: Sequence[Any]) -> Any:
    first = lanes[0]
    if first.__class__ is Tangent:
        return Tangent(**{k: _joined([lane.__dict__[k] for lane in lanes], sources) for k in first.__dict__})
    if first.__class__ is dict:
        return {k: _joined([lane[k] for lane in lanes], sources) for k in first}
    if any(lane is None for lane in lanes) and first is not None:
        raise BatchError("a rule gives a tangent in some lanes, and None in others", "of one batch")
    return _batches().joined(lanes, sources)


def _is_same(out: Any, again: Any) -> bool:
    """Whether two results are the same numbers, as far as they consist of any."""
    cls = out.__class__
    if cls is not again.__class__:
        return False
    if cls is tuple or cls is list:
        return len(out) == len(again) and all(map(_is_same, out, again))
    if cls.__module__ == "numpy" and hasattr(out, "dtype") and out.dtype.kind in "fciub":
        numpy = _batches().np
        return bool(numpy.array_equal(out, again, equal_nan=out.dtype.kind in "fc"))
    if cls is float or cls is complex or cls is int:
        return bool(out == again or (out != out and again != again))
    return True


def by_lanes(
    rule: Callable[..., Any],
    args: Sequence[Any],
    dargs: Sequence[Any],
    kwargs: Any,
    out: Any,
    *,
    may_change: bool,
) -> Any:
    """What a forward rule gives, called for each lane: the first time on the arguments themselves, and then,
    if it `may_change` them, on copies of these as they were, so that they are changed once."""
    count = width()
    sources: list[Any] = []
    lanes = [tuple([lane_of(t, n, sources) for t in dargs]) for n in range(count)]
    copies = [copy.deepcopy(tuple(args)) if may_change else args for _ in range(count - 1)]
    made, first = rule(args, lanes[0], kwargs, *out)
    tangents = [first]
    for given, lane in zip(copies, lanes[1:], strict=True):
        again, tangent = rule(given, lane, kwargs, *out)
        if not _is_same(made, again):
            raise BatchError(
                f"a rule that is called for each lane of a batch gives {made!r:.40} at first, and then"
                f" {again!r:.40}",
                "so it would be differentiated at several points",
                "take the tangents one by one: adbc.jvp(f, primals, tangents) without width",
            )
        tangents.append(tangent)
    for t, *parts in zip(dargs, *lanes, strict=True):
        _put_back(t, parts, sources)
    for t, lane in zip(dargs, lanes[0], strict=True):
        if first is lane and first is not None and t.__class__ is not float:
            return made, t  # one of the arguments
    return made, _joined(tangents, sources)
