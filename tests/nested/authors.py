# ruff: noqa: B007, B905, RUF007, RUF012  # as their authors write
"""Programs as their authors would write them, who have not thought of derivatives, with arguments."""

from __future__ import annotations

import dataclasses
import functools
import heapq
import logging
import math
from collections import defaultdict, deque
from typing import Any

import numpy as np

import adbc

log = logging.getLogger(__name__)
log.setLevel(logging.CRITICAL)  # handlers of pytest's keep what they are given
rng = np.random.default_rng(7)

# -- logistic regression as a class --------------------------------------------------------------------------


class LogisticRegression:
    def __init__(self, weights: Any, bias: Any, l2: Any = 0.1) -> None:
        self.weights = weights
        self.bias = bias
        self.l2 = l2
        self.history = []

    def predict(self, X: Any) -> Any:
        return 1.0 / (1.0 + np.exp(-(X @ self.weights + self.bias)))

    def loss(self, X: Any, y: Any) -> Any:
        p = self.predict(X)
        nll = -np.mean(y * np.log(p) + (1 - y) * np.log(1 - p))
        penalty = 0.5 * self.l2 * np.sum(self.weights**2)
        log.debug("loss %s", nll)
        self.history.append(float(nll))
        return nll + penalty


LX = rng.normal(size=(40, 3))
LY = (rng.random(40) > 0.4).astype(float)


def logistic(w: Any) -> Any:
    model = LogisticRegression(w[:3], w[3])
    return model.loss(LX, LY)


# -- a network with layer objects ----------------------------------------------------------------------------


class Dense:
    def __init__(self, w: Any, b: Any, activation: Any = None) -> None:
        self.w, self.b, self.activation = w, b, activation

    def __call__(self, x: Any) -> Any:
        z = x @ self.w + self.b
        return self.activation(z) if self.activation is not None else z


class Network:
    def __init__(self, layers: Any) -> None:
        self.layers = layers

    def forward(self, x: Any) -> Any:
        for layer in self.layers:
            x = layer(x)
        return x


NX = rng.normal(size=(16, 2))
NY = np.sin(NX[:, :1])


def network(params: Any) -> Any:
    layers = []
    for i, (w, b) in enumerate(params):
        layers.append(Dense(w, b, np.tanh if i < len(params) - 1 else None))
    out = Network(layers).forward(NX)
    return np.mean((out - NY) ** 2)


NETWORK = [(rng.normal(size=(2, 5)), rng.normal(size=5)), (rng.normal(size=(5, 1)), rng.normal(size=1))]


# -- Kalman filter -------------------------------------------------------------------------------------------


KZ = np.cumsum(rng.normal(size=15)) * 0.3


def kalman(theta: Any) -> Any:
    q, r = math.exp(theta["log_q"]), math.exp(theta["log_r"])
    F = np.array([[1.0, theta["dt"]], [0.0, 1.0]])
    H = np.array([[1.0, 0.0]])
    Q = q * np.eye(2)
    x = np.zeros(2)
    P = np.eye(2)
    ll = 0.0
    for z in KZ:
        x = F @ x
        P = F @ P @ F.T + Q
        S = (H @ P @ H.T)[0, 0] + r
        innovation = z - (H @ x)[0]
        ll += -0.5 * (math.log(2 * math.pi * S) + innovation**2 / S)
        K = P @ H.T[:, 0] / S
        x = x + K * innovation
        P = P - np.outer(K, H @ P)
    return ll


# -- bodies on springs ---------------------------------------------------------------------------------------


class Body:
    def __init__(self, x: Any, v: Any, mass: Any = 1.0) -> None:
        self.x = x
        self.v = v
        self.mass = mass

    def kick(self, force: Any, dt: Any) -> None:
        self.v += dt * force / self.mass

    def drift(self, dt: Any) -> None:
        self.x += dt * self.v


class Spring:
    def __init__(self, a: Any, b: Any, k: Any, rest: Any) -> None:
        self.a, self.b, self.k, self.rest = a, b, k, rest

    def apply(self, dt: Any) -> None:
        stretch = self.b.x - self.a.x - self.rest
        force = self.k * stretch
        self.a.kick(force, dt)
        self.b.kick(-force, dt)

    @property
    def energy(self) -> Any:
        return 0.5 * self.k * (self.b.x - self.a.x - self.rest) ** 2


def springs(p: Any) -> Any:
    k, rest, v0 = p
    bodies = [Body(float(i) * 1.1, 0.0, mass=1.0 + 0.1 * i) for i in range(5)]
    bodies[0].v = v0
    links = [Spring(a, b, k, rest) for a, b in zip(bodies, bodies[1:])]
    for _ in range(20):
        for s in links:
            s.apply(0.05)
        for b in bodies:
            b.drift(0.05)
    return sum(s.energy for s in links) + bodies[-1].x ** 2


# -- Runge-Kutta with a closure, lists -----------------------------------------------------------------------


def rk4(f: Any, y: Any, t0: Any, t1: Any, n: Any) -> Any:
    h = (t1 - t0) / n
    t = t0
    for _ in range(n):
        k1 = f(t, y)
        k2 = f(t + h / 2, [yi + h / 2 * ki for yi, ki in zip(y, k1)])
        k3 = f(t + h / 2, [yi + h / 2 * ki for yi, ki in zip(y, k2)])
        k4 = f(t + h, [yi + h * ki for yi, ki in zip(y, k3)])
        y = [yi + h / 6 * (a + 2 * b + 2 * c + d) for yi, a, b, c, d in zip(y, k1, k2, k3, k4)]
        t += h
    return y


def lotka(p: Any) -> Any:
    a, b, c, d = p

    def rhs(t: Any, y: Any) -> Any:
        prey, pred = y
        return [a * prey - b * prey * pred, d * prey * pred - c * pred]

    final = rk4(rhs, [1.0, 0.5], 0.0, 2.0, 25)
    return (final[0] - 1.2) ** 2 + (final[1] - 0.7) ** 2


# -- adaptive steps with arrays ------------------------------------------------------------------------------


def adaptive(p: Any) -> Any:
    y = np.array([p[0], p[1]])
    mu = p[2]

    def f(y: Any) -> Any:
        return np.array([y[1], mu * (1 - y[0] ** 2) * y[1] - y[0]])

    t, h = 0.0, 0.1
    accepted = 0
    while t < 2.0:
        h = min(h, 2.0 - t)
        k1 = f(y)
        k2 = f(y + h * k1)
        low = y + h * k1
        high = y + h / 2 * (k1 + k2)
        error = np.max(np.abs(high - low))
        if error < 1e-2:
            y = high
            t += h
            accepted += 1
        factor = 0.9 * math.sqrt(1e-2 / (float(error) + 1e-12))
        h *= min(2.0, max(0.3, factor))
    return y[0] ** 2 + 0.5 * y[1] ** 2


# -- ledger: dicts, exceptions, logging ----------------------------------------------------------------------


class InsufficientFunds(Exception):
    def __init__(self, name: Any, missing: Any) -> None:
        super().__init__(f"{name} lacks {missing}")
        self.missing = missing


class Ledger:
    def __init__(self) -> None:
        self.accounts = {}
        self.fees = 0.0

    def open(self, name: Any, amount: Any) -> None:
        self.accounts[name] = amount

    def transfer(self, src: Any, dst: Any, amount: Any) -> None:
        if self.accounts[src] < amount:
            raise InsufficientFunds(src, amount - self.accounts[src])
        fee = 0.01 * amount
        self.accounts[src] -= amount
        self.accounts[dst] += amount - fee
        self.fees += fee
        log.info("moved %s from %s to %s", amount, src, dst)

    def accrue(self, rate: Any) -> None:
        for name in self.accounts:
            self.accounts[name] *= 1 + rate


def ledger(x: Any) -> Any:
    book = Ledger()
    book.open("ann", x[0])
    book.open("bob", x[1])
    shortfall = 0.0
    for month in range(6):
        try:
            book.transfer("ann", "bob", 30.0 + 5 * month)
        except InsufficientFunds as e:
            shortfall += e.missing**2
            log.warning("refused: %s", e)
        book.accrue(x[2])
    return book.accounts["ann"] * book.accounts["bob"] * 0.01 + shortfall + book.fees


# -- expression tree -----------------------------------------------------------------------------------------


class Node:
    def eval(self, env: Any) -> Any:
        raise NotImplementedError

    def __add__(self, other: Any) -> Any:
        return Add(self, other)

    def __mul__(self, other: Any) -> Any:
        return Mul(self, other)


@dataclasses.dataclass
class Var(Node):
    name: str

    def eval(self, env: Any) -> Any:
        return env[self.name]


@dataclasses.dataclass
class Num(Node):
    value: float

    def eval(self, env: Any) -> Any:
        return self.value


@dataclasses.dataclass
class Add(Node):
    left: Node
    right: Node

    def eval(self, env: Any) -> Any:
        return self.left.eval(env) + self.right.eval(env)


@dataclasses.dataclass
class Mul(Node):
    left: Node
    right: Node

    def eval(self, env: Any) -> Any:
        return self.left.eval(env) * self.right.eval(env)


@dataclasses.dataclass
class Fn(Node):
    fn: Any
    arg: Node

    def eval(self, env: Any) -> Any:
        return self.fn(self.arg.eval(env))


TREE = Fn(math.sin, Var("x") * Var("y") + Num(0.5)) * Var("x") + Fn(math.exp, Var("z") * Num(0.3)) * Var(
    "y"
) * Var("z")


def tree(env: Any) -> Any:
    return TREE.eval(env)


# -- memoised recursion --------------------------------------------------------------------------------------


def partitions(xs: Any) -> Any:
    n = len(xs)

    @functools.cache
    def best(i: Any, j: Any) -> Any:
        if i == j:
            return xs[i]
        total = 0.0
        for k in range(i, j):
            total += best(i, k) * best(k + 1, j) / (1.0 + xs[k] ** 2)
        return total

    return best(0, n - 1)


# -- hidden Markov model with dicts --------------------------------------------------------------------------


STATES = ("rainy", "sunny")
OBS = ["walk", "shop", "clean", "walk", "walk", "shop"]


def hmm(p: Any) -> Any:
    start = {"rainy": p["start"], "sunny": 1 - p["start"]}
    trans = {
        "rainy": {"rainy": p["stay"], "sunny": 1 - p["stay"]},
        "sunny": {"rainy": p["turn"], "sunny": 1 - p["turn"]},
    }
    emit = {
        "rainy": {"walk": 0.1, "shop": 0.4, "clean": 0.5},
        "sunny": {"walk": 0.6, "shop": 0.3, "clean": 0.1},
    }
    alpha = {s: start[s] * emit[s][OBS[0]] for s in STATES}
    for o in OBS[1:]:
        alpha = {s: sum(alpha[q] * trans[q][s] for q in STATES) * emit[s][o] for s in STATES}
    return math.log(sum(alpha.values()))


# -- IIR filter with deques ----------------------------------------------------------------------------------


class Biquad:
    def __init__(self, b: Any, a: Any) -> None:
        self.b, self.a = b, a
        self.x = deque([0.0, 0.0], maxlen=2)
        self.y = deque([0.0, 0.0], maxlen=2)

    def step(self, u: Any) -> Any:
        out = self.b[0] * u + self.b[1] * self.x[0] + self.b[2] * self.x[1]
        out -= self.a[0] * self.y[0] + self.a[1] * self.y[1]
        self.x.appendleft(u)
        self.y.appendleft(out)
        return out


SIGNAL = [math.sin(0.3 * i) + 0.2 * math.cos(1.1 * i) for i in range(40)]


def iir(c: Any) -> Any:
    f = Biquad(c[:3], c[3:])
    return sum((f.step(u) - 0.5 * u) ** 2 for u in SIGNAL)


# -- PID controller ------------------------------------------------------------------------------------------


class PID:
    def __init__(self, kp: Any, ki: Any, kd: Any, limit: Any = 10.0) -> None:
        self.kp, self.ki, self.kd = kp, ki, kd
        self.limit = limit
        self._integral = 0.0
        self._last = None

    @property
    def integral(self) -> Any:
        return self._integral

    @integral.setter
    def integral(self, value: Any) -> Any:
        self._integral = max(-self.limit, min(self.limit, value))

    def update(self, error: Any, dt: Any) -> Any:
        self.integral = self.integral + error * dt
        derivative = 0.0 if self._last is None else (error - self._last) / dt
        self._last = error
        return self.kp * error + self.ki * self.integral + self.kd * derivative


def pid(gains: Any) -> Any:
    controller = PID(*gains)
    temperature, cost = 20.0, 0.0
    for step in range(50):
        error = 22.0 - temperature
        power = controller.update(error, 0.1)
        temperature += 0.1 * (power - 0.3 * (temperature - 18.0))
        cost += 0.1 * error * error + 1e-3 * power * power
    return cost


# -- Kepler's equation by Newton's method --------------------------------------------------------------------


def kepler_E(M: Any, e: Any, tol: Any = 1e-13) -> Any:
    E = M if e < 0.8 else math.pi
    while True:
        dE = (E - e * math.sin(E) - M) / (1 - e * math.cos(E))
        E -= dE
        if abs(dE) < tol:
            return E - (E - e * math.sin(E) - M) / (1 - e * math.cos(E))


def orbit(p: Any) -> Any:
    a, e, period = p["a"], p["e"], p["period"]
    total = 0.0
    for t in (0.1, 0.4, 0.7):
        E = kepler_E(2 * math.pi * t / period, e)
        x = a * (math.cos(E) - e)
        y = a * math.sqrt(1 - e * e) * math.sin(E)
        total += math.hypot(x - 0.3, y + 0.2)
    return total


# -- PageRank over a dict of lists ---------------------------------------------------------------------------


LINKS = {"a": ["b", "c"], "b": ["c"], "c": ["a"], "d": ["c", "a"]}


def pagerank(w: Any) -> Any:
    damping = w[0]
    weight = {"a": w[1], "b": w[2], "c": 1.0, "d": w[3]}
    rank = {n: 1.0 / len(LINKS) for n in LINKS}
    for _ in range(10):
        new = defaultdict(float)
        for n, targets in LINKS.items():
            total = sum(weight[t] for t in targets)
            for t in targets:
                new[t] += damping * rank[n] * weight[t] / total
        rank = {n: new[n] + (1 - damping) / len(LINKS) for n in LINKS}
    return max(rank.values()) * rank["b"] + sum(r * math.log(r) for r in rank.values())


# -- vectors with operators, rays and spheres ----------------------------------------------------------------


class Vec3:
    __slots__ = ("x", "y", "z")

    def __init__(self, x: Any, y: Any, z: Any) -> None:
        self.x, self.y, self.z = x, y, z

    def __add__(self, o: Any) -> Any:
        return Vec3(self.x + o.x, self.y + o.y, self.z + o.z)

    def __sub__(self, o: Any) -> Any:
        return Vec3(self.x - o.x, self.y - o.y, self.z - o.z)

    def __mul__(self, s: Any) -> Any:
        return Vec3(self.x * s, self.y * s, self.z * s)

    __rmul__ = __mul__

    def dot(self, o: Any) -> Any:
        return self.x * o.x + self.y * o.y + self.z * o.z

    def unit(self) -> Any:
        return self * (1.0 / math.sqrt(self.dot(self)))


class Sphere:
    def __init__(self, center: Any, radius: Any, albedo: Any) -> None:
        self.center, self.radius, self.albedo = center, radius, albedo

    def hit(self, o: Any, d: Any) -> Any:
        oc = o - self.center
        b = oc.dot(d)
        disc = b * b - oc.dot(oc) + self.radius * self.radius
        if disc < 0:
            return None
        t = -b - math.sqrt(disc)
        return t if t > 1e-6 else None


def render(p: Any) -> Any:
    spheres = [Sphere(Vec3(p[0], 0.0, 3.0), p[1], 0.8), Sphere(Vec3(-1.0, 0.4, 4.0), 1.0, p[2])]
    light = Vec3(1.0, 1.0, -1.0).unit()
    eye = Vec3(0.0, 0.0, 0.0)
    total = 0.0
    for i in range(-3, 4):
        for j in range(-2, 3):
            d = Vec3(0.15 * i, 0.15 * j, 1.0).unit()
            nearest, t_min = None, math.inf
            for s in spheres:
                t = s.hit(eye, d)
                if t is not None and t < t_min:
                    nearest, t_min = s, t
            if nearest is None:
                continue
            point = eye + t_min * d
            normal = (point - nearest.center).unit()
            total += nearest.albedo * max(0.0, normal.dot(light))
    return total


# -- generators as a pipeline --------------------------------------------------------------------------------


def windows(values: Any, size: Any) -> Any:
    buffer = []
    for v in values:
        buffer.append(v)
        if len(buffer) == size:
            yield tuple(buffer)
            buffer.pop(0)


def smoothed(values: Any) -> Any:
    for a, b, c in windows(values, 3):
        yield (a + 2 * b + c) / 4


def pipeline(x: Any) -> Any:
    out = 0.0
    for i, v in enumerate(smoothed(u * u for u in x), start=1):
        out += math.tanh(v) / i
    return out


# -- event simulation with a heap ----------------------------------------------------------------------------


def queueing(p: Any) -> Any:
    arrival_rate, service_rate = p
    heap = []
    t = 0.0
    for i in range(8):
        t += (0.3 + 0.1 * ((i * 5) % 4)) / arrival_rate
        heapq.heappush(heap, (t, i, "arrive"))
    free_at, waiting, n = 0.0, 0.0, 0
    while heap:
        now, i, kind = heapq.heappop(heap)
        if kind == "arrive":
            start = max(now, free_at)
            waiting += (start - now) ** 2
            free_at = start + (0.5 + 0.05 * i) / service_rate
            heapq.heappush(heap, (free_at, i, "leave"))
        else:
            n += 1
    return waiting / n + free_at


# -- a model class with counters and logging of objects ------------------------------------------------------


class Model:
    calls = 0
    instances = []

    def __init__(self, params: Any) -> None:
        self.params = params

    def __repr__(self) -> Any:
        return f"Model({len(self.params)})"

    def energy(self) -> Any:
        Model.calls += 1
        log.info("evaluating %r", self)
        p = self.params
        return (p[0] - 1) ** 2 * p[1] + math.exp(p[2] * p[0])


def counted(x: Any) -> Any:
    m = Model(list(x))
    return m.energy() + Model(x[::-1]).energy()


# -- LSTM over a sequence ------------------------------------------------------------------------------------


SEQ = rng.normal(size=(7, 2))


def sigmoid(z: Any) -> Any:
    return 1 / (1 + np.exp(-z))


def lstm(p: Any) -> Any:
    state = {"h": np.zeros(3), "c": np.zeros(3)}
    for x in SEQ:
        z = p["Wx"] @ x + p["Wh"] @ state["h"] + p["b"]
        i, f, o, g = np.split(z, 4)
        state["c"] = sigmoid(f) * state["c"] + sigmoid(i) * np.tanh(g)
        state["h"] = sigmoid(o) * np.tanh(state["c"])
    return state["h"].sum() ** 2 + (state["c"] ** 2).sum()


LSTM = {"Wx": rng.normal(size=(12, 2)), "Wh": 0.5 * rng.normal(size=(12, 3)), "b": np.zeros(12)}


# -- determinant by elimination ------------------------------------------------------------------------------


def det(rows: Any) -> Any:
    a = [row[:] for row in rows]
    n, sign = len(a), 1.0
    for i in range(n):
        p = max(range(i, n), key=lambda r: abs(a[r][i]))
        if p != i:
            a[i], a[p] = a[p], a[i]
            sign = -sign
        for r in range(i + 1, n):
            f = a[r][i] / a[i][i]
            for c in range(i, n):
                a[r][c] -= f * a[i][c]
    return sign * math.prod(a[i][i] for i in range(n))


# -- training by inner gradients -----------------------------------------------------------------------------


TX = np.linspace(-1, 1, 8)
TY = np.sin(2 * TX)


def meta(h: Any) -> Any:
    def loss(w: Any) -> Any:
        return np.mean((w[0] * TX + w[1] * TX**3 - TY) ** 2) + h[1] * np.sum(w**2)

    w = np.array([0.1, -0.1])
    for _ in range(5):
        w = w - h[0] * adbc.grad(loss)(w)
    return loss(w)


PROGRAMS: dict[str, tuple[Any, Any]] = {
    "logistic": (logistic, np.array([0.3, -0.2, 0.5, 0.1])),
    "network": (network, NETWORK),
    "kalman": (kalman, {"log_q": -1.0, "log_r": -0.5, "dt": 0.9}),
    "springs": (springs, [2.0, 1.0, 0.7]),
    "lotka": (lotka, [1.1, 0.6, 0.8, 0.5]),
    "adaptive": (adaptive, [1.0, 0.3, 0.8]),
    "ledger": (ledger, [100.0, 50.0, 0.02]),
    "tree": (tree, {"x": 0.7, "y": 1.2, "z": -0.4}),
    "partitions": (partitions, [0.7, 1.1, 0.9, 1.3, 0.6]),
    "hmm": (hmm, {"start": 0.6, "stay": 0.7, "turn": 0.4}),
    "iir": (iir, [0.3, 0.2, 0.1, -0.4, 0.15]),
    "pid": (pid, [2.0, 0.5, 0.1]),
    "orbit": (orbit, {"a": 1.1, "e": 0.3, "period": 1.2}),
    "pagerank": (pagerank, [0.85, 1.2, 0.7, 1.1]),
    "render": (render, [0.6, 0.9, 0.5]),
    "pipeline": (pipeline, [0.3, 0.7, -0.5, 1.1, 0.2, 0.9]),
    "queueing": (queueing, [1.3, 0.9]),
    "counted": (counted, [0.4, 1.2, 0.3]),
    "lstm": (lstm, LSTM),
    "det": (det, [[1.0, 0.3, -0.5], [0.7, -1.2, 0.4], [0.2, 0.9, 1.5]]),
    "meta": (meta, np.array([0.3, 0.05])),
}
