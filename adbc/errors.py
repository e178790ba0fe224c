"""The exceptions of adbc: one tree under `AdbcError`.

Every message says what was met (function, file, line, the construct in plain words), why it cannot
be differentiated, and what to do about it.  Exceptions that the user's own code raises are never
wrapped.
"""

from __future__ import annotations

__all__ = [
    "AdbcError",
    "ArgumentError",
    "ConstWriteError",
    "DebugError",
    "InvalidTangentError",
    "LiftError",
    "MissingRuleError",
    "NotFiniteError",
    "PullbackConsumedError",
    "UnsupportedError",
    "VerificationError",
]


class AdbcError(Exception):
    """The base of all errors that adbc raises."""


class ArgumentError(AdbcError, TypeError):
    """A function of the public interface was asked for something that has no meaning."""


class LiftError(AdbcError):
    """A function cannot be lifted: it uses a construct that is refused, or has no bytecode."""


class UnsupportedError(AdbcError):
    """A derivative cannot be formed here: the construct is understood, but has none."""


class MissingRuleError(AdbcError):
    """An active value reached a function implemented in C that has no rule."""


class ConstWriteError(AdbcError):
    """An active value was written into an object that is constant in this call.

    Constant is what was declared `adbc.Const`, and an array or a list of numbers that nobody asks for and
    that the function only reads, where the write reached it by a name of which the call did not know.
    """

    remedy = (
        "do not declare it adbc.Const; if it is an argument that is written to through a global as well, name"
        " it in argnums; or write into a copy"
    )


class InvalidTangentError(AdbcError, TypeError):
    """A tangent, cotangent, fdata or rdata does not fit its primal."""


class PullbackConsumedError(AdbcError):
    """A pullback was run a second time."""


class DebugError(AdbcError):
    """A rule does not keep its contract (found in debug mode): a bug in the rule."""


class NotFiniteError(AdbcError, ArithmeticError):
    """A tangent or cotangent is infinite or not a number (found where that is traced)."""


class VerificationError(AdbcError):
    """A graph or code object breaks an invariant: a bug in adbc."""
