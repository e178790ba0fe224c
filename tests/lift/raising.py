"""Programs that catch, clean up and match; together with those of `corpus` they are `CASES`.

Most return a list that says what ran in which order, and what was being handled then.
"""

from __future__ import annotations

import collections
import contextlib
import sys
from typing import Any

from tests.lift.corpus import CASES, case

__all__ = ["CASES"]


class Own(Exception):
    """An exception of this module."""

    def __init__(self, value: Any = None) -> None:
        super().__init__(value)
        self.value = value


class Point:
    __match_args__ = ("x", "y")

    def __init__(self, x: Any, y: Any) -> None:
        self.x = x
        self.y = y


class Manager:
    """A context manager that notes what happens to it."""

    def __init__(self, log: list[Any], *, swallows: bool = False, fails: str = "") -> None:
        self.log = log
        self.swallows = swallows
        self.fails = fails

    def __enter__(self) -> Any:
        self.log.append("enter")
        if self.fails == "enter":
            raise Own("enter")
        return self

    def __exit__(self, kind: Any, error: Any, traceback: Any) -> Any:
        self.log.append(("exit", kind, str(error), traceback is None, handled()))
        if self.fails == "exit":
            raise Own("exit")
        return self.swallows


def handled() -> str:
    return repr(sys.exception())


def thrower(kind: Any, *arguments: Any) -> Any:
    """Raises if `kind` is an exception; else gives it back."""
    if isinstance(kind, type) and issubclass(kind, BaseException):
        raise kind(*arguments)
    return kind


# -- try / except / else / finally ---------------------------------------------------------------------


@case((4, 2), (1, 0), ("a", 1))
def catches(x, y):
    try:
        return x / y
    except ZeroDivisionError:
        return "zero"
    except TypeError as error:
        return str(error)


@case((ValueError,), (KeyError,), (IndexError,), (KeyboardInterrupt,), (1,))
def falls_through(kind):
    log = []
    try:
        log.append("try")
        log.append(thrower(kind, 1))
    except (ValueError, KeyError) as error:
        log.append(("except", repr(error), handled()))
    except IndexError:
        log.append(("index", handled()))
        raise
    else:
        log.append(("else", handled()))
    finally:
        log.append(("finally", handled()))
    log.append(handled())
    return log


@case((ValueError,), (1,))
def locals_at_the_raise(kind):
    a = b = 1
    try:
        a = 2
        b = thrower(kind)
        a = 3
        c = a + b
    except ValueError:
        return a, b
    return a, b, c


@case((ValueError, None), (None, ValueError), (None, None))
def maybe_unbound(first, second):
    try:
        thrower(first)
        x = 1
        thrower(second)
    except ValueError:
        pass
    return x


@case(([1, 0, "a", 4],), ([],))
def in_a_loop(xs):
    out = []
    for x in xs:
        try:
            out.append(4 / x)
        except ZeroDivisionError:
            out.append("zero")
            continue
        except TypeError:
            break
        finally:
            out.append(("done", x))
    else:
        out.append("else")
    return out


@case(([1, 0, 2],), ([0],), (["a"],))
def loop_in_a_try(xs):
    total = 0
    try:
        for x in xs:
            for y in range(x):
                total += y
            total += 1 / x
    except ZeroDivisionError as error:
        return total, str(error)
    return total


@case((0,), (1,), (2,), (3,))
def nested(n):
    log = []
    try:
        try:
            try:
                [Own, ValueError, KeyError, int][n]
                raise [Own, ValueError, KeyError, IndexError][n](n)
            except Own as error:
                log.append(repr(error))
                raise ValueError("inner") from error
            finally:
                log.append(("first", handled()))
        except ValueError as error:
            log.append((repr(error), repr(error.__context__), repr(error.__cause__)))
            raise KeyError("again") from None
        else:
            log.append("never")
        finally:
            log.append(("second", handled()))
    except KeyError as error:
        log.append((repr(error), repr(error.__context__), error.__suppress_context__, handled()))
    log.append(handled())
    return log


@case((True,), (False,))
def return_in_finally(fails):
    try:
        if fails:
            raise ValueError("lost")
        return "try"
    finally:
        return "finally"


@case((0,), (1,), (2,))
def return_through_finally(n):
    log = []
    for i in range(5):
        try:
            log.append(i)
            if i == n:
                if n == 1:
                    return log
                if n == 2:
                    break
                continue
        finally:
            log.append(("finally", i, handled()))
            if i == 3:
                break
    log.append("end")
    return log


@case((3,))
def continue_in_finally(n):
    out = []
    for i in range(n):
        try:
            raise Own(i)
        finally:
            out.append(handled())
            continue
    out.append(handled())
    return out


@case((3,))
def break_in_except(n):
    out = []
    while True:
        n -= 1
        try:
            1 / n
        except ZeroDivisionError as error:
            out.append(str(error))
            break
        finally:
            out.append(n)
    return out, handled()


@case(())
def name_is_deleted():
    error = 1
    try:
        raise Own("x")
    except Own as error:
        pass
    return error


@case(())
def name_is_rebound():
    try:
        raise Own("x")
    except Own as error:
        del error
        error = 2
        try:
            return error
        finally:
            error = 3


@case(())
def implicit_context():
    try:
        try:
            raise Own(1)
        except Own:
            raise KeyError(2)
    except KeyError:
        {}[3]


@case((Own,), (None,), ("text",), (ValueError("v"),))
def explicit_cause(cause):
    try:
        raise KeyError(1)
    except KeyError:
        raise Own(2) from cause


@case(())
def raise_again_outside():
    try:
        raise Own(1)
    except Own as error:
        kept = error
    raise kept


@case(())
def bare_raise_without():
    raise


@case(())
def bare_raise_in_callee():
    def again():
        raise

    try:
        raise Own(5)
    except Own:
        again()


@case((Own,), (3,), ((Own, int),))
def wrong_kind_to_catch(kind):
    try:
        raise ValueError("v")
    except kind:
        return "caught"


@case(())
def kind_is_found_by_raising():
    log = []
    try:
        raise ValueError(1)
    except log.missing:
        pass


@case(())
def handled_is_restored():
    log = [handled()]
    try:
        raise Own(1)
    except Own:
        log.append(handled())
        try:
            raise Own(2)
        except Own:
            log.append(handled())
        log.append(handled())
        for i in range(2):
            try:
                raise Own(3 + i)
            except Own:
                log.append(handled())
                continue
            finally:
                log.append(handled())
        log.append(handled())
    log.append(handled())
    return log


@case(())
def called_while_handling():
    try:
        raise Own("outer")
    except Own:
        log = handled_is_restored()
        try:
            implicit_context()
        except KeyError as error:
            chain = []
            while error is not None:
                chain.append(repr(error))
                error = error.__context__
        return log, chain, handled()


@case(())
def from_c():
    log = []
    for call in (
        lambda: int("x"),
        lambda: [].pop(),
        lambda: {}.popitem(),
        lambda: next(iter([])),
        lambda: abs(""),
    ):
        try:
            log.append(call())
        except Exception as error:
            log.append((type(error).__name__, str(error)))
    return log


@case(([3, 1, 2],), ([3, "a"],), (5,))
def sort_in_a_try(xs):
    try:
        xs.sort()
        a, b, c = xs
    except TypeError as error:
        return str(error)
    except (AttributeError, ValueError):
        return "no"
    return a, b, c


@case(({"a": 1},), ({},), (None,))
def subscripts_in_a_try(d):
    try:
        d["b"] = d["a"] + 1
        del d["a"]
        d["c"], d["d"] = 3, d["missing"]
    except KeyError as error:
        return error.args, d
    except TypeError:
        return d


@case((1,), ("a",))
def cells_in_a_try(x):
    y = 0

    def get():
        return x, y

    try:
        y = 1
        x = x + 1
        y = 2
    except TypeError:
        x = "caught"
    return get()


@case((3,), (0,))
def comprehension_in_a_try(x):
    y = "outer"
    try:
        z = [6 // (x - y) for y in range(3)]
    except ZeroDivisionError:
        return y, x
    return z, y


@case((0,), (1,))
def try_in_a_closure(x):
    def inner(y):
        nonlocal x
        try:
            x = 1 / y
        except ZeroDivisionError:
            x = "zero"
        return x

    return inner(x), x


@case((0,), (3,))
def while_in_a_try(n):
    i = 0
    try:
        while i < 10:
            i += 1
            if i == n:
                raise Own(i)
    except Own as error:
        return error.value
    else:
        return "else", i
    finally:
        i = 100


@case((5,))
def retry(n):
    tries = 0
    while True:
        tries += 1
        try:
            if tries < n:
                raise Own(tries)
            return tries
        except Own:
            if tries > 10:
                raise


@case((1,), (0,))
def conditional_values(x):
    return 1 + (catches(1, x) if x else catches(1, 0) == "zero"), [catches(1, 1), x and 1 / x]


@case((0,), (1,))
def operands_on_the_stack(x):
    try:
        return [1, 2, thrower(3), *(4, 5 / x), {"k": thrower(6)}]
    except ZeroDivisionError as error:
        return [str(error), f"{x!r:>4}"]


@case((True,), (False,))
def asserts(x):
    try:
        assert x, "message"
    except AssertionError as error:
        return str(error)
    return "fine"


@case((10,), (0,))
def very_deep(n):
    log = []
    try:
        try:
            try:
                try:
                    try:
                        10 / n
                    finally:
                        log.append(1)
                finally:
                    log.append(2)
            except ValueError:
                log.append("no")
            finally:
                log.append(3)
        except ZeroDivisionError:
            log.append("yes")
            raise Own(log) from None
    except Own as error:
        return error.value, handled()
    return log


@case((1,))
def sys_exit(code):
    try:
        sys.exit(code)
    finally:
        code = 2


@case((ValueError,), (KeyError,), (None,))
def finally_raises(kind):
    try:
        thrower(kind, "first")
    finally:
        raise Own("second")


# -- with ------------------------------------------------------------------------------------------------


@case((None, False), (ValueError, False), (ValueError, True), (KeyError, True))
def manages(kind, swallows):
    log = []
    with Manager(log, swallows=swallows) as manager:
        log.append(manager.swallows)
        thrower(kind, "in the body")
        log.append("end")
    log.append(handled())
    return log


@case(("enter", None), ("exit", None), ("exit", ValueError), ("", ValueError))
def manager_fails(fails, kind):
    log = []
    try:
        with Manager(log, fails=fails):
            thrower(kind, "v")
    except Exception as error:
        log.append((repr(error), repr(error.__context__)))
    return log


@case((None,), (ValueError,))
def two_managers(kind):
    log = []
    with Manager(log, swallows=True) as a, Manager(log) as b:
        log.append((a is b, handled()))
        thrower(kind)
        return log
    return "swallowed", log


@case((0,), (1,), (2,), (3,))
def jumps_out_of_with(n):
    log = []
    for i in range(3):
        with Manager(log):
            if n == 0:
                continue
            if n == 1:
                break
            if n == 2:
                return log
            log.append(i)
    return "end", log


@case((3,), (None,))
def no_manager(x):
    with x:
        return 1


@case(())
def manager_without_exit():
    class Half:
        def __enter__(self):
            return 1

    with Half():
        return 1


@case(())
def special_methods_of_the_class():
    log = []
    manager = Manager(log)
    manager.__enter__ = None
    manager.__exit__ = None
    with manager:
        log.append(1)
    return log


@case((ZeroDivisionError,), (ValueError,))
def suppresses(kind):
    with contextlib.suppress(ZeroDivisionError):
        thrower(kind)
        return "not raised"
    return "suppressed"


@case((1,), (0,))
def stack_of_managers(x):
    log = []
    with contextlib.ExitStack() as stack:
        stack.enter_context(Manager(log, swallows=True))
        stack.callback(log.append, "callback")
        log.append(1 / x)
    return log


@case((ValueError,), (KeyError,))
def try_around_with(kind):
    log = []
    try:
        with Manager(log) as m, contextlib.suppress(KeyError):
            thrower(kind, m.swallows)
    except ValueError as error:
        log.append((error.args, handled()))
    finally:
        log.append(handled())
    return log


# -- exception groups ------------------------------------------------------------------------------------


@case(
    ([ValueError(1)],),
    ([KeyError(2)],),
    ([ValueError(1), KeyError(2)],),
    ([OSError(3), ValueError(4)],),
    ([],),
)
def groups(errors):
    log = []
    try:
        if errors:
            raise ExceptionGroup("group", errors)
    except* ValueError as group:
        log.append(("value", repr(group), handled()))
    except* KeyError as group:
        log.append(("key", repr(group), handled()))
    else:
        log.append("else")
    finally:
        log.append(("finally", handled()))
    return log, handled()


@case(([ValueError(1), KeyError(2)],), ([KeyError(2)],))
def group_handler_raises(errors):
    try:
        raise ExceptionGroup("group", errors)
    except* ValueError:
        raise Own("in the handler")


@case((ValueError,), (KeyError,))
def bare_exception_as_group(kind):
    try:
        raise kind("bare")
    except* ValueError as group:
        return_value = repr(group)
    return return_value


@case(())
def group_raised_again():
    try:
        raise ExceptionGroup("g", [ValueError(1), ExceptionGroup("h", [TypeError(2), ValueError(3)])])
    except* ValueError:
        raise
    except* TypeError:
        pass


@case(())
def group_to_catch():
    try:
        raise ValueError(1)
    except* ExceptionGroup:
        pass


# -- match -------------------------------------------------------------------------------------------------


@case(
    ([],),
    ([1],),
    ([1, 2],),
    ([1, 2, 3, 4],),
    ("ab",),
    ((0, [1, 2]),),
    (range(3),),
    (collections.deque([7, 8]),),
)
def match_sequences(x):
    match x:
        case []:
            return "empty"
        case [a]:
            return "one", a
        case [0, [b, c]]:
            return "nested", b, c
        case (a, b):
            return "two", a, b
        case [first, *rest, last]:
            return first, rest, last
    return "other"


@case(({},), ({"k": 1},), ({"k": 2, "z": 3},), ({"a": {"b": 5}},), (3,), (collections.OrderedDict(k=1),))
def match_mappings(x):
    match x:
        case {"k": 1}:
            return "one"
        case {"k": v, **rest}:
            return v, rest
        case {"a": {"b": 5 | 6 as inner}}:
            return "inner", inner
        case {}:
            return "mapping"
        case _:
            return "other"


@case((Point(0, 0),), (Point(1, 2),), (Point(0, 3),), (3,), (3.5,), ("s",), (True,), (Point(Point(1, 1), 0),))
def match_classes(x):
    match x:
        case Point(0, 0):
            return "origin"
        case Point(x=0, y=y):
            return "axis", y
        case Point(Point(x=a), 0):
            return "in", a
        case Point(a, b):
            return a, b
        case bool() | str():
            return "bool or str"
        case int(n) if n > 2:
            return "int", n
        case float():
            return "float"


@case((1,))
def match_bad_class(x):
    match x:
        case int(1, 2):
            return 1


@case((Point,), (3,))
def match_not_a_class(kind):
    match Point(1, 2):
        case kind(1, 2):
            return "yes"
    return "no"


@case(([1, {"a": Point(2, [3])}],), ([1, {"a": 2}],), (None,), ({"x": 1, "y": [True]},))
def match_all_together(x):
    match x:
        case [int() as n, {"a": Point(y=[m])}] if m > n:
            return n, m
        case {"x": 1 | 2, "y": [True | False as flag]}:
            return flag
        case None:
            return "none"
    return "no match"


@case(([1, 2],), ([1, "a"],), (3,))
def match_in_a_try(x):
    try:
        match x:
            case [a, b]:
                return a + b
            case _:
                raise Own(x)
    except TypeError:
        return "type"
    except Own as error:
        match error:
            case Own(value=v):
                return v


@case((ValueError(1, 2),), (KeyError("k"),), (OSError(2, "no"),))
def match_exceptions(error):
    try:
        raise error
    except Exception as caught:
        match caught:
            case ValueError(args=(a, b)):
                return a, b
            case KeyError(args=[k]):
                return k
            case OSError(errno=n):
                return n


# -- classes -------------------------------------------------------------------------------------------------


@case((3,))
def makes_a_class(x):
    class Base:
        z = x

        def __init__(self, y):
            self.y = y

        def both(self):
            return self.y, x, __class__.__name__

    class Derived(Base):
        def both(self):
            return (*super().both(), self.z)

        try:
            w = 1 / (x - 3)
        except ZeroDivisionError:
            w = "zero"

    return Derived(5).both(), Derived.w


if sys.version_info >= (3, 12):
    _space: dict[str, Any] = {}
    exec(
        """
def type_parameters(x):
    type Alias = list[x]
    def generic[T: int, *Ts, **P](y: T) -> T:
        return y
    class Box[T]:
        item: T
    return Alias.__value__, [repr(t) for t in generic.__type_params__], generic(3), len(Box.__type_params__)
""",
        _space,
    )
    CASES += [(_space["type_parameters"], (int,))]
