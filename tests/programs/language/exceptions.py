"""Exceptions in all their forms: what happened before them, in any frame, has a derivative."""

import math
import operator

import numpy as np

from tests.programs.language.cases import Cases

case = Cases()


@case(1.5, [1.0, 2.0], 0)
@case(1.5, [1.0, 2.0], 2)
def all_clauses(x, u, n):
    try:
        u[0] *= x
        u[1] = u[1] / (x if n else 0)
    except ZeroDivisionError:
        u[1] = u[0] * x
    else:
        u[1] += u[0] * x
    finally:
        u[0] += u[1] * x
    return u[0] * u[1]


@case(1.5, [1.0, 2.0])
def nested(x, u):
    try:
        try:
            u[0] = u[0] * x
            u[5] = x
        except KeyError:
            u[1] = 0.0
        finally:
            u[1] = u[0] * u[1]
            try:
                {}["k"]
            except KeyError:
                u[0] *= u[1]
    except IndexError:
        u[1] += x * u[0]
    return u[0] * u[1]


@case(1.5, [1.0, 2.0])
def raised_again(x, u):
    def inner():
        try:
            u[0] *= x
            raise KeyError("k")
        except KeyError:
            u[1] *= u[0]
            raise

    try:
        inner()
    except LookupError:
        u[0] += u[1] * x
    return u[0] * u[1]


@case(1.5, [1.0, 2.0])
def raised_again_behind_a_variable(x, u):
    def inner():
        nonlocal x
        try:
            u[0] *= u[1]
            raise KeyError("k")
        except KeyError:
            x *= 5
            raise

    try:
        inner()
    except LookupError:
        u[1] += u[0] * x
    return u[1] * x


@case(1.5, [1.0, 2.0])
def raised_from(x, u):
    try:
        try:
            u[0] *= x
            raise KeyError("k")
        except KeyError as error:
            u[1] *= u[0]
            raise ValueError("v") from error
    except ValueError as error:
        if isinstance(error.__cause__, KeyError):
            u[0] += u[1] * x
    return u[0] * u[1]


@case(1.5, [1.0, 2.0])
def raised_from_none(x, u):
    try:
        try:
            u[0] *= x
            u["k"]
        except TypeError:
            u[1] *= u[0]
            raise ValueError("v") from None
    except ValueError as error:
        if error.__cause__ is None and error.__suppress_context__:
            u[0] += u[1] * x
    return u[0] * u[1]


@case(1.5, [1.0, 2.0])
def context_seen(x, u):
    try:
        try:
            u[0] *= x
            math.sqrt(-u[0])
        except ValueError:
            u[1] *= u[0]
            u["k"]
    except TypeError as error:
        if isinstance(error.__context__, ValueError):
            u[0] += u[1] * x
    return u[0] * u[1]


@case(1.5, [1.0, 2.0])
def groups(x, u):
    try:
        u[0] *= x
        raise ExceptionGroup("g", [ValueError("a"), KeyError("b"), TypeError("c")])
    except* ValueError as group:
        u[1] = u[0] * x * len(group.exceptions)
    except* (KeyError, TypeError) as group:
        u[0] += u[1] * len(group.exceptions)
    return u[0] * u[1]


@case(1.5, [1.0, 2.0])
def group_of_a_plain_exception(x, u):
    try:
        u[0] *= x
        raise ValueError("a")
    except* ValueError as group:
        u[1] = u[0] * x * len(group.exceptions)
    else:
        u[1] = 0.0
    finally:
        u[0] += u[1]
    return u[0] * u[1]


@case(1.5, [1.0, 2.0])
def group_partly_handled(x, u):
    try:
        try:
            u[0] *= x
            raise ExceptionGroup(
                "g", [ValueError("a"), ExceptionGroup("h", [KeyError("b"), ValueError("c")])]
            )
        except* ValueError:
            u[1] *= u[0]
    except ExceptionGroup as rest:
        u[0] += u[1] * x * len(rest.exceptions)
    return u[0] * u[1]


@case(1.5, [1.0, 2.0])
def group_with_a_failing_clause(x, u):
    try:
        try:
            raise ExceptionGroup("g", [ValueError("a"), KeyError("b")])
        except* ValueError:
            u[0] *= x
            raise TypeError("t")
        except* KeyError:
            u[1] *= u[0]
    except TypeError as error:
        u[0] += u[1] * len(error.__context__.exceptions)
    return u[0] * u[1]


@case(1.5, [1.0, 2.0])
def no_group(x, u):
    try:
        u[0] *= x
    except* ValueError:
        u[1] = 0.0
    return u[0] * u[1]


@case(0.5, [1.0, 2.0])
@case(1.5, [1.0, 2.0])
def from_c_functions(x, u):
    for f in (math.sqrt, math.log, math.asin):
        try:
            u[0] *= f(x - 1.0) + x
        except ValueError:
            u[1] += u[0] * x
    return u[0] * u[1]


@case(1.5, [1.0, 2.0, 3.0])
def from_methods_in_c(x, u):
    d = {"a": x}
    try:
        u[0] = d.pop("a") * x
        u[1] = d.pop("a")
    except KeyError:
        u[1] *= u[0]
    try:
        u.remove(-7.0)
    except ValueError:
        u[2] *= u[1]
    try:
        next(iter([]))
    except StopIteration:
        u[0] += u[2]
    return u[0] * u[1] * u[2]


@case(1.5, np.array([1.0, 3.0, 2.0]))
def from_a_ufunc(x, u):
    with np.errstate(divide="raise"):
        try:
            u[0] *= x
            u[:] = u / np.array([x, 0.0, 1.0])
        except FloatingPointError:
            u[1] = u[0] * x
    return u[0] * u[1] + u[2]


@case(1.5, np.array([1.0, -1.0, 2.0]))
def from_a_ufunc_in_a_callee(x, u):
    def root(v):
        v *= x
        return np.sqrt(v)

    with np.errstate(invalid="raise"):
        try:
            u[:] = root(u)
        except FloatingPointError:
            u[1] *= u[0]
    return u[0] * u[1] + u[2]


def spoils(u, x):
    u[0] *= x
    u[1:] += u[0]
    u[2] = u[1] * x
    raise ArithmeticError("half way")


@case(1.5, np.array([1.0, 0.5, 2.0]))
@case(1.5, [1.0, 0.5, 2.0])
def callee_mutates_then_raises(x, u):
    try:
        if isinstance(u, list):
            spoil_list(u, x)
        else:
            spoils(u, x)
    except (ArithmeticError, LookupError):
        u[1] *= u[2] * x
    return u[0] * u[1] + u[2]


def spoil_list(u, x):
    def deeper():
        u.append(u[0] * x)
        u[0] *= x
        del u[1]
        return u[17]

    u[1] = u[0] * u[1]
    deeper()


@case(1.5, [1.0, 0.5, 2.0])
def method_mutates_then_raises(x, u):
    class Box:
        def __init__(self):
            self.v = u[0] * x

        def spoil(self):
            self.v *= x
            self.w = self.v * u[1]
            u[2] = self.w
            raise RuntimeError

    box = Box()
    for _ in range(2):
        try:
            box.spoil()
        except RuntimeError:
            u[1] += box.w
    return box.v * box.w * u[1] + u[2]


@case(1.5, [1.0, 2.0])
def return_in_finally(x, u):
    def inner():
        try:
            u[0] *= x
            raise ValueError
        finally:
            u[1] *= u[0]
            return u[0] * x

    return inner() * u[1]


@case(1.5, [1.0, 2.0])
def return_overridden(x, u):
    def inner():
        try:
            return u[0] * x
        finally:
            u[0] *= x
            if u[0] > 0.0:
                return u[0] * u[1]

    return inner() * u[1]


@case(1.5, [1.0, 2.0])
def return_keeps_its_value(x, u):
    def inner():
        y = u[0] * x
        try:
            return y
        finally:
            u[0] *= y
            y = 0.0

    return inner() * u[0]


@case(1.5, [1.0, 2.0])
def break_in_finally(x, u):
    for i in range(4):
        try:
            u[0] *= x
            u[i]
        finally:
            u[1] += u[0] * i
            if i == 2:
                break
    return u[0] * u[1]


@case(1.5, [1.0, 2.0])
def continue_in_finally(x, u):
    for i in range(4):
        try:
            u[0] *= x
            u[i] += u[0]
        finally:
            u[1] += u[0] * i
            continue
    return u[0] * u[1]


@case(1.5, [1.0, 2.0])
def break_through_finally(x, u):
    while True:
        try:
            u[0] *= x
            if u[0] > 4.0:
                break
        finally:
            u[1] += u[0] * x
    return u[0] * u[1]


@case(1.5, [1.0, 2.0])
def bound_name_is_deleted(x, u):
    error = x
    u[0] *= error
    try:
        raise ValueError
    except ValueError as error:
        u[1] *= u[0]
    try:
        u[0] += error
    except UnboundLocalError:
        u[0] *= u[1]
    return u[0] * u[1]


@case(1.5, [1.0, 2.0])
def bound_name_is_rebound(x, u):
    try:
        u[0] *= x
        raise ValueError
    except ValueError as error:
        error = u[0] * x
        u[1] *= error
    return u[0] * u[1]


@case(1.5, [1.0, 2.0])
def name_of_a_class_in_a_tuple(x, u):
    kinds = (KeyError, IndexError)
    for key in (0, 7, "k"):
        try:
            u[key] *= x
        except kinds:
            u[1] *= u[0]
        except TypeError:
            u[0] += u[1]
    return u[0] * u[1]


@case(1.5, [1.0, 2.0])
def from_an_operator_written_in_python(x, u):
    class Spoils:
        def __mul__(self, other):
            u[0] *= other
            raise ArithmeticError

        def __getitem__(self, key):
            u[1] *= key
            raise IndexError

        @property
        def field(self):
            u[0] += u[1]
            raise AttributeError("field")

    s = Spoils()
    for use in (lambda: s * x, lambda: s[x], lambda: s.field):
        try:
            use()
        except (ArithmeticError, IndexError, AttributeError):
            u[1] += u[0] * x
    return u[0] * u[1]


@case(1.6, [1.0, 2.0])
def through_a_call_from_c(x, u):
    def key(v):
        u[0] *= x
        if v > 1.5:
            raise ValueError
        return -v

    try:
        u[1] = max([1.0, x, 2.0], key=key)
    except ValueError:
        u[1] *= u[0]
    try:
        list(map(key, [1.0, 2.0, 3.0]))
    except ValueError:
        u[1] += u[0]
    return u[0] * u[1]


@case(1.5, [1.0, 2.0])
def asserted(x, u):
    try:
        u[0] *= x
        assert u[0] > 10.0, f"{u[0]:.2f} is too small"
    except AssertionError as error:
        u[1] *= u[0] * (2.0 if "small" in str(error) else 1.0)
    assert u[1] > 0.0, "never"
    return u[0] * u[1]


@case(1.5, [1.0, 2.0])
def with_notes(x, u):
    try:
        try:
            u[0] *= x
            raise ValueError("v")
        except ValueError as error:
            error.add_note("a note")
            u[1] *= u[0]
            raise
    except ValueError as error:
        u[0] += u[1] * len(error.__notes__)
    return u[0] * u[1]


@case(1.5, [3.0, 2.0])
def retried(x, u):
    tries = 0
    while True:
        tries += 1
        try:
            u[0] -= x
            operator.index(u)
        except TypeError:
            u[1] *= x
            if tries < 3:
                continue
            return u[0] * u[1]


@case(1.5)
def unpacked_into_too_few_names(x):
    parts = (x, x * x, x)
    try:
        a, b = parts
        return a * b
    except ValueError:
        return x * x * x


@case(1.5, True)
@case(1.5, False)
def unpacked_by_their_number(x, is_pair):
    parts = (x, x * x) if is_pair else (x, x * x, math.sin(x))
    if is_pair:
        a, b = parts
    else:
        a, b, c = parts
        a *= c
    return a * b
