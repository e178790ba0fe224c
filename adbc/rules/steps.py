"""Functions that make whole numbers of floats.

Their derivative is zero wherever they are smooth, which says that small changes are rounded away.  From
2**52 on a float is whole, and nothing is rounded: programs that take floats apart without losing a bit
(``int(mantissa * 2.0**53)``) go on with all that there was, and a derivative of zero would be wrong.  So it
is with ``round(x, 20)``, a float near one having sixteen digits.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Any

from adbc.errors import UnsupportedError
from adbc.rules.activity import and_lost, carries
from adbc.rules.table import NO_KWARGS, Args, Kwargs, Pullback, ZeroRule
from adbc.tangents import NO_TANGENT
from adbc.tangents.keys import put_off
from adbc.tangents.lost import may_be_lost

__all__ = ["StepRule"]


class StepRule(ZeroRule):
    """The rule of a function that rounds: zero, or a refusal where there is nothing to round.

    A second argument is the divisor, or with `to_digits` the number of decimal places.
    """

    is_step = True

    def __init__(self, function: Any, *, to_digits: bool = False, **options: Any) -> None:
        super().__init__(function, **options)
        self.to_digits = to_digits

    def limit(self, given: Sequence[Any]) -> float | None:
        """From which size on nothing is rounded in a call with these arguments, of which those are `UNKNOWN`
        that are not known before it is made; None if it depends on one of these."""
        if not self.to_digits or len(given) < 2 or given[1] is None:
            return _WHOLE
        digits = given[1]
        if type(digits) is not int or digits > 300:
            return None
        exponent = 52
        while digits > 0 and 2.0 ** (exponent - 53) >= 10.0**-digits:
            exponent -= 1
        return 2.0**exponent if digits > 0 else math.inf

    def complain(self, out: Any, *tangents: Any) -> None:
        """Refuse a call that gave `out` and has rounded nothing; in forward mode, if one of the tangents of
        its arguments is not zero."""
        if not tangents or any(d is not None and d is not NO_TANGENT and d != 0 for d in tangents):
            error = self._error(out)
            if error is not None:
                raise error

    def frule(self, args: Args, dargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any]:
        out, dout = super().frule(args, dargs, kwargs)
        # A constant may be of any class, whose whole numbers need not compare with floats (durations).
        if any(d is not None and d is not NO_TANGENT for d in dargs) and self._keeps_all(out, args):
            self.complain(out, *dargs)
        return out, dout

    def rrule(self, args: Args, fargs: Args, kwargs: Kwargs = NO_KWARGS) -> tuple[Any, Any, Pullback]:
        answer = super().rrule(args, fargs, kwargs)
        if all(f is None for f in fargs) or not self._keeps_all(answer[0], args):
            return answer
        error = self._error(answer[0])
        if error is None:
            return answer
        # A number that is read from an object may be a constant all the same.
        lost = {}
        for i, (x, f) in enumerate(zip(args, fargs, strict=True)):
            if carries(x, f, is_tangent=False):
                nan = put_off(lambda: error) if may_be_lost(x, f) else None
                if nan is None:
                    raise error
                lost[i] = x, f, nan
        return and_lost(answer, lost)

    def _keeps_all(self, out: Any, args: Args) -> bool:
        """Whether neighbouring floats are as far apart as what the function rounds to, or further."""
        if not self.to_digits or len(args) < 2 or args[1] is None:
            return bool(abs(out) >= _WHOLE)
        digits = operator.index(args[1])
        # From 323 places on the power of ten is no float, and nothing is rounded.
        return bool(digits > 0 and (digits > 322 or math.ulp(out) >= 10.0**-digits))

    def _error(self, out: Any) -> UnsupportedError | None:
        """What there is to say of a call that gave `out` and has rounded nothing; nothing, of no number."""
        if not math.isfinite(out):
            return None
        spacing = "of that size is whole" if not self.to_digits else "has no more digits than that"
        return UnsupportedError(
            f"{self.function.__name__} gives {out:.17g}, for a number with a derivative",
            f"a float {spacing}, so nothing is rounded, and its derivative would be lost",
            "if it is to be zero, pass adbc.stop_gradient(x) in place of x",
        )


_WHOLE = 2.0**52
"""From here on the distance of neighbouring floats is one or more."""
