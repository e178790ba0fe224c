"""Functions that make whole numbers of floats.

Their derivative is zero wherever they are smooth, which says that small changes are rounded away.  From
2**52 on a float is whole, and nothing is rounded: programs that take floats apart without losing a bit
(``int(mantissa * 2.0**53)``) go on with all that there was, and a derivative of zero would be wrong.
"""

from __future__ import annotations

import math
from typing import Any

from adbc.errors import UnsupportedError
from adbc.rules.table import NO_KWARGS, Args, Kwargs, Pullback, ZeroRule
from adbc.tangents import NO_TANGENT

__all__ = ["StepRule"]

_WHOLE = 2.0**52
"""From here on the distance of neighbouring floats is one or more."""


class StepRule(ZeroRule):
    """The rule of a function that rounds: zero, or a refusal where there is nothing to round."""

    is_step = True

    def frule(self, args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
        out, dout = super().frule(args, dargs, kwargs)
        if abs(out) >= _WHOLE:
            for d in dargs:
                if d is not None and d is not NO_TANGENT and d != 0:
                    self._refuse(out)
        return out, dout

    def rrule(self, args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any, Pullback]:
        answer = super().rrule(args, fargs, kwargs)
        if abs(answer[0]) >= _WHOLE and any(f is not None for f in fargs):
            self._refuse(answer[0])
        return answer

    def _refuse(self, out: Any) -> None:
        if math.isfinite(out):
            raise UnsupportedError(
                f"{self.function.__name__} gives {out:.17g}, for a number with a derivative",
                "a float of that size is whole, so nothing is rounded, and its derivative would be lost",
                "if it is to be zero, pass adbc.stop_gradient(x) in place of x",
            )
