"""Functions with exceptions, context managers, patterns and generators, as people write them.

Each of `CASES` is a function of floats and mutable arguments with the arguments to try it on.
"""

import contextlib
import math

import numpy as np


def catches(x):
    y = x * 2.0
    try:
        y = y / (x - 2.0)
    except ZeroDivisionError:
        y = y * x
    return y


def caught(x, zero):
    y = x * 2.0
    try:
        y = x * x
        y = y / zero
    except ZeroDivisionError:
        y = y * x
    return y


def fin(x, u):
    try:
        u[0] = x * x
        y = math.sqrt(x - 3)
    except ValueError as e:
        y = x**3
    else:
        y = y * 2
    finally:
        u[1] = u[0] * x
    return y * u[1]


class CM:
    def __init__(self, s):
        self.s = s
        self.n = 1.0

    def __enter__(self):
        self.n = self.n * self.s
        return self.n

    def __exit__(self, *a):
        self.n = self.n + self.s
        return True


def w(x):
    c = CM(x)
    with c as m:
        y = m * x
        if y > 2:
            raise KeyError
        c.n = c.n * y
    return c.n * y


def err(x):
    with np.errstate(all="ignore"):
        return float(np.sin(x) * x)


def patterns(x, o):
    match o:
        case {"a": v, **rest}:
            return v * x + len(rest)
        case [a, b, *c]:
            return a * x * b
        case CM(s=s):
            return s * x
        case float(v):
            return v * x
        case _:
            return x


def loop(x, n):
    s = 0.0
    for i in range(n):
        try:
            if i == 2:
                continue
            if i == 5:
                break
            s += math.log(x - i) * x
        except ValueError:
            s = s * x + x
        finally:
            s += 0.1 * x
    else:
        s *= 2
    return s


def nested(x, u):
    def inner(y, u):
        u[0] = y
        u[1] += u[0] * x
        return 1 / (0 if y > 1 else 1)

    try:
        try:
            inner(x, u)
        except KeyError:
            u[0] = -1
        finally:
            u[1] *= x
    except ZeroDivisionError:
        u[0] += x * u[1]
    return u[0] * u[1]


def sums(x):
    return sum(x * i for i in range(4)) * x


def gen(x, n):
    s = x
    for i in range(n):
        got = yield s
        if got is not None:
            s = s * got
        s = s * x + i
    return s


def consume(x):
    t = 0.0
    for v in gen(x, 4):
        t = t * 0.5 + v
    return t


def partial(x):
    g = gen(x, 5)
    a = next(g)
    b = g.send(2.0 * x)
    c = next(g)
    return a * b + c * x


def outer(x):
    r = yield from gen(x, 3)
    yield r * x
    yield from [x, x * x]


def deleg(x):
    return sum(outer(x), 0.0)


def mut(x, u):
    def g():
        for i in range(len(u)):
            u[i] = u[i] * x
            yield u[i]

    t = 0.0
    for v in g():
        u[0] += 1.0
        t += v * u[0]
    return t


@contextlib.contextmanager
def scaled(u, x):
    old = u[0]
    u[0] = u[0] * x
    try:
        yield u
    finally:
        u[0] = old * 2


def cm(x, u):
    with scaled(u, x) as v:
        y = v[0] * x
    return y + u[0] * x


def cm2(x, u):
    try:
        with scaled(u, x) as v:
            y = v[0] * x
            if y > 0:
                raise KeyError
    except KeyError:
        y = u[0] * x
    return y + u[0] * x


def listgen(x):
    l = list(x**i for i in range(4))
    m = max(v for v in l)
    z = [a * b for a, b in zip(l, (q * x for q in l))]
    return m * sum(z) + any(v > 3 for v in l)


def thrower(x):
    def g():
        y = x
        while True:
            try:
                y = y * x
                yield y
            except ValueError:
                y = y + 1.0

    it = g()
    a = next(it)
    b = it.throw(ValueError)
    c = next(it)
    it.close()
    return a + b * c


CASES = {
    "try": (catches, (2.5,)),
    "try, caught": (caught, (2.5, 0)),
    "finally, caught": (fin, (2.0, [0.0, 0.0])),
    "finally, not caught": (fin, (4.0, [0.0, 0.0])),
    "with": (w, (1.2,)),
    "with, swallowing": (w, (2.0,)),
    "errstate": (err, (1.3,)),
    "match mapping": (patterns, (1.5, {"a": 2.0, "b": 1})),
    "match sequence": (patterns, (1.5, [1.0, 2.0, 3.0])),
    "match class": (patterns, (1.5, CM(3.0))),
    "match float": (patterns, (1.5, 4.0)),
    "match anything": (patterns, (1.5, "s")),
    "try in a loop": (loop, (2.5, 4)),
    "break out of try in a loop": (loop, (3.5, 7)),
    "callee raises half way": (nested, (1.5, [1.0, 2.0])),
    "callee does not raise": (nested, (0.5, [1.0, 2.0])),
    "generator expression": (sums, (2.0,)),
    "generator": (consume, (1.3,)),
    "generator, partly consumed": (partial, (1.3,)),
    "yield from": (deleg, (1.1,)),
    "generator that mutates what is read": (mut, (1.4, [1.0, 2.0, 3.0])),
    "contextmanager": (cm, (1.4, [1.5])),
    "contextmanager with an exception": (cm2, (1.4, [1.5])),
    "generators as arguments": (listgen, (1.5,)),
    "throw and close": (thrower, (1.2,)),
}
