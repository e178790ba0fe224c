"""What rules from `build_frule` and `build_rrule`, and pullbacks that run again, are followed as inside
differentiated code.

A forward rule is `adbc.jvp` with the tangents in boxes.  A reverse rule makes a context of its own level,
lets that know the fdata it is given, and calls the forwards pass and the pullback of the inner rule; it is
written for that rule, as the functions of `nested` are.  A pullback that runs again runs the function again.
"""

from __future__ import annotations

import functools
from typing import Any

from adbc.errors import InvalidTangentError, UnsupportedError
from adbc.rules.table import Rule, ZeroRule
from adbc.runtime.calls.inner import written
from adbc.runtime.calls.nested import ApartRule, apart
from adbc.runtime.calls.reverse import value_shadow
from adbc.runtime.calls.steps import Call
from adbc.runtime.entry import nested
from adbc.runtime.entry.boxed import DerivedFRule, DerivedRule, check_fit
from adbc.runtime.entry.reusable import Unchanged
from adbc.runtime.state.context import Context
from adbc.tangents import (
    NO_FDATA,
    NO_RDATA,
    NO_TANGENT,
    CoDual,
    Dual,
    external_fdata,
    external_rdata,
    internal_fdata,
    internal_rdata,
)
from adbc.tangents.fit import fdata_misfit, rdata_misfit
from adbc.tangents.protocol import kind_of

__all__ = ["follow"]


def hold_constant(context: Context, x: Any) -> None:
    """Let the inner level take `x`, and all that is reached from it, for constant."""
    context.shadows.hold_constant(x)


def check_rdata(out: Any, r: Any) -> None:
    """Raise `InvalidTangentError` if `r` is no rdata of the value `out`."""
    problem = rdata_misfit(out, r)
    if problem is not None:
        raise InvalidTangentError(f"this is not rdata of the value of a rule: {problem}")


def _check_function(rule: Any, companion: Any, nothing: Any) -> None:
    if companion is not nothing:
        raise UnsupportedError(
            f"the rule of {rule.signature} is called inside a function that is being differentiated, with"
            f" {companion!r:.60} for its function",
            "only derivatives by the arguments of a rule are followed there",
            f"give {nothing!r}, and what the function reads besides as an argument",
        )


# -- in one direction ----------------------------------------------------------------------------------------


def _follow_frule(call: Call, jvp: Any) -> Call:
    """The call of a function that computes what a rule from `build_frule`, which is called, does."""
    rule = call.function
    if rule.width is not None:
        raise UnsupportedError(
            f"the rule of {rule.signature} takes a batch, and is called inside a function that is being"
            " differentiated",
            "a batch of tangents is not followed there",
            "build the rule without width=, and call it for one tangent at a time",
        )
    duals, _ = rule._given(call.args[: call.count], call.by_name())
    _check_function(rule, duals[0].tangent, NO_TANGENT)
    count = len(duals) - 1 - len(call.keywords)
    return call.rearranged(_jvp_in_boxes(jvp, count, call.keywords), None, None, range(len(call.args)))


@functools.cache
def _jvp_in_boxes(jvp: Any, count: int, names: tuple[str, ...]) -> Any:
    """The function that takes a dual of a function and of each of its arguments, the last by these names."""
    xs = [f"x{i}" for i in range(count + len(names))]
    given = [*xs[:count], *[f"{name}={x}" for name, x in zip(names, xs[count:], strict=True)]]
    primals, tangents = ("".join(f"{x}.{part}, " for x in xs) for part in ("primal", "tangent"))
    lines = f"""def derivative({", ".join(["f", *xs])}):
 f = f.primal
 {f"g = lambda {', '.join(xs)}: f({', '.join(given)})" if names else "g = f"}
 out, d = jvp(g, ({primals}), ({tangents}))
 return Dual(out, d)"""
    return written("derivative", lines, {"jvp": jvp, "Dual": Dual})


# -- back ----------------------------------------------------------------------------------------------------


def _follow_rrule(calls: Any, call: Call) -> Call:
    """The call of a function that computes what a rule from `build_rrule`, which is called, does."""
    made = call.function
    duals, primals = made._given(call.args[: call.count], call.by_name())
    for i, dual in enumerate(duals):
        check_fit(made.signature, i, dual, fdata_misfit(dual.primal, dual.fdata))
    _check_function(made, duals[0].fdata, NO_FDATA)
    f, engine = primals[0], calls.engine.inside
    target = nested.target_of(engine, f, len(primals) - 1 - len(call.keywords), call.keywords)
    values = [primals[place + 1] for place in target.order]
    constant = tuple(
        [place < 0 or (duals[place + 1].fdata is NO_FDATA and kind_of(type(x)).address)
         for place, x in zip(target.order, values, strict=True)]
    )  # fmt: skip
    rule, flags = nested.inner_rule(engine, target, values, [not c for c in constant], "reverse")
    key = ("rule", target.order, flags, constant, call.keywords)
    followed = rule.entrances.get(key)
    if followed is None:
        followed = rule.entrances[key] = _in_boxes(rule, target, flags, constant, call.keywords)
    return call.rearranged(followed, None, None, range(len(call.args)))


_OF_BOXES = {
    "once": nested.once, "check_rdata": check_rdata, "hold_constant": hold_constant,
    "internal_fdata": internal_fdata, "internal_rdata": internal_rdata,
    "external_fdata": external_fdata, "external_rdata": external_rdata,
    "CoDual": CoDual, "NO_RDATA": NO_RDATA,
}  # fmt: skip


def _in_boxes(
    rule: Any, target: Any, flags: tuple[int, ...], constant: tuple[bool, ...], names: tuple[str, ...]
) -> Any:
    """The function that calls `rule` as one from `build_rrule` is called."""
    asked = tuple([not c for c in constant])
    lines, scope = nested.forwards_lines(rule, flags, asked)
    scope |= _OF_BOXES
    before = ["function = c0.primal"]
    known = []
    for i, (place, flag) in enumerate(zip(target.order, flags, strict=True)):
        before.append(f"x{i} = c{place + 1}.primal")
        if constant[i] and place >= 0:
            known.append(f"hold_constant(context, x{i})")
        elif flag & 1 and place >= 0:
            known.append(f"adopt(context, x{i}, internal_fdata(c{place + 1}.fdata, x{i}))")
    lines = [*before, lines[0], *known, *lines[1:]]
    returned = "".join(f"b{i}, " for i, flag in enumerate(flags) if flag & 2)
    if rule.returns_float:
        back = "pullback(saved, as_float(r))"
    elif rule.returns_cotangent:
        back = "pullback(saved, internal_rdata(r))"
    else:
        back = "pullback(saved)"
    by_place = {place: i for i, place in enumerate(target.order)}
    found = []
    for place in range(len(target.order) - (-1 in by_place)):
        i = by_place[place]
        found.append(f"external_rdata({f'b{i}' if flags[i] & 2 else None}, x{i})")
    given = found[: len(found) - len(names)]
    if names:
        named = zip(names, found[len(given) :], strict=True)
        given.append("{" + ", ".join(f"{name!r}: {r}" for name, r in named) + "}")
    inside = [
        "once(done)",
        "check_rdata(out, r)",
        "done[0] = True",
        f"{returned + '= ' if returned else ''}{back}",
    ]
    inside.append(f"return NO_RDATA, {', '.join(given)}")
    lines += ["done = [False]", "def back(r):", *[f" {line}" for line in inside]]
    lines.append("return CoDual(out, external_fdata(fout, out)), back")
    if not rule.returns_shadow:
        scope["fout"] = value_shadow(rule.result)
    parameters = [f"c{i}" for i in range(len(found) + 1)]
    return nested.made_function(rule, parameters, lines, scope)


# -- pullbacks that run again --------------------------------------------------------------------------------


def unchanged(*values: Any) -> Unchanged:
    """What `values` hold now."""
    return Unchanged(values)


def check_unchanged(before: Unchanged) -> None:
    """Raise `ValueError` if what `before` has noted has been changed."""
    before.check()


_SCOPE = {"unchanged": unchanged, "check_unchanged": check_unchanged}


def _reusable_vjp(call: Call, vjp: Any) -> Call:
    """The call of a function that computes what `vjp`, which is `adbc.vjp`, does with ``reusable=True``."""
    nested.refuse_width(call, "adbc.vjp", "cotangent", "adbc.jacrev")
    at = call.count + call.keywords.index("has_aux") if "has_aux" in call.keywords else -1
    followed = _running_again(vjp, call.count - 1, at >= 0 and bool(call.args[at]))
    return call.rearranged(followed, None, None, range(call.count))


@functools.cache
def _running_again(vjp: Any, count: int, has_aux: bool) -> Any:
    """The function that takes a function and its arguments, which is run again for each further pullback."""
    xs = "".join(f", x{i}" for i in range(count))
    call, aux = (f"vjp(f{xs}, has_aux=True)", ", aux") if has_aux else (f"vjp(f{xs})", "")
    lines = f"""def derivative(f{xs}):
 before = unchanged(f{xs})
 value, first{aux} = {call}
 waiting = [first]
 def back(cotangent):
  if waiting:
   return waiting.pop()(cotangent)
  check_unchanged(before)
  return {call}[1](cotangent)
 return value, back{aux}"""
    return written(
        "derivative", lines, {"vjp": vjp, "unchanged": unchanged, "check_unchanged": check_unchanged}
    )


_ROWS: list[Rule] = [
    *apart(hold_constant),
    ZeroRule(check_rdata),
    ZeroRule(check_unchanged),
    ApartRule(unchanged, lambda context, args, beside: (unchanged(*args), None)),
]


def follow(calls: Any, call: Call, public: Any) -> Call:
    """The call of a function in Python that is made in the place of `call`, of a rule, or of `adbc.vjp` with
    ``reusable=True``; public: `adbc.jvp` for a forward rule, and `adbc.vjp`."""
    if not calls.table.rows(hold_constant):
        nested.learn(calls)
        calls.table.add(_ROWS)
    if type(call.function) is DerivedFRule:
        return _follow_frule(call, public)
    return _follow_rrule(calls, call) if type(call.function) is DerivedRule else _reusable_vjp(call, public)
