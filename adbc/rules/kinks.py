"""Conventions where a derivative does not exist, and the few partials that need more than a formula.

The same in both modes, for scalars and for arrays.  The guiding rule is that the derivative is the
one of the branch the primal took; where both sides are equally good, the symmetric value.

=========================  ==========================================================================
``abs(0)``                 0; ``abs(0j)`` is 0 as well
``max``, ``min`` at ties   all to the argument that is returned, which is the first (``fmax``, ``fmin`` too)
``x ** 0``                 0 by ``x``, also at ``x == 0``
``0 ** y``                 0 by ``y``
``0 ** y``, y < 1          inf by ``x``, as ``sqrt``; 1 for ``y == 1`` and 0 for ``y > 1``
``x ** y``, x < 0          nan by ``y`` where the result is real: there is no derivative
``sqrt(0)``, ``cbrt(0)``   inf
``acos``, ``asin`` at ±1   -inf and inf;  ``acosh(1)``  inf;  (``atanh(±1)`` and ``log(0)`` raise in Python)
``hypot(0, 0)``            0;  ``dist(p, p)``  0
``atan2(0, 0)``            0 by both
``x % y``, ``fmod``        1 by ``x``, and by ``y`` minus the quotient that was taken, at jumps too
``floor``, ``round``       0, at jumps too;  ``//`` likewise.  Refused for single floats that have nothing
                           to be rounded, from 2**52 on; NumPy's functions give 0 for these, too
``copysign(x, y)``         sign of the copy by ``x`` (0 at 0), 0 by ``y``
``sorted``                 the permutation that was taken; equal elements keep their order
``prod`` with zeros        exact: the product of the other factors
zero times infinity        0, in the product of a partial derivative with a tangent or cotangent
=========================  ==========================================================================
"""

from __future__ import annotations

import cmath as _cmath
import math as _math
from typing import Any

__all__ = ["HUGE", "INF", "NAN", "TINY", "power_base", "power_exponent"]

INF = _math.inf
NAN = _math.nan
TINY = 1e-300
"""The absolute value above which a number has a reciprocal."""


HUGE = 1e300
"""What is as far from the greatest number as `TINY` from the least: a product of it that is too great is
infinite."""


def power_base(out: Any, x: Any, y: Any) -> Any:
    """The derivative of ``x ** y`` by `x`."""
    if y == 2 and isinstance(y, int):
        return x + x
    if y == 0 and (isinstance(y, int) or not abs(x) > TINY):
        return 0.0  # else it has a derivative by the exponent
    if y.real < 1:
        if x == 0:
            return INF
        if abs(out) > abs(x) * HUGE:  # the other power may be no float, which would be an error
            return y * (out / x)
    return y * x ** (y - 1)


def power_exponent(out: Any, x: Any, y: Any) -> Any:
    """The derivative of ``x ** y`` by `y`."""
    if x == 0:
        return 0.0
    if isinstance(out, complex):
        return out * _cmath.log(x)
    return out * _math.log(x) if x > 0 else NAN
