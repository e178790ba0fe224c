"""Names and targets: binding, unpacking, updating, deleting; and the small expressions."""

import numpy as np

from tests.programs.language.cases import Cases

case = Cases()

TOTAL = 1
SCALED = 2.0


class Box:
    def __init__(self, v):
        self.v = v


@case(1.5, [1.0, 2.0])
def walrus(x, u):
    if (y := u[0] * x) > 1.0 and (u.append(z := y * x) or u):
        u[0] *= (w := y + z) * w
    while (v := u[0]) < 300.0:
        u[0] = v * 2.0
    return [y, q := z * v, q * q][2] * u[0] * u[2]


@case(1.5, [1.0, 2.0])
def walrus_in_comprehensions(x, u):
    last = [y := v * x for v in u]
    total = 0.0
    sums = [total := total + v * y for v in u if (w := v * x) > 1.0]
    u[0] *= w
    return y * sum(sums) * total * u[0] * last[0]


@case(1.5, [1.0, 2.0])
def chained_comparison(x, u):
    def step(by):
        u[0] *= by
        return u[0]

    a = 0.0 < step(x) < step(x) < 2.0 < step(100.0)
    b = step(x) > 0.0 != step(2.0) in u
    return u[0] * (2.0 if a else x) * (x if b else 1.0)


@case(1.5, [1.0, 2.0, 3.0, 4.0])
def star_targets(x, u):
    a, *b, c = u
    *d, u[0] = b
    (e, *[f, g]), *u[1:3] = [a * x, b[0], c], x, d[0]
    [h, [*i]] = x * x, (e, f)
    b.append(e * c)
    for j, *k in [(x, 2.0, u[0]), (u[1], x)]:
        k[0] *= j
        u[2] += k[0]
    return a * b[-1] * c * d[0] * e * f * g * h * i[1] * u[0] * u[2] * k[0]


@case(1.5, [1.0, 2.0, 3.0])
def star_displays(x, u):
    a = [x, *u, *(y * x for y in u)]
    b = (*a, u[0])
    c = {"p": x, **{"q": u[1], "p": u[0]}, **dict(r=x)}
    a[0] *= b[2]
    d, e = {*"ab"}, [*c]
    return a[0] * b[0] * sum(b) * c["p"] * c["r"] * len(d) * len(e)


@case(1.5, np.array([[1.0, 2.0], [3.0, 4.0]]))
def star_subscripts(x, m):
    i = (0, 1)
    m[*i] *= x
    m[*i[:1]] += m[1]
    return m[*i] * m[(*i,)] * np.sum(m[..., *i[1:]])


@case(1.5, [1.0, 2.0])
def star_returned(x, u):
    def f():
        u[0] *= x
        return x, *u, *(y * x for y in u)

    def g():
        yield x, *u
        u[1] *= x
        yield *u, x

    a, b = g()
    c = f()
    return c[0] * c[1] * c[3] * c[4] * a[2] * b[1]


@case(1.5, [1.0, 2.0])
def swapped(x, u):
    a, b = x, u[0]
    for _ in range(3):
        a, b = b, a * b
        u[0], u[1] = u[1] * a, u[0]
    (a, b), u[0] = (b, a), a
    return a * b * u[0] * u[1]


@case(1.5, [1.0, 2.0])
def several_targets(x, u):
    a = u[0] = b = u[1] * x
    c = [d, e] = [a, b * x]
    c[0] *= x
    i, u[i] = 1, d * e
    return a * c[0] * u[0] * u[1]


@case(1.5, [1.0, 2.0], {"k": 3.0}, Box(0.5))
def updated_targets(x, u, d, box):
    y = x
    y += u[0]
    box.v *= y
    u[0] -= box.v
    d["k"] /= u[0]
    u[0:1] *= 2
    u[1:] += [d["k"], x]
    (z := u)[0] **= 2.0
    box.v **= d["k"]
    return y * box.v * u[0] * u[1] * sum(u) * d["k"]


@case(1.5, [1.0, 2.0])
def updated_operators(x, u):
    a = u[0]
    a += x
    a -= u[1] * 0.1
    a *= x
    a /= u[1]
    a **= 1.5
    a %= 10.0
    a += a // 100.0
    n = 7
    n |= 8
    n &= 13
    n ^= 2
    n <<= 2
    n >>= 1
    n //= 3
    n %= 4
    u[0] *= a
    u *= 2
    return a * u[0] * u[2] * n


@case(1.5, np.array([[1.0, 2.0], [3.0, 4.0]]))
def updated_arrays(x, m):
    v = m
    v += x
    v[0] *= m[1]
    v[:, 1] /= x
    v[::-1, 0] -= m[0]
    v **= 2
    v[m > 20.0] %= 7.5
    m @= np.array([[x, 0.5], [0.25, 1.0]])
    w = m[...]
    w[..., 0] += w[0, ...]
    return np.sum(m * m)


@case(1.5, [1.0, 2.0])
def updated_once(x, u):
    def where():
        u[1] *= x
        return 0

    u[where()] *= u[1]
    [u][where()][0] += x
    return u[0] * u[1]


@case(1.5, [1.0, 2.0])
def updated_objects(x, u):
    class Sum:
        def __init__(self, v):
            self.v = v

        def __iadd__(self, other):
            self.v += other
            u[0] *= self.v
            return self

        def __mul__(self, other):
            u[1] += other
            return Sum(self.v * other)

    s = t = Sum(x)
    s += u[0]
    s *= x
    return s.v * t.v * u[0] * u[1]


@case(1.5, [1.0, 2.0])
def nonlocal_targets(x, u):
    total, kept = x, u

    def f(y):
        nonlocal total, kept
        total += y * kept[0]
        kept[0] *= total
        kept = [total, y]
        for total in kept:
            total *= y
        del kept

    f(x)
    kept = [total]
    f(u[1])
    return total * u[0]


@case(1.5, [1.0, 2.0])
def global_targets(x, u):
    global TOTAL
    TOTAL = 3
    TOTAL += 2
    u[0] *= TOTAL * x
    TOTAL = 1
    return u[0] * u[1] * TOTAL


@case(1.5, [1.0, 2.0, 3.0, 4.0, 5.0], {"a": 1.0, "b": 2.0}, Box(0.5))
def deleted(x, u, d, box):
    y = u[0] * x
    u.append(y * x)
    del y
    del u[0], u[-2]
    del u[1:2], d["a"], (box.v)
    y = u[0] * u[-1]
    d["a"] = y
    box.v = y * x
    del u[::2], [y]
    try:
        y
    except UnboundLocalError:
        u[0] *= x
    return u[0] * d["b"] * d["a"] * box.v * len(u) * list(d.values())[0]


@case(1.5, [1.0, 2.0])
def deleted_captured(x, u):
    y = u[0] * x

    def f():
        nonlocal y
        u[1] *= y
        del y

    f()
    try:
        f()
    except NameError:
        y = u[1]
    return y * u[1]


@case(1.5, [1.0, 2.0])
def deleted_by_methods(x, u):
    class Holder:
        def __delitem__(self, key):
            u[0] *= key

        def __delattr__(self, name):
            u[1] *= x * len(name)

    h = Holder()
    del h[x], h.field
    return u[0] * u[1]


@case(1.5, [1.0, 2.0, 3.0, 4.0, 5.0])
def slices(x, u):
    u[::2] = [x, u[0], x * x]
    u[1:3] = [u[0] * x]
    u[:0] = (x, u[1])
    u[-1:] *= 2
    s = slice(None, None, -2)
    v = u[s]
    v[0] *= x
    return sum(v) * u[2:][0] * u[-3] * u[slice(1, 2)][0]


@case(1.5, np.arange(1.0, 9.0).reshape(2, 4))
def array_slices(x, m):
    m[:, ::2] *= x
    m[..., 1] = m[..., -1] * x
    v = m[::-1, 1:3]
    v[0] += m[0, None, 0]
    m[1, -1:0:-2] = [x, x * x]
    return np.sum(m[..., None, ::3] ** 2) * m[1][1:][0]


@case(1.5, [1.0, 2.0])
def own_slices(x, u):
    class Grid:
        def __getitem__(self, key):
            u[0] *= x
            if key is ...:
                return u[0]
            a, b = key
            return u[1] * (b.start or x) * b.step

        def __setitem__(self, key, v):
            u[1] += v * key.stop

    g = Grid()
    y = g[1, 3:2.0:5]
    g[: len(u)] = y
    return g[...] * g[0, ::2] * u[0] * u[1]


@case(1.5, [1.0, 2.0])
def comprehensions(x, u):
    a = [[v * w for w in u if w > 0.5 or v] for v in u]
    a[0][1] *= x
    b = {k: [v, x * i] for i, (k, v) in enumerate(zip("ab", u)) if v}
    b["b"][1] *= a[0][1]
    c = [v * w for r in a for v in r for w in (x, u[0]) if v > 2.5 if w]
    d = {len(c), *(len(r) for r in a)}
    return sum(c) * b["b"][1] * b["a"][0] * sum(d) * [[x][0] for _ in u][1]


@case(1.5, [1.0, 2.0])
def comprehension_with_effects(x, u):
    def step(v):
        u[0] *= v
        return u[0]

    a = [step(x) + step(v) for v in [x, 2.0] if step(x) > 1.0]
    d = {k: u.append(step(k)) or u[-1] for k in (1, 2)}
    return sum(a) * d[2] * u[0] * u[2]


@case(1.5, [1.0, 2.0])
def comprehension_with_closures(x, u):
    fs = [lambda: u[0] * v for v in (x, 2.0)]
    gs = [lambda v=v: u[0] * v for v in (1.0, 2.0)]
    u[0] *= x
    return fs[0]() * fs[1]() * gs[0]() * gs[1]()


@case(1.5, [1.0, 2.0])
def comprehension_shadows_a_name(x, u):
    y = u[0]
    a = [y * x for y in u]
    y *= a[1]
    [u.append(x * y) for x in (y, 2.0)]
    return x * y * u[2] * u[3]


@case(1.5, [1.0, 2.0])
@case(0.6, [1.0, 2.0])
def conditional_expressions(x, u):
    def step(by):
        u[0] *= by
        return u[0]

    a = step(x) if u[0] * x > 1.0 else step(x * x) if u[1] else x
    b = (step(2.0) > 100.0 and x) or step(x)
    c = not step(x) or u[1]
    return a * b * c * (u if a > b else [x])[0]


@case(1.5, [1.0, 2.0])
def while_else(x, u):
    n = 0
    while n < 3:
        u[0] *= x
        n += 1
    else:
        u[1] *= u[0]
    while True:
        u[0] += x
        if u[0] > 7.0:
            break
    else:
        u[1] = 0.0
    return u[0] * u[1]


@case(1.5, [1.0, 2.0])
def for_else(x, u):
    for i in range(3):
        u[0] *= x
        if u[0] > 100.0:
            break
    else:
        u[1] *= u[0]
    for u[0] in [x, u[1], 2.0]:
        if u[0] > 2.0:
            continue
        u[1] *= u[0]
        break
    else:
        u[1] = 0.0
    for _ in []:
        pass
    else:
        u[0] *= x
    return u[0] * u[1]


@case(1.5, [1.0, 2.0], {"k": 3.0}, Box(0.5))
def for_targets(x, u, d, box):
    for d["k"], box.v, (u[1], *rest) in [(x, u[0], [2.0, x]), (u[0] * x, x, [x, 2.0, u[0]])]:
        u[0] *= d["k"] * box.v * rest[-1]
    return u[0] * u[1] * d["k"] * box.v
