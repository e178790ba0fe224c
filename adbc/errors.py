"""The exceptions of adbc: one tree under `AdbcError`.

Every message says, in this order, what was met and where (the public function of the library that it
happened in, and the line of the user's that called it), why it cannot be differentiated, and what to do
about it.  Whoever raises gives the parts; the place is added where the error leaves adbc
(`runtime.report.tracebacks.leave`), so that tangents and rules need to know nothing of frames.  Exceptions
that the user's own code raises are never wrapped.
"""

from __future__ import annotations

__all__ = [
    "AdbcError",
    "ArgumentError",
    "BatchError",
    "ConstWriteError",
    "DebugError",
    "InvalidTangentError",
    "LiftError",
    "MissingRuleError",
    "NativeError",
    "NotFiniteError",
    "PullbackConsumedError",
    "UnsupportedError",
    "VerificationError",
]


class AdbcError(Exception):
    """The base of all errors that adbc raises.

    Exceptions of the function that is differentiated pass through as they are, and are not of this class.

    met: what was met, in plain words, or the whole message.  why: the reason, as a clause.  remedy: what to
    do, as a sentence, or clauses that begin with a verb.

    >>> import adbc
    >>> try:
    ...     adbc.grad(lambda n: n * n)(3)
    ... except adbc.AdbcError as error:
    ...     type(error).__name__
    'ArgumentError'
    """

    place: str | None = None
    """Where it was met, as words that follow what was: "in scipy.linalg.cholesky, called from ..."."""
    remedy: str | None = None

    def __init__(self, met: str = "", why: str | None = None, remedy: str | None = None) -> None:
        given = (met, why, remedy)
        super().__init__(*given[: 3 if remedy is not None else 2 if why is not None else 1])
        self.met, self.why = met, why
        if remedy is not None:
            self.remedy = remedy

    def __str__(self) -> str:
        """The parts in their order: what was met, where; why; what to do."""
        text = self.met
        if self.place is not None:
            text = f"{text}, {self.place}" if self.why or self.remedy else f"{text} ({_capital(self.place)}.)"
        if self.why:
            text = f"{text}: {self.why}"
        if self.remedy:
            text = f"{text}. {_capital(self.remedy)}"
        return text


class ArgumentError(AdbcError, TypeError):
    """A function of the public interface was asked for something that has no meaning."""


class LiftError(AdbcError):
    """A function cannot be lifted: it uses a construct that is refused, or has no bytecode."""


class NativeError(AdbcError):
    """``Config(backend="native")`` asks for machine code, and there is none for a function: the message has
    the reasons, with lines."""


class UnsupportedError(AdbcError):
    """A derivative cannot be formed: the construct is understood, but has no derivative."""


class BatchError(UnsupportedError):
    """Something was asked of a batch of tangents that cannot be answered for all lanes at once.

    A batch carries N tangents through one run of a function (`adbc.jvp` with ``width=N``).  What cannot be
    done with it can be done lane by lane: by `adbc.jvp` without `width`, once for each tangent.
    """


class MissingRuleError(AdbcError):
    """An active value, one that depends on what is differentiated, reached a function implemented in C that
    has no rule.

    The message names the function, the classes of its arguments, the line of the call and the remedies:
    declare a rule (`adbc.rule`, `adbc.scalar_rule`, `adbc.primitive`), keep active values away
    (`adbc.stop_gradient`), or declare that the derivative is zero, if it is (`adbc.zero_derivative`).

    >>> import struct, adbc
    >>> try:
    ...     adbc.grad(lambda x: struct.unpack("d", struct.pack("d", x))[0])(1.0)
    ... except adbc.MissingRuleError as error:
    ...     str(error).split(",")[0]
    'struct.pack(str'
    """


class ConstWriteError(AdbcError):
    """An active value was written into an object that is constant in this call.

    Constant is what was declared `adbc.Const`, and an array or a list of numbers whose derivative nobody asks
    for and that the function only reads, as far as could be seen when it was called: the write reached it by
    another name.
    """

    remedy = (
        "if it is an argument, also one that is written to by another name, give its number in argnums, and"
        " do not declare it adbc.Const; or write into a copy"
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


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
