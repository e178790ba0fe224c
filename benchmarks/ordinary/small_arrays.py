"""Vectors and matrices of a few numbers: mechanics, filters, attitude, steps of solvers, meshes."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass

import numpy as np

from benchmarks.program import Program

# -- Arm of three joints -----------------------------------------------------------------------------


def joint(angle, length):
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s, length * c], [s, c, length * s], [0.0, 0.0, 1.0]])


def reach(angles, lengths, targets):
    cost = 0.0
    for target in targets:
        pose = np.eye(3)
        for angle, length in zip(angles, lengths):
            pose = pose @ joint(angle + 0.1 * target[0], length)
        cost += np.sum((pose[:2, 2] - target) ** 2)
    return cost


class Frame:
    def __init__(self, rotation, position):
        self.rotation = rotation
        self.position = position

    @classmethod
    def of_joint(cls, angle, length):
        c, s = math.cos(angle), math.sin(angle)
        return cls(np.array([[c, -s], [s, c]]), length * np.array([c, s]))

    def __matmul__(self, other):
        return Frame(self.rotation @ other.rotation, self.rotation @ other.position + self.position)


def reach_by_frames(angles, lengths, targets):
    cost = 0.0
    for target in targets:
        frames = [Frame.of_joint(a + 0.1 * target[0], length) for a, length in zip(angles, lengths)]
        hand = functools.reduce(lambda a, b: a @ b, frames)
        miss = hand.position - target
        cost += miss @ miss
    return cost


# -- Kalman filter -----------------------------------------------------------------------------------


def kalman(params, measurements):
    q, r, dt = params
    F = np.array([[1.0, dt], [0.0, 1.0]])
    H = np.array([[1.0, 0.0]])
    Q = q * np.array([[dt**3 / 3, dt**2 / 2], [dt**2 / 2, dt]])
    R = np.array([[r]])
    x = np.zeros(2)
    P = np.eye(2)
    total = 0.0
    for z in measurements:
        x = F @ x
        P = F @ P @ F.T + Q
        y = z - H @ x
        S = H @ P @ H.T + R
        K = P @ H.T @ np.linalg.inv(S)
        x = x + K @ y
        P = (np.eye(2) - K @ H) @ P
        total += 0.5 * (y[0] ** 2 / S[0, 0] + np.log(S[0, 0]))
    return total


@dataclass
class State:
    mean: np.ndarray
    cov: np.ndarray


class Tracker:
    """The same filter with states, one measurement each, so that the gain is a vector."""

    def __init__(self, q, r, dt):
        self.F = np.eye(2)
        self.F[0, 1] = dt
        self.Q = np.outer([dt, 1.0], [dt, 1.0])
        self.Q[0, 0] = dt**3 / 3
        self.Q[0, 1] = self.Q[1, 0] = dt**2 / 2
        self.Q[1, 1] = dt
        self.Q *= q
        self.r = r

    def step(self, state, z):
        mean = self.F.dot(state.mean)
        cov = self.F.dot(state.cov).dot(self.F.T) + self.Q
        s = cov[0, 0] + self.r
        gain = cov[:, 0] / s
        residual = z - mean[0]
        cost = 0.5 * (residual**2 / s + np.log(s))
        return State(mean + gain * residual, cov - np.outer(gain, cov[0])), cost


def kalman_by_states(params, measurements):
    tracker = Tracker(params[0], params[1], params[2])
    state = State(np.zeros(2), np.eye(2))
    total = 0.0
    for z in measurements:
        state, cost = tracker.step(state, z)
        total += cost
    return total


# -- Attitude ----------------------------------------------------------------------------------------


def hamilton(p, q):
    a, b, c, d = p
    e, f, g, h = q
    return np.array(
        [
            a * e - b * f - c * g - d * h,
            a * f + b * e + c * h - d * g,
            a * g - b * h + c * e + d * f,
            a * h + b * g - c * f + d * e,
        ]
    )


def rotate(q, v):
    conjugate = q * np.array([1.0, -1.0, -1.0, -1.0])
    return hamilton(hamilton(q, np.concatenate([[0.0], v])), conjugate)[1:]


def attitude(bias, rates, dt, down):
    q = np.array([1.0, 0.0, 0.0, 0.0])
    cost = 0.0
    for rate in rates:
        omega = np.array([0.0, *(rate - bias)])
        q = q + 0.5 * dt * hamilton(q, omega)
        q = q / np.linalg.norm(q)
        cost += np.sum((rotate(q, down) - down) ** 2)
    return cost


def attitude_by_matrices(bias, rates, dt, down):
    q = np.zeros(4)
    q[0] = 1.0
    cost = 0.0
    for t in range(rates.shape[0]):
        x, y, z = rates[t] - bias
        omega = np.array([[0.0, -x, -y, -z], [x, 0.0, z, -y], [y, -z, 0.0, x], [z, y, -x, 0.0]])
        q += 0.5 * dt * omega.dot(q)
        q /= np.sqrt(q.dot(q))
        w, v = q[0], q[1:]
        turned = down + 2.0 * np.cross(v, np.cross(v, down) + w * down)
        error = turned - down
        cost += error.dot(error)
    return cost


# -- Double pendulum ---------------------------------------------------------------------------------


def pendulum(state, m1, m2, g):
    a, b, da, db = state
    delta = a - b
    den = 2 * m1 + m2 - m2 * np.cos(2 * delta)
    dda = (
        -g * (2 * m1 + m2) * np.sin(a)
        - m2 * g * np.sin(a - 2 * b)
        - 2 * np.sin(delta) * m2 * (db**2 + da**2 * np.cos(delta))
    ) / den
    ddb = (
        2 * np.sin(delta) * (da**2 * (m1 + m2) + g * (m1 + m2) * np.cos(a) + db**2 * m2 * np.cos(delta))
    ) / den
    return np.array([da, db, dda, ddb])


def swing(start, m1, m2, dt, steps):
    y = start
    for _ in range(steps):
        k1 = pendulum(y, m1, m2, 9.81)
        k2 = pendulum(y + 0.5 * dt * k1, m1, m2, 9.81)
        k3 = pendulum(y + 0.5 * dt * k2, m1, m2, 9.81)
        k4 = pendulum(y + dt * k3, m1, m2, 9.81)
        y = y + dt / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
    return np.sum(y**2)


class DoublePendulum:
    def __init__(self, m1, m2, g=9.81):
        self.m1, self.m2, self.g = m1, m2, g

    def __call__(self, t, y):
        m1, m2, g = self.m1, self.m2, self.g
        angle, rate = y[:2], y[2:]
        delta = angle[0] - angle[1]
        c, s = math.cos(delta), math.sin(delta)
        mass = np.array([[m1 + m2, m2 * c], [m2 * c, m2]])
        force = np.array(
            [
                -m2 * s * rate[1] ** 2 - (m1 + m2) * g * math.sin(angle[0]),
                m2 * s * rate[0] ** 2 - m2 * g * math.sin(angle[1]),
            ]
        )
        return np.concatenate([rate, np.linalg.solve(mass, force)])


TABLEAU = (np.array([0.0, 0.5, 0.5, 1.0]), np.array([1.0, 2.0, 2.0, 1.0]) / 6.0)


def swing_by_tableau(start, m1, m2, dt, steps):
    f = DoublePendulum(m1, m2)
    c, b = TABLEAU
    y = start.copy()
    for n in range(steps):
        slopes = np.zeros((4, len(y)))
        slopes[0] = f(n * dt, y)
        for i in range(1, 4):
            slopes[i] = f((n + c[i]) * dt, y + c[i] * dt * slopes[i - 1])
        y += dt * b @ slopes
    return float((y * y).sum())


# -- Newton's method ---------------------------------------------------------------------------------


def residual(x, p):
    return np.array([x[0] ** 2 + x[1] ** 2 - p[0], x[0] * x[1] - p[1] + np.exp(-x[0])])


def jacobian(x, p):
    return np.array([[2.0 * x[0], 2.0 * x[1]], [x[1] - np.exp(-x[0]), x[0]]])


def newton(params, starts):
    total = 0.0
    for start in starts:
        x = start
        for _ in range(6):
            x = x - np.linalg.solve(jacobian(x, params), residual(x, params))
        total = total + x @ x
    return total


def newton_in_place(params, starts):
    radius, product = params
    x, F, J = np.empty(2), np.empty(2), np.empty((2, 2))
    total = 0.0
    for k in range(len(starts)):
        x[:] = starts[k]
        for _ in range(6):
            decay = math.exp(-x[0])
            F[0] = x[0] * x[0] + x[1] * x[1] - radius
            F[1] = x[0] * x[1] - product + decay
            J[0, :] = 2.0 * x
            J[1, 0] = x[1] - decay
            J[1, 1] = x[0]
            det = J[0, 0] * J[1, 1] - J[0, 1] * J[1, 0]
            x[0] -= (J[1, 1] * F[0] - J[0, 1] * F[1]) / det
            x[1] -= (J[0, 0] * F[1] - J[1, 0] * F[0]) / det
        total += np.dot(x, x)
    return total


# -- Softmax regression, one row at a time -----------------------------------------------------------


def softmax(z):
    e = np.exp(z - np.max(z))
    return e / e.sum()


def trained(W, b, rows, labels, rate):
    W, b = W.copy(), b.copy()
    loss = 0.0
    for x, label in zip(rows, labels):
        p = softmax(W @ x + b)
        loss -= np.log(p[label])
        p[label] -= 1.0
        W -= rate * np.outer(p, x)
        b -= rate * p
    return loss


class Classifier:
    def __init__(self, W, b):
        self.W = W
        self.b = b

    def logits(self, x):
        return np.array([np.dot(w, x) for w in self.W]) + self.b

    def updated(self, x, label, rate):
        logits = self.logits(x)
        top = logits.max()
        norm = top + np.log(np.sum(np.exp(logits - top)))
        target = np.zeros(len(self.b))
        target[label] = 1.0
        error = np.exp(logits - norm) - target
        return norm - logits[label], Classifier(self.W - rate * error[:, None] * x, self.b - rate * error)


def trained_by_models(W, b, rows, labels, rate):
    model = Classifier(W, b)
    losses = []
    for i, x in enumerate(rows):
        loss, model = model.updated(x, labels[i], rate)
        losses.append(loss)
    return sum(losses)


# -- Springs -----------------------------------------------------------------------------------------


def spring_energy_after(positions, springs, stiffness, dt, steps):
    p = positions.copy()
    v = np.zeros_like(p)
    for _ in range(steps):
        forces = np.zeros_like(p)
        for i, j, rest in springs:
            d = p[j] - p[i]
            length = np.linalg.norm(d)
            f = stiffness * (length - rest) * d / length
            forces[i] += f
            forces[j] -= f
        v += dt * forces
        p += dt * v
    return 0.5 * np.sum(v**2) + 0.1 * np.sum(p**2)


def spring_energy_by_index(positions, springs, stiffness, dt, steps):
    first = np.array([i for i, _, _ in springs])
    second = np.array([j for _, j, _ in springs])
    rest = np.array([r for _, _, r in springs])
    p, v = positions, np.zeros(positions.shape)
    for _ in range(steps):
        d = p[second] - p[first]
        length = np.sqrt((d**2).sum(axis=1))
        f = (stiffness * (length - rest) / length)[:, np.newaxis] * d
        forces = np.zeros(p.shape)
        np.add.at(forces, first, f)
        np.subtract.at(forces, second, f)
        v = v + dt * forces
        p = p + dt * v
    return 0.5 * (v**2).sum() + 0.1 * (p**2).sum()


# -- Regulator ---------------------------------------------------------------------------------------


def riccati(A, B, weights, steps):
    Q, R = np.diag(weights[:2]), weights[2] * np.eye(1)
    P = Q
    for _ in range(steps):
        K = np.linalg.inv(R + B.T @ P @ B) @ (B.T @ P @ A)
        P = Q + A.T @ P @ (A - B @ K)
    return np.trace(P)


def riccati_by_columns(A, B, weights, steps):
    q, r = weights[:2], weights[2]
    b = B[:, 0]
    P = np.array([[q[0], 0.0], [0.0, q[1]]])
    for _ in range(steps):
        Pb = P.dot(b)
        PA = P.dot(A)
        gain = b.dot(PA) / (r + b.dot(Pb))
        P = A.T.dot(PA - np.outer(Pb, gain))
        for i in range(2):
            P[i, i] += q[i]
    return P[0, 0] + P[1, 1]


# -- Surface and volume of a mesh --------------------------------------------------------------------


def surface(vertices, faces, light):
    area, volume, seen = 0.0, 0.0, 0.0
    for i, j, k in faces:
        a, b, c = vertices[i], vertices[j], vertices[k]
        normal = np.cross(b - a, c - a)
        size = np.linalg.norm(normal)
        area += 0.5 * size
        volume += np.dot(a, np.cross(b, c)) / 6.0
        seen += max(0.0, np.dot(normal, light) / size)
    return area + volume + seen


def triangle(vertices, face):
    a, b, c = vertices[list(face)]
    u, v = b - a, c - a
    normal = np.array([u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]])
    return normal, np.linalg.det(np.array([a, b, c]))


def surface_by_triangles(vertices, faces, light):
    triangles = [triangle(vertices, face) for face in faces]
    area = sum(math.sqrt(n @ n) for n, _ in triangles) / 2.0
    volume = sum(det for _, det in triangles) / 6.0
    seen = sum(np.maximum(n @ light / math.sqrt(n @ n), 0.0) for n, _ in triangles)
    return area + volume + seen


# -- Hidden states -----------------------------------------------------------------------------------


def forward_scaled(logits, emission, start, observed):
    T = np.exp(logits)
    T = T / T.sum(axis=1, keepdims=True)
    alpha = start * emission[:, observed[0]]
    total = 0.0
    for symbol in observed[1:]:
        scale = alpha.sum()
        total += np.log(scale)
        alpha = (alpha / scale) @ T * emission[:, symbol]
    return -(total + np.log(alpha.sum()))


def log_sum(x):
    top = x.max()
    return top + math.log(np.exp(x - top).sum())


def forward_by_logarithms(logits, emission, start, observed):
    n = len(start)
    log_T = np.array([row - log_sum(row) for row in logits])
    log_E = np.log(emission)
    alpha = np.log(start) + log_E[:, observed[0]]
    for symbol in observed[1:]:
        new = np.zeros(n)
        for j in range(n):
            new[j] = log_sum(alpha + log_T[:, j]) + log_E[j, symbol]
        alpha = new
    return -log_sum(alpha)


_rng = np.random.default_rng(6)
_TARGETS = [np.array([1.0 + 0.1 * k, 1.0 - 0.05 * k]) for k in range(6)]
_MEASUREMENTS = [0.5 * t + 0.3 * math.sin(t) for t in range(20)]
_STARTS = [np.array([1.5, 0.6]), np.array([1.9, 0.4]), np.array([1.2, 0.9])]
_POINTS = np.array([[0.0, 0.0], [1.0, 0.1], [1.1, 1.0], [0.1, 0.9], [0.5, 1.8]])
_SPRINGS = [(0, 1, 0.9), (1, 2, 1.0), (2, 3, 1.1), (3, 0, 1.0), (0, 2, 1.3), (2, 4, 0.8), (3, 4, 0.9)]
_CORNERS = np.array([[1.0, 0.1, 0.0], [0.0, 1.1, 0.1], [-1.0, 0.0, 0.2], [0.1, -1.0, 0.0], [0.0, 0.1, 1.2]])
_FACES = [(0, 1, 4), (1, 2, 4), (2, 3, 4), (3, 0, 4), (1, 0, 2), (3, 2, 0)]
_EMISSION = np.array([[0.6, 0.3, 0.1], [0.2, 0.5, 0.3], [0.1, 0.2, 0.7]])

PROGRAMS = [
    Program(
        "reach of an arm",
        {"matrices": reach, "class with operator": reach_by_frames},
        (np.array([0.4, 0.6, -0.3]), np.array([1.0, 0.8, 0.5]), _TARGETS),
        (0, 1),
    ),
    Program(
        "Kalman filter",
        {"function": kalman, "class and states": kalman_by_states},
        (np.array([0.3, 0.2, 0.5]), _MEASUREMENTS),
    ),
    Program(
        "attitude from rates",
        {"quaternions": attitude, "matrices in place": attitude_by_matrices},
        (np.array([0.01, -0.02, 0.03]), 0.5 * _rng.standard_normal((10, 3)), 0.1, np.array([0.1, 0.2, -1.0])),
    ),
    Program(
        "double pendulum",
        {"function": swing, "class, tableau": swing_by_tableau},
        (np.array([0.8, 0.4, 0.0, 0.1]), 1.0, 0.7, 0.02, 8),
        (0, 1, 2),
    ),
    Program(
        "Newton's method",
        {"functions": newton, "in place": newton_in_place},
        (np.array([3.0, 1.2]), _STARTS),
    ),
    Program(
        "softmax regression by rows",
        {"in place": trained, "class": trained_by_models},
        (
            0.3 * _rng.standard_normal((3, 5)),
            np.zeros(3),
            _rng.standard_normal((12, 5)),
            [k % 3 for k in range(12)],
            0.1,
        ),
        (0, 1),
    ),
    Program(
        "springs",
        {"loop": spring_energy_after, "index arrays": spring_energy_by_index},
        (_POINTS, _SPRINGS, 2.0, 0.05, 6),
        (0, 2),
    ),
    Program(
        "regulator",
        {"matrices": riccati, "vectors": riccati_by_columns},
        (
            np.array([[1.0, 0.1], [-0.2, 0.95]]),
            np.array([[0.0], [0.1]]),
            np.array([1.0, 0.5, 0.1]),
            12,
        ),
        (0, 1, 2),
    ),
    Program(
        "surface of a mesh",
        {"loop": surface, "comprehensions": surface_by_triangles},
        (_CORNERS, _FACES, np.array([0.3, 0.2, 0.9])),
    ),
    Program(
        "hidden states",
        {"scaled": forward_scaled, "logarithms": forward_by_logarithms},
        (0.5 * _rng.standard_normal((3, 3)), _EMISSION, np.array([0.5, 0.3, 0.2]), [0, 1, 1, 2, 0, 2, 1, 0]),
        (0, 1),
    ),
]
