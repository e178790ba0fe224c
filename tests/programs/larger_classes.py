"""Programs of several classes each, as people write them."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from itertools import combinations

from tests.programs.classes import Vec3

__all__ = ["LARGE"]


# -- a ray tracer -----------------------------------------------------------------------------------------


class Ray:
    def __init__(self, origin, direction):
        self.origin = origin
        self.direction = direction

    def at(self, t):
        return self.origin + self.direction * t


class Material:
    def __init__(self, colour, shine=0.0):
        self.colour = colour
        self.shine = shine


class Sphere:
    def __init__(self, centre, radius, material):
        self.centre, self.radius, self.material = centre, radius, material

    def hit(self, ray):
        oc = ray.origin - self.centre
        b = oc.dot(ray.direction)
        c = oc.dot(oc) - self.radius**2
        under = b * b - c
        if under < 0.0:
            return None
        t = -b - math.sqrt(under)
        return t if t > 1e-4 else None

    def normal(self, p):
        return (p - self.centre) * (1.0 / self.radius)


class Scene:
    def __init__(self, light):
        self.light = light
        self.spheres = []

    def add(self, sphere):
        self.spheres.append(sphere)
        return self

    def nearest(self, ray):
        best, found = None, None
        for sphere in self.spheres:
            t = sphere.hit(ray)
            if t is not None and (best is None or t < best):
                best, found = t, sphere
        return best, found

    def shade(self, ray):
        t, sphere = self.nearest(ray)
        if sphere is None:
            return 0.1
        p = ray.at(t)
        n = sphere.normal(p)
        towards = self.light - p
        towards = towards * (1.0 / towards.length())
        lit = max(n.dot(towards), 0.0)
        return sphere.material.colour * lit + sphere.material.shine * lit**10


def picture(x, k):
    scene = Scene(Vec3(3.0, 4.0, -3.0))
    scene.add(Sphere(Vec3(0.0, 0.0, 3.0), x, Material(k, 0.3)))
    scene.add(Sphere(Vec3(0.8, 0.2, 4.0), 0.9, Material(0.5)))
    total = 0.0
    for i in range(6):
        for j in range(6):
            d = Vec3(0.15 * (i - 2.5), 0.15 * (j - 2.5), 1.0)
            total += scene.shade(Ray(Vec3(0.0, 0.0, 0.0), d * (1.0 / d.length())))
    return total


# -- bodies -----------------------------------------------------------------------------------------------


@dataclass
class Body:
    mass: float
    position: Vec3
    velocity: Vec3

    @property
    def energy(self):
        return 0.5 * self.mass * self.velocity.dot(self.velocity)


class System:
    def __init__(self, bodies):
        self.bodies = bodies

    def step(self, dt):
        for a, b in combinations(self.bodies, 2):
            d = b.position - a.position
            r = d.length()
            pull = d * (1.0 / (r * r * r + 0.1))
            a.velocity = a.velocity + pull * (dt * b.mass)
            b.velocity = b.velocity - pull * (dt * a.mass)
        for body in self.bodies:
            body.position = body.position + body.velocity * dt

    @property
    def energy(self):
        kinetic = sum(body.energy for body in self.bodies)
        pairs = combinations(self.bodies, 2)
        return kinetic - sum(a.mass * b.mass / (a.position - b.position).length() for a, b in pairs)


def bodies(x, k):
    system = System(
        [
            Body(5.0, Vec3(0.0, 0.0, 0.0), Vec3(0.0, 0.0, 0.0)),
            Body(x, Vec3(1.0, 0.0, 0.1), Vec3(0.0, k, 0.0)),
            Body(0.3, Vec3(0.0, 2.0, 0.0), Vec3(-1.2, 0.0, 0.1)),
        ]
    )
    for _ in range(10):
        system.step(0.01)
    return system.energy


# -- a network --------------------------------------------------------------------------------------------


class Activation(ABC):
    @abstractmethod
    def __call__(self, x): ...


class Tanh(Activation):
    def __call__(self, x):
        return math.tanh(x)


class Softplus(Activation):
    def __call__(self, x):
        return math.log1p(math.exp(x))


class Neuron:
    def __init__(self, weights, bias, activation):
        self.weights = weights
        self.bias = bias
        self.activation = activation

    def __call__(self, inputs):
        total = self.bias
        for w, i in zip(self.weights, inputs):
            total += w * i
        return self.activation(total)


class Dense:
    def __init__(self, rows, activation):
        self.neurons = [Neuron(row, 0.1, activation) for row in rows]

    def __call__(self, inputs):
        return [neuron(inputs) for neuron in self.neurons]


class Network:
    def __init__(self, *layers):
        self.layers = list(layers)

    def __call__(self, inputs):
        for layer in self.layers:
            inputs = layer(inputs)
        return inputs

    def loss(self, samples):
        return sum((self(inputs)[0] - target) ** 2 for inputs, target in samples)


def network(x, k):
    network = Network(
        Dense([[x * 0.1 * (i + j) for j in range(2)] for i in range(4)], Tanh()),
        Dense([[k * 0.2 * (i - j) for j in range(4)] for i in range(1)], Softplus()),
    )
    return network.loss([([0.1 * i, 1.0 - 0.2 * i], 0.3 * i) for i in range(8)])


# -- units ------------------------------------------------------------------------------------------------


class Quantity:
    """A number with powers of metre and second."""

    def __init__(self, value, metres=0, seconds=0):
        self.value = value
        self.metres = metres
        self.seconds = seconds

    def _like(self, value):
        return Quantity(value, self.metres, self.seconds)

    def _check(self, other):
        if (self.metres, self.seconds) != (other.metres, other.seconds):
            raise TypeError("different units")

    def __add__(self, other):
        self._check(other)
        return self._like(self.value + other.value)

    def __sub__(self, other):
        self._check(other)
        return self._like(self.value - other.value)

    def __mul__(self, other):
        if isinstance(other, Quantity):
            return Quantity(
                self.value * other.value, self.metres + other.metres, self.seconds + other.seconds
            )
        return self._like(self.value * other)

    def __rmul__(self, other):
        return self * other

    def __truediv__(self, other):
        return Quantity(self.value / other.value, self.metres - other.metres, self.seconds - other.seconds)

    def __lt__(self, other):
        self._check(other)
        return self.value < other.value


def metres(value):
    return Quantity(value, metres=1)


def seconds(value):
    return Quantity(value, seconds=1)


def braking(x, k):
    position, speed = metres(0.0), metres(20.0 * x) / seconds(1.0)
    dt = seconds(0.05)
    zero = metres(0.0) / seconds(1.0)
    for _ in range(100):
        slowing = -0.1 * k * (speed * speed) / metres(5.0)
        speed = speed + slowing * dt
        if speed < zero:
            break
        position = position + speed * dt
    return position.value


# -- an epidemic ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class State:
    susceptible: float
    infected: float
    recovered: float = 0.0

    def __add__(self, other):
        return State(
            self.susceptible + other.susceptible,
            self.infected + other.infected,
            self.recovered + other.recovered,
        )

    def __mul__(self, k):
        return State(k * self.susceptible, k * self.infected, k * self.recovered)

    __rmul__ = __mul__

    @property
    def total(self):
        return self.susceptible + self.infected + self.recovered


@dataclass(frozen=True)
class Epidemic:
    contact: float
    recovery: float

    def rate(self, s):
        new = self.contact * s.susceptible * s.infected / s.total
        healed = self.recovery * s.infected
        return State(-new, new - healed, healed)


class RungeKutta:
    def __init__(self, model, dt):
        self.model, self.dt = model, dt

    def step(self, s):
        f, h = self.model.rate, self.dt
        k1 = f(s)
        k2 = f(s + 0.5 * h * k1)
        k3 = f(s + 0.5 * h * k2)
        k4 = f(s + h * k3)
        return s + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)


def epidemic(x, k):
    model = Epidemic(contact=k, recovery=0.3 * x)
    solver = RungeKutta(model, 0.2)
    state = State(990.0, 10.0)
    worst = 0.0
    for day in range(30):
        state = solver.step(state)
        if day == 20:
            model = replace(model, contact=0.5 * model.contact)
            solver = RungeKutta(model, 0.2)
        worst += state.infected * 0.01
    return worst + state.recovered * 0.001


# -- expressions ------------------------------------------------------------------------------------------


class Expression:
    def __add__(self, other):
        return Sum(self, wrapped(other))

    def __mul__(self, other):
        return Product(self, wrapped(other))

    __radd__, __rmul__ = __add__, __mul__


class Number(Expression):
    def __init__(self, value):
        self.value = value

    def evaluate(self, env):
        return self.value


class Variable(Expression):
    def __init__(self, name):
        self.name = name

    def evaluate(self, env):
        return env[self.name]


class Pair(Expression):
    def __init__(self, left, right):
        self.left, self.right = left, right


class Sum(Pair):
    def evaluate(self, env):
        return self.left.evaluate(env) + self.right.evaluate(env)


class Product(Pair):
    def evaluate(self, env):
        return self.left.evaluate(env) * self.right.evaluate(env)


def wrapped(x):
    return x if isinstance(x, Expression) else Number(x)


def expressions(x, k):
    a, b = Variable("a"), Variable("b")
    tree = (a * a + 2.0 * b) * (b + k) + a * b
    return sum(tree.evaluate({"a": x * 0.1 * i, "b": x + i}) for i in range(10))


# -- accounts ---------------------------------------------------------------------------------------------


class Money:
    __slots__ = ("amount", "currency")

    def __init__(self, amount, currency="EUR"):
        self.amount = amount
        self.currency = currency

    @classmethod
    def zero(cls):
        return cls(0.0)

    def __add__(self, other):
        if not isinstance(other, Money):
            return NotImplemented
        return Money(self.amount + other.amount, self.currency)

    def __radd__(self, other):
        return self if other == 0 else NotImplemented

    def __mul__(self, k):
        return Money(self.amount * k, self.currency)


class Loan:
    def __init__(self, principal, rate, years):
        self.left = principal
        self.rate = rate
        self.months = 12 * years

    @property
    def instalment(self):
        q = 1.0 + self.rate / 12.0
        return self.left * ((q - 1.0) / (1.0 - q**-self.months))

    def pay(self):
        instalment = self.instalment
        interest = self.left * (self.rate / 12.0)
        self.left = self.left + interest + instalment * -1.0
        self.months -= 1
        return interest


class Bank:
    def __init__(self):
        self.loans = {}

    def lend(self, name, loan):
        self.loans[name] = loan

    def month(self):
        return sum(loan.pay() for loan in self.loans.values() if loan.months > 0)


def loans(x, k):
    bank = Bank()
    bank.lend("house", Loan(Money(1000.0 * x), 0.04 * k, 2))
    bank.lend("car", Loan(Money(200.0), 0.07, 1))
    earned = Money.zero()
    for _ in range(18):
        earned = earned + bank.month()
    return earned.amount


# -- a circuit --------------------------------------------------------------------------------------------


class Component(ABC):
    def __init__(self, name):
        self.name = name
        self.current = 0.0

    @abstractmethod
    def drop(self, current, dt): ...


class Resistor(Component):
    def __init__(self, name, ohms):
        super().__init__(name)
        self.ohms = ohms

    def drop(self, current, dt):
        return self.ohms * current


class Capacitor(Component):
    def __init__(self, name, farads):
        super().__init__(name)
        self.farads = farads
        self.charge = 0.0

    def drop(self, current, dt):
        self.charge += dt * current
        return self.charge / self.farads


@dataclass
class Circuit:
    inductance: float
    components: list = field(default_factory=list)
    current: float = 0.0

    def add(self, component):
        self.components.append(component)
        return self

    def step(self, voltage, dt):
        drops = 0.0
        for component in self.components:
            drops += component.drop(self.current, dt)
        self.current += dt * (voltage - drops) / self.inductance
        return self.current


def circuit(x, k):
    circuit = Circuit(0.5).add(Resistor("r", x)).add(Capacitor("c", 0.1 * k))
    energy = 0.0
    for n in range(100):
        current = circuit.step(math.sin(0.3 * n), 0.02)
        energy += current * current
    return energy


# -- particles --------------------------------------------------------------------------------------------


class Particle:
    def __init__(self, x, y, mass=1.0):
        self.x, self.y = x, y
        self.vx = self.vy = 0.0
        self.mass = mass

    @classmethod
    def on_circle(cls, radius, angle):
        return cls(radius * math.cos(angle), radius * math.sin(angle))

    def push(self, fx, fy, dt):
        self.vx += fx / self.mass * dt
        self.vy += fy / self.mass * dt

    def move(self, dt):
        self.x += self.vx * dt
        self.y += self.vy * dt


class Spring:
    def __init__(self, a, b, stiffness, length):
        self.a, self.b = a, b
        self.stiffness, self.length = stiffness, length

    def act(self, dt):
        a, b = self.a, self.b
        dx, dy = b.x - a.x, b.y - a.y
        distance = math.sqrt(dx * dx + dy * dy)
        force = self.stiffness * (distance - self.length) / distance
        a.push(force * dx, force * dy, dt)
        b.push(-force * dx, -force * dy, dt)


class Ring:
    def __init__(self, n, radius, stiffness):
        self.particles = [Particle.on_circle(radius, 2.0 * math.pi * i / n) for i in range(n)]
        self.springs = [
            Spring(self.particles[i], self.particles[(i + 1) % n], stiffness, 1.0) for i in range(n)
        ]

    def step(self, dt):
        for spring in self.springs:
            spring.act(dt)
        for particle in self.particles:
            particle.move(dt)

    def __iter__(self):
        return iter(self.particles)


def ring(x, k):
    ring = Ring(6, 1.0 + 0.2 * x, 3.0 * k)
    for _ in range(10):
        ring.step(0.05)
    return sum(p.x * p.x + 0.5 * p.y for p in ring)


# -- a filter ---------------------------------------------------------------------------------------------


class Matrix2:
    __slots__ = ("a", "b", "c", "d")

    def __init__(self, a, b, c, d):
        self.a, self.b, self.c, self.d = a, b, c, d

    @staticmethod
    def diagonal(a, d):
        return Matrix2(a, 0.0, 0.0, d)

    def __matmul__(self, m):
        return Matrix2(
            self.a * m.a + self.b * m.c, self.a * m.b + self.b * m.d,
            self.c * m.a + self.d * m.c, self.c * m.b + self.d * m.d,
        )  # fmt: skip

    def __add__(self, m):
        return Matrix2(self.a + m.a, self.b + m.b, self.c + m.c, self.d + m.d)

    @property
    def T(self):
        return Matrix2(self.a, self.c, self.b, self.d)


class Tracker:
    def __init__(self, dt, process, noise):
        self.step = Matrix2(1.0, dt, 0.0, 1.0)
        self.process = Matrix2.diagonal(process, process)
        self.noise = noise
        self.mean = (0.0, 0.0)
        self.covariance = Matrix2.diagonal(1.0, 1.0)
        self.misfit = 0.0

    def predict(self):
        x, v = self.mean
        self.mean = (self.step.a * x + self.step.b * v, v)
        self.covariance = self.step @ self.covariance @ self.step.T + self.process

    def update(self, seen):
        x, v = self.mean
        p = self.covariance
        spread = p.a + self.noise
        error = seen - x
        self.misfit += 0.5 * error * error / spread + 0.5 * math.log(spread)
        gain_x, gain_v = p.a / spread, p.c / spread
        self.mean = (x + gain_x * error, v + gain_v * error)
        self.covariance = Matrix2(
            (1.0 - gain_x) * p.a, (1.0 - gain_x) * p.b, p.c - gain_v * p.a, p.d - gain_v * p.b
        )


def tracking(x, k):
    tracker = Tracker(0.1, 0.01 * k, x)
    for i in range(30):
        tracker.predict()
        tracker.update(math.sin(0.2 * i))
    return tracker.misfit


LARGE = {
    f.__name__: f
    for f in (
        picture, bodies, network, braking, epidemic, expressions, loans, circuit, ring, tracking
    )
}  # fmt: skip
"""Functions of two numbers, by name."""
