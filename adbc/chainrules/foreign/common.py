"""What the readers of foreign rules share: structures of arrays, between two systems."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from adbc.chainrules.arrays import has, is_array, is_differentiable_array, loaded
from adbc.chainrules.linear import Linear
from adbc.chainrules.project import ProjectTo
from adbc.chainrules.registry import Declaration, registry
from adbc.chainrules.structured import Tangent
from adbc.chainrules.thunks import unthunk
from adbc.chainrules.zeros import NoTangent, ZeroTangent

__all__ = ["conjugate", "declare", "is_number", "is_zero", "map_leaves", "project", "written_out"]


def declare(function: Callable[..., Any], **rules: Callable[..., Any] | None) -> None:
    """Declare rules of `function`, by mode; None for none."""
    for mode, rule in rules.items():
        if rule is not None:
            registry.add(Declaration(function, "rule", {mode: rule}, frozenset({mode})))


def is_zero(t: Any) -> bool:
    """Whether a tangent stands for nothing, or for zero."""
    return isinstance(t, NoTangent | ZeroTangent)


def is_number(x: Any) -> bool:
    """Whether `x` is an array, or a number with a derivative, of Python's or NumPy's."""
    return is_differentiable_array(x) or isinstance(x, float | complex)


def map_leaves(function: Callable[[Any], Any], x: Any) -> Any:
    """`x` with `function` applied to what is no tuple, list or dict."""
    if isinstance(x, dict):
        return type(x)((key, map_leaves(function, part)) for key, part in x.items())
    if isinstance(x, tuple) and hasattr(x, "_fields"):
        return type(x)(*(map_leaves(function, part) for part in x))
    if isinstance(x, tuple | list):
        return type(x)(map_leaves(function, part) for part in x)
    return function(x)


def conjugate(x: Any) -> Any:
    """The conjugate of what is complex; anything else as it is."""
    if isinstance(x, Linear):
        return x
    return x.conjugate() if getattr(getattr(x, "dtype", None), "kind", "") == "c" or type(x) is complex else x


def written_out(x: Any, t: Any, nothing: Callable[[Any], Any]) -> Any:
    """The tangent `t` of `x` in the structure of `x`, zeros written out: other systems know none.

    nothing: what stands for the tangent of a leaf that has none.
    """
    t = unthunk(t)
    if isinstance(x, dict):
        return type(x)((key, written_out(part, _part(t, key), nothing)) for key, part in x.items())
    if isinstance(x, tuple | list):
        parts = [written_out(part, _part(t, i), nothing) for i, part in enumerate(x)]
        return type(x)(*parts) if hasattr(x, "_fields") else type(x)(parts)
    if not ProjectTo(x).is_differentiable:
        return nothing(x)
    if not is_zero(t):
        return t
    return loaded().zeros_like(x) if is_array(x) else 0.0 * x


def _part(t: Any, key: Any) -> Any:
    return t if is_zero(t) else t[key]


def project(x: Any, t: Any) -> Any:
    """`t`, a cotangent of `x` from another system, as one of ours: None in it is zero."""
    t = map_leaves(lambda part: ZeroTangent() if part is None else part, t)
    if isinstance(t, tuple | list | dict) and isinstance(x, tuple | list | dict):
        keys = list(x) if isinstance(x, dict) else range(len(x))
        if len(t) == len(x):
            parts = {key: project(x[key], t[key]) for key in keys}
            names = getattr(x, "_fields", None)
            return Tangent.of(type(x), dict(zip(names, parts.values(), strict=True)) if names else parts)
    return t if isinstance(t, Linear) and not has(t, "_parts") else ProjectTo(x)(t)
