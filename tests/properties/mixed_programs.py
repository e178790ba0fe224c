"""Random mixtures of pieces of the standard library and NumPy, on values with and without a derivative, as
people combine them: settings that are parsed, text that is logged, tables, queues, records, random numbers.
"""

from __future__ import annotations

import linecache
import random
from collections.abc import Callable
from typing import Any

import numpy as np

import adbc
from adbc.errors import AdbcError

__all__ = ["MixedProgram", "check"]

HEAD = """
import argparse, bisect, collections, contextlib, copy, dataclasses, datetime, decimal, enum, functools, heapq
import io, itertools, json, logging, math, operator, pathlib, random, re, statistics, string, struct, types
import typing, warnings
import numpy as np

log = logging.getLogger("mixed")
log.propagate = False
log.handlers[:] = [logging.NullHandler()]
log.setLevel(logging.INFO)
SETTINGS = '{"rate": 0.25, "steps": 3, "names": ["a", "b"], "weights": [0.5, 1.5]}'

@dataclasses.dataclass
class Point:
    a: float
    b: list = dataclasses.field(default_factory=list)

    def norm(self):
        return math.sqrt(self.a ** 2 + sum(e * e for e in self.b) + 1.0)

class Pair(typing.NamedTuple):
    first: float
    second: float = 2.0

class Mode(enum.Enum):
    FAST = 1
    SLOW = 2

@functools.singledispatch
def area(shape):
    return shape * 1.5

@area.register
def _(shape: Point):
    return shape.a * shape.a
"""

PIECES = [
    "s = json.loads(SETTINGS)\nfor k in range(s['steps']):\n"
    "    t = t - s['rate'] * math.cos(t) * s['weights'][k % 2]",
    "log.info('value %.3f of %s', t, 'run')",
    "log.warning(f'{t:.2e} and {v[0]!r}')",
    "warnings.simplefilter('ignore')\nwarnings.warn('take care')",
    "m = re.match(r'(\\w+)=(\\d+\\.\\d+)', 'rate=0.75')\nt = t * float(m.group(2)) + len(m.group(1)) * v[1]",
    "t = t + sum(float(p) for p in '1.5,2.5'.split(',')) * v[0]",
    "r = random.Random({n})\nt = t + sum(r.random() * e for e in v)",
    "a = list(itertools.accumulate(v))\nt = t + 0.1 * a[-1] * t",
    "t = t + 0.1 * functools.reduce(lambda p, q: p * q + t, v, 1.0)",
    "d = collections.defaultdict(list)\nfor k, e in enumerate(v):\n"
    "    d['even' if k % 2 == 0 else 'odd'].append(e * t)\n"
    "t = t + 0.3 * sum(d['even']) - 0.2 * sum(d['odd'])",
    "c = collections.Counter('abca')\nt = t + 0.1 * c['a'] * v[-1]",
    "p = Point(t, [float(e) for e in v])\nq = dataclasses.replace(p, a=0.5 * t)\n"
    "t = p.norm() + q.norm() * 0.1",
    "t = t * 0.5 + statistics.fmean(v) * 0.3",
    "xs = [0.0, 0.5, 1.0, 2.0]\nk = bisect.bisect(xs, 0.7)\nt = t + xs[k] * v[0]",
    "h = []\nfor k, e in enumerate(v):\n    heapq.heappush(h, (e * 1.5, k))\nwhile h:\n"
    "    e, k = heapq.heappop(h)\n"
    "    t = t + 0.1 * e * k",
    "s = {'t': t, 'l': [v[0]]}\nu = copy.deepcopy(s)\nu['l'].append(t)\nt = sum(u['l']) * 0.5 + s['t'] * 0.1",
    "with contextlib.suppress(ZeroDivisionError):\n    t = t * 1.1\n    1 / 0",
    "with np.errstate(all='ignore'):\n    t = t + np.log(v + 2.0).sum() * 0.1",
    "a, b = operator.itemgetter(0, 1)(v)\nt = t + 0.2 * operator.mul(a, b)",
    "t = t + float(decimal.Decimal('0.1') + decimal.Decimal('0.2')) * v[0]",
    "path = pathlib.PurePosixPath('/a/b') / 'c.txt'\nt = t + 0.1 * len(path.parts) * v[1]",
    "o = argparse.Namespace(rate=0.1, steps=2)\nfor _ in range(o.steps):\n    t = t - o.rate * t",
    "o = types.SimpleNamespace(t=t)\no.t += v[0]\nt = o.t",
    "t = t * Mode['SLOW'].value * 0.5 if Mode(1) is Mode.FAST else v[0]",
    "p = Pair(t)\nq = p._replace(second=t * v[0])\nt = 0.3 * p.second * q.first + 0.1 * q.second",
    "out = io.StringIO()\nfor k, e in enumerate(v):\n    out.write(f'{k}: {e:.3f}\\n')\n"
    "t = t + 0.1 * len(out.getvalue().splitlines())",
    "out = io.StringIO()\nprint(t, v, file=out)\nt = t * 0.9",
    "day = datetime.datetime(2024, 1, 31) + datetime.timedelta(days=1)\nt = t + 0.1 * day.day * v[0]",
    "n, = struct.unpack('<d', struct.pack('<d', 0.5))\nt = t * n + 0.2",
    "t = area(t) * 0.5 + area(Point(t)) * 0.1",
    "rows = [{'k': 'b', 'w': 2.0}, {'k': 'a', 'w': 0.5}]\nrows.sort(key=operator.itemgetter('k'))\n"
    "for k, g in itertools.groupby(rows, key=lambda r: r['k']):\n"
    "    t = t + 0.1 * sum(r['w'] for r in g) * v[0] * (1 if k == 'a' else 2)",
    "grid = np.linspace(0, 1, 5)\nt = t + 0.1 * np.einsum('ij->j', np.outer(v, grid)) @ grid",
    "z = np.random.default_rng({n}).normal(size=v.shape)\nt = t + 0.1 * np.where(z > 0, v * z, v).sum()",
    "q = collections.deque(maxlen=2)\nfor e in v:\n    q.append(e * t)\nq.rotate(1)\n"
    "t = 0.2 * q[0] + 0.1 * q[-1] + t",
    "h = dict(loss=[])\nfor k in range(3):\n    h['loss'].append(((v - t) ** 2).mean())\n"
    "    t = t + 0.05 * h['loss'][-1]",
    "line = '{:>10} | {:<8.3f}'.format('t', t)\nt = t * (0.5 + line.count('|'))",
    "said = []\ntry:\n    raise ValueError('bad %g' % t)\nexcept ValueError as error:\n"
    "    said.append(str(error))\n"
    "t = t + 0.1 * len(said) * v[-1]",
    "m = collections.OrderedDict(b=v[0], a=t)\nm.move_to_end('b')\n"
    "t = 0.5 * list(m.values())[0] + 0.1 * m.popitem()[1]",
    "m = collections.ChainMap({'a': t}, {'b': v[0]})\nt = 0.5 * m['a'] + 0.2 * m['b']",
    "f = functools.partial(math.pow, abs(t) + 1.0)\nt = 0.1 * f(2) + 0.1 * f(1.5)",
    "t = t + 0.05 * sum(p * q for p, q in itertools.combinations(v, 2))",
    "names = ['%s%d' % (c, k) for k, c in enumerate('xyz')]\nt = t + 0.1 * dict(zip(names, v))['y1']",
    "w = np.array([t, *v])\nt = 0.3 * np.sort(w)[::2].sum() + 0.1 * w.max()",
    "w = v.copy()\nw[1:] *= t\nw += 0.1\nt = 0.3 * w.mean() + 0.1 * np.dot(w, v)",
]
"""What a program is put together from.  `t` is a number and `v` an array, both with a derivative; no piece
reads a number from text that was made of them."""


class MixedProgram:
    """A function of a number and an array, `source`, made of some pieces."""

    def __init__(self, seed: int) -> None:
        choose = random.Random(seed)
        pieces = [choose.choice(PIECES).replace("{n}", str(seed % 7)) for _ in range(choose.randint(2, 6))]
        body = "\n".join(["t = x", *pieces, "return t + 0.01 * v.sum()"])
        self.source = "def f(x, v):\n" + "".join(f"    {line}\n" for line in body.split("\n"))
        filename = f"<mixture {seed}>"
        text = f"{HEAD}\n{self.source}"
        linecache.cache[filename] = len(text), None, text.splitlines(keepends=True), filename
        namespace: dict[str, Any] = {"__name__": __name__}
        exec(compile(text, filename, "exec"), namespace)
        self.function: Callable[[float, Any], Any] = namespace["f"]
        numbers = np.random.default_rng(seed)
        self.x, self.v = float(numbers.uniform(0.3, 1.0)), numbers.uniform(0.3, 1.2, 3)


def check(program: MixedProgram) -> str | None:
    """Compare value, forward and reverse mode with the plain function; why it was refused, if it was."""
    f, x, v = program.function, program.x, program.v
    direction = 0.7, np.array([0.3, -0.4, 0.6])
    wanted = f(x, v.copy())
    h = 1e-5
    ahead, behind = (f(x + s * direction[0], v + s * direction[1]) for s in (h, -h))
    slope = (ahead - behind) / (2 * h)
    try:
        for _ in range(2):
            given = v.copy()
            value, tangent = adbc.jvp(f, (x, given), direction)
            np.testing.assert_array_equal(given, v)
            np.testing.assert_allclose(value, wanted, rtol=1e-12)
            np.testing.assert_allclose(tangent, slope, rtol=1e-5, atol=1e-6)
            value, (bx, bv) = adbc.value_and_grad(f, (0, 1))(x, given)
            np.testing.assert_array_equal(given, v)
            np.testing.assert_allclose(value, wanted, rtol=1e-12)
            np.testing.assert_allclose(bx * direction[0] + bv @ direction[1], tangent, rtol=1e-9, atol=1e-11)
    except AdbcError as error:
        return f"{type(error).__name__}: {str(error).partition(',')[0]}"
    return None
