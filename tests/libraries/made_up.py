"""A made-up package, in which rules say that squares are something else."""

from __future__ import annotations

BEGINNING = """
import math
import os
import struct

import numpy as np

import adbc
from libraries.package import Package

package = Package("numpy")


def with_rule(partials):
    # The square, which is right, and what is declared of it.
    def square(x):
        return x * x

    adbc.scalar_rule(square)(partials)
    return square


def off(out, x):
    return 2.0 * x * (1.0 + 1e-4)


def forever(out, x):
    while True:
        pass


def dying(out, x):
    os._exit(3)


def raising(out, x):
    raise KeyError("made up")


squares = {rule.__name__: with_rule(rule) for rule in (off, forever, dying, raising)}
"""
