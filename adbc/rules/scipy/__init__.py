"""The rules of SciPy: one file per part of the library, each imported when that part has been.

SciPy imports its parts on demand, and its rules must not import more of it than the user did: so
here are not the rows but where they are (`SOURCES`), for the list in `adbc.rules`.
"""

from __future__ import annotations

__all__ = ["SOURCES"]

SOURCES: tuple[tuple[str, str], ...] = (
    ("scipy._lib._array_api", "adbc.rules.scipy.selection"),
    ("scipy", "adbc.rules.scipy.base"),
    ("scipy._lib.array_api_compat.numpy.linalg", "adbc.rules.scipy.array_api"),
    ("scipy._external.array_api_compat.numpy.linalg", "adbc.rules.scipy.array_api"),
    ("scipy.special", "adbc.rules.scipy.special"),
    ("scipy.special", "adbc.rules.scipy.distributions"),
    ("scipy.special", "adbc.rules.scipy.functions"),
    ("scipy.special", "adbc.rules.scipy.several"),
    ("scipy.special", "adbc.rules.scipy.harmonics"),
    ("scipy.special", "adbc.rules.scipy.elliptic"),
    ("scipy.special", "adbc.rules.scipy.inverses"),
    ("scipy.linalg", "adbc.rules.scipy.solves"),
    ("scipy.linalg", "adbc.rules.scipy.factorisations"),
    ("scipy.linalg", "adbc.rules.scipy.matrix_functions"),
    ("scipy.linalg", "adbc.rules.scipy.other_factorisations"),
    ("scipy.linalg", "adbc.rules.scipy.eliminations"),
    ("scipy.optimize", "adbc.rules.scipy.optimize"),
    ("scipy.optimize", "adbc.rules.scipy.least_squares"),
    ("scipy.integrate", "adbc.rules.scipy.integrals"),
    ("scipy.integrate", "adbc.rules.scipy.differential"),
    ("scipy.integrate", "adbc.rules.scipy.explicit_steps"),
    ("scipy.signal", "adbc.rules.scipy.signal"),
    ("scipy.signal", "adbc.rules.scipy.peaks"),
    ("scipy.cluster.vq", "adbc.rules.scipy.clusters"),
    ("scipy.ndimage", "adbc.rules.scipy.ndimage"),
    ("scipy.ndimage", "adbc.rules.scipy.ndimage_interpolation"),
    ("scipy.interpolate", "adbc.rules.scipy.interpolate"),
    ("scipy.interpolate", "adbc.rules.scipy.splines"),
    ("scipy.spatial", "adbc.rules.scipy.trees"),
    ("scipy.spatial.distance", "adbc.rules.scipy.distances"),
    ("scipy.spatial.transform._rotation_xp", "adbc.rules.scipy.rotations"),
    ("scipy.sparse", "adbc.rules.scipy.sparse"),
    ("scipy.sparse", "adbc.rules.scipy.lists_of_rows"),
    ("scipy.sparse", "adbc.rules.scipy.blocks_of_rows"),
    ("scipy.sparse.linalg", "adbc.rules.scipy.sparse_solves"),
    ("scipy.fft", "adbc.rules.scipy.fourier"),
    ("scipy.fftpack", "adbc.rules.scipy.fftpack"),
    ("scipy.stats", "adbc.rules.scipy.estimates"),
    ("scipy.stats", "adbc.rules.scipy.continuous"),
    ("scipy.stats", "adbc.rules.scipy.discrete"),
    ("scipy.stats", "adbc.rules.scipy.vectors"),
    ("scipy.stats", "adbc.rules.scipy.normal_vectors"),
)
"""Pairs of a package of SciPy and the module that has the rules of a part of it."""
