"""Rules that were written for other systems: `from_autograd`, `from_jax`, `from_torch`, function by function.

The other system runs its own rule, on its own arrays where it has such; what comes out is projected onto the
tangents of the arguments (`ProjectTo`), so that a rule of another convention about shapes and classes is an
error and no wrong number.  Nothing here imports another system: who has a rule of its has imported it.
"""

from __future__ import annotations

from adbc.chainrules.foreign.autograd import from_autograd
from adbc.chainrules.foreign.jax import from_jax
from adbc.chainrules.foreign.torch import from_torch

__all__ = ["from_autograd", "from_jax", "from_torch"]
