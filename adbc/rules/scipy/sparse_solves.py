"""Systems of equations with sparse matrices, solved by SuperLU or by iterations.

The cotangent of the right-hand side solves the system of the adjoint; that of the numbers of the matrix is
the outer product of the two solutions, of which only the places of these numbers are computed.  An iteration
is differentiated as what it solves, not step by step: the steps end when the solution is good enough, and
their derivatives lag behind.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.sparse import csc_array, csc_matrix, csr_matrix, issparse, linalg
from scipy.sparse.linalg import SuperLU, splu, spsolve
from scipy.sparse.linalg._dsolve import _superlu

from adbc.errors import UnsupportedError
from adbc.rules.implicit import held, solved
from adbc.rules.numpy.base import ArrayRule
from adbc.rules.scipy.base import bodies
from adbc.rules.scipy.sparse import lines_of
from adbc.rules.table import Overlay, PureRule, Rule

__all__ = ["ROWS"]


def _matrix(data: Any, indices: Any, indptr: Any, n: int, flag: int) -> Any:
    make = csc_matrix if flag else csr_matrix
    return make((data, indices, indptr), shape=(n, n))


def solved_sparsely(data: Any, b: Any, indices: Any, indptr: Any, n: int, flag: int, options: Any) -> Any:
    """The solution of a sparse system, as ``_superlu.gssv`` gives it."""
    return _superlu.gssv(n, len(data), data, indices, indptr, b, flag, options=options)[0]


def _solve(by: Any, data: Any, indices: Any, indptr: Any, n: int, flag: int, trans: str) -> Any:
    dtype = np.result_type(data, by)
    return splu(_matrix(data, indices, indptr, n, flag).tocsc().astype(dtype)).solve(by.astype(dtype), trans)


def _along_data(
    d: Any, x: Any, data: Any, b: Any, indices: Any, indptr: Any, n: int, flag: int, options: Any
) -> Any:
    change = _matrix(d, indices, indptr, n, flag) @ x
    return -_solve(change, data, indices, indptr, n, flag, "N")


def _along_b(
    d: Any, x: Any, data: Any, b: Any, indices: Any, indptr: Any, n: int, flag: int, options: Any
) -> Any:
    return np.reshape(_solve(np.reshape(d, x.shape), data, indices, indptr, n, flag, "N"), x.shape)


def _against_data(
    by: Any, x: Any, data: Any, b: Any, indices: Any, indptr: Any, n: int, flag: int, options: Any
) -> Any:
    bb = np.reshape(_solve(by, data, indices, indptr, n, flag, "H"), (n, -1))
    lines = lines_of(indptr)
    rows, columns = (indices, lines) if flag else (lines, indices)
    return -np.sum(bb[rows] * np.conjugate(np.reshape(x, (n, -1)))[columns], axis=1)


def _against_b(
    by: Any, x: Any, data: Any, b: Any, indices: Any, indptr: Any, n: int, flag: int, options: Any
) -> Any:
    return np.reshape(_solve(by, data, indices, indptr, n, flag, "H"), np.shape(b))


def gssv(
    n: int, nnz: int, data: Any, indices: Any, indptr: Any, b: Any, flag: int, options: Any = None
) -> Any:
    return solved_sparsely(data, b, indices, indptr, n, flag, options), 0


_ADJOINT: dict[str, Callable[..., Any]] = {
    "N": lambda lu, by: lu.solve(by, "H"),
    "T": lambda lu, by: np.conjugate(lu.solve(np.conjugate(by))),
    "H": lambda lu, by: lu.solve(by, "N"),
}


# -- factors of a matrix whose numbers have a derivative -----------------------------------------------------


def solved_by_factors(data: Any, b: Any, indices: Any, indptr: Any, n: int, lu: Any, trans: str = "N") -> Any:
    """The solution of the system of a matrix by columns, or of its transpose, by the factors `lu`."""
    return lu.solve(b, trans)


def _turned(trans: str, data: Any) -> bool:
    """Whether the system is that of the transpose; what is conjugated, too, is refused."""
    if trans == "H" and np.iscomplexobj(data):
        raise UnsupportedError(
            "SuperLU.solve with trans='H' of a complex matrix with a derivative",
            "adbc has no rule for that form",
            "solve with the conjugate, numpy.conj(lu.solve(numpy.conj(b), 'T'))",
        )
    return trans != "N"


def _factors_adjoint(by: Any, data: Any, indices: Any, indptr: Any, n: int, lu: Any, trans: str = "N") -> Any:
    """The solution of the system of the adjoint."""
    if trans == "T":
        return np.conjugate(solved_by_factors(data, np.conjugate(by), indices, indptr, n, lu))
    return solved_by_factors(data, by, indices, indptr, n, lu, "N" if trans == "H" else "H")


def _factors_along_data(
    d: Any, x: Any, data: Any, b: Any, indices: Any, indptr: Any, n: int, lu: Any, trans: str = "N"
) -> Any:
    change = _matrix(d, indices, indptr, n, 1)
    right = (change.T if _turned(trans, data) else change) @ x
    return -solved_by_factors(data, right, indices, indptr, n, lu, trans)


def _factors_against_data(
    by: Any, x: Any, data: Any, b: Any, indices: Any, indptr: Any, n: int, lu: Any, trans: str = "N"
) -> Any:
    back = _factors_adjoint(by, data, indices, indptr, n, lu, trans)
    bb, x = np.reshape(back, (n, -1)), np.conjugate(np.reshape(x, (n, -1)))
    columns = lines_of(indptr)
    if _turned(trans, data):
        return -np.sum(bb[columns] * x[indices], axis=1)
    return -np.sum(bb[indices] * x[columns], axis=1)


class Factors:
    """What ``splu`` gives of a matrix whose numbers have a derivative: it solves as `SuperLU` does."""

    def __init__(self, matrix: Any, lu: Any) -> None:
        self.matrix = matrix
        self.lu = lu
        self.shape, self.nnz, self.perm_r, self.perm_c = lu.shape, lu.nnz, lu.perm_r, lu.perm_c

    def solve(self, rhs: Any, trans: str = "N") -> Any:
        a = self.matrix
        return solved_by_factors(a.data, rhs, a.indices, a.indptr, self.shape[0], self.lu, trans)

    def __getattr__(self, name: str) -> Any:
        raise UnsupportedError(
            f"SuperLU.{name} of a matrix with a derivative", "adbc has no rule for it", "use scipy.linalg.lu"
        )


def factorised(A: Any, *positional: Any, **options: Any) -> Any:
    matrix = A.tocsc() if issparse(A) else csc_array(A)
    matrix.sum_duplicates()
    return Factors(matrix, solved(splu, (matrix, *positional), options))


# -- iterations ----------------------------------------------------------------------------------------------


HERMITIAN = (linalg.cg, linalg.minres)
"""The iterations for matrices that are their own adjoints: the operator need not have another."""
_PROBED = 512
"""Up to how many unknowns the matrix of an operator that has no adjoint is found, column by column."""


def _adjoint_of(function: Any, A: Any, like: Any) -> Any:
    """The adjoint of what multiplies vectors like `like` by a matrix."""
    matvec = A.matvec if function in HERMITIAN else getattr(A, "rmatvec", _no_adjoint)
    dtype = like.dtype if getattr(A, "dtype", None) is None else A.dtype
    return linalg.LinearOperator(A.shape, matvec, rmatvec=A.matvec, dtype=dtype)


def _no_adjoint(v: Any) -> Any:
    """What operators of SciPy's do that have no ``rmatvec``."""
    raise NotImplementedError


def _adjoint_solve(function: Any, A: Any, by: Any, error: Exception) -> Any:
    """The solution of the system of the adjoint, of which the operator `A` does not know products."""
    n = A.shape[1]
    if n > _PROBED:
        raise UnsupportedError(
            f"the pullback of scipy.sparse.linalg.{function.__name__} of an operator without rmatvec, with"
            f" more than {_PROBED} unknowns",
            "cotangents are solutions of the system of the adjoint",
            "make it by LinearOperator(shape, matvec, rmatvec=...), or use cg if the matrix is symmetric and"
            " positive, minres if it is symmetric",
        ) from error
    columns = [np.reshape(A.matvec(unit), n) for unit in np.eye(n)]
    return np.linalg.solve(np.conj(columns), by)


def _linear_solve(function: Any, A: Any, d: Any, is_adjoint: bool) -> Any:
    """The solution for another right-hand side: directly, if the matrix is known, else by the iteration."""
    if isinstance(A, np.ndarray):
        return np.linalg.solve(A.conj().T if is_adjoint else A, d)
    if issparse(A):
        system = A.conj().T if is_adjoint else A
        return np.reshape(spsolve(system.tocsc(), d), np.shape(d))
    system = _adjoint_of(function, A, d) if is_adjoint else A
    # ``minres`` has no absolute tolerance.
    options = {"rtol": 1e-12} if function is linalg.minres else {"rtol": 1e-12, "atol": 0.0}
    try:
        y, failed = function(system, d, **options)
    except NotImplementedError as error:  # by this operators say that they have no adjoint
        if not is_adjoint:
            raise
        return _adjoint_solve(function, A, d, error)
    if failed:
        raise UnsupportedError(
            f"the derivative of scipy.sparse.linalg.{function.__name__}",
            "the iteration does not converge for the tangent, or the cotangent, of the solution",
            "give a matrix in the place of the operator, or use scipy.sparse.linalg.spsolve",
        )
    return np.reshape(y, np.shape(d))


def at_solution(x: Any, r: Any, function: Any, A: Any) -> Any:
    """The solution `x` of a system whose residual there is `r`: by the matrix `A`, a constant here, the
    derivative is that of the residual."""
    return x.copy()


def _solution_again(x: Any, A: Any, b: Any, function: Any) -> Any:
    """The solution `x`, which moves where the derivative is differentiated that has it for a constant."""
    return x


def _solution_of(x: Any, A: Any, b: Any, function: Any) -> Any:
    """The constant `x`, with the derivative of the solution of ``A x = b``."""
    x = held(_solution_again, x, A, b, function)
    # What is no operator of SciPy's has ``matvec`` alone.
    product = A @ x if hasattr(type(A), "__matmul__") else A.matvec(x)
    return at_solution(x, np.reshape(product, x.shape) - np.reshape(b, x.shape), function, A)


def _iterated(name: str) -> Overlay:
    function = getattr(linalg, name)

    def body(A: Any, b: Any, *positional: Any, **options: Any) -> Any:
        x, failed = solved(function, (A, b, *positional), options)
        return _solution_of(x, A, b, function), failed

    return Overlay(function, body)


ITERATIONS = ("bicg", "bicgstab", "cg", "cgs", "gcrotmk", "gmres", "lgmres", "minres", "qmr", "tfqmr")


ROWS: list[Rule] = [
    ArrayRule(
        solved_sparsely,
        "data b indices indptr n flag options",
        jvp=[_along_data, _along_b],
        vjp=[_against_data, _against_b],
    ),
    ArrayRule(
        SuperLU.solve,
        "self rhs trans",
        jvp=[None, lambda d, x, lu, b, trans="N": lu.solve(d, trans)],
        vjp=[None, lambda by, x, lu, b, trans="N": _ADJOINT[trans](lu, by)],
    ),
    *bodies(_superlu, {"gssv": gssv}),
    ArrayRule(
        solved_by_factors,
        "data b indices indptr n lu trans",
        jvp=[
            _factors_along_data,
            lambda d, x, data, b, indices, indptr, n, lu, trans="N": solved_by_factors(
                data, d, indices, indptr, n, lu, trans
            ),
        ],
        vjp=[
            _factors_against_data,
            lambda by, x, data, b, indices, indptr, n, lu, trans="N": _factors_adjoint(
                by, data, indices, indptr, n, lu, trans
            ),
        ],
    ),
    Overlay(splu, factorised),
    PureRule(
        at_solution,
        jvp=(lambda d, *_: d, lambda d, x, _, r, function, A: -_linear_solve(function, A, d, False)),
        vjp=(lambda by, *_: by, lambda by, x, _, r, function, A: -_linear_solve(function, A, by, True)),
    ),
    Overlay(_solution_again, _solution_of),
    *(_iterated(name) for name in ITERATIONS),
]
