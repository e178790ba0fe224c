"""``with``: managers written as classes and as generators, and those of the standard library."""

import contextlib

import numpy as np

from tests.programs.language.cases import Cases

case = Cases()


class Scale:
    """Multiplies an element on the way in and on the way out; swallows what it is told to."""

    def __init__(self, u, i, by, swallows=()):
        self.u, self.i, self.by, self.swallows = u, i, by, swallows

    def __enter__(self):
        self.u[self.i] *= self.by
        return self.u[self.i]

    def __exit__(self, kind, error, traceback):
        self.u[self.i] += self.by
        return kind is not None and issubclass(kind, self.swallows)


@case(1.5, [1.0, 2.0])
def plain(x, u):
    with Scale(u, 0, x) as y:
        u[1] *= y
    return u[0] * u[1]


@case(1.5, [1.0, 2.0])
def several(x, u):
    with Scale(u, 0, x) as a, Scale(u, 1, a) as b:
        u[0] *= b
    with Scale(u, 1, x), Scale(u, 0, x):
        u[1] *= u[0]
    return u[0] * u[1]


@case(1.5, [1.0, 2.0])
def swallows(x, u):
    with Scale(u, 0, x, KeyError):
        u[1] *= u[0]
        {}["k"]
        u[1] = 0.0
    return u[0] * u[1]


@case(1.5, [1.0, 2.0])
def does_not_swallow(x, u):
    try:
        with Scale(u, 0, x, KeyError):
            with Scale(u, 1, x, IndexError):
                u[1] *= u[0]
                u["k"]
    except TypeError:
        u[0] *= u[1]
    return u[0] * u[1]


@case(1.5, [1.0, 2.0])
def swallows_inside(x, u):
    with Scale(u, 0, x, KeyError):
        with Scale(u, 1, x, IndexError):
            u[1] *= u[0]
            u[7] = x
        u[0] *= u[1]
    return u[0] * u[1]


@case(1.5, [1.0, 2.0])
def left_by_return(x, u):
    def inner():
        with Scale(u, 0, x):
            return u[0] * u[1]

    return inner() * u[0]


@case(1.5, [1.0, 2.0])
def left_by_break(x, u):
    for i in range(5):
        with Scale(u, 0, x) as y:
            if i == 1:
                continue
            u[1] += y
            if i == 3:
                break
    return u[0] * u[1]


@case(1.5, {"k": 1.0}, [1.0, 2.0])
def targets(x, d, u):
    class Pair:
        def __enter__(self):
            return x, [x * x, u[0]]

        def __exit__(self, *details):
            d["k"] *= u[1]

    with Pair() as (d["k"], [u[0], *rest]), Pair() as pair:
        u[1] *= rest[0] * pair[0]
    return d["k"] * u[0] * u[1]


@contextlib.contextmanager
def scaled(u, i, by):
    old = u[i]
    u[i] *= by
    try:
        yield u[i] * by
    except KeyError:
        u[i] += by
    else:
        u[i] *= old
    finally:
        u[i] *= by


@case(1.5, [1.0, 2.0])
def generator(x, u):
    with scaled(u, 0, x) as y:
        u[1] *= y
    return u[0] * u[1]


@case(1.5, [1.0, 2.0])
def generator_swallows(x, u):
    with scaled(u, 0, x) as y:
        u[1] *= y
        raise KeyError("k")
    return u[0] * u[1]


@case(1.5, [1.0, 2.0])
def generator_does_not_swallow(x, u):
    try:
        with scaled(u, 0, x) as y:
            u[1] *= y
            raise IndexError("i")
    except IndexError:
        u[1] += u[0]
    return u[0] * u[1]


@case(1.5, [1.0, 2.0])
def generator_as_decorator(x, u):
    @scaled(u, 0, x)
    def inner(y):
        u[1] *= y * u[0]
        return u[1]

    return inner(x) * u[0]


@case(1.5, [1.0, 2.0])
def decorator_class(x, u):
    class Timed(contextlib.ContextDecorator):
        def __enter__(self):
            u[0] *= x

        def __exit__(self, *details):
            u[0] += u[1]

    @Timed()
    def inner(y):
        u[1] *= y
        return u[0]

    return inner(x) * inner(u[1]) * u[0]


@case(1.5, [1.0, 2.0])
def exit_stack(x, u):
    with contextlib.ExitStack() as stack:
        for i in range(2):
            y = stack.enter_context(Scale(u, i, x))
            u[0] += y
        u[0] *= u[1]
    return u[0] * u[1]


@case(1.5, [1.0, 2.0])
def exit_stack_callbacks(x, u):
    def by(i, factor):
        u[i] *= factor

    with contextlib.ExitStack() as stack:
        stack.callback(by, 0, x)
        stack.callback(by, 1, factor=x * x)
        stack.push(lambda kind, error, traceback: u.append(u[0] * x))
        u[0] += u[1]
    return u[0] * u[1] * u[2]


@case(1.5, [1.0, 2.0])
def exit_stack_swallows(x, u):
    with contextlib.ExitStack() as stack:
        stack.enter_context(Scale(u, 0, x, KeyError))
        stack.enter_context(Scale(u, 1, x))
        u[0] *= u[1]
        raise KeyError("k")
    return u[0] * u[1]


@case(1.5, [1.0, 2.0])
def exit_stack_moved(x, u):
    with contextlib.ExitStack() as stack:
        stack.enter_context(Scale(u, 0, x))
        kept = stack.pop_all()
    u[1] *= u[0]
    kept.close()
    return u[0] * u[1]


@case(1.5, [1.0, 2.0])
def suppress(x, u):
    with contextlib.suppress(KeyError, IndexError):
        u[0] *= x
        u[7] *= x
        u[0] = 0.0
    return u[0] * u[1]


@case(1.5, [1.0, 2.0])
def closing(x, u):
    class Door:
        def close(self):
            u[0] *= x

    with contextlib.closing(Door()) as door:
        u[1] *= u[0]
        door.close()
    return u[0] * u[1]


@case(1.5, [1.0, 2.0])
def closing_a_generator(x, u):
    def steps():
        try:
            while True:
                u[0] *= x
                yield u[0]
        finally:
            u[1] *= u[0]

    with contextlib.closing(steps()) as g:
        y = next(g) * next(g)
    return y * u[0] * u[1]


@case(1.5, [1.0, 2.0])
def nullcontext(x, u):
    with contextlib.nullcontext(u) as v, contextlib.nullcontext(x * x) as y:
        v[0] *= y
    with contextlib.nullcontext():
        v[1] *= v[0]
    return u[0] * u[1]


@case(1.5, np.array([1.0, 0.0, 2.0]))
def errstate(x, u):
    with np.errstate(divide="ignore", invalid="ignore"):
        v = x / u
        u[0] *= x
    return np.sum(u * x) + v[0] * v[2]


@case(1.5, np.array([1.0, 4.0, 2.0]))
def errstate_as_decorator(x, u):
    @np.errstate(all="ignore")
    def inner(v):
        v[0] *= x
        return np.sqrt(v) / v

    return np.sum(inner(u)) * u[0]


@case(1.5, [1.0, 2.0])
def exit_raises(x, u):
    class Bad:
        def __enter__(self):
            u[0] *= x

        def __exit__(self, *details):
            u[1] *= u[0]
            raise ValueError

    try:
        with Bad():
            u[0] += x
            raise KeyError
    except ValueError as error:
        u[1] *= x if isinstance(error.__context__, KeyError) else 0.0
    return u[0] * u[1]


@case(1.5, [1.0, 2.0])
def nested_functions_of_a_manager(x, u):
    class Reenters:
        depth = 0

        def __enter__(self):
            self.depth += 1
            u[0] *= x + self.depth
            return self

        def __exit__(self, *details):
            u[1] += u[0] * self.depth
            self.depth -= 1

    r = Reenters()
    with r, r as s:
        with s:
            u[1] *= x
    return u[0] * u[1]
