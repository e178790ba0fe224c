"""Numbers with a derivative that become text in arrays, or in names of files, and are read back: refused.

Arrays of text, and names, that say nothing of such a number stand beside them: these are free.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from typing import Any

import pytest

import adbc

X = 0.7390625

PRELUDE = """
import glob, io, os, pathlib, re, shutil, tempfile
import numpy as np
"""

ARRAYS: dict[str, str] = {
    "full with a dtype": "np.full(2, x, dtype='U30')",
    "full_like": "np.full_like(np.array(['a' * 24]), x)",
    "concatenate": "np.concatenate([np.array([x]), np.array(['a'])])",
    "hstack": "np.hstack([x, 'a'])",
    "vstack": "np.vstack([[x], ['a']])[0]",
    "stack": "np.stack([np.array(x), np.array('a')])",
    "column_stack": "np.column_stack([[x], ['a']])[0]",
    "append": "np.append(np.array(['a']), x)[1:]",
    "block": "np.block([np.array([x]), np.array(['a'])])",
    "where": "np.where([True], np.array([x]), np.array(['a']))",
    "choose": "np.choose([0], [np.array([x]), np.array(['a'])])",
    "put": "put(x)",
    "put of text": "put(repr(x))",
    "tile": "np.tile(repr(x), 2)",
    "repeat": "np.repeat(repr(x), 2)",
    "atleast_1d": "np.atleast_1d(repr(x))",
    "broadcast_to": "np.broadcast_to(repr(x), (2,))",
    "hstack of text": "np.hstack([repr(x), 'a'])",
    "ravel": "np.ravel(repr(x))",
    "reshape": "np.reshape(repr(x), 1)",
    "a list": "np.stack([[repr(x)], ['b']])[0]",
    "maximum": "np.sort([repr(x), 'a'])",
}
"""By name, an array the first element of which is the text of `x`."""

NAMES: dict[str, str] = {
    "listdir": """
        open(d + '/' + repr(x), 'w').close()
        return float(os.listdir(d)[0])
    """,
    "glob": """
        open(d + '/' + repr(x), 'w').close()
        return float(os.path.basename(glob.glob(d + '/*')[0]))
    """,
    "mkdir": """
        os.mkdir(os.path.join(d, f'{x:.17g}'))
        return float(os.listdir(d)[0])
    """,
    "makedirs": """
        os.makedirs(os.path.join(d, f'{x:.17g}'))
        return float(os.listdir(d)[0])
    """,
    "scandir": """
        os.mkdir(os.path.join(d, f'{x:.17g}'))
        with os.scandir(d) as found:
            return float(next(found).name)
    """,
    "rename": """
        open(d + '/a', 'w').close()
        os.rename(d + '/a', d + '/' + repr(x))
        return float(os.listdir(d)[0])
    """,
    "walk": """
        open(d + '/' + repr(x), 'w').close()
        for root, folders, files in os.walk(d):
            return float(files[0])
    """,
    "symlink": """
        os.symlink(repr(x), d + '/a')
        return float(os.readlink(d + '/a'))
    """,
    "chdir": """
        old = os.getcwd()
        os.mkdir(os.path.join(d, repr(x)))
        os.chdir(os.path.join(d, repr(x)))
        try:
            return float(os.path.basename(os.getcwd()))
        finally:
            os.chdir(old)
    """,
    "copy": """
        open(d + '/a', 'w').close()
        shutil.copy(d + '/a', d + '/' + repr(x))
        return float(sorted(os.listdir(d))[0])
    """,
    "prefix": """
        with tempfile.TemporaryDirectory(prefix=repr(x) + '_', dir=d) as f:
            return float(os.path.basename(f).split('_')[0])
    """,
    "save": """
        np.save(d + f'/{x!r}.npy', np.zeros(3))
        return float(os.listdir(d)[0][:-4])
    """,
    "pattern": """
        return float(re.compile(repr(x)).pattern)
    """,
}
"""By name, the body of a function that gives something in the folder `d` a name made of `x`, and reads it."""

SLOW_NAMES = {"copy", "pattern", "prefix", "save"}

FREE: dict[str, str] = {
    "labels": """
        labels = np.array([f'n{i}' for i in range(3)])
        v = np.array([x, 2 * x, 3 * x])
        return v[labels == 'n1'].sum()
    """,
    "joined labels": """
        shown = f'{x}'
        names = np.concatenate([['a', 'b', 'c'], ['d']])
        v = np.concatenate([[x, x * x], [3.0]])
        return v[np.flatnonzero(names[:3] == 'b')].sum() + len(names)
    """,
    "numbers after text": """
        shown = f'{x:.3f}'
        v = np.stack([np.array([x, 1.0]), np.array([2.0, x])])
        rows = [np.sin(x), np.cos(x), 1.0]
        return np.tile(v, 2).sum() + np.hstack(rows).sum() + np.append(rows, x).sum() + np.sum([x, x])
    """,
    "text by a number": """
        t = np.full(3, 'abc')
        t[0] = 'b'
        np.put(t, [1], ['c'])
        return np.where(t == 'abc', np.array([x, x * x, x ** 3]), 0.0).sum() * len(np.sort(t))
    """,
    "a file that is there": """
        name = f'/nonexistent/{x}'
        return x * x if os.path.exists(name) else 3.0 * x + len(os.listdir('/')) * 0.0
    """,
    "a file that is written": """
        with tempfile.TemporaryDirectory() as d:
            with open(os.path.join(d, f'at {x:.3f}.txt'), 'w') as f:
                f.write(f'{x}')
            return x * x * len(os.listdir(d))
    """,
}
"""By name, the body of a function with text that tells nothing of a number that is read, or is not read."""


def of_source(body: str, *before: str) -> Callable[[float], Any]:
    lines = textwrap.indent(textwrap.dedent(body), "    ")
    source = "\n".join([PRELUDE, *before, "def program(x):", lines])
    namespace: dict[str, Any] = {"__name__": __name__}
    exec(source, namespace)
    function: Callable[[float], Any] = namespace["program"]
    return function


def of_array(made: str) -> Callable[[float], Any]:
    put = "def put(v):\n    a = np.array(['a' * 24])\n    np.put(a, [0], [v])\n    return a"
    return of_source(f"return x + float(({made})[0])", put)


def of_name(body: str) -> Callable[[float], Any]:
    read = "def read(d, x):\n" + textwrap.indent(textwrap.dedent(body), "    ")
    return of_source("with tempfile.TemporaryDirectory() as d:\n    return x + read(d, x)", read)


def check_refused(f: Callable[[float], Any]) -> None:
    assert f(X) == pytest.approx(2 * X)
    with pytest.raises(adbc.AdbcError):
        adbc.grad(f)(X)
    with pytest.raises(adbc.AdbcError):
        adbc.jvp(f, (X,), (1.0,))


@pytest.mark.parametrize("name", ARRAYS)
def test_no_number_comes_back_from_an_array_of_text(name: str) -> None:
    check_refused(of_array(ARRAYS[name]))


@pytest.mark.slow
@pytest.mark.parametrize("name", list(ARRAYS)[::3])
@pytest.mark.parametrize("speculation", ["always", "dynamic"])
def test_nor_in_written_code(name: str, speculation: Any) -> None:
    with adbc.use(adbc.Config(speculation=speculation, warm_after=0)):
        check_refused(of_array(ARRAYS[name]))


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow) if name in SLOW_NAMES else name for name in NAMES]
)
def test_no_number_comes_back_from_a_name(name: str) -> None:
    check_refused(of_name(NAMES[name]))


@pytest.mark.parametrize("name", FREE)
def test_other_text_is_free(name: str) -> None:
    f = of_source(FREE[name])
    h = 1e-6
    slope = (f(X + h) - f(X - h)) / (2 * h)
    assert adbc.grad(f)(X) == pytest.approx(slope, rel=1e-6)
    assert adbc.jvp(f, (X,), (1.0,))[1] == pytest.approx(slope, rel=1e-6)
