"""The table of programs: function, arguments, and by which of them to differentiate."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np

from tests.programs import arrays, bodies, functions, objects, ordinary, scalars, vectors

COEFFICIENTS = [0.3, -1.2, 0.7, 2.5, -0.4]
MATRIX = np.array(
    [[4.0, 0.5, -0.3, 0.2], [0.5, 3.0, 0.4, 0.1], [-0.3, 0.4, 5.0, -0.6], [0.2, 0.1, -0.6, 2.0]]
)
MEMORY = np.array([0.5, -1.0, 1.5, 0.25, 0.75, -0.5])


@dataclasses.dataclass(frozen=True)
class Program:
    name: str
    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    argnums: int | tuple[int, ...] = 0
    keywords: dict[str, Any] = dataclasses.field(default_factory=dict)
    step: float = 1e-2
    """The largest step of finite differences."""


def parameters() -> dict[str, Any]:
    rng = np.random.default_rng(7)
    shapes = {"w1": (3, 5), "b1": (5,), "w2": (5, 2), "b2": (2,)}
    return {name: 0.5 * rng.standard_normal(shape) for name, shape in shapes.items()}


def batch() -> tuple[Any, Any]:
    rng = np.random.default_rng(8)
    return rng.standard_normal((4, 3)), rng.standard_normal((4, 2))


PAIR = [0.5, -1.5, 2.0]

PROGRAMS = [
    Program("Newton's square root", scalars.newton_sqrt, (2.0,)),
    Program("Newton's square root below 1", scalars.newton_sqrt, (0.3,)),
    Program("logistic map", scalars.logistic_map, (3.1, 0.4, 40), (0, 1), step=1e-3),
    Program("Horner", scalars.horner, (COEFFICIENTS, 1.3), (0, 1)),
    Program("Lorenz", scalars.lorenz, ((1.0, 0.5, -0.7), 10.0, 28.0, 8 / 3), (0, 1, 2, 3)),
    Program("adaptive Simpson", scalars.adaptive_simpson, (0.1, 2.0, 3.0), (0, 1, 2), step=1e-5),
    Program(
        "N bodies, lists",
        bodies.nbody_lists,
        (
            [[0.0, 0.1], [1.0, 0.4], [-0.8, 0.9]],
            [[0.2, -0.3], [-0.1, 0.5], [0.0, 0.1]],
            [1.5, 0.7, 0.4],
            0.05,
            4,
        ),
        (0, 1, 2, 3),
    ),
    Program("N bodies, objects", bodies.nbody_objects, (bodies.two_bodies(), 0.05, 4), (0, 1)),
    Program("vectors", vectors.vector_program, (0.7, -1.2, 0.4), (0, 1, 2)),
    Program("a vector argument", vectors.vector_argument, (vectors.Vector(0.7, -1.2), 0.4), (0, 1)),
    Program("heat, elements", arrays.heat_elements, (np.linspace(0.2, 1.0, 6) ** 2, 0.2, 3), (0, 1)),
    Program("heat, slices", arrays.heat_slices, (np.linspace(0.2, 1.0, 9) ** 2, 0.2, 6), (0, 1)),
    Program("Cholesky", arrays.cholesky, (MATRIX,)),
    Program("Cholesky, lists", arrays.cholesky_lists, (MATRIX.tolist(),)),
    Program("network", arrays.network, (parameters(), *batch()), (0, 1, 2)),
    Program("Kalman filter", arrays.kalman_loss, (arrays.kalman_object(), [0.3, 0.1, -0.2, 0.4]), (0, 1)),
    Program(
        "Kalman filter, parameters",
        arrays.kalman_from_scratch,
        (0.3, 0.05, (0.3, 0.1, -0.2)),
        (0, 1, 2),
        step=1e-3,
    ),
    Program("a list twice, inside", arrays.twice, (PAIR,)),
    Program("a list twice, as arguments", arrays.mix, (PAIR, PAIR)),
    Program("an array twice, as arguments", arrays.mix, (MEMORY, MEMORY)),
    Program("two lists", arrays.mix, (PAIR, list(PAIR)), (0, 1)),
    Program("overlapping views", arrays.overlap, (MEMORY,)),
    Program("overlapping arguments", arrays.overlapping_arguments, (MEMORY[:-1], MEMORY[1:])),
    Program("nonlocal", functions.nonlocal_state, (0.7, 0.9), (0, 1)),
    Program("a closure", functions.make_quadratic([0.5, -1.0, 2.0]), (0.7,)),
    Program("functions in a dict", functions.dispatch, (["sine", "square", "cube", "reciprocal"], 0.8), 1),
    Program("forms of calls", functions.call_forms, (0.7, 1.2), (0, 1)),
    Program("keywords", functions.with_keywords, (1.7,), keywords={"power": 3, "offset": 0.5}),
    Program("*args and **kwargs", functions.weighted, (0.7, 1.2, -0.4), (0, 2), {"scale": 1.5, "abc": 0.3}),
    Program("a ring of units", objects.ring_energy, (objects.ring(), 3), step=1e-3),
    Program("a ring of units, from scratch", objects.ring_from_scratch, (0.3, 0.8, 4), (0, 1), step=1e-3),
    Program("a linked list", objects.weighted_sum, (objects.chain([0.5, -1.0, 2.0, 0.3]), 0.7), (0, 1)),
    Program(
        "a linked list, turned", objects.reverse_and_sum, (objects.chain([0.5, -1.0, 2.0, 0.3]), 0.7), (0, 1)
    ),
    Program("a tree", objects.tree_total, (objects.tree(), 0.4), (0, 1), step=1e-3),
    Program("a search tree", objects.tree_sort, ([0.5, -1.0, 2.0, 0.3, 0.4], 0.7), (0, 1)),
    Program("events", objects.simulation, (0.4, [0.9, 0.35, 0.8, 0.15]), (0, 1), step=1e-3),
    Program("a cache", objects.cached_sum, (0.7, 1.2), (0, 1)),
    Program("a cached recursion", objects.lru_recursion, (0.6, 7)),
    Program("observers", objects.observed, (0.7, 0.4), (0, 1)),
    Program("shapes", objects.shapes, (0.8, 0.6), (0, 1), step=1e-3),
    Program(
        "elimination",
        objects.eliminate,
        ([[0.5, 2.0, -1.0], [3.0, 0.3, 0.7], [1.0, -1.5, 2.5]], [1.0, -0.5, 2.0]),
        (0, 1),
        step=1e-3,
    ),
    Program("lists of lists", objects.transposed_twice, ([[1.0, 2.0, 0.5], [0.3, -0.7, 1.5]], 1.3), (0, 1)),
    Program("polymorphic", functions.polymorphic, (0.7, np.array([0.2, -0.3, 0.9])), (0, 1)),
    Program("tallies in a defaultdict", ordinary.tallies, (0.7, 0.4, 5), (0, 1)),
    Program("a memo table by pairs", ordinary.table, (0.7, 9)),
    Program("objects that are called", ordinary.callables, (0.7, 0.4, 3), (0, 1)),
    Program("rates by members of an enumeration", ordinary.ledger, (0.7, 0.4, 5), (0, 1)),
    Program("loops over tuples", ordinary.ways, (0.7, 0.4, 3), (0, 1)),
    Program("sums of lists", ordinary.totals, ([0.1, 0.2, 0.3], 2)),
]
