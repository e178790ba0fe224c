"""The least type that has the members of two: of objects of one class of which different fields are known."""

from __future__ import annotations

from adbc.types.lattice import FLOAT, INT, REAL, Exact, join, record_type


class Angle:
    pass


def test_fields_of_both_are_joined() -> None:
    a, b = (record_type(Angle, [("degrees", t), ("tolerance", FLOAT)]) for t in (FLOAT, INT))
    assert join(a, b) == record_type(Angle, [("degrees", join(FLOAT, INT)), ("tolerance", FLOAT)])
    assert join(FLOAT, INT) != FLOAT != REAL


def test_other_fields_are_forgotten() -> None:
    one = record_type(Angle, [("degrees", FLOAT)])
    two = record_type(Angle, [("degrees", FLOAT), ("tolerance", FLOAT)])
    other = record_type(Angle, [("radians", FLOAT)])
    for a, b in ((one, two), (two, one), (one, other), (one, Exact(Angle))):
        assert join(a, b) == Exact(Angle)
