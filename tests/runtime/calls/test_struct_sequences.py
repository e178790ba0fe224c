"""What the interpreter gives as a tuple with names, read by the names."""

from __future__ import annotations

import cProfile
import os
import pathlib

import pytest

import adbc

resource = pytest.importorskip("resource")


def test_the_gradient_by_names_is_that_by_places() -> None:
    given = resource.struct_rusage([1.5, 2.5, *[1.0] * 14])
    for _ in range(3):
        by_names = adbc.grad(lambda r: r.ru_utime * r.ru_stime)(given)
        assert by_names[:3] == (2.5, 1.5, 0.0)
        assert tuple(by_names) == tuple(adbc.grad(lambda r: r[0] * r[1])(given))
        tangent = (1.0, *[0.0] * 15)
        assert adbc.jvp(lambda r: r.ru_utime * r.ru_stime, (given,), (tangent,)) == (3.75, 2.5)


def test_elements_of_a_list_are_read_by_name(tmp_path: pathlib.Path) -> None:
    def f(x: float) -> float:
        total = 0.0
        for found in [os.stat(tmp_path), os.stat(tmp_path.parent)]:
            total += x * x + 0.0 * found.st_mtime + 0.0 * found[8]
        for used in [resource.getrusage(resource.RUSAGE_SELF)] * 2:
            total += x + min(used.ru_utime, 0.0)
        return total

    for _ in range(4):
        assert adbc.value_and_grad(f)(3.0) == (24.0, 14.0)
        assert adbc.jvp(f, (3.0,), (1.0,)) == (24.0, 14.0)


def test_a_profile_within_the_function() -> None:
    def f(x: float) -> float:
        profile = cProfile.Profile()
        profile.enable()
        y = x * x
        profile.disable()
        spent = 0.0
        for entry in profile.getstats():
            spent += entry.inlinetime
        return y if spent >= 0.0 else 0.0

    for _ in range(2):
        assert adbc.value_and_grad(f)(3.0) == (9.0, 6.0)
        assert adbc.jvp(f, (3.0,), (1.0,)) == (9.0, 6.0)
