"""Slices whose bounds have a derivative, for objects that are no sequences; and slices of sequences."""

from tests.programs.language.cases import Cases

case = Cases()


class Grid:
    """What it is asked for depends on the bounds."""

    def __init__(self, u):
        self.u = u

    def __getitem__(self, key):
        if isinstance(key, tuple):
            product = 1.0
            for part in key:
                product *= self[part]
            return product
        if isinstance(key, slice):
            self.u[0] *= 1.1
            return key.start * 2.0 + (key.stop or 1.0) ** 2 * (key.step or 1.0)
        return key

    def __setitem__(self, key, value):
        self.u[1] *= key.start * value

    def __delitem__(self, key):
        self.u[1] *= key.stop


@case(1.5, [1.0, 2.0])
def bounds(x, u):
    grid = Grid(u)
    y = grid[x : u[1]] * grid[x : u[1] : x * x]
    grid[x:2] = u[0]
    grid[u[1] :] = x
    del grid[:x]
    return y * u[0] * u[1]


@case(1.5, [1.0, 2.0])
def several(x, u):
    return Grid(u)[x : u[1] : x * x, 1.0:x, x] * u[0]


@case(1.5, [1.0, 2.0])
def kept(x, u):
    s, t = slice(x, u[0]), slice(x)
    kept = [s, t]
    u[0] *= kept[0].start
    return s.start * s.stop * t.stop * u[0] * Grid(u)[kept[0]]


@case(1.5, [1.0, 2.0])
def bounds_with_memory(x, u):
    s = slice(u, x)
    s.start[0] *= s.stop
    return u[0] * x * s.start[1]


@case(1.5, [1.0, 2.0])
def in_a_loop(x, u):
    class Box:
        def __init__(self, a):
            self.a = a

    box, grid, y = Box(x), Grid(u), 1.0
    for k in range(3):
        y *= grid[box.a : k + 1.0 : box.a]
        box.a *= u[1]
    return y * u[0]


@case(1.5, [1.0, 2.0])
def matched(x, u):
    match slice(x, u[0]):
        case slice(start=a, stop=b):
            u[0] *= a
            return a * b * u[0]


@case(1.5, [1.0, 2.0])
def of_sequences(x, u):
    v, i, h = [x, u[0], u[1]], 1, [0, 2]
    w, q = v[i:], v[h[0] : h[1]]
    v[0:1] = [x * x]
    del v[h[1] :]
    return w[0] * w[1] * v[0] * q[0] * (x, u[0])[::-1][0] * len(v)


@case(slice(1.5, 2.0, None), 1.3)
def given(s, x):
    return s.start * s.stop * x
