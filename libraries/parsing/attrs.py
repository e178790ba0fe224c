"""attrs: classes without boilerplate."""

import attrs

from libraries.package import Package

package = Package("attrs")


@attrs.define
class Body:
    mass: float
    speed: float = attrs.field(default=1.0)

    @property
    def energy(self):
        return 0.5 * self.mass * self.speed**2


@attrs.frozen
class Point:
    x: float = attrs.field(converter=float)
    y: float = 0.0

    def distance(self, other):
        return ((self.x - other.x) ** 2 + (self.y - other.y) ** 2) ** 0.5


@attrs.define
class Checked:
    rate: float = attrs.field(
        validator=attrs.validators.and_(attrs.validators.gt(0.0), attrs.validators.lt(10.0))
    )
    total: float = attrs.field(init=False)

    def __attrs_post_init__(self):
        self.total = self.rate**2 + 1.0


@package.call(2.0, 3.0)
def energy(mass, speed):
    return Body(mass, speed).energy


@package.call(0.4, 1.5)
def distance_of_points(x, y):
    return Point(x, y).distance(Point(3.0, -1.0))


@package.call(1.7)
def with_validators(rate):
    return Checked(rate).total


@package.call(1.2)
def evolved(x):
    point = attrs.evolve(Point(1.0, 2.0), y=x)
    return point.distance(Point(0.0))


@package.call(1.2, 0.7)
def as_a_dict(mass, speed):
    body = Body(mass, speed)
    body.speed *= 2.0
    found = attrs.asdict(body)
    return found["mass"] * found["speed"]


@package.call(1.2)
def as_a_tuple(mass):
    return sum(k * value for k, value in enumerate(attrs.astuple(Body(mass, mass**2)), 1))
