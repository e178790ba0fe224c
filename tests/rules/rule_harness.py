"""Checks one row of a table in flat form: against the plain call, forward against finite differences,
reverse against forward by an inner product, and everything put back as it was.

The state is the tuple (result, arguments after the call), so that mutation and aliasing are checked
like a result.  Shadows are linear: the forwards pass runs on zero shadows, then a random cotangent of
the whole state after the call is put into them, then the pullback runs.
"""

from __future__ import annotations

import copy
import math
import random
from collections import deque
from types import CellType
from typing import Any

from adbc.rules import default_table
from adbc.rules.table import Rule
from adbc.tangents import (
    NO_TANGENT,
    MutableTangent,
    Tangent,
    add,
    add_to_primal,
    difference,
    dot,
    fill_tangent,
    increment,
    random_tangent,
    scale,
    slot_increment,
    slot_rdata,
    slot_shadow,
    slot_tangent,
    zero_tangent,
)

STEP = 1e-6


def find(function: Any, args: tuple[Any, ...]) -> Rule:
    rule = default_table().find(function, tuple(type(x) for x in args))
    assert rule is not None, f"no rule of {function} for {[type(x).__name__ for x in args]}"
    return rule


def copied(args: tuple[Any, ...]) -> tuple[Any, ...]:
    """A deep copy; cells, which `copy` does not know, are copied by moving nowhere."""
    if any(type(x) is CellType for x in args):
        return add_to_primal(args, zero_tangent(args))
    return copy.deepcopy(args)


def same(x: Any, y: Any) -> bool:
    """Equal in class, value, order and sharing."""
    return _same(x, y, {})


def _same(x: Any, y: Any, seen: dict[int, int]) -> bool:
    if type(x) is not type(y):
        return False
    if isinstance(x, (list, dict, deque)) or hasattr(x, "__dict__"):
        if id(x) in seen:
            return seen[id(x)] == id(y)
        seen[id(x)] = id(y)
    if isinstance(x, (list, tuple, deque)):
        return len(x) == len(y) and all(_same(a, b, seen) for a, b in zip(x, y, strict=True))
    if isinstance(x, dict):
        return list(x) == list(y) and all(_same(x[k], y[k], seen) for k in x)
    if isinstance(x, CellType):
        return _same(_cell(x), _cell(y), seen)
    if isinstance(x, float) and math.isnan(x):
        return math.isnan(y)
    if hasattr(x, "__next__"):
        return True
    return bool(x == y)


def _cell(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        return "empty"


def close(t: Any, s: Any, tolerance: float = 1e-5) -> bool:
    """Two tangents agree."""
    if t is NO_TANGENT:  # without a derivative, or a constant, which must not have changed
        return s is NO_TANGENT or dot(s, s) == 0.0
    if s is NO_TANGENT:
        return False
    if isinstance(t, (list, tuple, deque)):
        return len(t) == len(s) and all(close(a, b, tolerance) for a, b in zip(t, s, strict=True))
    if isinstance(t, (Tangent, MutableTangent)):
        t, s = t.__dict__, s.__dict__
    if isinstance(t, dict):
        return list(t) == list(s) and all(close(t[k], s[k], tolerance) for k in t)
    return bool(abs(t - s) <= tolerance * max(1.0, abs(t), abs(s)))


def check(
    function: Any,
    *args: Any,
    inactive: tuple[int, ...] = (),
    rule: Rule | None = None,
    kwargs: Any = None,
    **options: Any,
) -> None:
    """Check the row of `function` for these arguments; those numbered in `inactive` have no derivative."""
    kwargs = kwargs or {}
    rule = rule or find(function, args)
    call = options.get("call", function)
    tolerance = options.get("tolerance", 1e-5)
    plain = copied(args)
    expected = call(*plain, **kwargs)

    direction = random_tangent(random.Random(1), args)
    if direction is NO_TANGENT:
        direction = (NO_TANGENT,) * len(args)
    direction = tuple(
        zero_tangent(x) if i in inactive else t for i, (x, t) in enumerate(zip(args, direction, strict=True))
    )
    kept = copy.deepcopy(direction)

    # forward
    forward = copied(args)
    flat = [None if t is NO_TANGENT or i in inactive else t for i, t in enumerate(direction)]
    out, dout = rule.frule(forward, flat, kwargs)
    assert same((out, forward), (expected, plain)), f"forward value {out!r}, {forward!r}"
    state = (fill_tangent(out, dout), *(fill_tangent(x, t) for x, t in zip(forward, flat, strict=True)))
    numeric = _central(call, args, kept, kwargs)
    assert close(state, numeric, tolerance), f"forward {state} but numerically {numeric}"

    # reverse
    for seed in (2, 3):
        backward = copied(args)
        zero = zero_tangent(backward)
        zero = (NO_TANGENT,) * len(args) if zero is NO_TANGENT else zero
        shadows = [None if i in inactive else slot_shadow(t) for i, t in enumerate(zero)]
        out, fout, pullback = rule.rrule(backward, shadows, kwargs)
        assert same((out, backward), (expected, plain)), f"reverse value {out!r}, {backward!r}"
        live = (
            slot_tangent(out, fout),
            *(slot_tangent(x, f) for x, f in zip(backward, shadows, strict=True)),
        )
        cotangent = random_tangent(random.Random(seed), (out, *backward))
        cotangent = (NO_TANGENT,) * len(live) if cotangent is NO_TANGENT else cotangent
        if inactive:
            cotangent = _without_constants(cotangent, live)
        after = increment(live, cotangent)
        bout = slot_rdata(after[0]) if fout is not None else None
        given = pullback(bout)
        assert len(given) == len(args), "one rdata per argument"
        assert same(backward, args), f"not restored: {backward!r} instead of {args!r}"
        before = []
        for i, (x, f) in enumerate(zip(backward, shadows, strict=True)):
            if i in inactive:
                before.append(zero_tangent(x))
                continue
            r = add(given[i], slot_rdata(cotangent[i + 1]))
            t = slot_tangent(x, f)
            before.append(t if r is None or t is NO_TANGENT else slot_increment(_without_numbers(t, x), r))
        left, right = dot(cotangent, state), dot(tuple(before), kept)
        assert math.isclose(left, right, rel_tol=1e-8, abs_tol=1e-8), (
            f"reverse {right}, forward {left}: {before}"
        )


def _without_constants(t: Any, shadow: Any) -> Any:
    """`t` without tangents where `shadow` has none: an object without a derivative was put there."""
    if shadow is NO_TANGENT or not isinstance(t, (list, tuple, dict)):
        return shadow if shadow is NO_TANGENT else t
    if isinstance(t, dict):
        for k in t:
            t[k] = _without_constants(t[k], shadow[k])
        return t
    return type(t)([_without_constants(a, b) for a, b in zip(t, shadow, strict=True)])


def _without_numbers(t: Any, x: Any) -> Any:
    return slot_tangent(x, slot_shadow(t))


def _central(call: Any, args: Any, direction: Any, kwargs: Any) -> Any:
    ends = []
    for step in (STEP, -STEP):
        moved = add_to_primal(args, scale(step, direction))
        out = call(*moved, **kwargs)
        ends.append((out, *moved))
    found = difference(ends[0], ends[1])
    if found is NO_TANGENT:
        return (NO_TANGENT,) * (len(args) + 1)
    return scale(0.5 / STEP, found)


def gradient(function: Any, *args: float) -> list[Any]:
    """The cotangents of real arguments for cotangent 1.0, through the row."""
    from adbc.tangents import NO_FDATA

    rule = find(function, args)
    fargs = [NO_FDATA if isinstance(x, (float, complex)) else None for x in args]
    _, _, pullback = rule.rrule(args, fargs)
    reverse = list(pullback(1.0))
    forward = []
    for i, x in enumerate(args):
        if isinstance(x, float):
            _, dout = rule.frule(args, [1.0 if j == i else None for j in range(len(args))])
            forward.append(dout)
            assert same(dout, reverse[i]) or (dout is None and reverse[i] in (None, 0.0)), (dout, reverse[i])
    return reverse
