"""adbc: automatic differentiation of ordinary Python and NumPy code, by its bytecode."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adbc import errors
from adbc.api import build_frule, build_rrule, grad, jvp, value_and_grad, vjp
from adbc.config import Config
from adbc.errors import AdbcError, MissingRuleError
from adbc.lazy import lazily
from adbc.rules.declare import implicit, linear, overlay, primitive, rule, scalar_rule, zero_derivative
from adbc.rules.stopping import stop_gradient
from adbc.runtime import use
from adbc.runtime.entry.signature import Signature
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
    tangent,
    tangent_type,
    tree_leaves,
    tree_map,
    zero_tangent,
)

if TYPE_CHECKING:
    from adbc import inspect, testing
    from adbc.tangents.array_vectors import ravel
    from adbc.version import __version__
else:  # they are loaded when they are first used
    __getattr__ = lazily(
        __name__,
        {
            "__version__": "version",
            "inspect": "inspect",
            "ravel": "tangents.array_vectors",
            "testing": "testing",
        },
    )

__all__ = [
    "AdbcError",
    "ArrayTangent",
    "CoDual",
    "Config",
    "Const",
    "Dual",
    "FData",
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
    "dot",
    "errors",
    "fdata",
    "grad",
    "implicit",
    "inspect",
    "jvp",
    "linear",
    "norm",
    "overlay",
    "primitive",
    "ravel",
    "rdata",
    "register_tangent",
    "rule",
    "scalar_rule",
    "stop_gradient",
    "tangent",
    "tangent_type",
    "testing",
    "tree_leaves",
    "tree_map",
    "use",
    "value_and_grad",
    "vjp",
    "zero_derivative",
    "zero_tangent",
]


def __dir__() -> list[str]:
    return __all__
