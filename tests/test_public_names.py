"""The public names are the ones we mean, and each of them exists and says what it is."""

from __future__ import annotations

import types

import adbc

PUBLIC = {
    "CoDual",
    "Dual",
    "FData",
    "MutableTangent",
    "NoFData",
    "NoRData",
    "NoTangent",
    "RData",
    "Signature",
    "Tangent",
    "build_frule",
    "build_rrule",
    "AdbcError",
    "MissingRuleError",
    "fdata",
    "grad",
    "jvp",
    "rdata",
    "tangent",
    "tangent_type",
    "value_and_grad",
    "vjp",
    "zero_tangent",
}


def test_public_names() -> None:
    assert set(adbc.__all__) == PUBLIC


def test_public_names_exist() -> None:
    for name in adbc.__all__:
        assert getattr(adbc, name) is not None


def test_public_names_are_documented() -> None:
    undocumented = [
        name
        for name in adbc.__all__
        if not isinstance(getattr(adbc, name), types.ModuleType) and not getattr(adbc, name).__doc__
    ]
    assert not undocumented
