"""adbc: automatic differentiation of ordinary Python and NumPy code, by its bytecode."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adbc.lazy import lazily, on_demand

if TYPE_CHECKING:
    from adbc import chainrules, errors, inspect, testing
    from adbc.api import build_frule, build_rrule, grad, jvp, prepare, value_and_grad, vjp
    from adbc.checkpoints import checkpoint, checkpoint_loop
    from adbc.config import Config
    from adbc.errors import AdbcError, MissingRuleError
    from adbc.jacobians import hessian, hvp, jacfwd, jacobian, jacrev, value_and_jacobian, vhp
    from adbc.rules.declare import (
        forget,
        implicit,
        linear,
        overlay,
        primitive,
        rule,
        scalar_rule,
        zero_derivative,
    )
    from adbc.rules.lookup import Layer
    from adbc.rules.stopping import stop_gradient
    from adbc.runtime import use
    from adbc.runtime.entry.signature import Signature
    from adbc.sparse import sparse_hessian, sparse_jacobian, sparsity
    from adbc.tangents import (
        ArrayTangent,
        CoDual,
        Const,
        Dual,
        FData,
        MutableTangent,
        NoFData,
        NoRData,
        NoTangent,
        RData,
        Record,
        Tangent,
        dot,
        fdata,
        norm,
        rdata,
        register_tangent,
        set_tangent_field,
        tangent,
        tangent_field,
        tangent_type,
        tree_leaves,
        tree_map,
        zero_codual,
        zero_dual,
        zero_tangent,
    )
    from adbc.tangents.array_vectors import ravel
    from adbc.version import __version__
else:  # they are loaded when they are first used
    _ENGINE = {
        "AdbcError": "errors",
        "ArrayTangent": "tangents",
        "CoDual": "tangents",
        "Config": "config",
        "Const": "tangents",
        "Dual": "tangents",
        "FData": "tangents",
        "MissingRuleError": "errors",
        "MutableTangent": "tangents",
        "NoFData": "tangents",
        "NoRData": "tangents",
        "NoTangent": "tangents",
        "RData": "tangents",
        "Record": "tangents",
        "Signature": "runtime.entry.signature",
        "Tangent": "tangents",
        "build_frule": "api",
        "build_rrule": "api",
        "dot": "tangents",
        "errors": "errors",
        "Layer": "rules.lookup",
        "forget": "rules.declare",
        "set_tangent_field": "tangents",
        "tangent_field": "tangents",
        "zero_codual": "tangents",
        "zero_dual": "tangents",
        "fdata": "tangents",
        "grad": "api",
        "implicit": "rules.declare",
        "jvp": "api",
        "linear": "rules.declare",
        "norm": "tangents",
        "overlay": "rules.declare",
        "prepare": "api",
        "primitive": "rules.declare",
        "rdata": "tangents",
        "register_tangent": "tangents",
        "rule": "rules.declare",
        "scalar_rule": "rules.declare",
        "stop_gradient": "rules.stopping",
        "tangent": "tangents",
        "tangent_type": "tangents",
        "tree_leaves": "tangents",
        "tree_map": "tangents",
        "use": "runtime",
        "value_and_grad": "api",
        "vjp": "api",
        "zero_derivative": "rules.declare",
        "zero_tangent": "tangents",
    }
    __getattr__ = lazily(
        __name__,
        {
            **_ENGINE,
            **{module: module for module in ("api", "config", "rules", "runtime", "tangents", "types")},
            "__version__": "version",
            "chainrules": "chainrules",
            **dict.fromkeys(
                ("hessian", "hvp", "jacfwd", "jacobian", "jacrev", "value_and_jacobian", "vhp"), "jacobians"
            ),
            **dict.fromkeys(("sparse_hessian", "sparse_jacobian", "sparsity"), "sparse"),
            "checkpoint": "checkpoints",
            "checkpoint_loop": "checkpoints",
            "inspect": "inspect",
            "ravel": "tangents.array_vectors",
            "testing": "testing",
        },
        together=_ENGINE,  # functions that are differentiated read names of this module as they read others
    )

__all__ = [
    "AdbcError",
    "ArrayTangent",
    "CoDual",
    "Config",
    "Const",
    "Dual",
    "FData",
    "Layer",
    "MissingRuleError",
    "MutableTangent",
    "NoFData",
    "NoRData",
    "NoTangent",
    "RData",
    "Record",
    "Signature",
    "Tangent",
    "__version__",
    "build_frule",
    "build_rrule",
    "chainrules",
    "checkpoint",
    "checkpoint_loop",
    "dot",
    "errors",
    "fdata",
    "forget",
    "grad",
    "hessian",
    "hvp",
    "implicit",
    "inspect",
    "jacfwd",
    "jacobian",
    "jacrev",
    "jvp",
    "linear",
    "norm",
    "overlay",
    "prepare",
    "primitive",
    "ravel",
    "rdata",
    "register_tangent",
    "rule",
    "scalar_rule",
    "set_tangent_field",
    "sparse_hessian",
    "sparse_jacobian",
    "sparsity",
    "stop_gradient",
    "tangent",
    "tangent_field",
    "tangent_type",
    "testing",
    "tree_leaves",
    "tree_map",
    "use",
    "value_and_grad",
    "value_and_jacobian",
    "vhp",
    "vjp",
    "zero_codual",
    "zero_derivative",
    "zero_dual",
    "zero_tangent",
]


def _rule_config() -> object:
    """What derives functions for rules of `adbc.chainrules`, which does not know the engine."""
    from adbc.runtime import default_engine
    from adbc.runtime.entry.chainrules import EngineConfig

    return EngineConfig(default_engine)


on_demand("rule config", _rule_config)


def __dir__() -> list[str]:
    return __all__
