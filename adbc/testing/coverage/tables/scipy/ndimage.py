"""Calls of the functions of ``scipy.ndimage``."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["CALLS", "SKIPPED"]

_N = "scipy.ndimage"
_LABELS = "np.arange(42).reshape(6, 7) % 3"
_AT = "np.stack([v, u]) * 3.0"
_FAR = "np.stack([v, u]) * 40.0 - 17.0"
_MODES = ("nearest", "wrap", "reflect", "mirror", "constant")

CALLS: dict[str, Sequence[str]] = {
    **{
        f"{_N}.{name}": [
            f"{_N}.{name}(image, A)",
            f"{_N}.{name}(image, A, mode='wrap')",
            f"{_N}.{name}(image, C, mode='constant', cval=0.4, origin=(1, -1))",  # of an even length
            f"{_N}.{name}(image[:2, :2], D[0], mode='mirror')",  # longer than the image
        ]
        for name in ("convolve", "correlate")
    },
    **{
        f"{_N}.{name}": [
            f"{_N}.{name}(image, v[:3])",
            f"{_N}.{name}(image, v[:3], axis=0, mode='constant', cval=0.4)",
            *[f"{_N}.{name}(image[:3], v[:4], axis=0, mode='{mode}', origin=-1)" for mode in _MODES],
        ]
        for name in ("convolve1d", "correlate1d")
    },
    **{
        f"{_N}.{name}": [f"{_N}.{name}(image, 0.8)", f"{_N}.{name}(image, v[0])"]
        for name in (
            "gaussian_filter",
            "gaussian_filter1d",
            "gaussian_gradient_magnitude",
            "gaussian_laplace",
        )
    },
    **{
        f"{_N}.{name}": [f"{_N}.{name}(image, 3)"]
        for name in (
            "uniform_filter",
            "grey_closing",
            "grey_opening",
            "black_tophat",
            "white_tophat",
            "morphological_gradient",
            "morphological_laplace",
        )
    },
    **{
        f"{_N}.{name}": [
            f"{_N}.{name}(image, 3)",
            f"{_N}.{name}(image, 2, axis=0, mode='constant', cval=0.4, origin=-1)",
        ]
        for name in ("uniform_filter1d", "maximum_filter1d", "minimum_filter1d")
    },
    **{
        f"{_N}.{name}": [
            f"{_N}.{name}(image, 3)",
            f"{_N}.{name}(image, footprint=[[1, 0, 1, 1], [0, 1, 0, 1]], mode='mirror', origin=(0, 1))",
        ]
        for name in ("maximum_filter", "minimum_filter", "median_filter")
    },
    **{
        f"{_N}.{name}": [f"{_N}.{name}(image, 3)", f"{_N}.{name}(image, structure=A)"]
        for name in ("grey_dilation", "grey_erosion")
    },
    f"{_N}.percentile_filter": [f"{_N}.percentile_filter(image, 30, 3)"],
    f"{_N}.rank_filter": [
        f"{_N}.rank_filter(image, 2, 3)",
        f"{_N}.rank_filter(image, 2, (2, 3), mode='wrap', origin=(0, 1))",
        f"{_N}.rank_filter(wave, 2, 4, mode='nearest', origin=1)",
    ],
    f"{_N}.spline_filter1d": [
        *[f"{_N}.spline_filter1d(image, {order}, 0)" for order in (2, 3, 4, 5)],
        *[f"{_N}.spline_filter1d(image, mode='{mode}')" for mode in ("reflect", "grid-wrap")],
    ],
    f"{_N}.spline_filter": [f"{_N}.spline_filter(image)", f"{_N}.spline_filter(image, 5, mode='reflect')"],
    **{
        f"{_N}.{name}": [f"{_N}.{name}(image)"]
        for name in (
            "laplace",
            "prewitt",
            "sobel",
            "center_of_mass",
            "extrema",
            "maximum",
            "maximum_position",
            "mean",
            "median",
            "minimum",
            "minimum_position",
            "standard_deviation",
            "sum",
            "variance",
        )
    },
    f"{_N}.sum_labels": [f"{_N}.sum_labels(image, {_LABELS}, [0, 2])"],
    f"{_N}.mean": [f"{_N}.mean(image, {_LABELS}, [0, 2])"],
    f"{_N}.variance": [f"{_N}.variance(image, {_LABELS}, [0, 2])"],
    f"{_N}.labeled_comprehension": [
        f"{_N}.labeled_comprehension(image, {_LABELS}, [0, 2], np.sum, float, 0.0)"
    ],
    f"{_N}.histogram": [f"{_N}.histogram(image, 0, 1, 4)"],
    f"{_N}.value_indices": [f"list({_N}.value_indices({_LABELS}))"],
    f"{_N}.generic_filter": [f"{_N}.generic_filter(image, lambda w: np.sum(w * w), 3)"],
    f"{_N}.vectorized_filter": [f"{_N}.vectorized_filter(image, np.mean, size=3)"],
    f"{_N}.generic_gradient_magnitude": [f"{_N}.generic_gradient_magnitude(image, {_N}.sobel)"],
    f"{_N}.generic_laplace": [
        f"{_N}.generic_laplace(image, lambda x, axis, output, mode, cval: {_N}.correlate1d(x, [1, -2, 1], axis, output, mode, cval))"
    ],
    f"{_N}.map_coordinates": [
        f"{_N}.map_coordinates(image, {_AT})",
        f"{_N}.map_coordinates(image, {_AT}, order=1)",
        *[
            f"{_N}.map_coordinates(image, {_FAR}, order={order}, mode='{mode}', cval=0.4)"
            for mode in (*_MODES, "grid-constant", "grid-wrap")
            if mode != "wrap"
            for order in (2, 5)
        ],
        f"{_N}.map_coordinates(image[:1], {_FAR}, order=1, mode='mirror')",
        *[  # in the middle between two elements
            f"{_N}.map_coordinates(image, np.arange(-20.5, 20.0) * np.ones((2, 1)), order=0, mode='{mode}')"
            for mode in ("reflect", "mirror", "grid-wrap")
        ],
    ],
    f"{_N}.affine_transform": [
        f"{_N}.affine_transform(image, A[:2, :2] * 0.3)",
        f"{_N}.affine_transform(image, A[:2, :2] * 0.3, order=1)",
        f"{_N}.affine_transform(image, A[:2, :2], v[:2] - 4.0, (4, 5), mode='mirror')",
        f"{_N}.affine_transform(image, A[:2, 0], v[:2] - 4.0, mode='grid-constant')",
    ],
    f"{_N}.geometric_transform": [
        f"{_N}.geometric_transform(image, lambda p: (p[0] * 0.7, p[1] * 0.6), order=1)"
    ],
    f"{_N}.shift": [
        f"{_N}.shift(image, (0.3, 0.6))",
        f"{_N}.shift(image, v[:2], order=1)",
        f"{_N}.shift(image, 3.0 * v[:2], mode='nearest')",
    ],
    f"{_N}.zoom": [
        f"{_N}.zoom(image, 1.3)",
        f"{_N}.zoom(image, 1.3, order=1)",
        f"{_N}.zoom(image, (1.7, 0.6), order=2, mode='grid-wrap', grid_mode=True)",
    ],
    f"{_N}.rotate": [f"{_N}.rotate(image, 20.0)", f"{_N}.rotate(image, 20.0 * v[0], reshape=False, order=1)"],
    **{
        f"{_N}.fourier_{name}": [f"{_N}.fourier_{name}(np.fft.fft2(image), (0.7, 0.3))"]
        for name in ("gaussian", "shift", "uniform", "ellipsoid")
    },
    **{
        f"{_N}.binary_{name}": [f"{_N}.binary_{name}(image > 0.5)"]
        for name in ("closing", "dilation", "erosion", "fill_holes", "hit_or_miss", "opening", "propagation")
    },
    f"{_N}.distance_transform_edt": [
        f"{_N}.distance_transform_edt(image > 0.4)",
        f"{_N}.distance_transform_edt(np.arange(6) > 2, sampling=v[0])",
    ],
    f"{_N}.distance_transform_bf": [f"{_N}.distance_transform_bf(image > 0.4)"],
    f"{_N}.distance_transform_cdt": [f"{_N}.distance_transform_cdt(image > 0.4)"],
    f"{_N}.find_objects": [f"len({_N}.find_objects({_LABELS}))"],
    f"{_N}.label": [f"{_N}.label(image > 0.5)[0]"],
    f"{_N}.watershed_ift": [f"{_N}.watershed_ift((image * 9).astype('uint8'), {_LABELS})"],
}


SKIPPED: dict[str, str] = {
    f"{_N}.{name}": "is about masks" for name in ("generate_binary_structure", "iterate_structure")
}
SKIPPED[f"{_N}.generic_filter1d"] = "takes a function that writes into lines"
