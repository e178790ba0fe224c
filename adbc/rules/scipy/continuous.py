"""``scipy.stats``: densities and distribution functions, where all that they are given is as it should be.

SciPy fills an array, here with what lies outside of the support, there with what the formula of the
distribution gives for the rest.  To follow that costs several times what the formula does.  Where no
parameter is wrong and everything lies inside, which is asked of the values as they are, the array is what the
formula gives; otherwise the code of SciPy is followed.  Of the distributions in `densities` not even that
is followed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import stats
from scipy.stats import _distn_infrastructure as _infrastructure

from adbc.rules.lookup import derived_body
from adbc.rules.quick import once_per_call
from adbc.rules.scipy.densities import ROWS as DIRECT_ROWS
from adbc.rules.table import Overlay, Rule, ZeroRule

__all__ = ["ROWS"]


def are_inside(self: Any, z: Any, shapes: tuple[Any, ...], scale: Any, is_open: bool) -> bool:
    """Whether all of `z` lies inside of the support for parameters that are right."""
    mask = self._open_support_mask if is_open else self._support_mask
    return bool(np.all(self._argcheck(*shapes) & (scale > 0) & mask(z, *shapes)))


def _body(name: str) -> Callable[..., Any]:
    """The body of the method `name`, which calls that of the formula and is told of the scale by its kind."""
    formula = f"_{name}"
    followed: Any = derived_body(getattr(stats.rv_continuous, name))
    is_density, is_open = name in ("pdf", "logpdf"), name not in ("pdf", "logpdf")

    @once_per_call
    def body(self: Any, x: Any, *args: Any, **kwds: Any) -> Any:
        given, loc, scale = self._parse_args(*args, **kwds)
        x, scale = np.asarray(x), np.asarray(scale)
        shapes = tuple([np.asarray(s) for s in given])
        z = np.asarray((x - np.asarray(loc)) / scale, dtype=np.promote_types(x.dtype, np.float64))
        if z.dtype.kind != "f" or not are_inside(self, z, shapes, scale, is_open):
            return followed(self, x, *args, **kwds)
        parts = [np.ravel(part) for part in np.broadcast_arrays(z, *shapes, scale)]
        count = len(shapes) + 1
        out = getattr(self, formula)(*parts[:count])
        if is_density:
            out = out / parts[count] if name == "pdf" else out - np.log(parts[count])
        return np.reshape(out, np.broadcast_shapes(z.shape, *[s.shape for s in shapes]))[()]

    return body


# -- distributions that hold their parameters --------------------------------------------------------------


def own_distribution(distribution: Any) -> Any:
    """A new distribution like `distribution`, as one that holds its parameters makes for itself.

    It has no numbers with a derivative, and is made by code that writes its documentation."""
    return distribution.__class__(**distribution._updated_ctor_param())


def _hold(self: Any, dist: Any, *args: Any, **kwds: Any) -> None:
    self.args = args
    self.kwds = kwds
    self.dist = own_distribution(dist)
    shapes, _, _ = self.dist._parse_args(*args, **kwds)
    self.a, self.b = self.dist._get_support(*shapes)


_HOLD = _infrastructure.rv_frozen.__init__
_DOES = (
    "args", "kwds", "__class__", "_updated_ctor_param", "dist", "_parse_args", "_get_support", "a", "b",
)  # fmt: skip
"""What the constructor of such a distribution reads, sets and calls."""

_NAMES = ("pdf", "logpdf", "cdf", "logcdf", "sf", "logsf")
_ASKED = ("_argcheck", "_support_mask", "_open_support_mask")

ROWS: list[Rule] = [
    *DIRECT_ROWS,
    ZeroRule(are_inside),
    ZeroRule(own_distribution),
    *([Overlay(_HOLD, _hold)] if _HOLD.__code__.co_names == _DOES else []),
    *(
        Overlay(getattr(stats.rv_continuous, name), _body(name))
        for name in _NAMES
        if all(hasattr(stats.rv_continuous, asked) for asked in _ASKED)
    ),
]
