"""What cotangents of complex numbers are made with: conjugates, and the real part that a real number takes.

``bx = conj(dy/dx) * by``, and its real part if `x` is real: generated code calls these functions, which can
be lifted again, so that they have derivatives themselves.
"""

from __future__ import annotations

from typing import Any

__all__ = ["conjugate", "real_part"]


def conjugate(x: Any) -> Any:
    return x.conjugate()


def real_part(x: Any) -> Any:
    return x.real
