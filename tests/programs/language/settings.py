"""Numbers and switches that each thread has for itself."""

import contextlib
import threading

from tests.programs.language.cases import Cases

case = Cases()


class Settings(threading.local):
    """Is filled by its constructor, and looks at what it had when something is set."""

    factor = 2.0

    def __init__(self, **values):
        self.__dict__.update(values)

    def __setattr__(self, name, value):
        if getattr(self, name) is not value:
            super().__setattr__(name, value)


class Stack(threading.local):
    """Has nothing of its own."""


SETTINGS, PLAIN, STACK = Settings(evaluate=True, seen=[1.0], level=3.0), threading.local(), Stack()
PLAIN.weight = 2.0
STACK.levels = [1.0]


@contextlib.contextmanager
def evaluating(flag):
    before = SETTINGS.evaluate
    SETTINGS.evaluate = flag
    try:
        yield
    finally:
        SETTINGS.evaluate = before


@case(1.5, [1.0, 2.0])
def constants_of_a_thread(x, u):
    y = x if SETTINGS.evaluate else 1.0
    with evaluating(False):
        y *= 2.0 if SETTINGS.evaluate else u[0]
    return y * PLAIN.weight * SETTINGS.factor * STACK.levels[0] * SETTINGS.level * hasattr(PLAIN, "none")


@case(1.5, [1.0, 2.0])
def switched_for_a_while(x, u):
    with evaluating(False):
        u[0] *= x if SETTINGS.evaluate else x * x
    return u[0] * (x if SETTINGS.evaluate else 1.0) * PLAIN.weight


@case(1.5, [1.0, 2.0])
def numbers_with_a_derivative(x, u):
    SETTINGS.seen[0] *= x
    SETTINGS.level = SETTINGS.seen[0] * u[0]
    PLAIN.weight *= SETTINGS.level
    PLAIN.other = x
    STACK.levels.append(PLAIN.weight * PLAIN.other)
    y = STACK.levels.pop() * u[1] * SETTINGS.__dict__["level"] * len(vars(STACK)) * PLAIN.__dict__["weight"]
    del PLAIN.other
    SETTINGS.seen[0], SETTINGS.level, PLAIN.weight = 1.0, 3.0, 2.0
    return y * getattr(PLAIN, "other", x)


@case(1.5, [1.0, 2.0])
def made_in_the_function(x, u):
    local, settings = threading.local(), Settings(evaluate=1.0, seen=u)
    local.x = x
    settings.seen[0] *= local.x
    settings.evaluate = settings.seen[0] * settings.factor
    return settings.evaluate * local.x * u[0]


class Options:
    """Takes over whatever it is given, as one dict of attributes."""

    def __init__(self, **values):
        self.__dict__ |= values
        self.__class__ = Options


@case(1.5, [1.0, 2.0])
def attributes_all_at_once(x, u):
    options = Options(x=x, u=u)
    options.__dict__ |= {"x": options.x * u[0], "y": x}
    options.u[1] *= options.y
    return options.x * options.y + sum(options.u) * len(vars(options))
