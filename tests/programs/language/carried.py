"""Exceptions that carry numbers with a derivative from where they are raised to where they are caught."""

import contextlib

from tests.programs.language.cases import Cases

case = Cases()


class Found(Exception):
    """Has a field of its own beside its arguments."""

    def __init__(self, value, why="found"):
        super().__init__(why)
        self.value = value


class Pair(ValueError):
    """Passes its arguments on."""

    def __init__(self, a, b):
        super().__init__(a, b)
        self.a = a

    def product(self):
        return self.a * self.args[1]


class Bare(KeyError):
    """Has nothing of its own."""


@case(1.5, [1.0, 2.0])
def argument(x, u):
    try:
        u[0] *= x
        raise ValueError(u[0] * x)
    except ValueError as error:
        u[1] *= error.args[0]
    return u[0] * u[1]


@case(1.5, [1.0, 2.0])
def arguments(x, u):
    try:
        u[0] *= x
        raise RuntimeError("why", u[0] * x, u)
    except RuntimeError as error:
        why, y, v = error.args
        v[1] *= y * len(why)
        v.append(y)
    return u[0] * u[1] * u[2]


@case(1.5, [1.0, 2.0])
def field(x, u):
    try:
        u[0] *= x
        raise Found(u[0] * x)
    except Found as error:
        u[1] *= error.value
    return u[0] * u[1]


@case(1.5, [1.0, 2.0])
def field_set_later(x, u):
    try:
        error = Found(u)
        error.value = u[0] * x
        error.more = [x, x * x]
        u[0] *= x
        raise error
    except Found as caught:
        caught.more[0] *= caught.value
        u[1] *= caught.more[0] * caught.more[1]
        same = caught
    same.value *= x
    return u[0] * u[1] * same.value


@case(1.5, [1.0, 2.0])
def from_a_callee(x, u):
    def search(limit):
        for i in range(10):
            u[0] *= x
            if u[0] > limit:
                raise Found(u[0] * x, why=i)
        return x

    try:
        u[1] *= search(4.0)
    except Found as error:
        u[1] += error.value * error.args[0]
    return u[0] * u[1]


@case(1.5, [1.0, 2.0])
def through_two_frames(x, u):
    def inner(y):
        u[0] *= y
        raise Pair(y * x, u[0])

    def outer(y):
        try:
            inner(y * x)
        finally:
            u[1] *= u[0]

    try:
        outer(x)
    except ValueError as error:
        u[1] += error.product() * error.a
    return u[0] * u[1]


@case(1.5, [1.0, 2.0])
def raised_again(x, u):
    def inner():
        try:
            u[0] *= x
            raise Bare(x * x)
        except KeyError as error:
            u[1] *= error.args[0]
            raise

    try:
        inner()
    except LookupError as error:
        u[0] += u[1] * error.args[0]
    return u[0] * u[1]


@case(1.5, [1.0, 2.0])
def cause(x, u):
    try:
        try:
            u[0] *= x
            raise Found(u[0] * x)
        except Found as error:
            raise ValueError(u[1] * x) from error
    except ValueError as error:
        u[1] *= error.args[0] * error.__cause__.value
    return u[0] * u[1]


@case(1.5, [1.0, 2.0])
def context(x, u):
    try:
        try:
            u[0] *= x
            raise Found(u[0] * x)
        except Found:
            raise ValueError(u[1] * x)
    except ValueError as error:
        u[1] *= error.args[0] * error.__context__.value
    return u[0] * u[1]


@case(1.5, [1.0, 2.0])
def never_raised(x, u):
    error = Pair(x * x, u[0])
    u[1] *= error.product()
    errors = [ValueError(x), Found(x)]
    return u[1] * errors[0].args[0] * errors[1].value


@case(1.5, [1.0, 2.0])
def kept_for_later(x, u):
    errors = []
    for i in range(3):
        try:
            u[0] *= x
            raise Found(u[0] * i)
        except Found as error:
            errors.append(error)
    for error in errors:
        u[1] += error.value * x
    return u[0] * u[1]


@case(1.5, [1.0, 2.0])
def in_a_group(x, u):
    try:
        u[0] *= x
        raise ExceptionGroup("g", [Found(u[0] * x), ValueError(x)])
    except* Found as group:
        u[1] *= group.exceptions[0].value
    except* ValueError as group:
        u[1] += group.exceptions[0].args[0] * x
    return u[0] * u[1]


@case(1.5, [1.0, 2.0])
def by_a_manager(x, u):
    class Catches:
        def __enter__(self):
            return self

        def __exit__(self, kind, error, traceback):
            u[1] *= error.value
            self.caught = error
            return True

    with Catches() as catches:
        u[0] *= x
        raise Found(u[0] * x)
    return u[0] * u[1] * catches.caught.value


@case(1.5, [1.0, 2.0])
def thrown_into_a_generator(x, u):
    def steps():
        y = x
        while True:
            try:
                yield y
            except Found as error:
                y *= error.value
                u[0] *= y

    g = steps()
    next(g)
    u[1] *= g.throw(Found(x * u[0]))
    y = next(g)
    g.close()
    return u[0] * u[1] * y


@case(1.5, [1.0, 2.0])
def raised_by_a_generator(x, u):
    def steps():
        u[0] *= x
        yield u[0]
        raise Found(u[0] * x)

    try:
        for y in steps():
            u[1] *= y
    except Found as error:
        u[1] += error.value
    return u[0] * u[1]


@case(1.5, [1.0, 2.0])
def value_of_stop_iteration(x, u):
    def steps():
        u[0] *= x
        yield u[0]
        u[1] *= x
        return u[1] * x

    g = steps()
    y = next(g)
    try:
        next(g)
    except StopIteration as stop:
        y *= stop.value * stop.args[0]
    return y * u[0] * u[1]


@case(1.5, [1.0, 2.0])
def value_of_stop_iteration_after_send(x, u):
    def steps():
        got = yield u[0]
        u[1] *= got
        return [got, u[1]]

    g = steps()
    y = next(g) * x
    try:
        g.send(y)
    except StopIteration as stop:
        stop.value[0] *= x
        y *= stop.value[0] * stop.value[1]
    return y * u[0] * u[1]


@case(1.5, [1.0, 2.0])
def stop_iteration_of_a_class(x, u):
    class Steps:
        def __init__(self):
            self.n = 0

        def __iter__(self):
            return self

        def __next__(self):
            self.n += 1
            u[0] *= x
            if self.n > 2:
                raise StopIteration(u[0] * x)
            return u[0]

    def outer():
        r = yield from Steps()
        u[1] *= r
        yield r

    return sum(outer()) * u[1]


@case(1.5, [1.0, 2.0])
def through_a_contextmanager(x, u):
    @contextlib.contextmanager
    def scaled():
        try:
            yield u[0] * x
        except Found as error:
            u[1] *= error.value

    with scaled() as y:
        u[0] *= y
        raise Found(u[0] * y)
    return u[0] * u[1]


@case(1.5, [1.0, 2.0])
def from_a_library(x, u):
    with contextlib.suppress(ValueError):
        u[0] *= x
        raise ValueError(u[0])
    return u[0] * u[1]


class Tree(Exception):
    """Has a constructor of its own for the allocation, a slot, and a property."""

    __slots__ = ("left",)

    def __new__(cls, left, right):
        self = super().__new__(cls, left)
        self.left = left * 2.0
        return self

    def __init__(self, left, right):
        self.right = right

    @property
    def total(self):
        return self.left + self.right * self.args[0]


@case(1.5, [1.0, 2.0])
def slots_and_properties(x, u):
    try:
        u[0] *= x
        raise Tree(u[0] * x, x)
    except Tree as error:
        u[1] *= error.total
        error.args = (x * x, u)
        error.args[1][0] *= error.args[0]
    return u[0] * u[1]


class Located(Exception):
    """Keeps what it is made of in slots, one of which has the name of what every exception has."""

    __slots__ = ("args", "place", "text")

    def __init__(self, text, place=0, why=None):
        self.place, self.text = place, text
        self.args = (text, place, why)


class Syntax(Located):
    """Is caught as the other."""


class Computed(ValueError):
    """Computes what others keep."""

    def __init__(self, value, factor):
        self.value = value
        self.factor = factor

    @property
    def args(self):
        return self.value * self.factor, self.factor


@case(1.5, [1.0, 2.0])
def arguments_in_a_slot(x, u):
    try:
        u[0] *= x
        raise Syntax("text", u[0] * x)
    except Located as error:
        u[1] *= error.args[1] * error.place * len(error.args[0])
        error.args = (x, u[1])
    try:
        raise error_of("constant", x)
    except Syntax as error:
        return error.args[1] * u[1] * len(error.text)


def error_of(text, x):
    made = Syntax(text)
    made.args = (text, x * x)
    return made


@case(1.5, [1.0, 2.0])
def arguments_that_are_computed(x, u):
    try:
        raise Computed(x, u)
    except TypeError:
        return x
    except ValueError as error:
        error.factor = u[0] * x
        u[1] *= error.args[0] * error.args[1]
    return u[0] * u[1] * x


@case(1.5, [1.0, 2.0])
def made_before_it_is_raised(x, u):
    known = Located("constant", 2.0)
    try:
        u[0] *= x
        raise known
    except Located as error:
        return u[0] * error.args[1] * error.place * x


@case(1.5, [1.0, 2.0])
def value_of_stop_iteration_from_below(x, u):
    def steps():
        u[0] *= x
        yield u[0]
        return u[1] * x

    def exhausted():
        g = steps()
        u[1] *= next(g)
        next(g)

    try:
        exhausted()
    except StopIteration as stop:
        return stop.value * u[1] + u[0]


@case(1.5, [1.0, 2.0])
def stop_iteration_without_a_value(x, u):
    try:
        return next(v * x for v in u if v > 5.0)
    except StopIteration as stop:
        return x * u[1] if stop.value is None else x
