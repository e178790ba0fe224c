"""`test_ruleset`: what can be said of the rules of a module without running them."""

from __future__ import annotations

import inspect
import itertools
import types
from collections.abc import Callable, Iterable
from typing import Any

from adbc.chainrules.arrays import loaded
from adbc.chainrules.registry import Declaration, least_arguments, registry

__all__ = ["problems_of_ruleset", "test_ruleset"]


def test_ruleset(rules: types.ModuleType | Iterable[Declaration], *, ordered: bool = False) -> int:
    """Check rules without running them; raise `AssertionError` that lists what is wrong, else give how many
    there were.

    rules: a module that declares rules, or declarations.  ordered: whether they stand from special to general
    on purpose, so that several may accept the same classes, of which the first wins.

    A rule takes the arguments of its function: an ``frule`` those behind the tangents and the function, an
    ``rrule`` those behind the function, behind a config if it asks for one.  There are no more partial
    derivatives than parameters, and each takes the result and the arguments.  No two rules of a function in a
    mode are for the same classes, unless one of them is for all.  A function of the module whose name ends in
    ``_frule`` or ``_rrule`` is declared.

    >>> from adbc import chainrules as cr
    >>> from adbc.chainrules.testing import test_ruleset
    >>> def area(a, b):
    ...     return a * b
    >>> with cr.scoped():
    ...     found = cr.scalar_rule(area, lambda out, a, b: b, lambda out, a, b: a)
    ...     test_ruleset([found])
    1
    """
    count, problems = problems_of_ruleset(rules, ordered)
    if problems:
        raise AssertionError("\n".join(problems))
    return count


test_ruleset.__test__ = False  # type: ignore[attr-defined]


def problems_of_ruleset(
    rules: types.ModuleType | Iterable[Declaration], ordered: bool = False
) -> tuple[int, list[str]]:
    """How many declarations there are, and what is wrong with them."""
    problems: list[str] = []
    if isinstance(rules, types.ModuleType):
        found = [d for d in registry if _is_of(d, rules)]
        problems += _unregistered(rules, found)
    else:
        found = list(rules)
    for declaration in found:
        problems += [f"{_name(declaration)}: {p}" for p in _problems(declaration)]
    if not ordered:
        problems += _overlapping(found)
    return len(found), problems


def _name(declaration: Declaration) -> str:
    function = declaration.function
    return f"{declaration.kind} of {getattr(function, '__qualname__', None) or repr(function)}"


def _functions_of(declaration: Declaration) -> list[Callable[..., Any]]:
    detail = declaration.detail
    if detail is None:
        return list(declaration.rules.values())
    partials = [p for row in detail.rows for p in row if callable(p)]
    return [*partials, *([detail.setup] if detail.setup is not None else [])]


def _is_of(declaration: Declaration, module: types.ModuleType) -> bool:
    """Whether `module` has made the declaration: what it is made of is from there, or what it is about."""
    names = [getattr(f, "__module__", None) for f in _functions_of(declaration)]
    if declaration.kind in ("zero", "opt out"):
        names = [getattr(declaration.function, "__module__", None)]
    return module.__name__ in names


def _unregistered(module: types.ModuleType, found: Iterable[Declaration]) -> list[str]:
    known = {id(f) for d in found for f in _functions_of(d)}
    return [
        f"{module.__name__}.{name} is named like a rule, but is not declared"
        for name, value in vars(module).items()
        if isinstance(value, types.FunctionType)
        and value.__module__ == module.__name__
        and name.endswith(("_frule", "_rrule"))
        and id(value) not in known
    ]


def _signature(function: Callable[..., Any]) -> inspect.Signature | None:
    try:
        return inspect.signature(function)
    except (TypeError, ValueError):
        return None


def _by_position(function: Callable[..., Any]) -> tuple[int, float] | None:
    """The least and the greatest number of arguments by position; None if nobody knows."""
    signature = _signature(function)
    if signature is None:
        return None
    least, most = 0, 0.0
    for p in signature.parameters.values():
        if p.kind is p.VAR_POSITIONAL:
            most = float("inf")
        elif p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD):
            most += 1
            least += p.default is p.empty
    return least, most


def _problems(declaration: Declaration) -> list[str]:
    wanted = _by_position(declaration.function)
    found = []
    if declaration.kind == "scalar":
        found += _of_partials(declaration)
    for mode, rule in declaration.rules.items() if declaration.kind == "rule" else ():
        leading = (2 if mode == "forward" else 1) + (declaration.requires is not None)
        own = _by_position(rule)
        if own is None or wanted is None:
            continue
        least, most = own[0] - leading, own[1] - leading
        if most < 0:
            found.append(f"its {mode} rule lacks the place of the function, or of the tangents")
        elif most < wanted[0] or least > wanted[1]:
            found.append(
                f"its {mode} rule takes {_range(least, most)} arguments, the function {_range(*wanted)}"
            )
        elif not isinstance(declaration.when, tuple) and most < wanted[1] < float("inf"):
            found.append(f"its {mode} rule takes no more than {most:.0f} of {wanted[1]:.0f} arguments")
    if isinstance(declaration.when, tuple) and wanted is not None and len(declaration.when) > wanted[1]:
        found.append(f"it names {len(declaration.when)} classes for {wanted[1]:.0f} arguments")
    return found


def _range(least: float, most: float) -> str:
    return f"{least:.0f}" if least == most else f"{least:.0f} to {most:.0f}"


def _of_partials(declaration: Declaration) -> list[str]:
    detail = declaration.detail
    leading = 1 if detail.setup is None else 2
    width = len(detail.rows[0])
    wanted = _by_position(declaration.function)
    found = []
    keywords = len(detail.binding.names)
    if wanted is not None and width > max(wanted[1], keywords):
        found.append(f"it has {width} partial derivatives for {wanted[1]:.0f} arguments")
    for f in _functions_of(declaration):
        own = _by_position(f)
        extra = leading if f is not detail.setup else 1
        if own is not None and not own[0] - extra <= max(width, keywords) <= max(own[1] - extra, 0):
            least = wanted[0] if wanted is not None else width
            if not own[0] - extra <= least <= own[1] - extra:
                found.append(
                    f"a partial derivative takes {_range(own[0], own[1])} arguments: the result and"
                    f" {max(width, keywords)} are {max(width, keywords) + extra}"
                )
    return found


def _overlapping(found: Iterable[Declaration]) -> list[str]:
    """Rules of one function and mode that some classes of arguments are accepted by, though neither is for
    all."""
    problems = []
    by_function: dict[int, list[Declaration]] = {}
    for declaration in found:
        by_function.setdefault(id(declaration.function), []).append(declaration)
    for declared in by_function.values():
        for a, b in itertools.combinations(declared, 2):
            if a.requires is not None or b.requires is not None or not a.modes & b.modes:
                continue
            if "opt out" in (a.kind, b.kind):
                continue  # it is there to overlap
            if a.when is None and b.when is None:
                problems.append(f"{_name(a)}: it is declared twice")
            elif a.when is not None and b.when is not None:
                both = _accepted_by_both(a, b)
                if both is not None:
                    names = ", ".join(cls.__name__ for cls in both)
                    problems.append(f"{_name(a)}: two rules are for ({names})")
    return problems


def _required(declaration: Declaration) -> int:
    """How many arguments by position the function is given at least."""
    found = _by_position(declaration.function)
    return 1 if found is None else found[0]


def _accepted_by_both(a: Declaration, b: Declaration) -> tuple[type, ...] | None:
    classes: list[type] = [float, int, complex, bool, str, list, tuple, dict, object]
    numpy = loaded()
    if numpy is not None:
        classes += [numpy.ndarray, numpy.float64, numpy.float32]
    for when in (a.when, b.when):
        if isinstance(when, tuple):
            classes += [cls for cls in when if cls not in classes]
    least = max(
        len(when) if isinstance(when, tuple) else least_arguments(when)
        for when in (a.when, b.when)
        if when is not None
    )
    for choice in itertools.product(classes, repeat=min(max(least, _required(a)), 3)):
        if a.accepts(choice) and b.accepts(choice):
            return choice
    return None
