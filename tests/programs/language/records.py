"""Records: dataclasses, named tuples, enumerations, typed dictionaries; and text made of numbers."""

import dataclasses
import enum
import typing
from collections import namedtuple

from tests.programs.language.cases import Cases

case = Cases()


@dataclasses.dataclass
class Body:
    mass: float
    speed: float = 2.0
    path: list = dataclasses.field(default_factory=list)
    energy: float = dataclasses.field(init=False)
    scale: dataclasses.InitVar[float] = 1.0

    def __post_init__(self, scale):
        self.energy = self.mass * self.speed * scale
        self.path.append(self.energy)


@dataclasses.dataclass(frozen=True)
class Frozen:
    a: float
    b: float = 3.0

    def area(self):
        return self.a * self.b


@dataclasses.dataclass(frozen=True)
class FrozenWithState:
    a: float
    held: list = dataclasses.field(default_factory=list)

    def __post_init__(self):
        object.__setattr__(self, "b", self.a * 2.0)
        self.held.append(self.b)


@dataclasses.dataclass(order=True, slots=True, kw_only=True)
class Ranked:
    rank: float
    load: list = dataclasses.field(compare=False, default_factory=list)


class Pair(typing.NamedTuple):
    left: float
    right: list
    third: float = 2.0

    def product(self):
        return self.left * self.right[0] * self.third


Old = namedtuple("Old", ["p", "q"], defaults=[2.0])


class Kind(enum.Enum):
    SINGLE = 1
    DOUBLE = 2

    def weight(self, u):
        u[0] *= self.value
        return u[0]

    @classmethod
    def default(cls):
        return cls.DOUBLE


class Flags(enum.IntFlag):
    A = 1
    B = 2


class Movie(typing.TypedDict, total=False):
    cost: float
    gains: list


@case(1.5, [1.0, 2.0])
def dataclass(x, u):
    b = Body(x, path=u, scale=u[1])
    c = Body(u[0], x)
    b.path[0] *= b.energy
    c.path[0] += b.mass
    c.speed *= x
    return b.energy * c.path[0] * c.speed * u[0] * u[2] * len(c.path)


@case(1.5, [1.0, 2.0])
def dataclass_functions(x, u):
    b = Body(x, path=u)
    c = dataclasses.replace(b, mass=u[0] * x, scale=x)
    c.path[0] *= c.energy
    d = dataclasses.asdict(b)
    d["path"][0] *= x
    t = dataclasses.astuple(c)
    return b.energy * c.energy * d["mass"] * d["path"][0] * t[0] * t[2][1] * u[0] * len(dataclasses.fields(b))


@case(1.5, [1.0, 2.0])
def frozen_dataclass(x, u):
    f = Frozen(x * u[0])
    u[0] *= f.area()
    g = dataclasses.replace(f, b=u[0])
    try:
        g.a = x
    except dataclasses.FrozenInstanceError:
        u[1] *= g.area()
    return u[0] * u[1] * f.a * dataclasses.asdict(g)["b"] * (2.0 if f == Frozen(f.a) else x)


@case(1.5, [1.0, 2.0])
def frozen_with_post_init(x, u):
    f = FrozenWithState(x, u)
    f.held[0] *= f.b
    return f.b * u[0] * u[2] * f.a


@case(1.5, [1.0, 2.0])
def ordered_dataclass(x, u):
    a, b = Ranked(rank=x, load=u), Ranked(rank=x * 2.0)
    a.load[0] *= b.rank
    b.load.append(x)
    best = max(a, b)
    best.load[0] *= x
    return (a < b) * min([a, b]).rank * best.load[0] * u[0] * sorted([b, a])[1].rank


@case(1.5, [1.0, 2.0])
def dataclass_in_a_function(x, u):
    @dataclasses.dataclass
    class Local:
        v: float
        w: list = dataclasses.field(default_factory=lambda: [u[0] * x])

        def step(self):
            u[0] *= self.v
            self.w[0] += u[0]

    a = Local(x)
    a.step()
    a.step()
    return a.v * a.w[0] * u[0]


@case(1.5, [1.0, 2.0])
def named_tuple(x, u):
    p = Pair(x, u)
    p.right[0] *= p.left
    q = p._replace(left=p.product())
    a, b, c = q
    b[1] *= a * c
    o = Old(x, *u[:1])
    d = o._asdict()
    d["p"] *= x
    return q.product() * u[1] * o.p * o[1] * d["p"] * Pair._make([x, u, a]).third * sum(Old(x))


@case(1.5, [1.0, 2.0])
def named_tuple_in_a_function(x, u):
    class Local(typing.NamedTuple):
        a: float
        b: list

        def get(self):
            self.b[0] *= self.a
            return self.b[0]

    p = Local(x, u)
    return p.get() * p.get() * u[0]


@case(1.5, [1.0, 2.0], Kind.DOUBLE)
def enumeration(x, u, kind):
    table = {Kind.SINGLE: x, Kind.DOUBLE: u[1]}
    table[kind] *= kind.weight(u)
    total = 0.0
    for k in Kind:
        total += table[k] * k.value
    flags = Flags.A | Flags.B
    if Flags.B in flags and Kind("x" and 1) is Kind.SINGLE and Kind["DOUBLE"] is Kind.default():
        total *= x
    return total * u[0] * len(kind.name)


@case(1.5, [1.0, 2.0])
def enumeration_in_a_function(x, u):
    class Local(enum.Enum):
        A = 1
        B = 2

        def get(self):
            u[0] *= x
            return u[0] * self.value

    return Local.A.get() * Local.B.get() * u[1]


@case(1.5, [1.0, 2.0])
def typed_dictionary(x, u):
    m: Movie = {"cost": x, "gains": u}
    n = Movie(cost=u[0], gains=[x])
    m["gains"][0] *= m["cost"]
    n["cost"] *= n["gains"][0]
    n["gains"] += u
    return n["cost"] * u[0] * n["gains"][1]


@case(1.5, [1.0, 2.0])
def formatted(x, u):
    width = 8
    s = f"{x:.3f} {u[0]!r:>{width}} {u[1] * x = :.1f} {'nested ' + f'{x:.0f}'} {x:{'>' + str(width)}.1f}"
    u[0] *= x
    t = "%.2f %s %5.1f%%" % (u[0], u, x)
    v = "{:.1f} {a:>10.2f} {b[0]:.1f}".format(u[0], a=x, b=u)
    w = "%(k).1f" % {"k": u[0]} + "%.2f %5.1f%%" % (u[0], x) + "%.1f" % x
    return u[0] * u[1] * (len(v) + (len(w) > 3) + (len(s) > 3) + (len(t) > 3))


@case(1.5, [1.0, 2.0])
def formatted_objects(x, u):
    class Shown:
        def __init__(self, v):
            self.v = v

        def __format__(self, spec):
            u[0] *= x
            return f"{self.v:{spec or '.1f'}}"

        def __str__(self):
            u[1] *= x
            return "shown"

        def __repr__(self):
            u[0] += self.v
            return "repr"

    a = Shown(x)
    s = f"{a} {a:.2f} {a!s} {a!r:>9}" + str(a) + repr(a) + format(a, ".3f")
    return u[0] * u[1] * a.v * (len(s) > 3)


@case(1.5, [1.0, 2.0])
def formatted_objects_in_c(x, u):
    class Shown:
        def __str__(self):
            return "shown" * len(u)

        def __repr__(self):
            return f"repr {u[0]:.0f}"

    a = Shown()
    u.append(u[0] * x)
    s = "%s %r" % (a, a) + "{} {!r}".format(a, a) + str([a]) + ",".join(map(str, [a, a])) + ascii((a,))
    return u[0] * u[2] * (len(s) > 3)


@dataclasses.dataclass(frozen=True)
class Noted:
    """A record whose list is made by a factory, and written to afterwards."""

    scale: float
    notes: list[float] = dataclasses.field(default_factory=list)


@case(1.5, [1.0, 2.0])
def list_of_a_factory(x, u):
    noted = Noted(x * 2.0)
    noted.notes.append(x * u[0])
    noted.notes.append(noted.scale)
    return noted.notes[0] * noted.notes[1] * u[1]
