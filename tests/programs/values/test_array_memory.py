"""What programs ask of an array besides its numbers: its truth, its base, its flags, its size."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

import adbc
from adbc.testing import test_rule as check_rule

X = np.array([1.1, 2.3, 3.2, 4.6])


def truth(x):
    a = np.array(x[0])
    total = 0.0 if not a else 3.0 * x[1]
    if bool(a):
        total += x[2]
    while a:
        a = a * 0.0
    return total + (x[3] if np.asarray(x[3]) else 0.0)


def compared_with_none(x):
    total = np.where(x != None, x, 0.0).sum()  # noqa: E711
    return total if not (x == None).any() else 0.0  # noqa: E711


def written_by_the_base(x):
    y = (x * 2).reshape(2, 2)
    y[0].base[0] = x[1] ** 2
    return float(y.sum())


def base_of_views(x):
    y = x * 2
    part = y[1:][1:]
    part.base[...] = x * x
    part[0] *= 3.0
    owner = y if y.base is None else y.base
    return float((owner * part.base).sum()) + part.base.size


def base_of_a_reversed_view(x):
    y = x * 1.5
    view = y[::-2]
    view.base[1] *= x[0]
    view *= 2.0
    return (view.base**2).sum()


def flags(x):
    y = x * 2
    y[0] = x[3] ** 2
    y.setflags(write=False)
    z = y * x
    y.setflags(write=True)
    y[1] = z[0]
    y.flags.writeable = False
    return (y * z).sum()


def written_though_read_only(x):
    y = x * 2
    y.setflags(write=False)
    try:
        y[0] = 1.0
    except ValueError:
        return y.sum()
    return 0.0


def size_in_memory(x):
    return sys.getsizeof(x * 2) * x[0]


PROGRAMS: list[Any] = [
    truth, compared_with_none, written_by_the_base, base_of_views, base_of_a_reversed_view, flags,
    written_though_read_only, size_in_memory,
]  # fmt: skip


@pytest.mark.parametrize("speculation", ["learn", "never", "dynamic"])
@pytest.mark.parametrize("program", PROGRAMS)
def test_programs(program: Any, speculation: str) -> None:
    with adbc.use(adbc.Config(speculation=speculation)):
        check_rule(program, X.copy())


def test_bytes_of_numbers_are_refused() -> None:
    with pytest.raises(adbc.errors.MissingRuleError):
        adbc.grad(lambda x: np.frombuffer(x.tobytes()).sum())(X)
    with pytest.raises(adbc.errors.UnsupportedError, match="holds text"):
        adbc.jvp(lambda x: float.fromhex(float(x[0]).hex()), (X,), (X,))
