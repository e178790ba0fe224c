"""Programs with classes that are derived from lists, dicts, tuples, deques and floats."""

from __future__ import annotations

import collections
import math
import operator
from collections.abc import Callable, Iterable, Iterator
from typing import Any

__all__ = ["PROGRAMS"]

PROGRAMS: dict[str, Callable[[list[float]], Any]] = {}


def program(f: Callable[[list[float]], Any]) -> Callable[[list[float]], Any]:
    PROGRAMS[f.__name__] = f
    return f


class Stack(list[Any]):
    def peek(self) -> Any:
        return self[-1]

    def push(self, value: Any) -> None:
        self.append(value)


@program
def stack(x: list[float]) -> Any:
    s = Stack()
    for k in range(9):
        s.push(x[k % 3] * k)
        if len(s) > 3:
            last = s.pop()
            s.push(last + s.peek())
    return sum(s)


class Vector(list[Any]):
    def __init__(self, values: Iterable[Any] = ()) -> None:
        list.__init__(self, [1.0 * v for v in values])

    def __add__(self, other: Any) -> Any:  # type: ignore[override]
        return Vector(a + b for a, b in zip(self, other, strict=True))

    __radd__ = __add__

    def __iadd__(self, other: Any) -> Any:  # type: ignore[override,misc]
        for k, v in enumerate(other):
            self[k] += v
        return self

    def __neg__(self) -> Any:
        return Vector(-v for v in self)

    def __getitem__(self, k: Any) -> Any:
        found = super().__getitem__(k)
        return Vector(found) if isinstance(k, slice) else found

    def dot(self, other: Any) -> Any:
        return sum(map(operator.mul, self, other))


@program
def vectors(x: list[float]) -> Any:
    v, w = Vector(x), Vector([0.0] * 3)
    for k in range(5):
        w += v
        if k % 2:
            w = [0.5, 0.25, x[0]] + (w + -v)
    part = w[1:]
    return w.dot(v) + part.dot(part)


class Polynomial(list[Any]):
    def __call__(self, v: Any) -> Any:
        r = 0.0
        for c in reversed(self):
            r = r * v + c
        return r

    def derivative(self) -> Any:
        return Polynomial(k * c for k, c in enumerate(self) if k)

    def __mul__(self, other: Any) -> Any:
        r = Polynomial([0.0] * (len(self) + len(other) - 1))
        for a, p in enumerate(self):
            for b, q in enumerate(other):
                r[a + b] += p * q
        return r


@program
def polynomials(x: list[float]) -> Any:
    p = Polynomial([x[0], x[1], 1.0])
    q, v = p * p, x[2]
    for _ in range(3):
        v -= q(v) / q.derivative()(v)
    return v


class Point(tuple[Any, ...]):
    def __new__(cls, x: Any, y: Any) -> Any:
        return tuple.__new__(cls, (x, y))

    @property
    def x(self) -> Any:
        return self[0]

    def __add__(self, other: Any) -> Any:
        return Point(self.x + other.x, self[1] + other[1])

    def __abs__(self) -> Any:
        return math.hypot(*self)

    def scaled(self, k: Any) -> Any:
        return Point(*(k * v for v in self))


@program
def points(x: list[float]) -> Any:
    p, s = Point(x[0], x[1]), Point(0.0, x[2])
    for k in range(6):
        s = s + p.scaled(0.1 * k)
    return abs(s) * s.x


class Direction(tuple[Any, ...]):
    __slots__ = ()

    def __mul__(self, k: Any) -> Any:
        return Direction(v * k for v in self)

    def __matmul__(self, other: Any) -> Any:
        return sum(a * b for a, b in zip(self, other, strict=True))

    @property
    def length(self) -> Any:
        return math.sqrt(sum(v * v for v in self))


@program
def directions(x: list[float]) -> Any:
    d, t = Direction(x), 0.0
    for k in range(5):
        d = d * (1.0 + 0.1 * k)
        t += d.length + d @ x
    return t


class Parameters(dict[str, Any]):
    __getattr__ = dict.__getitem__
    __setattr__ = dict.__setitem__  # type: ignore[assignment]


@program
def parameters(x: list[float]) -> Any:
    p = Parameters(rate=x[0], total=0.0)
    for _ in range(5):
        p.total += p.rate * 0.5 * x[1]
    return p.total * p["rate"]


class Settings(dict[str, Any]):
    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError as e:
            raise AttributeError(name) from e

    def __setattr__(self, name: str, value: Any) -> None:
        self[name] = value


@program
def settings(x: list[float]) -> Any:
    s = Settings(k=x[0], c=x[1])
    for _ in range(4):
        s.k = s.k * s.c
    try:
        return s.missing
    except AttributeError as e:
        return s.k + x[2] * len(e.args[0])


class Recorded(dict[str, Any]):
    def __init__(self, *a: Any, **k: Any) -> None:
        super().__init__(*a, **k)
        self.used: set[str] = set()

    def __getitem__(self, k: str) -> Any:
        self.used.add(k)
        return super().__getitem__(k)

    def scaled(self, f: float) -> Any:
        return Recorded({k: v * f for k, v in self.items()})


@program
def recorded(x: list[float]) -> Any:
    p, t = Recorded({"a": x[0]}, b=x[1], c=2.0), 0.0
    for _ in range(4):
        t += p["a"] * p["b"]
    return t + sum(p.scaled(0.5).values()) + len(p.used)


class Grid(dict[Any, Any]):
    def __missing__(self, k: Any) -> float:
        return 0.0

    def step(self) -> Any:
        return Grid({(i, j): v + 0.1 * (self[i + 1, j] + self[i, j - 1]) for (i, j), v in self.items()})


@program
def grid(x: list[float]) -> Any:
    g = Grid({(a, b): x[(a + b) % 3] for a in range(3) for b in range(3)})
    for _ in range(2):
        g = g.step()
    return sum(v * v for v in g.values())


class Lists(collections.defaultdict[int, Any]):
    def __init__(self) -> None:
        super().__init__(list)

    def total(self) -> Any:
        return sum(sum(v) for v in self.values())


@program
def lists(x: list[float]) -> Any:
    m = Lists()
    for k in range(9):
        m[k % 4].append(x[k % 3] * k)
    return m.total()


class Queue(collections.deque[Any]):
    def feed(self, value: Any) -> Any:
        self.appendleft(value)
        return self.pop() if len(self) > 3 else 0.0


@program
def queue(x: list[float]) -> Any:
    q = Queue()
    return sum(q.feed(x[k % 3] * k) * k for k in range(9))


class Angle(float):
    def __new__(cls, degrees: Any) -> Any:
        return super().__new__(cls, math.radians(degrees))

    @property
    def degrees(self) -> Any:
        return math.degrees(self)


class Temperature(float):
    def __mul__(self, other: Any) -> Any:
        return Temperature(float.__mul__(self, other))

    __rmul__ = __mul__

    def __add__(self, other: Any) -> Any:
        if not isinstance(other, Temperature):
            return NotImplemented
        return Temperature(float(self) + float(other))

    def above(self, zero: float) -> Any:
        return float(self) - zero


@program
def numbers(x: list[float]) -> Any:
    t, r = Temperature(x[0]), 0.0
    for k in range(4):
        t = 1.01 * t * x[1] + t
        r += math.sin(Angle(x[2] * k)) + Angle(x[1]).degrees
    return r + t.above(2.0) + (t + 1.0)


class Doubled(list[Any]):
    __slots__ = ()

    def __len__(self) -> int:
        return 2

    def __iter__(self) -> Iterator[Any]:
        return iter([2.0 * v for v in list.__iter__(self)])

    def __contains__(self, value: object) -> bool:
        return True


@program
def what_is_overridden(x: list[float]) -> Any:
    r, t = Doubled(x), 0.0
    for v in r:
        t += v
    a, b, _ = r
    return t + len(r) + (3 in r) + sum(r) + a * b + max(r) + sum(list(r)) + sum(v for v in r) + r[0]


class Tripled(tuple[Any, ...]):
    def __iter__(self) -> Iterator[Any]:
        for v in tuple.__iter__(self):
            yield v * 3.0

    def __getitem__(self, k: Any) -> Any:
        return tuple.__getitem__(self, k) * 5.0


@program
def what_tuples_override(x: list[float]) -> Any:
    r, t = Tripled(x), 0.0
    for k, v in enumerate(r):
        t += v * k
    a, b, _ = r
    return t + a * b + r[0] + sum(r) + sum(tuple(r)) + len(r) + max(*r)


class Squares(list[Any]):
    def __mul__(self, other: Any) -> Any:
        return Squares(a * b for a, b in zip(self, other, strict=True))


@program
def one_object_as_both_operands(x: list[float]) -> Any:
    s = Squares(x)
    return sum(s * s)


@program
def methods_that_are_hidden(x: list[float]) -> Any:
    s = Stack()
    s.push(x[0])
    s.append = lambda value: None  # type: ignore[method-assign]
    s.push(x[1])
    s.peek = lambda: x[2]  # type: ignore[method-assign]
    return sum(s) * s.peek()


@program
def fields_in_front_of_hooks(x: list[float]) -> Any:
    s = Settings(k=x[0])
    s.__dict__["c"] = x[1]
    t = s.c * s.k
    s.c = x[2]  # an item; the field is found first
    return t + s.c * 2.0 + s["c"]


@program
def made_where_it_may_fail(x: list[float]) -> Any:
    t = 0.0
    for k in range(6):
        given: Any = [x, 3, (v * k for v in x), {"a": x[0]}][k % 4]
        try:
            t += sum(Stack(given)) if k % 4 < 3 else len(Stack(given))
        except TypeError:
            t += x[1]
        try:
            t += len(Direction(given)) * x[2] if k % 4 < 2 else sum(Grid(given).values())
        except TypeError:
            t += x[0] * k
    return t
