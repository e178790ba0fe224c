"""adbc: automatic differentiation of ordinary Python and NumPy code, by its bytecode."""

from __future__ import annotations

from adbc.api import build_frule, build_rrule, grad, jvp, value_and_grad, vjp
from adbc.errors import AdbcError, MissingRuleError
from adbc.runtime.signature import Signature
from adbc.tangents import (
    CoDual,
    Dual,
    FData,
    MutableTangent,
    NoFData,
    NoRData,
    NoTangent,
    RData,
    Tangent,
    fdata,
    rdata,
    tangent,
    tangent_type,
    zero_tangent,
)

__all__ = [
    "AdbcError",
    "CoDual",
    "Dual",
    "FData",
    "MissingRuleError",
    "MutableTangent",
    "NoFData",
    "NoRData",
    "NoTangent",
    "RData",
    "Signature",
    "Tangent",
    "build_frule",
    "build_rrule",
    "fdata",
    "grad",
    "jvp",
    "rdata",
    "tangent",
    "tangent_type",
    "value_and_grad",
    "vjp",
    "zero_tangent",
]
