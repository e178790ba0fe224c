"""Programs as people write them: settings, texts, logs, files, library objects set up on constants."""

from __future__ import annotations

import argparse
import bisect
import collections
import configparser
import contextlib
import copy
import csv
import datetime
import decimal
import enum
import fractions
import functools
import hashlib
import inspect
import io
import json
import logging
import math
import numbers
import os
import pathlib
import queue
import random
import re
import statistics
import string
import struct
import sys
import tempfile
import textwrap
import threading
import traceback
import warnings

import numpy as np
import scipy.fft
import scipy.integrate
import scipy.interpolate
import scipy.linalg
import scipy.ndimage
import scipy.optimize
import scipy.signal
import scipy.sparse
import scipy.special
import scipy.stats

log = logging.getLogger(__name__)

C = np.array([[2.0, 0.3, 0.1], [0.3, 3.0, 0.2], [0.1, 0.2, 1.5]])

PTS = np.random.default_rng(0).normal(size=(30, 2))

SPL = scipy.interpolate.CubicSpline(np.linspace(0, 1, 7), np.sin(np.linspace(0, 1, 7)))

CFG = {"rate": 0.5, "n": 3, "name": "abc", "w": [1.0, 2.0, 3.0]}

V = np.array([0.3, 0.7, 1.1])


def inv_const(x):
    return x * scipy.linalg.inv(C).sum()


def inv_local(x):
    A = np.array([[2.0, 1.0], [0.5, 3.0]])
    return x * scipy.linalg.inv(A).sum()


def bincount(x):
    return x * np.bincount([0, 1], np.ones(2)).sum()


def spline_const(x):
    return x * SPL(0.3)


def spline_made(x):
    t = np.linspace(0, 1, 5)
    return x * float(scipy.interpolate.CubicSpline(t, t**2)(0.3))


def bis(x):
    return x * bisect.bisect([1.0, 2.0, 3.0], 2.5)


def lu_const(x):
    lu = scipy.linalg.lu_factor(C)
    return x * scipy.linalg.lu_solve(lu, np.ones(3)).sum()


def butter_const(x):
    b, a = scipy.signal.butter(3, 0.2)
    y = scipy.signal.lfilter(b, a, np.sin(np.arange(30.0)))
    return x * y.sum()


def cho_local(x):
    L = scipy.linalg.cholesky(C, lower=True)
    return x * L.trace()


def quad_const(x):
    v, err = scipy.integrate.quad(lambda t: math.exp(-t * t), 0, 1)
    return x * v


def brentq_const(x):
    return x * scipy.optimize.brentq(lambda t: t * t - 2, 0, 2)


def gauss_nodes(x):
    t, w = np.polynomial.legendre.leggauss(5)
    return np.sum(w * np.exp(x * t))


def roots_leg(x):
    t, w = scipy.special.roots_legendre(5)
    return float(np.sum(w * np.exp(x * t)))


def eigh_const(x):
    w, v = scipy.linalg.eigh(C)
    return x * w[0] + np.exp(-x * w).sum()


def sparse_const(x):
    A = scipy.sparse.csr_matrix(C)
    return x * (A @ np.ones(3)).sum()


def hist_const(x):
    h, e = np.histogram(PTS[:, 0], bins=5)
    return x * h.max() + e[0]


def random_const(x):
    rng = np.random.default_rng(3)
    z = rng.normal(size=100)
    return np.mean(np.exp(x * z))


def gaussian_filter_const(x):
    k = scipy.ndimage.gaussian_filter1d(np.array([0.0, 0.0, 1.0, 0.0, 0.0]), 1.0)
    return x * k[1]


def fft_const(x):
    s = np.abs(scipy.fft.fft(np.arange(8.0)))
    return x * s[1]


def re_findall(x):
    return x * len(re.findall("\\d+", "a1b22c333"))


def re_compile(x):
    m = re.compile("(\\w+)=(\\d+\\.\\d*)").match("k=2.5")
    return x * float(m.group(2))


def json_loads(x):
    cfg = json.loads('{"a": 2.5, "b": [1.0, 2.0]}')
    return x * cfg["a"] + cfg["b"][1] * x**2


def json_dumps(x):
    s = json.dumps({"n": 3, "name": "abc", "k": [1, 2]})
    return x * len(s)


@functools.lru_cache(maxsize=None)
def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


@functools.cache
def nodes(n):
    return np.polynomial.legendre.leggauss(n)


def cached_nodes(x):
    t, w = nodes(6)
    return np.sum(w * np.sin(x * t + 1))


def log_info(x):
    log.info("value %s", x)
    log.debug("x=%f", x)
    log.warning("loss %.3f", x)
    logging.info("root %s", x)
    return x * x


def log_level(x):
    if log.isEnabledFor(logging.DEBUG):
        log.debug("v")
    log.log(logging.INFO, "n=%d", 3)
    return x * x


def log_exc(x):
    try:
        {}["a"]
    except KeyError:
        log.exception("missing")
        log.error("no", exc_info=True)
    return x * x


def warn(x):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.warn("careful", RuntimeWarning)
        y = np.log(x)
    return y * x


def path(x):
    p = pathlib.Path("/tmp") / "a.txt"
    return x * len(p.name) + len(p.suffix)


def arg(x):
    ap = argparse.ArgumentParser()
    ap.add_argument("--rate", type=float, default=0.5)
    ap.add_argument("-n", type=int, default=3)
    a = ap.parse_args(["--rate", "0.7"])
    return x * a.rate + a.n


def insp(x):
    sig = inspect.signature(math.hypot) if False else inspect.signature(path)
    return x * len(sig.parameters)


def cpy(x):
    cfg = copy.deepcopy(CFG)
    c2 = copy.copy(cfg)
    return x * cfg["rate"] + c2["w"][2]


def cfgp(x):
    cp = configparser.ConfigParser()
    cp.read_string("[a]\nk=2.5\n")
    return x * cp.getfloat("a", "k")


def csvr(x):
    rows = list(csv.reader(io.StringIO("1.0,2.0\n3.0,4.0\n")))
    return x * sum((float(v) for r in rows for v in r))


def csvd(x):
    rows = csv.DictReader(io.StringIO("t,y\n1.0,2.0\n3.0,4.0\n"))
    return sum(((x * float(r["t"]) - float(r["y"])) ** 2 for r in rows))


def loadtxt(x):
    d = np.loadtxt(io.StringIO("1 2\n3 4\n"))
    return float(((x * d[:, 0] - d[:, 1]) ** 2).sum())


def genfromtxt(x):
    d = np.genfromtxt(io.StringIO("1,2\n3,4\n"), delimiter=",")
    return float(((x * d[:, 0] - d[:, 1]) ** 2).sum())


def files(x):
    with tempfile.TemporaryDirectory() as d:
        p = os.path.join(d, "a.csv")
        with open(p, "w") as f:
            f.write("1.5\n2.5\n")
        with open(p) as f:
            vals = [float(line) for line in f]
    return x * sum(vals)


def npsave(x):
    with tempfile.TemporaryDirectory() as d:
        p = pathlib.Path(d) / "a.npy"
        np.save(p, C)
        A = np.load(p)
    return x * A.sum()


def hashing(x):
    h = hashlib.md5(b"abc").hexdigest()
    return x * int(h[:2], 16)


def date(x):
    d = datetime.date(2020, 1, 3) - datetime.date(2020, 1, 1)
    t = datetime.datetime.strptime("2020-01-01", "%Y-%m-%d")
    return x * d.days + t.year


def strtempl(x):
    s = string.Template("$a-$b").substitute(a=1, b="z")
    t = textwrap.dedent("  a\n  b")
    return x * (len(s) + len(t))


def fmt(x):
    msg = "loss: {:.3f} at {}".format(x, 3)
    msg2 = "%s %5.2f" % ("a", x)
    msg3 = f"{x!r:>10}"
    return x * (1 if msg else 2) * (1 if msg2 or msg3 else 2)


def np_r(x):
    return (np.r_[x, 1.0, 2.0] ** 2).sum()


def np_c(x):
    return (np.c_[x, x * 2] ** 2).sum()


def np_r_slice(x):
    return (np.r_[0:1:5j] * x.sum()).sum()


def np_mgrid(x):
    a, b = np.mgrid[0:3, 0:2]
    return (x[:, None] * a).sum() + b.sum()


def np_ix(x):
    return np.outer(x, x)[np.ix_([0, 2], [1, 2])].sum()


def root_scalar(x):
    r = scipy.optimize.root_scalar(lambda t: t**2 - 2, bracket=[0, 2])
    return x * r.root


def enum_func(x):
    Color = enum.Enum("Color", "RED GREEN")
    return x * Color.GREEN.value


class Mode(enum.Enum):
    A = "a"
    B = "b"


def enum_use(x):
    m = Mode("b")
    return x**2 if m is Mode.B else x


def localsf(x):
    a = 2
    d = locals() if a > 5 else {}
    return x * a + len(d)


def fmt_locals(x):
    n = 3
    s = "{n}".format(**locals())
    return x * int(s)


def exec_branch(x, flag=False):
    if flag:
        exec("y = 1")
    return x * x


def getframe(x):
    if x < 0:
        print(sys._getframe().f_lineno)
    return x * x


def evalf(x):
    return eval("x * x + k", {"x": x, "k": 2.0})


CODE = compile("a * t ** 2 + b", "<expr>", "eval")


def evalcode(x):
    return eval(CODE, {"a": x, "b": 2.0, "t": 1.5})


def execns(x):
    ns = {"x": x}
    exec("y = x * 3\nz = y ** 2", ns)
    return ns["z"]


def tryimport(x):
    try:
        import cupy as xp
    except ImportError:
        xp = np
    return xp.sin(x)


def npnum_methods(x):
    s = np.sum(x)
    return s.sum() + s.mean() * 2 + s.max() + s.squeeze() + s.T + s.reshape(1)[0]


def npnum_sumsum(x):
    return x.sum(0).sum()


def npnum_idx(x):
    s = x.sum()
    total = s[()] + s[..., None].sum() + (1.0 if s.any() else 0.0) + s.item() + s.astype(float)
    total += s.real + s.conj() + s.copy() + s.clip(0, 10) + s.ravel()[0] + s.flatten()[0]
    return total + s.round(3)


class L(list):
    def total(self):
        return sum(self)


def listsub(x):
    l = L([x, 2.0])
    l.append(x * x)
    l.extend([1.0])
    l.clear() if False else None
    return l.total()


class Ring(list):
    def push(self, v):
        self.append(v)
        self.pop(0) if len(self) > 3 else None


def ring(x):
    r = Ring()
    for i in range(6):
        r.push(x * i)
    s = sum(r)
    r.clear()
    return s + len(r)


class TT(tuple):
    @property
    def first(self):
        return self[0]


def tuplesub(x):
    return TT((x, 2.0)).first ** 2


def objarr2(x):
    a = np.empty(2, dtype=object)
    a[0] = x
    a[1] = x[:2] * 2
    return a[0].sum() + a[1].sum()


def iterfloat(x):
    try:
        iter(x)
    except TypeError:
        return x * 2
    return x


def supinit(x):

    class A:
        def __init__(self, v):
            super().__init__()
            self.v = v

    return A(x).v ** 2


def excargs(x):
    try:
        raise ValueError("bad", x)
    except ValueError as e:
        return e.args[1] * 2


def dupd(x):
    d = {"a": 1.0}
    d.update(a=x, b=2.0)
    return d["a"] * d["b"]


def mock(x):

    @contextlib.contextmanager
    def tm():
        yield 2.0

    with tm() as k:
        return x * k


def frac(x):
    return x * float(fractions.Fraction(1, 3)) + float(decimal.Decimal("0.1"))


def rnd(x):
    r = random.Random(3)
    return sum((x * r.gauss(0, 1) for _ in range(10))) + r.choice([1, 2])


def stat(x):
    return x * statistics.mean([1.0, 2.0, 4.0]) + statistics.stdev([1, 2, 4])


def structp(x):
    return x * struct.unpack("<d", struct.pack("<d", 2.5))[0]


def isnum(x):
    if isinstance(x, numbers.Real) and (not isinstance(x, (list, tuple, collections.abc.Sequence))):
        return x * 2
    return x


def checks(x):
    x = np.asarray(x, dtype=float)
    if x.ndim != 1:
        raise ValueError(f"bad shape {x.shape}")
    if not np.all(np.isfinite(x)):
        raise ValueError
    np.testing.assert_allclose(1.0, 1.0)
    assert np.allclose(C, C.T), "sym"
    return (x**2).sum()


def errstate(x):
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.log(np.array([x, 0.0]))[0]


def printopts(x):
    with np.printoptions(precision=3):
        s = str(C)
    return x * (1 if s else 0)


def lockd(x):
    lock = threading.Lock()
    with lock:
        y = x * 2
    return y


def queued(x):
    q = queue.Queue()
    q.put(x)
    q.put(2.0)
    return q.get() * q.get()


def tb(x):
    try:
        1 / 0
    except ZeroDivisionError:
        s = traceback.format_exc()
    return x * (2 if "Zero" in s else 1)


def interp_const(x):
    f = scipy.interpolate.interp1d([0.0, 1.0, 2.0], [1.0, 3.0, 2.0])
    return (x * f([0.5, 0.5, 1.5])).sum()


def minim(x):
    r = scipy.optimize.minimize(lambda p: ((p - 1.0) ** 2).sum(), np.zeros(2))
    return x.sum() * r.x.sum()


def odeint_c(x):
    y = scipy.integrate.odeint(lambda y, t: -y, 1.0, np.linspace(0, 1, 5))
    return x.sum() * y[-1, 0]


def solve_ivp_c(x):
    s = scipy.integrate.solve_ivp(lambda t, y: -y, (0, 1), [1.0])
    return x.sum() * s.y[0, -1]


def finditer(x):
    found = {m["key"]: float(m["value"]) for m in SETTING.finditer("a = 1.5, b=2")}
    return x * found["a"] + found["b"] * sum(int(m.group()) for m in re.finditer("[0-9]", "1 2")) * x


SETTING = re.compile(r"(?P<key>[a-z]+) *= *(?P<value>[0-9.]+)")


def found_files(x):
    with tempfile.TemporaryDirectory() as d:
        folder = pathlib.Path(d)
        (folder / "a.txt").write_text("1.5")
        count = len(list(folder.rglob("*.txt"))) + sum(1 for _ in folder.iterdir())
        count += sum(len(files) for _, _, files in os.walk(d))
    return x * count


def table_written(x):
    text = io.StringIO()
    table = csv.DictWriter(text, ["step", "loss"])
    table.writeheader()
    for step in range(3):
        x = x * 1.1
        table.writerow({"step": step, "loss": x})
    csv.writer(text).writerows([(3, x), [4, x * x]])
    return x * (1 if text.getvalue() else 2)


def results_written(x):
    loss = x * x
    text = json.dumps({"loss": loss, "steps": [x, 2], "name": "run"})
    return loss * (1 if text else 2)


def other_keys(x):
    d = {"a": x, "b": 2.0 * x, "c": 1.0}
    return sum(d[key] for key in sorted(d.keys() - ["a"])) + len(d.keys() | ("z",)) * x


def methods_of_numbers(x):
    s = x.sum()
    return s.std() + s.take(0) + s.repeat(3).sum() + s.prod() * s.ndim + s.tolist() * s.size + s.clip(min=0.1)


def by_the_standard(x):
    xp = x.__array_namespace__() if hasattr(x, "__array_namespace__") else np
    return xp.sum(xp.exp(x) * xp.asarray([1.0, 2.0, 3.0]))


def vectorised(x):
    f = np.vectorize(lambda t: t**2 if t > 0.5 else -t)
    return f(x).sum() + np.apply_along_axis(lambda r: r**2, 0, x).sum()


PROGRAMS = [
    (finditer, 1.3),
    (found_files, 1.3),
    (table_written, 1.3),
    (results_written, 1.3),
    (other_keys, 1.3),
    (methods_of_numbers, V),
    (vectorised, V),
    (by_the_standard, V),
    (inv_const, 1.3),
    (inv_local, 1.3),
    (bincount, 1.3),
    (spline_const, 1.3),
    (spline_made, 1.3),
    (bis, 1.3),
    (lu_const, 1.3),
    (butter_const, 1.3),
    (cho_local, 1.3),
    (quad_const, 1.3),
    (brentq_const, 1.3),
    (gauss_nodes, 1.3),
    (roots_leg, 1.3),
    (eigh_const, 1.3),
    (sparse_const, 1.3),
    (hist_const, 1.3),
    (random_const, 1.3),
    (gaussian_filter_const, 1.3),
    (fft_const, 1.3),
    (re_findall, 1.3),
    (re_compile, 1.3),
    (json_loads, 1.3),
    (json_dumps, 1.3),
    (cached_nodes, 1.3),
    (log_info, 1.3),
    (log_level, 1.3),
    (log_exc, 1.3),
    (warn, 1.3),
    (path, 1.3),
    (arg, 1.3),
    (insp, 1.3),
    (cpy, 1.3),
    (cfgp, 1.3),
    (csvr, 1.3),
    (csvd, 1.3),
    (loadtxt, 1.3),
    (genfromtxt, 1.3),
    (files, 1.3),
    (npsave, 1.3),
    (hashing, 1.3),
    (date, 1.3),
    (strtempl, 1.3),
    (fmt, 1.3),
    (np_r, V),
    (np_c, V),
    (np_r_slice, V),
    (np_mgrid, V),
    (np_ix, V),
    (root_scalar, 1.3),
    (enum_func, 1.3),
    (enum_use, 1.3),
    (localsf, 1.3),
    (fmt_locals, 1.3),
    (exec_branch, 1.3),
    (getframe, 1.3),
    (evalf, 1.3),
    (evalcode, 1.3),
    (execns, 1.3),
    (tryimport, 1.3),
    (npnum_methods, V),
    (npnum_sumsum, V),
    (npnum_idx, V),
    (listsub, 1.3),
    (ring, 1.3),
    (tuplesub, 1.3),
    (objarr2, V),
    (iterfloat, 1.3),
    (supinit, 1.3),
    (excargs, 1.3),
    (dupd, 1.3),
    (mock, 1.3),
    (frac, 1.3),
    (rnd, 1.3),
    (stat, 1.3),
    (structp, 1.3),
    (isnum, 1.3),
    (checks, V),
    (errstate, 1.3),
    (printopts, 1.3),
    (lockd, 1.3),
    (queued, 1.3),
    (tb, 1.3),
    (interp_const, V),
    (minim, V),
    (odeint_c, V),
    (solve_ivp_c, V),
]
