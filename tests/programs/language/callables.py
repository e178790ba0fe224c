"""Functions: their parameters, defaults, decorators, and what functools makes of them."""

import functools
import operator

from tests.programs.language.cases import Cases

case = Cases()


@case(1.5, [1.0, 2.0])
def parameters(x, u):
    def f(a, /, b, c=x, *rest, d, e=u[0], **more):
        u[0] *= a * b
        more["m"] *= x
        return c * d * e + sum(rest) + sum(more.values())

    return f(x, 2.0, d=u[1], m=x) * f(u[0], x, x, u[1], d=3.0, e=x, m=u[0], n=x) * u[0]


@case(1.5, [1.0, 2.0])
def positional_names_as_keywords(x, u):
    def f(a, /, **more):
        more["a"] *= a
        u.append(more["a"])
        return more

    return f(x, a=u[0])["a"] * u[2]


@case(1.5, [1.0, 2.0])
def mutable_default(x, u):
    def f(a, seen=[x]):
        seen.append(seen[-1] * a)
        return seen

    f(u[0])
    return sum(f(u[1])) * f(x)[3]


@case(1.5, [1.0, 2.0])
def lambdas(x, u):
    fs = [lambda y, k=k, v=u: v.append(k * y * x) or v[-1] for k in range(1, 3)]
    late = [lambda: k * x for k in range(3)]
    return fs[0](u[0]) * fs[1](u[2]) * late[0]() * (lambda *a, **k: a[0] * k["q"])(x, q=u[3])


@case(1.5, [1.0, 2.0])
def star_calls(x, u):
    def f(*a, **k):
        u[0] *= sum(a)
        return sum(k.values()) * a[-1]

    d = {"p": x, "q": u[1]}
    a = f(*[x, u[0]], *(u[1],), **d)
    b = f(*(y * x for y in u), r=x, **{k: v * x for k, v in d.items()})
    return a * b * u[0]


@case(1.5, [1.0, 2.0])
def order_of_evaluation(x, u):
    def step(by):
        u[0] *= by
        return u[0]

    def f(a, b, *, c, d):
        return a - 2.0 * b + 3.0 * c * d

    return f(step(x), *[step(2.0)], c=step(x), **{"d": step(u[1])})


def doubled(f):
    @functools.wraps(f)
    def wrapper(*args, **kwargs):
        wrapper.calls += 1
        return f(*args, **kwargs) * 2.0

    wrapper.calls = 0
    return wrapper


def times(factor):
    def decorate(f):
        @functools.wraps(f)
        def wrapper(*args):
            return f(*args) * factor

        return wrapper

    return decorate


class Remembers:
    def __init__(self, f):
        functools.update_wrapper(self, f)
        self.f, self.last = f, []

    def __call__(self, *args):
        self.last.append(self.f(*args))
        return self.last[-1]


@doubled
def outside(x, u):
    u[0] *= x
    return u[0]


@times(3.0)
def outside_times(x, u):
    u[1] *= x
    return u[1]


@case(1.5, [1.0, 2.0])
def decorated_outside(x, u):
    return outside(x, u) * outside_times(x, u) * outside(u[0], u) * u[0]


@case(1.5, [1.0, 2.0])
def decorated_plainly(x, u):
    def by(f):
        def wrapper(*args):
            u[0] *= x
            return f(*args) * u[0]

        return wrapper

    @by
    def f(y):
        u[1] *= y
        return u[1]

    return f(x) * f(u[0])


@case(1.5, [1.0, 2.0])
def decorated_with_arguments(x, u):
    @times(x)
    @times(u[0])
    def f(y):
        u[1] *= y
        return u[1]

    u[0] *= x
    return f(x) * f(u[0])


@case(1.5, [1.0, 2.0])
def wrapped_inside(x, u):
    @doubled
    def f(y):
        u[1] *= y
        return u[1]

    return f(x) * f(u[0]) * f.calls * f.__wrapped__(x)


@case(1.5, [1.0, 2.0])
def class_as_decorator(x, u):
    @Remembers
    def f(y):
        u[1] *= y
        return u[1]

    return f(x) * f(u[0]) * f.last[0]


@case(1.5, [1.0, 2.0])
def decorated_class(x, u):
    def registered(cls):
        cls.kind = "registered"
        u[0] *= x
        return cls

    @registered
    class C:
        def get(self):
            return u[0] * len(self.kind)

    return C().get() * u[1]


@case(1.5, [1.0, 2.0])
def partials(x, u):
    def f(a, b, c=1.0):
        u[0] *= a
        return b * c

    g = functools.partial(f, x, c=u[1])
    h = functools.partial(g, u[1], c=x)
    return g(x) * h() * g(2.0, c=u[0]) * u[0]


@case(1.5, [1.0, 2.0])
def partials_of_partials(x, u):
    def f(a, b, *c, **more):
        u[0] *= a
        return a * b + sum(c) * sum(more.values())

    g = functools.partial(f, x, m=u[1])
    h = functools.partial(g, u[1], n=x)
    k = functools.partial(h, u[0], m=x * x)
    g.keywords["m"] *= 3.0
    k.tag = x
    j = functools.partial(k, 7.0)
    value = g(x) * h(2.0) * k() * j() * h.args[0] * k.keywords["m"] * len(k.args)
    return value * (h.func is f) * (j.func is k) * j.func.tag * isinstance(j, functools.partial)


@case(1.5, [1.0, 2.0])
def partials_by_class(x, u):
    def unwrapped(f, *args):
        while isinstance(f, functools.partial):
            args = (*f.args, *args)
            f = f.func
        return f(*args)

    g = functools.partial(operator.mul, x)
    u[0] *= x if type(g) is functools.partial else x * x
    return unwrapped(g, u[0]) + unwrapped(operator.mul, u[1], x) + unwrapped(functools.partial(g), u[1])


two_and_three = functools.partial(max, 2.0, key=abs)


@case(1.5, [1.0, 2.0])
def partials_of_partials_of_the_module(x, u):
    g = functools.partial(two_and_three, x * 3.0)
    h = functools.partial(g, u[1], key=lambda v: -v)
    return g(u[0]) * h(x) * h(key=abs)


@case(1.5, [1.0, 2.0])
def partial_methods(x, u):
    class C:
        def scale(self, i, by):
            u[i] *= by
            return u[i]

        first = functools.partialmethod(scale, 0)

    return C().first(x) * C().first(by=u[1]) * u[0]


@case(1.5, [1.0, 2.0])
def cached(x, u):
    @functools.lru_cache(maxsize=None)
    def f(n):
        return x if n < 2 else f(n - 1) * u[0] + f(n - 2)

    u[0] *= x
    return f(5) * u[0]


@case(1.5, [1.0, 2.0])
def cached_properties(x, u):
    class C:
        def __init__(self, v):
            self.v = v

        @functools.cached_property
        def area(self):
            u[0] *= x
            return self.v * u[0]

    c = C(x)
    y = c.area * c.area
    c.v = u[1]
    del c.area
    return y * c.area * u[0]


@case(1.5, [1.0, 2.0])
def reduced(x, u):
    def f(a, b):
        u[0] *= x
        return a * b + u[0]

    return functools.reduce(f, [x, u[0], 2.0]) * functools.reduce(f, (y * x for y in u), u[1]) * u[0]


@functools.singledispatch
def sized(v, u):
    return 1.0


@sized.register
def _(v: float, u):
    u[0] *= v
    return u[0]


@sized.register(list)
def _(v, u):
    v[1] *= u[0]
    return sum(v)


@case(1.5, [1.0, 2.0])
def single_dispatch_outside(x, u):
    return sized(x, u) * sized(u, u) * sized("text", u) * u[0]


@functools.total_ordering
class Ordered:
    def __init__(self, v, u):
        self.v, self.u = v, u

    def __eq__(self, other):
        return self.v == other.v

    def __lt__(self, other):
        self.u[0] *= other.v
        return self.v < other.v


@case(1.5, [1.0, 2.0])
def total_order(x, u):
    a, b = Ordered(x, u), Ordered(2.0 * x, u)
    y = (a <= b) + 2 * (a > b) + 4 * (a >= b) + 8 * (b > a)
    best = max(a, b) if a != b else a
    return y * u[0] * best.v * min([b, a]).v


KEY = functools.cmp_to_key(lambda a, b: (a > b) - (a < b))


@case(1.5, [1.0, 2.0])
def cmp_to_key(x, u):
    def compare(a, b):
        u[0] *= x
        return -1 if a < b else 1

    first = sorted([x, u[1], 0.5 * x], key=functools.cmp_to_key(lambda a, b: -1 if a < b else 1))[0]
    first *= min([x, u[1], 0.5 * x], key=functools.cmp_to_key(compare)) * u[0]
    return first + sorted([x, u[0]], key=KEY)[1]


@case(1.5, [1.0, 2.0])
def callable_instances(x, u):
    class F:
        def __init__(self, by):
            self.by = by

        def __call__(self, y, *, k=1.0):
            self.by *= y
            u[0] += self.by * k
            return self.by

    f = F(x)
    return f(u[1]) * f(x, k=2.0) * sum(map(F(u[0]), [x, 2.0])) * u[0]


@case(1.5, [1.0, 2.0])
def operators_as_functions(x, u):
    get, put = operator.itemgetter(0), operator.setitem
    put(u, 1, operator.mul(get(u), x))
    u[0] = operator.iadd(u[0], x)
    return operator.itemgetter(0, 1)(u)[1] * u[0] * operator.methodcaller("pop", 0)(u)


@case(1.5, [1.0, 2.0])
def closures(x, u):
    def counter():
        n = x

        def bump(by):
            nonlocal n
            n *= by
            u[0] += n
            return n

        def read():
            return n * u[0]

        return bump, read

    bump, read = counter()
    bump2, read2 = counter()
    bump(u[1])
    bump2(x)
    bump(2.0)
    return read() * read2() * u[0]


@case(1.5, [1.0, 2.0])
def recursion(x, u):
    def walk(n, y):
        u[0] *= x
        return y if n == 0 else walk(n - 1, y * u[0]) + walk(n // 3, y)

    return walk(4, x) * u[0]


@case(1.5, [1.0, 2.0])
def function_attributes(x, u):
    def f(y):
        f.count += 1
        u[0] *= y
        return u[0] * f.count

    f.count = 0
    return f(x) * f(u[1])


@case(1.5, [1.0, 2.0])
def annotated(x: float, u: "list[float]") -> float:
    y: float = u[0] * x
    z: "never"
    u[1]: float = y

    def f(a: float, *b: int, c: list = u, **d: str) -> float:
        w: list[float] = c
        w[0] *= a
        return w[0]

    class C:
        field: float
        other: float = 2.0

    return f(x) * y * u[1] * C.other * u[0]


@case(1.5, [1.0, 2.0])
def imports(x, u):
    import collections.abc
    import math
    import os.path as path
    from math import cos
    from math import sin as s

    u[0] *= math.exp(x)
    u[1] *= cos(u[0]) + s(x)
    return u[0] * u[1] * len(path.join("a", "b")) * isinstance(u, collections.abc.Sequence)


@case(1.5, [1.0, 2.0])
def dispatched_methods(x, u):
    class Scaled:
        @functools.singledispatchmethod
        def of(self, a):
            return a

        @of.register
        def _(self, a: float):
            u[0] *= a
            return a * u[0] * x

        @of.register(list)
        def _(self, a):
            return sum(a) * x

    return Scaled().of(x) * Scaled().of([x, u[0]]) * Scaled().of(3)


@case(1.5, [1.0, 2.0])
def dispatched_functions(x, u):
    @functools.singledispatch
    def of(a, b):
        return b

    @of.register
    def _(a: float, b):
        u[1] *= b
        return a * u[1]

    of.register(list, lambda a, b: b * a[0] * x)
    return of(x, u[0]) * of(u, x) * of("", x)


@case(1.5, [1.0, 2.0])
def attributes_of_functions(x, u):
    def make():
        def f(a):
            return a * 2.0

        def scale(a):
            u[0] *= x
            return a * u[0]

        f.scale = scale
        f.count = x
        return f

    f, g = make(), make()
    f.count *= u[1]
    return f.scale(f(x)) * g.scale(f.count) * g.count


def integrate(f, a, b, n):
    total = 0.0
    h = (b - a) / n
    for i in range(n):
        total += f(a + (i + 0.5) * h) * h
    return total


@case(1.5, [1.0, 2.0])
def closures_as_arguments(x, u):
    def decaying(k):
        def f(t):
            u[0] *= 1.0 + 0.1 * k * t
            return k * t * x + u[0]

        return f

    first = integrate(decaying(x), 0.0, x, 3)
    second = integrate(decaying(u[1]), x, 2.0, 2)
    return first * second * integrate(lambda t: t * t, 0.0, x, 2)


@case(1.5, [1.0, 2.0])
def closures_with_defaults(x, u):
    def make(k):
        def f(t, scale=k):
            u[0] += t * scale
            return t * scale * x

        return f

    f, g = make(x), make(2.0)
    return f(x) * g(x) * f(x, u[0]) * integrate(g, 0.0, u[1], 2)


@case(1.5, [1.0, 2.0])
def closures_that_rebind(x, u):
    total = x

    def add(a):
        nonlocal total
        total = total * a + u[0]
        return total

    def twice(f, a):
        return f(a) * f(a)

    product = twice(add, x)
    total *= 2.0
    u[0] = add(u[1])
    return product * total * u[0]


@case(1.5, [1.0, 2.0])
def closures_of_many_kinds(x, u):
    def one(a):
        return a * x

    def other(a):
        return [a * u[0]]

    total = 0.0
    for f in (one, other, one, lambda a: a + x):
        value = f(x)
        total += value[0] if type(value) is list else value
    pick = one if x > 1.0 else other
    return total * pick(u[1])


@case(1.5, [1.0, 2.0])
def closures_that_recur(x, u):
    def power(n):
        return x if n == 0 else power(n - 1) * x + u[0]

    def even(n):
        return u[1] if n == 0 else odd(n - 1) * x

    def odd(n):
        return x if n == 0 else even(n - 1) * u[0]

    return power(3) * even(4)


@case(1.5, [1.0, 2.0])
def classes_of_partials(x, u):
    g = functools.partial(operator.mul, x)
    u[0] *= x if g.__class__ is functools.partial else x * x
    u[1] *= x if isinstance(g, functools.partial) and type(g) is not type(x) else x * x
    return g(u[0]) + g(u[1])


@case(1.5, [1.0, 2.0])
def attributes_beside_those_that_wraps_writes(x, u):
    def wrapped(a: float) -> float:
        return a * x

    wrapped.scale = 3.0
    wrapped.table = {"a": x}

    def wrapper(a):
        u[0] *= x
        return wrapped(a)

    wrapper.factor = x
    wrapper.table = {}
    functools.update_wrapper(wrapper, wrapped, ("scale", "missing"), ("table",))
    y = wrapper(u[1]) * wrapper.scale * wrapper.factor * wrapper.table["a"]
    functools.update_wrapper(wrapper, wrapped)
    return y * len(wrapper.__annotations__) * wrapper.__wrapped__(x) * (wrapper.__name__ == "wrapped")
