"""Splitting a tangent into fdata (by address) and rdata (by value), and putting it together again.

Only values are taken apart: an object is its own fdata, whole.  Where nothing is left of a value,
`NoFData` or `NoRData` stands for all of it.  The law: ``tangent(fdata(t), rdata(t))`` is `t`, the
very same objects at the address parts.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from adbc.errors import InvalidTangentError
from adbc.tangents.duals import FData, RData, Tangent
from adbc.tangents.nothing import NO_FDATA, NO_RDATA, NO_TANGENT
from adbc.tangents.protocol import ValueKind, kind_of
from adbc.tangents.walk import is_address_tangent

__all__ = ["fdata", "rdata", "split_parts", "tangent", "zero_rdata"]


def split_parts(t: Any, split: Callable[[Any], Any], record: Callable[..., Any], nothing: Any) -> Any:
    """A tuple or `record` of what `split` gives for each part of the tuple or record `t`.

    It is `nothing` if `split` gives that for all parts.
    """
    # This is hot: a loop that ends at the first part that is something costs less than `all` of a generator.
    if type(t) is tuple:
        parts = tuple([split(c) for c in t])
        for part in parts:
            if part is not nothing:
                return parts
        return nothing
    fields = {k: split(c) for k, c in t.__dict__.items()}
    for part in fields.values():
        if part is not nothing:
            return record(**fields)
    return nothing


def fdata(t: Any) -> Any:
    """The part of tangent `t` that is identified by address: what a reverse rule increments in place.

    An array, a list, a dict or a `MutableTangent` is its own fdata, the very same object.  A tuple gives a
    tuple and a `Tangent` an `FData` of the fdata of its parts.  A number has none: ``NoFData()``, which
    also stands for a whole tuple or record that holds nothing with an address.  With `rdata` it makes up
    all of `t`: see `tangent`.

    >>> import adbc
    >>> adbc.fdata((1.5, [2.5]))
    (NoFData(), [2.5])
    """
    cls = type(t)
    if cls is float or t is NO_TANGENT:
        return NO_FDATA
    if cls is tuple or cls is Tangent:
        return split_parts(t, fdata, FData, NO_FDATA)
    return t if is_address_tangent(cls) else NO_FDATA


def rdata(t: Any) -> Any:
    """The part of tangent `t` that is identified by value: what a pullback returns.

    A number is its own rdata.  A tuple gives a tuple and a `Tangent` an `RData` of the rdata of its parts.
    What has an address has none: ``NoRData()``, which also stands for a whole tuple or record that holds no
    number.

    >>> import adbc
    >>> adbc.rdata((1.5, [2.5]))
    (1.5, NoRData())
    """
    cls = type(t)
    if cls is float:
        return t
    if t is NO_TANGENT:
        return NO_RDATA
    if cls is tuple or cls is Tangent:
        return split_parts(t, rdata, RData, NO_RDATA)
    return NO_RDATA if is_address_tangent(cls) else t


def tangent(f: Any, r: Any) -> Any:
    """The tangent whose fdata is `f` and whose rdata is `r`, with the very same objects at the address parts.

    So ``tangent(fdata(t), rdata(t))`` is `t` again.  Raises `adbc.errors.InvalidTangentError` if the two
    are not parts of one tangent: tuples of different lengths, records with different fields, or two values
    for one place.

    >>> import adbc
    >>> adbc.tangent((adbc.NoFData(), [2.5]), (1.5, adbc.NoRData()))
    (1.5, [2.5])
    """
    if f is NO_FDATA and r is NO_RDATA:
        return NO_TANGENT
    if type(f) is tuple or type(r) is tuple:
        fs = (NO_FDATA,) * len(r) if f is NO_FDATA else f
        rs = (NO_RDATA,) * len(f) if r is NO_RDATA else r
        if type(fs) is not tuple or type(rs) is not tuple or len(fs) != len(rs):
            raise InvalidTangentError(f"fdata {f!r} and rdata {r!r} do not belong together")
        return tuple([tangent(a, b) for a, b in zip(fs, rs, strict=True)])
    if type(f) is FData or type(r) is RData:
        if (f is not NO_FDATA and type(f) is not FData) or (r is not NO_RDATA and type(r) is not RData):
            raise InvalidTangentError(f"fdata {f!r} and rdata {r!r} do not belong together")
        fs = {} if f is NO_FDATA else f.__dict__
        rs = {} if r is NO_RDATA else r.__dict__
        if fs and rs and set(fs) != set(rs):
            raise InvalidTangentError(f"fdata {f!r} and rdata {r!r} do not belong together")
        return Tangent(**{k: tangent(fs.get(k, NO_FDATA), rs.get(k, NO_RDATA)) for k in fs or rs})
    if r is NO_RDATA:
        return f
    if f is NO_FDATA:
        return r
    raise InvalidTangentError(f"fdata {f!r} and rdata {r!r} do not belong together")


def zero_rdata(x: Any) -> Any:
    """The zero rdata of primal `x`."""
    kind = kind_of(type(x))
    if not isinstance(kind, ValueKind):
        return kind.zero_rdata(x)
    parts = [(k, zero_rdata(c)) for k, c in kind.parts(x)]
    if all(r is NO_RDATA for _, r in parts):
        return NO_RDATA
    return record(kind, x, parts, RData)


def record(kind: ValueKind, x: Any, parts: list[tuple[Any, Any]], cls: type) -> Any:
    """The parts in the shape of the tangent of `x`: a tuple, or a record of class `cls`."""
    t = kind.join(x, parts)
    return cls(**t.__dict__) if type(t) is Tangent else t
