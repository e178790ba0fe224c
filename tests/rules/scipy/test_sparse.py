"""Sparse matrices: products, conversions, assembly, systems of equations."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse import linalg

import adbc
from adbc.errors import UnsupportedError
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


# -- the numbers of a matrix in sums, products and factors -------------------------------------------------


def dense(d: Any, kind: str = "csr") -> Any:
    return matrix(d, kind).toarray()


@pytest.mark.parametrize("kind", ["csr", "csc"])
def test_sums_and_products_of_matrices(kind: str) -> None:
    def f(d: Any) -> Any:
        a = matrix(d, kind)
        return np.sum(((a @ a - a.T).multiply(a) + a).toarray() ** 2)

    a = dense(NUMBERS, kind)
    assert f(NUMBERS) == pytest.approx(np.sum(((a @ a - a.T) * a + a) ** 2))
    check_gradient(f, NUMBERS)


def test_what_adds_up_to_zero_keeps_its_derivative() -> None:
    fixed = matrix(NUMBERS, "csr")
    weights = np.arange(16.0).reshape(4, 4)
    for f in (
        lambda d: np.sum((matrix(d, "csr") - fixed).toarray() * weights),
        lambda d: np.sum(sparse.diags([d[:4] - NUMBERS[:4]], [0]).toarray() * weights),
    ):
        check_gradient(f, NUMBERS)


def test_diagonals() -> None:
    for offset in (-1, 0, 2):
        check_rule(lambda d, k=offset: matrix(d, "csr").diagonal(k) * 1.0, NUMBERS)
    check_rule(lambda d, v: sparse.diags([d[:4], d[4:7]], [0, -1]) @ v, NUMBERS, V)
    check_gradient(lambda d: np.sum((sparse.diags([d[:4], d[4:7]], [0, 1]) @ BLOCK) ** 2), NUMBERS)
    wide = lambda d: sparse.dia_array((d[:8].reshape(2, 4), [-1, 2]), shape=(3, 5))  # noqa: E731
    check_gradient(lambda d: np.sum(wide(d).toarray() ** 2 * np.arange(15.0).reshape(3, 5)), NUMBERS)


@pytest.mark.parametrize("trans", ["N", "T"])
def test_factors_by_the_numbers_of_the_matrix(trans: str) -> None:
    for b in (V, BLOCK):
        f = lambda d, b: np.sum(linalg.splu(matrix(d, "csr").tocsc()).solve(b, trans) ** 2)  # noqa: E731
        check_gradient(f, NUMBERS, b, argnums=(0, 1))


def test_what_factors_do_not_say_of_a_matrix_with_a_derivative() -> None:
    with pytest.raises(UnsupportedError, match=r"SuperLU\.L of a matrix"):
        adbc.grad(lambda d: linalg.splu(matrix(d, "csc")).L.sum())(NUMBERS)


SQUARE = dense(NUMBERS)


@pytest.mark.parametrize("name", ["bicg", "bicgstab", "cgs", "gmres", "lgmres", "gcrotmk", "qmr", "tfqmr"])
def test_iterations(name: str) -> None:
    solve = getattr(linalg, name)
    check_rule(lambda a, b: solve(a, b, rtol=1e-13, atol=0.0)[0], SQUARE, V, rtol=1e-4)


@pytest.mark.parametrize("name", ["cg", "minres"])
def test_iterations_for_symmetric_matrices(name: str) -> None:
    # That they end early shows that the derivative is not that of the steps.
    solve = getattr(linalg, name)
    f = lambda a, b: solve(a @ a.T, b, rtol=1e-13)[0]  # noqa: E731
    check_rule(f, SQUARE, V, rtol=1e-4)
    of_operator = lambda a, b: solve(linalg.aslinearoperator(a @ a.T), b, rtol=1e-13)[0]  # noqa: E731
    check_rule(of_operator, SQUARE, V, rtol=1e-4)
    near = linalg.spsolve(sparse.csc_array(SQUARE @ SQUARE.T), V)
    early = lambda b: solve(SQUARE @ SQUARE.T, b, x0=near, rtol=1e-3)[0]  # noqa: E731
    np.testing.assert_allclose(adbc.jacrev(early)(V), np.linalg.inv(SQUARE @ SQUARE.T), rtol=1e-9)


def test_iterations_of_operators_and_sparse_matrices() -> None:
    def f(d: Any, b: Any) -> Any:
        of_operator = linalg.gmres(linalg.aslinearoperator(matrix(d, "csr").toarray()), b, rtol=1e-13)[0]
        return np.sum(of_operator * linalg.gmres(matrix(d, "csc"), b, rtol=1e-13)[0])

    check_gradient(f, NUMBERS, V, argnums=(0, 1))


class Product:
    """What multiplies by a matrix, and is no operator of SciPy's."""

    shape = (4, 4)

    def __init__(self, k: Any) -> None:
        self.k = k

    def matvec(self, v: Any) -> Any:
        return 3.0 * v + 0.1 * self.k * v[::-1]


class Operator(linalg.LinearOperator):  # type: ignore[misc]  # SciPy has no types
    def __init__(self, k: Any) -> None:
        super().__init__(float, (4, 4))
        self.k = k

    def _matvec(self, v: Any) -> Any:
        return 3.0 * v + 0.1 * self.k * v[::-1]


class WithAdjoint(Operator):
    def _rmatvec(self, v: Any) -> Any:
        return 3.0 * v + 0.1 * (self.k * v)[::-1]


def made_of_a_function(k: Any, n: int = 4) -> Any:
    return linalg.LinearOperator((n, n), matvec=lambda v: 3.0 * v + 0.1 * k * v[::-1], dtype=float)


def sum_of_operators(k: Any) -> Any:
    return 2.0 * made_of_a_function(k) + linalg.aslinearoperator(np.eye(4))


def own_adjoint(k: Any) -> Any:
    return made_of_a_function(k + k[::-1])


K = np.array([1.0, 0.5, 0.7, 1.2])
OPERATORS = [Product, Operator, WithAdjoint, made_of_a_function, sum_of_operators, own_adjoint]


@pytest.mark.parametrize("make", OPERATORS, ids=lambda make: make.__name__)
def test_operators_need_no_adjoint(make: Any) -> None:
    check_rule(lambda k, b: linalg.gmres(make(k), b, rtol=1e-13)[0], K, V[:4], rtol=1e-6)
    if make is own_adjoint:
        check_rule(lambda k, b: linalg.cg(make(k), b, rtol=1e-13)[0], K, V[:4], rtol=1e-6)
        check_rule(lambda k, b: linalg.minres(make(k), b, rtol=1e-13)[0], K, V[:4], rtol=1e-6)


def test_operators_of_complex_numbers_need_no_adjoint() -> None:
    def f(k: Any, b: Any) -> Any:
        operator = linalg.LinearOperator((4, 4), matvec=lambda v: (3.0 + 1j * k) * v + 0.1 * v[::-1])
        return linalg.bicgstab(operator, b, rtol=1e-13)[0]

    check_rule(f, K, V[:4] + 0.3j, rtol=1e-6)


def test_large_operators_without_an_adjoint_are_refused_in_reverse_mode() -> None:
    n = 600
    k, b = np.linspace(0.5, 1.0, n), np.ones(n)

    def f(k: Any) -> Any:
        return linalg.gmres(made_of_a_function(k, n), b, rtol=1e-12)[0].sum()

    with pytest.raises(UnsupportedError, match=r"without rmatvec.*rmatvec=\.\.\."):
        adbc.grad(f)(k)
    nearby = (f(k + 1e-5) - f(k - 1e-5)) / 2e-5
    np.testing.assert_allclose(adbc.jvp(f, (k,), (np.ones(n),))[1], nearby, rtol=1e-6)
    symmetric = lambda k: linalg.cg(made_of_a_function(k + k[::-1], n), b, rtol=1e-12)[0].sum()  # noqa: E731
    np.testing.assert_allclose(adbc.grad(symmetric)(k).sum(), adbc.jvp(symmetric, (k,), (np.ones(n),))[1])


# -- parts of matrices, and matrices side by side ----------------------------------------------------------

FEW, TRUE = np.array([2, 0, 2]), np.array([True, False, True, True])
PARTS: dict[str, Any] = {
    "rows": lambda a: a[FEW],
    "columns": lambda a: a[:, FEW],
    "one behind the other": lambda a: a[TRUE][:, TRUE],
    "block": lambda a: a[np.ix_(FEW, [3, 1])],
    "places": lambda a: a[[-1, 0, 2], [-1, 1, 0]],
    "places in rows": lambda a: a[[[0, 1], [2, 3]], [[0, 1], [0, 3]]],
    "steps": lambda a: a[::2, ::-1],
    "beside": lambda a: sparse.hstack([a, 2.0 * a, a.T.asformat(a.format)], format=a.format),
    "below": lambda a: sparse.vstack([a, 2.0 * a, a.T.asformat(a.format)], format=a.format),
    "larger": lambda a: a.maximum(a.T * 1.1),
    "smaller": lambda a: a.minimum(a.T * 1.1),
}


def weighted(out: Any) -> Any:
    """A number in which each entry of a part has its own weight."""
    out = np.asarray(out.toarray() if sparse.issparse(out) else out)
    return np.sum(out**2 * np.arange(1.0, out.size + 1.0).reshape(out.shape))


@pytest.mark.parametrize("kind", ["csr", "csc"])
@pytest.mark.parametrize("part", PARTS.values(), ids=PARTS)
def test_parts(part: Any, kind: str) -> None:
    def f(d: Any) -> Any:
        return weighted(part(matrix(d, kind)))

    check_gradient(f, NUMBERS)


def test_stiffness_without_fixed_places() -> None:
    free = np.array([0, 2, 3])
    check_gradient(lambda d: linalg.spsolve(matrix(d, "csc")[free][:, free], V[free]).sum(), NUMBERS)


def test_zeros_are_not_taken_out() -> None:
    def f(d: Any) -> Any:
        a = matrix(d, "csr")
        a.eliminate_zeros()
        return (a @ V).sum()

    check_gradient(f, NUMBERS)
    with pytest.raises(UnsupportedError, match="eliminate_zeros"):
        adbc.grad(f)(NUMBERS * (NUMBERS < 4.0))


@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
def test_a_product_with_an_exponential() -> None:
    # The norm of a sparse matrix that is none of the new arrays is the largest number in a `np.matrix`.
    check_gradient(lambda d: np.sum(linalg.expm_multiply(0.1 * matrix(d, "csr"), V) ** 2), NUMBERS)


def test_a_product_with_the_exponential_of_a_constant() -> None:
    """How many terms are summed is computed from norms, which are numbers of an object of SciPy's."""
    fixed = sparse.csr_array(np.diag([2.0, 3.0, 4.0]) + np.eye(3, k=1))
    check_gradient(lambda v: np.sum(linalg.expm_multiply(fixed, v) ** 2), V[:3])


# -- sparse arrays of one axis or of three, and matrices that are assembled entry by entry -----------------


def array_of(numbers: Any, kind: str = "csr") -> Any:
    return sparse.coo_array((numbers, (ROWS, COLUMNS)), shape=(4, 4)).asformat(kind)


SHORT: dict[str, Any] = {
    "row": lambda a: a[1, :],
    "row by one index": lambda a: a[2],
    "column": lambda a: a[:, 1],
    "part of a column": lambda a: a[1:, -1],
    "mask": lambda a: a[a > 0.3],
    "one entry": lambda a: a[0, 1] * np.ones(1),
}


@pytest.mark.parametrize("kind", ["csr", "csc", "lil", "dok"])
@pytest.mark.parametrize("part", SHORT.values(), ids=SHORT)
def test_parts_of_arrays_with_one_axis(part: Any, kind: str) -> None:
    def f(d: Any) -> Any:
        return weighted(part(array_of(d, kind)))

    check_gradient(f, NUMBERS)


def test_rows_of_an_array_one_by_one() -> None:
    check_gradient(lambda d: sum((r.toarray() ** 2).sum() * (r @ V) for r in array_of(d)), NUMBERS)


def test_arrays_of_three_axes() -> None:
    def f(d: Any, v: Any) -> Any:
        places = ROWS, COLUMNS, np.arange(10) % 3
        a = sparse.coo_array((d, places), shape=(4, 4, 3))
        dense = a.toarray()
        return np.sum(dense**3) + np.sum((a @ v[:3]) ** 2) + np.sum((a @ np.outer(v[:3], v)) ** 2)

    check_gradient(f, NUMBERS, V, argnums=(0, 1))


@pytest.mark.parametrize("make", [sparse.lil_array, sparse.lil_matrix, sparse.dok_array])
def test_assembly_entry_by_entry(make: Any) -> None:
    def f(d: Any) -> Any:
        a = make((4, 4))
        for i in range(4):
            a[i, i] = 4.0 + d[i]
            if i:
                a[i, i - 1] = a[-i, i - 4] = -d[i + 4]
        a[0, 0] += d[8] ** 2
        a[3, 3] = 0.0
        a[3, 3] = 5.0
        a[1] = d[:4]
        a[[0, 2], [3, 0]] = d[4:6]
        a[2:, 1:3] = np.outer(d[:2], d[6:8])
        return np.sum(linalg.spsolve(a.tocsc(), V) ** 2) + np.sum(a.toarray() ** 2) * a[2, 1]

    check_gradient(f, NUMBERS)


def test_parts_of_lists_of_rows() -> None:
    for part in [*PARTS.values()][:7]:
        check_gradient(lambda d, part=part: np.sum(part(array_of(d, "lil")).toarray() ** 2), NUMBERS)
    with pytest.raises(IndexError, match=r"row index \(7\) out of bounds"):
        adbc.grad(lambda d: array_of(d, "lil")[7, 0])(NUMBERS)


def test_a_zero_with_a_derivative_is_not_left_out() -> None:
    def f(x: Any) -> Any:
        a = sparse.lil_array((2, 2))
        a[0, 1] = x - 1.0
        a[1] = 0.0
        return a.toarray().sum() * x

    assert adbc.grad(f)(1.0) == 1.0
    assert adbc.jvp(f, (1.0,), (1.0,)) == (0.0, 1.0)


# -- matrices by blocks ------------------------------------------------------------------------------------

TWELVE = RNG.normal(size=12)


def blocks_of(numbers: Any) -> Any:
    return sparse.bsr_array((numbers.reshape(2, 2, 3), [1, 0], [0, 1, 2]), shape=(4, 6))


BLOCKED: dict[str, Any] = {
    "dense": lambda d: blocks_of(d).toarray(),
    "a vector": lambda d: blocks_of(d) @ np.append(V, d[:2]),
    "vectors": lambda d: blocks_of(d) @ np.outer(np.append(V, 0.3), d[:2])[[0, 1, 2, 3, 4, 0]],
    "turned": lambda d: blocks_of(d).T @ V,
    "product": lambda d: (blocks_of(d) @ blocks_of(d[::-1]).T).toarray(),
    "sum": lambda d: (blocks_of(d) + 2.0 * blocks_of(d[::-1]) - blocks_of(d) * d[0]).toarray(),
    "product of entries": lambda d: blocks_of(d).multiply(blocks_of(d[::-1])).toarray(),
    "diagonals": lambda d: np.append(blocks_of(d).diagonal(1), blocks_of(d).diagonal(-1)),
    "Kronecker product": lambda d: sparse.kron(np.eye(2), sparse.csr_array(d[:4].reshape(2, 2))).T @ V,
}


@pytest.mark.parametrize("f", BLOCKED.values(), ids=BLOCKED)
def test_blocks(f: Any) -> None:
    def total(d: Any) -> Any:
        out = np.ravel(f(d))
        return np.sum(out**2 * np.arange(1.0, out.size + 1.0))

    check_gradient(total, TWELVE)


def test_blocks_of_a_matrix_by_rows() -> None:
    def f(d: Any) -> Any:
        a = sparse.csr_array(d.reshape(2, 6) * np.array([[1.0, 0, 0, 1, 1, 0], [0, 1, 0, 1, 1, 0]]))
        blocks = a.tobsr((2, 2))
        return np.sum((blocks @ d[:6]) ** 2) + np.sum(blocks.data[0] ** 3)

    check_gradient(f, TWELVE)


def test_blocks_out_of_order() -> None:
    def f(d: Any) -> Any:
        a = sparse.bsr_array((d.reshape(3, 2, 2), [1, 0, 1], [0, 2, 3]), shape=(4, 4))
        a.sort_indices()
        system = a.tocsc() + 3.0 * sparse.eye_array(4, format="csc")
        return (
            np.sum(linalg.spsolve(system, V) ** 2) + (a @ a).sum() + np.sum(a.data[0] * d[:4].reshape(2, 2))
        )

    check_gradient(f, TWELVE)
