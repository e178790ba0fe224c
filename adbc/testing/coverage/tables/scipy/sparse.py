"""Calls of the functions of ``scipy.sparse`` and ``scipy.sparse.linalg``; what is sparse is made dense again."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["CALLS", "SKIPPED"]

_S = "scipy.sparse"
_L = "scipy.sparse.linalg"
_O = _L + ".LinearOperator((3, 3), matvec=lambda t: {} @ t, dtype=float)"
_M = f"{_S}.csr_array((np.concatenate([v, u[:2]]), ([0, 1, 2, 0, 1, 2, 2], [0, 1, 2, 1, 2, 0, 1])), shape=(3, 3))"
_D = f"({_S}.csc_array(np.eye(3) * 2.0) + {_S}.csc_array(A))"
_K = f"{_S}.csc_array((np.concatenate([v + 2.0, u[:2] * 0.3]), ([0, 1, 2, 3, 4, 0, 1], [0, 1, 2, 3, 4, 1, 2])), shape=(5, 5))"
_F = f"{_S}.csr_array(np.diag([2.0, 3.0, 4.0]) + np.eye(3, k=1))"

CALLS: dict[str, Sequence[str]] = {
    **{
        f"{_S}.{kind}_{what}": [
            f"{_S}.{kind}_{what}(A) @ v[:3]",
            f"{_S}.{kind}_{what}(A).toarray()",
            f"{_S}.{kind}_{what}([[1.0, 0.0], [2.0, 3.0]]) @ v[:2]",
            f"({_S}.{kind}_{what}(A) * v[0]).sum(axis=0)",
            f"({_S}.{kind}_{what}(A).T @ B)",
        ]
        for kind in ("csr", "csc", "coo", "bsr", "dia", "dok", "lil")
        for what in ("array", "matrix")
    },
    f"{_S}.csr_array": [
        f"{_M} @ u[:3]",
        f"{_M}.toarray()",
        f"({_M} @ {_M}).toarray()",
        f"({_M} + {_M}.T).toarray()",
        f"{_M}.multiply(A).toarray()",
        f"{_M}.diagonal()",
        f"{_M}.diagonal(1)",
        f"{_M}.diagonal(-2)",
        f"{_M}[1:, 1:].toarray()",
        f"{_M}[[2, 0]][:, [1, 2]].toarray()",
        f"{_M}.sum(axis=1)",
        f"{_M}[1:, :2].toarray()",
        f"{_M}.tocsc().data",
        f"abs({_M}).toarray()",
        f"{_M}.power(2).toarray()",
    ],
    f"{_S}.coo_array": [
        f"{_S}.coo_array((v, ([0, 1, 2, 0, 1], [0, 1, 2, 1, 1])), shape=(3, 3)).toarray()",
        f"{_S}.coo_array((v, ([0, 1, 2, 0, 1], [0, 1, 2, 1, 1])), shape=(3, 3)).tocsr() @ u[:3]",
        f"{_S}.coo_array((v, ([0, 1, 2, 0, 1], [0, 1, 2, 1, 1])), shape=(3, 4)).toarray(order='F')",
    ],
    f"{_S}.block_array": [f"{_S}.block_array([[{_M}, None], [None, {_M}]]).toarray()"],
    f"{_S}.bmat": [f"{_S}.bmat([[{_M}, None], [None, {_M}]]).toarray()"],
    f"{_S}.block_diag": [f"{_S}.block_diag([{_M}, A]).toarray()"],
    f"{_S}.diags": [f"{_S}.diags([v, u[:4]], [0, 1]).toarray()", f"{_S}.diags([v, u[:4]], [0, 1]) @ u"],
    f"{_S}.diags_array": [
        f"{_S}.diags_array([v, u[:4]], offsets=[0, 1]).toarray()",
        f"{_S}.diags_array([v, u[:4]], offsets=[0, 1]) @ u",
    ],
    f"{_S}.spdiags": [f"{_S}.spdiags(np.stack([v, u]), [0, 1], 5, 5) @ u"],
    **{f"{_S}.{name}": [f"{_S}.{name}(3) @ A"] for name in ("eye", "eye_array", "identity")},
    f"{_S}.find": [f"{_S}.find({_M})[2]"],
    f"{_S}.lil_array": [
        f"{_S}.lil_array(A) @ v[:3]",
        f"{_S}.lil_array(A).toarray()",
        f"{_S}.lil_array(A)[-1, -2] * u",
        f"{_S}.lil_array(A)[[0, -1], [-2, 1]].toarray()",
        f"({_S}.lil_array(A) * v[0]).sum(axis=0)",
    ],
    **{
        f"{_S}.{name}": [
            f"{_S}.{name}([{_M}, {_M}]).toarray()",
            f"{_S}.{name}([{_M}{part}, {_F}, {_M}]).toarray()",  # of several sizes
            f"{_S}.{name}([{_M}.tocsc(), {_D}, {_M}.tocsc(){part}]).toarray()",
        ]
        for name, part in (("hstack", "[:, :2]"), ("vstack", "[:2]"))
    },
    f"{_S}.kron": [f"{_S}.kron({_M}, {_F}).toarray()"],
    f"{_S}.kronsum": [f"{_S}.kronsum({_M}, {_F}).toarray()"],
    f"{_S}.tril": [f"{_S}.tril({_M}).toarray()"],
    f"{_S}.triu": [f"{_S}.triu({_M}).toarray()"],
    f"{_S}.swapaxes": [f"{_S}.swapaxes({_S}.coo_array(A), 0, 1).toarray()"],
    f"{_S}.permute_dims": [f"{_S}.permute_dims({_S}.coo_array(A), (1, 0)).toarray()"],
    f"{_S}.expand_dims": [f"{_S}.expand_dims({_S}.coo_array(A), axis=0).toarray()"],
    # linear algebra
    f"{_L}.spsolve": [
        f"{_L}.spsolve({_K}, u)",
        f"{_L}.spsolve({_F}, v[:3])",
        f"{_L}.spsolve({_K}, np.stack([u, v], 1))",
    ],
    f"{_L}.spsolve_triangular": [f"{_L}.spsolve_triangular({_S}.csr_array(T), v[:3])"],
    f"{_L}.splu": [f"{_L}.splu({_S}.csc_array({_F})).solve(v[:3])", f"{_L}.splu({_K}).solve(u)"],
    f"{_L}.spilu": [f"{_L}.spilu({_S}.csc_array({_F})).solve(v[:3])"],
    f"{_L}.SuperLU": [f"{_L}.splu({_S}.csc_array({_F})).solve(v[:3], 'T')"],
    f"{_L}.factorized": [f"{_L}.factorized({_S}.csc_array({_F}))(v[:3])", f"{_L}.factorized({_K})(u)"],
    f"{_L}.inv": [f"{_L}.inv({_K}).toarray()"],
    f"{_L}.norm": [f"{_L}.norm({_M})"],
    f"{_L}.expm": [f"{_L}.expm({_K}).toarray()"],
    f"{_L}.expm_multiply": [f"{_L}.expm_multiply({_F}, v[:3])", f"{_L}.expm_multiply({_K}, u)"],
    f"{_L}.funm_multiply_krylov": [f"{_L}.funm_multiply_krylov(lambda a: a @ a, {_F}, v[:3])"],
    f"{_L}.matrix_power": [f"{_L}.matrix_power({_M}, 2).toarray()"],
    **{
        f"{_L}.{name}": [
            f"{_L}.{name}({_K}, u, rtol=1e-13)[0]",
            f"{_L}.{name}(S + S.T, v[:3], rtol=1e-13)[0]",
            *([f"{_L}.{name}({_O.format('S')}, v[:3], rtol=1e-13)[0]"] if name != "bicg" else []),
        ]
        for name in ("bicg", "bicgstab", "cgs", "gmres", "lgmres", "gcrotmk", "tfqmr")
    },
    **{
        f"{_L}.{name}": [
            f"{_L}.{name}(S + S.T, v[:3], rtol=1e-13)[0]",
            f"{_L}.{name}({_S}.csr_array(S + S.T), v[:3], rtol=1e-13)[0]",
            f"{_L}.{name}({_O.format('(S + S.T)')}, v[:3], rtol=1e-13)[0]",
        ]
        for name in ("cg", "minres")
    },
    f"{_L}.qmr": [f"{_L}.qmr(S, v[:3], rtol=1e-13)[0]"],
    f"{_L}.lsqr": [f"{_L}.lsqr({_K}, u, atol=1e-14, btol=1e-14)[0]"],
    f"{_L}.lsmr": [f"{_L}.lsmr({_K}, u, atol=1e-14, btol=1e-14)[0]"],
    f"{_L}.eigs": [f"{_L}.eigs({_K} * 1.0, k=2, v0=np.ones(5))[0].real"],
    f"{_L}.eigsh": [f"{_L}.eigsh({_S}.csc_array(S), k=1, v0=np.ones(3))[0]"],
    f"{_L}.svds": [f"{_L}.svds({_K}, k=2, v0=np.ones(5))[1]"],
    f"{_L}.lobpcg": [f"{_L}.lobpcg({_S}.csr_array(S), np.ones((3, 1)), tol=1e-10)[0]"],
    f"{_L}.LinearOperator": [f"{_L}.LinearOperator((3, 3), matvec=lambda t: A @ t) @ v[:3]"],
    f"{_L}.aslinearoperator": [f"{_L}.aslinearoperator(A) @ v[:3]"],
    f"{_L}.LaplacianNd": [f"{_L}.LaplacianNd((5,)) @ v"],
    f"{_L}.onenormest": [f"{_L}.onenormest({_M})"],
}

SKIPPED: dict[str, str] = {
    **{
        f"{_S}.{name}": "is about classes, files or random places"
        for name in (
            "get_index_dtype",
            "issparse",
            "isspmatrix",
            "isspmatrix_bsr",
            "isspmatrix_coo",
            "isspmatrix_csc",
            "isspmatrix_csr",
            "isspmatrix_dia",
            "isspmatrix_dok",
            "isspmatrix_lil",
            "load_npz",
            "save_npz",
            "rand",
            "random",
            "random_array",
            "safely_cast_index_arrays",
            "sparray",
            "spmatrix",
        )
    },
    **{
        f"{_L}.{name}": "is about settings or shapes"
        for name in ("use_solver", "is_sptriangular", "spbandwidth")
    },
}
