"""Rows for functions of numbers: operators, builtins and `math`, as CPython computes them.

Where CPython raises, or goes on with another class (an int of more than 64 bits, a complex power), or takes
care of what is not finite, the row bails out.  What is left is what the machine computes, in the same order
and by the same functions of the C library.
"""

from __future__ import annotations

import builtins
import inspect
import math
import operator
from collections.abc import Callable
from typing import Any

from adbc.ir import intrinsics
from adbc.low.emitter import Emitter, Refusal
from adbc.low.kinds import Number, Value
from adbc.low.ops import LIBM
from adbc.low.program import BOOL, F64, I64, Operand, type_of
from adbc.rules import kinks

__all__ = ["NUMBERS", "accepts", "of_numbers"]

Row = Callable[..., Operand]

_ZERO, _DOMAIN, _INF = "division by zero", "outside of the domain", "a result that is not finite"
_LONG, _POWER = "an int of more than 64 bits", "a power that is no plain one"


def _are_ints(*operands: Operand) -> bool:
    return all(type_of(x) != F64 for x in operands)


def _arithmetic(of_floats: str, of_ints: str) -> Row:
    def row(e: Emitter, x: Operand, y: Operand) -> Operand:
        if _are_ints(x, y):
            return e.op(of_ints, e.to_int(x), e.to_int(y), reason=_LONG)
        return e.op(of_floats, e.to_float(x), e.to_float(y))

    return row


def _compared(name: str) -> Row:
    def row(e: Emitter, x: Operand, y: Operand) -> Operand:
        if _are_ints(x, y):
            return e.op(f"i{name}", e.to_int(x), e.to_int(y))
        return e.op(f"f{name}", e.to_exact_float(x), e.to_exact_float(y))

    return row


def _divided(e: Emitter, x: Operand, y: Operand) -> Operand:
    convert = e.to_exact_float if _are_ints(x, y) else e.to_float
    x, y = convert(x), convert(y)
    if isinstance(y, float) and y != 0.0:
        return e.op("fdiv", x, y)
    e.bail_if(e.op("feq", y, 0.0), _ZERO)
    return e.op("fdiv", x, y)


def _remainder(e: Emitter, x: Operand, y: Operand) -> Operand:
    if _are_ints(x, y):
        x, y = e.to_int(x), _divisor(e, y)
        return e.op("imod", x, y)
    x, y = e.finite(e.to_float(x), _INF), e.finite(e.to_float(y), _INF)
    e.bail_if(e.op("feq", y, 0.0), _ZERO)
    return _modulus(e, x, y)[0]


def _modulus(e: Emitter, x: Operand, y: Operand) -> tuple[Operand, Operand, Operand]:
    """The remainder of floats, that of C, and whether the sign of that was wrong."""
    of_c = e.op("frem", x, y)
    is_zero = e.op("feq", of_c, 0.0)
    differs = e.op("xor", e.op("flt", y, 0.0), e.op("flt", of_c, 0.0))
    is_wrong = e.op("and", e.op("not", is_zero), differs)
    mended = e.op("fselect", is_wrong, e.op("fadd", of_c, y), of_c)
    return e.op("fselect", is_zero, e.op("copysign", 0.0, y), mended), of_c, is_wrong


def _floor_division(e: Emitter, x: Operand, y: Operand) -> Operand:
    if _are_ints(x, y):
        x, y = e.to_int(x), _divisor(e, y)
        return e.op("ifloordiv", x, y)
    x, y = e.finite(e.to_float(x), _INF), e.finite(e.to_float(y), _INF)
    e.bail_if(e.op("feq", y, 0.0), _ZERO)
    _, of_c, is_wrong = _modulus(e, x, y)
    quotient = e.op("fdiv", e.op("fsub", x, of_c), y)
    quotient = e.op("fselect", is_wrong, e.op("fsub", quotient, 1.0), quotient)
    floor = e.op("floor", quotient)
    is_far = e.op("fgt", e.op("fsub", quotient, floor), 0.5)
    floor = e.op("fselect", is_far, e.op("fadd", floor, 1.0), floor)
    zero = e.op("copysign", 0.0, e.op("fdiv", x, y))
    return e.op("fselect", e.op("feq", quotient, 0.0), zero, floor)


def _divisor(e: Emitter, y: Operand) -> Operand:
    y = e.to_int(y)
    if isinstance(y, int) and y not in (0, -1):
        return y
    e.bail_if(e.op("ieq", y, 0), _ZERO)
    e.bail_if(e.op("ieq", y, -1), _LONG)
    return y


def _power(e: Emitter, x: Operand, y: Operand) -> Operand:
    if _are_ints(x, y):
        return _int_power(e, x, y)
    x, y = e.finite(e.to_float(x), _POWER), e.finite(e.to_float(y), _POWER)
    is_negative = e.op("flt", x, 0.0)
    if not isinstance(y, float):
        e.bail_if(e.op("and", e.op("feq", x, 0.0), e.op("flt", y, 0.0)), _ZERO)
        e.bail_if(e.op("and", is_negative, e.op("fne", y, e.op("floor", y))), _POWER)
        is_odd: Operand = e.op("feq", e.op("frem", e.op("fabs", y), 2.0), 1.0)
        # A zero keeps its sign where the exponent is an odd number: C's function knows.
        size = e.op("fselect", is_negative, e.op("fneg", x), x)
    else:
        if y < 0.0:
            e.bail_if(e.op("feq", x, 0.0), _ZERO)
        if y != math.floor(y):
            e.bail_if(is_negative, _POWER)
        is_odd = math.fmod(abs(y), 2.0) == 1.0
        size = e.op("fselect", is_negative, e.op("fneg", x), x)
    result = e.finite(e.op("pow", size, y), _INF)
    return e.op("fselect", e.op("and", is_negative, is_odd), e.op("fneg", result), result)


_MOST_FACTORS = 8


def _int_power(e: Emitter, x: Operand, y: Operand) -> Operand:
    if isinstance(y, bool) or not isinstance(y, int) or not 1 <= y <= _MOST_FACTORS:
        raise Refusal("a power of ints whose exponent is not written as a small number")
    x = e.to_int(x)
    result = x
    for _ in range(y - 1):
        result = e.op("imul", result, x, reason=_LONG)
    return result


def _power_base(e: Emitter, out: Operand, x: Operand, y: Operand) -> Operand:
    if isinstance(y, float | int) and not isinstance(y, bool):
        if y == 2:
            return _arithmetic("fadd", "iadd")(e, x, x)
        if y == 0:
            return 0.0
        if y < 1:
            e.bail_if(e.op("feq", e.to_float(x), 0.0), _POWER)
        less = _arithmetic("fsub", "isub")(e, y, 1) if isinstance(y, float) else y - 1
        return _arithmetic("fmul", "imul")(e, y, _power(e, x, less))
    if _are_ints(y):
        raise Refusal("a power whose exponent is an int that is computed")
    e.bail_if(e.op("feq", y, 2.0), _POWER)
    e.bail_if(e.op("feq", y, 0.0), _POWER)
    e.bail_if(e.op("and", e.op("feq", e.to_float(x), 0.0), e.op("flt", y, 1.0)), _POWER)
    return e.op("fmul", y, _power(e, x, e.op("fsub", y, 1.0)))


def _power_exponent(e: Emitter, out: Operand, x: Operand, y: Operand) -> Operand:
    x = e.to_float(x)
    e.bail_if(e.op("not", e.op("fgt", x, 0.0)), _POWER)
    return e.op("fmul", e.to_float(out), _log(e, x))


def _negated(e: Emitter, x: Operand) -> Operand:
    return e.op("fneg", x) if type_of(x) == F64 else e.op("isub", 0, e.to_int(x), reason=_LONG)


def _same(e: Emitter, x: Operand) -> Operand:
    return x if type_of(x) == F64 else e.to_int(x)


def _size(e: Emitter, x: Operand) -> Operand:
    if type_of(x) == F64:
        return e.op("fabs", x)
    x = e.to_int(x)
    return e.op("iselect", e.op("ilt", x, 0), e.op("isub", 0, x, reason=_LONG), x)


def _libm(name: str) -> Row:
    def row(e: Emitter, *given: Operand) -> Operand:
        return e.finite(e.op(name, *map(e.to_float, given)), _INF)

    return row


def _log(e: Emitter, x: Operand, base: Operand | None = None) -> Operand:
    return _logarithm("log")(e, x) if base is None else _divided(e, _log(e, x), _log(e, base))


def _logarithm(name: str) -> Row:
    def row(e: Emitter, x: Operand) -> Operand:
        x = e.to_float(x)
        e.bail_if(e.op("not", e.op("fgt", x, 0.0)), _DOMAIN)
        return e.finite(e.op(name, e.finite(x, _INF)), _INF)

    return row


def _of_finite(name: str) -> Row:
    """A function of two floats that C's and Python's agree on where all is finite."""

    def row(e: Emitter, x: Operand, y: Operand) -> Operand:
        x, y = e.finite(e.to_float(x), _INF), e.finite(e.to_float(y), _INF)
        return e.finite(e.op(name, x, y), _INF)

    return row


def _fmod(e: Emitter, x: Operand, y: Operand) -> Operand:
    y = e.to_float(y)
    e.bail_if(e.op("feq", y, 0.0), _DOMAIN)
    return _of_finite("frem")(e, x, y)


def _sqrt(e: Emitter, x: Operand) -> Operand:
    x = e.to_float(x)
    e.bail_if(e.op("not", e.op("fge", x, 0.0)), _DOMAIN)
    return e.op("sqrt", x)


def _rounded(name: str) -> Row:
    def row(e: Emitter, x: Operand) -> Operand:
        if type_of(x) != F64:
            return e.to_int(x)
        return e.op("ftoi", e.op(name, e.short(x, _LONG)))

    return row


def _extremum(test: str) -> Row:
    """The first of the arguments that no other is greater or less than, by Python's comparisons."""

    def row(e: Emitter, *given: Operand) -> Operand:
        if len(given) < 2 or len({type_of(x) for x in given}) != 1 or type_of(given[0]) == BOOL:
            raise Refusal("an extremum of numbers of several classes, or of one argument")
        letter = "f" if type_of(given[0]) == F64 else "i"
        best = given[0]
        for x in given[1:]:
            best = e.op(f"{letter}select", e.op(f"{letter}{test}", x, best), x, best)
        return best

    return row


def _truth(e: Emitter, x: Operand) -> Operand:
    if type_of(x) == BOOL:
        return x
    return e.op("fne", x, 0.0) if type_of(x) == F64 else e.op("ine", x, 0)


def _logical(name: str) -> Row:
    def row(e: Emitter, x: Operand, y: Operand) -> Operand:
        if type_of(x) != BOOL or type_of(y) != BOOL:
            raise Refusal("bits of ints")
        return e.op(name, x, y)

    return row


def _select(e: Emitter, condition: Operand, x: Operand, y: Operand) -> Operand:
    if type_of(x) != type_of(y):
        raise Refusal("one of two numbers of different classes")
    return e.op({F64: "fselect", I64: "iselect", BOOL: "bselect"}[type_of(x)], condition, x, y)


def _nonzero(e: Emitter, x: Operand, y: Operand) -> Operand:
    return _select(e, _truth(e, x), x, y)


def _product(e: Emitter, x: Operand, y: Operand) -> Operand:
    if _are_ints(x, y):
        raise Refusal("a product of derivatives that are no floats")
    x, y = e.to_float(x), e.to_float(y)
    product = e.op("fmul", x, y)
    is_zero = e.op("or", e.op("feq", x, 0.0), e.op("feq", y, 0.0))
    is_nan = e.op("fne", product, product)
    return e.op("fselect", e.op("and", is_nan, is_zero), 0.0, product)


def _quotient(e: Emitter, x: Operand, y: Operand) -> Operand:
    if _are_ints(x):
        raise Refusal("a quotient of a derivative that is no float")
    quotient = _divided(e, x, y)
    e.bail_if(e.op("fne", quotient, quotient), _INF)
    return quotient


def _not_nan(e: Emitter, x: Operand) -> Operand:
    return e.op("feq", x, x) if type_of(x) == F64 else True


def _copysign(e: Emitter, x: Operand, y: Operand) -> Operand:
    y = e.to_float(y)
    e.bail_if(e.op("fne", y, y), _INF)  # which sign NaN has is a matter of the processor and of who folds it
    return e.op("copysign", e.to_float(x), y)


def _times(factor: float) -> Row:
    return lambda e, x: e.op("fmul", e.to_float(x), factor)


def _is(e: Emitter, x: Operand, y: Operand) -> Operand:
    if type_of(x) == type_of(y) == BOOL:
        return e.op("not", e.op("xor", x, y))
    raise Refusal("the identity of numbers")


_COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")
_ARITHMETIC = {"add": ("fadd", "iadd"), "sub": ("fsub", "isub"), "mul": ("fmul", "imul")}
_ROUNDED = {math.floor: "floor", math.ceil: "ceil", math.trunc: "trunc", int: "trunc"}
_FINITE_RESULTS = [name for name in LIBM if name not in ("log", "log2", "log10", "atan2", "pow")]
_OPERATORS: dict[str, Row] = {
    **{name: _arithmetic(*ops) for name, ops in _ARITHMETIC.items()},
    "truediv": _divided,
    "mod": _remainder,
    "floordiv": _floor_division,
    "pow": _power,
    "and_": _logical("and"),
    "or_": _logical("or"),
    "xor": _logical("xor"),
}
_IN_PLACE = {"and_": "iand", "or_": "ior", "xor": "ixor"}

NUMBERS: dict[object, Row] = {
    **{getattr(operator, name): row for name, row in _OPERATORS.items()},
    **{getattr(operator, _IN_PLACE.get(name, f"i{name}")): row for name, row in _OPERATORS.items()},
    **{getattr(operator, name): _compared(name) for name in _COMPARISONS},
    **{getattr(math, name): _libm(name) for name in _FINITE_RESULTS},
    **{function: _rounded(name) for function, name in _ROUNDED.items()},
    operator.neg: _negated,
    operator.pos: _same,
    operator.not_: lambda e, x: e.op("not", _truth(e, x)),
    operator.truth: _truth,
    operator.is_: _is,
    builtins.abs: _size,
    operator.abs: _size,
    builtins.float: lambda e, x: e.to_float(x),
    builtins.bool: _truth,
    builtins.max: _extremum("gt"),
    builtins.min: _extremum("lt"),
    builtins.pow: _power,
    math.log: _log,
    math.log2: _logarithm("log2"),
    math.log10: _logarithm("log10"),
    math.sqrt: _sqrt,
    math.fabs: lambda e, x: e.op("fabs", e.to_float(x)),
    math.atan2: _of_finite("atan2"),
    math.pow: _of_finite("pow"),
    math.fmod: _fmod,
    math.copysign: _copysign,
    math.degrees: _times(180.0 / math.pi),
    math.radians: _times(math.pi / 180.0),
    math.isfinite: lambda e, x: e.op("finite", e.to_float(x)),
    math.isnan: lambda e, x: e.op("fne", e.to_float(x), e.to_float(x)),
    intrinsics._bool_: _truth,
    intrinsics._not_nan_: _not_nan,
    intrinsics._nonzero_: _nonzero,
    intrinsics._product_: _product,
    intrinsics._quotient_: _quotient,
    kinks.power_base: _power_base,
    kinks.power_exponent: _power_exponent,
}
"""By function, what writes operations for a call of it on numbers."""


def accepts(row: Any, count: int) -> bool:
    """Whether a row takes so many arguments, behind what it writes with."""
    code = row.__code__
    most = code.co_argcount - 1
    return bool(code.co_flags & inspect.CO_VARARGS) or most - len(row.__defaults__ or ()) <= count <= most


def of_numbers(e: Emitter, function: object, arguments: list[Value]) -> Value:
    """What a call of a function of `NUMBERS` gives."""
    row = NUMBERS[function]
    given = [e.number(value) for value in arguments]
    if not accepts(row, len(given)):
        raise Refusal(f"a call with {len(given)} arguments")
    return Number(row(e, *given))
