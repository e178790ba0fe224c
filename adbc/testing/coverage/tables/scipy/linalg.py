"""Calls of the functions of ``scipy.linalg``."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["CALLS", "SKIPPED"]

CALLS: dict[str, Sequence[str]] = {
    "scipy.linalg.bandwidth": ["scipy.linalg.bandwidth(A)"],
    "scipy.linalg.block_diag": ["scipy.linalg.block_diag(A, C)"],
    "scipy.linalg.cdf2rdf": ["scipy.linalg.cdf2rdf(*np.linalg.eig(A - 4.0 * A.T))[0]"],
    "scipy.linalg.cho_factor": ["scipy.linalg.cho_factor(S, lower=True)[0]"],
    "scipy.linalg.cho_solve": [
        "scipy.linalg.cho_solve((T, True), v[:3])",
        "scipy.linalg.cho_solve(scipy.linalg.cho_factor(S), B)",
    ],
    "scipy.linalg.cho_solve_banded": ["scipy.linalg.cho_solve_banded((A[:2], False), v[:3])"],
    "scipy.linalg.cholesky": ["scipy.linalg.cholesky(S)", "scipy.linalg.cholesky(S, lower=True)"],
    "scipy.linalg.cholesky_banded": [
        "scipy.linalg.cholesky_banded(np.stack([0.2 * v, u + 2.0]))",
        "scipy.linalg.cholesky_banded(np.stack([u + 2.0, 0.2 * v]), lower=True)",
    ],
    "scipy.linalg.circulant": ["scipy.linalg.circulant(v)"],
    "scipy.linalg.companion": ["scipy.linalg.companion(v)"],
    "scipy.linalg.convolution_matrix": ["scipy.linalg.convolution_matrix(v, 4)"],
    "scipy.linalg.cossin": ["scipy.linalg.cossin(scipy.linalg.qr(A)[0], 1, 1)[1]"],
    "scipy.linalg.det": ["scipy.linalg.det(A)"],
    "scipy.linalg.diagsvd": ["scipy.linalg.diagsvd(v, 5, 6)"],
    "scipy.linalg.eig": ["np.abs(scipy.linalg.eig(A)[0])", "np.abs(scipy.linalg.eig(A)[1])"],
    "scipy.linalg.eig_banded": ["scipy.linalg.eig_banded(np.stack([0.2 * v, u + 2.0]))[0]"],
    "scipy.linalg.eigh": [
        "scipy.linalg.eigh(S)[0]",
        "np.abs(scipy.linalg.eigh(S)[1])",
        "scipy.linalg.eigh(S, T @ T.T)[0]",
    ],
    "scipy.linalg.eigh_tridiagonal": ["scipy.linalg.eigh_tridiagonal(v, u[:4])[0]"],
    "scipy.linalg.eigvals": ["scipy.linalg.eigvals(A)"],
    "scipy.linalg.eigvals_banded": ["scipy.linalg.eigvals_banded(np.stack([0.2 * v, u + 2.0]))"],
    "scipy.linalg.eigvalsh": ["scipy.linalg.eigvalsh(S)"],
    "scipy.linalg.eigvalsh_tridiagonal": ["scipy.linalg.eigvalsh_tridiagonal(v, u[:4])"],
    "scipy.linalg.expm_cond": ["scipy.linalg.expm_cond(A)"],
    "scipy.linalg.expm_frechet": ["scipy.linalg.expm_frechet(A, B, compute_expm=False)"],
    "scipy.linalg.fractional_matrix_power": [
        "scipy.linalg.fractional_matrix_power(S, 0.3)",
        "scipy.linalg.fractional_matrix_power(S, u[0])",
    ],
    "scipy.linalg.funm": ["scipy.linalg.funm(S, np.exp)"],
    "scipy.linalg.hadamard": ["scipy.linalg.hadamard(4) * x"],
    "scipy.linalg.helmert": ["scipy.linalg.helmert(4) @ C"],
    "scipy.linalg.hessenberg": ["scipy.linalg.hessenberg(A)"],
    "scipy.linalg.hilbert": ["scipy.linalg.hilbert(3) @ A"],
    "scipy.linalg.inv": ["scipy.linalg.inv(A)"],
    "scipy.linalg.invhilbert": ["scipy.linalg.invhilbert(3) @ A"],
    "scipy.linalg.invpascal": ["scipy.linalg.invpascal(3) @ A"],
    "scipy.linalg.ishermitian": ["scipy.linalg.ishermitian(A)"],
    "scipy.linalg.issymmetric": ["scipy.linalg.issymmetric(A)"],
    "scipy.linalg.khatri_rao": ["scipy.linalg.khatri_rao(A, C)"],
    "scipy.linalg.ldl": ["scipy.linalg.ldl(S)[0]", "scipy.linalg.ldl(S)[1]"],
    "scipy.linalg.leslie": ["scipy.linalg.leslie(v, u[:4])"],
    "scipy.linalg.logm": ["scipy.linalg.logm(S)"],
    "scipy.linalg.lstsq": ["scipy.linalg.lstsq(C, v[:4])[0]"],
    "scipy.linalg.lu": ["scipy.linalg.lu(A)[1]", "scipy.linalg.lu(A)[2]"],
    "scipy.linalg.lu_factor": ["scipy.linalg.lu_factor(A)[0]"],
    "scipy.linalg.lu_solve": [
        "scipy.linalg.lu_solve((A, [0, 1, 2]), v[:3])",
        "scipy.linalg.lu_solve(scipy.linalg.lu_factor(A), B, trans=1)",
    ],
    "scipy.linalg.matmul_toeplitz": ["scipy.linalg.matmul_toeplitz((v, u), v)"],
    "scipy.linalg.matrix_balance": ["scipy.linalg.matrix_balance(A)[0]"],
    "scipy.linalg.norm": [
        "scipy.linalg.norm(v)",
        "scipy.linalg.norm(A, 'nuc')",
        "scipy.linalg.norm(A, axis=1)",
    ],
    "scipy.linalg.null_space": ["np.abs(scipy.linalg.null_space(C.T))"],
    "scipy.linalg.orth": ["np.abs(scipy.linalg.orth(C))"],
    "scipy.linalg.ordqz": ["scipy.linalg.ordqz(A, B)[0]"],
    "scipy.linalg.orthogonal_procrustes": ["scipy.linalg.orthogonal_procrustes(C, C @ A)[0]"],
    "scipy.linalg.pascal": ["scipy.linalg.pascal(3) @ A"],
    "scipy.linalg.pinv": ["scipy.linalg.pinv(C)"],
    "scipy.linalg.pinvh": ["scipy.linalg.pinvh(S)"],
    "scipy.linalg.polar": ["scipy.linalg.polar(A)[0]", "scipy.linalg.polar(A)[1]"],
    "scipy.linalg.qr": ["scipy.linalg.qr(C, mode='economic')", "scipy.linalg.qr(A)[1]"],
    "scipy.linalg.qr_delete": ["scipy.linalg.qr_delete(*scipy.linalg.qr(A), 1)[1]"],
    "scipy.linalg.qr_insert": ["scipy.linalg.qr_insert(*scipy.linalg.qr(A), v[:3], 1)[1]"],
    "scipy.linalg.qr_multiply": ["scipy.linalg.qr_multiply(A, B)[0]"],
    "scipy.linalg.qr_update": ["scipy.linalg.qr_update(*scipy.linalg.qr(A), v[:3], u[:3])[1]"],
    "scipy.linalg.qz": ["scipy.linalg.qz(A, B)[0]"],
    "scipy.linalg.rq": ["scipy.linalg.rq(A)"],
    "scipy.linalg.rsf2csf": ["np.abs(scipy.linalg.rsf2csf(*scipy.linalg.schur(A))[0])"],
    "scipy.linalg.schur": ["scipy.linalg.schur(A)[0]"],
    "scipy.linalg.signm": ["scipy.linalg.signm(A - 2.7 * np.eye(3))"],
    "scipy.linalg.solve": [
        "scipy.linalg.solve(A, v[:3])",
        "scipy.linalg.solve(S, B, assume_a='pos')",
        "scipy.linalg.solve(A, B, transposed=True)",
    ],
    "scipy.linalg.solve_banded": [
        "scipy.linalg.solve_banded((1, 1), np.stack([0.1 * v, u + 2.0, 0.2 * u]), v)"
    ],
    "scipy.linalg.solve_circulant": ["scipy.linalg.solve_circulant(v, u)"],
    "scipy.linalg.solve_continuous_are": ["scipy.linalg.solve_continuous_are(A, B, S + S.T, T @ T.T)"],
    "scipy.linalg.solve_continuous_lyapunov": ["scipy.linalg.solve_continuous_lyapunov(A, S)"],
    "scipy.linalg.solve_discrete_are": ["scipy.linalg.solve_discrete_are(0.2 * A, B, S + S.T, T @ T.T)"],
    "scipy.linalg.solve_discrete_lyapunov": ["scipy.linalg.solve_discrete_lyapunov(0.2 * A, S)"],
    "scipy.linalg.solve_lyapunov": ["scipy.linalg.solve_lyapunov(A, S)"],
    "scipy.linalg.solve_sylvester": ["scipy.linalg.solve_sylvester(A, B, S)"],
    "scipy.linalg.solve_toeplitz": [
        "scipy.linalg.solve_toeplitz(v + [2.0, 0.0, 0.0, 0.0, 0.0], u)",
        "scipy.linalg.solve_toeplitz((v + [2.0, 0.0, 0.0, 0.0, 0.0], u), v)",
    ],
    "scipy.linalg.solve_triangular": [
        "scipy.linalg.solve_triangular(T, v[:3], lower=True)",
        "scipy.linalg.solve_triangular(T, B, trans=1, lower=True)",
    ],
    "scipy.linalg.solveh_banded": ["scipy.linalg.solveh_banded(np.stack([0.2 * v, u + 2.0]), v)"],
    "scipy.linalg.sqrtm": ["scipy.linalg.sqrtm(S)"],
    "scipy.linalg.subspace_angles": ["scipy.linalg.subspace_angles(C[:, :2], C[:, 1:] * C[:, :2])"],
    "scipy.linalg.svd": [
        "scipy.linalg.svd(A, compute_uv=False)",
        "np.abs(scipy.linalg.svd(C, full_matrices=False)[0])",
    ],
    "scipy.linalg.svdvals": ["scipy.linalg.svdvals(C)"],
    "scipy.linalg.toeplitz": ["scipy.linalg.toeplitz(v)", "scipy.linalg.toeplitz(v, u)"],
    **{
        f"scipy.linalg.{name}": [f"scipy.linalg.{name}(A)"]
        for name in ("coshm", "cosm", "expm", "sinhm", "sinm", "tanhm", "tanm")
    },
    **{
        f"scipy.linalg.{name}": [f"scipy.linalg.{name}(v)"]
        for name in ("fiedler", "fiedler_companion", "hankel")
    },
    "scipy.linalg.dft": ["np.abs(scipy.linalg.dft(5) @ v)"],
}

_L = "scipy.linalg"
_BAND = "np.stack([0.2 * v, u + 2.0])"
_MORE = {
    "pinv": ["pinv(np.stack([C, 2.0 * C]))"],
    "qr": ["qr(np.stack([A, B]))[1]", "qr(C)[1]", "qr(C.T)[1]"],
    "lu_factor": ["lu_factor(np.stack([A, B]))[0]", "lu_factor(C)[0]"],
    "eig": ["np.abs({}.eig(A, B)[0])", "np.abs({}.eig(A, B)[1])", "np.abs({}.eig(A + 0.3j * B)[1])"],
    "eigvals": ["eigvals(np.stack([A, B]))", "eigvals(A, B)"],
    "eigh": [
        "np.abs({}.eigh(S, T @ T.T)[1])",
        "eigh(S, T @ T.T + 0.05j * (A - A.T))[0]",
        "eigh(S + 0.1j * (A - A.T), lower=False)[0]",
        "eigh(np.stack([S, 2.0 * S]))[0]",
    ],
    "eig_banded": [
        f"np.abs({{}}.eig_banded({_BAND})[1])",
        f"eig_banded(np.stack([{_BAND}, 2.0 * {_BAND}]))[0]",
        "eig_banded(np.stack([0.2j * v + 0.1 * u, u + 2.0]))[0]",
    ],
    "eigh_tridiagonal": ["np.abs({}.eigh_tridiagonal(v, u[:4])[1])"],
    "cholesky_banded": ["cholesky_banded(np.stack([0.2j * v + 0.1 * u, u + 2.0]))"],
    "cho_solve": ["cho_solve((np.stack([T, 2.0 * T]), True), np.stack([v[:3], u[:3]])[..., None])"],
    "cho_solve_banded": [
        "cho_solve_banded((A[:2] + 1.0, True), v[:3])",
        "cho_solve_banded((A[:2] + 1.0 + 0.3j * B[:2], False), v[:3])",
    ],
    "qr_update": ["qr_update(*{}.qr(A), B[:, :2], A[:, 1:])[1]"],
}
"""Forms besides: stacks of matrices, complex numbers, vectors; {} stands for the module."""

for _name, _calls in _MORE.items():
    _texts = [text.format(_L) if "{}" in text[:9] else f"{_L}.{text.format(_L)}" for text in _calls]
    CALLS[f"{_L}.{_name}"] = [*CALLS[f"{_L}.{_name}"], *_texts]

SKIPPED: dict[str, str] = {
    "scipy.linalg.clarkson_woodruff_transform": "draws a random matrix",
    **{
        f"scipy.linalg.{name}": "gives functions"
        for name in ("find_best_blas_type", "get_blas_funcs", "get_lapack_funcs")
    },
}
