"""Ten kinds of wrong rules, and each of the testers: rejected, or a reason why it cannot be seen there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import adbc
from adbc import chainrules as cr
from adbc.chainrules.testing import test_frule as check_frule
from adbc.chainrules.testing import test_rrule as check_rrule
from adbc.chainrules.testing import test_ruleset as check_ruleset
from adbc.chainrules.testing import test_scalar as check_scalar
from adbc.testing import test_rule as check_rule

from .test_wrong_rules import (
    WRONG,
    WRONG_FORWARD,
    W,
    X,
    Z,
    half,
    matvec,
    right_forward,
    right_matvec,
    square,
)

KINDS = (
    "sign",
    "conjugate",
    "transposed",
    "slot of f",
    "shape (1,)",
    "dropped",
    "overwritten",
    "not restored",
    "aliasing",
    "dtype",
)
NO, ZERO = cr.NoTangent(), cr.ZeroTangent()
REJECTED = (AssertionError, TypeError, ValueError, adbc.errors.AdbcError)
Check = Callable[[], object]
Cases = dict[str, Check | str]
"""For each kind a check that must fail, or why a tester cannot see such a rule."""


@pytest.fixture(autouse=True)
def scope() -> Iterator[None]:
    with cr.scoped():
        yield


# -- test_rrule and test_frule, on which the other tests of this folder dwell


def of_rrule(kind: str) -> Check:
    function, args, rule, _ = WRONG["aliasing its own" if kind == "aliasing" else kind]
    return lambda: check_rrule(function, *args, rule=rule)


def of_frule(kind: str) -> Check:
    name = "overwrites a tangent" if kind == "overwritten" else kind
    if kind == "conjugate":
        return lambda: check_frule(square, Z, rule=lambda t, f, z: (z * z, (2 * z).conjugate() * t[1]))
    return lambda: check_frule(matvec, W, X, rule=WRONG_FORWARD[name][0])


# -- test_scalar


def accumulating(f: Any, x: Any) -> Any:
    total = [0.0]

    def pullback(d: Any) -> Any:
        total[0] += 2 * x * float(d)
        return NO, total[0]

    return f(x), pullback


def of_scalar(x: Any, back: Callable[..., Any] | None = None, rule: Any = None) -> Check:
    """`test_scalar` of a square at `x`, with a right frule and the pullback ``back(x, d)``."""

    def check() -> None:
        cr.frule(square)(lambda t, f, x: (x * x, 2 * x * t[1]))
        cr.rrule(square)(rule or (lambda f, x: (x * x, lambda d: back(x, cr.unthunk(d)))))  # type: ignore[misc]
        check_scalar(square, x)

    return check


SCALAR: Cases = {
    "sign": of_scalar(0.7, lambda x, d: (NO, -2 * x * d)),
    "conjugate": of_scalar(Z, lambda x, d: (NO, 2 * x * d)),
    "transposed": "a number is its own transpose",
    "slot of f": of_scalar(0.7, lambda x, d: (2 * x * d, NO)),
    "shape (1,)": of_scalar(0.7, lambda x, d: (NO, np.array([2 * x * d]))),
    "dropped": of_scalar(0.7, lambda x, d: (NO, ZERO)),
    "overwritten": of_scalar(
        0.7, lambda x, d: (NO, cr.InplaceableThunk(lambda buffer: 2 * x * d, lambda: 2 * x * d))
    ),
    "not restored": "a number cannot be changed",
    "aliasing": of_scalar(0.7, rule=accumulating),
    "dtype": of_scalar(0.7, lambda x, d: (NO, 2 * x * d + 0j)),
}


# -- test_ruleset, which runs no rule


def lacks_the_slot(w: Any, x: Any) -> Any:
    return w @ x, lambda d: None


def of_ruleset() -> None:
    cr.rrule(matvec)(lacks_the_slot)
    check_ruleset([d for d in cr.registry if d.function is matvec])


RULESET: Cases = {kind: of_ruleset if kind == "slot of f" else "no rule is run" for kind in KINDS}


# -- test_rule of the engine, with rules of this kind


def of_engine(kind: str) -> Check:
    def check() -> None:
        function, args, rule, _ = WRONG[kind]
        cr.rrule(function)(rule)
        check_rule(function, *args)

    return check


def of_engine_forward(rule: Any) -> Check:
    def check() -> None:
        cr.frule(matvec)(rule)
        cr.rrule(matvec)(right_matvec)
        check_rule(matvec, W, X)

    return check


def conjugating() -> None:
    cr.frule(square)(lambda t, f, z: (z * z, (2 * z).conjugate() * t[1]))
    check_rule(square, Z)


def slot_forward(tangents: Any, f: Any, w: Any, x: Any) -> Any:
    none, dw, _ = tangents
    return w @ x, none @ x + w @ dw


ENGINE: Cases = {
    **{kind: of_engine(kind) for kind in KINDS if kind in WRONG},
    "aliasing": "what the pullback gives is added to memory of the engine's own",
    "dtype": "what the pullback gives is projected",
}
ENGINE_FORWARD: Cases = {
    **{kind: of_engine_forward(WRONG_FORWARD[kind][0]) for kind in KINDS if kind in WRONG_FORWARD},
    "conjugate": conjugating,
    "slot of f": of_engine_forward(slot_forward),
    "overwritten": of_engine_forward(WRONG_FORWARD["overwrites a tangent"][0]),
    "aliasing": of_engine_forward(lambda t, f, w, x: (y := right_forward(t, f, w, x), (y[0], y[0]))[1]),
    "dtype": "what the rule gives is projected",
}


# -- test_rule of the engine, with rules in its own form

NR = adbc.NoRData()


def full(back: Callable[..., Any], changes: Callable[..., Any] = lambda w, x: None) -> Check:
    """`test_rule` of a product whose pullback is ``back(w, x, cotangent)``."""

    def rrule(f: Any, w: Any, x: Any) -> Any:
        y = w.primal @ x.primal
        changes(w, x)
        fy = np.zeros_like(y)

        def pullback(b: Any) -> Any:
            return back(w, x, fy) or (NR, NR, NR)

        return adbc.CoDual(y, fy), pullback

    return lambda: check_rule(matvec, W, X, rrule=rrule)


def adding(w: Any, x: Any, d: Any, *, by_w: Any = None, by_x: Any = None) -> None:
    w.fdata += np.outer(d, x.primal) if by_w is None else by_w
    x.fdata += w.primal.T @ d if by_x is None else by_x


def overwriting(w: Any, x: Any, d: Any) -> None:
    w.fdata[:] = np.outer(d, x.primal)
    x.fdata += w.primal.T @ d


def aliased() -> None:
    def rrule(f: Any, w: Any, x: Any) -> Any:
        return adbc.CoDual(w.primal @ x.primal, x.fdata), lambda b: (NR, NR, NR)  # the shadow of an argument

    check_rule(matvec, W, X, rrule=rrule)


def of_number(back: Callable[..., Any], z: Any = 0.7) -> Check:
    def rrule(f: Any, x: Any) -> Any:
        return adbc.CoDual(x.primal * x.primal, adbc.NoFData()), lambda b: back(x.primal, b)

    return lambda: check_rule(square, z, rrule=rrule)


def of_single_precision() -> None:
    def frule(f: Any, x: Any) -> Any:
        return adbc.Dual(half(x.primal), np.vdot(x.primal, x.tangent).astype(np.float32))

    check_rule(half, X, frule=frule)


FULL: Cases = {
    "sign": full(lambda w, x, d: adding(w, x, d, by_x=-(w.primal.T @ d))),
    "conjugate": of_number(lambda z, b: (NR, 2 * z * b), Z),
    "transposed": full(lambda w, x, d: adding(w, x, d, by_w=np.outer(x.primal, d))),
    "slot of f": of_number(lambda z, b: (2 * z * b, NR)),
    "shape (1,)": of_number(lambda z, b: (NR, np.array([2 * z * b]))),
    "dropped": full(lambda w, x, d: adding(w, x, d, by_x=0.0)),
    "overwritten": full(overwriting),
    "not restored": full(adding, lambda w, x: w.primal.__imul__(1.001)),
    "aliasing": aliased,
    "dtype": of_single_precision,
}

TESTERS: dict[str, Cases] = {
    "test_rrule": {kind: of_rrule(kind) for kind in KINDS},
    "test_frule": {kind: of_frule(kind) for kind in KINDS},
    "test_scalar": SCALAR,
    "test_ruleset": RULESET,
    "test_rule, of an rrule": ENGINE,
    "test_rule, of an frule": ENGINE_FORWARD,
    "test_rule, of a rule in full": FULL,
}


@pytest.mark.parametrize("tester", TESTERS)
def test_every_kind_is_rejected_or_cannot_be_seen(tester: str) -> None:
    assert set(TESTERS[tester]) == set(KINDS)


@pytest.mark.parametrize(
    ("tester", "kind"),
    [(t, kind) for t, cases in TESTERS.items() for kind, case in cases.items() if callable(case)],
)
def test_a_wrong_rule_is_rejected(tester: str, kind: str) -> None:
    check: Any = TESTERS[tester][kind]
    with pytest.raises(REJECTED):
        check()


def test_the_right_rules_beside_them_are_not() -> None:
    full(adding)()
    of_number(lambda z, b: (NR, (2 * z).conjugate() * b), Z)()
    of_scalar(Z, lambda x, d: (NO, (2 * x).conjugate() * d))()
    of_engine_forward(right_forward)()
