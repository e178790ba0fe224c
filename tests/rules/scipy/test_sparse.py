"""Sparse matrices: products, conversions, assembly, systems of equations."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse import linalg

from adbc.testing import test_rule as check_rule
from tests.programs.checks import check_gradient

RNG = np.random.default_rng(6)
V = RNG.normal(size=4)
BLOCK = RNG.normal(size=(4, 3))
ROWS = np.array([0, 0, 1, 1, 2, 2, 3, 3, 0, 2])
COLUMNS = np.array([0, 1, 1, 2, 2, 3, 3, 0, 0, 1])
NUMBERS = np.array([3.0, 0.4, 4.0, -0.3, 5.0, 0.2, 4.5, 0.6, 0.5, -0.7])
"""The last two stand where others do, or out of order."""
KINDS = ["csr", "csc", "coo"]


def matrix(numbers: Any, kind: str) -> Any:
    return sparse.coo_matrix((numbers, (ROWS, COLUMNS)), shape=(4, 4)).asformat(kind)


FIXED = matrix(NUMBERS, "csc")
COMPLEX = matrix(NUMBERS * (1 + 0.3j), "csc")


@pytest.mark.parametrize("kind", KINDS)
def test_products(kind: str) -> None:
    check_gradient(lambda d, v: np.sum((matrix(d, kind) @ v) ** 2), NUMBERS, V, argnums=(0, 1))
    check_gradient(lambda d: np.sum((matrix(d, kind).T @ V) ** 2), NUMBERS)
    check_gradient(lambda v: np.sum((matrix(NUMBERS, kind) @ v) ** 2), BLOCK)


def test_both_rules_of_a_product() -> None:
    check_rule(lambda d, v: (matrix(d, "csr") @ v) * 1.0, NUMBERS, V)
    check_rule(lambda v: (matrix(NUMBERS, "csc") @ v) * 1.0, V + 1j * V[::-1])


def test_dense_again() -> None:
    check_gradient(lambda d: np.sum(matrix(d, "csr").toarray() ** 2), NUMBERS)


@pytest.mark.parametrize("kind", ["csr", "csc"])
def test_systems(kind: str) -> None:
    for b in (V, BLOCK):
        check_gradient(
            lambda d, b: np.sum(linalg.spsolve(matrix(d, kind), b) ** 2), NUMBERS, b, argnums=(0, 1)
        )


def test_factorised_systems() -> None:
    for trans in ("N", "T", "H"):
        check_rule(lambda b, trans=trans: linalg.splu(FIXED).solve(b, trans), V)
    check_gradient(lambda b: np.sum(linalg.factorized(FIXED)(b) ** 2), V)
    check_rule(lambda b: linalg.splu(COMPLEX).solve(b, "T"), V + 1j * V[::-1])
