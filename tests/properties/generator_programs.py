"""Random programs with generators that are asked, sent values, run through and closed, where exceptions are
caught and where they are not; some generators catch exceptions themselves, or delegate."""

from __future__ import annotations

import linecache
import math
import random
from collections.abc import Callable
from typing import Any

import adbc
from adbc.errors import AdbcError, VerificationError

__all__ = ["GeneratorProgram", "check"]

_NAMES = ("a", "b", "k")
_VALUES = (
    "{p} * {q}", "{p} + 0.3 * {q}", "math.sin({p})", "{p} - k * {q}", "k", "{p}", "{p} * 0.9",
)  # fmt: skip
_CAUGHT = (
    "ValueError",
    "StopIteration",
    "(ValueError, StopIteration)",
    "TypeError",
    "Exception",
    "Exception",
)
_SENT = ("None", "t * 0.1", "k", "0.2")


class GeneratorProgram:
    """A function of a number that makes two generators, and its source."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.choose = random.Random(seed)
        self.lines: list[str] = []
        self.source = self._written()
        name = f"<generators {seed}>"
        linecache.cache[name] = len(self.source), None, self.source.splitlines(True), name
        space: dict[str, Any] = {}
        exec(compile(self.source, name, "exec"), space)
        self.function: Callable[[float], float] = space["f"]

    def _written(self) -> str:
        self._put(0, "import math", "", "def make(k, log):")
        self._put(1, "a, b, s = k * 0.5, 1.0 - k, None")
        self._steps(1)
        self._put(1, "yield a")
        self._put(0, "", "def f(k):")
        self._put(1, "log, t = [], k", "g, h = make(k, log), make(k * 0.7, log)")
        for _ in range(self.choose.randint(2, 4)):
            if self.choose.random() < 0.7:
                self._caught(1)
            else:
                self._uses(1)
        self._put(1, "for q in log:")
        self._put(2, "t += q * 0.01")
        self._put(1, "return t")
        return "\n".join(self.lines) + "\n"

    def _put(self, depth: int, *lines: str) -> None:
        self.lines += ["    " * depth + line for line in lines]

    def _value(self) -> str:
        return self.choose.choice(_VALUES).format(p=self.choose.choice(_NAMES), q=self.choose.choice(_NAMES))

    def _steps(self, depth: int) -> None:
        """What a generator does."""
        pick = self.choose.choice
        for _ in range(self.choose.randint(1, 3)):
            v, chance = pick(_NAMES), self.choose.random()
            if chance < 0.35:
                self._put(depth, f"s = yield {self._value()}", "if s is not None:")
                self._put(depth + 1, f"{v} = {v} * 0.5 + s * {pick(('0.3', 'k'))}")
            elif chance < 0.5:
                self._put(depth, f"yield {self._value()}")
            elif chance < 0.62:
                self._put(depth, f"{v} = {self._value()}")
            elif chance < 0.69:
                self._put(depth, f"if {v} > {pick(('0.4', '0.9', '1.5'))}:")
                self._put(depth + 1, "raise ValueError('v')")
            elif chance < 0.75:
                self._put(depth, f"log.append({v})")
            elif chance < 0.79:
                self._put(depth, f"if {v} > 1.2:")
                self._put(depth + 1, "return")
            elif chance < 0.82:
                self._put(depth, f"yield from [{self._value()}, {v}]")
            elif chance < 0.85 and depth < 3:
                self._put(depth, "try:")
                self._steps(depth + 1)
                self._put(depth, "finally:")
                self._put(depth + 1, f"log.append({v} * 0.5)")
            elif depth < 3:
                loop = f"for i in range({self.choose.randint(1, 4)}):"
                self._put(depth, pick((loop, f"if {self._value()} > 0.5:")))
                self._steps(depth + 1)
            else:
                self._put(depth, f"yield {v}")

    def _caught(self, depth: int) -> None:
        self._put(depth, "try:")
        self._uses(depth + 1)
        self._put(depth, f"except {self.choose.choice(_CAUGHT)}:")
        self._put(depth + 1, "t = t * 0.9 + 0.1 * k")
        if self.choose.random() < 0.3:
            self._put(depth + 1, f"t += next({self.choose.choice('gh')}, 0.5)")

    def _uses(self, depth: int) -> None:
        """What is done with generators."""
        pick = self.choose.choice
        for _ in range(self.choose.randint(1, 3)):
            g, chance = pick("gggh"), self.choose.random()
            if chance < 0.2:
                self._put(depth, f"t += next({g}, 0.25) * 1.1")
            elif chance < 0.35:
                self._put(depth, f"t = t * 0.9 + next({g})")
            elif chance < 0.57:
                self._put(depth, f"t += ({g}.send({pick(_SENT)}) or 0.1) * 0.7")
            elif chance < 0.62:
                self._put(depth, f"{g}.close()")
            elif chance < 0.75:
                self._put(depth, f"for v in {g}:")
                self._put(depth + 1, "t += v * 0.3")
                if self.choose.random() < 0.5:
                    self._put(depth + 1, f"if t > {pick(('0.8', '2.0'))}:")
                    self._put(depth + 2, "break")
                if self.choose.random() < 0.3:
                    self._put(depth + 1, "log.append(t)")
            elif depth < 4 and self.choose.random() < 0.6:
                self._caught(depth)
            elif depth < 4:
                self._put(depth, f"for j in range({self.choose.randint(1, 4)}):")
                self._uses(depth + 1)
            else:
                self._put(depth, f"t += next({g}, t)")


def check(program: GeneratorProgram) -> str | None:
    """Compare value, exception and derivative in both modes with the plain function, four times.

    Returns why nothing was compared, if it was refused or has a kink."""
    f, h, answer = program.function, 1e-6, None
    for x in (0.7, 0.3):
        before, wanted, after = (_outcome(f, z) for z in (x - h, x, x + h))
        for _ in range(4):
            forwards = _outcome(lambda z: adbc.jvp(f, (z,), (1.0,)), x)
            backwards = _outcome(adbc.value_and_grad(f), x)
            if isinstance(forwards, AdbcError) or isinstance(backwards, AdbcError):
                refused = forwards if isinstance(forwards, AdbcError) else backwards
                return f"refused: {str(refused).partition(' in ')[0][:60]}"
            if isinstance(wanted, BaseException):
                assert repr(forwards) == repr(backwards) == repr(wanted), (forwards, backwards, wanted)
                answer = f"raises {type(wanted).__name__}"
                continue
            (value, tangent), (same_value, slope) = forwards, backwards
            assert value == wanted and same_value == wanted, (value, same_value, wanted)
            assert math.isclose(slope, tangent, rel_tol=1e-9, abs_tol=1e-9), (slope, tangent)
            if isinstance(before, BaseException) or isinstance(after, BaseException):
                continue
            if abs(after - 2.0 * wanted + before) < 1e-8:
                difference = (after - before) / (2.0 * h)
                assert math.isclose(slope, difference, rel_tol=1e-4, abs_tol=1e-4), (slope, difference)
    return answer


def _outcome(f: Callable[[float], Any], x: float) -> Any:
    """What `f` returns or raises."""
    try:
        return f(x)
    except VerificationError:
        raise
    except (ValueError, StopIteration, TypeError, RuntimeError, AttributeError, AdbcError) as error:
        return error
