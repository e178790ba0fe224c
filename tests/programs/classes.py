"""Programs with classes, as people write them: small ones, one for each thing that classes have."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

__all__ = ["SMALL"]


# -- operators ---------------------------------------------------------------------------------------------


class Vec3:
    def __init__(self, x, y, z):
        self.x = x
        self.y = y
        self.z = z

    def __add__(self, other):
        return Vec3(self.x + other.x, self.y + other.y, self.z + other.z)

    def __sub__(self, other):
        return Vec3(self.x - other.x, self.y - other.y, self.z - other.z)

    def __mul__(self, k):
        return Vec3(self.x * k, self.y * k, self.z * k)

    __rmul__ = __mul__

    def __neg__(self):
        return Vec3(-self.x, -self.y, -self.z)

    def dot(self, other):
        return self.x * other.x + self.y * other.y + self.z * other.z

    def length(self):
        return math.sqrt(self.dot(self))


def falling(x, k):
    """A ball in a wind."""
    position, velocity = Vec3(0.0, 0.0, x), Vec3(1.0, 0.5, 0.0)
    wind, gravity = Vec3(0.3, 0.1, 0.0), Vec3(0.0, 0.0, -9.81)
    dt = 0.01
    for _ in range(60):
        drag = (wind - velocity) * (k * (wind - velocity).length())
        velocity = velocity + dt * (gravity + drag)
        position = position + dt * velocity
    return position.dot(position)


class Quaternion:
    __slots__ = ("w", "x", "y", "z")

    def __init__(self, w, x, y, z):
        self.w, self.x, self.y, self.z = w, x, y, z

    @classmethod
    def about_z(cls, angle):
        return cls(math.cos(angle / 2), 0.0, 0.0, math.sin(angle / 2))

    @staticmethod
    def of_vector(x, y, z):
        return Quaternion(0.0, x, y, z)

    @property
    def conjugate(self):
        return Quaternion(self.w, -self.x, -self.y, -self.z)

    def __mul__(self, o):
        return Quaternion(
            self.w * o.w - self.x * o.x - self.y * o.y - self.z * o.z,
            self.w * o.x + self.x * o.w + self.y * o.z - self.z * o.y,
            self.w * o.y - self.x * o.z + self.y * o.w + self.z * o.x,
            self.w * o.z + self.x * o.y - self.y * o.x + self.z * o.w,
        )


def turning(x, k):
    """A vector that is turned again and again."""
    v = Quaternion.of_vector(x, 1.0, 0.5)
    total = 0.0
    for i in range(20):
        q = Quaternion.about_z(k * i)
        v = q * v * q.conjugate
        total += v.x * v.y
    return total


class Dual:
    def __init__(self, value, slope=0.0):
        self.value = value
        self.slope = slope

    def __add__(self, other):
        if not isinstance(other, Dual):
            other = Dual(other)
        return Dual(self.value + other.value, self.slope + other.slope)

    __radd__ = __add__

    def __mul__(self, other):
        if not isinstance(other, Dual):
            other = Dual(other)
        return Dual(self.value * other.value, self.slope * other.value + self.value * other.slope)

    __rmul__ = __mul__


def slope_of_polynomial(x, k):
    """The derivative of a polynomial, by numbers that know theirs."""
    t = Dual(x, 1.0)
    result = Dual(0.0)
    for i in range(30):
        result = result * t * 0.5 + k * i
    return result.slope


# -- attributes -------------------------------------------------------------------------------------------


class Account:
    def __init__(self, balance, rate):
        self._balance = balance
        self.rate = rate

    @property
    def balance(self):
        return self._balance

    @balance.setter
    def balance(self, amount):
        if amount < 0:
            raise ValueError("overdrawn")
        self._balance = amount

    def pay_interest(self):
        self.balance += self.balance * self.rate

    def withdraw(self, amount):
        self.balance = self.balance - amount


def savings(x, k):
    account = Account(1000.0 * x, 0.01 * k)
    for month in range(60):
        account.pay_interest()
        if month % 12 == 11:
            account.withdraw(20.0 * x)
    return account.balance


class Oscillator:
    __slots__ = ("frequency", "v", "x")

    def __init__(self, x, frequency):
        self.x = x
        self.v = 0.0
        self.frequency = frequency

    @property
    def energy(self):
        return 0.5 * self.v**2 + 0.5 * (self.frequency * self.x) ** 2

    def step(self, dt):
        self.v -= dt * self.frequency**2 * self.x
        self.x += dt * self.v


def swinging(x, k):
    oscillators = [Oscillator(x, k), Oscillator(0.5 * x, 2.0 * k)]
    total = 0.0
    for _ in range(40):
        for o in oscillators:
            o.step(0.01)
        total += oscillators[0].x * oscillators[1].x
    return total + sum(o.energy for o in oscillators)


# -- dataclasses ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Point:
    x: float
    y: float

    def __add__(self, other):
        return Point(self.x + other.x, self.y + other.y)

    def scaled(self, k):
        return Point(k * self.x, k * self.y)

    @property
    def norm(self):
        return math.hypot(self.x, self.y)


def walking(x, k):
    p, step = Point(x, 0.0), Point(0.1, 0.2)
    total = 0.0
    for i in range(40):
        p = p + step.scaled(k)
        if i % 10 == 0:
            p = replace(p, y=0.5 * p.y)
        total += p.norm
    return total


@dataclass
class Layer:
    weight: float
    bias: float
    history: list = field(default_factory=list)

    def __call__(self, x):
        y = math.tanh(self.weight * x + self.bias)
        self.history.append(y)
        return y


def layered(x, k):
    layers = [Layer(k, 0.1 * i) for i in range(5)]
    total = 0.0
    for j in range(6):
        y = x * j
        for layer in layers:
            y = layer(y)
        total += y
    return total + sum(sum(layer.history) for layer in layers)


# -- inheritance, protocols -------------------------------------------------------------------------------


class Shape:
    def __init__(self, scale):
        self.scale = scale

    def area(self):
        raise NotImplementedError

    def weighted(self, k):
        return k * self.area()


class Circle(Shape):
    def __init__(self, scale, radius):
        super().__init__(scale)
        self.radius = radius

    def area(self):
        return self.scale * math.pi * self.radius**2


class Ring(Circle):
    def __init__(self, scale, radius, inner):
        super().__init__(scale, radius)
        self.inner = inner

    def area(self):
        return super().area() - self.scale * math.pi * self.inner**2


class Rectangle(Shape):
    def __init__(self, scale, a, b):
        super().__init__(scale)
        self.a, self.b = a, b

    def area(self):
        return self.scale * self.a * self.b


def shapes(x, k):
    total = 0.0
    for i in range(15):
        for shape in (Circle(x, 1.0 + i), Ring(x, 2.0 + i, 0.5), Rectangle(x, 0.5 * i, k)):
            total += shape.weighted(k)
    return total


class Node:
    def __init__(self, value, next=None):
        self.value = value
        self.next = next


class Stack:
    def __init__(self):
        self.top = None
        self.size = 0

    def push(self, value):
        self.top = Node(value, self.top)
        self.size += 1

    def __iter__(self):
        node = self.top
        while node is not None:
            yield node.value
            node = node.next

    def __len__(self):
        return self.size


def linked(x, k):
    stack = Stack()
    for i in range(40):
        stack.push(math.sin(k * i) * x)
    total = 0.0
    for value in stack:
        total = 0.9 * total + value * value
    return total / len(stack)


class Polynomial:
    def __init__(self, coefficients):
        self.coefficients = coefficients

    def __getitem__(self, i):
        return self.coefficients[i]

    def __len__(self):
        return len(self.coefficients)

    def __call__(self, x):
        result = 0.0
        for c in reversed(self.coefficients):
            result = result * x + c
        return result


def evaluated(x, k):
    p = Polynomial([k, 0.5 * k, -0.3, 0.2, 0.1 * k])
    total = 0.0
    for i in range(20):
        total += p(x * 0.05 * i) + p[i % len(p)]
    return total


SMALL = {
    f.__name__: f
    for f in (
        falling, turning, slope_of_polynomial, savings, swinging, walking, layered, shapes, linked, evaluated
    )
}  # fmt: skip
"""Functions of two numbers, by name."""
