"""Rules for any system that differentiates: how they are declared, run by hand, and tested.

This package imports the standard library alone, and needs no engine.  A package whose functions need rules
imports it, declares them, and tests them with `adbc.chainrules.testing`; adbc, and any other system that
reads the rules, differentiates by them.

    from adbc import chainrules as cr

    @cr.rrule(f)
    def _(f, x, y):
        return z, lambda dz: (cr.NoTangent(), cr.Thunk(lambda: ...), cr.ZeroTangent())
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from adbc.chainrules.accumulation import accumulate
from adbc.chainrules.configs import Requirement, RuleConfig, using_config
from adbc.chainrules.declarations import forget, ignore_derivatives, non_differentiable, opt_out, scoped
from adbc.chainrules.linear import Precedence
from adbc.chainrules.plugins import load_plugins
from adbc.chainrules.project import ProjectTo
from adbc.chainrules.registry import Declaration, Origin, registry
from adbc.chainrules.rules import Pullback, frule, rrule
from adbc.chainrules.scalar import derivatives_given_output, scalar_rule
from adbc.chainrules.structured import Tangent
from adbc.chainrules.thunks import InplaceableThunk, Thunk, thunk, unthunk
from adbc.chainrules.zeros import NoTangent, NotImplementedTangent, ZeroTangent, not_implemented
from adbc.lazy import lazily

if TYPE_CHECKING:
    from adbc.chainrules import testing
    from adbc.chainrules.foreign import from_autograd, from_jax, from_torch
else:  # they are loaded when they are first used
    __getattr__ = lazily(
        __name__,
        {
            "testing": "testing",
            "from_autograd": "foreign",
            "from_jax": "foreign",
            "from_torch": "foreign",
        },
    )

__all__ = [
    "Declaration",
    "InplaceableThunk",
    "NoTangent",
    "NotImplementedTangent",
    "Origin",
    "Precedence",
    "ProjectTo",
    "Pullback",
    "Requirement",
    "RuleConfig",
    "Tangent",
    "Thunk",
    "ZeroTangent",
    "accumulate",
    "derivatives_given_output",
    "forget",
    "from_autograd",
    "from_jax",
    "from_torch",
    "frule",
    "ignore_derivatives",
    "load_plugins",
    "non_differentiable",
    "not_implemented",
    "opt_out",
    "registry",
    "rrule",
    "scalar_rule",
    "scoped",
    "testing",
    "thunk",
    "unthunk",
    "using_config",
]

registry.before.append(load_plugins)


def __dir__() -> list[str]:
    return __all__
