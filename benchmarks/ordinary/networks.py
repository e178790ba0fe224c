"""Neural networks, small enough to write oneself."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from benchmarks.program import Program

# -- a perceptron ------------------------------------------------------------


@dataclass
class Dense:
    weights: np.ndarray
    bias: np.ndarray
    activation: str = "tanh"

    ACTIVATIONS = {
        "tanh": np.tanh,
        "relu": lambda z: np.maximum(z, 0.0),
        "none": lambda z: z,
    }

    def __call__(self, x):
        return self.ACTIVATIONS[self.activation](x @ self.weights + self.bias)


@dataclass
class Network:
    layers: list = field(default_factory=list)

    def add(self, *args, **kwargs):
        self.layers.append(Dense(*args, **kwargs))
        return self

    def __call__(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


def softmax_loss(parameters, x, labels):
    net = Network()
    *hidden, last = parameters
    for w, b in hidden:
        net.add(w, b)
    net.add(*last, activation="none")
    logits = net(x)
    logits = logits - logits.max(axis=1, keepdims=True)
    log_p = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
    return -log_p[np.arange(len(labels)), labels].mean()


def softmax_loss_of_functions(parameters, x, labels):
    def logsumexp(z):
        top = np.max(z)
        return top + np.log(np.sum(np.exp(z - top)))

    def predict(inputs):
        for i, (w, b) in enumerate(parameters):
            outputs = np.dot(inputs, w) + b
            inputs = np.tanh(outputs) if i < len(parameters) - 1 else outputs
        return inputs

    loss = 0.0
    for row, label in zip(x, labels):
        logits = predict(row)
        loss += logsumexp(logits) - logits[label]
    return loss / len(labels)


# -- training by gradient steps, unrolled ------------------------------------------------------------


def neuron(weights, bias, inputs):
    return math.tanh(sum(w * i for w, i in zip(weights, inputs)) + bias)


def train_neuron(start, rate, samples, epochs):
    """Loss after training a neuron, by its first weights and the learning rate."""
    *w, b = start
    for _ in range(epochs):
        for inputs, target in samples:
            y = neuron(w, b, inputs)
            delta = (y - target) * (1.0 - y * y)
            w = [wi - rate * delta * xi for wi, xi in zip(w, inputs)]
            b = b - rate * delta
    return sum(0.5 * (neuron(w, b, x) - t) ** 2 for x, t in samples)


class Perceptron:
    def __init__(self, weights, bias):
        self.weights = list(weights)
        self.bias = bias

    def forward(self, inputs):
        self.inputs = inputs
        self.output = math.tanh(sum(map(lambda w, x: w * x, self.weights, inputs)) + self.bias)
        return self.output

    def backward(self, error, rate):
        delta = error * (1.0 - self.output**2)
        for i, x in enumerate(self.inputs):
            self.weights[i] -= rate * delta * x
        self.bias -= rate * delta


class Trainer:
    def __init__(self, model, rate):
        self.model, self.rate = model, rate

    def epoch(self, samples):
        for inputs, target in samples:
            self.model.backward(self.model.forward(inputs) - target, self.rate)

    def loss(self, samples):
        return sum(0.5 * (self.model.forward(x) - t) ** 2 for x, t in samples)


def train_perceptron(start, rate, samples, epochs):
    model = Perceptron(start[:-1], start[-1])
    trainer = Trainer(model, rate)
    for _ in range(epochs):
        trainer.epoch(samples)
    return trainer.loss(samples)


# -- a recurrent cell ------------------------------------------------------------


class GRUWeights(NamedTuple):
    update: tuple
    reset: tuple
    candidate: tuple


def sigmoid(z):
    return 1.0 / (1.0 + math.exp(-z))


def gru_loss(weights, inputs, targets):
    """A gated unit with one number of state."""
    p = GRUWeights(*weights)
    h = 0.0
    loss = 0.0
    for x, y in zip(inputs, targets):
        z = sigmoid(p.update[0] * x + p.update[1] * h + p.update[2])
        r = sigmoid(p.reset[0] * x + p.reset[1] * h + p.reset[2])
        n = math.tanh(p.candidate[0] * x + p.candidate[1] * (r * h) + p.candidate[2])
        h = (1 - z) * n + z * h
        loss += (h - y) ** 2
    return loss / len(inputs)


class Module(ABC):
    @abstractmethod
    def forward(self, *args): ...

    def __call__(self, *args):
        return self.forward(*args)


class Linear(Module):
    def __init__(self, row):
        *self.coefficients, self.bias = row

    def forward(self, *args):
        return sum(c * a for c, a in zip(self.coefficients, args)) + self.bias


class Sigmoid(Module):
    def forward(self, z):
        return 1.0 / (1.0 + math.exp(-z))


class Cell(Module):
    def __init__(self, update, reset, candidate):
        self.update, self.reset, self.candidate = Linear(update), Linear(reset), Linear(candidate)
        self.gate = Sigmoid()
        self.state = 0.0

    def forward(self, x):
        z = self.gate(self.update(x, self.state))
        r = self.gate(self.reset(x, self.state))
        n = math.tanh(self.candidate(x, r * self.state))
        self.state = (1 - z) * n + z * self.state
        return self.state


def gru_loss_of_modules(weights, inputs, targets):
    cell = Cell(*weights)
    return sum((cell(x) - y) ** 2 for x, y in zip(inputs, targets)) / len(inputs)


# -- convolution ------------------------------------------------------------


def convolve2d(image, kernel):
    rows, columns = len(image), len(image[0])
    m, n = len(kernel), len(kernel[0])
    return [
        [
            sum(kernel[a][b] * image[i + a][j + b] for a in range(m) for b in range(n))
            for j in range(columns - n + 1)
        ]
        for i in range(rows - m + 1)
    ]


def edge_energy(kernel, image):
    """Leaky rectified responses, pooled two by two."""
    response = convolve2d(image, kernel)
    active = [[v if v > 0 else 0.1 * v for v in row] for row in response]
    pooled = [
        max(active[i][j], active[i + 1][j], active[i][j + 1], active[i + 1][j + 1])
        for i in range(0, len(active) - 1, 2)
        for j in range(0, len(active[0]) - 1, 2)
    ]
    return sum(p * p for p in pooled)


def edge_energy_by_windows(kernel, image):
    kernel, image = np.asarray(kernel), np.asarray(image)
    windows = np.lib.stride_tricks.sliding_window_view(image, kernel.shape)
    response = np.einsum("ijab,ab->ij", windows, kernel)
    active = np.where(response > 0, response, 0.1 * response)
    rows, columns = (s // 2 * 2 for s in active.shape)
    blocks = active[:rows, :columns].reshape(rows // 2, 2, columns // 2, 2)
    return np.sum(blocks.max(axis=(1, 3)) ** 2)


_rng = np.random.default_rng(12)
_LAYERS = [
    (_rng.normal(size=(5, 8)) * 0.4, np.zeros(8) + 0.1),
    (_rng.normal(size=(8, 8)) * 0.4, np.zeros(8) - 0.1),
    (_rng.normal(size=(8, 3)) * 0.4, np.zeros(3)),
]
_INPUTS = _rng.normal(size=(12, 5))
_LABELS = np.array([0, 1, 2, 1, 0, 2, 1, 1, 0, 2, 0, 1])
_SAMPLES = [([math.sin(i), math.cos(2 * i), 0.1 * i - 0.5], 0.5 * math.sin(i + 0.3)) for i in range(8)]
_GRU = [(0.5, -0.3, 0.1), (0.7, 0.2, -0.1), (1.1, 0.6, 0.05)]
_SERIES = [math.sin(0.4 * i) for i in range(31)]
_IMAGE = [[math.sin(0.7 * i) * math.cos(0.5 * j) + 0.1 * ((i + j) % 3) for j in range(8)] for i in range(8)]

PROGRAMS = [
    Program(
        "perceptron",
        {"dataclass layers": softmax_loss, "functions": softmax_loss_of_functions},
        (_LAYERS, _INPUTS, _LABELS),
    ),
    Program(
        "training unrolled",
        {"lists": train_neuron, "objects": train_perceptron},
        ([0.1, -0.2, 0.3, 0.0], 0.2, _SAMPLES, 5),
        (0, 1),
    ),
    Program(
        "gated recurrent unit",
        {"named tuple": gru_loss, "modules": gru_loss_of_modules},
        (_GRU, _SERIES[:-1], _SERIES[1:]),
    ),
    Program(
        "convolution and pooling",
        {"nested lists": edge_energy, "windows of arrays": edge_energy_by_windows},
        ([[0.9, -0.2, -0.6], [1.1, 0.1, -0.9], [0.4, 0.3, -0.7]], _IMAGE),
    ),
]
