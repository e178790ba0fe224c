"""`test_rule`: everything that a rule has to get right, for one function at one point.

It is written against the public interface of rules alone, boxes and all, so that it judges hand-written and
derived rules alike and knows nothing of how either is made.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from adbc.api import build_frule, build_rrule, vjp
from adbc.errors import PullbackConsumedError
from adbc.records import record
from adbc.runtime import default_engine
from adbc.runtime.entry.signature import Signature
from adbc.tangents import (
    CoDual,
    Dual,
    add_to_primal,
    fdata,
    increment,
    random_tangent,
    rdata,
    scale,
    tangent,
    zero_rdata,
    zero_tangent,
)
from adbc.testing.batches import stacked
from adbc.testing.finite import directional_derivative, unit_direction
from adbc.testing.orders import derivatives
from adbc.testing.values import ARRAY, assert_same, duplicate, has_identity, inner, leaves, parts, precision

__all__ = ["test_rule"]

_RUNS_OF_BATCHES = 2
"""Batches are carried through twice: code that is interpreted at first, and code that knows more."""

Bundle = list[Any]
"""The function, then its arguments: copied, moved and given tangents as one value, which keeps aliasing."""

Rule = Callable[..., Any]


def test_rule(
    f: Callable[..., Any],
    *args: Any,
    kwargs: Mapping[str, Any] | None = None,
    rng: np.random.Generator | int | None = None,
    rtol: float = 1e-6,
    atol: float = 1e-9,
    reverse_rtol: float = 1e-11,
    value_rtol: float = 1e-12,
    step: float = 1e-2,
    is_primitive: bool | None = None,
    frule: Rule | None = None,
    rrule: Rule | None = None,
    mode: str | None = None,
    modes: Sequence[str] = ("forward", "reverse"),
    width: int | None = None,
    order: int = 1,
) -> None:
    """Check both rules of ``f(*args, **kwargs)``; raise an AssertionError that names the step that failed.

    The steps, in order:

    1. *value*: output and arguments afterwards are what a plain call gives, with the same types and aliasing.
    2. *types*: tangents, fdata and rdata are what the types of the primals say: as many, of those types, one
       shadow per address, and views of shadows where primals are views.
    3. *finite differences*: the tangents of the output and of every argument after the call, along a random
       direction, against extrapolated central differences.
    4. *adjoint*: for random cotangents on the output and on every mutable argument, over whatever numbers the
       shadows held before the call, the inner product with the tangents that forward mode gives is the same
       before the call and after it.  So it increments, and it is right for shadows that are not zero.
    5. *restoration*: after the pullback arguments are what they were: numbers, structure and identity.
    6. *independence*: a second run gives the same numbers and leaves the results of the first alone; two runs
       whose pullbacks are interleaved, and a run after one that was abandoned, give what they give alone; a
       pullback that has run refuses to run again.
    7. *batches*, if `width` is given: a batch of as many tangents, or cotangents of the output, gives in each
       lane what that one gives.
    8. *higher orders*, if `order` is more than 1: all of this holds for the derivatives of f along a random
       direction and by a random cotangent, which are functions of the same arguments, with `order` one less.
       With 2 that is the second derivative in the four ways to nest the modes.

    f, args, kwargs:
        What to call.  Arguments are copied, and never changed.  Keyword arguments are not differentiated.
    rng:
        A generator, or a seed.  The default is a fixed seed.
    rtol, atol:
        Tolerances of step 3, relative to the largest tangent of the same array.  They are widened for
        float32.
    reverse_rtol:
        Tolerance of step 4, relative to the sum of the magnitudes of the terms.
    value_rtol:
        Tolerance of step 1: a rule may compute the value in another way.
    step:
        The largest step of finite differences, for functions with a small domain.
    is_primitive:
        True if the rules must be written by hand, False if they must be derived, None if either will do.
    frule, rrule:
        Rules to test instead of those that `adbc.build_frule` and `adbc.build_rrule` give.
    mode:
        "forward" or "reverse": to test one alone.
    modes:
        Which of "forward" and "reverse" to test.  Step 4 needs both.
    order:
        Up to which order derivatives are tested.  `ValueError` if it is more than 1 and rules are given:
        derivatives of f go through the rules that adbc has.
    """
    if order > 1 and (frule is not None or rrule is not None):
        raise ValueError("rules that are given are tested with order=1")
    modes = modes if mode is None else _only(mode)
    seed = _generator(rng)
    function = _bind(f, kwargs) if kwargs else f
    tolerances = _Tolerances(rtol, atol, reverse_rtol, value_rtol, step)
    built = frule is None and rrule is None
    frule, rrule = _built(function, args, modes, frule, rrule)
    if is_primitive is not None:
        _check_primitive(is_primitive, frule, rrule)
    _test_rules(function, args, seed, tolerances, frule, rrule, modes, width, consumes=built)
    if order > 1:
        _test_derivatives(function, args, seed, tolerances, modes, width, order - 1)


# Its name is part of the interface; this keeps pytest from collecting it wherever it is imported.
test_rule.__test__ = False  # type: ignore[attr-defined]  # functions take attributes


def _built(
    f: Rule, args: Sequence[Any], modes: Sequence[str], frule: Rule | None, rrule: Rule | None
) -> tuple[Rule | None, Rule | None]:
    """The rules to test: those that are given, and else those that adbc builds."""
    if "forward" in modes and frule is None:
        frule = build_frule(Signature.of(f, *args))
    if "reverse" in modes and rrule is None:
        rrule = build_rrule(Signature.of(f, *args))
    return frule, rrule


def _test_rules(
    f: Rule,
    args: Sequence[Any],
    seed: np.random.Generator,
    tolerances: _Tolerances,
    frule: Rule | None,
    rrule: Rule | None,
    modes: Sequence[str],
    width: int | None,
    *,
    consumes: bool,
) -> None:
    """The steps 1 to 7 of `test_rule`."""
    bundle: Bundle = [f, *args]
    tester = _Tester(bundle, seed, tolerances.widened(precision(bundle)))
    before = duplicate(bundle)
    with default_engine().tiers.held():  # code adds up in another order than an interpreter does
        if frule is not None and "forward" in modes:
            tester.check_forward(frule)
            if width is not None:
                tester.check_batches(frule, Signature.of(f, *args), width)
        if rrule is not None and "reverse" in modes:
            tester.check_reverse(rrule, frule, consumes=consumes)
            if width is not None and consumes:
                tester.check_batches_back(width)
    assert_same(before, bundle, "internal: the tester's own copy of the arguments")


def _test_derivatives(
    f: Rule,
    args: Sequence[Any],
    seed: np.random.Generator,
    tolerances: _Tolerances,
    modes: Sequence[str],
    width: int | None,
    order: int,
) -> None:
    """Step 8 of `test_rule`, in which derivatives are tested up to `order`."""
    given = dataclasses.asdict(tolerances)
    for name, derivative in derivatives(f, args, modes, seed):
        try:
            test_rule(derivative, *args, rng=seed, modes=modes, width=width, order=order, **given)
        except AssertionError as error:
            raise AssertionError(f"the derivative in {name} mode: {error}") from None


def _only(mode: str) -> tuple[str]:
    if mode not in ("forward", "reverse"):
        raise ValueError(f"there is no mode {mode!r}: forward or reverse")
    return (mode,)


def _generator(rng: np.random.Generator | int | None) -> np.random.Generator:
    if isinstance(rng, np.random.Generator):
        return rng
    return np.random.default_rng(20240229 if rng is None else rng)


def _bind(f: Callable[..., Any], kwargs: Mapping[str, Any]) -> Callable[..., Any]:
    return lambda *args: f(*args, **kwargs)


def _check_primitive(expected: bool, *rules: Rule | None) -> None:
    for rule in rules:
        if rule is None:
            continue
        actual = rule.is_primitive  # type: ignore[attr-defined]  # rules that adbc builds have it
        if actual != expected:
            kinds = {True: "written by hand", False: "derived"}
            raise AssertionError(f"step 'primitive': {rule!r} is {kinds[actual]}, expected {kinds[expected]}")


class _Run:
    """One forwards pass and, once `back` has been called, its pullback."""

    def __init__(self, tester: _Tester, rule: Rule, bundle: Bundle, shadows: list[Any], step: str) -> None:
        self.tester = tester
        self.step = step
        self.primals: Bundle = duplicate(bundle)
        self.before: Bundle = duplicate(self.primals)
        # Slots must get back the very objects they held, so the objects are remembered, not only their
        # contents.
        self.identities = [id(x) for x in _mutable(self.primals)[1:]]
        self.shadows = [fdata(t) for t in duplicate(shadows)]
        # What arguments refer to before the call is part of the state even if they let go of it.
        state = [tangent(f, zero_rdata(p)) for p, f in zip(self.primals, self.shadows, strict=True)]
        self.held = _mutable(state)[1:]
        boxes = [CoDual(p, f) for p, f in zip(self.primals, self.shadows, strict=True)]
        result = rule(*boxes)
        if not (isinstance(result, tuple) and len(result) == 2):
            raise AssertionError(
                f"step '{step}': a reverse rule returns (CoDual, pullback), this one {result!r}"
            )
        output, self.pullback = result
        if not isinstance(output, CoDual):
            raise AssertionError(f"step '{step}': a reverse rule returns a CoDual first, this one {output!r}")
        self.output = output.primal
        # A pullback puts new memory back to what it was when it was made: of `numpy.empty` that is anything.
        self.given = duplicate(self.output)
        self.output_shadow = output.fdata
        self.rdata: tuple[Any, ...] = ()
        self.entry: list[Any] = []

    def tangents_after(self) -> list[Any]:
        """Full tangents of output, function and arguments, made of the shadows and zeros."""
        return [
            tangent(f, zero_rdata(p))
            for p, f in zip([self.output, *self.primals], [self.output_shadow, *self.shadows], strict=True)
        ]

    def back(self, seed: int) -> None:
        """Add random cotangents to those of the state after the call, and run the pullback."""
        state = self.tangents_after()
        cotangents = random_tangent(np.random.default_rng(seed), [self.output, *self.primals])
        filled = increment(state, cotangents)
        # What arguments hold by value after the call is nobody's: callers kept their own floats.
        self.entry = duplicate([filled[0], *self.tangents_after()[1:], self.held])
        self.rdata = self.pullback(rdata(filled[0]))
        expected = len(self.primals)
        if not isinstance(self.rdata, tuple) or len(self.rdata) != expected:
            raise AssertionError(
                f"step '{self.step}': a pullback returns a tuple of {expected} rdata, one for the function"
                f" and one for each argument; this one returned {self.rdata!r}"
            )

    def exit(self) -> list[Any]:
        """Full cotangents of function and arguments before the call."""
        return [tangent(f, r) for f, r in zip(self.shadows, self.rdata, strict=True)]

    def outcome(self) -> Any:
        """A copy of all numbers that the run has computed, the result as the call has left it."""
        return duplicate([self.given, self.entry, self.rdata, self.shadows])

    def remains(self) -> Any:
        """A copy of all numbers that are there now, the result as the pullback has left it."""
        return duplicate([self.output, self.entry, self.rdata, self.shadows])


@record(frozen=True)
class _Tolerances:
    """How far results may be apart, and the step of finite differences (`test_rule` says which is which)."""

    rtol: float
    atol: float
    reverse_rtol: float
    value_rtol: float
    step: float

    def widened(self, precision: float) -> _Tolerances:
        """Tolerances for numbers of `precision`, the distance from one to the next float."""
        coarse = precision / float(np.finfo(np.float64).eps)
        found = dataclasses.replace(
            self, reverse_rtol=self.reverse_rtol * coarse, value_rtol=self.value_rtol * coarse
        )
        if coarse <= 1.0:
            return found
        return dataclasses.replace(
            found,
            rtol=max(self.rtol, precision**0.5 * 4.0),
            atol=max(self.atol, precision**0.5),
            step=max(self.step, precision**0.25),
        )


class _Tester:
    """One rule or two, tried with the arguments in `bundle`."""

    def __init__(self, bundle: Bundle, rng: np.random.Generator, tolerances: _Tolerances) -> None:
        self.bundle = bundle
        self.rng = rng
        self.tolerances = tolerances
        self.direction = unit_direction(rng, bundle)
        self.expected = _called(duplicate(bundle))
        self.seeds = [int(seed) for seed in rng.integers(0, 2**31, size=4)]

    # -- forward -----------------------------------------------------------------------------------

    def forward(self, rule: Rule, direction: Any) -> tuple[list[Any], list[Any], list[Any]]:
        """Output and arguments after the call, their tangents, and the tangents that were there before."""
        primals, tangents = duplicate(self.bundle), duplicate(direction)
        held = _mutable(tangents)
        result = rule(*(Dual(p, t) for p, t in zip(primals, tangents, strict=True)))
        if not isinstance(result, Dual):
            raise AssertionError(f"step 'forward: types': a forward rule returns a Dual, this one {result!r}")
        return [result.primal, *primals], [result.tangent, *tangents], held[1:]

    def check_forward(self, rule: Rule) -> None:
        after, tangents, _ = self.forward(rule, self.direction)
        self.assert_value(after, "forward: value")
        template = zero_tangent(after)
        _step("forward: types", template, tangents, _names("tangent", len(after)), numbers=False)

        first, names = duplicate(tangents), _names("tangent", len(after))
        _, again, _ = self.forward(rule, self.direction)
        try:
            _step("forward: repeated", first, again, names)
        except AssertionError:
            # What is called often gets code on the way, which may round otherwise; this it does once.  Where
            # the sum of many terms is zero, rounding is all that is left of it, and that depends on how the
            # memory of a run happens to be aligned.
            close = self.tolerances.value_rtol
            _step("forward: repeated", first, again, names, rtol=close, atol=close)
            _step("forward: repeated", again, self.forward(rule, self.direction)[1], names, atol=close)
        _step("forward: repeated, results of the first run", first, tangents, names)

        _, none, _ = self.forward(rule, zero_tangent(duplicate(self.bundle)))
        found = _not_zero(none)
        if found is not None:
            raise AssertionError(f"step 'forward: zero': tangent{found} for zero tangents")
        self.check_finite_differences(first)

    def check_finite_differences(self, tangents: list[Any]) -> None:
        step = self.tolerances.step
        derivative, errors = directional_derivative(_called, self.bundle, self.direction, step=step)
        actual = list(leaves(tangents))
        if [label for label, _ in actual] != [label for label, _ in derivative]:
            raise AssertionError(
                "step 'forward: finite differences': the output changes its structure near this point"
            )
        for (label, value), (_, expected), error in zip(actual, derivative, errors, strict=True):
            size = float(np.max(np.abs(expected), initial=0.0))
            allowed = self.tolerances.atol + self.tolerances.rtol * size
            off = float(np.max(np.abs(np.asarray(value) - expected), initial=0.0))
            if off <= allowed:
                continue
            where = _place(label, "tangent")
            if error > allowed:
                raise AssertionError(
                    f"step 'forward: finite differences': {where} is {value!r}; differences give {expected!r}"
                    f" and are themselves unsure by {error:.1e}: is there a kink, or is `step` too large?"
                )
            raise AssertionError(
                f"step 'forward: finite differences': {where} is {value!r}, differences give {expected!r}"
            )

    def check_batches(self, rule: Rule, signature: Signature, width: int) -> None:
        wide = build_frule(signature, width=width)
        for _ in range(_RUNS_OF_BATCHES):
            self.check_batch(rule, wide, width)

    def check_batch(self, rule: Rule, wide: Rule, width: int) -> None:
        directions = [unit_direction(self.rng, self.bundle) for _ in range(width)]
        expected = stacked([self.forward(rule, direction)[1] for direction in directions])
        after, tangents, _ = self.forward(wide, stacked(directions))
        self.assert_value(after, "batches: value")
        rtol = max(self.tolerances.value_rtol, 1e-10)
        # Where terms cancel, they leave what is rounded in another order.
        atol = 10 * float(np.finfo(float).eps)
        _step("batches: lanes", expected, tangents, _names("tangent", len(after)), rtol=rtol, atol=atol)

    def check_batches_back(self, width: int) -> None:
        function, *args = duplicate(self.bundle)
        value = vjp(function, *args)[0]
        cotangents = [random_tangent(self.rng, value) for _ in range(width)]
        singles = []
        for cotangent in cotangents:
            function, *args = duplicate(self.bundle)
            singles.append(vjp(function, *args)[1](duplicate(cotangent)))
        for _ in range(_RUNS_OF_BATCHES):
            self.check_batch_back(value, stacked(cotangents), stacked(singles), width)

    def check_batch_back(self, value: Any, cotangents: Any, expected: Any, width: int) -> None:
        function, *args = given = duplicate(self.bundle)
        found, pullback = vjp(function, *args, width=width)
        _step("batches back: value", value, found, "output", rtol=self.tolerances.value_rtol)
        lanes = pullback(duplicate(cotangents))
        rtol, atol = max(self.tolerances.value_rtol, 1e-10), 10 * float(np.finfo(float).eps)
        names = [f"cotangent of argument {i}" for i in range(len(args))]
        _step("batches back: lanes", list(expected), list(lanes), names, rtol=rtol, atol=atol)
        _step("batches back: restoration", self.bundle, given, _names("", len(given), output=False))

    # -- reverse -----------------------------------------------------------------------------------

    def check_reverse(self, rule: Rule, frule: Rule | None, *, consumes: bool) -> None:
        zeros = zero_tangent(self.bundle)
        noise = random_tangent(np.random.default_rng(self.seeds[0]), self.bundle)

        run = _Run(self, rule, self.bundle, zeros, "reverse, shadows zero")
        self.check_forwards_pass(run)
        found = _not_zero(run.output_shadow)
        if found is not None:
            raise AssertionError(f"step 'reverse: types': a new shadow is not zero: output shadow{found}")
        run.back(self.seeds[1])
        self.check_pullback(run, frule)

        noisy = _Run(self, rule, self.bundle, noise, "reverse, shadows not zero")
        self.check_forwards_pass(noisy)
        noisy.back(self.seeds[2])
        self.check_pullback(noisy, frule)

        self.check_independence(rule, run, zeros, noise)
        if consumes:
            try:
                run.pullback(rdata(run.entry[0]))
            except PullbackConsumedError:
                return
            raise AssertionError("step 'reverse: consumed': a pullback ran a second time")

    def check_forwards_pass(self, run: _Run) -> None:
        after = [run.output, *run.primals]
        self.assert_value(after, f"{run.step}: value")
        names = _names("shadow", len(after))
        own = fdata(zero_tangent(run.output))
        _step(f"{run.step}: types", own, run.output_shadow, "shadow of output", numbers=False)
        _step(f"{run.step}: types", zero_tangent(after), run.tangents_after(), names, numbers=False)

    def check_pullback(self, run: _Run, frule: Rule | None) -> None:
        for i, (p, r) in enumerate(zip(run.before, run.rdata, strict=True)):
            _step(f"{run.step}: rdata", zero_rdata(p), r, f"rdata of {_name(i)}", numbers=False)
        names = _names("", len(run.primals), output=False)
        _step(f"{run.step}: restoration", run.before, run.primals, names)
        if [id(x) for x in _mutable(run.primals)[1:]] != run.identities:
            raise AssertionError(
                f"step '{run.step}: restoration': an argument holds equal but other objects than before"
            )
        _step(
            f"{run.step}: restoration of shadows",
            zero_tangent(run.before),
            run.exit(),
            _names("shadow", len(run.primals), output=False),
            numbers=False,
        )
        if frule is None:
            return
        direction = unit_direction(np.random.default_rng(self.seeds[3]), self.bundle)
        _, tangents, held = self.forward(frule, direction)
        after, after_size = inner([*tangents, held], run.entry)
        before, before_size = inner(direction, run.exit())
        allowed = self.tolerances.reverse_rtol * (after_size + before_size)
        if not abs(after - before) <= allowed:
            raise AssertionError(
                f"step '{run.step}: adjoint': the inner product of cotangents and tangents is {after!r} after"
                f" the call and {before!r} before it; they may differ by {allowed:.1e}"
            )

    def check_independence(self, rule: Rule, run: _Run, zeros: Any, noise: Any) -> None:
        kept, remains = run.outcome(), run.remains()
        nearby = add_to_primal(self.bundle, scale(1e-3 * self.tolerances.step, self.direction))
        if default_engine().table.rows(self.bundle[0]):  # moved with what it closes over, it has no rules
            nearby[0] = self.bundle[0]

        def alone(bundle: Bundle, shadows: Any, seed: int) -> Any:
            fresh = _Run(self, rule, bundle, shadows, "reverse, repeated")
            fresh.back(seed)
            return fresh.outcome()

        _step("reverse: repeated", kept, alone(self.bundle, zeros, self.seeds[1]), "outcome")
        _step("reverse: repeated, results of the first run", remains, run.remains(), "outcome")

        there = alone(nearby, noise, self.seeds[2])
        a = _Run(self, rule, self.bundle, zeros, "reverse, interleaved")
        b = _Run(self, rule, nearby, noise, "reverse, interleaved")
        _step("reverse: interleaved", a.given, a.output, "result of the first run")
        a.back(self.seeds[1])
        b.back(self.seeds[2])
        _step("reverse: interleaved", kept, a.outcome(), "outcome of the first run")
        _step("reverse: interleaved", there, b.outcome(), "outcome of the second run")

        _Run(self, rule, nearby, zeros, "reverse, abandoned")
        _step("reverse: after an abandoned run", kept, alone(self.bundle, zeros, self.seeds[1]), "outcome")

    # -- both --------------------------------------------------------------------------------------

    def assert_value(self, after: list[Any], step: str) -> None:
        _step(step, self.expected, after, _names("", len(after)), rtol=self.tolerances.value_rtol)


def _called(bundle: Bundle) -> list[Any]:
    """Output, function and arguments after a plain call."""
    function, *args = bundle
    return [function(*args), *bundle]


def _mutable(x: Any) -> list[Any]:
    """All mutable objects in `x`, itself included, in order; each as often as it is referred to."""
    found: list[Any] = []
    _collect(x, found, set())
    return found


def _collect(x: Any, found: list[Any], seen: set[int]) -> None:
    if has_identity(x):
        found.append(x)
        if id(x) in seen:
            return
        seen.add(id(x))
    for label, item in parts(x) or []:
        if label != ARRAY:  # which is a view that was made to be looked at
            _collect(item, found, seen)


def _name(i: int) -> str:
    return "the function" if i == 0 else f"argument {i - 1}"


def _names(what: str, count: int, *, output: bool = True) -> list[str]:
    names = [*(["output"] if output else []), "the function", *(f"argument {i}" for i in range(count))]
    return [f"{what} of {name}" if what else name for name in names[:count]]


def _place(label: str, what: str) -> str:
    """``[2].x`` in a list of output, function and arguments, in words."""
    index, _, rest = label[1:].partition("]")
    return f"{_names(what, int(index) + 1)[int(index)]}{' after the call' if int(index) else ''}{rest}"


def _not_zero(x: Any) -> str | None:
    """The first number in `x` that is not zero, in words.  No reference to what was seen is kept."""
    for label, value in leaves(x):
        if np.any(np.asarray(value) != 0):
            return f"{label} is {value!r}"
    return None


def _step(step: str, expected: Any, actual: Any, where: str | list[str], **options: Any) -> None:
    try:
        assert_same(expected, actual, where, **options)
    except AssertionError as error:
        raise AssertionError(f"step '{step}': {error}") from None
