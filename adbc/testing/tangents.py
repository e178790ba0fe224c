"""The laws of tangents, checked for a value.

`test_tangent` checks that the tangents of a value form a vector space with an inner product, moved
along by primals (L1 to L16); `test_data` checks besides that they split into fdata and rdata and come
together again (S1 to S10).  Each law is a function named after it, which raises `AssertionError`;
`Operations` holds what is tested, so that a wrong operation can be tried in place of a right one.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from adbc import tangents
from adbc.records import record
from adbc.tangents.aliasing import is_consistent
from adbc.tangents.nothing import NO_FDATA, NO_RDATA, NO_TANGENT
from adbc.tangents.protocol import kind_of
from adbc.tangents.walk import is_address_tangent
from adbc.testing.compare import difference_of

__all__ = ["SPLITTING_LAWS", "TANGENT_LAWS", "Operations", "test_data", "test_tangent"]


@record(frozen=True)
class Operations:
    """The operations that the laws are about."""

    tangent_type: Callable[..., Any] = tangents.tangent_type
    zero_tangent: Callable[..., Any] = tangents.zero_tangent
    random_tangent: Callable[..., Any] = tangents.random_tangent
    increment: Callable[..., Any] = tangents.increment
    set_to_zero: Callable[..., Any] = tangents.set_to_zero
    scale: Callable[..., Any] = tangents.scale
    dot: Callable[..., Any] = tangents.dot
    add_to_primal: Callable[..., Any] = tangents.add_to_primal
    difference: Callable[..., Any] = tangents.difference
    fdata: Callable[..., Any] = tangents.fdata
    rdata: Callable[..., Any] = tangents.rdata
    tangent: Callable[..., Any] = tangents.tangent
    zero_rdata: Callable[..., Any] = tangents.zero_rdata
    slot_shadow: Callable[..., Any] = tangents.slot_shadow
    slot_rdata: Callable[..., Any] = tangents.slot_rdata
    slot_tangent: Callable[..., Any] = tangents.slot_tangent
    slot_increment: Callable[..., Any] = tangents.slot_increment
    external_fdata: Callable[..., Any] = tangents.external_fdata
    internal_fdata: Callable[..., Any] = tangents.internal_fdata
    external_rdata: Callable[..., Any] = tangents.external_rdata
    internal_rdata: Callable[..., Any] = tangents.internal_rdata


DEFAULT = Operations()
Law = Callable[[random.Random, Any, Operations], None]


def _equal(law: str, a: Any, b: Any) -> None:
    problem = difference_of(a, b)
    assert problem is None, f"{law}: {problem}"


def _copy(o: Operations, t: Any) -> Any:
    return tangents.scale(1.0, t)


def _is_trivial(t: Any) -> bool:
    """Whether `t`, a tangent made of random numbers, has no numbers in it."""
    return tangents.dot(t, t) == 0.0


def l01_types(rng: random.Random, x: Any, o: Operations) -> None:
    expected = o.tangent_type(type(x))
    for t in (o.zero_tangent(x), o.random_tangent(rng, x)):
        assert type(t) is expected or t is NO_TANGENT, (
            f"L1: a {type(t).__name__} is not a {expected.__name__}"
        )
    assert type(o.zero_tangent(x)) is type(o.random_tangent(rng, x)), "L1: zero and random differ in class"


def l02_zero_is_deterministic(rng: random.Random, x: Any, o: Operations) -> None:
    _equal("L2", o.zero_tangent(x), o.zero_tangent(x))


def l03_address(rng: random.Random, x: Any, o: Operations) -> None:
    t = o.zero_tangent(x)
    if t is not NO_TANGENT:
        assert is_address_tangent(type(t)) == kind_of(type(x)).address, "L3: only objects have shadows"


def l04_zero_plus_zero(rng: random.Random, x: Any, o: Operations) -> None:
    _equal("L4", o.increment(o.zero_tangent(x), o.zero_tangent(x)), o.zero_tangent(x))


def l05_zero_is_neutral(rng: random.Random, x: Any, o: Operations) -> None:
    t = o.random_tangent(rng, x)
    _equal("L5", o.increment(o.zero_tangent(x), t), t)
    _equal("L5", o.increment(_copy(o, t), o.zero_tangent(x)), t)


def l06_increment_in_place(rng: random.Random, x: Any, o: Operations) -> None:
    t = o.random_tangent(rng, x)
    if is_address_tangent(type(t)):
        assert o.increment(t, o.random_tangent(rng, x)) is t, "L6: increment must return the same object"


def l07_sum(rng: random.Random, x: Any, o: Operations) -> None:
    t = o.random_tangent(rng, x)
    both = o.increment(_copy(o, t), _copy(o, t))
    if not _is_trivial(t):
        assert difference_of(both, t) is not None, "L7: t + t must not be t"
    s = o.random_tangent(rng, x)
    _equal("L7", o.increment(_copy(o, t), s), o.increment(_copy(o, s), t))
    _equal("L7", o.increment(t, t), both)


def l08_set_to_zero(rng: random.Random, x: Any, o: Operations) -> None:
    t = o.random_tangent(rng, x)
    z = o.set_to_zero(t)
    assert z is t or not is_address_tangent(type(t)), "L8: set_to_zero must return the same object"
    _equal("L8", z, o.zero_tangent(x))
    _equal("L8", o.set_to_zero(z), o.zero_tangent(x))


def l09_slots(rng: random.Random, x: Any, o: Operations) -> None:
    t = o.random_tangent(rng, x)
    shadow = o.slot_shadow(t)
    base = o.slot_tangent(x, shadow)
    _equal("L9", o.slot_increment(base, o.slot_rdata(t)), t)
    if is_address_tangent(type(t)):
        assert shadow is t and base is t, "L9: an object is its own shadow"


def l10_zero_moves_nothing(rng: random.Random, x: Any, o: Operations) -> None:
    _equal("L10", o.add_to_primal(x, o.zero_tangent(x)), x)


def l11_others_move(rng: random.Random, x: Any, o: Operations) -> None:
    t = o.random_tangent(rng, x)
    if not _is_trivial(t):
        assert difference_of(o.add_to_primal(x, t), x) is not None, "L11: x + t must not be x"


def l12_difference(rng: random.Random, x: Any, o: Operations) -> None:
    _equal("L12", o.difference(x, x), o.zero_tangent(x))
    t = o.random_tangent(rng, x)
    moved = o.add_to_primal(x, t)
    assert type(moved) is type(x), "L12: a primal moved must keep its class"
    _equal("L12", o.difference(moved, x), t)


def l13_inner_product(rng: random.Random, x: Any, o: Operations) -> None:
    t, s, z = o.random_tangent(rng, x), o.random_tangent(rng, x), o.zero_tangent(x)
    assert type(o.dot(t, s)) is float, "L13: an inner product is a float"
    assert o.dot(t, t) >= 0.0, "L13: dot(t, t) >= 0"
    assert o.dot(t, z) == 0.0, "L13: dot(t, 0) = 0"
    _equal("L13", o.dot(t, s), o.dot(s, t))
    squared, product = o.dot(t, t), o.dot(t, s)
    assert _near(o.dot(t, o.increment(_copy(o, t), s)), squared + product), "L13: dot is linear"


def _near(a: float, b: float) -> bool:
    return abs(a - b) <= 1e-3 * max(1.0, abs(a), abs(b))


def l14_scale(rng: random.Random, x: Any, o: Operations) -> None:
    t = o.random_tangent(rng, x)
    before = _copy(o, t)
    _equal("L14", o.scale(1.0, t), t)
    _equal("L14", o.scale(2.0, t), o.increment(_copy(o, t), _copy(o, t)))
    _equal("L14", o.scale(0.0, t), o.zero_tangent(x))
    _equal("L14 (t is left alone)", t, before)


def l15_round_trip(rng: random.Random, x: Any, o: Operations) -> None:
    t = o.random_tangent(rng, x)
    there = o.add_to_primal(x, t)
    _equal("L15", o.add_to_primal(there, o.scale(-1.0, o.difference(there, x))), x)


def l16_sharing(rng: random.Random, x: Any, o: Operations) -> None:
    for t in (o.zero_tangent(x), o.random_tangent(rng, x), o.scale(2.0, o.random_tangent(rng, x))):
        assert is_consistent(x, t), "L16: one address, one shadow"


def s01_parts(rng: random.Random, x: Any, o: Operations) -> None:
    t = o.random_tangent(rng, x)
    f, r = o.fdata(t), o.rdata(t)
    if is_address_tangent(type(t)):
        assert f is t and r is NO_RDATA, "S1: an object is its own fdata"
    elif type(t) not in (tuple, tangents.Tangent):
        assert f is NO_FDATA, "S1: a number has no fdata"
        assert r is t or t is NO_TANGENT, "S1: a number is its own rdata"


def s03_recombination(rng: random.Random, x: Any, o: Operations) -> None:
    t = o.random_tangent(rng, x)
    again = o.tangent(o.fdata(t), o.rdata(t))
    assert again is t or not is_address_tangent(type(t)), "S3: tangent(fdata(t), rdata(t)) is t"
    _same_objects(t, again)


def _same_objects(t: Any, again: Any) -> None:
    assert type(t) is type(again), f"S3: a {type(t).__name__} became a {type(again).__name__}"
    if type(t) is tuple:
        assert len(t) == len(again), "S3: parts were lost"
        for a, b in zip(t, again, strict=True):
            _same_objects(a, b)
    elif type(t) is tangents.Tangent:
        assert list(t.__dict__) == list(again.__dict__), "S3: parts were lost"
        for a, b in zip(t.__dict__.values(), again.__dict__.values(), strict=True):
            _same_objects(a, b)
    else:
        assert t is again, "S3: an object or a number was replaced"


def s06_zero_from_fdata(rng: random.Random, x: Any, o: Operations) -> None:
    z = o.zero_tangent(x)
    _equal("S6", o.tangent(o.fdata(z), o.zero_rdata(x)), z)


def s07_zero_rdata(rng: random.Random, x: Any, o: Operations) -> None:
    _equal("S7", o.zero_rdata(x), o.rdata(o.zero_tangent(x)))


def s08_boxes(rng: random.Random, x: Any, o: Operations) -> None:
    t = o.random_tangent(rng, x)
    shadow = o.slot_shadow(t)
    _equal("S8 (fdata)", o.external_fdata(shadow, x), o.fdata(t))
    _equal("S8 (shadow)", o.internal_fdata(o.fdata(t), x), shadow)
    _equal("S8 (rdata)", o.external_rdata(o.slot_rdata(t), x), o.rdata(t))
    _equal("S8 (internal)", o.internal_rdata(o.rdata(t)), o.slot_rdata(t))


def s09_symbolic_zero(rng: random.Random, x: Any, o: Operations) -> None:
    _equal("S9", o.external_rdata(None, x), o.zero_rdata(x))


def s10_accumulation(rng: random.Random, x: Any, o: Operations) -> None:
    t = o.random_tangent(rng, x)
    z = o.zero_tangent(x)
    once = o.slot_increment(z, o.slot_rdata(t))
    assert type(once) is type(z), "S10: an increment keeps the class"
    r = o.slot_rdata(t)
    _equal("S10", tangents.add(r, None), r)
    _equal("S10", o.slot_rdata(o.slot_increment(once, r)), tangents.add(r, r))


TANGENT_LAWS: tuple[Law, ...] = (
    l01_types, l02_zero_is_deterministic, l03_address, l04_zero_plus_zero, l05_zero_is_neutral,
    l06_increment_in_place, l07_sum, l08_set_to_zero, l09_slots, l10_zero_moves_nothing, l11_others_move,
    l12_difference, l13_inner_product, l14_scale, l15_round_trip, l16_sharing,
)  # fmt: skip
SPLITTING_LAWS: tuple[Law, ...] = (
    s01_parts, s03_recombination, s06_zero_from_fdata, s07_zero_rdata, s08_boxes, s09_symbolic_zero,
    s10_accumulation,
)  # fmt: skip


def test_tangent(x: Any, rng: random.Random | None = None, operations: Operations = DEFAULT) -> None:
    """Check the laws of the tangents of `x`; `AssertionError` names the law that does not hold."""
    _check(TANGENT_LAWS, x, rng, operations)


def test_data(x: Any, rng: random.Random | None = None, operations: Operations = DEFAULT) -> None:
    """Check the laws of the tangents of `x` and of their splitting."""
    _check(TANGENT_LAWS + SPLITTING_LAWS, x, rng, operations)


def _check(laws: tuple[Law, ...], x: Any, rng: random.Random | None, operations: Operations) -> None:
    rng = rng if rng is not None else random.Random(0)
    for law in laws:
        law(rng, x, operations)


# These are tools, not tests: pytest is told not to collect them where they are imported.
test_tangent.__test__ = False  # type: ignore[attr-defined]
test_data.__test__ = False  # type: ignore[attr-defined]
