"""Families of programs around NumPy that are more than one call: loops over iterators, fields, objects,
functions that call back, windows, fits, masks.

The programs stand in numpy_families.txt, the first lines of which say how they are written.
"""

from __future__ import annotations

import pathlib

__all__ = ["CHOICES", "FAMILIES", "FOLLOWED"]

CHOICES: dict[str, list[str]] = {
    "array": ["a.copy()", "v.copy()", "np.asfortranarray(b)", "b.T.copy()[:, ::-1]", "(v * s)[::2]",
        "np.array(s)", "a.copy()[::-1, 1:]", "v.astype(np.float32)", "a[:0].copy()", "v + 0.5j * s",
        "np.full(3, s)", "a", "v", "a * s", "np.broadcast_to(v, (3, 4)).copy()", "b.copy().T",
        "np.sin(a)[:, 1]"],
    "objects": ["np.array([s, v[0], 2.0], dtype=object)", "v.astype(object)", "a.astype(object)",
        "np.array([[s, 1], [v[1], 0.5]], object)", "np.array([float(v[0]), s, 3], dtype=object)",
        "(a * s).astype(object)[:, ::2]", "np.array([s, 2, 1.5, v[2]], object)[::-1]",
        "np.full(3, s, dtype=object)", "np.array(s, dtype=object)"],
    "ragged": ["held(v, a, s)", "held(a[0], b[:, 1], v)", "np.array([v, a, s], dtype=object)",
        "held(s, v * s, a.T)", "np.array([v[:2], v], dtype=object)"],
    "records": ["np.array([(s, 1, v[0]), (2.0, 3, s)], dtype=[('p', 'f8'), ('k', 'i4'), ('q', 'f8')])",
        "records(v, a)", "records(v, a)[::-1]", "records(v, a)[1:]",
        "np.array((s, 2, v[1]), dtype=[('p', 'f8'), ('k', 'i8'), ('q', 'f8')])",
        "np.rec.fromarrays([v, np.arange(4), v * s], names='p,k,q')", "records(v, a).view(np.recarray)",
        "np.rec.array([(s, 1, v[0]), (2.0, 3, s)], dtype=[('p', 'f8'), ('k', 'i4'), ('q', 'f8')])"],
    "number": ["s", "v[1]", "2.0", "np.float64(s)", "float(v[0])", "0.5"],
    "masked": ["np.ma.array(v, mask=[False, True, False, False])", "np.ma.masked_where(a > 1.0, a)",
        "np.ma.masked_greater(v, 1.1)", "np.ma.masked_array(a * s)", "np.ma.array(v.copy(), mask=v > 0.9)",
        "np.ma.array([s, v[0], 2.0], mask=[0, 0, 1])"],
    "ufunc": ["add", "multiply", "subtract", "maximum", "minimum", "divide", "power", "hypot", "arctan2",
        "logaddexp"],
    "pure": ["lambda t: t * t * s", "np.sin", "lambda t: t if t > 1.0 else t * v[0]", "lambda t: s",
        "math.sqrt", "lambda t: t * 2"],
    "row": ["lambda t: t * t.sum()", "np.cumsum", "np.sum", "lambda t: t[::-1] * s", "np.sort",
        "lambda t: (t[0], t[-1] * s)", "lambda t: np.outer(t, t)", "lambda t: float(t @ t)", "np.max",
        "lambda t: t", "lambda t: [t[0], s]"],
    "window": ["2", "3", "1"],
    "order": ["'C'", "'F'", "'K'", "'A'"],
    "quantile": ["'linear'", "'lower'", "'higher'", "'midpoint'", "'nearest'", "'inverted_cdf'",
        "'averaged_inverted_cdf'", "'closest_observation'", "'interpolated_inverted_cdf'", "'hazen'",
        "'weibull'", "'median_unbiased'", "'normal_unbiased'"],
    "quantiles": ["0.3", "[0.2, 0.7]", "s * 0.5", "np.array([0.1, 0.5, 0.9])", "v[:2] / 2",
        "[[0.1], [0.8]]"],
    "fit": ["np.linspace(0.0, 2.0, 4)", "np.arange(4.0) + s", "[0.0, 0.5, 1.5, 2.0]", "v + np.arange(4)"],
    "optimize": ["True", "False", "'greedy'", "'optimal'", "['einsum_path', (0, 1), (0, 1)]"],
    "indices": ["[0, 1, 1]", "np.array([2, 0, 2, 1])", "[0]", "(0, 0)", "slice(0, 2)", "[-1, 0]",
        "np.array([True, False, True])"],
    "holes": ["np.where(v > 1.0, np.nan, v)", "np.where(a > 1.2, np.nan, a)",
        "np.array([s, np.nan, v[0], 2.0])", "a", "v", "np.where(b > 1.0, np.nan, b * s)"],
}  # fmt: skip
"""What stands for a kind of argument in the programs, beside the kinds of arguments of single calls."""

FOLLOWED = [
    "r.flat[0] = s", "r.flat[::2] = v[0]", "r = r.reshape(-1)[::2]", "y = r[...]; y *= s",
    "y = x[..., ::-1]; y[..., 0] = v[1]", "x.flat[1] = s", "r = np.asarray(r) * x", "r = r.copy()",
    "r = r.tolist()", "r = np.array(r)", "r = r + x", "x = x * 2.0", "x.fill(s)", "r.fill(s)",
    "np.add(r, s, out=r)", "np.multiply(x, v[0], out=x)", "r = r.astype(float)", "r = [r, x, r]",
    "r = r[-1]", "r = sum(r)", "r[-1] += x[0]", "x[0], x[1] = x[1], x[0]", "r = r.real",
    "v[0] = s; r = (r, v)", "a[...] = s", "r = r[()]", "r = np.squeeze(r)", "r = r[..., None]",
    "r = list(r)", "r, x = x, r",
]  # fmt: skip
"""What is done afterwards, beside what is done to the result of a single call."""


def _read() -> list[tuple[str, str]]:
    text = pathlib.Path(__file__).with_suffix(".txt").read_text().replace("\\\n", "")
    named = [part.strip().partition("\n") for part in text.split("\n== ")[1:]]
    return [(name, program) for name, _, program in named]


FAMILIES = _read()
"""The name of each family and the lines of its program."""
