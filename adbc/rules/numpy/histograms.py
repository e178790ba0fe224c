"""Histograms: which bin an element falls into has no derivative; weights have, and the edges of the bins."""

from __future__ import annotations

from typing import Any

import numpy as np

from adbc.rules.numpy.base import ArrayRule, plain
from adbc.rules.numpy.composed import are_floats, followed
from adbc.rules.quick import quick
from adbc.rules.table import Overlay, Rule, ZeroRule

__all__ = ["ROWS"]


@quick
def _counts_of(a: Any, bins: Any, range: Any) -> Any:
    return np.histogram(a, bins, range)[0]


@quick
def _sums_of(weights: Any, a: Any, bins: Any, range: Any) -> Any:
    return np.histogram(a, bins, range, weights=weights)[0]


def sums_jvp(d: Any, y: Any, weights: Any, a: Any, bins: Any, range: Any) -> Any:
    return np.histogram(a, bins, range, weights=d)[0]


def sums_vjp(by: Any, y: Any, weights: Any, a: Any, bins: Any, range: Any) -> Any:
    edges = np.histogram_bin_edges(a, bins, range)
    last = len(edges) - 2
    place = np.clip(np.searchsorted(edges, a, "right") - 1, 0, last)  # the last bin has both of its edges
    return np.where((a >= edges[0]) & (a <= edges[-1]), by[place], 0.0)


def is_usual(a: Any, bins: Any, range: Any, weights: Any) -> bool:
    """Whether all there is are arrays of floats, and the bins are so many or have such edges."""
    if not (are_floats(a) and a.dtype.char == "d"):
        return False
    if type(bins) is not int and not (
        type(bins) is np.ndarray and bins.ndim == 1 and bins.dtype.kind in "fi" and len(bins) > 1
    ):
        return False
    if range is not None and not (type(range) is tuple and len(range) == 2):
        return False
    return weights is None or (
        type(weights) is np.ndarray and weights.dtype.char == "d" and weights.shape == a.shape
    )


_lines_of_histogram = followed(np.histogram)


def _histogram(a: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None) -> Any:
    if type(bins) is list or type(bins) is tuple:
        bins = np.asarray(bins)
    if not is_usual(a, bins, range, weights):
        return _lines_of_histogram(a, bins, range, density, weights)
    counts: Any = _counts_of(a, bins, range) if weights is None else _sums_of(weights, a, bins, range)
    edges = bins
    if type(bins) is int:
        if range is None:
            low, high = np.min(a), np.max(a)
        else:
            low, high = range
        if low == high:
            low, high = low - 0.5, high + 0.5
        edges = np.linspace(low, high, bins + 1)
    if density:
        counts = counts / np.diff(edges) / counts.sum()
    return counts, edges


ROWS: list[Rule] = [
    ZeroRule(is_usual, result=bool),
    ZeroRule(_counts_of, result=np.ndarray),
    ArrayRule(_sums_of, "weights a bins range", jvp=[sums_jvp, None, None], vjp=[sums_vjp, None, None]),
    Overlay(np.histogram, _histogram, when=plain),
]
