"""What a derivative of a Python value is.

Importing this package does not import NumPy; its kinds join when an array is first met.
"""

from __future__ import annotations

from adbc.tangents.constants import Const, hold_constant, hold_if_free
from adbc.tangents.duals import ArrayTangent, CoDual, Dual, FData, MutableTangent, RData, Tangent
from adbc.tangents.helpers import set_tangent_field, tangent_field, zero_codual, zero_dual
from adbc.tangents.internal import (
    accumulate,
    add,
    cotangent_of,
    divide,
    external_fdata,
    external_rdata,
    fill_tangent,
    fresh_shadow,
    fresh_tangent,
    internal_fdata,
    internal_rdata,
    multiply,
    project,
    slot_increment,
    slot_rdata,
    slot_shadow,
    slot_tangent,
)
from adbc.tangents.iterators import (
    ShadowIterator,
    shadow_enumerate,
    shadow_iterator,
    shadow_steps,
    shadow_zip,
    steps_left,
)
from adbc.tangents.kinds import install
from adbc.tangents.nothing import NO_FDATA, NO_RDATA, NO_TANGENT, NoFData, NoRData, NoTangent
from adbc.tangents.objects import Record
from adbc.tangents.operations import (
    add_to_primal,
    check_increment,
    coordinates,
    difference,
    dot,
    increment,
    norm,
    random_tangent,
    scale,
    set_to_zero,
    tangent_type,
    with_coordinates,
    zero_tangent,
)
from adbc.tangents.protocol import Inactive, Kind, register_tangent
from adbc.tangents.split import fdata, rdata, tangent, zero_rdata
from adbc.tangents.trees import tree_leaves, tree_map

__all__ = [
    "NO_FDATA",
    "NO_RDATA",
    "NO_TANGENT",
    "ArrayTangent",
    "CoDual",
    "Const",
    "Dual",
    "FData",
    "Inactive",
    "Kind",
    "MutableTangent",
    "NoFData",
    "NoRData",
    "NoTangent",
    "RData",
    "Record",
    "ShadowIterator",
    "Tangent",
    "accumulate",
    "add",
    "add_to_primal",
    "check_increment",
    "coordinates",
    "cotangent_of",
    "difference",
    "divide",
    "dot",
    "external_fdata",
    "external_rdata",
    "fdata",
    "fill_tangent",
    "fresh_shadow",
    "fresh_tangent",
    "hold_constant",
    "hold_if_free",
    "increment",
    "internal_fdata",
    "internal_rdata",
    "multiply",
    "norm",
    "project",
    "random_tangent",
    "rdata",
    "register_tangent",
    "scale",
    "set_tangent_field",
    "set_to_zero",
    "shadow_enumerate",
    "shadow_iterator",
    "shadow_steps",
    "shadow_zip",
    "slot_increment",
    "slot_rdata",
    "slot_shadow",
    "slot_tangent",
    "steps_left",
    "tangent",
    "tangent_field",
    "tangent_type",
    "tree_leaves",
    "tree_map",
    "with_coordinates",
    "zero_codual",
    "zero_dual",
    "zero_rdata",
    "zero_tangent",
]

install()
