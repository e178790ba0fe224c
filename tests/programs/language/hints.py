"""What is asked of an iterable or mapping by those who go through it, how often, and in which order."""

import itertools
import math

import numpy as np

from tests.programs.language.cases import Cases

case = Cases()


class Sized:
    def __init__(self, log, x):
        self.log, self.x = log, x

    def __iter__(self):
        self.log.append(self.x)
        return iter([self.x, self.x * 2])

    def __len__(self):
        self.log.append(self.x * 10)
        return 2


class Guessed(Sized):
    def __init__(self, log, x, guess):
        self.log, self.x, self.guess = log, x, guess

    def __len__(self):
        self.log.append(self.x * self.x)
        raise TypeError("not sized")

    def __length_hint__(self):
        self.log.append(self.x * 100)
        return self.guess


def gone_through(h):
    extended = []
    extended.extend(h)
    extended += h
    extended[0:1] = h
    first, *rest = h
    p, q = h
    (lambda *a: a)(*h)
    (lambda *a: a)(1, *h)
    parts = [list(h), tuple(h), [*h], (*h, 1.0), extended, sorted(h), rest, [first, p, q]]
    parts.append(list(zip(h, h, strict=True))[0])
    parts.append(list(itertools.product(h, [1.0]))[0])
    return math.prod([sum(part) for part in parts]) * max(h) * min(h) * sum(h) * math.prod(h)


@case(1.3)
def lengths(x):
    log = []
    return gone_through(Sized(log, x)) * 1e-6 + sum(log) * len(log)


@case(1.3)
def hints(x):
    log = []
    value = gone_through(Guessed(log, x, 3)) * 1e-6 + gone_through(Guessed(log, x, NotImplemented)) * 1e-6
    failed = 0
    for wrong in (-1, "three"):
        for through in (list, sorted, lambda h: [*h]):
            try:
                through(Guessed(log, x, wrong))
            except (TypeError, ValueError) as error:
                failed += len(str(error))
    return value + sum(log) * len(log) * failed


@case(1.3)
def values_are_compared_and_added_as_they_come(x):
    state = [x]

    class Term:
        def __radd__(self, other):
            return other + state[0]

    def terms():
        for _ in range(4):
            state[0] *= x
            yield Term()

    def values():
        for i in range(4):
            state[0] += 1.0
            yield x * (i + 1)

    largest = max(values(), key=lambda v: v * (-1) ** int(state[0]))
    return sum(terms()) * largest + sum(itertools.islice(terms(), 2), x)


@case(1.3)
def no_more_is_taken_than_is_unpacked(x):
    taken = []

    def endless():
        while True:
            taken.append(x)
            yield x

    try:
        a, b = endless()
    except ValueError:
        return sum(taken) * len(taken)


class Mapping:
    def __init__(self, log, x):
        self.log, self.x = log, x

    def keys(self):
        for key in ("a", "b"):
            self.log.append(self.x)
            yield key

    def __getitem__(self, key):
        self.log.append(self.x * len(self.log))
        return self.x * (1 + "ab".index(key))


@case(1.3)
def mappings(x):
    log = []
    m = Mapping(log, x)

    def f(**named):
        return named["a"] * named["b"]

    given = {}
    given.update(m)
    value = dict(**m)["a"] * f(**m) * {**m}["b"] * dict(m)["b"] * given["b"]
    try:
        f(a=1.0, **m)
    except TypeError as error:
        value *= len(str(error))
    return value + sum(log)


@case(1.3)
def fresh_containers_of_a_callee(x):
    def wrap(function):
        def wrapped(*args, **named):
            named.update(zip(("y",), args, strict=True))
            named.setdefault("z", 2.0)
            return function(**named)

        return wrapped

    @wrap
    def f(y, z):
        return y * z * y

    return f(x)


class Declining:
    def __init__(self, x):
        self.x = x

    def __radd__(self, other):
        return NotImplemented

    def __iter__(self):
        return iter([self.x])


class Answering(Declining):
    def __radd__(self, other):
        return [self.x * len(other)]


@case(1.3)
def numbers_are_asked_before_lists_are_joined(x):
    added = [x, x]
    kept = added
    added += np.array([1.0, x])
    joined = [x]
    same = joined
    joined += Declining(x)
    other = [x, 2.0]
    other += Answering(x)
    return added.sum() * len(kept) * sum(same) * other[0]
