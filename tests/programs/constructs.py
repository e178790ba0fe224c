"""One small function per construct of the language, each of one float."""

import collections
import dataclasses
import enum
import functools
import itertools

GG = 1


def walrus(x):
    if (y := x * x) > 1:
        return y * x
    return y


def star(x):
    a, *b, c = [x, x * 2, x**2, 4.0]
    return a * b[0] + c * b[1]


def kwonly(x, /, y=2.0, *, z=3.0):
    return x * y + z * x


def part(x):
    f = functools.partial(kwonly, y=x * 2, z=x)
    g = functools.partial(max, x)
    return f(x) + g(1.0)


def deco(f):
    @functools.wraps(f)
    def w(*a, **k):
        return f(*a, **k) * 2.0

    return w


@deco
def dd(x):
    return x * x * x


def usesdeco(x):
    return dd(x) + dd(2 * x)


@functools.lru_cache(maxsize=None)
def fib(n, x):
    return x if n < 2 else fib(n - 1, x) * 0.5 + fib(n - 2, x)


def uf(x):
    return fib(6, x) * x


class P:
    def __init__(self, x):
        self._x = x

    @property
    def x(self):
        return self._x * 2

    @x.setter
    def x(self, v):
        self._x = v * v

    @classmethod
    def make(cls, v):
        return cls(v * 3)

    @staticmethod
    def sq(v):
        return v * v

    @functools.cached_property
    def c(self):
        return self._x * self.x


class Q(P):
    __slots__ = ("y",)

    def __init__(self, x, y):
        super().__init__(x)
        self.y = y

    @property
    def x(self):
        return super().x + self.y


def cls(x):
    p = P.make(x)
    a = p.x
    p.x = x
    q = Q(x, 2 * x)
    return a * p.x + P.sq(q.x) + p.c * q.y + p.c


class Meta(type):
    def __call__(cls, *a):
        o = super().__call__(*a)
        o.k = a[0] * 2
        return o


class M(metaclass=Meta):
    def __init__(self, v):
        self.v = v


def meta(x):
    m = M(x)
    return m.v * m.k


class D:
    def __get__(self, o, t):
        return o.v * 3

    def __set__(self, o, v):
        o.v = v * 2


class E:
    d = D()

    def __getattr__(self, n):
        if n == "ghost":
            return self.v * 7
        raise AttributeError(n)


def desc(x):
    e = E()
    e.d = x
    return e.d * e.ghost


@dataclasses.dataclass
class DC:
    a: float
    b: float = 2.0

    def area(self):
        return self.a * self.b


@dataclasses.dataclass(frozen=True)
class FD:
    a: float
    b: float = 2.0

    def area(self):
        return self.a * self.b


NT = collections.namedtuple("NT", "u v")


class Color(enum.Enum):
    R = 1
    G = 2


def data(x):
    d = DC(x, x * x)
    f = FD(x)
    n = NT(x, 2.0)
    f2 = dataclasses.replace(f, b=x)
    return (
        d.area() + f.area() * f2.b + n.u * n.v + n[0] * (3 if Color.R is Color.R else 1) + n._replace(v=x).v
    )


def classin(x):
    class L:
        k = 2.0

        def __init__(s, v):
            s.v = v

        def g(s):
            return s.v * x * s.k

    return L(x).g()


def dele(x):
    d = {"a": x, "b": x * x}
    l = [x, x * 2, x * 3]
    del d["a"]
    del l[0]
    y = x
    del y
    o = DC(x)
    del o.a
    return d["b"] * sum(l) * getattr(o, "a", 2.0)


def nested(x):
    return sum([a * b for a in [x, 2 * x] for b in range(3) if b]) + sum(
        {k: v * x for k, v in zip("ab", [x, 1.0])}.values()
    )


def chain(x):
    return x * 2 if 0 < x < 2 < 3 else x


def lam(x):
    fs = [lambda y, k=k: y * k * x for k in range(3)]
    return sum(f(x) for f in fs)


def itt(x):
    return (
        sum(itertools.accumulate([x, 2 * x, 3 * x]))
        + functools.reduce(lambda a, b: a * b, [x, x, x])
        + sum(a * b for a, b in itertools.product([x, 1.0], [x, 2.0]))
    )


def glob(x):
    global GG
    GG = 3
    return x * GG


def imp(x):
    import math as mm
    from math import cos as cc

    return mm.sin(x) * cc(x)


def fstr(x):
    s = f"{x:.3f} {x!r}"
    return x * x + 0.0 * len(s)


def srt(x):
    l = sorted([3.0 * x, x, 2.0 * x], key=lambda v: -v)
    l.sort()
    return l[0] * l[1] + max(l, key=lambda v: v) * min(x, 2.0)


def bound_called(x):
    d = {"u": x}
    return d.pop("u") * 2.0


def bound_named(x):
    d = {"u": x}
    f = d.pop
    return f("u") * 2.0


class H:
    def __init__(s, f):
        s.f = f


def bound_in_field(x):
    d = {"u": x}
    h = H(d.pop)
    return h.f("u") * 2.0


def bound_spread(x):
    d = {"u": x}
    h = H(d.pop)
    f = h.f
    v = ["u", x]
    return f(*v) * 2.0


def bound_mapped(x):
    d = {"u": x}
    return list(map(d.pop, ["u"], [x]))[0] * 2.0


def bound_stepped(x):
    d = {"u": x}
    return next(map(d.pop, ["u"], [x])) * 2.0


def bound_looped(x):
    d = {"u": x}
    for v in map(d.pop, ["u"], [x]):
        r = v
    return r * 2.0


def bound_getter(x):
    d = {"u": x}
    r = 0.0
    for v in map(d.get, ["u"], [x]):
        r = v
    return r * 2.0


CASES = {
    "walrus": (walrus, 1.5),
    "star": (star, 1.5),
    "kwonly": (kwonly, 1.5),
    "part": (part, 1.5),
    "usesdeco": (usesdeco, 1.2),
    "uf": (uf, 1.2),
    "cls": (cls, 1.3),
    "meta": (meta, 1.3),
    "desc": (desc, 1.3),
    "data": (data, 1.3),
    "classin": (classin, 1.3),
    "dele": (dele, 1.3),
    "nested": (nested, 1.3),
    "chain": (chain, 1.3),
    "lam": (lam, 1.3),
    "itt": (itt, 1.3),
    "glob": (glob, 1.3),
    "imp": (imp, 1.3),
    "fstr": (fstr, 1.3),
    "srt": (srt, 1.3),
    "bound_called": (bound_called, 1.3),
    "bound_named": (bound_named, 1.3),
    "bound_in_field": (bound_in_field, 1.3),
    "bound_spread": (bound_spread, 1.3),
    "bound_mapped": (bound_mapped, 1.3),
    "bound_stepped": (bound_stepped, 1.3),
    "bound_looped": (bound_looped, 1.3),
    "bound_getter": (bound_getter, 1.3),
}
