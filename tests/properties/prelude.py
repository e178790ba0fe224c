"""What random functions call: functions, classes, managers and generators, all of them smooth."""

PRELUDE = '''
import contextlib
import math

import numpy as np


class A(Exception):
    pass


class B(A):
    pass


class C(Exception):
    pass


class Pair:
    def __init__(self, u, v):
        self.u = u
        self.v = v

    def mix(self, t):
        self.u += 0.25 * t
        return math.sin(self.u - self.v)

    @property
    def total(self):
        return self.u + 0.5 * self.v

    @total.setter
    def total(self, value):
        self.u = 0.5 * value
        self.v = self.v - 0.25 * value

    def __iter__(self):
        yield self.u
        yield self.v

    def __getitem__(self, i):
        return self.v if i % 2 else self.u

    def __setitem__(self, i, t):
        if i % 2:
            self.v = t
        else:
            self.u = t

    def __call__(self, t):
        return 0.5 * t + 0.25 * self.v

    def __add__(self, other):
        return Pair(0.5 * (self.u + other.u), 0.5 * (self.v - other.v))


class Manager:
    """Adds to a list on entry, takes off on exit; swallows exceptions of the kinds given."""

    def __init__(self, log, value, *kinds):
        self.log = log
        self.value = value
        self.kinds = kinds

    def __enter__(self):
        self.log.append(self.value)
        return 0.5 * self.value

    def __exit__(self, kind, error, traceback):
        self.log[0] += 0.25 * self.log.pop()
        return kind is not None and issubclass(kind, self.kinds)


@contextlib.contextmanager
def scope(log, t):
    log.append(0.5 * t)
    try:
        yield math.cos(t)
    except A:
        log[0] = 0.5 * log[0] + 0.1 * t
    finally:
        log[-1] = 0.5 * log.pop() + 0.25 * t if len(log) > 1 else t


def wave(t, s=0.5):
    return math.sin(t) * s


def blend(t, s):
    if s is None:
        return 0.5 * t
    return 0.6 * t + 0.3 * s * t


def both(t, s):
    return math.cos(s), 0.5 * t


def perhaps(t, n):
    if n % 3 == 1:
        raise B(n)
    return math.cos(t)


def careful(log, t, n):
    log[0] = 0.5 * log[0] + 0.25 * t
    try:
        return perhaps(log[0], n)
    finally:
        log[-1] = 0.75 * log[-1] + 0.1 * t


def sink(log, t, n):
    log[n % len(log)] = 0.5 * log[n % len(log)] + 0.2 * t
    if n <= 0:
        raise B(n)
    try:
        sink(log, math.sin(t), n - 2)
    except B:
        log[0] += 0.1 * t
        if n % 2:
            raise
    return log[0]


def push(log, *ts, scale=0.5, **others):
    for t in ts:
        log.append(scale * t)
    for t in others.values():
        log[0] += 0.1 * t
    while len(log) > 5:
        log[0] = 0.5 * log[0] + 0.2 * log.pop()
    return log


def apply(function, t, times=1):
    for _ in range(times):
        t = 0.5 * function(t) + 0.1 * t
    return t


def relay(values, t):
    s = yield from steps(values, t)
    yield 0.5 * t if s is None else s


def guarded(log, t):
    try:
        for value in log[:2]:
            yield value * t
    finally:
        log[0] = 0.5 * log[0] + 0.2 * t


def carry(t, n):
    if n % 2:
        raise C(n)
    return t


def total(*values, scale=0.25):
    result = 0.0
    for value in values:
        result += scale * value
    return result


def steps(values, t):
    for value in values:
        t = 0.5 * t + 0.25 * value
        yield t


def down(t, n):
    if n <= 0:
        return math.sin(t)
    return 0.8 * down(t + 0.1, n - 1) + 0.05 * t


def below(t, bound):
    return t < bound


def between(low, t, high):
    return low < t < high
'''
