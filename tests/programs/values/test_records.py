"""Record arrays: structured arrays whose fields are attributes, and their elements."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import adbc
from adbc.testing import test_rule as check_rule

X = np.array([1.1, 2.3, 3.2, 4.6])


def fields_as_attributes(x):
    r = np.zeros(2, [("a", "f8"), ("b", "f8")]).view(np.recarray)
    r.a = x[:2]
    r.b[:] = x[2:]
    r[0].a = x[3]
    r["b"][1] *= 2.0
    return float((r.a * r.b).sum())


def records_one_by_one(x):
    r = np.rec.fromarrays([x, x**2], names="u,v")
    total = 0.0
    for row in r:
        total = total + row.u * row["v"]
    r[1].v = x[0] ** 3
    r[2].u *= 2.0
    return total + float((r.u * r.v).sum()) + r[3].v


def nested_fields(x):
    r = np.zeros(2, [("a", "f8"), ("b", [("c", "f8")])]).view(np.recarray)
    r.a = x[:2]
    r.b.c = x[2:]
    return float((r.a * r.b.c).sum() + r.b[0].c)


def constant_records(x):
    r = np.rec.array([(1.0, 2.0), (3.0, 4.0)], dtype=[("a", float), ("b", float)])
    return float((r.a * x[:2]).sum()) + sum(row.b for row in r) * x[3]


def elements_of_a_plain_array(x):
    r = np.zeros(2, dtype=(np.record, [("a", "f8"), ("b", "f8")]))
    r["a"][:] = x[:2]
    return r[1]["a"] * r[0].a


@pytest.mark.parametrize("speculation", ["learn", "never", "dynamic"])
@pytest.mark.parametrize(
    "program",
    [fields_as_attributes, records_one_by_one, nested_fields, constant_records, elements_of_a_plain_array],
)
def test_programs(program: Any, speculation: str) -> None:
    with adbc.use(adbc.Config(speculation=speculation)):
        check_rule(program, X.copy())


def test_bytes_of_records_are_refused() -> None:
    def f(x: Any) -> Any:
        r = np.rec.fromarrays([x, x**2], names="u,v")
        return r[1].getfield(np.int64, 0) * x[0]

    for run in (lambda: adbc.grad(f)(X), lambda: adbc.jvp(f, (X,), (X,))):
        with pytest.raises(adbc.errors.UnsupportedError, match="fields by their names"):
            run()
