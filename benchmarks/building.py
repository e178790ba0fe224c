"""``python -m benchmarks build``: what the first gradient costs, over what ``compile()`` takes of the source.

Functions of n statements of one shape each, as library code has them: nothing in them is hot, so all that
counts is how long it takes until the code is there.  Every number is from a process of its own, in CPU time.
"""

from __future__ import annotations

import itertools
import json
import linecache
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

__all__ = ["SHAPES", "SIZES", "function_of", "measured", "report"]

SIZES = (10, 20, 40, 80, 160)

CLASS = "class Thing:\n    def __init__(self, a):\n        self.a = a\n\n"

REPEATED: dict[str, tuple[str, str]] = {
    "straight lines": ("", "    y = y * 1.01 + {i}.0\n"),
    "if, else": ("", "    if y > {i}.0:\n        y = y * 1.01\n    else:\n        y = y + 0.5\n"),
    "isinstance, is None": (
        CLASS,
        "    if isinstance(o, str):\n        y = y + 1.0\n    elif o is None:\n        y = y + 2.0\n"
        "    else:\n        y = y + o.a\n",
    ),
    "for": ("", "    for _ in range(3):\n        y = y * 1.01\n"),
    "try, except": (CLASS, "    try:\n        y = y + o.a\n    except AttributeError:\n        y = 0.0\n"),
    "with": ("import contextlib\n\n", "    with contextlib.nullcontext(y) as z:\n        y = z * 1.01\n"),
    "attributes": (CLASS, "    o.a{i} = y\n    if hasattr(o, 'a{i}'):\n        y = y + o.a{i}\n"),
}
"""By name of a shape: what stands above the function, and the statement number i."""


def _repeated(above: str, statement: str) -> Callable[[int], str]:
    begin = "    y = x\n" + ("    o = Thing(x)\n" if above is CLASS else "")
    return lambda n: (
        f"{above}def f(x):\n{begin}" + "".join(statement.format(i=i) for i in range(n)) + "    return y\n"
    )


def many_variables(n: int) -> str:
    """The source of a function of n variables, three quarters of which a loop changes."""
    made = "".join(f"    v{i} = x * {i}.0\n" for i in range(n))
    changed = "".join(f"        v{i} = v{i} * 1.5 + x\n" for i in range(n * 3 // 4))
    total = " + ".join(f"v{i}" for i in range(n))
    return f"def f(x):\n{made}    for _ in range(3):\n{changed}    return {total}\n"


SHAPES: dict[str, Callable[[int], str]] = {
    **{name: _repeated(*parts) for name, parts in REPEATED.items()},
    "variables in a loop": many_variables,
}
"""By name, what gives the source of a function ``f(x)`` of n statements of that shape."""


def function_of(source: str) -> tuple[Callable[[float], float], float]:
    """The function `f` that `source` defines, and CPU seconds that ``compile()`` takes, the best of five."""
    name = "<shape>"
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    best = float("inf")
    for _ in range(5):
        start = time.process_time()
        code = compile(source, name, "exec")
        best = min(best, time.process_time() - start)
    namespace: dict[str, Any] = {"__name__": "shape"}
    exec(code, namespace)
    return namespace["f"], best


def one(shape: str, n: int, mode: str) -> tuple[float, float, float]:
    """CPU seconds of ``compile()``, and of the first and the second derivative, in this process.

    What is the same for every function has been imported and made before.
    """
    import adbc  # not in the process that only prints

    def derivative(f: Callable[[float], float]) -> Callable[[], object]:
        if mode == "forward":
            return lambda: adbc.jvp(f, (0.3,), (1.0,))
        gradient = adbc.value_and_grad(f)
        return lambda: gradient(0.3)

    derivative(lambda x: x * x)()
    f, compiled = function_of(SHAPES[shape](n))
    call = derivative(f)
    times = []
    for _ in range(2):
        start = time.process_time()
        call()
        times.append(time.process_time() - start)
    return compiled, times[0], times[1]


def measured(shape: str, n: int, mode: str) -> tuple[float, float, float]:
    """What `one` gives, in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.building", shape, str(n), mode]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    compiled, first, second = json.loads(done.stdout)
    return compiled, first, second


def report(sizes: Sequence[int] = SIZES, only: str = "") -> None:
    """Print the table: milliseconds of CPU time to the first derivative, and how often ``compile()`` would
    have been done in that time."""
    heads = "".join(f"{f'n = {n}':>16}" for n in sizes)
    for mode in ("reverse", "forward"):
        print(f"{f'{mode}: ms (over compile)':24}{heads}{'doubling':>12}", flush=True)
        for shape in SHAPES:
            if only.lower() not in shape:
                continue
            row, firsts = "", []
            for n in sizes:
                compiled, first, _ = measured(shape, n, mode)
                firsts.append(first)
                row += f"{f'{1000 * first:.0f} ({first / compiled:.0f})':>16}"
            steepest = max((b / a for a, b in itertools.pairwise(firsts)), default=0.0)
            print(f"{shape:24}{row}{steepest:>12.2f}", flush=True)
        print()


if __name__ == "__main__":
    print(json.dumps(one(sys.argv[1], int(sys.argv[2]), sys.argv[3])))
