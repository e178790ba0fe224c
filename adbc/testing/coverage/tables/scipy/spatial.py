"""Calls of the functions and classes of ``scipy.spatial``, and of distances to a codebook."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["CALLS", "SKIPPED"]

_P = "scipy.spatial"
_D = "scipy.spatial.distance"
_T = "scipy.spatial.transform"
_R = f"{_T}.Rotation"
_Q = f"{_R}.from_rotvec(v[:3])"
_METRICS = (
    "euclidean",
    "sqeuclidean",
    "cityblock",
    "chebyshev",
    "cosine",
    "correlation",
    "braycurtis",
    "canberra",
)

CALLS: dict[str, Sequence[str]] = {
    **{
        f"{_D}.{name}": [f"{_D}.{name}(v * v, u)", f"{_D}.{name}(v * v, u, [1.0, 2.0, 1.0, 0.5, 1.0])"]
        for name in _METRICS
    },
    f"{_D}.minkowski": [f"{_D}.minkowski(v, u, 3)", f"{_D}.minkowski(v, u, 1.5, [1.0, 2.0, 1.0, 0.5, 1.0])"],
    f"{_D}.mahalanobis": [f"{_D}.mahalanobis(v[:3], u[:3], S)"],
    f"{_D}.seuclidean": [f"{_D}.seuclidean(v, u, v * u)"],
    f"{_D}.jensenshannon": [f"{_D}.jensenshannon(v, u)"],
    **{
        f"{_D}.{name}": [f"{_D}.{name}(v > 0.5, u > 0.5)"]
        for name in ("dice", "hamming", "jaccard", "rogerstanimoto", "russellrao", "sokalsneath", "yule")
    },
    f"{_D}.cdist": [
        f"{_D}.cdist(A, C)",
        *(f"{_D}.cdist(A, C, '{name}')" for name in _METRICS),
        f"{_D}.cdist(A, C, 'minkowski', p=3)",
        f"{_D}.cdist(A, C, 'mahalanobis', VI=S)",
        f"{_D}.cdist(A, C, 'mahalanobis')",
        f"{_D}.cdist(A, C, 'minkowski', p=3, w=[1.0, 2.0, 0.5])",
        f"{_D}.cdist(A, C, 'minkowski', p=np.inf)",
        *(f"{_D}.cdist(A, C, '{name}', w=[1.0, 2.0, 0.5])" for name in _METRICS[:4]),
    ],
    f"{_D}.pdist": [f"{_D}.pdist(A)", *(f"{_D}.pdist(A, '{name}')" for name in _METRICS)],
    f"{_D}.squareform": [f"{_D}.squareform(np.append(v, u[0]))", f"{_D}.squareform({_D}.squareform(v[:3]))"],
    f"{_D}.directed_hausdorff": [f"{_D}.directed_hausdorff(A, C)[0]"],
    f"{_P}.distance_matrix": [f"{_P}.distance_matrix(A, C)"],
    f"{_P}.minkowski_distance": [f"{_P}.minkowski_distance(A, B)", f"{_P}.minkowski_distance(A, B, 3)"],
    f"{_P}.minkowski_distance_p": [f"{_P}.minkowski_distance_p(A, B, 3)"],
    f"{_P}.procrustes": [f"{_P}.procrustes(C, C @ A)[2]"],
    f"{_P}.geometric_slerp": [
        f"{_P}.geometric_slerp(v[:3] / np.linalg.norm(v[:3]), u[:3] / np.linalg.norm(u[:3]), [0.2, 0.7])"
    ],
    f"{_P}.ConvexHull": [
        f"{_P}.ConvexHull(C[:, :2]).vertices",
        f"{_P}.ConvexHull(C[:, :2]).volume",
        f"{_P}.ConvexHull(C[:, :2]).area",
        f"{_P}.ConvexHull(C).area",
        f"{_P}.ConvexHull(C).volume",
    ],
    f"{_P}.Delaunay": [f"{_P}.Delaunay(C[:, :2]).simplices"],
    f"{_P}.Voronoi": [f"{_P}.Voronoi(C[:, :2]).vertices"],
    f"{_P}.HalfspaceIntersection": [
        f"{_P}.HalfspaceIntersection(np.array([[-1.0, 0.0, -v[0]], [0.0, -1.0, -v[1]], [1.0, 1.0, -1.0]]), np.array([0.0, 0.0])).intersections"
    ],
    f"{_P}.SphericalVoronoi": [f"{_P}.SphericalVoronoi(C / np.linalg.norm(C, axis=1)[:, None]).vertices"],
    f"{_P}.KDTree": [
        f"{_P}.KDTree(C).query(A)[1]",
        f"{_P}.KDTree(C).query(A)[0]",
        f"{_P}.KDTree([[0.0, 0.0], [1.0, 1.0]]).query(v[:2])[0]",
        f"{_P}.KDTree(C).query(A, p=1)[0]",
        f"{_P}.KDTree(C).query(A, k=2, p=np.inf)[0]",
        f"{_P}.KDTree(C % 1.0, boxsize=1.0).query(A % 1.0, p=3)[0]",
    ],
    f"{_P}.cKDTree": [f"{_P}.cKDTree(C).query(A)[1]", f"{_P}.cKDTree(C).query(A)[0]"],
    f"{_P}.Rectangle": [f"{_P}.Rectangle(v[:2] + 1.0, u[:2] - 1.0).min_distance_point([0.0, 0.0])"],
    f"{_P}.tsearch": [f"{_P}.tsearch({_P}.Delaunay([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]), C[:, :2])"],
    # rotations
    f"{_T}.Rotation": [f"{_Q}.as_matrix()", f"{_Q}.apply(u[:3])"],
    f"{_T}.Rotation.from_rotvec": [
        f"{_Q}.as_quat()",
        f"{_R}.from_rotvec(C).as_matrix()",
        f"{_R}.from_rotvec(50 * v[:3], degrees=True).as_rotvec()",
    ],
    f"{_T}.Rotation.from_quat": [
        f"{_R}.from_quat(v[:4]).as_matrix()",
        f"{_R}.from_quat(v[:4], scalar_first=True).as_rotvec()",
    ],
    f"{_T}.Rotation.from_matrix": [
        f"{_R}.from_matrix({_Q}.as_matrix()).as_quat()",
        f"{_R}.from_matrix(np.eye(3) + 0.1 * A).as_matrix()",
    ],
    f"{_T}.Rotation.from_euler": [
        f"{_R}.from_euler('zyx', v[:3]).as_matrix()",
        f"{_R}.from_euler('XYZ', 50 * v[:3], degrees=True).as_quat()",
        f"{_R}.from_euler('z', v[0]).as_matrix()",
    ],
    f"{_T}.Rotation.from_mrp": [f"{_R}.from_mrp(v[:3]).as_matrix()"],
    f"{_T}.Rotation.from_davenport": [
        f"{_R}.from_davenport([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0]], 'extrinsic', v[:2]).as_matrix()"
    ],
    f"{_T}.Rotation.as_euler": [f"{_Q}.as_euler('zyx')", f"{_Q}.as_euler('xyx', degrees=True)"],
    f"{_T}.Rotation.as_mrp": [f"{_Q}.as_mrp()"],
    f"{_T}.Rotation.as_davenport": [
        f"{_Q}.as_davenport([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0]], 'extrinsic')"
    ],
    f"{_T}.Rotation.__mul__": [f"({_Q} * {_R}.from_rotvec(u[:3])).as_quat()"],
    f"{_T}.Rotation.__pow__": [f"({_Q} ** 0.7).as_matrix()"],
    f"{_T}.Rotation.inv": [f"{_Q}.inv().as_matrix()"],
    f"{_T}.Rotation.apply": [f"{_Q}.apply(C)", f"{_Q}.apply(C, inverse=True)"],
    f"{_T}.Rotation.magnitude": [f"{_Q}.magnitude()"],
    f"{_T}.Rotation.approx_equal": [f"{_Q}.approx_equal({_Q})"],
    f"{_T}.Rotation.mean": [f"{_R}.from_rotvec(0.3 * C).mean().as_quat()"],
    f"{_T}.Rotation.reduce": [f"{_Q}.reduce().as_quat()"],
    f"{_T}.Rotation.concatenate": [f"{_R}.concatenate([{_Q}, {_R}.from_rotvec(u[:3])]).as_quat()"],
    f"{_T}.Rotation.align_vectors": [f"{_R}.align_vectors(A, C[:3])[0].as_matrix()"],
    f"{_T}.Slerp": [f"{_T}.Slerp([0.0, 1.0], {_R}.from_rotvec(C[:2]))(0.4).as_quat()"],
    f"{_T}.RotationSpline": [
        f"{_T}.RotationSpline([0.0, 1.0, 1.5], {_R}.from_rotvec(0.3 * C[:3]))(0.4).as_quat()"
    ],
    f"{_T}.RigidTransform": [
        f"{_T}.RigidTransform.from_components(v[:3], {_Q}).apply(u[:3])",
        f"{_T}.RigidTransform.from_translation(v[:3]).as_matrix()",
    ],
    # cluster.vq
    "scipy.cluster.vq.vq": ["scipy.cluster.vq.vq(C, A)[0]", "scipy.cluster.vq.vq(C, A)[1]"],
    "scipy.cluster.vq.whiten": ["scipy.cluster.vq.whiten(C)"],
    "scipy.cluster.vq.kmeans": ["scipy.cluster.vq.kmeans(C, C[:2])[0]"],
    "scipy.cluster.vq.kmeans2": ["scipy.cluster.vq.kmeans2(C, C[:2], minit='matrix')[0]"],
}

SKIPPED: dict[str, str] = {
    **{f"{_P}.{name}": "plots" for name in ("convex_hull_plot_2d", "delaunay_plot_2d", "voronoi_plot_2d")},
    **{
        f"{_D}.{name}": "is about shapes" for name in ("is_valid_dm", "is_valid_y", "num_obs_dm", "num_obs_y")
    },
}
