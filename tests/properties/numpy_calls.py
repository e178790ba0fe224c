"""Random calls of NumPy's functions and methods: kinds of arguments, options, and what is done to the result.

`NumpyCall(seed)` has the source of a function ``f(a, b, v, s)`` of two matrices, a vector and a number, which
makes an argument of a random kind, calls one function of the table with it, reads, writes or views the
result, and returns a number that depends on all of it beside facts about the result that must not change:
class, dtype, shape, whether it can be written to, and whether it is a view of the argument.  Every second seed
has a program of numpy_families.py instead of one call.  What NumPy refuses in the plain run is drawn anew.
"""

from __future__ import annotations

import contextlib
import math
import random
import re
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tests.properties.numpy_families import CHOICES, FAMILIES, FOLLOWED

__all__ = ["NumpyCall", "quiet"]

# -- arguments: what stands for each letter in the table -----------------------------------------------------------

POOLS: dict[str, list[str]] = {
    # a number
    "n": [
        "s", "s", "v[1]", "np.float64(s)", "float(v[0])", "0.7", "2", "np.float32(s)", "s * 1j", "np.array(s)",
        "v[2, ...]", "a[1, 1]", "True", "np.int64(2)",
    ],
    # a vector
    "v": [
        "v", "v", "a[1]", "b[:, 1]", "v[::-1]", "v.copy()", "v * s", "[s, v[0], 0.5, 2]", "(v[0], s, 1.5, 0.2)",
        "list(v)", "v.astype(np.float32)", "v + 0.5j * s", "np.arange(4)", "locked(v)", "v[:0]", "K", "v[1:2]",
        "np.broadcast_to(s, (4,))", "v > 0.9", "a.ravel()[::3]", "np.array([1.5, s, v[0], 2.0])",
    ],
    # a matrix
    "m": [
        "a", "a", "a.copy()", "np.asfortranarray(a)", "b.T", "a[:, ::-1]", "a[::-1]", "a[::2]",
        "np.broadcast_to(v, (3, 4))", "[[s, 1.0], [v[0], v[1]]]", "a.tolist()", "a + 1j * b.T",
        "a.astype(np.float32)", "locked(a)", "a[None]", "a.reshape(2, 2, 3)", "a[:, :0]", "a[1:2]", "a > 0.9",
        "[v, a[0]]", "(v, [s, 0.5, 1.0, 2.0])", "np.arange(12.0).reshape(3, 4)", "M",
    ],
    # a square matrix, far from singular
    "q": [
        "a @ b + 4.0 * np.eye(3)", "np.asfortranarray(a @ b + 4.0 * np.eye(3))", "(a @ b)[:2, :2] + 3.0 * np.eye(2)",
        "(a @ b + 4.0 * np.eye(3)).T", "(a @ b + 4.0 * np.eye(3)).astype(np.float32)",
        "a @ b + 4.0 * np.eye(3) + 0.3j * s", "[[s + 2.0, 0.5], [v[0], 3.0]]",
        "np.stack([a @ b + 4.0 * np.eye(3), a @ a.T + 3.0 * np.eye(3)])",
    ],
    # symmetric and positive
    "p": ["a @ a.T + 3.0 * np.eye(3)", "b.T @ b * s + 2.0 * np.eye(3)", "np.stack([a @ a.T, a @ a.T * s]) + 3.0 * np.eye(3)"],
    # a condition, an index, a shape, a sequence of arrays
    "c": ["v > 0.9", "True", "a > 1.0", "[True, False, True, True]", "v[0] > 1.0", "[1, 0, 1]", "np.array([True, False, False])"],
    "i": ["[0, 1, 1]", "1", "-1", "np.array([2, 0])", "[0]", "np.array([[0, 1], [1, 0]])", "slice(1, 3)", "np.int64(1)"],
    "k": ["(4, 3)", "(2, 6)", "-1", "(3, 2, 2)", "12", "[6, 2]", "(4,)", "(2, -1)", "()"],
    "l": ["[v, v]", "(v, a[0], K)", "[a, b.T]", "(a, a[:1])", "a", "[v, [s, 1.0, 2.0, 0.5]]", "[s, v[0]]", "[a[0], v.astype(np.float32)]", "(v[:2], v)", "[np.array(s), np.array(2.0)]"],
    "j": ["0", "1", "-1", "2"],
    "f": ["2.0", "0.5", "s", "v[0]"],
}  # fmt: skip
POOLS["x"] = POOLS["n"] + 2 * POOLS["v"] + 2 * POOLS["m"]
POOLS["y"] = POOLS["v"] + POOLS["m"]

AXES = ["None", "0", "-1", "1", "(0,)", "(0, 1)", "(-1, 0)", "()", "np.int64(0)"]
DTYPES = ["float", "np.float32", "'f8'", "complex", "None", "np.float64"]
OPTIONS: dict[str, list[str]] = {
    "axis": AXES, "keepdims": ["True", "False"], "dtype": DTYPES, "out": ["OUT", "OUT", "None"],
    "where": ["v > 0.9", "True", "a > 1.0", "np.array([True, False, True, True])"], "initial": ["2.0", "0.5", "1"],
    "order": ["'C'", "'F'", "'K'", "'A'"], "ddof": ["0", "1"], "casting": ["'unsafe'"], "subok": ["False"],
    "overwrite_input": ["True", "False"], "kind": ["'stable'", "'mergesort'"], "mode": ["'clip'", "'wrap'", "'raise'"],
    "copy": ["True", "False"], "n": ["1", "2"], "axes": ["None", "(0,)", "(1, 0)"], "norm": ["'ortho'", "'forward'", "None"],
    "k": ["0", "1", "-1"], "offset": ["0", "1", "-1"], "ndmin": ["0", "1", "2", "3"], "shift": ["1", "(1, 1)", "-2"],
    "repeats": ["2", "3"], "indexing": ["'ij'", "'xy'"], "ord": ["None", "2", "1", "'fro'", "np.inf"],
    "sparse": ["True"], "rowvar": ["True", "False"], "bias": ["True"], "left": ["0.3"], "right": ["1.7"],
    "endpoint": ["False", "True"], "num": ["5", "1", "3"], "prepend": ["0.5"], "weights": ["K"], "nan": ["0.5"],
    "method": ["'linear'", "'lower'", "'midpoint'", "'hazen'"], "compute_uv": ["False"], "UPLO": ["'U'"],
    "to_begin": ["0.5"], "to_end": ["[1.5]"], "edge_order": ["1", "2"], "decimals": ["1"], "stable": ["True"],
    "equal_nan": ["True"], "fill_value": ["s", "2.0"], "upper": ["True"], "returned": ["True"], "include_initial": ["True"],
    "mean": ["1.0", "0.5 + 0.5j"], "correction": ["1"], "side": ["'left'"],
}  # fmt: skip


def _spread(names: str, arguments: str, options: str = "") -> list[tuple[str, str, str]]:
    return [(f"np.{name}", arguments, options) for name in names.split()]


UFUNC = "out where dtype casting order subok"
REDUCED = "axis keepdims out dtype initial where"

TABLE: list[tuple[str, str, str]] = [
    *_spread("sin cos tan exp expm1 exp2 tanh sinh cosh arctan arcsinh cbrt square sqrt log log2 log10 log1p negative"
             " positive absolute fabs reciprocal conjugate sign degrees radians deg2rad rad2deg floor ceil trunc rint"
             " isfinite isnan signbit logical_not arcsin", "x", UFUNC),
    *_spread("add subtract multiply divide power maximum minimum fmax fmin arctan2 hypot logaddexp logaddexp2 remainder"
             " fmod copysign float_power floor_divide heaviside greater less_equal equal logical_and", "x x", UFUNC),
    *_spread("modf frexp", "x"), *_spread("divmod", "x x"), *_spread("ldexp", "x j"),
    *_spread("sum prod", "x", REDUCED), *_spread("max min amax amin", "x", "axis keepdims out initial where"),
    *_spread("mean", "x", "axis keepdims out dtype where"),
    *_spread("var std", "x", "axis keepdims out dtype where ddof mean correction"),
    *_spread("ptp", "x", "axis keepdims out"), *_spread("median", "x", "axis keepdims out overwrite_input"),
    *_spread("average", "y", "axis weights keepdims returned"),
    *_spread("nansum nanprod", "x", REDUCED), *_spread("nanmax nanmin", "x", "axis keepdims out initial where"),
    *_spread("nanmean", "x", "axis keepdims out where"), *_spread("nanstd nanvar", "x", "axis keepdims ddof where"),
    *_spread("nanmedian", "x", "axis keepdims overwrite_input"),
    *_spread("quantile", "y f", "axis keepdims method overwrite_input out"),
    *_spread("percentile nanpercentile", "y f", "axis keepdims"), *_spread("nanquantile", "y f", "axis keepdims"),
    *_spread("cumsum cumprod nancumsum nancumprod", "x", "axis out dtype"),
    *_spread("cumulative_sum cumulative_prod", "y", "axis include_initial dtype"),
    *_spread("all any argmax argmin count_nonzero", "x", "axis keepdims out"),
    *_spread("add.reduce multiply.reduce maximum.reduce minimum.reduce fmax.reduce", "y", REDUCED),
    *_spread("add.accumulate multiply.accumulate maximum.accumulate", "y", "axis out dtype"),
    *_spread("add.outer multiply.outer subtract.outer", "x x"), *_spread("add.reduceat", "v i"),
    *_spread("reshape", "x k", "order copy"), *_spread("ravel", "x", "order"),
    *_spread("transpose", "x", "axes"), *_spread("swapaxes", "m j j"), *_spread("moveaxis", "m j j"),
    *_spread("rollaxis", "m j"), *_spread("expand_dims", "x j"), *_spread("squeeze", "x", "axis"),
    *_spread("broadcast_to", "x k"), *_spread("broadcast_arrays", "x x"), *_spread("atleast_1d atleast_2d atleast_3d", "x"),
    *_spread("flip", "x", "axis"), *_spread("fliplr flipud", "m"), *_spread("rot90", "m", "k axes"),
    *_spread("roll", "x", "shift axis"), *_spread("tile", "x k"), *_spread("repeat", "x j", "axis"),
    *_spread("resize", "x k"), *_spread("matrix_transpose", "m"),
    *_spread("concatenate", "l", "axis dtype out"), *_spread("stack", "l", "axis out dtype"),
    *_spread("vstack hstack dstack column_stack", "l"), *_spread("block", "l"), *_spread("append", "x x", "axis"),
    *_spread("insert", "y j n", "axis"), *_spread("delete", "y i", "axis"),
    *_spread("split array_split", "y 2", "axis"), *_spread("hsplit vsplit", "y 2"), *_spread("unstack", "m", "axis"),
    *_spread("sort", "x", "axis kind stable"), *_spread("partition", "y 1", "axis"),
    *_spread("argsort argpartition", "v 1"), *_spread("unique", "y"), *_spread("searchsorted", "v n", "side"),
    *_spread("sort_complex", "v"), *_spread("lexsort", "l"),
    *_spread("where", "c x x"), *_spread("clip", "x n n", "out"), *_spread("take", "y i", "axis out mode"),
    *_spread("compress", "c y", "axis out"), *_spread("extract", "c y"), *_spread("choose", "[0,1,0,1] l"),
    *_spread("select", "[c] [x]"), *_spread("take_along_axis", "y np.array([[0,1],[1,0],[0,0]]) j"), *_spread("nan_to_num", "x", "copy nan"),
    *_spread("diagonal", "m", "offset"), *_spread("diag", "y", "k"), *_spread("diagflat", "y", "k"),
    *_spread("tril triu", "m", "k"), *_spread("trace", "m", "offset dtype out"), *_spread("nonzero flatnonzero argwhere", "y"),
    *_spread("piecewise", "v [c] [n,n]"), *_spread("digitize", "v [0.5,1.0]"), *_spread("isin", "x v"),
    *_spread("dot", "y y", "out"), *_spread("matmul", "y y", "out"), *_spread("vdot inner outer", "y y"),
    *_spread("kron", "x x"), *_spread("tensordot", "m m j"), *_spread("cross", "v[:3] v[:3]"), *_spread("vecdot", "y y"),
    ("np.einsum", "'ij,ij->i' m m", "out"), ("np.einsum", "'i,i' v v", ""), ("np.einsum", "'ij->ji' m", ""),
    ("np.einsum", "'ii' q", ""), ("np.einsum", "'...i->...' y", ""),
    *_spread("convolve correlate", "v v", ""), *_spread("interp", "x [0.2,0.8,1.5] [s,1.0,v[0]]", "left right"),
    *_spread("trapezoid", "y", "axis"), *_spread("diff", "y", "n axis prepend"), *_spread("ediff1d", "y", "to_begin to_end"),
    *_spread("gradient", "y", "axis edge_order"), *_spread("cov", "m", "rowvar bias ddof"), *_spread("corrcoef", "m", "rowvar"),
    *_spread("array", "x", "copy dtype order ndmin"), *_spread("asarray", "x", "dtype order copy"),
    *_spread("copy", "x", "order"), *_spread("asanyarray ascontiguousarray asfortranarray", "x"),
    *_spread("full", "k n", "dtype order"), *_spread("full_like", "x n", "dtype"), *_spread("zeros_like ones_like", "x", "dtype"),
    *_spread("linspace", "n n", "num endpoint"), *_spread("logspace geomspace", "n n", "num endpoint"), *_spread("arange", "0.0 3.0 f"),
    *_spread("meshgrid", "v v", "indexing sparse"), *_spread("vander", "v"), *_spread("real imag angle", "x"),
    *_spread("real_if_close iscomplexobj shape ndim size", "x"), *_spread("sinc i0 unwrap", "x"), *_spread("round around", "x", "decimals out"),
    *_spread("polyval", "v x"), *_spread("polyadd polymul polysub", "v v"), *_spread("polyder polyint", "v"), *_spread("pad", "y 1"),
    *_spread("apply_along_axis", "np.sum 0 m"), *_spread("histogram", "v"), *_spread("bincount", "[0,1,1,2] v"),
    *_spread("linalg.inv linalg.det linalg.slogdet linalg.eigvals linalg.matrix_rank linalg.cond", "q"),
    *_spread("linalg.pinv linalg.qr", "q"), *_spread("linalg.solve", "q b[:3]"), *_spread("linalg.norm", "x", "ord axis keepdims"),
    *_spread("linalg.cholesky", "p", "upper"), *_spread("linalg.eigvalsh", "p", "UPLO"), *_spread("linalg.svd", "q", "compute_uv"),
    *_spread("linalg.matrix_power", "q j"), *_spread("linalg.multi_dot", "[a,b,a]"), *_spread("linalg.lstsq", "b v"),
    *_spread("linalg.svdvals linalg.trace linalg.diagonal linalg.matrix_norm linalg.vector_norm", "q"),
    *_spread("fft.fft fft.ifft fft.rfft fft.irfft", "y", "axis norm n"), *_spread("fft.fft2 fft.fftn", "m", "norm"),
    *_spread("fft.fftshift fft.ifftshift", "y"), *_spread("fft.rfftn fft.irfftn fft.hfft", "m"),
    *[(f"M.{name}", "y", options) for name, options in [
        ("sum", REDUCED), ("prod", REDUCED), ("max", "axis keepdims out initial where"), ("min", "axis keepdims out"),
        ("mean", "axis keepdims out dtype where"), ("std", "axis keepdims ddof"), ("var", "axis keepdims ddof out"),
        ("cumsum", "axis out dtype"), ("cumprod", "axis out"), ("ravel", "order"), ("flatten", "order"), ("copy", "order"),
        ("squeeze", "axis"), ("transpose", ""), ("tolist", ""), ("conj", ""), ("all", "axis"), ("argmax", "axis"),
        ("argsort", "axis"), ("round", "decimals out"), ("trace", "offset out"), ("diagonal", "offset"), ("item", ""),
        ("nonzero", ""), ("ptp", "axis"), ("tobytes", "")]],
    ("M.reshape", "y k", "order"), ("M.take", "y i", "axis out mode"), ("M.clip", "y n n", "out"),
    ("M.repeat", "y j", "axis"), ("M.astype", "x np.float32", "copy"), ("M.astype", "y complex", ""), ("M.view", "y", ""),
    ("M.dot", "y y", "out"), ("M.swapaxes", "m j j", ""), ("M.compress", "y c", "axis out"), ("M.searchsorted", "v n", ""),
    ("M.choose", "[0,1] l", ""), ("M.item", "y 1", ""), ("M.__getitem__", "y i", ""), ("M.__getitem__", "y c", ""),
    ("P.sort", "y", "axis kind"), ("P.partition", "y 1", "axis"), ("P.fill", "y n", ""), ("P.put", "y i n", "mode"),
    ("P.resize", "v k", ""), ("P.itemset", "v 1 n", ""), ("P.__setitem__", "y i n", ""), ("P.__setitem__", "y c n", ""),
    ("P.__setitem__", "y i v", ""), ("P.__setitem__", "y slice(None,None,2) n", ""), ("P.__iadd__", "y x", ""),
    ("P.__imul__", "y x", ""), ("P.__itruediv__", "y n", ""), ("P.__ipow__", "y 2", ""), ("P.__isub__", "y v", ""),
    ("np.copyto", "COPY x", "where casting"), ("np.put", "COPY i v", ""), ("np.place", "COPY c v", ""), ("np.putmask", "COPY c v", ""),
    ("np.put_along_axis", "COPY np.array([[0]]) n 0", ""), ("np.fill_diagonal", "COPY n", ""), ("np.add.at", "COPY i n", ""),
    ("np.subtract.at", "COPY i v", ""), ("np.multiply.at", "COPY i n", ""), ("np.nan_to_num", "COPY", "copy"),
    ("np.random.shuffle", "COPY", ""),
]  # fmt: skip
"""The functions, the kinds of their arguments by position, and the options that they take.

``M.name`` is a method; ``P.name`` one that changes its array, of which a copy is made before.  What is not a
letter of `POOLS` stands for itself.
"""


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Without the warnings of functions outside their domain, which are not what is tested."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def locked(x: Any) -> Any:
    """A view of `x` that is read-only."""
    y = x[...]
    y.flags.writeable = False
    return y


def held(*parts: Any) -> Any:
    """An array of objects, which are these."""
    x = np.empty(len(parts), dtype=object)
    for i, part in enumerate(parts):
        x[i] = part
    return x


def records(v: Any, a: Any) -> Any:
    """An array of records, made and filled field by field."""
    x = np.zeros(4, dtype=[("p", "f8"), ("k", "i4"), ("q", "f8")])
    x["p"] = v
    x["k"] = [1, 2, 0, 3]
    x["q"][:3] = a[:, 0]
    return x


def total(x: Any) -> Any:
    """A number to which each number in `x` contributes differently."""
    if isinstance(x, (tuple, list)):
        result = 0.0
        for i, part in enumerate(x):
            result = result + total(part) * (1.0 + 0.25 * i)
        return result
    if not isinstance(x, (float, int, complex, np.ndarray, np.generic)):
        return 0.0
    if isinstance(x, np.ma.MaskedArray):
        return total(np.ma.filled(x, 0.5))
    if type(x) is np.void:
        return total([x[name] for name in x.dtype.names])
    y = np.asarray(x)
    if y.dtype.kind == "O":
        return total([y[i] for i in np.ndindex(y.shape)])
    if y.dtype.names:
        return total([y[name] for name in y.dtype.names])
    if y.dtype.kind not in "biufc":
        return 0.0
    flat = y.reshape(-1)
    weights = 0.3 + 0.1 * (np.arange(flat.size) % 7)
    if y.dtype.kind == "c":
        return np.sum(flat.real * weights) + 0.7 * np.sum(flat.imag * weights)
    return np.sum(flat * weights)


def facts(r: Any, x: Any) -> Any:
    """What must be true of `r` in each mode as it is in the plain run; `x` is what it was made of."""
    if isinstance(r, (tuple, list)):
        return (type(r).__name__, *[facts(part, x) for part in r])
    if not isinstance(r, np.ndarray):
        return (type(r).__name__,)
    is_shared = isinstance(x, np.ndarray) and np.shares_memory(r, x)
    is_writable = 0 in r.strides or r.flags.writeable  # NumPy's mind is not made up about what is broadcast
    known = (type(r).__name__, r.dtype.str, r.shape, bool(is_writable), bool(is_shared))
    if isinstance(r, np.ma.MaskedArray):
        return (*known, str(np.ma.getmaskarray(r).tolist()))
    if r.dtype.kind == "O":
        return (*known, *[type(r[i]).__name__ for i in np.ndindex(r.shape)])
    return known


SPACE: dict[str, Any] = {
    "np": np, "math": math, "locked": locked, "held": held, "records": records, "total": total, "facts": facts, "K": locked(np.array([0.7, 1.2, 0.4, 1.1])),
    "M": locked(np.linspace(0.4, 1.6, 12).reshape(3, 4)),
}  # fmt: skip

ATTEMPTS = 60


class NumpyCall:
    """A random function ``f(a, b, v, s)`` around one call of NumPy; `name` is what is called."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.rng = random.Random(seed)
        for _ in range(ATTEMPTS):
            self.lines: list[str] = []
            if self.rng.random() < 0.5:
                self.name, text = self.rng.choice(FAMILIES)
                self.write_family(text)
            else:
                self.name, kinds, options = self.rng.choice(TABLE)
                self.write(kinds, options)
            self.source = "\n".join(["def f(a, b, v, s):", *("    " + line for line in self.lines)]) + "\n"
            space = dict(SPACE)
            with quiet():
                exec(compile(self.source, f"<NumPy call {seed}>", "exec"), space)
            self.function: Callable[..., Any] = space["f"]
            if self.runs():
                return
        raise AssertionError(f"no call that NumPy takes in {ATTEMPTS} attempts: the table is wrong")

    def arguments(self) -> list[Any]:
        rng = np.random.default_rng(self.seed)
        shapes: list[tuple[int, ...]] = [(3, 4), (4, 3), (4,)]
        return [*(rng.uniform(0.6, 1.4, shape) for shape in shapes), float(rng.uniform(0.6, 1.4))]

    def runs(self) -> bool:
        try:
            with quiet():
                value, _ = self.function(*self.arguments())
            return bool(np.isfinite(value))
        except Exception:  # whatever NumPy says of such a call
            return False

    # -- the call ------------------------------------------------------------------------------------------

    def pick(self, kind: str) -> str:
        if kind.startswith("[") and kind[1:-1].split(",")[0] in POOLS:
            return "[" + ", ".join(self.pick(part) for part in kind[1:-1].split(",")) + "]"
        return self.rng.choice(POOLS[kind]) if kind in POOLS else kind

    def write(self, kinds: str, options: str) -> None:
        rng = self.rng
        first, *rest = kinds.split()
        if first == "COPY":
            self.lines.append(f"x = np.array({self.pick('y')})")
        elif self.name.startswith("P."):
            self.lines.append(
                f"x = {rng.choice(['np.array({})', '({}).copy()', '({})[...]']).format(self.pick(first))}"
            )
        elif self.name.startswith("M."):
            self.lines.append(f"x = {rng.choice(['np.asarray({})', '({})']).format(self.pick(first))}")
        else:
            self.lines.append(f"x = {self.pick(first)}")
        arguments = [self.pick(kind) for kind in rest]
        names = [name for name in options.split() if rng.random() < 0.3]
        given = [(name, rng.choice(OPTIONS[name])) for name in names]
        if (
            "casting" in options and ("out", "OUT") not in given
        ):  # of a ufunc the rest would not be initialised
            given = [(name, value) for name, value in given if name != "where"]
        if ("out", "OUT") in given:
            plain = self.call("x", arguments, [(k, w) for k, w in given if k not in ("out", "where")])
            form = rng.choice(
                [
                    "np.full_like({}, s)",
                    "np.array({}) * 0.5",
                    "np.zeros_like({})",
                    "np.array([{}, {}])[1, ...]",
                ]
            )
            self.lines.append(f"o = {form.replace('{}', plain)}")
            if rng.random() < 0.4:
                self.lines.append("o[...] = s" if rng.random() < 0.5 else "w = o[...]")
            given = [(k, w.replace("OUT", "o")) for k, w in given]
        self.lines.append(f"r = {self.call('x', arguments, given)}")
        self.lines.append("seen = facts(r, x)")
        parts = ["total(r)", "0.5 * total(x)"]
        if any(line.startswith("o = ") for line in self.lines):
            parts.append("0.25 * total(o)")
        for _ in range(rng.randint(0, 3)):
            self.follow()
        self.lines.append(f"return {' + '.join(parts)} + 0.1 * (np.sum(a) + np.sum(b) + np.sum(v) + s), seen")

    def write_family(self, text: str) -> None:
        """The program of a family, and what is done afterwards."""
        counted = "n.append" in text
        self.lines += ["n = []"] * counted + self.filled(text).split("\n")
        self.lines.append(f"seen = facts(r, x){', len(n)' * counted}")
        for _ in range(self.rng.randint(0, 3)):
            if self.rng.random() < 0.5:
                self.follow()
            else:
                self.lines.append(self.rng.choice(FOLLOWED))
        parts = "total(r) + 0.5 * total(x)"
        self.lines.append(f"return {parts} + 0.1 * (np.sum(a) + np.sum(b) + np.sum(v) + s), seen")

    def filled(self, text: str) -> str:
        """`text` with a choice made for each pair of braces, the inner ones first."""
        while True:
            chosen = re.sub(r"\{([^{}]*)\}", self._choice, text)
            if chosen == text:
                return text
            text = chosen

    def _choice(self, found: re.Match[str]) -> str:
        kind = found[1]
        if "|" in kind:
            return self.rng.choice(kind.split("|"))
        return self.rng.choice(CHOICES.get(kind) or POOLS.get(kind) or OPTIONS.get(kind) or [kind])

    def call(self, x: str, arguments: list[str], options: list[tuple[str, str]]) -> str:
        named = [f"{name}={value}" for name, value in options]
        if self.name.startswith(("M.", "P.")):
            return f"{x}.{self.name[2:]}({', '.join([*arguments, *named])})"
        return f"{self.name}({', '.join([x, *arguments, *named])})"

    def follow(self) -> None:
        """Something that is done to the result or to the argument afterwards."""
        self.lines.append(
            self.rng.choice(
                [
                    "r[...] = s", "r *= s", "r = r * v[0]", "x[0] = s", "x *= 1.5", "r[0] = v[0]", "r += x",
                    "r = r[..., :1]", "r = r.T", "r[::2] = 0.5", "x[-1] = 2.0 * s", "r = (r, x)", "r = r[0]",
                    "r = np.ravel(r)", "a[0, 0] = s", "v[1:] = v[0]", "v *= s", "r = r + 0.5", "r = [r, s]",
                ]
            )
        )  # fmt: skip
