"""A generator that sleeps in a handler: what it handles is nobody else's business meanwhile.

What is handled decides what a bare ``raise`` raises, what `sys.exception` says, and what an exception is
chained to.
"""

import contextlib
import sys

import pytest

import adbc


def say(what):
    print(what, repr(sys.exception()))


def steps(x):
    try:
        yield x
        raise KeyError("k")
    except KeyError:
        yield x * x
        say("first")
        try:
            raise IndexError("i")
        except IndexError:
            yield x * 3
            say("second")
        say("between")
        yield x * 5
    say("behind")
    yield 2 * x


def in_a_loop(x):
    total = 0.0
    for v in steps(x):
        say("loop")
        total += v * v
    return total


def in_a_handler(x):
    total = 0.0
    try:
        raise ValueError("o")
    except ValueError:
        for v in steps(x):
            say("loop")
            total += v * v
    return total


def from_several_handlers(x):
    made = steps(x)
    total = next(made)
    try:
        raise ValueError("o")
    except ValueError:
        total += next(made) ** 2
        say("inside")
    say("outside")
    try:
        raise OSError("p")
    except OSError:
        total += next(made) ** 2 + next(made) ** 2 + next(made) ** 2
        say("other")
    return total


def bare_raise(x):
    made = steps(x)
    total = next(made) + next(made)
    try:
        raise
    except RuntimeError as e:
        print(e)
        total *= x
    try:
        raise TypeError("n")
    except TypeError as e:
        print(repr(e.__context__))
    return total


def expression(x):
    return sum(v * x for v in steps(x))


def thrown_into(x):
    made = steps(x)
    total = next(made) + next(made)
    say("before")
    try:
        made.throw(OSError("thrown"))
    except OSError as e:
        print(repr(e.__context__))
    say("after")
    return total


def delegated(x):
    def outer():
        try:
            raise LookupError("outer")
        except LookupError:
            yield from steps(x)
            say("outer")

    total = 0.0
    for v in outer():
        say("loop")
        total += v**3
    return total


def endless(x):
    def retries():
        y = x
        while True:
            try:
                if y > 4.0:
                    raise OverflowError("o")
                yield y
                y *= 1.7
            except OverflowError:
                yield -y
                y /= 3.0

    made, total = retries(), 0.0
    for _ in range(7):
        total += next(made) ** 2
        say("step")
    return total


def different_handlers(x):
    def either(flag):
        try:
            raise ValueError("v") if flag else KeyError("k")
        except ValueError:
            y = x * 2.0
            yield y
        except KeyError:
            y = x * 3.0
            yield y
        finally:
            say("finally")
        yield y * y

    total = 0.0
    for flag in (True, False, True):
        for v in either(flag):
            say("loop")
            total += v
    return total


@contextlib.contextmanager
def entered(x):
    try:
        raise ValueError("v")
    except ValueError:
        yield x * x
        say("leaving")


def managed(x):
    with entered(x) as y:
        say("body")
        total = y * x
    say("end")
    return total


PROGRAMS = [
    in_a_loop, in_a_handler, from_several_handlers, bare_raise, expression, thrown_into, delegated, endless,
    different_handlers, managed,
]  # fmt: skip


@pytest.mark.parametrize("f", PROGRAMS)
@pytest.mark.parametrize("mode", ["reverse", "forward"])
def test_what_is_handled(f, mode, capsys):
    value = f(1.5)
    said = capsys.readouterr().out
    slope = (f(1.5 + 1e-6) - f(1.5 - 1e-6)) / 2e-6
    capsys.readouterr()
    for _ in range(4):
        if mode == "reverse":
            found = adbc.value_and_grad(f)(1.5)
        else:
            found = adbc.jvp(f, (1.5,), (1.0,))
        assert sys.exception() is None
        assert capsys.readouterr().out == said
        assert found[0] == value
        assert found[1] == pytest.approx(slope, rel=1e-6)


def chain(error):
    named = []
    while error is not None and len(named) < 8:
        named.append(str(error))
        error = error.__context__
    return " from ".join(named)


@contextlib.contextmanager
def replaces(error):
    try:
        yield
    finally:
        raise error


def of_managers(x):
    try:
        with contextlib.ExitStack() as stack:
            stack.enter_context(replaces(ValueError("third")))
            stack.enter_context(replaces(ValueError("second")))
            raise ValueError("first")
    except ValueError as e:
        print(chain(e))
    return x * x


def of_calls(x):
    def fail(error):
        raise error

    def fail_twice(error, another):
        try:
            fail(error)
        finally:
            fail(another)

    calls = [fail_twice, fail]
    try:
        raise KeyError("outer")
    except KeyError:
        try:
            fail_twice(ValueError("a"), ValueError("b"))
        except ValueError as e:
            print(chain(e))
        try:
            try:
                calls[1](ValueError("c"))
            finally:
                calls[0](ValueError("d"), ValueError(str(x > 1)))
        except ValueError as e:
            print(chain(e))
    return x**3


def of_generators(x):
    def reraises(error):
        try:
            yield x
        finally:
            raise error

    first, second = reraises(OSError("o")), reraises(LookupError("l"))
    total = next(first) * next(second)
    try:
        raise ValueError("v")
    except ValueError as e:
        try:
            second.throw(e)
        except LookupError as f:
            print(chain(f))
            try:
                first.throw(f)
            except OSError as g:
                print(chain(g))
    return total


@pytest.mark.parametrize("f", [of_managers, of_calls, of_generators])
@pytest.mark.parametrize("mode", ["reverse", "forward"])
def test_chains_of_exceptions(f, mode, capsys):
    f(1.5)
    said = capsys.readouterr().out
    for _ in range(4):
        if mode == "reverse":
            adbc.value_and_grad(f)(1.5)
        else:
            adbc.jvp(f, (1.5,), (1.0,))
        assert capsys.readouterr().out == said
